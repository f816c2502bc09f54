/* What musterd makes of its file and its flags. */
#include "complaints.h"
#include "service/settings_file.h"
#include "service/settings_flags.h"
#include "service/settings_keys.h"
#include "service/settings_load.h"
#include "service/settings_modules.h"
#include "service/token.h"

#include <muster/journal.h>

enum { WORDS_MAX = 32 };

static struct settings settings;
static settings_call call;
static complaints all;

static void read_bytes(const char *text, size_t bytes) {
  all = (complaints){0};
  settings_default(&settings);
  settings_read_text(&settings, "test.conf", text, bytes, complaints_add, &all);
}

static void read_text(const char *text) {
  read_bytes(text, strlen(text));
}

static void read_flags(const char *line) {
  char words[1024], *arguments[WORDS_MAX] = {"musterd"};
  int count = 1;
  snprintf(words, sizeof words, "%s", line);
  for (char *word = strtok(words, " "); word; word = strtok(NULL, " ")) arguments[count++] = word;
  all = (complaints){0};
  settings_read_flags(&settings, &call, count, arguments, complaints_add, &all);
}

Test(settings, every_key_of_a_file_is_taken) {
  read_text("# all of them\n; and more\n"
            "[server]\nworkers = 3\nmodules = /m\nsocket = /s\nlisten = 127.0.0.1:1\nlisten_anywhere = yes\n"
            "token_file = /t\nhosts = a b\nconnections_max = 7\nclient_connections_max = 6\nheader_bytes_max = 2048\n"
            "body_bytes_max = 4096\nidle_timeout = 2s\nsnapshot_file = /n\nsnapshot_interval = 5s\nflight_file = /f\n"
            "journal = no\njournal_sync = frame\njournal_folder = /j\nrecovery_max = 2s\n"
            "crash_limit = 9\nlog_level = error\n"
            "[world one]\nmodule = wildlife\npath = /p\nagents = 5\nagents_max = 6\nobservers = 4\nseed = 77\n"
            "budget = 1.5ms\nhz = 59.94\nvirtual = yes\ncapacity = 2ms\n"
            "[world two]\n  module = fixed   ; with a comment\n");
  complaints_expect_none(&all);
  cr_expect(settings.workers == 3 && !strcmp(settings.modules, "/m") && !strcmp(settings.socket, "/s"));
  cr_expect(!strcmp(settings.listen, "127.0.0.1:1") && settings.listen_anywhere && !strcmp(settings.token_file, "/t"));
  cr_expect(!strcmp(settings.hosts, "a b") && settings.connections_max == 7 && settings.client_connections_max == 6);
  cr_expect(settings.header_bytes_max == 2048 && settings.body_bytes_max == 4096);
  cr_expect(settings.idle_timeout_ns == 2000000000u && settings.snapshot_interval_ns == 5000000000u);
  cr_expect(!strcmp(settings.snapshot_file, "/n") && !strcmp(settings.flight_file, "/f"));
  cr_expect(!settings.journal && settings.journal_sync == MUSTER_JOURNAL_SYNC_FRAME);
  cr_expect(!strcmp(settings.journal_folder, "/j") && settings.recovery_max_ns == 2000000000u);
  cr_expect(settings.crash_limit == 9 && settings.log_level == MUSTER_LOG_ERROR);
  cr_assert(settings.world_count == 2);
  const world_settings *one = &settings.worlds[0], *two = &settings.worlds[1];
  cr_expect(!strcmp(one->name, "one") && !strcmp(one->module, "wildlife") && !strcmp(one->path, "/p"));
  cr_expect(one->agents == 5 && one->agents_max == 6 && one->observers == 4 && one->seed == 77);
  cr_expect(one->budget_ns == 1500000 && one->rate == 59940 && one->virtual_clock && one->capacity_ns == 2000000);
  cr_expect(!strcmp(two->name, "two") && !strcmp(two->module, "fixed"));
  cr_expect(two->seed == 1 && two->budget_ns == 10000000 && two->rate == 30000 && two->agents == 0);
}

static void expect_mistake(const char *text, const char *says) {
  read_text(text);
  if (strncmp(text, "[server\n", 8) == 0) all.count--; /* and its key stands before any section */
  complaints_expect(&all, says);
}

Test(settings, each_mistake_in_a_file_is_told_with_its_line) {
  EACH_PAIR(
      expect_mistake,
      {"[server]\nworker = 3\n", "test.conf:2: there is no key 'worker' in [server]; did you mean 'workers'?"},
      {"[server]\nagents = 3\n", "test.conf:2: there is no key 'agents' in [server]; it belongs into the other kind"},
      {"[server]\n\n# c\nworkers = 257\n", "test.conf:4: workers is '257'; give a whole number from 0 to 256"},
      {"[server]\nworkers = -1\n", "give a whole number"}, {"[server]\nworkers = \n", "give a whole number"},
      {"[server]\nlog_level = loud\n", "give one of info|warning|error"},
      {"[server]\nlog_level = warn\n", "give one of info|warning|error"}, /* no begin of a word is that word */
      {"[server]\nlisten_anywhere = true\n", "give yes or no"}, {"[server]\nsocket =\n", "it may not be empty"},
      {"[server]\nsocket = /0123456789012345678901234567890123456789012345678901234567890123456789"
       "0123456789012345678901234567890123456789\n",
       "at most 107 fit"},
      {"[server]\nidle_timeout = 10\n", "such as 10ms"},
      {"[server]\nidle_timeout = 2ms\n", "give a duration from 1 s to 3600 s"},
      {"[server]\nworkers = 1\nworkers = 2\n", "test.conf:3: 'workers' was given before"},
      {"[server]\n[server]\n", "test.conf:2: [server] was there before"},
      {"[world a]\nmodule = ../a\n", "give the bare name of a module"},
      {"[world a]\nmodule = a.so\n", "give the bare name of a module"},
      {"[world a]\nmodule = a\n[world a]\n", "test.conf:3: [world a] was there before"},
      {"[world a]\nhz = 0\n", "give a number from 0.1 to 10000"},
      {"[world a]\nbudget = 1us\n", "give a duration from 10 us to 10 s"}, {"[world]\n", "a name has 1 to 31"},
      {"[world a/b]\n", "a name has 1 to 31"}, {"[world 01234567890123456789012345678901]\n", "a name has 1 to 31"},
      {"[worlds a]\nmodule = a\n", "test.conf:1: there is no section [worlds a]"},
      {"[world a]\nmodule = b:m c:../m\n", "give the bare name of a module, or INSTANCE:MODULE for each of several"},
      {"[world a]\nmodule = b:m c\n", "INSTANCE:MODULE for each of several"},
      {"[world a]\nmodule = b:m b:n\n", "the instance 'b' is there twice"},
      {"[world a]\nmodule = 1:m 2:m 3:m 4:m 5:m 6:m 7:m 8:m 9:m\n", "give at most 8 instances"},
      {"[server]\nmodule.speed = 1\n", "test.conf:2: there is no key 'module.speed' in [server]"},
      {"[world a]\nmodule.speed = 1\nmodule.speed = 2\n", "test.conf:3: 'module.speed' was given before"},
      {"[world a]\nmodule. = 1\n", "test.conf:2: module. is '1'; 'module.' is no INSTANCE.KEY"},
      {"[world a]\n.speed = 1\n", "is no INSTANCE.KEY, such as module.KEY"},
      {"[world a]\nmodule.a2345678901234567890123456789012345678901 = 1\n", "a KEY has at most 40 bytes"},
      {"workers = 1\n", "test.conf:1: 'workers' stands before any section"},
      {"[server]\nworkers\n", "test.conf:2: this is no [section], no `key = value`"},
      {"[server\nworkers = 1\n", "test.conf:1: this is no [section]"});
}

Test(settings, of_modules_are_kept_with_their_lines_and_flags_override_them) {
  read_text(
      "[world one]\nmodule = a:m b:n\na.speed = 2\nb.path = x = y: z\n[world two]\nmodule = m\nmodule.speed = 4\n");
  complaints_expect_none(&all);
  const world_settings *one = &settings.worlds[0], *two = &settings.worlds[1];
  const module_setting *speed = settings_module_find(one, "a.speed");
  cr_assert(speed && one->setting_count == 2 && two->setting_count == 1);
  cr_expect(strcmp(speed->text, "2") == 0 && speed->line == 3 && strcmp(speed->file, "test.conf") == 0);
  cr_expect_str_eq(settings_module_find(one, "b.path")->text, "x = y: z");
  cr_expect_null(settings_module_find(one, "b.speed"));
  read_flags("--set all=1 --world one --set a.speed=3 --world three=m --set speed=5");
  complaints_expect_none(&all);
  cr_expect_str_eq(settings_module_find(one, "a.speed")->text, "3");
  cr_expect_null(settings_module_find(one, "a.speed")->file);
  cr_expect_str_eq(settings_module_find(one, "module.all")->text, "1");
  cr_expect_str_eq(settings_module_find(&settings.worlds[2], "module.all")->text, "1");
  cr_expect_str_eq(settings_module_find(&settings.worlds[2], "module.speed")->text, "5");
  all = (complaints){0};
  settings_check(&settings, false, complaints_add, &all);
  complaints_expect(&all, "--set: module.all: world one has no instance 'module'; begin the key with 'a.'");
  read_flags("--set speed");
  complaints_expect(&all, "--set is 'speed'; give KEY=VALUE");
}

Test(settings, of_modules_have_at_most_so_many_bytes_and_so_many_rows) {
  static world_settings world;
  char text[MODULE_TEXT_BYTES + 1];
  memset(text, 'x', sizeof text);
  text[MODULE_TEXT_BYTES] = '\0';
  cr_expect_eq(settings_module_set(&world, "module.k", text, NULL, 0), MUSTER_E_ARGUMENT);
  cr_expect_str_eq(muster_last_error(), "it has 256 bytes; at most 255 fit");
  cr_expect_eq(settings_module_set(&world, "module.k", text + 1, NULL, 0), MUSTER_OK);
  for (int i = 1; i < MODULE_SETTINGS_MAX; i++)
    cr_expect_eq(settings_module_set(&world, formed("module.k%d", i), "1", NULL, 0), MUSTER_OK);
  cr_expect_eq(settings_module_set(&world, "module.more", "1", NULL, 0), MUSTER_E_ARGUMENT);
  cr_expect_eq(settings_module_set(&world, "module.k", "2", NULL, 0), MUSTER_OK);
}

Test(settings, all_mistakes_are_told_at_once_and_what_is_not_wrong_is_taken) {
  read_text("[server]\nworkers = x\ncrash_limit = 5\nmodules\n[world a]\nhz = y\nagents = 8\n");
  cr_expect(all.count == 3, "%s", all.text);
  cr_expect(settings.crash_limit == 5 && settings.worlds[0].agents == 8);
}

Test(settings, zero_bytes_and_long_lines_are_refused_and_marks_and_line_ends_of_windows_are_not) {
  static const char zero[] = "[server]\nworkers = 1\0 2\n";
  read_bytes(zero, sizeof zero - 1);
  complaints_expect(&all, "test.conf:2: the line has a zero byte");
  char text[600] = "[server]\nmodules = /";
  memset(text + strlen(text), 'x', 300);
  read_text(text);
  complaints_expect(&all, "test.conf:2: the line is too long");
  const char *says = strstr(all.text, "at most ");
  cr_assert(says != NULL, "%s", all.text);
  int most = atoi(says + strlen("at most "));
  for (int length = most; length <= most + 1; length++) { /* as it says */
    snprintf(text, sizeof text, "[server]\n#%0*d\n", length - 1, 0);
    read_text(text);
    cr_expect_eq(all.count, length > most, "%d bytes: %s", length, all.text);
  }
  read_text("\xef\xbb\xbf[server]\r\n\r\nworkers = 2\r\n");
  cr_expect(all.count == 0 && settings.workers == 2, "%s", all.text);
}

Test(settings, more_worlds_than_one_service_hosts_are_refused) {
  char text[1024] = "";
  for (int i = 0; i < WORLDS_MAX + 1; i++) sprintf(text + strlen(text), "[world w%d]\nmodule = m\n", i);
  read_text(text);
  complaints_expect(&all, "there are 16 worlds already");
  cr_expect(settings.world_count == WORLDS_MAX);
}

static void expect_missing(const char *text, const char *says) {
  read_text(text);
  settings_check(&settings, false, complaints_add, &all);
  complaints_expect(&all, says);
}

Test(settings, what_is_missing_or_contradicts_is_told_of_the_whole) {
  EACH_PAIR(expect_missing, {"[server]\nworkers = 1\n", "there is no world"},
            {"[world a]\nhz = 10\n", "[world a]: it has no module"},
            {"[world a]\nmodule = m\nbudget = 31ms\nhz = 30\n", "lower a budget or a rate"},
            {"[server]\nisolation = none\n[world a]\nmodule = m\nbudget = 20ms\n[world b]\nmodule = m\nbudget = 20ms\n",
             "[world b]: a budget of 20 ms"},
            {"[world a]\nmodule = m\ncapacity = 3ms\n", "capacity is the work of a virtual frame"},
            {"[world a]\nmodule = m\nagents = 5\nagents_max = 4\n", "agents is more than agents_max"});
}

Test(settings, flags_override_the_file_of_one_world_or_of_all) {
  read_text("[server]\nworkers = 1\n[world a]\nmodule = m\n[world b]\nmodule = m\nagents = 7\n");
  read_flags("--hz 20 --workers 2 --world b=n --agents 9 --virtual --world c=o --seed=5");
  complaints_expect_none(&all);
  cr_assert(settings.world_count == 3 && settings.workers == 2);
  cr_expect(settings.worlds[0].rate == 20000 && settings.worlds[0].agents == 0 && settings.worlds[0].seed == 1);
  cr_expect(settings.worlds[1].rate == 20000 && settings.worlds[1].agents == 9 && settings.worlds[1].virtual_clock);
  cr_expect(!strcmp(settings.worlds[1].module, "n"));
  cr_expect(!strcmp(settings.worlds[2].name, "c") && settings.worlds[2].seed == 5 && settings.worlds[2].rate == 20000);
  cr_expect(!call.check && !call.help && !call.file);
}

static void expect_wrong_flags(const char *text, const char *says) {
  settings_default(&settings);
  read_flags(text);
  complaints_expect(&all, says);
}

Test(settings, each_mistake_among_flags_is_told_with_the_flag) {
  EACH_PAIR(
      expect_wrong_flags, {"--wrokers=3", "unknown option --wrokers; did you mean '--workers'? See `musterd --help`"},
      {"--agent 3", "unknown option --agent; did you mean '--agents'?"}, /* no begin of an option is that option */
      {"--log error", "unknown option --log; did you mean '--log-level'?"},
      {"--xyzzy 3", "unknown option --xyzzy; see `musterd --help`"}, {"--workers", "--workers wants a value"},
      {"--check=yes", "--check=yes takes no value"},
      {"--workers 999", "--workers is '999'; give a whole number from 0 to 256"},
      {"--world a=b=c", "--world is 'a=b=c'; give the bare name"},
      {"--world a/b=c", "--world is 'a/b=c'; give NAME=MODULE"}, {"--world a=m --hz 0", "--hz is '0'; give a number"},
      {"--world a=m wildlife", "'wildlife' is no option"}, {"-x", "unknown option -x"});
}

static bool load_file(const char *path) {
  char file[256], *arguments[] = {"musterd", "--config", file, "--world", "a=m", NULL};
  all = (complaints){0};
  snprintf(file, sizeof file, "%s", path);
  return settings_load(&settings, &call, 5, arguments, complaints_add, &all);
}

static void expect_no_file(const char *path, const char *says) {
  cr_expect(!load_file(path));
  complaints_expect(&all, says);
}

Test(settings, a_file_that_is_none_is_refused) {
  EACH_PAIR(expect_no_file, {"/nonexistent/musterd.conf", "/nonexistent/musterd.conf: cannot be opened"},
            {"/tmp", "/tmp: it is a folder"}, {"/dev/zero", "/dev/zero: it is a device"});
  char path[] = "/tmp/musterd-settings-XXXXXX";
  int descriptor = mkstemp(path);
  cr_assert(descriptor >= 0 && ftruncate(descriptor, SETTINGS_FILE_BYTES_MAX + 1) == 0);
  expect_no_file(path, "bytes that a configuration may have");
  cr_assert(ftruncate(descriptor, 0) == 0 && write(descriptor, "[server]\n", 9) == 9);
  cr_expect(load_file(path), "%s", all.text);
  close(descriptor);
  unlink(path);
}

/* A reload may change what is live, and nothing else. */
Test(settings, what_cannot_change_is_kept_and_told) {
  read_text("[server]\nworkers = 1\ncrash_limit = 1\n[world a]\nmodule = m\nhz = 10\n[world b]\nmodule = m\n");
  const struct settings now = settings;
  read_text("[server]\nworkers = 2\ncrash_limit = 2\n[world c]\nmodule = m\n[world a]\nmodule = n\nhz = 20\n"
            "budget = 2ms\n");
  cr_assert(all.count == 0);
  settings_keep_fixed(&settings, &now, complaints_add, &all);
  cr_expect(settings.workers == 1 && settings.crash_limit == 2 && settings.world_count == 2);
  cr_expect(!strcmp(settings.worlds[0].name, "a") && !strcmp(settings.worlds[0].module, "m"));
  cr_expect(settings.worlds[0].rate == 20000 && settings.worlds[0].budget_ns == 2000000);
  cr_expect(!strcmp(settings.worlds[1].name, "b"));
  cr_expect(all.count == 4, "%s", all.text);
  cr_expect(strstr(all.text, "workers: it cannot change") && strstr(all.text, "a module: it cannot change"));
  cr_expect(strstr(all.text, "b: the world is no longer there") && strstr(all.text, "c: the world is new"));
}

/* What is installed must be good, and tell of every key. */
Test(settings, the_file_that_is_installed_is_good_and_names_every_key) {
  char text[16384];
  cr_assert(load_file(MUSTER_SOURCE_DIR "/src/service/etc/musterd.conf"), "%s", all.text);
  read_shipped("musterd.conf", text, sizeof text);
  const settings_key *key;
  for (uint32_t i = 0; (key = settings_key_at(i)) != NULL; i++) {
    bool in_force = strstr(text, formed("\n%s =", key->field.name)) != NULL;
    const char *shown = strstr(text, formed("\n# %s =", key->field.name));
    cr_expect(in_force || shown, "it does not tell of %s", key->field.name);
    if (!shown) continue;
    const char *mark = strstr(shown, "(live)"), *end = strchr(shown + 1, '\n');
    cr_expect((mark && mark < end) == key->live, "%s is marked wrongly", key->field.name);
  }
}

Test(settings, lines_may_begin_with_blanks_and_a_file_with_a_whole_byte_order_mark) {
  read_text("[server]\n\tworkers = 3\n  crash_limit = 7\n \t log_level = error\n");
  complaints_expect_none(&all);
  cr_expect(settings.workers == 3 && settings.crash_limit == 7 && settings.log_level == MUSTER_LOG_ERROR);
  read_text("\xef\xbbx[server]\nworkers = 3\n");
  cr_expect(all.count > 0, "half of a mark is none");
  for (size_t length = 0; length <= 3; length++) {
    read_bytes("\xef\xbb\xbfx", length);
    cr_expect_eq(all.count, length == 1 || length == 2, "of %zu bytes: %s", length, all.text);
    cr_expect(!all.count || strstr(all.text, "this is no [section]"), "of %zu bytes: %s", length, all.text);
  }
}

Test(settings, a_flag_of_all_worlds_changes_those_that_there_are) {
  read_text("[world a]\nmodule = m\n[world b]\nmodule = m\n");
  memset(&settings.worlds[2], 0, sizeof settings.worlds[2]);
  read_flags("--hz 20");
  complaints_expect_none(&all);
  cr_expect(settings.worlds[0].rate == 20000 && settings.worlds[1].rate == 20000);
  cr_expect_eq(settings.worlds[2].rate, 0);
}

Test(settings, of_a_token_that_is_longer_than_there_is_room_for_no_more_is_read) {
  char path[] = "/tmp/musterd-token-XXXXXX", text[2 * TOKEN_BYTES];
  struct {
    char token[TOKEN_BYTES], behind[8];
  } read;
  int file = mkstemp(path);
  cr_assert(file >= 0);
  memset(text, 't', sizeof text);
  memset(&read, 'x', sizeof read);
  cr_assert(write(file, text, sizeof text) == (ssize_t)sizeof text);
  cr_expect_eq(token_read(path, read.token), MUSTER_OK, "%s", muster_last_error());
  cr_expect_eq(strnlen(read.token, sizeof read.token), TOKEN_BYTES - 1);
  for (size_t i = 0; i < sizeof read.behind; i++) cr_expect_eq(read.behind[i], 'x', "byte %zu behind it", i);
  close(file);
  unlink(path);
}

/* `muster run --journal`, --recover and `muster replay --from`: a run that is killed goes on from its last complete
 * frame, and what was in the journal of the crash is replayed bit for bit. */
#include "program.h"
#include "support/journal_files.h"

#include <signal.h>
#include <time.h>

/* Starts a program that would take long, and kills it when its journal holds some frames. */
static void run_and_kill(const char *program, const char *line, const char *journal) {
  char words[1024], *arguments[PROGRAM_ARGUMENTS_MAX];
  struct stat file = {0};
  pid_t child;
  int status, nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  posix_spawn_file_actions_t actions;
  snprintf(words, sizeof words, "%s", line);
  program_split(words, arguments);
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, nowhere, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, nowhere, STDERR_FILENO);
  cr_assert_eq(posix_spawn(&child, program, &actions, NULL, arguments, environ), 0);
  posix_spawn_file_actions_destroy(&actions);
  close(nowhere);
  for (; stat(journal, &file) != 0 || file.st_size < 100000; usleep(1000))
    cr_assert_eq(waitpid(child, &status, WNOHANG), 0, "it ended by itself");
  kill(child, SIGKILL);
  cr_assert_eq(waitpid(child, &status, 0), child);
}

static void kill_a_run(const journal_place *place, const char *options) {
  const char *line = formed("run %s --no-pace --frames 100000 --journal %s", options, place->path);
  run_and_kill(program_path(), line, formed("%s-1.journal", place->path));
}

static unsigned long number_behind(const char *text, const char *words) {
  const char *found = strstr(text, words);
  cr_assert_not_null(found, "\"%s\" is not in: %s", words, text);
  return strtoul(found + strlen(words), NULL, 10);
}

static void expect_replayed(const char *path, const char *ending, unsigned long frames) {
  static const char *const workers[] = {"1", "4"};
  json_auto_t *first = NULL;
  for (int i = 0; i < 2; i++) {
    SCOPED_RUN *replay = program_good("replay --from %s%s --json - --workers %s", path, ending, workers[i]);
    cr_assert_eq(number_behind(replay->errors, "replayed "), frames, "%s", replay->errors);
    json_auto_t *report = json_loads(replay->output, JSON_REJECT_DUPLICATES, NULL);
    cr_assert_not_null(report, "%s", replay->output);
    if (!first) first = json_incref(report);
    cr_assert(json_equal(first, report), "on %s workers: %s", workers[i], replay->output);
  }
}

static void live_again(const char *options) {
  SCOPED(place_remove) journal_place place = place_make();
  kill_a_run(&place, options);
  SCOPED_RUN *again = program_good("run --no-pace --frames 20 --warm-up 0 --json - --recover --journal %s", place.path);
  unsigned long frame = number_behind(again->errors, "goes on from frame ");
  cr_assert_gt(frame, 0);
  expect_replayed(place.path, "-incident-1", frame);
  free(again);
  again = program_good("run --no-pace --frames 5 --warm-up 0 --recover --journal %s", place.path);
  cr_assert_geq(number_behind(again->errors, "goes on from frame "), frame + 20, "%s", again->errors);
}

Test(run_journal, a_run_that_is_killed_goes_on_and_its_crash_is_replayed) {
  live_again("wildlife --agents 800 --budget 1ms --workers 2");
}

Test(run_journal, so_does_one_in_virtual_time_with_settings) {
  live_again("fixed --agents 500 --set side=50 --virtual --capacity 0.5ms --workers 2");
}

Test(run_journal, so_does_one_of_herds) {
  live_again("herd --agents 5000 --budget 1ms --workers 2");
}

/* Where the service is built. Its worlds' journals stand beside its snapshots. */
Test(run_journal, a_journal_of_the_service_is_replayed_too) {
  const char *daemon = getenv("MUSTERD"), *modules = getenv("MUSTER_MODULES");
  if (!daemon || !modules) return;
  SCOPED(place_remove) journal_place place = place_make();
  const char *line = formed(
      "--isolation none --world desert=wildlife --agents 1500 --modules %s --socket %s/control --snapshot-file %s "
      "--recovery-max 3600s", /* on a slow machine it would begin other files before this one is that long */
      modules, place.folder, place.path);
  const char *path = formed("%s.desert", place.path);
  run_and_kill(daemon, line, formed("%s-1.journal", path));
  SCOPED_RUN *replay = program_good("replay --from %s", path);
  cr_assert_gt(number_behind(replay->output, "replayed "), 0);
}

/* Frames that are in the journal and cannot be read are no part of the crash: somebody may have been told of them. */
Test(run_journal, frames_that_a_damage_takes_are_told) {
  SCOPED(place_remove) journal_place place = place_make();
  kill_a_run(&place, "wildlife --agents 800 --budget 1ms");
  place_newest newest = place_find(&place, ".journal");
  file_bytes was = file_read(newest.path);
  was.bytes[was.count / 4 * 3] ^= 4;
  file_write(newest.path, was.bytes, was.count);
  SCOPED_RUN *again = program_good("run --no-pace --frames 5 --warm-up 0 --recover --journal %s", place.path);
  cr_assert_not_null(strstr(again->errors, " frames behind it are lost, since the journal is damaged: "), "%s",
                     again->errors);
  number_behind(again->errors, "goes on from frame ");
  free(again);
  again = program_good("run --no-pace --frames 5 --warm-up 0 --recover --journal %s", place.path);
  cr_assert(!strstr(again->errors, "lost"), "%s", again->errors);
  free(was.bytes);
}

/* What a run looks at is in no journal: it is asked for again. With audit the longest claim is known. */
Test(run_journal, a_run_that_goes_on_has_its_audit_and_its_trace) {
  SCOPED(place_remove) journal_place place = place_make();
  struct stat file = {0};
  const char *trace = formed("%s.trace", place.path);
  const char *line =
      formed("run --no-pace --frames 10 --warm-up 0 --json - --recover --journal %s --trace %s", place.path, trace);
  free(program_good("run fixed --agents 300 --no-pace --frames 10 --warm-up 0 --journal %s", place.path));
  json_auto_t *report = program_json(line);
  cr_expect(stat(trace, &file) == 0 && file.st_size > 1000, "there is no trace");
  cr_expect_gt(program_number(report, "longest_claim_ns"), 0);
}

/* Whether all frames of a world that is paused stand in its journal. */
static bool is_written(const char *folder) {
  json_auto_t *world = program_json(formed("ctl --socket %s/control world --json", folder));
  return program_number(world, "journal.frames_written") == program_number(world, "frames");
}

/* A world in Lua: its scripts stand among the settings, and what an operator has asked of them in the journal, before
 * the last frame of it: who repeated it a frame later would not come to it. */
Test(run_journal, commands_of_a_service_are_given_again) {
  const char *daemon = getenv("MUSTERD"), *modules = getenv("MUSTER_MODULES");
  static const char script[] = "local a = muster.type { name = 'a', period = '10ms', period_max = '10ms' }\n"
                               "muster.world { agents = 50, start = function()\n"
                               "  for i = 1, 50 do muster.spawn(a, {x = i, y = 0}) end\n"
                               "end }\n";
  if (!daemon || !modules) return;
  SCOPED(place_remove) journal_place place = place_make();
  char path[256], conf[1024], words[300], *arguments[PROGRAM_ARGUMENTS_MAX];
  snprintf(path, sizeof path, "%s/a.lua", place.folder);
  file_write(path, script, sizeof script - 1);
  int length = snprintf(conf, sizeof conf,
                        "[server]\nisolation = none\nmodules = %s\nsocket = %s/control\nsnapshot_file = %s\n"
                        "[world main]\nmodule = lua\nmodule.scripts = %s\nhz = 100\nbudget = 1ms\n",
                        modules, place.folder, place.path, path);
  snprintf(path, sizeof path, "%s/conf", place.folder);
  file_write(path, conf, (size_t)length);
  snprintf(words, sizeof words, "--config %s", path);
  pid_t child;
  program_split(words, arguments);
  cr_assert_eq(posix_spawn(&child, daemon, NULL, NULL, arguments, environ), 0);
  static const char *const asked[] = {"step 20", "scripts reload", "scripts reload", "scripts reload", "step 1"};
  for (size_t i = 0, tries = 0; i < COUNT_OF(asked); tries++) {
    SCOPED_RUN *run = program_start(formed("ctl --socket %s/control %s", place.folder, asked[i]));
    cr_assert_lt(tries, 1000, "%s: %s", asked[i], run->errors);
    i += run->status == 0;
    if (run->status) usleep(20000); /* it may not listen yet */
  }
  for (int tries = 0; !is_written(place.folder); tries++, usleep(20000)) cr_assert_lt(tries, 1000, "it is not written");
  kill(child, SIGKILL);
  cr_assert_eq(waitpid(child, NULL, 0), child);
  snprintf(path, sizeof path, "%s.main", place.path);
  SCOPED_RUN *replay = program_good("replay --from %s --json -", path);
  cr_expect_not_null(strstr(replay->output, "\"scripts_reloads_total\": 3"), "%s", replay->output);
}

Test(run_journal, without_a_journal_recover_begins_anew) {
  SCOPED(place_remove) journal_place place = place_make();
  SCOPED_RUN *run =
      program_good("run fixed --agents 100 --no-pace --frames 5 --warm-up 1 --recover --journal %s", place.path);
  cr_assert_null(strstr(run->errors, "goes on"), "%s", run->errors);
  SCOPED_RUN *other = program_ends(2, "run wildlife --no-pace --recover --journal %s", place.path);
  cr_assert_not_null(strstr(other->errors, "is of 'fixed', not of 'wildlife'"), "%s", other->errors);
}

Test(run_journal, what_cannot_be_is_refused_in_one_line) {
  PROGRAM_EXPECT_REFUSALS(
      {"run fixed --recover", 2, "add --journal"}, {"run fixed --journal-sync frame", 2, "add --journal"},
      {"run fixed --journal a --journal-sync daily", 2, "give none, second or frame"},
      {"run fixed --journal a --record b", 2, "exclude each other"},
      {"run fixed --agents 10 --journal /nowhere/at-all", 1, "/nowhere/at-all"},
      {"run empty --agents 10 --frames 1 --journal /tmp/muster-none", 1, "cannot be saved"},
      {"explain fixed --journal a", 2, "is for `muster run`"}, {"replay --from /nowhere/at-all", 1, "/nowhere/at-all"},
      {"replay --from a b", 2, "beside it"}, {"replay --from a --until 3", 2, "--until is for a record"});
}

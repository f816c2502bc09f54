/* What becomes of the worlds of a musterd that dies: they go on from their last complete frame. The module that dies is
 * striker.c. */
#include "comeback.h"
#include "support/await.h"

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/un.h>

TestSuite(journals, .init = daemon_expect_deaths);

/* What the same world is after that frame when nothing happens to it. */
static unsigned long long undisturbed(unsigned long long frame) {
  musterd service;
  char body[64];
  begin(&service, VIRTUAL "--journal=no ");
  json_decref(control_ask(&service, "PATCH", "/v1/worlds/main", "{\"paused\": true}", 200));
  long long now = frames_of(&service), left = (long long)frame - now;
  cr_assert_geq(left, 0, "the machine was too slow to stop it before frame %llu", frame);
  if (left) {
    snprintf(body, sizeof body, "{\"frames\": %lld}", left);
    json_decref(control_ask(&service, "POST", "/v1/worlds/main/step", body, 200));
    run_to(&service, (long long)frame);
  }
  end(&service);
  moment at = saved(&service, "state");
  cr_assert_eq(at.frame, frame);
  daemon_clear(&service);
  return at.hash;
}

static void expect_kills_to_change_nothing(const char *flags) {
  enum { KILLS = 3 };
  musterd service;
  moment back[KILLS];
  unsigned long long again, sum = 0;
  begin(&service, flags);
  for (int i = 0; i < KILLS; i++) {
    run_to(&service, 300 + 150 * i);
    usleep((useconds_t)(rand() % 20000)); /* chooses when; nothing is waited for */
    daemon_kill(&service);
    launch(&service, flags);
    back[i] = recovered(&service, &again);
    cr_expect_geq(back[i].frame, 300u + 150 * i);
    sum += again;
  }
  cr_expect_gt(sum, 0, "no frame was run again");
  json_t *journal = journal_of(&service);
  cr_expect(control_is_true(journal, "on") && !control_is_true(journal, "broken"));
  cr_expect_eq(control_count(journal, "recovered_frames"), (long long)again);
  cr_expect_gt(control_count(journal, "incidents"), 0);
  json_decref(journal);
  end(&service);
  moment last = back[KILLS - 1]; /* what came of those before is in it */
  cr_expect_eq(last.hash, undisturbed(last.frame), "frame %llu is another", last.frame);
  daemon_stop(&service);
}

Test(journals, a_world_that_is_killed_goes_on_as_if_nothing_had_been, .timeout = 120) {
  expect_kills_to_change_nothing(VIRTUAL);
}

Test(journals, may_lie_in_a_folder_of_their_own, .timeout = 120) {
  char folder[] = "/dev/shm/journals-XXXXXX", flags[512], file[128], command[128];
  cr_assert_not_null(mkdtemp(folder));
  snprintf(flags, sizeof flags, VIRTUAL "--journal-folder %s --journal-sync frame ", folder);
  expect_kills_to_change_nothing(flags);
  snprintf(file, sizeof file, "ls %s/state.main-*.snapshot >/dev/null", folder);
  cr_expect_eq(system(file), 0);
  snprintf(command, sizeof command, "rm -r %s", folder);
  cr_expect_eq(system(command), 0);
}

Test(journals, a_service_that_stops_in_order_goes_on_from_the_same_frame, .timeout = 120) {
  musterd service;
  char line[128];
  begin(&service, VIRTUAL);
  run_to(&service, 50);
  json_decref(control_ask(&service, "PATCH", "/v1/worlds/main", "{\"paused\": true}", 200));
  end(&service);
  moment at = saved(&service, "state");
  launch(&service, VIRTUAL);
  snprintf(line, sizeof line, "of frame %llu go on, hash %016llx", at.frame, at.hash);
  expect_log(&service, line, true);
  expect_log(&service, "recovered in", false);
  run_to(&service, (long long)at.frame + 1); /* it is not paused any more */
  daemon_stop(&service);
}

/* ---------------------------------------------------------------------------------------------------- the culprit */

static void ask_to_strike(const musterd *service, const char *order, char agent[32]) {
  static daemon_reply reply;
  unsigned index, generation;
  control_find_agent(service, "bomb", &index, &generation);
  snprintf(agent, 32, "%u.%u", index, generation);
  daemon_ask_once(service, "POST", "/v1/worlds/main/module/strike", NULL, order, &reply);
  /* The answer waits for a frame, in which the process dies. */
  cr_assert(reply.status == 200 || reply.status == 0, "%s: %d: %s", order, reply.status, reply.body);
}

static bool is_quarantined(const musterd *service, const char *agent) {
  char path[96];
  snprintf(path, sizeof path, "/v1/worlds/main/agents/%s", agent);
  json_t *answer = control_ask(service, "GET", path, NULL, 200);
  bool quarantined = control_is_true(answer, "quarantined");
  json_decref(answer);
  return quarantined;
}

Test(journals, who_crashed_it_is_named_and_stays_in_quarantine, .timeout = 120) {
  musterd service;
  char agent[32], text[96];
  unsigned long long again;
  begin(&service, STRIKER);
  run_to(&service, 60);
  ask_to_strike(&service, "segv atom", agent);
  cr_assert_eq(daemon_wait(&service), -SIGSEGV);
  launch(&service, STRIKER);
  moment back = recovered(&service, &again);
  cr_expect_geq(back.frame, 60);
  snprintf(text, sizeof text, "/state.conf");
  expect_log(&service, "of type 'bomb', in atom 0, frame ", true);
  expect_log(&service, "it crashed the last run, and is in quarantine until `muster ctl --socket ", true);
  snprintf(text, sizeof text, "--world main reinstate %s`", agent);
  expect_log(&service, text, true);
  run_to(&service, (long long)back.frame + 2);
  cr_expect(is_quarantined(&service, agent));
  daemon_kill(&service);
  launch(&service, STRIKER);
  run_to(&service, (long long)recovered(&service, &again).frame + 1);
  cr_expect(is_quarantined(&service, agent), "the next crash, by nobody, sets it free");
  expect_log(&service, "it crashed the last run", false);
  snprintf(text, sizeof text, "/v1/worlds/main/agents/%s/reinstate", agent);
  json_decref(control_ask(&service, "POST", text, NULL, 200));
  AWAIT_WITH(usleep(2000), !is_quarantined(&service, agent));
  daemon_stop(&service);
}

/* What a command does to the instance of a module is no input of the world: it is given again. */
Test(journals, commands_are_given_again, .timeout = 120) {
  musterd service;
  char agent[32];
  unsigned long long again;
  begin(&service, STRIKER "--recovery-max 3600s ");
  run_to(&service, 60);
  ask_to_strike(&service, "scribble atom", agent);
  run_to(&service, frames_of(&service) + 130);
  daemon_kill(&service);
  launch(&service, STRIKER "--recovery-max 3600s ");
  expect_log(&service, "cannot be run again", false);
  cr_expect_geq(recovered(&service, &again).frame, 190);
  cr_expect_geq(again, 190);
  daemon_stop(&service);
}

/* What the modules do before a frame is done again, too: these agents look at what their instance counts there. */
Test(journals, modules_move_on_beside_the_frames, .timeout = 120) {
  musterd service;
  unsigned long long again;
  begin(&service, "--world main=flashcrowd --agents 500 --hz 200 --budget 2ms --recovery-max 3600s ");
  run_to(&service, 100);
  daemon_kill(&service);
  launch(&service, "--world main=flashcrowd --agents 500 --hz 200 --budget 2ms --recovery-max 3600s ");
  expect_log(&service, "cannot be run again", false);
  cr_expect_geq(recovered(&service, &again).frame, 100);
  daemon_stop(&service);
}

/* ----------------------------------------------------------------------------------------------- what cannot go on */

Test(journals, frames_that_come_to_another_world_are_told_and_the_snapshot_stands, .timeout = 120) {
  musterd service;
  char agent[32];
  unsigned long long again;
  begin(&service, STRIKER "--recovery-max 3600s ");
  run_to(&service, 60);
  ask_to_strike(&service, "stray atom", agent);
  run_to(&service, frames_of(&service) + 130);
  long long last = frames_of(&service);
  daemon_kill(&service);
  launch(&service, STRIKER "--recovery-max 3600s ");
  expect_log(&service, "world main: snapshots only: frames 1 to ", true);
  expect_log(&service, " cannot be run again: ", true);
  moment back = recovered(&service, &again);
  cr_expect_lt((long long)back.frame, last);
  cr_expect_eq(again, 0);
  control_await_count(&service, "/v1/worlds/main", "frames", 1);
  expect_log(&service, ".differing-1", true);
  json_t *journal = journal_of(&service), *ready = control_ask(&service, "GET", "/readyz", NULL, 200);
  cr_expect(!control_is_true(journal, "on") && control_is_true(journal, "broken"));
  cr_expect_str_eq(control_text(ready, "reasons.0.code"), "lost");
  cr_expect_str_eq(control_text(ready, "reasons.1.code"), "degraded");
  cr_expect_eq(daemon_metric(&service, "muster_journal_broken{world=\"main\"}"), 1.0);
  json_decref(journal);
  json_decref(ready);
  daemon_await_log(&service, "snapshot 1: "); /* what it came from is put aside: it is saved at once */
  daemon_stop(&service);
}

static void copy_file(const musterd *service, const char *from, const char *to) {
  char command[640];
  snprintf(command, sizeof command, "cp %s/%s %s/%s", service->folder, from, service->folder, to);
  cr_assert_eq(system(command), 0);
}

static void take_snapshot(musterd *service, const char *told) {
  daemon_signal(service, SIGUSR1);
  daemon_await_log(service, told);
}

Test(journals, an_older_snapshot_that_was_put_back_is_gone_on_from, .timeout = 120) {
  musterd service;
  char line[128];
  begin(&service, VIRTUAL);
  take_snapshot(&service, "snapshot 1: ");
  copy_file(&service, "state", "kept");
  run_to(&service, frames_of(&service) + 30);
  take_snapshot(&service, "snapshot 2: ");
  run_to(&service, frames_of(&service) + 30);
  daemon_kill(&service);
  copy_file(&service, "kept", "state");
  moment at = saved(&service, "state");
  launch(&service, VIRTUAL);
  snprintf(line, sizeof line, "of frame %llu go on, hash %016llx", at.frame, at.hash);
  expect_log(&service, line, true);
  expect_log(&service, "the snapshot file is 1: that one is gone on from", true);
  expect_log(&service, ".other-1", true);
  expect_log(&service, "recovered in", false);
  daemon_stop(&service);
}

Test(journals, a_snapshot_that_is_damaged_leaves_the_journal, .timeout = 120) {
  musterd service;
  char path[256];
  unsigned long long again;
  begin(&service, VIRTUAL);
  take_snapshot(&service, "snapshot 1: ");
  run_to(&service, frames_of(&service) + 30);
  take_snapshot(&service, "snapshot 2: ");
  run_to(&service, frames_of(&service) + 30);
  long long last = frames_of(&service);
  daemon_kill(&service);
  path_of(&service, "state", path);
  cr_assert_eq(truncate(path, 100), 0);
  launch(&service, VIRTUAL);
  cr_expect_geq((long long)recovered(&service, &again).frame, last);
  expect_log(&service, "/state is refused: ", true);
  daemon_stop(&service);
}

/* The name of a file in the folder that begins so; the newest by number. */
static void find_file(const musterd *service, const char *begins, const char *ends, char path[512]) {
  DIR *folder = opendir(service->folder);
  int most = -1;
  cr_assert_not_null(folder);
  for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
    size_t length = strlen(entry->d_name), tail = strlen(ends);
    if (strncmp(entry->d_name, begins, strlen(begins)) != 0 || length < tail) continue;
    if (strcmp(entry->d_name + length - tail, ends) != 0) continue;
    int number = atoi(entry->d_name + strlen(begins));
    if (number <= most) continue;
    most = number;
    snprintf(path, 512, "%s/%s", service->folder, entry->d_name);
  }
  closedir(folder);
  cr_assert_geq(most, 0, "no file %s*%s", begins, ends);
}

static void turn_bit(const char *path, double where) {
  struct stat status;
  cr_assert_eq(stat(path, &status), 0);
  FILE *file = fopen(path, "r+e");
  cr_assert_not_null(file);
  long at = (long)((double)status.st_size * where);
  fseek(file, at, SEEK_SET);
  int byte = fgetc(file);
  fseek(file, at, SEEK_SET);
  fputc(byte ^ 4, file);
  fclose(file);
}

Test(journals, one_of_another_module_is_refused_and_kept, .timeout = 120) {
  musterd service;
  begin(&service, "--world main=fixed --agents 100 ");
  run_to(&service, 10);
  daemon_kill(&service);
  launch(&service, "--world main=wildlife --agents 100 ");
  expect_log(&service, "its journal is refused: ", true);
  expect_log(&service, "it is of another module: the world's is wildlife now", true);
  expect_log(&service, ".damaged-1", true);
  expect_log(&service, "100 agents to begin with", true);
  daemon_stop(&service);
}

/* It begins anew, with a journal. */
Test(journals, one_of_other_settings_is_refused_and_kept, .timeout = 120) {
  musterd service;
  begin(&service, VIRTUAL);
  run_to(&service, 10);
  daemon_kill(&service);
  launch(&service, VIRTUAL "--agents 700 ");
  expect_log(&service, "or of other options (agents, observers, path)", true);
  expect_log(&service, ".differing-1", true);
  expect_log(&service, "700 agents to begin with", true);
  json_t *journal = journal_of(&service);
  cr_expect(control_is_true(journal, "on") && !control_is_true(journal, "broken"));
  json_decref(journal);
  daemon_stop(&service);
}

Test(journals, one_that_is_damaged_is_used_up_to_there, .timeout = 120) {
  musterd service;
  char path[512];
  unsigned long long again;
  begin(&service, VIRTUAL "--recovery-max 3600s ");
  run_to(&service, 200);
  daemon_kill(&service);
  find_file(&service, "state.main-", ".journal", path);
  turn_bit(path, 0.5);
  launch(&service, VIRTUAL "--recovery-max 3600s ");
  moment back = recovered(&service, &again);
  cr_expect_gt(again, 0);
  cr_expect_lt(back.frame, 200);
  expect_log(&service, "of its journal are lost, since it is damaged: ", true);
  end(&service);
  cr_expect_eq(back.hash, undisturbed(back.frame));
  daemon_stop(&service);
}

/* Whether health, the verdict and the world's journal say that frames are lost; how many. */
static long long lost_frames(const musterd *service, const char *words) {
  control_await_count(service, "/v1/worlds/main", "frames", 1); /* before its first frame the verdict is of that */
  json_t *world = control_ask(service, "GET", "/v1/worlds/main", NULL, 200);
  json_t *ready = control_ask(service, "GET", "/readyz", NULL, 200);
  bool told = strcmp(control_text(world, "verdict.code"), "frames lost") == 0;
  long long frames = control_count(world, "journal.lost_frames");
  cr_expect_eq(strstr(control_text(world, "journal.lost"), words) != NULL, told, "%s",
               control_text(world, "journal.lost"));
  cr_expect_eq(control_count(world, "journal.losses"), told);
  cr_expect_eq(daemon_metric(service, "muster_journal_losses{world=\"main\"}"), told);
  cr_expect_eq(daemon_metric(service, "muster_journal_lost_frames{world=\"main\"}"), (double)frames);
  cr_expect_eq(json_array_size(control_member(ready, "reasons")) > 0, told);
  if (told) cr_expect_str_eq(control_text(ready, "reasons.0.code"), "lost");
  if (told)
    cr_expect(strstr(control_text(ready, "reasons.0.message"), words), "%s", control_text(ready, "reasons.0.message"));
  if (told) cr_expect(strstr(control_text(world, "verdict.words"), words), "%s", control_text(world, "verdict.words"));
  json_decref(world), json_decref(ready);
  return told ? frames : -1;
}

/* They were acknowledged changes: whoever operates the world hears of them until they say that they have. */
Test(journals, frames_that_a_damage_takes_are_told_until_somebody_knows, .timeout = 120) {
  musterd service;
  char path[512];
  unsigned long long again;
  begin(&service, VIRTUAL "--recovery-max 3600s ");
  run_to(&service, 200);
  cr_expect_eq(lost_frames(&service, "lost"), -1);
  daemon_kill(&service);
  find_file(&service, "state.main-", ".journal", path);
  turn_bit(path, 0.75);
  launch(&service, VIRTUAL "--recovery-max 3600s ");
  moment back = recovered(&service, &again);
  long long lost = lost_frames(&service, "of its journal are lost, since it is damaged: ");
  cr_expect_geq(lost + (long long)back.frame, 200, "frame %llu, and %lld are lost", back.frame, lost);
  cr_expect_lt(lost, 200);
  daemon_kill(&service); /* a crash and an end in order change nothing about it */
  launch(&service, VIRTUAL "--recovery-max 3600s ");
  cr_expect_eq(lost_frames(&service, "are lost"), lost);
  end(&service);
  launch(&service, VIRTUAL "--recovery-max 3600s ");
  cr_expect_eq(lost_frames(&service, "are lost"), lost);
  json_t *known = control_ask(&service, "POST", "/v1/worlds/main/acknowledge", NULL, 200);
  cr_expect_eq(control_count(known, "lost_frames"), lost);
  json_decref(known);
  cr_expect_eq(lost_frames(&service, "lost"), -1);
  daemon_kill(&service);
  launch(&service, VIRTUAL "--recovery-max 3600s ");
  cr_expect_eq(lost_frames(&service, "lost"), -1, "it is told again");
  daemon_stop(&service);
}

Test(journals, a_refused_journal_is_a_loss_whose_size_nobody_knows, .timeout = 120) {
  musterd service;
  char path[512];
  begin(&service, VIRTUAL "--recovery-max 3600s ");
  run_to(&service, 60);
  daemon_kill(&service);
  find_file(&service, "state.main-", ".snapshot", path);
  turn_bit(path, 0.5);
  launch(&service, VIRTUAL "--recovery-max 3600s ");
  expect_log(&service, "its journal is refused: ", true);
  cr_expect_eq(lost_frames(&service, "all frames of its journal are lost, since it is refused: "), 0);
  daemon_stop(&service);
}

#define BRISK VIRTUAL "--hz 1000 --budget 0.5ms --recovery-max 3600s "

/* A file may be no longer for the service than its log will be, as if its disk were full. Returns a frame that was safe
 * before. */
static long long fill_disk(const musterd *service) {
  const struct rlimit full = {1 << 15, RLIM_INFINITY};
  json_t *journal = journal_of(service);
  long long safe = control_count(journal, "frames_safe");
  json_decref(journal);
  cr_assert_eq(prlimit(service->process, RLIMIT_FSIZE, &full, NULL), 0);
  return safe;
}

Test(journals, a_full_disk_is_told_and_costs_no_safe_frame, .timeout = 120) {
  musterd service;
  unsigned long long again;
  begin(&service, BRISK);
  run_to(&service, 500);
  long long safe = fill_disk(&service);
  cr_assert_geq(safe, 500);
  daemon_await_log(&service, "world main: snapshots only: ");
  run_to(&service, frames_of(&service) + 10);
  json_t *journal = journal_of(&service);
  cr_expect(!control_is_true(journal, "on") && control_is_true(journal, "broken"));
  cr_expect(strstr(control_text(journal, "why"), "File too large"), "%s", control_text(journal, "why"));
  json_decref(journal);
  daemon_kill(&service);
  launch(&service, VIRTUAL);
  cr_expect_geq((long long)recovered(&service, &again).frame, safe);
  daemon_stop(&service);
}

/* A change of a paused world is answered when a snapshot has it. */
static void change_paused(const musterd *service) {
  json_decref(control_ask(service, "PATCH", "/v1/worlds/main", "{\"paused\": true}", 200));
  for (int i = 0; i < 3; i++)
    json_decref(control_ask(service, "POST", "/v1/worlds/main/observers", "{\"position\": {\"x\": 1, \"y\": 2}}", 201));
  json_decref(control_ask(service, "PATCH", "/v1/worlds/main", "{\"paused\": false}", 200));
}

Test(journals, a_journal_begins_again_when_the_disk_has_room, .timeout = 120) {
  musterd service;
  unsigned long long again;
  begin(&service, BRISK);
  run_to(&service, 500);
  change_paused(&service);
  fill_disk(&service);
  daemon_await_log(&service, "world main: snapshots only: ");
  cr_assert_eq(prlimit(service.process, RLIMIT_FSIZE, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY}, NULL), 0);
  daemon_await_log(&service, "world main: it has a journal again");
  json_t *journal = journal_of(&service);
  cr_expect(control_is_true(journal, "on") && !control_is_true(journal, "broken"));
  cr_expect_str_eq(control_text(journal, "why"), "");
  json_decref(journal);
  change_paused(&service);
  long long last = frames_of(&service) + 100;
  run_to(&service, last);
  daemon_kill(&service);
  launch(&service, VIRTUAL);
  cr_expect_geq((long long)recovered(&service, &again).frame, last);
  daemon_stop(&service);
}

Test(journals, worlds_that_cannot_have_one_say_so, .timeout = 120) {
  musterd service;
  begin(&service, STRIKER "--observers 20 ");
  expect_log(&service, "world main: snapshots only: its module keeps more than 1 MiB beside its agents", true);
  run_to(&service, 1); /* before its first frame no world is ready */
  json_t *journal = journal_of(&service), *ready = control_ask(&service, "GET", "/readyz", NULL, 200);
  cr_expect(!control_is_true(journal, "on") && !control_is_true(journal, "broken"));
  cr_expect_eq(json_array_size(control_member(ready, "reasons")), 0, "it is no accident");
  json_decref(journal);
  json_decref(ready);
  daemon_stop(&service);
}

/* What health says of a world while it comes back; "" = it did so before it could be asked. */
static void find_recovery(const musterd *service, char message[128]) {
  static daemon_reply reply;
  *message = '\0';
  for (bool runs = false; !runs && !*message;) {
    daemon_ask(service, "GET", "/readyz", NULL, &reply);
    json_t *ready = json_loads(reply.body, 0, NULL), *reason;
    size_t i;
    json_array_foreach(json_object_get(ready, "reasons"), i, reason) {
      if (strcmp(control_text(reason, "code"), "recovering") == 0)
        snprintf(message, 128, "%s", control_text(reason, "message"));
    }
    runs = reply.status == 200;
    json_decref(ready);
  }
}

static void expect_recovery(const char *message) {
  unsigned long long done = 0, frames = 0, left_s = 0;
  int read = sscanf(message, "%llu of %llu frames of its journal were run again; the others take about %llu s", &done,
                    &frames, &left_s);
  cr_assert(read == 3 || (read == 2 && done == 1), "%s", message);
  cr_expect(done >= 1 && done <= frames && frames >= 400, "%s", message);
  if (read == 3) cr_expect_eq(left_s == 0, done == frames, "%s", message);
}

#define LONG                                                                                                           \
  "--world main=wildlife --agents 8000 --virtual=yes --capacity 20ms --hz 100 --budget 8ms --recovery-max 3600s "

Test(journals, how_far_a_recovery_is_can_be_asked, .timeout = 120) {
  musterd service;
  char message[128];
  begin(&service, LONG);
  run_to(&service, 400);
  daemon_kill(&service);
  daemon_drop_notices(&service);
  daemon_launch(&service, LONG SAVED);
  AWAIT_WITH(usleep(1000), daemon_listens(&service));
  find_recovery(&service, message);
  expect_recovery(message);
  daemon_stop(&service);
}

/* The supervisor tells it of a world's process, too. */
Test(journals, how_far_a_recovery_is_can_be_asked_of_the_daemon, .timeout = 120) {
  static daemon_reply reply;
  musterd service;
  char message[128];
  begin(&service, LONG "--isolation process ");
  run_to(&service, 400);
  char *log = daemon_log(&service), *line = strstr(log, "world main runs in process ");
  cr_assert_not_null(line);
  kill(atoi(line + strlen("world main runs in process ")), SIGKILL);
  free(log);
  do daemon_ask(&service, "GET", "/readyz", NULL, &reply);
  while (reply.status == 200);
  find_recovery(&service, message);
  expect_recovery(message);
  json_t *worlds = control_ask(&service, "GET", "/v1/worlds", NULL, 200);
  const char *words = control_text(worlds, "processes.0.words");
  cr_expect(words && strstr(words, "world main starts: ") && strstr(words, " of its journal were run again"), "%s",
            words ? words : "nothing");
  json_decref(worlds);
  daemon_stop(&service);
}

/* As processes leave it that die while they run frames again. */
static void leave_tries(const musterd *service, const char *deaths) {
  char path[512];
  find_file(service, "state.main-", ".journal", path);
  strcpy(strrchr(path, '.'), ".replaying");
  daemon_write(service, strrchr(path, '/') + 1, deaths);
}

/* A service that dies again and again while frames are run again leaves them out. */
Test(journals, frames_on_which_services_die_again_are_left_out, .timeout = 120) {
  musterd service;
  unsigned long long again;
  begin(&service, VIRTUAL "--recovery-max 3600s ");
  run_to(&service, 60);
  daemon_kill(&service);
  leave_tries(&service, "\n\n");
  launch(&service, VIRTUAL "--recovery-max 3600s ");
  expect_log(&service, "cannot be run again: two processes died meanwhile, one after the other", true);
  recovered(&service, &again);
  cr_expect_eq(again, 0);
  daemon_stop(&service);
}

/* One death may be that of an operator who did not wait: it costs no frame, and the next crash begins to count anew. */
Test(journals, one_death_in_a_recovery_costs_no_frame, .timeout = 120) {
  musterd service;
  char message[128];
  unsigned long long again;
  begin(&service, LONG);
  run_to(&service, 400);
  for (int i = 0; i < 2; i++) {
    long long last = frames_of(&service);
    daemon_kill(&service);
    daemon_drop_notices(&service);
    daemon_launch(&service, LONG SAVED);
    AWAIT_WITH(usleep(1000), daemon_listens(&service));
    find_recovery(&service, message);
    expect_recovery(message); /* it is not over */
    daemon_kill(&service);
    launch(&service, LONG);
    expect_log(&service, "cannot be run again", false);
    cr_expect_geq((long long)recovered(&service, &again).frame, last);
    cr_expect_geq(again, 400);
    run_to(&service, last + 3);
    if (i == 0) run_to(&service, last + 400);
  }
  daemon_stop(&service);
}

/* A pace that was set by command, and a pause, outlive a crash. */
Test(journals, a_world_keeps_its_pace_and_its_pause, .timeout = 120) {
  musterd service;
  begin(&service, VIRTUAL);
  json_decref(control_ask(&service, "PATCH", "/v1/worlds/main", "{\"budget_ns\": 3000000, \"hz\": 50}", 200));
  run_to(&service, frames_of(&service) + 3);
  json_decref(control_ask(&service, "POST", "/v1/worlds/main/step", "{\"frames\": 5}", 200));
  control_await_count(&service, "/v1/worlds/main", "frame.number", 5);
  for (long long left = 1; left;) {
    json_t *world = control_ask(&service, "GET", "/v1/worlds/main", NULL, 200);
    left = control_count(world, "steps_left");
    json_decref(world);
  }
  long long last = frames_of(&service);
  daemon_kill(&service);
  launch(&service, VIRTUAL);
  json_t *world = control_ask(&service, "GET", "/v1/worlds/main", NULL, 200);
  cr_expect_eq(control_count(world, "budget_ns"), 3000000);
  cr_expect_eq(control_count(world, "period_ns"), 20000000);
  cr_expect(control_is_true(world, "paused"));
  json_decref(world);
  control_step(&service, 1);
  cr_expect_eq(frames_of(&service), last + 1);
  daemon_stop(&service);
}

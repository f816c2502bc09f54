/* What becomes of the worlds of a musterd that dies: they go on from their last complete frame. The module that dies is
 * striker.c. */
#include "comeback.h"

#include <dirent.h>

#define WHOLE   "--recovery-max 3600s " /* all frames are run again */
#define PATIENT VIRTUAL WHOLE
#define BRISK   PATIENT "--hz 1000 --budget 0.5ms "

TestSuite(journals, .init = daemon_expect_deaths, .fini = stop, .timeout = 120);

/* What the same world is after that frame when nothing happens to it. */
static unsigned long long undisturbed(long long frame) {
  const musterd disturbed = service;
  begin(VIRTUAL "--journal=no ");
  pause_world();
  long long left = frame - frames_now();
  cr_assert_geq(left, 0, "the machine was too slow to stop it before frame %lld", frame);
  if (left) {
    tell("POST", WORLD "/step", formed("{'frames': %lld}", left), 200);
    run_to(frame);
  }
  end_well();
  moment at = saved("state");
  cr_assert_eq(at.frame, frame);
  daemon_clear(&service);
  service = disturbed;
  return at.hash;
}

static void expect_kills_to_change_nothing(const char *flags) {
  enum { KILLS = 3 };
  moment last = {0}; /* what came of those before is in it */
  long long sum = 0;
  begin(flags);
  for (int i = 0; i < KILLS; i++) {
    run_to(300 + 150 * i);
    usleep((useconds_t)(rand() % 20000)); /* chooses when; nothing is waited for */
    die_and_launch(flags);
    last = recovered();
    cr_expect_geq(last.frame, 300 + 150 * i);
    sum += rerun;
  }
  cr_expect_gt(sum, 0, "no frame was run again");
  json_auto_t *journal = expect_journal(true, false);
  cr_expect_eq(control_count(journal, "recovered_frames"), rerun);
  cr_expect_gt(control_count(journal, "incidents"), 0);
  end_well();
  cr_expect_eq(last.hash, undisturbed(last.frame), "frame %lld is another", last.frame);
}

Test(journals, a_world_that_is_killed_goes_on_as_if_nothing_had_been) {
  expect_kills_to_change_nothing(VIRTUAL);
}

Test(journals, may_lie_in_a_folder_of_their_own) {
  char folder[] = "/dev/shm/journals-XXXXXX";
  cr_assert_not_null(mkdtemp(folder));
  expect_kills_to_change_nothing(formed(VIRTUAL "--journal-folder %s --journal-sync frame ", folder));
  cr_expect_eq(system(formed("ls %s/state.main-*.snapshot >/dev/null", folder)), 0);
  cr_expect_eq(system(formed("rm -r %s", folder)), 0);
}

Test(journals, a_service_that_stops_in_order_goes_on_from_the_same_frame) {
  begin_and_run_to(50, VIRTUAL);
  pause_world();
  end_well();
  moment at = saved("state");
  launch(VIRTUAL);
  expect_logged(formed("of frame %lld go on, hash %016llx", at.frame, at.hash));
  expect_not_logged("recovered in");
  run_to(at.frame + 1); /* it is not paused any more */
}

/* ---------------------------------------------------------------------------------------------------- the culprit */

/* The id of the agent that strikes. */
static const char *ask_to_strike(const char *order) {
  unsigned index, generation;
  control_find_agent(&service, "bomb", &index, &generation);
  daemon_ask_once(&service, "POST", WORLD "/module/strike", NULL, order, &reply);
  /* The answer waits for a frame, in which the process dies. */
  cr_assert(reply.status == 200 || reply.status == 0, "%s: %d: %s", order, reply.status, reply.body);
  return formed("%u.%u", index, generation);
}

Test(journals, who_crashed_it_is_named_and_stays_in_quarantine) {
  begin_and_run_to(60, STRIKER);
  const char *agent = ask_to_strike("segv atom"), *path = formed(WORLD "/agents/%s", agent);
  cr_assert_eq(daemon_wait(&service), -SIGSEGV);
  launch(STRIKER);
  moment back = recovered();
  cr_expect_geq(back.frame, 60);
  EACH(expect_logged, "of type 'bomb', in atom 0, frame ",
       "it crashed the last run, and is in quarantine until `muster ctl --socket ",
       formed("--world main reinstate %s`", agent));
  run_to(back.frame + 2);
  cr_expect(is_true_at(path, "quarantined"));
  die_and_launch(STRIKER);
  run_to(recovered().frame + 1);
  cr_expect(is_true_at(path, "quarantined"), "the next crash, by nobody, sets it free");
  expect_not_logged("it crashed the last run");
  tell("POST", formed("%s/reinstate", path), NULL, 200);
  AWAIT_WITH(usleep(2000), !is_true_at(path, "quarantined"));
}

/* What a command does to the instance of a module is no input of the world: it is given again. */
Test(journals, commands_are_given_again) {
  begin_and_run_to(60, STRIKER WHOLE);
  ask_to_strike("scribble atom");
  run_on(130);
  die_and_launch(STRIKER WHOLE);
  expect_not_logged("cannot be run again");
  cr_expect_geq(recovered().frame, 190);
  cr_expect_geq(rerun, 190);
}

/* What the modules do before a frame is done again, too: these agents look at what their instance counts there. */
Test(journals, modules_move_on_beside_the_frames) {
  begin_and_run_to(100, "--world main=flashcrowd --agents 500 --hz 200 --budget 2ms --recovery-max 3600s ");
  die_and_launch("--world main=flashcrowd --agents 500 --hz 200 --budget 2ms --recovery-max 3600s ");
  expect_not_logged("cannot be run again");
  cr_expect_geq(recovered().frame, 100);
}

/* ----------------------------------------------------------------------------------------------- what cannot go on */

Test(journals, frames_that_come_to_another_world_are_told_and_the_snapshot_stands) {
  begin_and_run_to(60, STRIKER WHOLE);
  ask_to_strike("stray atom");
  run_on(130);
  long long last = frames_now();
  die_and_launch(STRIKER WHOLE);
  EACH(expect_logged, "world main: snapshots only: frames 1 to ", " cannot be run again: ");
  moment back = recovered();
  cr_expect_lt(back.frame, last);
  cr_expect_eq(rerun, 0);
  await_count(WORLD, "frames", 1);
  expect_logged(".differing-1");
  json_decref(expect_journal(false, true));
  expect_at("/readyz", "{'reasons.0.code': 'lost', 'reasons.1.code': 'degraded'}");
  cr_expect_eq(metric("muster_journal_broken{world=\"main\"}"), 1.0);
  await_log("snapshot 1: "); /* what it came from is put aside: it is saved at once */
}

static void copy_file(const char *from, const char *to) {
  cr_assert_eq(system(formed("cp %s %s", path_of(from), path_of(to))), 0);
}

static void take_snapshot(const char *told) {
  daemon_signal(&service, SIGUSR1);
  await_log(told);
}

Test(journals, an_older_snapshot_that_was_put_back_is_gone_on_from) {
  begin(VIRTUAL);
  take_snapshot("snapshot 1: ");
  copy_file("state", "kept");
  run_on(30);
  take_snapshot("snapshot 2: ");
  run_on(30);
  daemon_kill(&service);
  copy_file("kept", "state");
  moment at = saved("state");
  launch(VIRTUAL);
  EACH(expect_logged, formed("of frame %lld go on, hash %016llx", at.frame, at.hash),
       "the snapshot file is 1: that one is gone on from", ".other-1");
  expect_not_logged("recovered in");
}

Test(journals, a_snapshot_that_is_damaged_leaves_the_journal) {
  begin(VIRTUAL);
  take_snapshot("snapshot 1: ");
  run_on(30);
  take_snapshot("snapshot 2: ");
  run_on(30);
  long long last = frames_now();
  daemon_kill(&service);
  cr_assert_eq(truncate(path_of("state"), 100), 0);
  launch(VIRTUAL);
  cr_expect_geq(recovered().frame, last);
  expect_logged("/state is refused: ");
}

/* The name of a file in the folder that begins so; the newest by number. */
static const char *find_file(const char *begins, const char *ends) {
  const char *path = NULL;
  DIR *folder = opendir(service.folder);
  int most = -1;
  cr_assert_not_null(folder);
  for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
    size_t length = strlen(entry->d_name), tail = strlen(ends);
    if (strncmp(entry->d_name, begins, strlen(begins)) != 0 || length < tail) continue;
    if (strcmp(entry->d_name + length - tail, ends) != 0) continue;
    int number = atoi(entry->d_name + strlen(begins));
    if (number <= most) continue;
    most = number;
    path = path_of(entry->d_name);
  }
  closedir(folder);
  cr_assert_geq(most, 0, "no file %s*%s", begins, ends);
  return path;
}

/* Kills it, and turns a bit of the world's newest file that ends so. */
static void die_and_turn_bit(const char *ends, double where) {
  daemon_kill(&service);
  const char *path = find_file("state.main-", ends);
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

Test(journals, one_of_another_module_is_refused_and_kept) {
  begin_and_run_to(10, "--world main=fixed --agents 100 ");
  die_and_launch("--world main=wildlife --agents 100 ");
  EACH(expect_logged, "its journal is refused: ", "it is of another module: the world's is wildlife now", ".damaged-1",
       "100 agents to begin with");
}

/* It begins anew, with a journal. */
Test(journals, one_of_other_settings_is_refused_and_kept) {
  begin_and_run_to(10, VIRTUAL);
  die_and_launch(VIRTUAL "--agents 700 ");
  EACH(expect_logged, "or of other options (agents, observers, path)", ".differing-1", "700 agents to begin with");
  json_decref(expect_journal(true, false));
}

Test(journals, one_that_is_damaged_is_used_up_to_there) {
  begin_and_run_to(200, PATIENT);
  die_and_turn_bit(".journal", 0.5);
  launch(PATIENT);
  moment back = recovered();
  cr_expect_gt(rerun, 0);
  cr_expect_lt(back.frame, 200);
  expect_logged("of its journal are lost, since it is damaged: ");
  end_well();
  cr_expect_eq(back.hash, undisturbed(back.frame));
}

/* Whether health, the verdict and the world's journal say that frames are lost; how many. */
static long long lost_frames(const char *words) {
  await_count(WORLD, "frames", 1); /* before its first frame the verdict is of that */
  json_auto_t *world = get(WORLD), *ready = get("/readyz");
  bool told = strcmp(control_text(world, "verdict.code"), "frames lost") == 0;
  long long frames = control_count(world, "journal.lost_frames");
  const char *lost = control_text(world, "journal.lost");
  cr_expect_eq(strstr(lost, words) != NULL, told, "%s", lost);
  cr_expect_eq(control_count(world, "journal.losses"), told);
  cr_expect_eq(metric("muster_journal_losses{world=\"main\"}"), told);
  cr_expect_eq(metric("muster_journal_lost_frames{world=\"main\"}"), (double)frames);
  cr_expect_eq(control_size(ready, "reasons") > 0, told);
  if (told) control_expect(ready, formed("{'reasons.0.code': 'lost', 'reasons.0.message': '~%s'}", words));
  if (told) control_expect(world, formed("{'verdict.words': '~%s'}", words));
  return told ? frames : -1;
}

/* They were acknowledged changes: whoever operates the world hears of them until they say that they have. */
Test(journals, frames_that_a_damage_takes_are_told_until_somebody_knows) {
  begin_and_run_to(200, PATIENT);
  cr_expect_eq(lost_frames("lost"), -1);
  die_and_turn_bit(".journal", 0.75);
  launch(PATIENT);
  moment back = recovered();
  long long lost = lost_frames("of its journal are lost, since it is damaged: ");
  cr_expect_geq(lost + back.frame, 200, "frame %lld, and %lld are lost", back.frame, lost);
  cr_expect_lt(lost, 200);
  daemon_kill(&service); /* a crash and an end in order change nothing about it */
  launch(PATIENT);
  cr_expect_eq(lost_frames("are lost"), lost);
  end_well();
  launch(PATIENT);
  cr_expect_eq(lost_frames("are lost"), lost);
  expect_asked("POST", WORLD "/acknowledge", NULL, 200, formed("{'lost_frames': %lld}", lost));
  cr_expect_eq(lost_frames("lost"), -1);
  die_and_launch(PATIENT);
  cr_expect_eq(lost_frames("lost"), -1, "it is told again");
}

Test(journals, a_refused_journal_is_a_loss_whose_size_nobody_knows) {
  begin_and_run_to(60, PATIENT);
  die_and_turn_bit(".snapshot", 0.5);
  launch(PATIENT);
  expect_logged("its journal is refused: ");
  cr_expect_eq(lost_frames("all frames of its journal are lost, since it is refused: "), 0);
}

/* A file may be no longer for the service than its log will be, as if its disk were full. Returns a safe frame. */
static long long fill_disk(void) {
  const struct rlimit full = {1 << 15, RLIM_INFINITY};
  long long safe = count_at(WORLD, "journal.frames_safe");
  cr_assert_eq(prlimit(service.process, RLIMIT_FSIZE, &full, NULL), 0);
  return safe;
}

Test(journals, a_full_disk_is_told_and_costs_no_safe_frame) {
  begin_and_run_to(500, BRISK);
  long long safe = fill_disk();
  cr_assert_geq(safe, 500);
  await_log("world main: snapshots only: ");
  run_on(10);
  json_auto_t *journal = expect_journal(false, true);
  expect_in(control_text(journal, "why"), "File too large");
  die_and_launch(VIRTUAL);
  cr_expect_geq(recovered().frame, safe);
}

/* A change of a paused world is answered when a snapshot has it. */
static void change_paused(void) {
  pause_world();
  for (int i = 0; i < 3; i++) tell("POST", WORLD "/observers", "{'position': {'x': 1, 'y': 2}}", 201);
  tell("PATCH", WORLD, "{'paused': false}", 200);
}

Test(journals, a_journal_begins_again_when_the_disk_has_room) {
  begin_and_run_to(500, BRISK);
  change_paused();
  fill_disk();
  await_log("world main: snapshots only: ");
  cr_assert_eq(prlimit(service.process, RLIMIT_FSIZE, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY}, NULL), 0);
  await_log("world main: it has a journal again");
  json_auto_t *journal = expect_journal(true, false);
  control_expect(journal, "{'why': ''}");
  change_paused();
  long long last = frames_now() + 100;
  run_to(last);
  die_and_launch(VIRTUAL);
  cr_expect_geq(recovered().frame, last);
}

Test(journals, worlds_that_cannot_have_one_say_so) {
  begin(STRIKER "--observers 20 ");
  expect_logged("world main: snapshots only: its module keeps more than 1 MiB beside its agents");
  run_to(1); /* before its first frame no world is ready */
  json_decref(expect_journal(false, false));
  cr_expect_eq(size_at("/readyz", "reasons"), 0, "it is no accident");
}

/* What health says of a world while it comes back; "" = it did so before it could be asked. */
static const char *find_recovery(void) {
  const char *message = "";
  for (bool runs = false; !runs && !*message; runs = reply.status == 200) {
    json_auto_t *ready = json_loads(fetch("GET", "/readyz", NULL)->body, 0, NULL);
    json_t *reason;
    size_t i;
    json_array_foreach(json_object_get(ready, "reasons"), i, reason) {
      if (strcmp(control_text(reason, "code"), "recovering") == 0)
        message = formed("%s", control_text(reason, "message"));
    }
  }
  return message;
}

static void expect_recovery(void) {
  const char *message = find_recovery();
  unsigned long long done = 0, frames = 0, left_s = 0;
  int read = sscanf(message, "%llu of %llu frames of its journal were run again; the others take about %llu s", &done,
                    &frames, &left_s);
  cr_assert(read == 3 || (read == 2 && done == 1), "%s", message);
  cr_expect(done >= 1 && done <= frames && frames >= 400, "%s", message);
  if (read == 3) cr_expect_eq(left_s == 0, done == frames, "%s", message);
}

#define LONG                                                                                                           \
  "--world main=wildlife --agents 8000 --virtual=yes --capacity 20ms --hz 100 --budget 8ms --recovery-max 3600s "

/* Kills it, and looks on while it comes back. */
static void die_and_expect_recovery(void) {
  daemon_kill(&service);
  daemon_drop_notices(&service);
  daemon_launch(&service, LONG SAVED);
  AWAIT_WITH(usleep(1000), daemon_listens(&service));
  expect_recovery();
}

Test(journals, how_far_a_recovery_is_can_be_asked) {
  begin_and_run_to(400, LONG);
  die_and_expect_recovery();
}

/* The supervisor tells it of a world's process, too. */
Test(journals, how_far_a_recovery_is_can_be_asked_of_the_daemon) {
  begin_and_run_to(400, LONG "--isolation process ");
  kill(control_pid_of(&service, "main"), SIGKILL);
  while (fetch("GET", "/readyz", NULL)->status == 200) continue;
  expect_recovery();
  json_auto_t *worlds = get("/v1/worlds");
  const char *words = control_text(worlds, "processes.0.words");
  cr_expect(words && strstr(words, "world main starts: ") && strstr(words, " of its journal were run again"), "%s",
            words ? words : "nothing");
}

/* A service that dies again and again while frames are run again leaves them out. */
Test(journals, frames_on_which_services_die_again_are_left_out) {
  begin_and_run_to(60, PATIENT);
  daemon_kill(&service);
  const char *name = strrchr(find_file("state.main-", ".journal"), '/') + 1;
  /* as processes leave it that die while they run frames again */
  daemon_write(&service, formed("%.*s.replaying", (int)(strrchr(name, '.') - name), name), "\n\n");
  launch(PATIENT);
  expect_logged("cannot be run again: two processes died meanwhile, one after the other");
  recovered();
  cr_expect_eq(rerun, 0);
}

/* One death may be that of an operator who did not wait: it costs no frame, and the next crash begins to count anew. */
Test(journals, one_death_in_a_recovery_costs_no_frame) {
  begin_and_run_to(400, LONG);
  for (int i = 0; i < 2; i++) {
    long long last = frames_now();
    die_and_expect_recovery(); /* it is not over */
    die_and_launch(LONG);
    expect_not_logged("cannot be run again");
    cr_expect_geq(recovered().frame, last);
    cr_expect_geq(rerun, 400);
    run_to(last + 3);
    if (i == 0) run_to(last + 400);
  }
}

/* A pace that was set by command, and a pause, outlive a crash. */
Test(journals, a_world_keeps_its_pace_and_its_pause) {
  begin(VIRTUAL);
  tell("PATCH", WORLD, "{'budget_ns': 3000000, 'hz': 50}", 200);
  run_on(3);
  tell("POST", WORLD "/step", "{'frames': 5}", 200);
  await_count(WORLD, "frame.number", 5);
  while (count_at(WORLD, "steps_left")) continue;
  long long last = frames_now();
  die_and_launch(VIRTUAL);
  expect_at(WORLD, "{'budget_ns': 3000000, 'period_ns': 20000000, 'paused': true}");
  step(1);
  cr_expect_eq(frames_now(), last + 1);
}

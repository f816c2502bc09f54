/* Lives of a world's process, one after another, of a supervisor without its server: this same program is the process,
 * which does what a file says. What one life leaves behind is not the next one's. */
#include "service/supervise/orders.h"
#include "service/supervise/processes.h"

#include "base/clock.h"

#include <poll.h>

#include "own_folder.h"

#define SCRIPTS "MUSTER_TEST_PROCESS_LIVES" /* the folder of the files */

enum { SCRIPT_BYTES = 256, TURNS_MOST = 100000 };

/* ------------------------------------------------------------------------------------------------------ the process */

static void send_note(const char *text) {
  if (send(ORDERS_NOTIFY, text, strlen(text), MSG_NOSIGNAL) < 0) _exit(90);
}

static void write_lines(int count) {
  char line[1024];
  memset(line, 'x', sizeof line);
  line[sizeof line - 1] = '\n';
  for (int i = 0; i < count; i++)
    if (write(STDOUT_FILENO, line, sizeof line) != (ssize_t)sizeof line) _exit(91);
}

static int term_status;

static void end_by_term(int number) {
  (void)number;
  _exit(term_status);
}

/* A line each: NOTE text, NOTES count, LINES count, COPY, TERM status (which it then answers SIGTERM with), WAIT,
 * DIE signal, END status. */

static void carry_out(const char *line) {
  if (strncmp(line, "NOTE ", 5) == 0) send_note(line + 5);
  for (int i = strncmp(line, "NOTES ", 6) == 0 ? atoi(line + 6) : 0; i > 0; i--) send_note("WATCHDOG=1");
  if (strncmp(line, "LINES ", 6) == 0) write_lines(atoi(line + 6));
  if (strcmp(line, "COPY") == 0 && fork() == 0)
    for (;;) pause();
  if (strncmp(line, "TERM ", 5) == 0) term_status = atoi(line + 5), signal(SIGTERM, end_by_term);
  if (strcmp(line, "WAIT") == 0)
    for (;;) pause();
  if (strncmp(line, "DIE ", 4) == 0) raise(atoi(line + 4));
  if (strncmp(line, "END ", 4) == 0) _exit(atoi(line + 4));
}

__attribute__((constructor)) static void live_as_a_world(void) {
  char path[128], line[SCRIPT_BYTES];
  const char *scripts = getenv(SCRIPTS), *world = orders_world();
  if (!scripts || !world) return;
  signal(SIGSEGV, SIG_DFL), signal(SIGABRT, SIG_DFL); /* a sanitizer's are of no use here */
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
  snprintf(path, sizeof path, "%s/%s.script", scripts, world);
  FILE *file = fopen(path, "re");
  while (file && fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = '\0';
    carry_out(line);
  }
  _exit(92);
}

/* --------------------------------------------------------------------------------------------------- the supervisor */

static struct settings settings;
static struct processes processes;
static world_process *const main_world = &processes.worlds[0], *const forest = &processes.worlds[1];
static int alive[2];               /* whoever is alive has the end that is written to */
static char ended[WORLDS_MAX * 2]; /* names of those that have ended, in this order: their first letters */
static char asked[4];              /* of those that were asked to stop */
static size_t asked_count;
static bool allowed; /* a process starts when the test lets it, and not when a pause is over */

static void note_change(world_process *process, void *user) {
  size_t length = strlen(ended);
  (void)user;
  if (process->state == PROCESS_STOPPING && asked_count < sizeof asked) asked[asked_count++] = *process->name;
  if (process->state == PROCESS_ENDED && length + 1 < sizeof ended) ended[length] = *process->name;
}

static bool may_start(world_process *process, void *user) {
  (void)process, (void)user;
  return allowed;
}

/* What it does that ends in order, and what is ended by SIGTERM itself. */
static const char runs[] = "TERM 0\nNOTE READY=1\nWAIT\n", dies_of_term[] = "NOTE READY=1\nWAIT\n";

static void write_script(const char *world, const char *text) {
  write_file(formed("%s.script", world), text);
}

static void begin(void) {
  static char *arguments[] = {"world", NULL};
  folder_begin();
  cr_assert(setenv(SCRIPTS, folder, 1) == 0 && pipe(alive) == 0);
  unsetenv("NOTIFY_SOCKET");
  settings_default(&settings);
  snprintf(settings.socket, sizeof settings.socket, "%s/s", folder);
  settings.snapshot_file[0] = settings.flight_file[0] = settings.journal_folder[0] = '\0';
  settings.stuck_kill_ns = 0;
  settings.stop_grace_ns = 60000000000u;
  settings.crash_limit = 3;
  settings.crash_window_ns = 3600000000000u;
  settings_add_world(&settings, "main"), settings_add_world(&settings, "forest");
  processes = (struct processes){
      .loop = &loop, .settings = &settings, .arguments = arguments, .changed = note_change, .may_start = may_start};
  write_script("forest", runs);
}

static void end(void) {
  processes_close(&processes);
  while (main_world->has_process || forest->has_process) uv_run(&loop, UV_RUN_ONCE);
  loop_end();
  for (uint32_t i = 0; i < settings.world_count; i++) unlink(path_of(formed("%s.script", settings.worlds[i].name)));
  cr_expect_eq(rmdir(folder), 0, "something is left in %s", folder);
  close(alive[0]);
}

TestSuite(process_lives, .init = begin, .fini = end, .timeout = 120);

static void open_all(const char *script) {
  write_script("main", script);
  allowed = true;
  cr_assert_eq(processes_open(&processes), MUSTER_OK, "%s", muster_last_error());
  allowed = false;
  uv_timer_stop(&processes.look); /* the test looks */
}

/* Turns the loop once, if there is need for that: something has happened, or will soon. */
static void turn(const world_process *world, int turns) {
  cr_assert_lt(turns, TURNS_MOST, "world %s is %s: %s", world->name, process_state_name(world->state), world->reason);
  uv_run(&loop, UV_RUN_ONCE);
}

/* Until the process that it has has ended. */
static void await_end(const world_process *world) {
  for (int turns = 0; world->has_process; turns++) turn(world, turns);
}

/* Starts it now. */
static void begin_again(world_process *world) {
  const uint64_t starts = world->starts;
  allowed = true;
  processes_begin(world);
  for (int turns = 0; world->starts == starts; turns++) turn(world, turns);
  allowed = false;
}

static void await(world_process *world, process_state state) {
  for (int turns = 0; world->state != state; turns++) {
    if (world->state == PROCESS_WAITING)
      begin_again(world);
    else
      turn(world, turns);
  }
}

static void expect_end(process_end how, const char *reason, bool by_code, bool ran) {
  const restart_record *restarts = &main_world->restarts;
  cr_assert_gt(restarts->count, 0);
  const restart_end *last = &restarts->ends[restarts->count - 1];
  cr_expect_str_eq(main_world->reason, reason);
  cr_expect_eq(main_world->last_end, how, "%s: %s", reason, process_end_name(main_world->last_end));
  cr_expect(last->by_code == by_code && (last->ran_ns > 0) == ran, "%s: %d %lu", reason, last->by_code, last->ran_ns);
  cr_expect_eq(main_world->state, PROCESS_WAITING);
}

/* Lets it live once more, by a script, until it has ended so. */
static void live(const char *script, process_end how, const char *reason, bool by_code, bool ran) {
  write_script("main", script);
  begin_again(main_world);
  await_end(main_world);
  expect_end(how, reason, by_code, ran);
}

static void live_until_killed(const char *why, bool by_code) {
  write_script("main", dies_of_term);
  await(main_world, PROCESS_RUNNING);
  processes_kill(main_world, by_code, why);
  await_end(main_world);
  expect_end(PROCESS_END_STUCK, why, by_code, true);
}

static void end_by(int signal_number) {
  kill(main_world->process.pid, signal_number);
  await_end(main_world);
}

/* The last note is taken before the end is. */
Test(process_lives, each_end_is_told_as_it_was_and_nothing_of_the_one_before) {
  settings.crash_limit = 0;
  open_all("NOTE STATUS=no disk\nEND 3\n");
  await_end(main_world);
  expect_end(PROCESS_END_STATUS, "its process ended by itself with status 3, no disk", false, false);
  write_script("main", "NOTE STATUS=no room\nEND 3\n");
  begin_again(main_world);
  uv_poll_stop(&main_world->news); /* so that it is heard behind its end */
  await_end(main_world);
  expect_end(PROCESS_END_STATUS, "its process ended by itself with status 3, no room", false, false);
  live("END 4\n", PROCESS_END_STATUS, "its process ended by itself with status 4", false, false);
  live("NOTE STATUS-OF-IT=bad\nNOTE STATUSES\nEND 4\n", PROCESS_END_STATUS, "its process ended by itself with status 4",
       false, false);
  live("NOTE STATUS=it loads\nNOTE READY=1\nNOTE STATUS=it runs\nDIE 11\n", PROCESS_END_SIGNAL,
       "its process died of SIGSEGV", true, true);
  live("DIE 9\n", PROCESS_END_SIGNAL, "its process died of SIGKILL", false, false);
  live_until_killed("it is stuck", true);
  live("END 0\n", PROCESS_END_STATUS, "its process ended by itself with status 0", false, false);
  live_until_killed("the machine", false);
  cr_expect_eq(main_world->starts, 9, "%lu", main_world->starts);
  cr_expect(forest->starts == 1 && forest->restarts.count == 0 && !*forest->reason);
}

Test(process_lives, a_world_that_failed_has_no_socket_until_a_person_starts_it) {
  settings.crash_limit = 1;
  open_all("NOTE READY=1\nDIE 6\n");
  for (uint32_t round = 0; round < 2; round++) {
    await(main_world, PROCESS_FAILED);
    cr_expect(main_world->listener < 0 && main_world->restarts.failed && !main_world->has_process);
    cr_expect_eq(main_world->starts, 2 + 2 * round);
    write_script("main", runs);
    allowed = true;
    cr_assert(processes_restart(main_world));
    cr_expect(main_world->restarts.count == 0 && !main_world->restarts.failed && main_world->restarts.troubles == 0);
    await(main_world, PROCESS_RUNNING);
    cr_expect(main_world->listener >= 0 && !main_world->again);
    write_script("main", "NOTE READY=1\nDIE 6\n");
    if (round == 0) end_by(SIGABRT);
  }
  main_world->stays_down = true;
  kill(main_world->process.pid, SIGKILL);
  await(main_world, PROCESS_FAILED);
  cr_expect(main_world->restarts.failed && main_world->restarts.count == 0, "it does not end in the same way again");
  write_script("main", runs);
  allowed = true;
  cr_assert(processes_restart(main_world));
  await(main_world, PROCESS_RUNNING);
  cr_expect(!main_world->stays_down);
}

Test(process_lives, one_that_is_stopped_or_replaced_has_not_ended_by_itself) {
  open_all(runs);
  await(main_world, PROCESS_RUNNING);
  for (uint32_t round = 0; round < 3; round++) {
    pid_t before = main_world->process.pid;
    if (round == 1)
      processes_replace(main_world, "its zone is another's");
    else
      cr_assert(processes_restart(main_world));
    cr_expect_eq(main_world->state, round == 1 ? PROCESS_RUNNING : PROCESS_STOPPING);
    cr_assert(main_world->again);
    await_end(main_world);
    await(main_world, PROCESS_RUNNING);
    cr_expect(main_world->process.pid != before && main_world->starts == round + 2 && !main_world->again);
    cr_expect(main_world->restarts.count == 0 && main_world->last_end == PROCESS_END_NONE && !*main_world->reason);
    cr_expect(!*main_world->stuck);
  }
  end_by(SIGSEGV);
  expect_end(PROCESS_END_SIGNAL, "its process died of SIGSEGV", true, true);
}

/* Copies die with the process, also where it ended by itself. */
Test(process_lives, nobody_of_a_process_outlives_it) {
  open_all("COPY\nCOPY\nEND 3\n");
  await_end(main_world);
  processes_kill(forest, false, "it has that end, too");
  await_end(forest);
  close(alive[1]);
  struct pollfd all = {.fd = alive[0], .events = POLLIN};
  cr_expect(poll(&all, 1, 10000) == 1 && all.revents & POLLHUP, "a copy lives on");
}

/* -------------------------------------------------------------------------------------------------- notes and lines */

/* What is taken counts from look to look. */
Test(process_lives, a_process_waits_that_says_too_much_in_one_look_and_only_then) {
  settings.crash_limit = 0;
  open_all("NOTE READY=1\nNOTES 600\nLINES 50\nWAIT\n");
  for (uint32_t life = 0; life < 3; life++) {
    const bool much = life == 1;
    await(main_world, PROCESS_RUNNING);
    const uint32_t notes = much ? 1000 : 601;
    const uint64_t bytes = much ? 65536 : 50 * 1024;
    while (main_world->notes_taken < notes || main_world->output.taken < bytes) uv_run(&loop, UV_RUN_ONCE);
    cr_expect_eq(main_world->chatters, much, "life %u", life);
    cr_expect_eq(main_world->output.told, much, "life %u", life);
    cr_expect_eq(main_world->output.paused, much, "life %u", life);
    processes_hear_on(main_world);
    cr_expect(main_world->notes_taken == 0 && main_world->output.taken == 0 && !main_world->output.paused);
    write_script("main", life == 0 ? "NOTE READY=1\nNOTES 1050\nLINES 75\nWAIT\n"
                                   : "NOTE READY=1\nNOTES 600\nLINES 50\nWAIT\n");
    while (much && main_world->notes_taken < 51) uv_run(&loop, UV_RUN_ONCE);
    cr_expect_eq(main_world->has_process, true);
    end_by(SIGKILL);
  }
}

/* ------------------------------------------------------------------------------------------------------ all of them */

Test(process_lives, a_reload_reaches_those_that_run_and_one_that_starts_once_it_runs) {
  settings.crash_limit = 0;
  open_all("WAIT\n");
  await(forest, PROCESS_RUNNING);
  cr_assert_eq(main_world->state, PROCESS_STARTING);
  processes_reload(&processes);
  cr_expect(main_world->reloads && !forest->reloads);
  await_end(forest); /* here SIGHUP ends it */
  cr_expect(strstr(forest->reason, "SIGHUP"), "%s", forest->reason);
  processes_kill(main_world, false, "enough");
  await_end(main_world);
  write_script("main", runs);
  begin_again(main_world);
  cr_expect(!main_world->reloads, "not of this life");
  await(main_world, PROCESS_RUNNING);
  cr_expect(!main_world->reloads, "the one that starts now has read them");
  for (int i = 0; i < 10; i++) uv_run(&loop, UV_RUN_NOWAIT);
  cr_expect(main_world->has_process);
}

Test(process_lives, all_are_asked_to_end_the_last_first) {
  write_script("forest", dies_of_term); /* SIGTERM itself ends it, which is in order */
  open_all(runs);
  await(main_world, PROCESS_RUNNING), await(forest, PROCESS_RUNNING);
  processes_stop(&processes);
  cr_expect(main_world->state == PROCESS_STOPPING && forest->state == PROCESS_STOPPING);
  cr_expect(!processes_restart(main_world), "all are to end");
  await_end(main_world), await_end(forest);
  cr_expect(main_world->state == PROCESS_ENDED && forest->state == PROCESS_ENDED && !processes.disorderly);
  cr_expect_eq(strlen(ended), 2);
  cr_expect(asked_count == 2 && asked[0] == 'f' && asked[1] == 'm');
}

Test(process_lives, one_that_waits_ends_at_once_and_one_that_fails_to_is_in_disorder) {
  write_script("forest", "END 3\n");
  open_all("TERM 7\nNOTE READY=1\nWAIT\n");
  await(main_world, PROCESS_RUNNING);
  await_end(forest);
  processes_stop(&processes);
  cr_expect(forest->state == PROCESS_ENDED && main_world->state == PROCESS_STOPPING);
  await_end(main_world);
  cr_expect(main_world->state == PROCESS_ENDED && processes.disorderly);
  cr_expect(strstr(main_world->reason, "status 7"), "%s", main_world->reason);
  cr_expect_str_eq(ended, "fm");
}

/* Each world's files have a folder of their own, for which there has to be a place. */
Test(process_lives, no_process_starts_where_a_folder_for_its_files_cannot_be_made) {
  char *const files[] = {settings.snapshot_file, settings.flight_file, settings.journal_folder};
  for (size_t i = 0; i < COUNT_OF(files); i++) {
    snprintf(files[i], PATH_BYTES, "%s/nowhere/file", folder);
    cr_expect_eq(processes_open(&processes), MUSTER_E_SYSTEM);
    cr_expect(strstr(muster_last_error(), "cannot make the folder /tmp/") && strstr(muster_last_error(), "/nowhere/"),
              "%s", muster_last_error());
    cr_expect(!main_world->has_process && main_world->starts == 0);
    files[i][0] = '\0';
    uv_walk(&loop, close_handle, NULL);
    while (uv_run(&loop, UV_RUN_DEFAULT)) continue;
  }
}

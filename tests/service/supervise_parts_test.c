/* Parts of the supervisor, each with what it keeps of a world from one look, one life and one silence to the next. */
#include "service/log.h"
#include "service/supervise/bounds.h"
#include "service/supervise/division.h"
#include "service/supervise/hearing.h"
#include "service/supervise/listener.h"
#include "service/supervise/look.h"
#include "service/supervise/silence.h"
#include "service/supervise/states.h"
#include "service/supervise/warden.h"

#include "base/clock.h"

#include <jansson.h>
#include <sys/inotify.h>
#include <sys/prctl.h>

#include "own_folder.h"

enum { WORLDS = 2, KIB = 1024 };

static struct settings settings;
static struct processes processes;
static world_process *const first = &processes.worlds[0], *const second = &processes.worlds[1];

static void note_change(world_process *process, void *user) {
  (void)process, (void)user;
}

static void begin(void) {
  static const char *const names[WORLDS] = {"main", "forest"};
  folder_begin();
  settings_default(&settings);
  snprintf(settings.socket, sizeof settings.socket, "%s/s", folder);
  snprintf(settings.snapshot_file, sizeof settings.snapshot_file, "%s/worlds", folder);
  processes = (struct processes){.loop = &loop, .settings = &settings, .count = WORLDS, .changed = note_change};
  for (uint32_t i = 0; i < WORLDS; i++) {
    world_process *process = &processes.worlds[i];
    *process = (world_process){.all = &processes, .listener = -1, .notify = -1, .heard = -1, .output.pipe = -1};
    strcpy(process->name, names[i]);
    cr_assert(settings_add_world(&settings, names[i]) && uv_timer_init(&loop, &process->timer) == 0);
    process->timer.data = process;
    cr_assert_eq(mkdir(path_of(names[i]), 0700), 0);
  }
}

TestSuite(supervise_parts, .init = begin, .fini = folder_end, .timeout = 60);

static void make_file(const char *name, uint32_t kib) {
  static char bytes[KIB];
  int file = open(path_of(name), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
  for (uint32_t i = 0; i < kib; i++) cr_assert_eq(write(file, memset(bytes, 1, KIB), KIB), KIB);
  cr_assert(file >= 0 && close(file) == 0);
}

static void note_begun(world_process *world, pid_t child) {
  world->process.pid = child;
  world->has_process = true;
  world->state = PROCESS_RUNNING;
  world->stuck[0] = '\0';
}

/* A process that does nothing, and leads a group of its own. */
static void begin_process(world_process *world) {
  pid_t child = fork();
  cr_assert(child >= 0);
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* also when the test fails */
    for (setpgid(0, 0);;) pause();
  }
  setpgid(child, child);
  note_begun(world, child);
}

static void end_process(world_process *world) {
  kill(world->process.pid, SIGKILL);
  waitpid(world->process.pid, NULL, 0);
  world->has_process = false;
}

/* ----------------------------------------------------------------------------------------------------------- looks */

/* Each second look is at folders. */
static void look_twice(void) {
  for (int i = 0; i < 2; i++) processes.look.timer_cb(&processes.look);
}

/* What is beyond state_max counts at each look, and goes into disk_max with what is the module's. */
Test(supervise_parts, what_is_beyond_state_max_counts_at_each_look) {
  settings.worlds[0].state_max = 20 * KIB;
  settings.worlds[0].disk_max = 48 * KIB;
  make_file("main/worlds", 40);
  make_file("main/worlds.damaged-1", 4);
  make_file("main/notes", 8);
  make_file("forest/notes", 400); /* which has no bound of its own */
  look_begin(&processes);
  begin_process(first), begin_process(second);
  for (int looks = 0; looks < 3; looks++) {
    look_twice();
    cr_assert(!*first->stuck && !first->stays_down, "look %d: %s", looks, first->stuck);
    cr_expect(first->exceeds && !exists("main/worlds.damaged-1") && exists("main/worlds"));
  }
  make_file("main/notes", 40); /* 20 beyond, and these */
  look_twice();
  cr_expect(strstr(first->stuck, "disk_max"), "'%s'", first->stuck);
  cr_expect(first->stays_down && first->by_code);
  cr_expect(!*second->stuck && !second->stays_down && !second->exceeds, "%s", second->stuck);
  end_process(first), end_process(second);
}

Test(supervise_parts, each_world_has_its_own_bounds) {
  settings.worlds[1].memory_max = 4 * KIB;
  look_begin(&processes);
  begin_process(first), begin_process(second);
  look_twice();
  cr_expect(!*first->stuck && strstr(second->stuck, "memory_max is 0.004096 MB"), "%s%s", first->stuck, second->stuck);
  cr_expect(second->by_code && !second->stays_down, "the next one may use less");
  strcpy(second->stuck, "it was killed before");
  look_twice();
  cr_expect_str_eq(second->stuck, "it was killed before");
  end_process(first), end_process(second);
}

Test(supervise_parts, a_file_without_a_name_counts_as_one_with_a_name_does) {
  settings.worlds[0].disk_max = 48 * KIB;
  make_file("held", 60);
  int held = open(path_of("held"), O_RDONLY | O_CLOEXEC);
  unlink(path_of("held"));
  look_begin(&processes);
  begin_process(first); /* which has it open, too */
  close(held);
  look_twice();
  cr_expect(strstr(first->stuck, "disk_max"), "'%s'", first->stuck);
  end_process(first);
}

/* A process and copies of it, which have begun. */
static void begin_copies(world_process *world, uint32_t copies) {
  int begun[2];
  char byte = 0;
  cr_assert_eq(pipe(begun), 0);
  pid_t child = fork();
  cr_assert(child >= 0);
  if (child == 0) {
    setpgid(0, 0);
    for (uint32_t i = 0; i < copies; i++)
      if (fork() == 0) break;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (write(begun[1], &byte, 1) != 1) _exit(1);
    for (;;) pause();
  }
  for (uint32_t i = 0; i <= copies; i++) cr_assert_eq(read(begun[0], &byte, 1), 1);
  close_all(begun, 2);
  note_begun(world, child);
}

Test(supervise_parts, copies_are_let_be_that_snapshots_need_and_no_more) {
  look_begin(&processes);
  for (uint32_t copies = COPIES_MAX; copies <= COPIES_MAX + 1; copies++) {
    begin_copies(first, copies);
    look_twice();
    cr_expect_str_eq(first->stuck, copies > COPIES_MAX ? "it has made 3 copies of itself, and snapshots need 2" : "");
    cr_expect(!first->stays_down && first->by_code == (copies > COPIES_MAX));
    kill(-first->process.pid, SIGKILL);
    end_process(first);
  }
}

/* These are for whoever reads nothing but warnings; each is told once. */
Test(supervise_parts, what_is_removed_and_what_cannot_be_are_told_as_warnings) {
  settings.worlds[0].state_max = 20 * KIB;
  make_file("main/worlds", 40);
  make_file("main/worlds.damaged-1", 4);
  look_begin(&processes);
  begin_process(first);
  log_set_level(MUSTER_LOG_WARNING);
  errors_begin();
  look_twice(), look_twice();
  const char *told = errors_end(), *removed = strstr(told, "musterd: warning: world main: /tmp/"),
             *kept = strstr(told, "musterd: warning: world main: what it goes on from takes 0.04096 MB in ");
  log_set_level(MUSTER_LOG_INFO);
  cr_assert(removed && kept && removed < kept, "%s", told);
  cr_expect(strstr(removed, "main/worlds.damaged-1 is removed: Muster's own files take 0.045") &&
            strstr(kept, "and state_max is 0.02048 MB: nothing of it is removed\n"));
  cr_expect(!strstr(strchr(kept, '\n'), "world main"), "%s", told);
  end_process(first);
}

/* ---------------------------------------------------------------------------------------------------------- silence */

static bool looks_for_signs_of(world_process *world, uint64_t looked_ms_ago, uint64_t sign_ms_ago) {
  uint64_t now_ns = clock_system();
  world->looked_ns = now_ns - looked_ms_ago * 1000000;
  world->sign_ns = now_ns - sign_ms_ago * 1000000;
  uint64_t sign_ns = world->sign_ns;
  world->timer.timer_cb(&world->timer);
  return world->sign_ns != sign_ns;
}

/* Its patience is 800 s, and it is looked for signs each 100 s. */
Test(supervise_parts, a_silence_begins_anew_behind_a_sign_a_late_look_and_a_new_life) {
  settings.stuck_kill_ns = 800000000000u;
  begin_process(first);
  first->patience_ns = 8 * settings.stuck_kill_ns; /* of a life that got no processor */
  silence_watch(first);
  cr_expect_eq(first->patience_ns, settings.stuck_kill_ns);
  cr_expect(!looks_for_signs_of(first, 100000, 199000) && !first->looked, "a quarter of its patience");
  cr_expect(!looks_for_signs_of(first, 100000, 201000) && first->looked);
  cr_expect(looks_for_signs_of(first, 301000, 700000), "this process got no processor");
  cr_expect(!first->looked && !*first->stuck);
  cr_expect(!looks_for_signs_of(first, 299000, 700000) && first->looked);
  silence_end(first);
  cr_expect(!first->looked && clock_system() - first->sign_ns < 100000000000u);
  cr_expect(!looks_for_signs_of(first, 100000, 700000) && first->looked && !*first->stuck);
  first->patience_ns = 2 * settings.stuck_kill_ns; /* it got no processor */
  cr_expect(!looks_for_signs_of(first, 100000, 801000) && !*first->stuck);
  first->patience_ns = settings.stuck_kill_ns;
  cr_expect(!looks_for_signs_of(first, 100000, 801000));
  cr_expect(strstr(first->stuck, "it ran no frame for 801 s: "), "'%s'", first->stuck);
  end_process(first);
}

/* --------------------------------------------------------------------------------------------------------- hearing */

/* All of what one life was refused, and the log has told, but the total. */
Test(supervise_parts, what_a_process_was_refused_is_of_one_life) {
  for (uint32_t life = 0; life < 2; life++) {
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    hearing_begin(second, ends[0], "R/usr\nW/tmp\nP/nowhere/at/all\n");
    cr_assert_eq(second->heard, ends[0]);
    close(ends[1]);
    cr_expect_str_eq(second->folders, "R/usr\nW/tmp\n");
    cr_expect(second->refused == 0 && second->refused_total == 7 * life && second->file_count == 0);
    cr_expect(second->memories == 0 && second->calls_taken == 0 && !second->held);
    for (size_t i = 0; i < COUNT_OF(second->told); i++) cr_expect_eq(second->told[i], 0);
    second->refused = second->refused_total = second->file_count = second->memories = 7;
    second->calls_taken = 500;
    second->held = true;
    memset(second->told, 0xff, sizeof second->told);
    hearing_go_on(second);
    cr_expect_eq(second->calls_taken, 0, "they count from look to look");
    hearing_end(second);
    while (second->closing) uv_run(&loop, UV_RUN_NOWAIT);
    cr_expect(second->heard < 0 && !second->folders);
  }
}

/* ---------------------------------------------------------------------------------------------------------- output */

/* All that a process has written stands in the log, also what is longer than a line may be, and what has no end. */
Test(supervise_parts, nothing_that_a_process_writes_is_lost) {
  enum { LONG = 10000 };
  static world_output output;
  char bytes[LONG];
  memset(bytes, 'Q', sizeof bytes);
  errors_begin();
  for (int life = 0; life < 2; life++) {
    int pipe_end = output_begin(&output, &loop, "main");
    cr_assert_geq(pipe_end, 0);
    cr_assert_eq(write(pipe_end, bytes, sizeof bytes), LONG);
    cr_assert_eq(write(pipe_end, "\nsecond\n\nlast", 14), 14);
    if (life) output_flush(&output);
    close(pipe_end);
    output_end(&output);
    while (output.closing) uv_run(&loop, UV_RUN_NOWAIT);
  }
  const char *told = errors_end();
  cr_expect_eq(count_in(told, "Q"), 2 * LONG);
  const char *second_line = strstr(told, "]: second\n"), *last_line = strstr(told, "]: last\n");
  cr_assert(second_line && last_line && second_line < last_line);
  cr_expect(strstr(last_line, "]: second\n") && strstr(last_line + 1, "]: last\n"), "of the second life");
}

/* --------------------------------------------------------------------------------------------------------- listener */

static int connect_to(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
  int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  cr_assert(client >= 0 && connect(client, (const struct sockaddr *)&address, sizeof address) == 0, "%s", path);
  return client;
}

/* Over a life that has left it alone, what waits there waits for the next one. */
Test(supervise_parts, a_socket_is_kept_over_lives_unless_one_has_shut_it_down) {
  const char *path = path_of("s.main");
  struct stat made, now;
  int listener = -1;
  for (int how = 0; how < 3; how++) {
    cr_assert_eq(listener_make(&listener, path), MUSTER_OK, "%s", muster_last_error());
    cr_assert_eq(fstat(listener, &made), 0);
    int waits = connect_to(path);
    if (how) shutdown(listener, how == 1 ? SHUT_RD : SHUT_RDWR);
    cr_assert_eq(listener_renew(&listener, path), MUSTER_OK, "%s", muster_last_error());
    cr_assert_eq(fstat(listener, &now), 0);
    cr_expect_eq(now.st_ino == made.st_ino, how == 0);
    int later = how ? connect_to(path) : -1, taken = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    cr_expect_geq(taken, 0, "nobody waits");
    close_all((const int[]){taken, waits, later}, 3);
    cr_expect_lt(accept4(listener, NULL, NULL, SOCK_CLOEXEC), 0);
  }
  listener_close(&listener);
  cr_expect_eq(listener, -1);
}

/* ----------------------------------------------------------------------------------------------------------- warden */

/* It has no place for more than two for each world; those that have ended give theirs to the next. */
Test(supervise_parts, no_world_outlives_its_supervisor_however_many_have_ended_before) {
  int ready[2];
  char byte = 0;
  begin_process(first);
  cr_assert_eq(pipe(ready), 0);
  pid_t supervisor = fork();
  cr_assert(supervisor >= 0);
  if (supervisor == 0) {
    warden_begin(0);
    pid_t ended = fork();
    if (ended == 0) _exit(0);
    siginfo_t how;
    if (waitid(P_PID, (id_t)ended, &how, WEXITED | WNOWAIT)) _exit(1);
    for (int i = 0; i < 2 * WORLDS_MAX; i++) AWAIT(warden_watch(ended));
    AWAIT(warden_watch(first->process.pid));
    _exit(write(ready[1], &byte, 1) == 1 ? 0 : 1);
  }
  int status;
  cr_assert(waitpid(supervisor, &status, 0) == supervisor && status == 0);
  cr_assert_eq(waitpid(first->process.pid, &status, 0), first->process.pid);
  cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  first->has_process = false;
  close_all(ready, 2);
}

/* ----------------------------------------------------------------------------------------------------------- states */

static json_int_t count_of(const json_t *row, const char *name) {
  cr_assert(json_is_integer(json_object_get(row, name)), "%s", name);
  return json_integer_value(json_object_get(row, name));
}

Test(supervise_parts, each_row_of_a_process_tells_its_own) {
  settings.crash_window_ns = 5000000000;
  settings.worlds[1].allow = ALLOW_NETWORK;
  for (uint32_t i = 0; i < WORLDS; i++) {
    world_process *world = &processes.worlds[i];
    world->starts = 11 + i, world->refused = 21 + i, world->refused_total = 31 + i;
    world->process.pid = 41 + (int)i, world->has_process = i == 0;
    world->restarts.count = 1 + i;
    for (uint32_t k = 0; k < 1 + i; k++) world->restarts.ends[k].at_ns = clock_system();
    snprintf(world->reason, sizeof world->reason, "reason %u", i);
  }
  first->state = PROCESS_RUNNING, second->state = PROCESS_STOPPING;
  json_auto_t *list = states_list(&processes);
  cr_assert_eq(json_array_size(list), WORLDS);
  for (uint32_t i = 0; i < WORLDS; i++) {
    const json_t *row = json_array_get(list, i);
    const world_process *world = &processes.worlds[i];
    cr_expect_str_eq(json_string_value(json_object_get(row, "world")), world->name);
    cr_expect_str_eq(json_string_value(json_object_get(row, "state")), i ? "stopping" : "running");
    cr_expect_str_eq(json_string_value(json_object_get(row, "reason")), world->reason);
    cr_expect_str_eq(json_string_value(json_object_get(row, "allow")), i ? "network" : "nothing");
    cr_expect(count_of(row, "starts") == 11 + i && count_of(row, "refused_calls") == 21 + i);
    cr_expect(count_of(row, "ends") == 1 + i && count_of(row, "window_ns") == 5000000000);
    cr_expect(json_is_null(json_object_get(row, "next_start_ns")));
    if (i == 0) cr_expect(count_of(row, "process") == 41 && json_is_null(json_object_get(row, "words")));
    if (i == 1) cr_expect(json_is_null(json_object_get(row, "process")) && json_object_get(row, "words"));
  }
  SCOPED(free_memory) char *text = NULL;
  size_t bytes = 0;
  FILE *out = open_memstream(&text, &bytes);
  second->state = PROCESS_FAILED, second->last_end = PROCESS_END_UNSTARTED;
  states_write_metrics(&processes, out);
  fclose(out);
  expect_in(text, "{world=\"forest\",state=\"failed\"} 1\n"), expect_in(text, "{world=\"main\",state=\"failed\"} 0\n");
  expect_in(text, "{world=\"forest\",kind=\"unstarted\"} 1\n"), expect_in(text, "{world=\"main\",kind=\"none\"} 1\n");
  static const struct {
    const char *name;
    uint32_t first;
  } samples[] = {{"refused_calls_total", 31}, {"starts_total", 11}, {"ends", 1}};
  for (uint32_t i = 0; i < WORLDS; i++)
    for (size_t k = 0; k < COUNT_OF(samples); k++)
      expect_in(text, formed("\nmuster_world_process_%s{world=\"%s\"} %u\n", samples[k].name, processes.worlds[i].name,
                             samples[k].first + i));
}

static void never(uv_timer_t *timer) {
  (void)timer;
}

Test(supervise_parts, the_next_start_is_told_where_there_is_one) {
  char words[STATES_WORDS_BYTES];
  first->state = PROCESS_STOPPING;
  cr_expect_eq(states_next_start_s(first), 0, "nobody has asked for it");
  cr_expect_str_eq(states_explain(first, words), "world main is being stopped");
  first->again = true;
  cr_expect_eq(states_next_start_s(first), 1);
  cr_expect_str_eq(states_explain(first, words), "world main is being stopped and starts again then, as asked");
  first->state = PROCESS_FAILED;
  cr_expect_eq(states_next_start_s(first), 0);
  first->restarts.failed = true; /* the end that it failed by is one of them */
  first->restarts.count = 3;
  settings.crash_window_ns = 600000000000u;
  cr_expect(strstr(states_explain(first, words), "it ended 4 times within 10 min"), "%s", words);
  first->state = PROCESS_RUNNING;
  cr_expect_str_eq(states_explain(first, words), "");
  first->state = PROCESS_WAITING;
  uv_timer_start(&first->timer, never, 5000, 0);
  cr_expect_eq(states_next_start_s(first), 6);
  json_auto_t *list = states_list(&processes);
  cr_expect_eq(count_of(json_array_get(list, 0), "next_start_ns"), 5000000000);
}

/* -------------------------------------------------------------------------------------------------------- division */

/* The names that come into a folder, in their order. */
static int watch(const char *world) {
  int news = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  cr_assert(news >= 0 && inotify_add_watch(news, path_of(world), IN_CREATE) >= 0);
  return news;
}

static void expect_made(int news, const char *wanted) {
  char bytes[4096], names[256] = "";
  ssize_t count = read(news, bytes, sizeof bytes);
  for (ssize_t at = 0; at < count;) {
    const struct inotify_event *event = (const void *)(bytes + at);
    size_t length = strlen(names);
    snprintf(names + length, sizeof names - length, "%s%s", length ? " " : "", event->name);
    at += (ssize_t)(sizeof *event + event->len);
  }
  close(news);
  cr_expect_str_eq(names, wanted);
}

/* With the newest a part is complete: a division that was cut off is made again. What is kept is not overwritten. */
Test(supervise_parts, each_world_gets_a_part_of_a_common_snapshot_the_newest_last) {
  make_file("worlds", 1), make_file("worlds.previous", 2);
  make_file("worlds.divided-1", 3);
  make_file("forest/worlds.previous", 4); /* it has its own */
  int main_news = watch("main"), forest_news = watch("forest");
  cr_assert_eq(division_make(&settings), MUSTER_OK, "%s", muster_last_error());
  expect_made(main_news, "worlds.previous worlds");
  expect_made(forest_news, "");
  cr_expect(!exists("worlds") && !exists("worlds.previous"));
  cr_expect(exists("worlds.divided-1") && exists("worlds.divided-2") && exists("worlds.previous.divided-1"));
  struct stat status;
  static const struct {
    const char *name;
    off_t kib;
  } kept[] = {{"worlds.divided-1", 3}, {"worlds.divided-2", 1}, {"worlds.previous.divided-1", 2}, {"main/worlds", 1}};
  for (size_t i = 0; i < COUNT_OF(kept); i++)
    cr_expect(stat(path_of(kept[i].name), &status) == 0 && status.st_size == kept[i].kib * KIB, "%s", kept[i].name);
  cr_assert_eq(division_make(&settings), MUSTER_OK, "nothing is left to do");
  cr_expect(!exists("worlds.divided-3"));
}

/* Else its worlds would begin anew the next time, or go on from the common one again. */
Test(supervise_parts, a_common_snapshot_that_cannot_be_put_aside_refuses_the_start) {
  char name[247] = ""; /* with what is put behind it, it is longer than a name may be */
  memset(name, 'n', sizeof name - 1);
  snprintf(settings.snapshot_file, sizeof settings.snapshot_file, "%s", path_of(name));
  make_file(name, 0);
  cr_expect_eq(division_make(&settings), MUSTER_E_SYSTEM);
  cr_expect(strstr(muster_last_error(), "cannot be renamed: File name too long"), "%s", muster_last_error());
  cr_expect(exists(name));
}

/* Else it would begin anew, and the common one would be put aside. */
Test(supervise_parts, a_world_that_cannot_have_its_part_refuses_the_start) {
  make_file("worlds", 1);
  cr_assert_eq(rmdir(path_of("forest")), 0);
  cr_expect_eq(division_make(&settings), MUSTER_E_SYSTEM);
  cr_expect(strstr(muster_last_error(), "world forest cannot have its part of /tmp/"), "%s", muster_last_error());
  cr_expect(exists("worlds") && !exists("worlds.divided-1"));
}

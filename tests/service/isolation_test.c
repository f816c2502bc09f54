/* Faults in one of three worlds, each in a process of its own: the others go on, the struck one comes back at its last
 * complete frame, and the log names the culprit, which is in quarantine then. As many strikes as MUSTER_STRIKES in the
 * environment says, else a few; in an order that follows from MUSTER_STRIKE_SEED, else from the clock. What the others
 * lost is printed beside a time without strikes. */
#include "base/clock.h"
#include "base/random.h"
#include "served.h"

#ifdef __SANITIZE_ADDRESS__
enum { HAS_ADDRESS_SANITIZER = 1 };
#else
enum { HAS_ADDRESS_SANITIZER = 0 };
#endif

#ifdef NDEBUG
enum { AGENTS = 100000 };
#else
enum { AGENTS = 5000 };
#endif

enum { STRIKES = 12, QUIET_MOST = 120, POLL_US = 5000, STRIKES_MOST = 4096 };

typedef struct fault {
  const char *how, *where; /* of striker.c; null = a signal from outside */
  int number;              /* that signal */
  const char *tells;       /* in the log */
  bool named;              /* the agent is */
  bool silent;             /* it is seen by the silence alone */
} fault;

static const fault faults[] = {
    {"segv", "atom", 0, "died of SIGSEGV", true, false},
    {"segv", "action", 0, "died of SIGSEGV", true, false},
    {"abort", "atom", 0, "died of SIGABRT", true, false},
    {"exit", "action", 0, HAS_ADDRESS_SANITIZER ? "ended by itself" : "ended by itself with status 3", true, false},
    {"overflow", "atom", 0, "died of SIGSEGV", true, false},
    {"loop", "atom", 0, "a callback computes without end", true, true},
    {"block", "action", 0, "a callback waits without end", true, true},
    {"wild", "atom", 0, "died of SIG", true, false},
    {NULL, NULL, SIGKILL, "died of SIGKILL", false, false},
    {NULL, NULL, SIGSTOP, "somebody has stopped its process", false, true},
    {"loop", "module", 0, "a function of its module does not return", false, true},
    {"leak", "atom", 0, "", true,
     true}, /* refused or silent for too long; the last: sanitizers have memory of their own */
};

enum { FAULTS = COUNT_OF(faults), FAULTS_HERE = FAULTS - HAS_ADDRESS_SANITIZER };

static pid_t process_now; /* of the world main */

TestSuite(isolation, .init = daemon_expect_deaths, .fini = stop);

static void launch(const char *text, const char *more) {
  daemon_prepare(&service);
  join_modules("striker", "wildlife");
  configure(text);
  launch_ready(formed("--isolation process --modules @/modules --config @/musterd.conf %s", more));
}

static void start_three(void) {
  launch(formed("[server]\ncrash_limit = 0\ncrash_window = 1s\nstuck_kill = 1s\n"
                "[world main]\nmodule = striker\nagents = %d\nbudget = 4ms\nhz = 30\nmemory_max = %d\n"
                "[world left]\nmodule = wildlife\nagents = %d\nbudget = 4ms\nhz = 30\n"
                "[world right]\nmodule = wildlife\nagents = %d\nbudget = 4ms\nhz = 30\n",
                AGENTS, HAS_ADDRESS_SANITIZER ? 0 : 384 << 20, AGENTS, AGENTS),
         "--snapshot-file @/state");
}

/* Which waits half a second for each notice of the daemon that finds no room. */
static double sample(const char *series) {
  daemon_drop_notices(&service);
  return metric(series);
}

static double starts_of(const char *world) {
  return sample(formed("muster_world_process_starts_total{world=\"%s\"}", world));
}

static pid_t process_of(const char *world) {
  return control_pid_of(&service, world);
}

static bool is_running(const char *world) {
  return sample(formed("muster_world_process_state{world=\"%s\",state=\"running\"}", world)) == 1.0;
}

/* What the worlds that nobody strikes have done. */
typedef struct others {
  double frames, late;
} others;

/* A world that answers late, on a busy machine, is left out of what is told together: it is asked for again. */
static double metric_of_other(const char *series) {
  double value = sample(series);
  for (int tries = 0; value < 0 && tries < 100; tries++, value = sample(series)) usleep(50000);
  cr_assert_geq(value, 0.0, "there is no %s", series);
  return value;
}

static others look_at_others(void) {
  others sum = {0};
  static const char *const names[] = {"left", "right"};
  for (int i = 0; i < 2; i++) {
    sum.frames += metric_of_other(formed("muster_frames_total{world=\"%s\"}", names[i]));
    sum.late += metric_of_other(formed("muster_frames_late_total{world=\"%s\"}", names[i]));
  }
  return sum;
}

/* Brings the world down, whose process it is; `who` is the agent in whose callback it dies, "" for a signal. Nobody
 * waits for the answer, which comes when the frame is safe, or its world is back. */
static void strike(const fault *which, pid_t process, uint64_t random, char who[128]) {
  static int connection = -1;
  unsigned index, generation;
  *who = '\0';
  if (!which->how) {
    kill(process, which->number);
    return;
  }
  const char *body = formed("%s %s %lu", which->how, which->where, random);
  control_find_agent(&service, "bomb", &index, &generation);
  snprintf(who, 128, "agent %u (generation %u) of type 'bomb'", index, generation);
  if (connection >= 0) close(connection);
  connection = daemon_begin_once(&service, "POST", WORLD "/module/strike", NULL, body);
}

/* Seconds from the strike until the world runs again. */
static double await_return(double starts) {
  uint64_t begin_ns = clock_system();
  while (starts_of("main") <= starts || !is_running("main")) usleep(POLL_US);
  return (double)(clock_system() - begin_ns) / 1e9;
}

/* What the log says of a strike. False: the machine was so busy that nobody could be blamed. */
static bool is_told(const fault *which, const char *who) {
  SCOPED(free_memory) char *log = daemon_log(&service);
  const char *line = strstr(log, "world main starts again");
  cr_assert_not_null(line, "%s", log);
  size_t length = strcspn(line, "\n");
  const char *reason = formed("%.*s", (int)length, line);
  if (which->how && strstr(reason, "its threads get no processor")) return false;
  cr_assert_not_null(strstr(reason, which->tells), "\"%s\" is not in: %s", which->tells, reason);
  const char *named = which->named ? who : "of type";
  cr_assert_eq(strstr(reason, named) != NULL, which->named, "%s %s: %s", which->how ? which->how : "signal",
               which->how ? which->where : "", reason);
  if (which->where && strcmp(which->where, "module") == 0) cr_assert_not_null(strstr(reason, "in before_frame"));
  return true;
}

/* ----------------------------------------------------------------------------------------------------- the way back */

typedef struct outcome {
  uint32_t count, silent_count, differed;
  double seconds[STRIKES_MOST], silent[STRIKES_MOST];
  double net[STRIKES_MOST];    /* without the pause of a world that ends again and again, and the silence */
  double inside[STRIKES_MOST]; /* as the process tells itself */
} outcome;

static outcome ends;

static double journal_of_main(const char *member) {
  json_auto_t *world = get(WORLD);
  json_t *value = control_member(world, formed("journal.%s", member));
  return json_is_boolean(value) ? json_is_true(value) : json_number_value(value);
}

/* The world goes on from its last complete frame, which is `written` at least. Only after a wild store may its frames
 * come to another world: that is told. */
static void expect_last_frame(const fault *which, double written) {
  SCOPED(free_memory) char *log = daemon_log(&service);
  const char *line = strstr(log, "world main: recovered in ");
  bool differs = strstr(log, "cannot be run again: ");
  double ms = 0;
  unsigned long frame = 0;
  cr_assert(differs || line, "it did not come back by its journal: %s", log);
  if (differs) {
    cr_assert(which->how && strcmp(which->how, "wild") == 0, "%s", log);
    ends.differed++;
  } else {
    cr_assert_eq(sscanf(line, "world main: recovered in %lf ms: frame %lu goes on", &ms, &frame), 2, "%s", line);
    cr_assert_geq((double)frame, written, "frames are lost: %s", line);
    ends.inside[ends.count - ends.differed] = ms / 1e3;
  }
}

/* Who is to strike again has to run. */
static void reinstate(const char *who) {
  unsigned index, generation;
  cr_assert_eq(sscanf(who, "agent %u (generation %u)", &index, &generation), 2, "%s", who);
  const char *path = formed(WORLD "/agents/%u.%u", index, generation);
  while (!is_true_at(path, "quarantined")) usleep(POLL_US);
  tell("POST", formed("%s/reinstate", path), NULL, 200);
  while (is_true_at(path, "quarantined")) usleep(POLL_US);
}

static int compare(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

static void print_times(const char *what, double *seconds, uint32_t count) {
  if (!count) return;
  qsort(seconds, count, sizeof *seconds, compare);
  fprintf(stderr, "%s: %u times, %.3f s (median), %.3f s (p99), %.3f s at most\n", what, count, seconds[count / 2],
          seconds[(count - 1) * 99 / 100], seconds[count - 1]);
}

/* Of those that were killed for their silence, the time is from the strike, too. */
static void print_returns(void) {
  print_times("the world is back after the strike", ends.seconds, ends.count - ends.silent_count);
  print_times("after a strike that is silent for 1 s", ends.silent, ends.silent_count);
  print_times("both, without that second and the pauses between ends", ends.net, ends.count);
  print_times("of these, recovered in", ends.inside, ends.count - ends.differed);
  fprintf(stderr, "%u times the frames came to another world, and a snapshot stood\n", ends.differed);
}

/* How long the world waited before it started again, since it had ended before. */
static double pause_of_restart(void) {
  double pause = 0;
  SCOPED(free_memory) char *log = daemon_log(&service);
  const char *line = strstr(log, "world main starts again in ");
  if (line) sscanf(line, "world main starts again in %lf s", &pause);
  return pause;
}

/* Strikes once; the number is of its random. Adds to the times that nobody could be blamed. */
static void strike_once(const fault *which, uint64_t random, uint32_t *starved) {
  char who[128];
  double starts = starts_of("main"), written = journal_of_main("frames_written");
  bool journal = journal_of_main("on") == 1.0;
  forget_log();
  strike(which, process_now, random, who);
  double seconds = await_return(starts);
  if (which->silent)
    ends.silent[ends.silent_count++] = seconds;
  else
    ends.seconds[ends.count - ends.silent_count] = seconds;
  ends.net[ends.count] = seconds - pause_of_restart() - which->silent;
  bool told = is_told(which, who);
  *starved += !told;
  if (journal) expect_last_frame(which, written);
  ends.count++;
  process_now = process_of("main");
  if (which->named && told) reinstate(who);
}

static void print_others(const char *what, others before, others after, double seconds) {
  fprintf(stderr, "%s: the others ran %.0f frames in %.1f s, %.2f %% of them late\n", what,
          after.frames - before.frames, seconds, 100.0 * (after.late - before.late) / (after.frames - before.frames));
}

Test(isolation, faults_of_one_world_cost_the_others_nothing, .timeout = 3600) {
  uint32_t strikes = (uint32_t)environment_number("MUSTER_STRIKES", STRIKES);
  uint64_t seed = environment_number("MUSTER_STRIKE_SEED", clock_system());
  cr_assert(strikes > 0 && strikes <= STRIKES_MOST);
  fprintf(stderr, "MUSTER_STRIKE_SEED=%lu\n", seed);
  start_three();
  process_now = process_of("main");
  others first = look_at_others();
  uint64_t first_ns = clock_system();
  uint32_t starved = 0, begin = (uint32_t)(muster_random_mix(seed) % FAULTS_HERE);
  for (uint32_t i = 0; i < strikes; i++) {
    uint64_t random = muster_random_mix(seed + i + 1);
    const fault *which = &faults[strikes > FAULTS_HERE ? random % FAULTS_HERE : (begin + i) % FAULTS_HERE];
    others before = look_at_others();
    strike_once(which, random, &starved);
    cr_assert_gt(look_at_others().frames, before.frames);
    cr_assert(starts_of("left") == 1.0 && starts_of("right") == 1.0, "a strike hit another world");
  }
  others last = look_at_others();
  double lasted = (double)(clock_system() - first_ns) / 1e9;
  print_returns();
  fprintf(stderr, "%u times nobody could be blamed, since the machine gave no processor\n", starved);
  print_others("strikes", first, last, lasted);
  if (getenv("MUSTER_STRIKES")) {
    double quiet = lasted < QUIET_MOST ? lasted : QUIET_MOST;
    usleep((useconds_t)(quiet * 1e6));
    print_others("none   ", last, look_at_others(), quiet);
  }
}

/* It has failed after one end more than is allowed, and is left alone; the other goes on. */
Test(isolation, a_world_that_ends_too_often_stays_down, .timeout = 120) {
  static const fault aborts = {"abort", "atom", 0, "", true, false};
  char who[128];
  launch("[server]\ncrash_limit = 2\n[world main]\nmodule = striker\n[world left]\nmodule = wildlife\nagents = 500\n",
         "");
  for (double starts = 1; starts <= 2; starts++) {
    strike(&aborts, 0, 0, who);
    await_return(starts);
  }
  kill(process_of("main"), SIGSEGV);
  while (sample("muster_world_process_state{world=\"main\",state=\"failed\"}") != 1.0) usleep(POLL_US);
  tell("GET", WORLD, NULL, 503);
  expect_asked("GET", "/readyz", NULL, 503, "{'reasons.0.world': 'main', 'reasons.0.code': 'failed'}");
  tell("GET", "/v1/worlds/left", NULL, 200);
  expect_logged(
      "world main has failed: it ended more than 2 times within 600 s, the last time because its process died of "
      "SIGSEGV");
  cr_expect_eq(starts_of("left"), 1.0);
}

Test(isolation, a_world_that_is_killed_goes_on_from_its_newest_snapshot, .timeout = 120) {
  launch("[world main]\nmodule = wildlife\nagents = 3000\nvirtual = yes\n"
         "[world left]\nmodule = wildlife\nagents = 500\n",
         "--journal=no --snapshot-file @/state");
  tell("POST", "/v1/snapshot", NULL, 202);
  while (!exists("main/state")) usleep(POLL_US);
  kill(process_of("main"), SIGKILL);
  await_return(1);
  expect_logged("go on, hash ");
  cr_expect_eq(starts_of("left"), 1.0);
}

static uint64_t bytes_of(const char *file) {
  struct stat status;
  cr_assert_eq(stat(path_of(file), &status), 0, "%s", file);
  return (uint64_t)status.st_size;
}

/* One world has written two, and the other one: together they are as far as that one. */
Test(isolation, what_worlds_tell_of_their_snapshots_is_told_together, .timeout = 120) {
  launch("[world main]\nmodule = wildlife\nagents = 500\n[world left]\nmodule = wildlife\nagents = 300\n",
         "--journal=no --snapshot-file @/state");
  tell("POST", "/v1/snapshot", NULL, 202);
  await_count("/v1/snapshot", "written", 2);
  cr_assert_eq(kill(process_of("left"), SIGUSR1), 0);
  await_count("/v1/snapshot", "written", 3);
  json_auto_t *both = get("/v1/snapshot");
  /* The sum, and the least. */
  control_expect(both, "{'written': 3, 'number': 1, 'failed': 0, 'enabled': true, 'running': false}");
  cr_expect_eq((uint64_t)control_count(both, "bytes"), bytes_of("main/state") + bytes_of("left/state"));
}

Test(isolation, a_world_that_cannot_be_opened_says_why, .timeout = 120) {
  launch("[server]\ncrash_limit = 1\n[world main]\nmodule = missing\n"
         "[world left]\nmodule = wildlife\nagents = 500\n",
         "");
  json_auto_t *ready = ask("GET", "/readyz", NULL, 503);
  const char *message = control_text(ready, "reasons.0.message");
  cr_expect(strstr(message, "status 1") && strstr(message, "missing"), "%s", message);
}

/* A process that starts has no handler yet. The supervisor has, once it has made the worlds' sockets. */
Test(isolation, a_reload_does_not_end_worlds_that_start, .timeout = 120) {
  enum { RELOADS = 3, GAP_US = 1000 }; /* what it tells of them fits the queue of notices */
  daemon_prepare(&service);
  const char *path = formed("%s.left", service.socket);
  daemon_launch(&service, "--isolation process --world main=wildlife --agents 20000 --world left=wildlife");
  while (access(path, F_OK)) continue;
  for (int i = 0; i < RELOADS; i++, usleep(GAP_US)) daemon_signal(&service, SIGHUP);
  while (!is_running("main") || !is_running("left")) usleep(POLL_US);
  cr_expect(starts_of("main") == 1.0 && starts_of("left") == 1.0);
}

/* The folder in the snapshot's place is refused as such. */
Test(isolation, a_world_that_cannot_save_at_the_end_is_told_by_the_status, .timeout = 120) {
  launch("[world main]\nmodule = wildlife\nagents = 500\n[world left]\nmodule = wildlife\nagents = 500\n",
         "--snapshot-file @/state");
  cr_assert_eq(mkdir(path_of("main/state"), 0700), 0);
  daemon_signal(&service, SIGTERM);
  cr_expect_eq(daemon_wait(&service), EXIT_FAILURE);
  expect_logged("world main did not end in order: its process ended by itself with status 1");
  daemon_clear(&service);
}

/* Strikes at a daemon and its worlds: they are killed or stopped at any moment, several at once, while calls of the
 * system fail, for a while. By itself each world runs again within RETURN_MOST_S of the end of that, with a journal,
 * and has everything that was told to be safe before. As many strikes as MUSTER_STRIKES in the environment says, else a
 * few; drawn by MUSTER_STRIKE_SEED, else from the clock; at worlds of MUSTER_STRIKE_AGENTS. */
#include "base/clock.h"
#include "base/random.h"
#include "unlucky.h"

enum { WORLDS = 2, STRIKES = 20, AGENTS = 1000, RETURN_MOST_S = 30, LOOK_US = 10000, LASTS_MS = 500 };
enum {
  STRIKES_MOST = 2000,  /* each is a number of counter.c */
  STARTS_SETTLED = 5,   /* after so many pauses grow: a person starts the world then, so that the test goes on */
  LONG_LASTS_MS = 12000 /* one in sixteen, where there are many: tries come seldom then */
};

/* One of the things that happen. `trouble` = calls that fail; else a signal to a world, or to the supervisor. */
typedef struct kind {
  const char *name, *trouble;
  int number;
  bool supervisor;
} kind;

enum { KILLS, STOPS, SUPERVISOR_KILLS, SUPERVISOR_STOPS, FEW_FILES, TROUBLES_FROM };

static const kind kinds[] = {
    [KILLS] = {"kill -9 of a world", NULL, SIGKILL, false},
    [STOPS] = {"SIGSTOP of a world", NULL, SIGSTOP, false},
    [SUPERVISOR_KILLS] = {"kill -9 of the supervisor", NULL, SIGKILL, true},
    [SUPERVISOR_STOPS] = {"SIGSTOP of the supervisor", NULL, SIGSTOP, true},
    [FEW_FILES] = {"EMFILE in the supervisor", NULL, 0, true}, /* by its limit */
    {"a full disk", "write 28\nposix_fallocate 28\n", 0, false},
    {"EAGAIN of fork", "fork 11\n", 0, true},
    {"EAGAIN of threads", "pthread_create 11\n", 0, false},
    {"no /proc", "execvp 2\n", 0, true},
    {"EMFILE in worlds", "open:/state. 24\n", 0, false},
    {"ENFILE in worlds", "open:.journal 23\n", 0, false},
    {"EIO of snapshots", "open:.snapshot 5\n", 0, false},
};

enum { KINDS = COUNT_OF(kinds), AT_ONCE_MOST = 4 };

typedef struct strike {
  uint64_t random;
  uint32_t count, kinds[AT_ONCE_MOST], targets[AT_ONCE_MOST];
  rlim_t files;
} strike;

/* A world, and what was told of it that must stay. */
typedef struct target {
  const char *name;
  pid_t process;
  long long starts, safe; /* frames */
  bool dies;
  uint32_t told[STRIKES_MOST], told_count;
} target;

static target worlds[WORLDS] = {{.name = "main"}, {.name = "forest"}};
static uint32_t struck[KINDS];
static double slowest_s;
static bool launched; /* during this strike, by the test, as the system's manager would */

static uint32_t draw(strike *now, uint32_t below) {
  now->random = muster_random_mix(now->random + 1);
  return (uint32_t)(now->random % below);
}

/* Chooses when; nothing is waited for. */
static void let_pass(uint32_t ms) {
  usleep(1000 * ms);
}

/* ------------------------------------------------------------------------------------------------------- the daemon */

static void strikes_launch(void) {
  daemon_launch(&service, "--isolation process --modules " MUSTER_TEST_MODULES
                          " --config @/musterd.conf --snapshot-file @/state --flight-file @/flight");
}

static void write_settings(uint64_t agents) {
  char text[1024];
  bool large = agents > 10 * AGENTS; /* what is large takes some seconds to save itself */
  snprintf(text, sizeof text, "[server]\nstuck_kill = 1s\nstop_grace = %ds\n", large ? 10 : 2);
  for (int i = 0; i < WORLDS; i++)
    strcat(text, formed("[world %s]\nmodule = counter\nagents = %lu\nhz = 30\nbudget = 4ms\npath = @/fine\n",
                        worlds[i].name, agents));
  configure(text);
}

static void expect_alive(void) {
  siginfo_t about = {0};
  bool died = waitid(P_PID, (id_t)service.process, &about, WEXITED | WNOHANG | WNOWAIT) == 0 && about.si_pid;
  if (died) cr_assert_fail("the supervisor has ended with %d: %s", daemon_wait(&service), daemon_log(&service));
}

/* --------------------------------------------------------------------------------------------------------- promises */

static void ask_module(const target *world, const char *command, const char *body) {
  daemon_ask_once(&service, "POST", formed("/v1/worlds/%s/module/%s", world->name, command), NULL, body, &reply);
  daemon_drop_notices(&service);
}

static json_t *read_world(const target *world) {
  fetch("GET", formed("/v1/worlds/%s", world->name), NULL);
  daemon_drop_notices(&service);
  return reply.status == 200 ? json_loads(reply.body, 0, NULL) : NULL;
}

/* A change whose answer says that it is safe. */
static void make_promise(target *world, uint32_t number) {
  ask_module(world, "count", formed("%u", number));
  cr_assert_eq(reply.status, 200, "%s: %s: %s", world->name, reply.text, daemon_log(&service));
  world->safe = frame_of(&reply);
  world->told[world->told_count++] = number;
}

static void expect_promises_kept(const target *world) {
  ask_module(world, "counts", "");
  cr_assert_eq(reply.status, 200, "%s: %s", world->name, reply.text);
  cr_assert_gt(frame_of(&reply), world->safe, "%s: a frame was safe, and is lost: %s", world->name,
               daemon_log(&service));
  json_auto_t *counts = json_loads(reply.body, 0, NULL);
  for (uint32_t i = 0; i < world->told_count; i++)
    cr_assert_eq(json_integer_value(json_array_get(counts, world->told[i])), 1,
                 "change %u of %s was safe, and is lost: %s", world->told[i], world->name, daemon_log(&service));
  json_auto_t *now = read_world(world);
  cr_assert(now && control_count(now, "journal.losses") == 0, "%s: %s", world->name, daemon_log(&service));
}

/* ---------------------------------------------------------------------------------------------------------- strikes */

static strike draw_strike(uint64_t random) {
  strike now = {.random = random, .count = 1};
  if (draw(&now, 3) == 0) now.count += 1 + draw(&now, AT_ONCE_MOST - 2);
  for (uint32_t i = 0; i < now.count; i++) {
    now.kinds[i] = draw(&now, KINDS);
    now.targets[i] = draw(&now, WORLDS);
  }
  /* What fails is of interest where somebody needs it. */
  bool alone = now.count == 1 && now.kinds[0] >= FEW_FILES;
  if (alone && draw(&now, 4)) now.kinds[now.count] = KILLS, now.targets[now.count++] = draw(&now, WORLDS);
  now.files = 3 + draw(&now, 45);
  return now;
}

static bool strike_has(const strike *now, uint32_t which) {
  for (uint32_t i = 0; i < now->count; i++)
    if (now->kinds[i] == which) return true;
  return false;
}

static void print_strike(const strike *now, uint32_t number) {
  fprintf(stderr, "strike %u:", number);
  for (uint32_t i = 0; i < now->count; i++)
    fprintf(stderr, "%s %s (%s)", i ? "," : "", kinds[now->kinds[i]].name, worlds[now->targets[i]].name);
  fprintf(stderr, "\n");
}

static struct rlimit files_of_supervisor(void) {
  struct rlimit files;
  cr_assert_eq(prlimit(service.process, RLIMIT_NOFILE, NULL, &files), 0);
  return files;
}

static void limit_files(rlim_t now, rlim_t most) {
  cr_assert_eq(prlimit(service.process, RLIMIT_NOFILE, &(struct rlimit){now, most}, NULL), 0);
}

/* Of all troubles of this strike: they begin together, before or after who is struck. */
static void begin_troubles(const strike *now) {
  char troubles[192] = "";
  for (uint32_t i = 0; i < now->count; i++) {
    const char *trouble = kinds[now->kinds[i]].trouble;
    if (trouble && strlen(troubles) + strlen(trouble) < sizeof troubles) strcat(troubles, trouble);
  }
  set_trouble(troubles);
  if (strike_has(now, FEW_FILES) && !launched) limit_files(now->files, files_of_supervisor().rlim_max);
}

static void begin_signals(strike *now) {
  for (uint32_t i = 0; i < now->count; i++) {
    const kind *which = &kinds[now->kinds[i]];
    if (!which->number || which->supervisor) continue;
    kill(worlds[now->targets[i]].process, which->number);
    worlds[now->targets[i]].dies = true;
    let_pass(draw(now, 3));
  }
  if (strike_has(now, SUPERVISOR_STOPS)) daemon_signal(&service, SIGSTOP);
  if (!strike_has(now, SUPERVISOR_KILLS)) return;
  daemon_kill(&service);
  for (int i = 0; i < WORLDS; i++) worlds[i].dies = true;
  let_pass(draw(now, 100));
  daemon_drop_notices(&service); /* what the dead one told last is not of the next */
  strikes_launch();
  launched = true;
}

static void end_troubles(const strike *now) {
  set_trouble("");
  rlim_t most = files_of_supervisor().rlim_max;
  if (strike_has(now, FEW_FILES)) limit_files(most, most);
  daemon_signal(&service, SIGCONT);
}

/* ----------------------------------------------------------------------------------------------------------- return */

static bool runs_again(target *world) {
  json_auto_t *entry = control_process_of(&service, world->name);
  pid_t now = (pid_t)json_integer_value(json_object_get(entry, "process"));
  bool runs = strcmp(control_text(entry, "state"), "running") == 0 && (!world->dies || now != world->process);
  cr_assert_str_neq(control_text(entry, "state"), "failed", "it has given up: %s", daemon_log(&service));
  daemon_drop_notices(&service);
  json_auto_t *document = runs ? read_world(world) : NULL;
  if (!document || !control_is_true(document, "journal.on")) return false;
  world->process = now;
  world->starts = control_count(entry, "starts");
  return true;
}

static double await_return_of_all(void) {
  uint64_t begin_ns = clock_system();
  for (int i = 0; i < WORLDS; usleep(LOOK_US)) {
    expect_alive();
    i += runs_again(&worlds[i]);
    cr_assert_lt(clock_system() - begin_ns, RETURN_MOST_S * 1000000000ull, "%s does not return: %s", worlds[i].name,
                 daemon_log(&service));
  }
  return (double)(clock_system() - begin_ns) / 1e9;
}

/* A daemon that begins anew waits for no more tries than a few until it says that it is ready. */
static void await_daemon(void) {
  if (launched && !daemon_await(&service, "READY=1"))
    cr_assert_fail("it ended with %d: %s", service.status, daemon_log(&service));
  launched = false;
}

static void settle(target *world) {
  if (world->starts <= STARTS_SETTLED) return;
  tell("POST", formed("/v1/worlds/%s/restart", world->name), NULL, 202);
  world->dies = true;
}

/* As it is called by no one but the seed. */
static void strike_once(uint32_t number, uint64_t random, bool many) {
  strike now = draw_strike(random);
  print_strike(&now, number);
  forget_log();
  for (uint32_t i = 0; i < now.count; i++) struck[now.kinds[i]]++;
  for (int i = 0; i < WORLDS; i++) {
    make_promise(&worlds[i], number);
    worlds[i].dies = false;
  }
  bool first = draw(&now, 2);
  uint32_t lasts_ms = many && draw(&now, 16) == 0 ? LONG_LASTS_MS : LASTS_MS;
  if (first) begin_troubles(&now);
  let_pass(draw(&now, 50));
  begin_signals(&now);
  if (!first) begin_troubles(&now);
  let_pass(draw(&now, lasts_ms));
  end_troubles(&now);
  await_daemon();
  double took_s = await_return_of_all();
  fprintf(stderr, "  %.2f s after its end all run again\n", took_s);
  if (took_s > slowest_s) slowest_s = took_s;
  for (int i = 0; i < WORLDS; i++) expect_promises_kept(&worlds[i]);
}

Test(strikes, every_world_returns_by_itself_and_loses_nothing_that_was_safe, .timeout = 14400) {
  uint32_t count = (uint32_t)environment_number("MUSTER_STRIKES", STRIKES);
  uint64_t seed = environment_number("MUSTER_STRIKE_SEED", clock_system());
  cr_assert(count > 0 && count < STRIKES_MOST);
  fprintf(stderr, "MUSTER_STRIKE_SEED=%lu\n", seed);
  unlucky_prepare();
  write_settings(environment_number("MUSTER_STRIKE_AGENTS", AGENTS));
  strikes_launch();
  launched = true;
  await_daemon();
  await_return_of_all();
  for (uint32_t i = 0; i < count; i++) {
    strike_once(i, muster_random_mix(muster_random_mix(seed) + i), count > STRIKES);
    for (int k = 0; k < WORLDS; k++) worlds[k].dies = false, settle(&worlds[k]);
    await_return_of_all();
  }
  for (uint32_t i = 0; i < KINDS; i++) fprintf(stderr, "%4u x %s\n", struck[i], kinds[i].name);
  fprintf(stderr, "%u strikes: the slowest return took %.2f s\n", count, slowest_s);
  daemon_stop(&service);
}

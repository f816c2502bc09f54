/* The rounds of `muster bench scripts`. */
#include "bench_scripts.h"
#include "host.h"

#include "base/clock.h"
#include "everyone.h"
#include "loop.h"
#include "lua/lua_module.h"
#include "rounds.h"
#include "scenarios/scenarios.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { IDLE_AGENTS = 2000, IDLE_FRAMES = 20, IDLE_WARM_UP = 10, WARM_UP = 5, QUICK_PART = 100 };

static const uint64_t ample_ns = 10000000000, step_ns = 100000000;

/* ------------------------------------------------------------------------------------------------------------- idle */

static const char idle_script[] = "local idle = muster.type {\n"
                                  "  name = 'idle', period = '33333333ns', period_max = '33333333ns', elasticity = 0\n"
                                  "}\n"
                                  "function idle:think() end\n"
                                  "muster.world {\n"
                                  "  start = function(world)\n"
                                  "    for _ = 1, world.agents do muster.spawn(idle, {x = 0, y = 0}) end\n"
                                  "  end\n"
                                  "}\n";

static muster_atom_result do_nothing(muster_update *update) {
  (void)update;
  return MUSTER_ATOM_NEXT;
}

static bool open_idle_host(struct host *host, const char *path) {
  host_setup setup = host_default_setup(muster_module_lua());
  setup.options.path = path;
  setup.options.agents = IDLE_AGENTS;
  return host_open(host, &setup);
}

/* A module reads its scripts from a file. */
static bool open_idle(struct host *host) {
  char path[] = "/tmp/muster-idle-XXXXXX.lua";
  int file = mkstemps(path, 4);
  if (file < 0) return muster_module_fail(MUSTER_E_SYSTEM, "no temporary file can be made in /tmp") == MUSTER_OK;
  bool written = write(file, idle_script, sizeof idle_script - 1) == (ssize_t)sizeof idle_script - 1;
  close(file);
  if (!written) muster_module_fail(MUSTER_E_SYSTEM, "cannot write '%s'", path);
  bool opened = written && open_idle_host(host, path);
  unlink(path);
  return opened;
}

/* CPU of this thread, which is the only worker, for each update. */
static bool run_idle(struct host *host, uint64_t *now_ns, uint32_t frames, double *update_ns) {
  muster_frame_report report;
  uint64_t begin_ns = clock_thread_cpu();
  for (uint32_t i = 0; i < frames; i++)
    if (!host_run_frame(host, *now_ns += EVERYONE_FRAME_NS, ample_ns, &report)) return false;
  *update_ns = (double)(clock_thread_cpu() - begin_ns) / ((double)frames * IDLE_AGENTS);
  return true;
}

static bool rounds_of_idle(scripts_work *work, struct everyone *plain, struct host *host) {
  double ns[2][SCRIPTS_ROUNDS_MOST], over_ns[SCRIPTS_ROUNDS_MOST];
  uint64_t now_ns = 0;
  uint32_t rounds = work->common.rounds;
  if (!everyone_run(plain, IDLE_WARM_UP, ns[0]) || !run_idle(host, &now_ns, IDLE_WARM_UP, ns[1])) return false;
  for (uint32_t i = 0; i < rounds; i++) {
    if (!everyone_run(plain, IDLE_FRAMES, &ns[0][i]) || !run_idle(host, &now_ns, IDLE_FRAMES, &ns[1][i])) return false;
    over_ns[i] = ns[1][i] - ns[0][i];
  }
  work->idle_ns[0] = rounds_median(ns[0], rounds);
  work->idle_ns[1] = rounds_median(ns[1], rounds);
  work->idle_over_ns = rounds_median(over_ns, rounds);
  return true;
}

const char *scripts_measure_idle(scripts_work *work) {
  const muster_atom atom = {do_nothing, MUSTER_ROLE_BEHAVIOUR, 20};
  struct everyone plain = {0};
  struct host host = {0};
  muster_type_def type = muster_type_def_default();
  type.name = "idle";
  type.atoms = &atom;
  type.atom_count = 1;
  type.period_ns = type.period_max_ns = EVERYONE_FRAME_NS;
  type.elasticity = 0.0f;
  bool done = everyone_open(&plain, &type, IDLE_AGENTS) && open_idle(&host) && rounds_of_idle(work, &plain, &host);
  everyone_close(&plain);
  host_close(&host);
  return done ? NULL : muster_last_error();
}

/* ------------------------------------------------------------------------------------------------------------- ways */

/* One of the ways, under way. */
typedef struct way {
  struct host host;          /* of a world, */
  struct scripts_loop *loop; /* or null */
  uint64_t now_ns;
} way;

static uint64_t process_cpu(void) {
  struct timespec spent;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
  return (uint64_t)spent.tv_sec * 1000000000u + (uint64_t)spent.tv_nsec;
}

/* Everybody is near to this one, so at the best level. */
static bool watch_all(void *user, muster_world *world) {
  muster_observer_def def = muster_observer_def_default();
  (void)user;
  def.near_m = 1e6f;
  def.far_m = 2e6f;
  return !muster_observer_is_null(muster_observer_add(world, &def));
}

static bool open_world(const scripts_work *work, way *one, const muster_module *module, const char *path) {
  host_setup setup = host_default_setup(module);
  setup.options.agents = work->agents;
  setup.options.seed = work->common.seed;
  setup.options.path = path;
  setup.workers = work->workers;
  setup.as_defined = true;
  setup.world.limits.agents_max = setup.world.limits.agents_ready = 2 * work->agents + 256;
  setup.world.limits.observers_max = 8;
  setup.world.cell_m = 15.0f;
  setup.prepare = watch_all;
  return host_open(&one->host, &setup);
}

static bool open_way(const scripts_work *work, scripts_way which, way *one) {
  if (which == SCRIPTS_MUSTER) return open_world(work, one, muster_module_lua(), work->scripts);
  if (which == SCRIPTS_C) return open_world(work, one, muster_module_wildlife(), NULL);
  loop_kind kind = which == SCRIPTS_RAW ? LOOP_RAW : LOOP_GUARDED;
  one->loop = loop_open(work->scripts, kind, work->agents, work->common.seed);
  return one->loop != NULL;
}

static void close_way(way *one) {
  loop_close(one->loop);
  host_close(&one->host);
}

/* One frame in which every animal is due; so many updates are added. */
static bool run_frame(way *one, uint64_t *updates) {
  muster_frame_report report;
  one->now_ns += step_ns;
  if (one->loop) return loop_frame(one->loop, (double)step_ns * 1e-9, updates);
  if (!host_run_frame(&one->host, one->now_ns, ample_ns, &report)) return false;
  *updates += report.completed;
  return true;
}

static bool run_frames(way *one, uint32_t frames, scripts_time *time, double *wall_ns, double *cpu_ns) {
  uint64_t updates = 0, begin_ns = clock_system(), begin_cpu_ns = process_cpu();
  for (uint32_t i = 0; i < frames; i++)
    if (!run_frame(one, &updates)) return false;
  *wall_ns = (double)(clock_system() - begin_ns) / (double)updates;
  *cpu_ns = (double)(process_cpu() - begin_cpu_ns) / (double)updates;
  time->updates += updates;
  return true;
}

struct ways_rounds {
  double wall_ns[SCRIPTS_WAYS][SCRIPTS_ROUNDS_MOST], cpu_ns[SCRIPTS_WAYS][SCRIPTS_ROUNDS_MOST];
};

static void conclude(scripts_work *work, struct ways_rounds *found) {
  double wall_share[SCRIPTS_ROUNDS_MOST], cpu_share[SCRIPTS_ROUNDS_MOST];
  uint32_t rounds = work->common.rounds;
  for (uint32_t k = SCRIPTS_WAYS; k-- > 0;) { /* the last is Muster's, whose samples the others need in order */
    scripts_time *time = &work->ways[k];
    for (uint32_t i = 0; i < rounds; i++) {
      wall_share[i] = found->wall_ns[SCRIPTS_MUSTER][i] / found->wall_ns[k][i];
      cpu_share[i] = found->cpu_ns[SCRIPTS_MUSTER][i] / found->cpu_ns[k][i];
      if (k >= SCRIPTS_GUARDED) cpu_share[i] /= work->workers;
    }
    time->wall_share = rounds_median(wall_share, rounds);
    time->cpu_share = rounds_median(cpu_share, rounds);
    time->wall_ns = rounds_median(found->wall_ns[k], rounds);
    time->cpu_ns = rounds_median(found->cpu_ns[k], rounds);
  }
}

static bool rounds_of_ways(scripts_work *work, way *ways) {
  struct ways_rounds found;
  uint32_t rounds = work->common.rounds;
  uint32_t frames =
      (uint32_t)((work->updates + (uint64_t)work->agents * rounds - 1) / ((uint64_t)work->agents * rounds));
  for (uint32_t k = 0; k < SCRIPTS_WAYS; k++) {
    if (!run_frames(&ways[k], WARM_UP, &work->ways[k], found.wall_ns[k], found.cpu_ns[k])) return false;
    work->ways[k].updates = 0;
  }
  for (uint32_t i = 0; i < rounds; i++)
    for (uint32_t turn = 0; turn < SCRIPTS_WAYS; turn++) {
      uint32_t k = (turn + i) % SCRIPTS_WAYS;
      progress_put(&work->common.line, "round %u of %u", i + 1, rounds);
      if (!run_frames(&ways[k], frames, &work->ways[k], &found.wall_ns[k][i], &found.cpu_ns[k][i])) return false;
    }
  conclude(work, &found);
  return true;
}

const char *scripts_measure_ways(scripts_work *work) {
  static way ways[SCRIPTS_WAYS];
  bool done = true;
  memset(ways, 0, sizeof ways);
  for (uint32_t k = 0; k < SCRIPTS_WAYS && done; k++) done = open_way(work, (scripts_way)k, &ways[k]);
  done = done && rounds_of_ways(work, ways);
  for (uint32_t k = 0; k < SCRIPTS_WAYS; k++) close_way(&ways[k]);
  return done ? NULL : muster_last_error();
}

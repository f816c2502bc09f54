#include "stages_world.h"

#include "base/clock.h"

#include <muster/bulk.h>
#include <muster/random.h>

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { INTAKE_FRAMES_MAX = 100000, LINE_BYTES = 64, SLEEP_NS = 1000000, COMMANDS = 1 << 17 };

static const double side_m = 10000.0, step_m = 1.4 / 30;
static const uint64_t usual_budget_ns = 25000000, evicted_min_bytes = 64u << 20;

typedef struct stages_mind {
  uint64_t updates, unused;
} stages_mind;

static muster_atom_result think(muster_update *update) {
  stages_mind *self = update->state;
  const stages_shared *shared = update->type_user;
  self->updates++;
  work_turn(shared->turns);
  return MUSTER_ATOM_NEXT;
}

/* ----------------------------------------------------------------------------------------------------------- caches */

uint64_t stages_cache_bytes(void) {
#ifdef _SC_LEVEL3_CACHE_SIZE
  long third = sysconf(_SC_LEVEL3_CACHE_SIZE), second = sysconf(_SC_LEVEL2_CACHE_SIZE);
  long last = third > 0 ? third : second;
  return last > 0 ? (uint64_t)last : 0;
#else
  return 0;
#endif
}

uint64_t stages_evicted_bytes(void) {
  uint64_t bytes = stages_cache_bytes() / 8 * 9;
  return bytes > evicted_min_bytes ? bytes : evicted_min_bytes;
}

/* Every line is read and written, so that neither the caches nor the tables of pages keep anything of the world. */
static void evict(const stages_shared *shared) {
  volatile uint8_t *bytes = shared->evicted;
  for (uint64_t i = 0; i < shared->evicted_bytes; i += LINE_BYTES) bytes[i]++;
}

bool stages_shared_open(stages_shared *shared, const stages_setup *setup) {
  muster_pool_def pool = muster_pool_def_default();
  *shared = (stages_shared){
      .workers = setup->workers, .turns = work_turns(STAGES_ATOM_NS), .evicted_bytes = setup->evicted_bytes};
  pool.workers = setup->workers;
  shared->pool = muster_pool_create(&pool);
  shared->evicted = malloc(shared->evicted_bytes);
  if (!shared->pool || !shared->evicted) return false;
  memset(shared->evicted, 1, shared->evicted_bytes);
  work_threads_find(&shared->threads);
  return true;
}

void stages_shared_close(stages_shared *shared) {
  muster_pool_destroy(shared->pool);
  free(shared->evicted);
  *shared = (stages_shared){0};
}

/* ------------------------------------------------------------------------------------------------------------ world */

static double next_share(struct stages_world *world) {
  world->random += 0x9e3779b97f4a7c15u;
  return (double)(muster_random_mix(world->random) >> 11) * 0x1p-53;
}

static muster_position next_place(struct stages_world *world) {
  double x = next_share(world) * side_m, y = next_share(world) * side_m;
  return (muster_position){x, y, 0};
}

static bool register_type(struct stages_world *world) {
  static const muster_atom atoms[] = {{think, MUSTER_ROLE_BEHAVIOUR, STAGES_ATOM_NS}};
  muster_type_def type = muster_type_def_default();
  type.atoms = atoms;
  type.atom_count = 1;
  type.state_bytes = sizeof(stages_mind);
  type.user = (void *)world->shared;
  if (world->def.period_ns) {
    type.period_ns = world->def.period_ns;
    type.period_max_ns = world->def.period_max_ns;
  } else {
    type.elapsed.contract = MUSTER_ELAPSED_EVENTS;
  }
  world->type = muster_type_register(world->world, &type);
  return world->type.index != 0;
}

static bool add_observers(struct stages_world *world) {
  for (uint32_t i = 0; i < STAGES_OBSERVERS; i++) {
    muster_observer_def def = muster_observer_def_default();
    def.position = world->places[i] = next_place(world);
    world->observers[i] = muster_observer_add(world->world, &def);
    if (muster_observer_is_null(world->observers[i])) return false;
  }
  return true;
}

static bool populate(struct stages_world *world) {
  uint32_t count = world->def.agents;
  world->agents = calloc(count, sizeof *world->agents);
  if (!world->agents) return false;
  for (uint32_t i = 0; i < count; i++) {
    muster_agent_def agent = muster_agent_def_default();
    agent.type = world->type;
    agent.position = next_place(world);
    world->agents[i] = muster_agent_spawn(world->world, &agent);
    if (muster_agent_is_null(world->agents[i])) return false;
  }
  for (uint32_t i = 0; i < INTAKE_FRAMES_MAX && world->report.agents < count; i++)
    if (!stages_world_frame(world, STAGES_AT_ONCE)) return false;
  return world->report.agents == count;
}

/* Without the watchdog, which has a thread of its own. */
bool stages_world_open(struct stages_world *world, const stages_shared *shared, const stages_world_def *def) {
  muster_world_def world_def = muster_world_def_default();
  *world = (struct stages_world){.shared = shared, .def = *def, .random = 1, .budget_ns = usual_budget_ns};
  world_def.pool = shared->pool;
  world_def.limits.agents_max = def->agents;
  world_def.limits.commands_max = COMMANDS > def->agents ? COMMANDS : def->agents + STAGES_OBSERVERS;
  world_def.elastic = def->elastic;
  world_def.watch.stuck_ns = 0;
  world->world = muster_world_create(&world_def);
  return world->world && register_type(world) && add_observers(world) && populate(world);
}

void stages_world_close(struct stages_world *world) {
  muster_world_destroy(world->world);
  free(world->agents);
  *world = (struct stages_world){0};
}

double stages_world_bytes(const struct stages_world *world) {
  muster_statistics statistics = muster_statistics_default();
  if (muster_statistics_read(world->world, &statistics) != MUSTER_OK) return 0;
  return (double)statistics.bytes_scheduling / world->def.agents;
}

/* ----------------------------------------------------------------------------------------------------------- frames */

/* Observers walk to and fro, so that they stay where they are after all. Each has a speed of its own: else all steps
 * that are worth noticing would come in the same frames. */
static void walk(struct stages_world *world) {
  enum { STEPS = 2000 };
  double way_m = world->now_ns / STAGES_FRAME_NS / STEPS % 2 ? -step_m : step_m;
  for (uint32_t i = 0; i < STAGES_OBSERVERS; i++) world->places[i].x += way_m * (0.5 + (double)i / STAGES_OBSERVERS);
  muster_observers_move(world->world, world->observers, world->places, STAGES_OBSERVERS);
}

/* Behind a walk through memory that took too long the frame is late; it is not at once, because a sleep is what servers
 * come from. */
static void wait_for_frame(struct stages_world *world, stages_pace pace) {
  if (pace == STAGES_AT_ONCE) return;
  evict(world->shared);
  if (pace == STAGES_COLD) return;
  uint64_t now_ns = clock_system();
  if (world->next_ns < now_ns + SLEEP_NS) world->next_ns = now_ns + SLEEP_NS;
  work_sleep_until(world->next_ns);
  world->next_ns += STAGES_FRAME_NS;
}

/* CPU of all workers but the calling thread. */
static uint64_t others_cpu(const stages_shared *shared) {
  if (shared->workers == 1) return 0;
  uint64_t own_ns = clock_thread_cpu(), all_ns = work_threads_cpu(&shared->threads);
  return all_ns > own_ns ? all_ns - own_ns : 0;
}

/* How often the kernel gave the calling thread's processor to another thread. */
static long preemptions(void) {
  struct rusage usage = {0};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

bool stages_world_frame(struct stages_world *world, stages_pace pace) {
  wait_for_frame(world, pace);
  if (world->def.walking) walk(world);
  world->now_ns += STAGES_FRAME_NS;
  uint64_t begin_ns = others_cpu(world->shared);
  long preempted = preemptions();
  if (muster_frame_run(world->world, &(muster_frame){world->now_ns, world->budget_ns}) != MUSTER_OK) return false;
  world->disturbed = preemptions() != preempted;
  uint64_t end_ns = others_cpu(world->shared);
  world->others_ns = end_ns > begin_ns ? end_ns - begin_ns : 0;
  world->report = muster_frame_report_default();
  return muster_frame_report_read(world->world, &world->report) == MUSTER_OK;
}

bool stages_world_frames(struct stages_world *world, stages_pace pace, uint32_t frames) {
  for (uint32_t i = 0; i < frames; i++)
    if (!stages_world_frame(world, pace)) return false;
  return true;
}

bool stages_world_wake(struct stages_world *world) {
  for (uint32_t i = 0; i < world->def.agents; i++)
    if (muster_agent_wake(world->world, world->agents[i]) != MUSTER_OK) return false;
  return true;
}

/* fixed.c - agents whose updates all cost the same, in any number, spread over a square of 10 km: the time that
 * scheduling takes besides the updates can be read off directly.
 *
 * An update does as many turns of busy work as take the wanted cost on this machine (scenarios/busy_work.h). Agents
 * stay where they are; observers walk straight ahead and turn at the edges. */
#include "scenarios/busy_work.h"
#include "scenarios/kept.h"
#include "scenarios/options_check.h"
#include "scenarios/population_random.h"
#include "scenarios/scenarios.h"

#include <math.h>
#include <stdlib.h>

enum { AGENTS_DEFAULT = 100000, AGENTS_MAX = 16000000, OBSERVERS_DEFAULT = 100, OBSERVERS_MAX = 65536 };

static const uint64_t cost_default_ns = 5000, cost_min_ns = 100, cost_max_ns = 500000;
static const double side_m = 10000.0, walk_m_per_s = 1.4, turn_rad = 6.283185307179586;

/* A million agents of 5 us in 2 x 10 ms at 30 frames per second come to their turn every 8 s; the longest period leaves
 * room for several times that. */
static const uint64_t period_ns = 100000000, period_max_ns = 60000000000;

struct walker {
  muster_observer observer;
  double x, y; /* where it begins */
  double east_m_per_s, north_m_per_s;
};

typedef struct fixed {
  uint64_t seed, cost_ns;
  uint64_t turns; /* of busy work, that take cost_ns */
  uint32_t agents, walker_count;
  struct walker *walkers;
  muster_observer *observers; /* handles of the walkers, and their new positions: the arrays for one call */
  muster_position *places;
  uint64_t begin_ns; /* simulation time of the first frame */
  bool begun;
} fixed;

typedef struct life {
  uint64_t updates;
  uint64_t lived_ns;
} life;

/* ----------------------------------------------------------------------------------------------------------- updates
 */

static muster_atom_result fixed_live(muster_update *update) {
  const fixed *self = update->type_user;
  life *own = update->state;
  busy_work_spend(self->turns);
  own->updates++;
  own->lived_ns += update->elapsed_ns;
  return MUSTER_ATOM_NEXT;
}

/* -------------------------------------------------------------------------------------------------------------- open
 */

/* A program built with an older header ends its options before the field. */
static uint64_t wanted_cost(const muster_module_options *options) {
  bool has = options->size >= offsetof(muster_module_options, cost_ns) + sizeof options->cost_ns;
  return has && options->cost_ns ? options->cost_ns : cost_default_ns;
}

static muster_result fixed_check_options(const muster_module_options *options) {
  muster_result result = options_check("fixed", options, AGENTS_MAX, OBSERVERS_MAX);
  if (result) return result;
  uint64_t cost_ns = wanted_cost(options);
  if (cost_ns < cost_min_ns || cost_ns > cost_max_ns)
    return muster_module_fail(MUSTER_E_ARGUMENT, "fixed: a cost of %llu ns is not between %llu and %llu",
                              (unsigned long long)cost_ns, (unsigned long long)cost_min_ns,
                              (unsigned long long)cost_max_ns);
  return MUSTER_OK;
}

static muster_result open_square(const muster_module_options *options, void **instance, muster_module_needs *needs) {
  double turns_per_ns = 0;
  muster_result result = fixed_check_options(options);
  if (!result) result = busy_work_calibrate("fixed", &turns_per_ns);
  if (result) return result;
  uint32_t observers = options->observers ? options->observers : OBSERVERS_DEFAULT;
  fixed *self = calloc(1, sizeof *self);
  struct walker *walkers = calloc(observers, sizeof *walkers);
  muster_observer *ids = calloc(observers, sizeof *ids);
  muster_position *places = calloc(observers, sizeof *places);
  if (!self || !walkers || !ids || !places) {
    free(self);
    free(walkers);
    free(ids);
    free(places);
    return muster_module_fail(MUSTER_E_MEMORY, "fixed: no memory for %u observers", observers);
  }
  *self = (fixed){.seed = options->seed,
                  .cost_ns = wanted_cost(options),
                  .turns = (uint64_t)((double)wanted_cost(options) * turns_per_ns),
                  .agents = options->agents ? options->agents : AGENTS_DEFAULT,
                  .walker_count = observers,
                  .walkers = walkers,
                  .observers = ids,
                  .places = places};
  *instance = self;
  *needs = (muster_module_needs){
      .size = (uint32_t)sizeof *needs, .agents = self->agents, .agents_max = self->agents, .observers = observers};
  return MUSTER_OK;
}

static void close_square(void *instance) {
  fixed *self = instance;
  free(self->walkers);
  free(self->observers);
  free(self->places);
  free(self);
}

/* ---------------------------------------------------------------------------------------------------------- populate
 */

static double share_of(uint64_t scattered) {
  return (double)(scattered >> 11) * 0x1p-53;
}

/* A place that depends only on the seed and on the number of the agent or walker that stands there. */
static muster_position place_of(const fixed *self, uint64_t number) {
  uint64_t random = population_mix(population_mix(self->seed) + number);
  return (muster_position){share_of(random) * side_m, share_of(population_mix(random)) * side_m, 0.0};
}

static muster_type fixed_register_type(fixed *self, muster_world *world) {
  muster_atom atom = {fixed_live, MUSTER_ROLE_BEHAVIOUR, (uint32_t)self->cost_ns};
  muster_type_def def = muster_default_type_def();
  def.name = "fixed";
  def.atoms = &atom;
  def.atom_count = 1;
  def.state_bytes = sizeof(life);
  def.period_ns = period_ns;
  def.period_max_ns = period_max_ns;
  def.user = self;
  if (def.limit_ns < 2 * self->cost_ns) def.limit_ns = 2 * self->cost_ns; /* a requested cost never breaks the limit */
  return muster_type_register(world, &def);
}

static bool fixed_add_walker(fixed *self, muster_world *world, uint32_t number) {
  muster_observer_def def = muster_default_observer_def();
  struct walker *walker = &self->walkers[number];
  def.position = place_of(self, UINT32_MAX + (uint64_t)number);
  double heading_rad = turn_rad * share_of(population_mix(self->seed ^ population_mix(number)));
  *walker = (struct walker){.observer = muster_observer_add(world, &def),
                            .x = def.position.x,
                            .y = def.position.y,
                            .east_m_per_s = walk_m_per_s * cos(heading_rad),
                            .north_m_per_s = walk_m_per_s * sin(heading_rad)};
  return walker->observer.generation != 0;
}

static muster_result fixed_populate(void *instance, muster_world *world) {
  fixed *self = instance;
  muster_agent_def def = muster_default_agent_def();
  def.type = fixed_register_type(self, world);
  if (!def.type.index) return MUSTER_E_ARGUMENT;
  for (uint32_t i = 0; i < self->agents; i++) {
    def.position = place_of(self, i);
    if (muster_agent_is_null(muster_agent_spawn(world, &def))) return MUSTER_E_FULL;
  }
  for (uint32_t i = 0; i < self->walker_count; i++)
    if (!fixed_add_walker(self, world, i)) return MUSTER_E_FULL;
  return MUSTER_OK;
}

/* The position of a walker that has gone this distance to and fro on a line with two ends. */
static double between_edges(double way_m) {
  double lap_m = fmod(way_m, 2 * side_m);
  if (lap_m < 0) lap_m += 2 * side_m;
  return lap_m <= side_m ? lap_m : 2 * side_m - lap_m;
}

static void fixed_before_frame(void *instance, muster_world *world, uint64_t sim_now_ns) {
  fixed *self = instance;
  if (!self->begun) self->begin_ns = sim_now_ns;
  self->begun = true;
  double seconds = (double)(sim_now_ns - self->begin_ns) * 1e-9;
  for (uint32_t i = 0; i < self->walker_count; i++) {
    const struct walker *walker = &self->walkers[i];
    muster_position place = {between_edges(walker->x + walker->east_m_per_s * seconds),
                             between_edges(walker->y + walker->north_m_per_s * seconds), 0.0};
    self->observers[i] = walker->observer;
    self->places[i] = place;
  }
  muster_observers_move(world, self->observers, self->places, self->walker_count);
}

/* Zeroed state is right for a new agent. */
static muster_result complete(void *instance, const muster_world *world, muster_agent_def *def) {
  (void)instance, (void)world, (void)def;
  return MUSTER_OK;
}

static void fixed_report(void *instance, const muster_world *world, muster_module_emit emit, void *emit_user) {
  const fixed *self = instance;
  life all = {0};
  uint32_t agents = 0;
  muster_agent_info info = muster_default_agent_info();
  muster_agent agent = muster_agent_next(world, (muster_agent){0, 0});
  for (; !muster_agent_is_null(agent); agent = muster_agent_next(world, agent)) {
    if (muster_agent_read(world, agent, &info) != MUSTER_OK) continue;
    const life *own = info.state;
    all.updates += own->updates;
    all.lived_ns += own->lived_ns;
    agents++;
  }
  emit("agents", agents, emit_user);
  emit("walkers", self->walker_count, emit_user);
  emit("cost_ns", (double)self->cost_ns, emit_user);
  emit("updates", (double)all.updates, emit_user);
  emit("lived_s_per_agent", agents ? (double)all.lived_ns * 1e-9 / agents : 0.0, emit_user);
}

/* What a snapshot keeps besides the agents; the walkers follow. */
typedef struct kept_square {
  uint32_t version, agents, walker_count, begun;
  uint64_t cost_ns, begin_ns;
} kept_square;

enum { KEPT_VERSION = 1 };

static muster_result save_square(void *instance, const muster_world *world, muster_module_write write,
                                 void *write_user) {
  const fixed *self = instance;
  (void)world;
  kept_square kept = {KEPT_VERSION, self->agents, self->walker_count, self->begun, self->cost_ns, self->begin_ns};
  bool written = write(&kept, sizeof kept, write_user) &&
                 write(self->walkers, self->walker_count * sizeof *self->walkers, write_user);
  return written ? MUSTER_OK : kept_unwritten("fixed");
}

static muster_result resume_square(void *instance, muster_world *world, const void *bytes, size_t count) {
  fixed *self = instance;
  kept_bytes left = {.bytes = bytes, .count = count};
  kept_square kept;
  if (!fixed_register_type(self, world).index) return MUSTER_E_ARGUMENT;
  kept_take(&left, &kept, sizeof kept);
  if (kept.version != KEPT_VERSION || kept.agents != self->agents || kept.walker_count != self->walker_count ||
      kept.cost_ns != self->cost_ns || kept.begun > 1)
    return kept_refused("fixed");
  kept_take(&left, self->walkers, self->walker_count * sizeof *self->walkers);
  if (!kept_is_read(&left)) return kept_refused("fixed");
  self->begun = kept.begun;
  self->begin_ns = kept.begin_ns;
  return MUSTER_OK;
}

const muster_module *muster_module_fixed(void) {
  static const muster_module module = {.size = (uint32_t)sizeof module,
                                       .abi = MUSTER_MODULE_ABI,
                                       .name = "fixed",
                                       .summary = "updates of exactly one cost (--cost 5us) all over a square of 10 km",
                                       .open = open_square,
                                       .populate = fixed_populate,
                                       .before_frame = fixed_before_frame,
                                       .report = fixed_report,
                                       .close = close_square,
                                       .takes_cost = true,
                                       .complete = complete,
                                       .save = save_square,
                                       .resume = resume_square};
  return &module;
}

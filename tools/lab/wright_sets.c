/* Wright & Marshall's process manager at work: small worlds of real sets, in virtual time, each of which shows one of
 * its parts alone. Table 2 and the peaks of P(t) are counted as their sets run. */
#include "wright.h"

#include <muster/sets.h>

enum { PERIODS = 3, ATOM_NS = 1000, ATOMS_MANY = 1300 /* more than any agent runs */, AGENTS_MAX = 256 };
enum { SHARED_FRAMES = 20, SHARED_ATOMS = 100 /* that a frame has time for */ };

const double wright_published[WRIGHT_COUNTS] = {13, 4, 12, 1};
const double wright_priorities[WRIGHT_PARTS] = {10, 30, 60};

static const uint32_t composite[PERIODS] = {4, 6, 8}, primes[PERIODS] = {3, 5, 7};
static const uint64_t ample_ns = 1000000000;

/* ---------------------------------------------------------------------------------------------------- little worlds */

/* A type with sets of atoms of a microsecond, and the results of their runs. */
typedef struct little_type {
  muster_type_def def;
  muster_set_def sets[WRIGHT_PARTS];
  wright_mode results[WRIGHT_PARTS];
  float importance;
  double *processes; /* that began in each frame after that of the intake; null = they are not counted */
} little_type;

static muster_atom_result go_on(muster_update *update) {
  ((little_type *)update->type_user)->results[update->set].atoms++;
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result begin_set(muster_update *update) {
  little_type *own = update->type_user;
  own->results[update->set].began++;
  if (own->processes) own->processes[update->now_ns / PURSUIT_UPDATE_NS - 1]++;
  return go_on(update);
}

/* Its sets are alike. */
static little_type little_of(uint32_t sets, uint32_t atoms, muster_mode mode) {
  static muster_atom steps[ATOMS_MANY];
  little_type type = {.def = muster_type_def_default()};
  for (uint32_t i = 0; i < ATOMS_MANY; i++) steps[i] = (muster_atom){.run = i ? go_on : begin_set, .model_ns = ATOM_NS};
  for (uint32_t i = 0; i < sets; i++) {
    type.sets[i] = muster_set_def_default();
    type.sets[i].mode = mode;
    type.sets[i].atoms = steps;
    type.sets[i].atom_count = atoms;
  }
  type.def.sets.count = sets;
  type.def.period_ns = type.def.period_max_ns = PURSUIT_UPDATE_NS;
  return type;
}

/* Runs so many agents of each type. No agent runs in the first frame, and every agent in each that follows. */
static bool run_little(little_type *types, uint32_t count, uint32_t agents, uint32_t frames, uint64_t capacity_ns,
                       uint32_t delay) {
  muster_world_def def = repro_world_def();
  muster_set_info info = muster_set_info_default();
  def.limits.agents_max = AGENTS_MAX;
  def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  def.clock.capacity_ns = capacity_ns;
  def.activation_delay = delay;
  muster_world *world = muster_world_create(&def);
  bool done = world;
  for (little_type *type = types; done && type < types + count; type++) {
    type->def.sets.list = type->sets;
    type->def.user = type;
    done = repro_spawn(world, &type->def, agents, type->importance);
  }
  for (uint64_t i = 0; done && i <= frames; i++)
    done = muster_frame_run(world, &(muster_frame){i * PURSUIT_UPDATE_NS, ample_ns}) == MUSTER_OK;
  done = done && muster_agent_set_read(world, muster_agent_next(world, (muster_agent){0}), 0, &info) == MUSTER_OK;
  types->results->completed = info.runs;
  muster_world_destroy(world);
  return done;
}

/* ---------------------------------------------------------------------------------------------- processes by frames */

/* How many processes run in each of the first frames, of agents with three sets of these periods each. */
static bool count_processes(const uint32_t periods[PERIODS], uint32_t agents, uint32_t delay,
                            double processes[WRIGHT_FRAMES + 1]) {
  little_type type = little_of(PERIODS, 1, MUSTER_MODE_RUN);
  type.processes = processes;
  for (uint32_t i = 0; i < PERIODS; i++) type.sets[i].period_updates = periods[i];
  return run_little(&type, 1, agents, WRIGHT_FRAMES + 1, ample_ns, delay);
}

/* In how many frames two and three of them coincide. */
static bool count_coincidences(const uint32_t periods[PERIODS], double counts[2]) {
  double running[WRIGHT_FRAMES + 1] = {0};
  if (!count_processes(periods, 1, 0, running)) return false;
  for (uint32_t frame = 1; frame <= WRIGHT_FRAMES; frame++)
    if (running[frame] >= 2) counts[(int)running[frame] - 2]++;
  return true;
}

/* -------------------------------------------------------------------------------------------------- shares of time */

/* The part of the atoms that each of the three has, and of the time that they use with those beside them. */
static void sum_up(wright_shares *shares, uint64_t beside) {
  double sum = shares->parts[0] + shares->parts[1] + shares->parts[2];
  for (uint32_t i = 0; i < WRIGHT_PARTS; i++) shares->parts[i] /= sum;
  shares->used = (sum + (double)beside) / (SHARED_FRAMES * SHARED_ATOMS);
}

/* Three agents with more to do than there is time for; and one of the highest priority, which comes first and needs
 * next to nothing: the others get the time that it does not use. */
static bool share_among_agents(wright_shares *shares) {
  little_type types[1 + WRIGHT_PARTS] = {little_of(1, 1, MUSTER_MODE_RUN)};
  types[0].def.sets.share = 100;
  types[0].importance = 1.0f;
  for (uint32_t i = 0; i < WRIGHT_PARTS; i++) {
    types[1 + i] = little_of(1, ATOMS_MANY, MUSTER_MODE_SLICEABLE);
    types[1 + i].def.sets.share = (uint32_t)wright_priorities[i];
  }
  bool done = run_little(types, 1 + WRIGHT_PARTS, 1, SHARED_FRAMES, SHARED_ATOMS * ATOM_NS, 0);
  for (uint32_t i = 0; i < WRIGHT_PARTS; i++) shares->parts[i] = (double)types[1 + i].results[0].atoms;
  sum_up(shares, types[0].results[0].atoms);
  return done;
}

/* The same among the sets of one agent, which has a slice of each frame. */
static bool share_among_sets(wright_shares *shares) {
  little_type type = little_of(WRIGHT_PARTS, ATOMS_MANY, MUSTER_MODE_SLICEABLE);
  type.def.sets.slice_ns = SHARED_ATOMS * ATOM_NS;
  for (uint32_t i = 0; i < WRIGHT_PARTS; i++) type.sets[i].share = (uint32_t)wright_priorities[i];
  bool done = run_little(&type, 1, 1, SHARED_FRAMES, ample_ns, 0);
  for (uint32_t i = 0; i < WRIGHT_PARTS; i++) shares->parts[i] = (double)type.results[i].atoms;
  sum_up(shares, 0);
  return done;
}

/* ------------------------------------------------------------------------------------------------- modes, and turns */

/* Three frames of a set of three times as many atoms as its time holds. */
static bool run_mode(muster_mode mode, wright_mode *result) {
  little_type type = little_of(1, 3 * WRIGHT_MODE_ATOMS, mode);
  type.def.sets.slice_ns = WRIGHT_MODE_ATOMS * ATOM_NS;
  bool done = run_little(&type, 1, 1, WRIGHT_MODE_FRAMES, ample_ns, 0);
  *result = type.results[0];
  return done;
}

/* Three sets, of which a frame's time holds one. */
static bool take_turns(double turns[WRIGHT_PARTS]) {
  little_type type = little_of(WRIGHT_PARTS, WRIGHT_MODE_ATOMS, MUSTER_MODE_RUN);
  type.def.sets.slice_ns = WRIGHT_MODE_ATOMS * ATOM_NS;
  bool done = run_little(&type, 1, 1, WRIGHT_TURN_FRAMES, ample_ns, 0);
  for (uint32_t i = 0; i < WRIGHT_PARTS; i++) turns[i] = (double)type.results[i].began;
  return done;
}

bool wright_run_sets(wright_results *results) {
  wright_manager *manager = &results->manager;
  for (int mode = MUSTER_MODE_RUN; mode <= MUSTER_MODE_SLICEABLE; mode++)
    if (!run_mode((muster_mode)mode, &manager->modes[mode])) return false;
  return count_coincidences(composite, results->counts) && count_coincidences(primes, results->counts + 2) &&
         count_processes(composite, WRIGHT_SERVED, 0, results->before) &&
         count_processes(composite, WRIGHT_SERVED, WRIGHT_DELAY, results->after) &&
         share_among_agents(&manager->agents) && share_among_sets(&manager->sets) && take_turns(manager->turns);
}

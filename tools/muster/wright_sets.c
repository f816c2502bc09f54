/* Wright & Marshall's process manager at work: small worlds of real sets, in virtual time, each of which shows one of
 * its parts alone. Table 2 and the peaks of P(t) are counted as their sets run. */
#include "complaint.h"
#include "wright.h"

#include <string.h>

enum { PERIODS = 3, ATOM_NS = 1000, ATOMS_MANY = 1300 /* more than any agent runs */, AGENTS_MAX = 256 };

const uint32_t wright_published[WRIGHT_COUNTS] = {13, 4, 12, 1};
const uint32_t wright_priorities[WRIGHT_PARTS] = {10, 30, 60};

static const uint32_t composite[PERIODS] = {4, 6, 8}, primes[PERIODS] = {3, 5, 7};
static const uint64_t ample_ns = 1000000000;

/* ----------------------------------------------------------------------------------------------------- little worlds
 */

/* The results of the runs of one set. */
struct tally {
  uint64_t began, atoms;
};

static muster_atom_result begin_set(muster_update *update) {
  struct tally *own = (struct tally *)update->type_user + update->set;
  own->began++;
  own->atoms++;
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result go_on(muster_update *update) {
  ((struct tally *)update->type_user)[update->set].atoms++;
  return MUSTER_ATOM_NEXT;
}

typedef struct little_world {
  muster_world *world;
  uint64_t now_ns;
} little_world;

/* A set of this many atoms of a microsecond. */
typedef struct little_set {
  uint32_t priority, atoms, period;
  muster_mode mode;
} little_set;

typedef struct little_type {
  const little_set *sets;
  uint32_t count;
  uint32_t priority;
  uint64_t slice_ns;
  float importance;
  struct tally *tallies; /* of its sets */
} little_type;

static bool open_little(little_world *it, uint64_t capacity_ns, uint32_t delay) {
  muster_world_def def = repro_world_def();
  def.agents_max = AGENTS_MAX;
  def.clock = MUSTER_CLOCK_VIRTUAL;
  def.capacity_ns = capacity_ns;
  def.activation_delay = delay;
  *it = (little_world){.world = muster_world_create(&def)};
  return it->world != NULL;
}

static muster_type register_little(const little_world *it, const little_type *little) {
  static muster_atom atoms[ATOMS_MANY];
  muster_set_def sets[MUSTER_SETS_MAX];
  muster_type_def def = muster_default_type_def();
  for (uint32_t i = 0; i < ATOMS_MANY; i++) atoms[i] = (muster_atom){.run = i ? go_on : begin_set, .model_ns = ATOM_NS};
  for (uint32_t i = 0; i < little->count; i++) {
    sets[i] = muster_default_set_def();
    sets[i].priority = little->sets[i].priority;
    sets[i].mode = little->sets[i].mode;
    sets[i].period_updates = little->sets[i].period;
    sets[i].atoms = atoms;
    sets[i].atom_count = little->sets[i].atoms;
  }
  def.sets = sets;
  def.set_count = little->count;
  def.period_ns = def.period_max_ns = PURSUIT_UPDATE_NS;
  def.priority = little->priority;
  def.slice_ns = little->slice_ns;
  def.user = little->tallies;
  return muster_type_register(it->world, &def);
}

static bool add_little(const little_world *it, const little_type *little, uint32_t agents) {
  muster_agent_def def = muster_default_agent_def();
  def.type = register_little(it, little);
  def.importance_floor = little->importance;
  for (uint32_t i = 0; i < agents; i++)
    if (!def.type.index || muster_agent_is_null(muster_agent_spawn(it->world, &def))) return false;
  return true;
}

/* No agent runs in the first frame, and every agent in each that follows. */
static bool run_little(little_world *it, uint32_t frames) {
  for (uint32_t i = 0; i < frames; i++, it->now_ns += PURSUIT_UPDATE_NS)
    if (muster_frame_run(it->world, &(muster_frame){it->now_ns, ample_ns}) != MUSTER_OK) return false;
  return true;
}

static bool close_little(little_world *it, bool done) {
  if (!done) complain_failure("wright: %s", muster_last_error());
  muster_world_destroy(it->world);
  return done;
}

/* ----------------------------------------------------------------------------------------------- processes by frames
 */

static uint64_t began_in_all(const struct tally *tallies, uint32_t count) {
  uint64_t began = 0;
  for (uint32_t i = 0; i < count; i++) began += tallies[i].began;
  return began;
}

/* How many processes run in each of the first frames, of agents with three sets of these periods each. */
static bool count_processes(const uint32_t periods[PERIODS], uint32_t agents, uint32_t delay,
                            uint32_t counts[WRIGHT_FRAMES + 1]) {
  little_world it;
  little_set sets[PERIODS];
  struct tally tallies[PERIODS] = {{0}};
  little_type type = {.sets = sets, .count = PERIODS, .tallies = tallies};
  for (uint32_t i = 0; i < PERIODS; i++) sets[i] = (little_set){.priority = 50, .atoms = 1, .period = periods[i]};
  bool done = open_little(&it, ample_ns, delay) && add_little(&it, &type, agents) && run_little(&it, 1);
  for (uint32_t frame = 0; done && frame <= WRIGHT_FRAMES; frame++) {
    uint64_t before = began_in_all(tallies, PERIODS);
    done = run_little(&it, 1);
    counts[frame] = (uint32_t)(began_in_all(tallies, PERIODS) - before);
  }
  return close_little(&it, done);
}

bool wright_count(uint32_t counts[WRIGHT_COUNTS]) {
  uint32_t of_composite[WRIGHT_FRAMES + 1], of_primes[WRIGHT_FRAMES + 1];
  memset(counts, 0, WRIGHT_COUNTS * sizeof *counts);
  if (!count_processes(composite, 1, 0, of_composite) || !count_processes(primes, 1, 0, of_primes)) return false;
  for (uint32_t frame = 1; frame <= WRIGHT_FRAMES; frame++) {
    if (of_composite[frame] >= 2) counts[of_composite[frame] - 2]++;
    if (of_primes[frame] >= 2) counts[of_primes[frame]]++;
  }
  return true;
}

bool wright_find_peaks(uint32_t agents, uint32_t most, wright_peaks *peaks) {
  uint32_t before[WRIGHT_FRAMES + 1], after[WRIGHT_FRAMES + 1];
  if (!count_processes(composite, agents, 0, before) || !count_processes(composite, agents, most, after)) return false;
  memcpy(peaks->before, before, sizeof peaks->before);
  memcpy(peaks->after, after, sizeof peaks->after);
  return true;
}

/* -------------------------------------------------------------------------------------------------- shares of time */

/* The part of the atoms that each of the three has. */
static void parts_of(const uint64_t atoms[WRIGHT_PARTS], double parts[WRIGHT_PARTS]) {
  double sum = 0;
  for (uint32_t i = 0; i < WRIGHT_PARTS; i++) sum += (double)atoms[i];
  for (uint32_t i = 0; i < WRIGHT_PARTS; i++) parts[i] = (double)atoms[i] / sum;
}

/* Three agents with more to do than there is time for; and one of the highest priority, which comes first and needs
 * next to nothing: the others get the time that it does not use. */
static bool share_among_agents(wright_manager *manager) {
  enum { FRAMES = 20, CAPACITY = 100 };
  static const little_set endless = {.priority = 50, .atoms = ATOMS_MANY, .period = 1, .mode = MUSTER_MODE_SLICEABLE};
  static const little_set brief = {.priority = 50, .atoms = 1, .period = 1};
  little_world it;
  struct tally modest = {0}, greedy[WRIGHT_PARTS] = {{0}};
  little_type first = {.sets = &brief, .count = 1, .priority = 100, .importance = 1.0f, .tallies = &modest};
  bool done = open_little(&it, CAPACITY * ATOM_NS, 0) && add_little(&it, &first, 1);
  for (uint32_t i = 0; done && i < WRIGHT_PARTS; i++) {
    little_type type = {.sets = &endless, .count = 1, .priority = wright_priorities[i], .tallies = &greedy[i]};
    done = add_little(&it, &type, 1);
  }
  done = done && run_little(&it, FRAMES + 1);
  uint64_t atoms[WRIGHT_PARTS] = {greedy[0].atoms, greedy[1].atoms, greedy[2].atoms};
  parts_of(atoms, manager->agents);
  manager->agents_used = (double)(modest.atoms + atoms[0] + atoms[1] + atoms[2]) / (FRAMES * CAPACITY);
  return close_little(&it, done);
}

/* The same among the sets of one agent, which has SLICE of each frame. */
static bool share_among_sets(wright_manager *manager) {
  enum { FRAMES = 20, SLICE = 100 };
  little_world it;
  struct tally tallies[WRIGHT_PARTS] = {{0}};
  little_set sets[WRIGHT_PARTS];
  little_type type = {.sets = sets, .count = WRIGHT_PARTS, .slice_ns = SLICE * ATOM_NS, .tallies = tallies};
  for (uint32_t i = 0; i < WRIGHT_PARTS; i++)
    sets[i] =
        (little_set){.priority = wright_priorities[i], .atoms = ATOMS_MANY, .period = 1, .mode = MUSTER_MODE_SLICEABLE};
  bool done = open_little(&it, ample_ns, 0) && add_little(&it, &type, 1) && run_little(&it, FRAMES + 1);
  uint64_t atoms[WRIGHT_PARTS] = {tallies[0].atoms, tallies[1].atoms, tallies[2].atoms};
  parts_of(atoms, manager->sets);
  manager->sets_used = (double)(atoms[0] + atoms[1] + atoms[2]) / (FRAMES * SLICE);
  return close_little(&it, done);
}

/* ------------------------------------------------------------------------------------------------- modes, and turns */

static bool read_completed(const little_world *it, uint64_t *completed) {
  muster_set_info info = muster_default_set_info();
  muster_agent agent = muster_agent_next(it->world, (muster_agent){0, 0});
  if (muster_agent_set_info(it->world, agent, 0, &info) != MUSTER_OK) return false;
  *completed = info.runs;
  return true;
}

/* Three frames of a set of three times as many atoms as its time holds. */
static bool run_mode(muster_mode mode, wright_mode *out) {
  const little_set set = {.priority = 50, .atoms = 3 * WRIGHT_MODE_ATOMS, .period = 1, .mode = mode};
  little_world it;
  struct tally tally = {0};
  little_type type = {.sets = &set, .count = 1, .slice_ns = WRIGHT_MODE_ATOMS * ATOM_NS, .tallies = &tally};
  bool done = open_little(&it, ample_ns, 0) && add_little(&it, &type, 1) && run_little(&it, 1 + WRIGHT_MODE_FRAMES) &&
              read_completed(&it, &out->completed);
  out->began = tally.began;
  out->atoms = tally.atoms;
  return close_little(&it, done);
}

/* Three sets, of which a frame's time holds one. */
static bool take_turns(wright_manager *manager) {
  little_world it;
  struct tally tallies[WRIGHT_PARTS] = {{0}};
  little_set sets[WRIGHT_PARTS];
  little_type type = {.sets = sets, .count = WRIGHT_PARTS, .slice_ns = WRIGHT_MODE_ATOMS * ATOM_NS, .tallies = tallies};
  for (uint32_t i = 0; i < WRIGHT_PARTS; i++)
    sets[i] = (little_set){.priority = 50, .atoms = WRIGHT_MODE_ATOMS, .period = 1};
  bool done = open_little(&it, ample_ns, 0) && add_little(&it, &type, 1) && run_little(&it, 1 + WRIGHT_TURN_FRAMES);
  for (uint32_t i = 0; i < WRIGHT_PARTS; i++) manager->turns[i] = tallies[i].began;
  return close_little(&it, done);
}

bool wright_run_manager(wright_manager *manager) {
  for (int mode = MUSTER_MODE_RUN; mode <= MUSTER_MODE_SLICEABLE; mode++)
    if (!run_mode((muster_mode)mode, &manager->modes[mode])) return false;
  return share_among_agents(manager) && share_among_sets(manager) && take_turns(manager);
}

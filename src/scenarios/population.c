/* population.c - the module `population`: the NPCs of a CSV file, each with the behaviour of its kind. */
#include "scenarios/kept.h"
#include "scenarios/population_file.h"
#include "scenarios/population_observers.h"
#include "scenarios/population_random.h"
#include "scenarios/population_roles.h"
#include "scenarios/scenarios.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const population_role *const roles[POPULATION_FAMILIES] = {&population_routine, &population_steering,
                                                                  &population_sensing, &population_paths};

struct population {
  population_rows rows;
  uint8_t *families;      /* of each kind */
  uint32_t *world_agents; /* rows of each world */
  population_observers observers;
  muster_type types[POPULATION_FAMILIES];
  uint64_t seed;
};

/* ------------------------------------------------------------------------------------------------------------ open */

static void population_close(void *instance) {
  struct population *population = instance;
  population_rows_free(&population->rows);
  population_observers_free(&population->observers);
  free(population->families);
  free(population->world_agents);
  free(population);
}

static muster_result population_check_options(const muster_module_options *options) {
  if (!options->path || !*options->path)
    return muster_module_fail(MUSTER_E_ARGUMENT, "population: no file; name a CSV file of NPC spawns");
  if (options->up_axis != 'y' && options->up_axis != 'z')
    return muster_module_fail(MUSTER_E_ARGUMENT, "population: the axis that is up must be 'y' or 'z'");
  if (options->observers > POPULATION_OBSERVERS_MAX)
    return muster_module_fail(MUSTER_E_ARGUMENT, "population: %" PRIu32 " observers, but at most %" PRIu32,
                              options->observers, POPULATION_OBSERVERS_MAX);
  return MUSTER_OK;
}

static muster_result population_read_rows(struct population *population, const muster_module_options *options) {
  population_rows *rows = &population->rows;
  muster_result result = population_file_read(options->path, options->up_axis, rows);
  if (result) return result;
  if (options->agents > rows->count)
    return muster_module_fail(MUSTER_E_ARGUMENT, "%s: the file has %" PRIu32 " rows, too few for %" PRIu32 " agents",
                              options->path, rows->count, options->agents);
  population_thin(rows, options->agents, options->seed);
  return MUSTER_OK;
}

/* Gives out parts and observers; false when memory is refused. */
static bool population_prepare(struct population *population, uint32_t observers_wanted) {
  population_rows *rows = &population->rows;
  population->families = calloc(rows->kind_count, sizeof *population->families);
  population->world_agents = calloc(rows->world_count, sizeof *population->world_agents);
  if (!population->families || !population->world_agents) return false;
  for (uint32_t i = 0; i < rows->count; i++) population->world_agents[rows->rows[i].world]++;
  uint32_t observers = population_observers_needed(rows, population->world_agents, observers_wanted);
  return population_cast(rows, population->seed, population->families) &&
         population_observers_begin(&population->observers, rows, population->world_agents, observers,
                                    population->seed);
}

static muster_result population_open(const muster_module_options *options, void **instance,
                                     muster_module_needs *needs) {
  muster_result result = population_check_options(options);
  if (result) return result;
  struct population *population = calloc(1, sizeof *population);
  if (!population) return muster_module_fail(MUSTER_E_MEMORY, "population: out of memory");
  population->seed = options->seed;
  result = population_read_rows(population, options);
  if (!result && !population_prepare(population, options->observers))
    result = muster_module_fail(MUSTER_E_MEMORY, "population: out of memory");
  if (result) {
    population_close(population);
    return result;
  }
  needs->agents = needs->agents_max = population->rows.count;
  needs->observers = population->observers.count;
  needs->cell_m = 16;
  *instance = population;
  return MUSTER_OK;
}

/* -------------------------------------------------------------------------------------------------------- populate */

static bool register_types(struct population *population, muster_world *world, uint32_t *state_bytes_max) {
  *state_bytes_max = 0;
  for (uint32_t i = 0; i < POPULATION_FAMILIES; i++) {
    muster_type_def def = roles[i]->define();
    population->types[i] = muster_type_register(world, &def);
    if (population->types[i].index == 0) return false;
    if (def.state_bytes > *state_bytes_max) *state_bytes_max = def.state_bytes;
  }
  return true;
}

static bool population_spawn(const struct population *population, muster_world *world, uint32_t number, void *state,
                             uint32_t bytes) {
  const population_row *row = &population->rows.rows[number];
  uint64_t kind = population->rows.kinds[row->kind];
  population_family family = population->families[row->kind];
  population_start start = {row->position, row->speed_mps, row->patrol,
                            population_mix(population->seed ^ population_mix(number))};
  population_public public = {.strength = population_share(population_mix(kind + population->seed))};
  memset(state, 0, bytes);
  roles[family]->begin(state, &start);
  muster_agent_def def = muster_default_agent_def();
  def.type = population->types[family];
  def.position = row->position;
  def.partition = row->world;
  def.state = state;
  def.published = &public;
  return !muster_agent_is_null(muster_agent_spawn(world, &def));
}

/* Where the library refuses, it has already said why. */
static muster_result population_populate(void *instance, muster_world *world) {
  struct population *population = instance;
  uint32_t bytes;
  if (!register_types(population, world, &bytes)) return MUSTER_E_FULL;
  void *state = malloc(bytes);
  if (!state) return muster_module_fail(MUSTER_E_MEMORY, "population: out of memory");
  bool spawned = true;
  for (uint32_t i = 0; spawned && i < population->rows.count; i++)
    spawned = population_spawn(population, world, i, state, bytes);
  free(state);
  return spawned && population_observers_enter(&population->observers, world) ? MUSTER_OK : MUSTER_E_FULL;
}

static void population_before_frame(void *instance, muster_world *world, uint64_t sim_now_ns) {
  struct population *population = instance;
  population_observers_walk(&population->observers, &population->rows, world, sim_now_ns);
}

/* ------------------------------------------------------------------------------------------------------------ keep */

/* What a snapshot keeps besides the agents; the walkers follow. */
typedef struct kept_population {
  uint64_t rows; /* a hash of all rows and the seed */
  uint32_t version, walkers;
  uint64_t last_now_ns, goals;
  double walked_m;
} kept_population;

enum { KEPT_VERSION = 1 };

/* A hash: another file, or another seed, gives another number. */
static uint64_t population_number_of(const struct population *population) {
  uint64_t number = population_mix(population->seed) + population->rows.count;
  for (uint32_t i = 0; i < population->rows.count; i++) {
    const population_row *row = &population->rows.rows[i];
    uint64_t bits[2];
    memcpy(&bits[0], &row->position.x, sizeof bits[0]);
    memcpy(&bits[1], &row->position.y, sizeof bits[1]);
    number = population_mix(number ^ bits[0]) + population_mix(bits[1] + row->kind) + row->world;
  }
  return number;
}

static muster_result population_save(void *instance, const muster_world *world, muster_module_write write,
                                     void *write_user) {
  const struct population *population = instance;
  const population_observers *observers = &population->observers;
  (void)world;
  kept_population kept = {population_number_of(population), KEPT_VERSION,     observers->count,
                          observers->last_now_ns,           observers->goals, observers->walked_m};
  bool written = write(&kept, sizeof kept, write_user) &&
                 write(observers->walkers, observers->count * sizeof *observers->walkers, write_user);
  return written ? MUSTER_OK : kept_unwritten("population");
}

/* Whether walkers are on the routes of this file. */
static bool walk_here(const struct population *population) {
  const population_observers *observers = &population->observers;
  for (uint32_t i = 0; i < observers->count; i++) {
    const population_walker *walker = &observers->walkers[i];
    if (walker->world >= population->rows.world_count) return false;
    if (walker->near >= observers->starts[walker->world + 1] - observers->starts[walker->world]) return false;
  }
  return true;
}

static muster_result population_resume(void *instance, muster_world *world, const void *bytes, size_t count) {
  struct population *population = instance;
  population_observers *observers = &population->observers;
  kept_bytes left = {.bytes = bytes, .count = count};
  kept_population kept;
  uint32_t state_bytes;
  if (!register_types(population, world, &state_bytes)) return MUSTER_E_FULL;
  kept_take(&left, &kept, sizeof kept);
  if (kept.version != KEPT_VERSION || kept.rows != population_number_of(population) || kept.walkers != observers->count)
    return kept_refused("population");
  kept_take(&left, observers->walkers, observers->count * sizeof *observers->walkers);
  if (!kept_is_read(&left) || !walk_here(population)) return kept_refused("population");
  observers->last_now_ns = kept.last_now_ns;
  observers->goals = kept.goals;
  observers->walked_m = kept.walked_m;
  return MUSTER_OK;
}

/* ---------------------------------------------------------------------------------------------------------- report */

/* Agents of each family, and their sums. */
static void count(const struct population *population, const muster_world *world, uint32_t *agents,
                  population_tally *tally) {
  muster_agent_info info = muster_default_agent_info();
  for (muster_agent agent = muster_agent_next(world, (muster_agent){0}); !muster_agent_is_null(agent);
       agent = muster_agent_next(world, agent)) {
    if (muster_agent_read(world, agent, &info)) continue;
    for (uint32_t i = 0; i < POPULATION_FAMILIES; i++) {
      if (population->types[i].index != info.type.index) continue;
      agents[i]++;
      roles[i]->tally(info.state, tally);
    }
  }
}

static void population_report(void *instance, const muster_world *world, muster_module_emit emit, void *emit_user) {
  const struct population *population = instance;
  static const char *const names[POPULATION_FAMILIES] = {"routine_agents", "steering_agents", "sensing_agents",
                                                         "paths_agents"};
  uint32_t agents[POPULATION_FAMILIES] = {0}, worlds = 0;
  population_tally tally = {0};
  count(population, world, agents, &tally);
  for (uint32_t i = 0; i < population->rows.world_count; i++) worlds += population->world_agents[i] > 0;
  for (uint32_t i = 0; i < POPULATION_FAMILIES; i++) emit(names[i], agents[i], emit_user);
  emit("partitions", worlds, emit_user);
  emit("observers", population->observers.count, emit_user);
  emit("observers_walked_m", population->observers.walked_m, emit_user);
  emit("patrolled_m", tally.patrolled_m, emit_user);
  emit("wandered_m", tally.wandered_m, emit_user);
  emit("activities_changed", (double)tally.activities, emit_user);
  emit("choices_changed", (double)tally.choices, emit_user);
  emit("paths_found", (double)tally.paths_found, emit_user);
  emit("paths_missed", (double)tally.paths_missed, emit_user);
  emit("nodes_expanded", (double)tally.nodes_expanded, emit_user);
}

const muster_module *muster_module_population(void) {
  static const muster_module module = {
      .size = (uint32_t)sizeof module,
      .abi = MUSTER_MODULE_ABI,
      .name = "population",
      .summary = "the NPCs of a CSV file of spawns, each with the behaviour of its kind",
      .open = population_open,
      .populate = population_populate,
      .before_frame = population_before_frame,
      .report = population_report,
      .close = population_close,
      .save = population_save,
      .resume = population_resume,
  };
  return &module;
}

/* population.c - the module `population`: the NPCs of a CSV file, each with the behaviour of its kind. */
#include "scenarios/population_observers.h"
#include "scenarios/population_roles.h"
#include "scenarios/scenarios.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const population_role *const population_roles[POPULATION_FAMILIES] = {&population_routine, &population_steering,
                                                                      &population_sensing, &population_paths};

struct population {
  scaffold base;
  population_rows rows;
  uint8_t *families; /* of each kind */
  population_observers observers;
  muster_type types[POPULATION_FAMILIES];
  uint64_t rows_number; /* a hash of all rows and the seed */
};

/* ------------------------------------------------------------------------------------------------------------ open */

static void population_release(void *instance) {
  struct population *population = instance;
  population_rows_free(&population->rows);
  population_observers_free(&population->observers);
  free(population->families);
}

static muster_result population_check(const muster_module_options *options) {
  if (!options->path || !*options->path)
    return muster_module_fail(MUSTER_E_ARGUMENT, "population: no file; name a CSV file of NPC spawns");
  if (options->up_axis != 'y' && options->up_axis != 'z')
    return muster_module_fail(MUSTER_E_ARGUMENT, "population: the axis that is up must be 'y' or 'z'");
  if (options->observers > POPULATION_OBSERVERS_MAX)
    return muster_module_fail(MUSTER_E_ARGUMENT, "population: %" PRIu32 " observers, but at most %" PRIu32,
                              options->observers, POPULATION_OBSERVERS_MAX);
  return MUSTER_OK;
}

/* A hash: another file, or another seed, gives another number. */
static uint64_t population_number_of(const struct population *population) {
  uint64_t number = scaffold_random(population->base.seed) + population->rows.count;
  for (uint32_t i = 0; i < population->rows.count; i++) {
    const population_row *row = &population->rows.rows[i];
    uint64_t bits[2];
    memcpy(bits, &row->position, sizeof bits); /* x and y */
    number = scaffold_random(number ^ bits[0]) + scaffold_random(bits[1] + row->kind) + row->world;
  }
  return number;
}

static muster_result population_prepare(void *instance) {
  struct population *population = instance;
  scaffold *base = &population->base;
  const muster_module_options *options = base->options;
  population_rows *rows = &population->rows;
  muster_result result = population_file_read(options->path, options->up_axis, rows);
  if (result) return result;
  if (options->agents > rows->count)
    return muster_module_fail(MUSTER_E_ARGUMENT, "%s: the file has %" PRIu32 " rows, too few for %" PRIu32 " agents",
                              options->path, rows->count, options->agents);
  population_thin(rows, options->agents, base->seed);
  population->families = calloc(rows->kind_count, sizeof *population->families);
  if (!population->families || !population_cast(rows, base->seed, population->families) ||
      !population_observers_begin(&population->observers, rows, options->observers, base->seed))
    return muster_module_fail(MUSTER_E_MEMORY, "population: out of memory");
  population->rows_number = population_number_of(population);
  base->needs.agents = base->needs.agents_max = rows->count;
  base->needs.observers = population->observers.count;
  return MUSTER_OK;
}

/* -------------------------------------------------------------------------------------------------------- populate */

static muster_result population_join(void *instance, muster_world *world, uint32_t family) {
  struct population *population = instance;
  const population_role *role = population_roles[family];
  muster_type_def def =
      scaffold_type(role->name, role->atoms, role->atom_count, role->state_bytes, role->period_ns, role->period_max_ns);
  def.published_bytes = (uint32_t)sizeof(population_public);
  def.models.cost_ns = role->model_cost_ns;
  def.act = MUSTER_ACT_REGION; /* no role of today has an action: all that an agent does it does to itself */
  return scaffold_register(world, &def, &population->types[family]);
}

static muster_result spawn_row(const struct population *population, muster_world *world, uint32_t number) {
  const population_row *row = &population->rows.rows[number];
  uint64_t kind = population->rows.kinds[row->kind], seed = population->base.seed;
  population_family family = population->families[row->kind];
  population_start start = {row->position, row->speed_mps > 0 ? row->speed_mps : POPULATION_WALKING_MPS, row->patrol,
                            scaffold_random(seed ^ scaffold_random(number))};
  population_public public = {.strength = (float)scaffold_random_share(kind + seed)};
  union {
    population_circuit circuit;
    population_routine_state routine;
    population_steering_state steering;
    population_sensing_state sensing;
    population_paths_state paths;
  } state;
  memset(&state, 0, population_roles[family]->state_bytes);
  population_circuit_begin(&state.circuit, &start);
  population_roles[family]->begin(&state, &start);
  muster_agent_def def = scaffold_agent(population->types[family], row->position, &state);
  def.partition = row->world;
  def.published = &public;
  return scaffold_spawn(world, &def, NULL);
}

/* Where the library refuses, it has already said why. */
static muster_result population_spawn(void *instance, muster_world *world) {
  struct population *population = instance;
  muster_result result = MUSTER_OK;
  for (uint32_t i = 0; !result && i < population->rows.count; i++) result = spawn_row(population, world, i);
  return result || population_observers_enter(&population->observers, world) ? result : MUSTER_E_FULL;
}

static void population_frame(void *instance, muster_world *world) {
  struct population *population = instance;
  population_observers_walk(&population->observers, &population->rows, world, population->base.now_ns);
}

/* ------------------------------------------------------------------------------------------------------------ keep */

/* What a snapshot keeps besides the agents; the walkers follow. */
static const scaffold_field kept[] = {SCAFFOLD_SAME(struct population, rows_number),
                                      SCAFFOLD_SAME(scaffold, version),
                                      SCAFFOLD_SAME(struct population, observers.count),
                                      SCAFFOLD_KEPT(struct population, observers.last_now_ns),
                                      SCAFFOLD_KEPT(struct population, observers.goals),
                                      SCAFFOLD_KEPT(struct population, observers.walked_m),
                                      {0}};

static const scaffold_array arrays[] = {SCAFFOLD_KEPT_ARRAY(struct population, observers.walkers, observers.count),
                                        {0}};

/* Whether walkers are on the routes of this file. */
static bool walk_here(void *instance) {
  const struct population *population = instance;
  const population_observers *observers = &population->observers;
  for (uint32_t i = 0; i < observers->count; i++) {
    const population_walker *walker = &observers->walkers[i];
    if (walker->world >= population->rows.world_count) return false;
    if (walker->near >= observers->starts[walker->world + 1] - observers->starts[walker->world]) return false;
  }
  return true;
}

/* ---------------------------------------------------------------------------------------------------------- report */

#define TYPE(family) offsetof(struct population, types[POPULATION_##family])
#define AGENTS(name, family)                                                                                           \
  { name, SCAFFOLD_FROM_AGENTS, SCAFFOLD_DOUBLE, 0, TYPE(family) }
#define SUM(name, family, state, member) SCAFFOLD_LINE(name, SUM, population_##state##_state, member, TYPE(family))

static const scaffold_line lines[] = {AGENTS("routine_agents", ROUTINE),
                                      AGENTS("steering_agents", STEERING),
                                      AGENTS("sensing_agents", SENSING),
                                      AGENTS("paths_agents", PATHS),
                                      SCAFFOLD_OWN("partitions", struct population, observers.worlds),
                                      SCAFFOLD_OWN("observers", struct population, observers.count),
                                      SCAFFOLD_OWN("observers_walked_m", struct population, observers.walked_m),
                                      SCAFFOLD_SUM("patrolled_m", population_circuit, walked_m),
                                      SUM("wandered_m", STEERING, steering, wandered_m),
                                      SUM("", SENSING, sensing, wandered_m),
                                      SUM("", PATHS, paths, wandered_m),
                                      SUM("activities_changed", ROUTINE, routine, activities),
                                      SUM("choices_changed", SENSING, sensing, choices),
                                      SUM("paths_found", PATHS, paths, paths_found),
                                      SUM("paths_missed", PATHS, paths, paths_missed),
                                      SUM("nodes_expanded", PATHS, paths, nodes_expanded),
                                      {0}};

static const scaffold_plan plan = {.name = "population",
                                   .bytes = sizeof(struct population),
                                   .agents_max = UINT32_MAX,
                                   .observers_max = UINT32_MAX,
                                   .cell_m = 16,
                                   .takes_file = true,
                                   .arrays = arrays,
                                   .kept = kept,
                                   .lines = lines,
                                   .check = population_check,
                                   .prepare = population_prepare,
                                   .release = population_release,
                                   .kinds = POPULATION_FAMILIES,
                                   .join_one = population_join,
                                   .spawn = population_spawn,
                                   .frame = population_frame,
                                   .resumed = walk_here};

SCAFFOLD_MODULE(population, plan, "population", "the NPCs of a CSV file of spawns, each with the behaviour of its kind",
                SCAFFOLD_FRAMES, SCAFFOLD_SAVES)

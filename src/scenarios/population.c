/* population.c - the module `population`: the NPCs of a CSV file, each with the behaviour of its kind. */
#include "scenarios/population_file.h"
#include "scenarios/population_observers.h"
#include "scenarios/population_roles.h"
#include "scenarios/scaffold.h"
#include "scenarios/scenarios.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const population_role *const roles[POPULATION_FAMILIES] = {&population_routine, &population_steering,
                                                                  &population_sensing, &population_paths};

struct population {
  scaffold base;
  population_rows rows;
  uint8_t *families;      /* of each kind */
  uint32_t *world_agents; /* rows of each world */
  population_observers observers;
  muster_type types[POPULATION_FAMILIES];
  uint32_t state_bytes_max;
  uint64_t rows_number; /* a hash of all rows and the seed */
};

/* ------------------------------------------------------------------------------------------------------------ open */

static void population_release(void *instance) {
  struct population *population = instance;
  population_rows_free(&population->rows);
  population_observers_free(&population->observers);
  free(population->families);
  free(population->world_agents);
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
  return population_cast(rows, population->base.seed, population->families) &&
         population_observers_begin(&population->observers, rows, population->world_agents, observers,
                                    population->base.seed);
}

/* A hash: another file, or another seed, gives another number. */
static uint64_t population_number_of(const struct population *population) {
  uint64_t number = scaffold_random(population->base.seed) + population->rows.count;
  for (uint32_t i = 0; i < population->rows.count; i++) {
    const population_row *row = &population->rows.rows[i];
    uint64_t bits[2];
    memcpy(&bits[0], &row->position.x, sizeof bits[0]);
    memcpy(&bits[1], &row->position.y, sizeof bits[1]);
    number = scaffold_random(number ^ bits[0]) + scaffold_random(bits[1] + row->kind) + row->world;
  }
  return number;
}

static muster_result population_make(void *instance, const muster_module_options *options) {
  struct population *population = instance;
  muster_result result = population_read_rows(population, options);
  if (result) return result;
  if (!population_prepare(population, options->observers))
    return muster_module_fail(MUSTER_E_MEMORY, "population: out of memory");
  population->rows_number = population_number_of(population);
  population->base.needs.agents = population->base.needs.agents_max = population->rows.count;
  population->base.needs.observers = population->observers.count;
  return MUSTER_OK;
}

/* -------------------------------------------------------------------------------------------------------- populate */

static muster_result population_join(void *instance, muster_world *world, uint32_t family) {
  struct population *population = instance;
  muster_type_def def = roles[family]->define();
  if (def.state_bytes > population->state_bytes_max) population->state_bytes_max = def.state_bytes;
  return scaffold_register(world, &def, &population->types[family]);
}

static muster_result spawn_row(const struct population *population, muster_world *world, uint32_t number, void *state) {
  const population_row *row = &population->rows.rows[number];
  uint64_t kind = population->rows.kinds[row->kind], seed = population->base.seed;
  population_family family = population->families[row->kind];
  population_start start = {row->position, row->speed_mps, row->patrol,
                            scaffold_random(seed ^ scaffold_random(number))};
  population_public public = {.strength = (float)scaffold_random_share(kind + seed)};
  memset(state, 0, population->state_bytes_max);
  roles[family]->begin(state, &start);
  muster_agent_def def = scaffold_agent(population->types[family], row->position, state);
  def.partition = row->world;
  def.published = &public;
  return scaffold_spawn(world, &def, NULL);
}

/* Where the library refuses, it has already said why. */
static muster_result population_spawn(void *instance, muster_world *world) {
  struct population *population = instance;
  muster_result result = MUSTER_OK;
  void *state = malloc(population->state_bytes_max);
  if (!state) return muster_module_fail(MUSTER_E_MEMORY, "population: out of memory");
  for (uint32_t i = 0; !result && i < population->rows.count; i++) result = spawn_row(population, world, i, state);
  free(state);
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

/* Agents of each family, and their sums. */
typedef struct census {
  uint32_t agents[POPULATION_FAMILIES], worlds;
  population_tally tally;
} census;

static void population_count(const scaffold_look *look) {
  const struct population *population = look->instance;
  census *sums = look->sums;
  for (uint32_t i = 0; i < POPULATION_FAMILIES; i++) {
    if (population->types[i].index != look->info.type.index) continue;
    sums->agents[i]++;
    roles[i]->tally(look->info.state, &sums->tally);
  }
}

static void population_conclude(const scaffold_look *look) {
  const struct population *population = look->instance;
  census *sums = look->sums;
  for (uint32_t i = 0; i < population->rows.world_count; i++) sums->worlds += population->world_agents[i] > 0;
}

static const scaffold_line lines[] = {SCAFFOLD_FOUND("routine_agents", census, agents[POPULATION_ROUTINE]),
                                      SCAFFOLD_FOUND("steering_agents", census, agents[POPULATION_STEERING]),
                                      SCAFFOLD_FOUND("sensing_agents", census, agents[POPULATION_SENSING]),
                                      SCAFFOLD_FOUND("paths_agents", census, agents[POPULATION_PATHS]),
                                      SCAFFOLD_FOUND("partitions", census, worlds),
                                      SCAFFOLD_OWN("observers", struct population, observers.count),
                                      SCAFFOLD_OWN("observers_walked_m", struct population, observers.walked_m),
                                      SCAFFOLD_FOUND("patrolled_m", census, tally.patrolled_m),
                                      SCAFFOLD_FOUND("wandered_m", census, tally.wandered_m),
                                      SCAFFOLD_FOUND("activities_changed", census, tally.activities),
                                      SCAFFOLD_FOUND("choices_changed", census, tally.choices),
                                      SCAFFOLD_FOUND("paths_found", census, tally.paths_found),
                                      SCAFFOLD_FOUND("paths_missed", census, tally.paths_missed),
                                      SCAFFOLD_FOUND("nodes_expanded", census, tally.nodes_expanded),
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
                                   .prepare = population_make,
                                   .release = population_release,
                                   .kinds = POPULATION_FAMILIES,
                                   .join_one = population_join,
                                   .spawn = population_spawn,
                                   .frame = population_frame,
                                   .resumed = walk_here,
                                   .count = population_count,
                                   .conclude = population_conclude};

SCAFFOLD_MODULE(population, plan, "population", "the NPCs of a CSV file of spawns, each with the behaviour of its kind",
                SCAFFOLD_FRAMES, SCAFFOLD_SAVES)

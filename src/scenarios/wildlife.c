#include "scenarios/wildlife.h"

#include "scenarios/scenarios.h"

#include <math.h>
#include <stdlib.h>

enum { AGENTS_DEFAULT = 10000, AGENTS_MAX = 10000000, OBSERVERS_MAX = 65536, HERD = 5 };

static const double area_each_m2 = 88.0; /* the density of every desert, whatever its population */
static const float query_m = 15.0f;      /* the usual radius of a perception */
static const double camera_mps = 6.0;

/* ------------------------------------------------------------------------------------------------------- the ground */

/* A number 0..1 that belongs to a corner of the lattice. */
static float corner(uint64_t seed, int64_t x, int64_t y) {
  uint64_t key = seed ^ ((uint64_t)x * 0x9e3779b97f4a7c15u) ^ ((uint64_t)y * 0xc2b2ae3d27d4eb4fu);
  return wildlife_share_of(key ^ (key >> 29), 0);
}

static float smooth(float share) {
  return share * share * (3.0f - 2.0f * share);
}

float wildlife_richness(const wildlife *desert, double x, double y) {
  static const double lattice_m = 20.0;
  double column = floor(x / lattice_m), row = floor(y / lattice_m);
  float across = smooth((float)(x / lattice_m - column)), along = smooth((float)(y / lattice_m - row));
  int64_t i = (int64_t)column, j = (int64_t)row;
  float south = corner(desert->seed, i, j), north = corner(desert->seed, i, j + 1);
  south += (corner(desert->seed, i + 1, j) - south) * across;
  north += (corner(desert->seed, i + 1, j + 1) - north) * across;
  return 0.35f + 0.65f * (south + (north - south) * along);
}

/* -------------------------------------------------------------------------------------------------------------- open
 */

static muster_result wildlife_check_options(const muster_module_options *options) {
  if (!options || options->size == 0)
    return muster_module_fail(MUSTER_E_NOT_INITIALISED,
                              "wildlife: the options were not set by muster_default_module_options()");
  if (options->path)
    return muster_module_fail(MUSTER_E_ARGUMENT, "wildlife takes no file (%s); use 'population' for one",
                              options->path);
  if (options->agents > AGENTS_MAX)
    return muster_module_fail(MUSTER_E_ARGUMENT, "wildlife: %u agents are more than %d", options->agents, AGENTS_MAX);
  if (options->observers > OBSERVERS_MAX)
    return muster_module_fail(MUSTER_E_ARGUMENT, "wildlife: %u observers are more than %d", options->observers,
                              OBSERVERS_MAX);
  return MUSTER_OK;
}

static muster_result open_desert(const muster_module_options *options, void **instance, muster_module_needs *needs) {
  muster_result result = wildlife_check_options(options);
  if (result) return result;
  wildlife *desert = calloc(1, sizeof *desert);
  if (!desert) return muster_module_fail(MUSTER_E_MEMORY, "wildlife: no memory");
  desert->seed = options->seed;
  desert->agents = options->agents ? options->agents : AGENTS_DEFAULT;
  desert->observer_count = options->observers ? options->observers : 1;
  desert->half_m = 0.5 * sqrt(area_each_m2 * desert->agents);
  desert->observers = calloc(desert->observer_count, sizeof *desert->observers);
  if (!desert->observers) {
    free(desert);
    return muster_module_fail(MUSTER_E_MEMORY, "wildlife: no memory for %u observers", options->observers);
  }
  *instance = desert;
  *needs = (muster_module_needs){.size = (uint32_t)sizeof *needs,
                                 .agents = desert->agents,
                                 .agents_max = desert->agents + desert->agents / 2 + 64,
                                 .observers = desert->observer_count,
                                 .cell_m = query_m};
  return MUSTER_OK;
}

static void close_desert(void *instance) {
  wildlife *desert = instance;
  free(desert->observers);
  free(desert);
}

/* ---------------------------------------------------------------------------------------------------------- populate
 */

/* Species follow one another so that each has its share of every stretch of agents. */
static wildlife_species next_species(double credit[WILDLIFE_SPECIES]) {
  wildlife_species best = WILDLIFE_HARE;
  for (uint32_t species = 0; species < WILDLIFE_SPECIES; species++) {
    credit[species] += wildlife_profile_of((wildlife_species)species)->share;
    if (credit[species] > credit[best]) best = (wildlife_species)species;
  }
  credit[best] -= 1.0;
  return best;
}

static double spread(const wildlife *desert, uint64_t random, uint32_t which) {
  return desert->half_m * (2.0 * (double)wildlife_share_of(random, which) - 1.0);
}

/* The number-th of a species: javelinas stand in herds, the others anywhere. */
static muster_position first_place(const wildlife *desert, wildlife_species species, uint32_t number) {
  uint64_t own = (desert->seed * WILDLIFE_SPECIES + species) * 0x9e3779b97f4a7c15u;
  uint64_t random = own + number * 64ull;
  if (species != WILDLIFE_JAVELINA)
    return (muster_position){spread(desert, random, 10), spread(desert, random, 11), 0.0};
  uint64_t herd = own + (uint64_t)(number / HERD) * 64ull * HERD;
  muster_position place = {spread(desert, herd, 12) + 8.0 * (double)wildlife_share_of(random, 10),
                           spread(desert, herd, 13) + 8.0 * (double)wildlife_share_of(random, 11), 0.0};
  wildlife_fence(desert, &place);
  return place;
}

static muster_result spawn_first(wildlife *desert, muster_world *world, wildlife_species species, uint32_t number) {
  wildlife_animal animal;
  wildlife_face face;
  muster_agent_def def = muster_default_agent_def();
  uint64_t random = (desert->seed * WILDLIFE_SPECIES + species) * 0x9e3779b97f4a7c15u + number * 64ull;
  def.type = desert->kinds[species].type;
  def.position = first_place(desert, species, number);
  wildlife_make(&desert->kinds[species], true, random, def.position, &animal, &face);
  def.state = &animal;
  def.published = &face;
  return muster_agent_is_null(muster_agent_spawn(world, &def)) ? MUSTER_E_FULL : MUSTER_OK;
}

/* The place of a camera: it follows its own endless path across the whole desert, at a walker's pace. */
static muster_position camera_place(const wildlife *desert, uint32_t camera, double seconds) {
  uint64_t random = (desert->seed + 1) * 0xd1b54a32d192ed03u + camera * 64ull;
  double rate = camera_mps / (desert->half_m * 1.5);
  double x = sin(seconds * rate + 6.28 * (double)wildlife_share_of(random, 0));
  double y = sin(seconds * rate * 0.73 + 6.28 * (double)wildlife_share_of(random, 1));
  return (muster_position){0.95 * desert->half_m * x, 0.95 * desert->half_m * y, 0.0};
}

static muster_result add_cameras(wildlife *desert, muster_world *world) {
  for (uint32_t i = 0; i < desert->observer_count; i++) {
    muster_observer_def def = muster_default_observer_def();
    def.position = camera_place(desert, i, 0.0);
    def.near_m = 20.0f;
    def.far_m = 160.0f;
    desert->observers[i] = muster_observer_add(world, &def);
    if (desert->observers[i].generation == 0) return MUSTER_E_FULL;
  }
  return MUSTER_OK;
}

static muster_result wildlife_populate(void *instance, muster_world *world) {
  wildlife *desert = instance;
  double credit[WILDLIFE_SPECIES] = {0};
  uint32_t numbers[WILDLIFE_SPECIES] = {0};
  muster_result result = wildlife_register(desert, world);
  for (uint32_t i = 0; i < desert->agents && !result; i++) {
    wildlife_species species = next_species(credit);
    result = spawn_first(desert, world, species, numbers[species]++);
  }
  return result ? result : add_cameras(desert, world);
}

/* A grown animal, as those of the first population are. Worlds may ask from several threads. */
static muster_result wildlife_complete(void *instance, const muster_world *world, muster_agent_def *def) {
  static _Thread_local wildlife_animal animal;
  static _Thread_local wildlife_face face;
  wildlife *desert = instance;
  (void)world;
  for (uint32_t species = 0; species < WILDLIFE_SPECIES; species++) {
    if (desert->kinds[species].type.index != def->type.index) continue;
    uint64_t place =
        (uint64_t)(int64_t)(def->position.x * 1000.0) * 31u + (uint64_t)(int64_t)(def->position.y * 1000.0);
    wildlife_make(&desert->kinds[species], true, place * 0x9e3779b97f4a7c15u, def->position, &animal, &face);
    def->state = &animal;
    def->published = &face;
    return MUSTER_OK;
  }
  return muster_module_fail(MUSTER_E_ARGUMENT, "wildlife: no animal is of that type");
}

static void wildlife_before_frame(void *instance, muster_world *world, uint64_t sim_now_ns) {
  wildlife *desert = instance;
  if (!desert->begun) desert->begin_ns = sim_now_ns;
  desert->begun = true;
  desert->now_ns = sim_now_ns;
  double seconds = (double)(sim_now_ns - desert->begin_ns) * 1e-9;
  for (uint32_t i = 0; i < desert->observer_count; i++)
    muster_observer_move(world, desert->observers[i], camera_place(desert, i, seconds));
}

const muster_module *muster_module_wildlife(void) {
  static const muster_module module = {.size = (uint32_t)sizeof module,
                                       .abi = MUSTER_MODULE_ABI,
                                       .name = "wildlife",
                                       .summary = "hares, javelinas, groundhogs and bobcats in a desert with a camera",
                                       .open = open_desert,
                                       .populate = wildlife_populate,
                                       .before_frame = wildlife_before_frame,
                                       .report = wildlife_report,
                                       .close = close_desert,
                                       .complete = wildlife_complete,
                                       .save = wildlife_save,
                                       .resume = wildlife_resume};
  return &module;
}

#include "scenarios/wildlife.h"

#include "scenarios/scenarios.h"

#include <math.h>

enum { HERD = 5 };

static const double area_each_m2 = 88.0; /* the density of every desert, whatever its population */
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
  float south = corner(desert->base.seed, i, j), north = corner(desert->base.seed, i, j + 1);
  south += (corner(desert->base.seed, i + 1, j) - south) * across;
  north += (corner(desert->base.seed, i + 1, j + 1) - north) * across;
  return 0.35f + 0.65f * (south + (north - south) * along);
}

static muster_result wildlife_prepare(void *instance, const muster_module_options *options) {
  wildlife *desert = instance;
  (void)options;
  desert->half_m = 0.5 * sqrt(area_each_m2 * desert->base.agents);
  desert->base.needs.agents_max = desert->base.agents + desert->base.agents / 2 + 64;
  return MUSTER_OK;
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
  uint64_t own = (desert->base.seed * WILDLIFE_SPECIES + species) * 0x9e3779b97f4a7c15u;
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
  uint64_t random = (desert->base.seed * WILDLIFE_SPECIES + species) * 0x9e3779b97f4a7c15u + number * 64ull;
  muster_agent_def def = scaffold_agent(desert->kinds[species].type, first_place(desert, species, number), &animal);
  wildlife_make(&desert->kinds[species], true, random, def.position, &animal, &face);
  def.published = &face;
  return scaffold_spawn(world, &def, NULL);
}

/* The place of a camera: it follows its own endless path across the whole desert, at a walker's pace. */
static muster_position camera_place(void *instance, uint32_t camera, double seconds) {
  const wildlife *desert = instance;
  uint64_t random = (desert->base.seed + 1) * 0xd1b54a32d192ed03u + camera * 64ull;
  double rate = camera_mps / (desert->half_m * 1.5);
  double x = sin(seconds * rate + 6.28 * (double)wildlife_share_of(random, 0));
  double y = sin(seconds * rate * 0.73 + 6.28 * (double)wildlife_share_of(random, 1));
  return (muster_position){0.95 * desert->half_m * x, 0.95 * desert->half_m * y, 0.0};
}

static muster_result wildlife_spawn(void *instance, muster_world *world) {
  wildlife *desert = instance;
  double credit[WILDLIFE_SPECIES] = {0};
  uint32_t numbers[WILDLIFE_SPECIES] = {0};
  muster_result result = MUSTER_OK;
  for (uint32_t i = 0; i < desert->base.agents && !result; i++) {
    wildlife_species species = next_species(credit);
    result = spawn_first(desert, world, species, numbers[species]++);
  }
  return result;
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

/* ---------------------------------------------------------------------------------------------------------- the plan
 */

/* What a snapshot keeps of a desert besides its animals; the cameras follow. */
static const scaffold_field kept[] = {SCAFFOLD_SAME_WORLD,
                                      SCAFFOLD_FLAG(scaffold, begun),
                                      SCAFFOLD_KEPT(scaffold, begin_ns),
                                      SCAFFOLD_KEPT(scaffold, now_ns),
                                      SCAFFOLD_KEPT(wildlife, tally),
                                      {0}};

static const scaffold_array arrays[] = {SCAFFOLD_KEPT_OBSERVERS, {0}};

static const scaffold_plan plan = {.name = "wildlife",
                                   .bytes = sizeof(wildlife),
                                   .agents_default = 10000,
                                   .agents_max = 10000000,
                                   .observers_default = 1,
                                   .observers_max = 65536,
                                   .cell_m = 15.0f, /* the usual radius of a perception */
                                   .near_m = 20.0f,
                                   .far_m = 160.0f,
                                   .one_by_one = true,
                                   .arrays = arrays,
                                   .kept = kept,
                                   .lines = wildlife_lines,
                                   .prepare = wildlife_prepare,
                                   .kinds = WILDLIFE_SPECIES,
                                   .join_one = wildlife_register,
                                   .spawn = wildlife_spawn,
                                   .place = camera_place,
                                   .count = wildlife_count,
                                   .conclude = wildlife_conclude};

SCAFFOLD_MODULE(wildlife, plan, "wildlife", "hares, javelinas, groundhogs and bobcats in a desert with a camera",
                SCAFFOLD_FRAMES, SCAFFOLD_SAVES, .complete = wildlife_complete)

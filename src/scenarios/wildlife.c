#include "scenarios/wildlife.h"

#include "scenarios/scenarios.h"

#include <muster/zone.h>
#include <stdio.h>

enum { HERD = 5 };

static const double area_each_m2 = 88.0; /* the density of every desert, whatever its population */
static const double camera_mps = 6.0;
static const double ground_most_m = 1e9;

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

static wildlife_ground ground_between(double x0, double y0, double x1, double y1) {
  return (wildlife_ground){0.5 * (x0 + x1), 0.5 * (y0 + y1), 0.5 * (x1 - x0), 0.5 * (y1 - y0)};
}

/* Reads the setting: nothing, or four numbers. */
static muster_result read_fence(wildlife *desert, const char *text) {
  double edges[4];
  int end = 0;
  if (!*text) return MUSTER_OK;
  desert->fenced = sscanf(text, "%lf %lf %lf %lf %n", &edges[0], &edges[1], &edges[2], &edges[3], &end) == 4 &&
                   !text[end] && edges[0] < edges[2] && edges[1] < edges[3];
  for (uint32_t i = 0; desert->fenced && i < 4; i++) desert->fenced = fabs(edges[i]) <= ground_most_m;
  if (!desert->fenced)
    return muster_module_fail(MUSTER_E_ARGUMENT,
                              "wildlife: ground is '%s'; give X0 Y0 X1 Y1 in metres, with X0 < X1 and Y0 < Y1", text);
  desert->fence = ground_between(edges[0], edges[1], edges[2], edges[3]);
  return MUSTER_OK;
}

static muster_result wildlife_prepare(void *instance) {
  wildlife *desert = instance;
  double half_m = 0.5 * sqrt(area_each_m2 * desert->base.agents);
  desert->fence = (wildlife_ground){0.0, 0.0, half_m, half_m};
  desert->eternal = muster_module_number(desert->base.options, "eternal", 0.0) != 0.0;
  desert->base.needs.agents_max = desert->base.agents + desert->base.agents / 2 + 64;
  return read_fence(desert, muster_module_text(desert->base.options, "ground", ""));
}

/* A zone without a fence that is said would be left by its animals for where no zone is. */
static muster_result wildlife_join(void *instance, muster_world *world) {
  wildlife *desert = instance;
  muster_zone_def zone = {0};
  desert->own = desert->fence;
  if (muster_zone_read(world, &zone) != MUSTER_OK) return MUSTER_OK;
  desert->zone = zone.number;
  desert->own = ground_between(zone.x_min, zone.y_min, zone.x_max, zone.y_max);
  if (!desert->fenced) desert->fence = desert->own;
  return MUSTER_OK;
}

/* --------------------------------------------------------------------------------------------------------- populate */

/* Species follow one another so that each has its share of every stretch of agents. */
static wildlife_species next_species(double credit[WILDLIFE_SPECIES]) {
  wildlife_species best = WILDLIFE_HARE;
  for (uint32_t species = 0; species < WILDLIFE_SPECIES; species++) {
    credit[species] += wildlife_profiles[species].share;
    if (credit[species] > credit[best]) best = (wildlife_species)species;
  }
  credit[best] -= 1.0;
  return best;
}

static muster_position anywhere(const wildlife *desert, uint64_t random, uint32_t which) {
  const wildlife_ground *own = &desert->own;
  double across = (double)wildlife_share_of(random, which), along = (double)wildlife_share_of(random, which + 1);
  return (muster_position){own->x + own->half_x * (2.0 * across - 1.0), own->y + own->half_y * (2.0 * along - 1.0), 0};
}

/* Javelinas stand in herds, the others anywhere. */
static muster_result wildlife_spawn(void *instance, muster_world *world, uint32_t i) {
  wildlife *desert = instance;
  wildlife_species species = next_species(desert->credit);
  uint32_t number = desert->spawned[species]++;
  wildlife_animal animal;
  wildlife_face face;
  (void)i;
  uint64_t own = (desert->base.seed * WILDLIFE_SPECIES + species) * 0x9e3779b97f4a7c15u;
  own += (uint64_t)desert->zone << 40;
  uint64_t random = own + number * 64ull;
  muster_agent_def def = scaffold_agent(desert->kinds[species].type, anywhere(desert, random, 10), &animal);
  if (species == WILDLIFE_JAVELINA) {
    def.position = anywhere(desert, own + (uint64_t)(number / HERD) * 64ull * HERD, 12);
    def.position.x += 8.0 * (double)wildlife_share_of(random, 10);
    def.position.y += 8.0 * (double)wildlife_share_of(random, 11);
    wildlife_keep_in(&desert->own, &def.position);
  }
  wildlife_make(&desert->kinds[species], true, random, def.position, &animal, &face);
  def.published = &face;
  return scaffold_spawn(world, &def, NULL);
}

/* The place of a camera: it follows its own endless path all over its ground, at a walker's pace. */
static muster_position camera_place(void *instance, uint32_t camera, double seconds) {
  const wildlife *desert = instance;
  uint64_t random = (desert->base.seed + 1) * 0xd1b54a32d192ed03u + camera * 64ull;
  const wildlife_ground *own = &desert->own;
  double rate = camera_mps / (fmax(own->half_x, own->half_y) * 1.5);
  double x = sin(seconds * rate + 6.28 * (double)wildlife_share_of(random, 0));
  double y = sin(seconds * rate * 0.73 + 6.28 * (double)wildlife_share_of(random, 1));
  return (muster_position){own->x + 0.95 * own->half_x * x, own->y + 0.95 * own->half_y * y, 0.0};
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

/* ----------------------------------------------------------------------------------------------------------- report */

/* Sums over the living, and with the dead. */
typedef struct census {
  uint32_t moods[WILDLIFE_MOODS];
  uint32_t count, outside;
  double grazed_of[WILDLIFE_SPECIES], grazed, eaten, distance_m, speed_mps, energy;
  double side_m, births, deaths[WILDLIFE_FATES], mood_shares[WILDLIFE_MOODS];
} census;

static void wildlife_count(const scaffold_look *look) {
  const wildlife *desert = look->instance;
  const wildlife_animal *animal = look->info.state;
  const wildlife_face *face = look->info.published;
  census *sums = look->sums;
  sums->count++;
  sums->moods[face->mood]++;
  sums->outside += fabs(look->info.position.x - desert->fence.x) > desert->fence.half_x ||
                   fabs(look->info.position.y - desert->fence.y) > desert->fence.half_y;
  sums->grazed_of[face->species] += animal->grazed;
  sums->eaten += animal->eaten;
  sums->distance_m += animal->distance_m;
  sums->speed_mps += (double)animal->speed_mps;
  sums->energy += (double)animal->energy;
}

static void wildlife_conclude(const scaffold_look *look) {
  const wildlife *desert = look->instance;
  const wildlife_tally *tally = &desert->tally;
  census *sums = look->sums;
  double each = sums->count ? 1.0 / sums->count : 0.0;
  sums->side_m = 2.0 * desert->fence.half_x;
  for (uint32_t species = 0; species < WILDLIFE_SPECIES; species++) {
    sums->births += (double)tally->births[species];
    sums->grazed += scaffold_untallied(tally->grazed[species]) + sums->grazed_of[species];
    for (uint32_t fate = 0; fate < WILDLIFE_FATES; fate++) sums->deaths[fate] += (double)tally->deaths[species][fate];
  }
  sums->eaten += scaffold_untallied(tally->eaten);
  sums->distance_m += scaffold_untallied(tally->distance_m);
  sums->speed_mps *= each;
  sums->energy *= each;
  for (uint32_t mood = 0; mood < WILDLIFE_MOODS; mood++) sums->mood_shares[mood] = sums->moods[mood] * each;
}

#define SPECIES(plural, species)                                                                                       \
  SCAFFOLD_AGENTS_OF(plural, wildlife, kinds[species].type),                                                           \
      SCAFFOLD_OWN(plural "_born", wildlife, tally.births[species]),                                                   \
      SCAFFOLD_OWN(plural "_killed", wildlife, tally.deaths[species][WILDLIFE_KILLED]),                                \
      SCAFFOLD_OWN(plural "_starved", wildlife, tally.deaths[species][WILDLIFE_STARVED]),                              \
      SCAFFOLD_OWN(plural "_aged", wildlife, tally.deaths[species][WILDLIFE_AGED])
#define MOOD(name, mood) SCAFFOLD_FOUND("share_" name, census, mood_shares[mood])

static const scaffold_line lines[] = {SCAFFOLD_FOUND("side_m", census, side_m),
                                      SCAFFOLD_SECONDS("simulated_s"),
                                      SPECIES("hares", WILDLIFE_HARE),
                                      SPECIES("javelinas", WILDLIFE_JAVELINA),
                                      SPECIES("groundhogs", WILDLIFE_GROUNDHOG),
                                      SPECIES("bobcats", WILDLIFE_BOBCAT),
                                      SCAFFOLD_AGENTS("population"),
                                      SCAFFOLD_FOUND("outside", census, outside),
                                      SCAFFOLD_FOUND("births", census, births),
                                      SCAFFOLD_OWN("births_refused", wildlife, tally.births_refused),
                                      SCAFFOLD_OWN("strikes", wildlife, tally.strikes),
                                      SCAFFOLD_FOUND("kills", census, deaths[WILDLIFE_KILLED]),
                                      SCAFFOLD_FOUND("starved", census, deaths[WILDLIFE_STARVED]),
                                      SCAFFOLD_FOUND("aged", census, deaths[WILDLIFE_AGED]),
                                      SCAFFOLD_FOUND("grazed_energy", census, grazed),
                                      SCAFFOLD_FOUND("eaten_energy", census, eaten),
                                      SCAFFOLD_FOUND("distance_m", census, distance_m),
                                      SCAFFOLD_FOUND("mean_speed_mps", census, speed_mps),
                                      SCAFFOLD_FOUND("mean_energy", census, energy),
                                      MOOD("graze", WILDLIFE_GRAZE),
                                      MOOD("wander", WILDLIFE_WANDER),
                                      MOOD("rest", WILDLIFE_REST),
                                      MOOD("alert", WILDLIFE_ALERT),
                                      MOOD("flee", WILDLIFE_FLEE),
                                      MOOD("hide", WILDLIFE_HIDE),
                                      MOOD("prowl", WILDLIFE_PROWL),
                                      MOOD("chase", WILDLIFE_CHASE),
                                      MOOD("feed", WILDLIFE_FEED),
                                      {0}};

/* --------------------------------------------------------------------------------------------------------- the plan */

/* What a snapshot keeps of a desert besides its animals; the cameras follow. */
static const scaffold_field kept[] = {
    SCAFFOLD_SAME_WORLD, SCAFFOLD_FLAG(scaffold, begun), SCAFFOLD_KEPT_TIMES, SCAFFOLD_KEPT(wildlife, tally), {0}};

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
                                   SCAFFOLD_TALLY(wildlife, tally),
                                   .arrays = arrays,
                                   .kept = kept,
                                   .lines = lines,
                                   .prepare = wildlife_prepare,
                                   .kinds = WILDLIFE_SPECIES,
                                   .join = wildlife_join,
                                   .join_one = wildlife_register,
                                   .spawn_one = wildlife_spawn,
                                   .place = camera_place,
                                   .count = wildlife_count,
                                   .conclude = wildlife_conclude};

static const muster_module_setting settings[] = {
    {"ground", MUSTER_MODULE_TEXT, 0, 120, "",
     "X0 Y0 X1 Y1 in metres: the fence, around all zones together (default: around this world, or this zone)"},
    {"eternal", MUSTER_MODULE_SWITCH, 0, 1, "no", "yes: nobody is born and nobody dies, so that all can be counted"},
    {0},
};

SCAFFOLD_MODULE(wildlife, plan, "wildlife", "hares, javelinas, groundhogs and bobcats in a desert with a camera",
                SCAFFOLD_FRAMES, SCAFFOLD_SAVES, .complete = wildlife_complete, .settings = settings)

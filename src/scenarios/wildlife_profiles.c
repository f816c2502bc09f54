#include "scenarios/wildlife.h"

/* What all species but the bobcat have in common. */
#define GRAZER .sight_m = {15.0f, 13.0f, 11.0f}, .notices = {12, 8, 5}, .litter = 2

/* Lives are short, as a run is: a hare is born, grows up and dies of age in about three minutes. A species stands at
 * about its share of the population when deaths from bobcats, age and hunger balance births, which crowding slows. */
const wildlife_profile wildlife_profiles[WILDLIFE_SPECIES] = {
    [WILDLIFE_HARE] = {.name = "hare",
                       .share = 0.45,
                       .period_ns = 50000000u,
                       .period_max_ns = 1000000000u,
                       .elasticity = 1.0f,
                       GRAZER,
                       .walk_mps = 1.2f,
                       .run_mps = 10.0f,
                       .turn_rps = 4.0f,
                       .hunger = 0.010f,
                       .grazing = 0.060f,
                       .life_s = 180.0f,
                       .adult_s = 15.0f,
                       .gestation_s = 30.0f,
                       .birth_energy = 0.12f,
                       .crowding_max = 8.0f,
                       .flight_m = 9.0f,
                       .meal = 0.5f,
                       .caught = 0.5f},
    [WILDLIFE_JAVELINA] = {.name = "javelina",
                           .share = 0.25,
                           .period_ns = 66666667u,
                           .period_max_ns = 1500000000u,
                           .elasticity = 1.5f,
                           GRAZER,
                           .walk_mps = 1.0f,
                           .run_mps = 7.0f,
                           .turn_rps = 2.5f,
                           .hunger = 0.009f,
                           .grazing = 0.054f,
                           .life_s = 240.0f,
                           .adult_s = 25.0f,
                           .gestation_s = 35.0f,
                           .birth_energy = 0.15f,
                           .crowding_max = 7.5f,
                           .flight_m = 6.0f,
                           .meal = 0.9f,
                           .caught = 0.4f},
    [WILDLIFE_GROUNDHOG] = {.name = "groundhog",
                            .share = 0.22,
                            .period_ns = 100000000u,
                            .period_max_ns = 2000000000u,
                            .elasticity = 2.0f,
                            GRAZER,
                            .walk_mps = 0.7f,
                            .run_mps = 4.5f,
                            .turn_rps = 3.0f,
                            .hunger = 0.008f,
                            .grazing = 0.048f,
                            .life_s = 210.0f,
                            .adult_s = 20.0f,
                            .gestation_s = 35.0f,
                            .birth_energy = 0.12f,
                            .crowding_max = 3.5f,
                            .flight_m = 12.0f,
                            .meal = 0.4f,
                            .caught = 0.6f},
    [WILDLIFE_BOBCAT] = {.name = "bobcat",
                         .share = 0.08,
                         .period_ns = 33333333u,
                         .period_max_ns = 1000000000u,
                         .elasticity = 0.5f,
                         .sight_m = {26.0f, 22.0f, 18.0f},
                         .notices = {16, 10, 6},
                         .walk_mps = 1.6f,
                         .run_mps = 13.0f,
                         .turn_rps = 3.5f,
                         .hunger = 0.007f,
                         .life_s = 300.0f,
                         .adult_s = 30.0f,
                         .gestation_s = 45.0f,
                         .litter = 1,
                         .birth_energy = 0.2f,
                         .crowding_max = 1.1f},
};

float wildlife_odds(const wildlife_face *prey) {
  float odds = wildlife_profiles[prey->species].caught;
  return prey->species == WILDLIFE_JAVELINA ? odds / (1.0f + 0.5f * (float)prey->company) : odds;
}

float wildlife_share_of(uint64_t random, uint32_t which) {
  return muster_random_share(scaffold_scatter(random + which - 1));
}

void wildlife_make(const wildlife_kind *kind, bool grown_up, uint64_t random, muster_position place,
                   wildlife_animal *animal, wildlife_face *face) {
  const wildlife_profile *profile = kind->profile;
  float life_s = profile->life_s * (0.7f + 0.6f * wildlife_share_of(random, 0));
  *animal = (wildlife_animal){.energy = grown_up ? 0.45f + 0.4f * wildlife_share_of(random, 1) : 0.5f,
                              .vigour = 0.5f + 0.5f * wildlife_share_of(random, 2),
                              .age_s = grown_up ? life_s * wildlife_share_of(random, 3) : 0.0f,
                              .life_s = life_s,
                              .gestation = grown_up ? wildlife_share_of(random, 4) : 0.0f,
                              .crowding = 0.8f * profile->crowding_max,
                              .company = 11.0f,
                              .survey_s = 2.0f * wildlife_share_of(random, 5),
                              .heading = 6.2831853f * wildlife_share_of(random, 6),
                              .reach_m = INFINITY,
                              .home_x = (float)place.x,
                              .home_y = (float)place.y,
                              .mood = WILDLIFE_WANDER,
                              .mood_left_s = 3.0f * wildlife_share_of(random, 7)};
  animal->aim = animal->heading;
  animal->senses.threat_m = INFINITY;
  *face = (wildlife_face){.species = (uint8_t)kind->species, .mood = WILDLIFE_WANDER, .heading = animal->heading};
}

/* ------------------------------------------------------------------------------------------------------ agent types */

#ifdef MUSTER_PLANT_NOOP_UPDATE
/* A fault planted by a test that must notice it: updates that do nothing. */
static muster_atom_result do_nothing(muster_update *update) {
  (void)update;
  return MUSTER_ATOM_FINISH;
}
#define ATOM(function) do_nothing
#else
#define ATOM(function) function
#endif

enum { ATOM_SENSE = 0, ATOM_THINK, ATOM_LIVE, ATOM_ACT, ATOMS };

static const muster_atom atoms[ATOMS] = {
    [ATOM_SENSE] = {.run = ATOM(wildlife_sense), .role = MUSTER_ROLE_PERCEPTION, .model_ns = 650},
    [ATOM_THINK] = {.run = ATOM(wildlife_think), .role = MUSTER_ROLE_BEHAVIOUR, .model_ns = 150},
    [ATOM_LIVE] = {.run = ATOM(wildlife_live), .role = MUSTER_ROLE_BEHAVIOUR, .model_ns = 150},
    [ATOM_ACT] = {.run = ATOM(wildlife_act), .role = MUSTER_ROLE_ACTION, .model_ns = 500},
};

/* About what was measured where the world fits the caches: sensing costs what the crowd around makes it cost; the rest
 * varies little. */
static uint64_t wildlife_profiles_model_cost(const muster_cost_query *query, void *user) {
  static const float of_level[WILDLIFE_LEVELS] = {1.0f, 0.8f, 0.6f};
  const wildlife_kind *kind = user;
  float spread = wildlife_share_of(query->random, 0);
  float cost_ns = (float)atoms[query->atom].model_ns;
  if (query->atom != ATOM_SENSE) return (uint64_t)(cost_ns * (0.8f + 0.4f * spread));
  if (kind->species == WILDLIFE_BOBCAT) cost_ns *= 1.8f;
  return (uint64_t)(cost_ns * of_level[query->level] * (0.5f + spread));
}

muster_result wildlife_register(void *instance, muster_world *world, uint32_t species) {
  wildlife *desert = instance;
  const wildlife_profile *profile = &wildlife_profiles[species];
  wildlife_kind *kind = &desert->kinds[species];
  *kind = (wildlife_kind){.desert = desert, .profile = profile, .species = (wildlife_species)species};
  muster_type_def def =
      scaffold_type(profile->name, atoms, ATOMS, sizeof(wildlife_animal), profile->period_ns, profile->period_max_ns);
  def.published_bytes = (uint32_t)sizeof(wildlife_face);
  def.limit_ns = 200000u;
  def.elasticity = profile->elasticity;
  def.levels.count = WILDLIFE_LEVELS;
  def.levels.importance[0] = 0.5f;
  def.levels.importance[1] = 0.2f;
  def.spawns_max = profile->litter;
  def.act = MUSTER_ACT_REGION;
  def.user = kind;
  def.models.cost_ns = wildlife_profiles_model_cost;
  return scaffold_register(world, &def, &kind->type);
}

/* tan_wong.c - the world of Tan & Wong's experiments: 100 animats of four species, each with the same period bounds,
 * the same elasticity and the same cost unless others are chosen, walking about on a square field that has no edges.
 *
 * The model cost of an update, 0.373 ms with a little noise, is the one that explains the paper's three published
 * rows. An animat thinks by feeling the ground along rays around it and heading where it is smoothest. Observed
 * animats feel it finely, which takes about the modelled time on a core of 2.5 GHz; unobserved ones feel it coarsely,
 * which takes less than a microsecond, so that experiments under the virtual clock do not have to wait for real work.
 */
#include "scenarios/scaffold.h"
#include "scenarios/scenarios.h"

#include <math.h>
#include <string.h>

enum { FIELD_M = 200, COARSE_RAYS = 4, COARSE_STEPS = 4, FINE_RAYS = 128, FINE_STEPS = 256 };

enum { COST_NS = 373000, NOISE_SHARE = 50 /* +- 2 percent */ };

const tan_wong_species tan_wong_ordinary = {
    .cost_ns = COST_NS, .period_ns = 33333333, .period_max_ns = 80000000, .elasticity = 1.0f};
static const double field_m = FIELD_M, speed_m_per_s = 2.0, sight_m = 20.0;
static const double turn_rad = 6.283185307179586;

/* The user data of the callbacks of a species. */
typedef struct species_user {
  uint64_t seed, cost_ns;
} species_user;

typedef struct tan_wong {
  scaffold base;
  tan_wong_species species[TAN_WONG_SPECIES];
  species_user users[TAN_WONG_SPECIES];
  muster_type types[TAN_WONG_SPECIES];
} tan_wong;

typedef struct animat {
  double heading_rad;
  double walked_m;
  uint64_t updates;
} animat;

/* The height of a corner of the ground's lattice of 1 m. */
static double corner(uint64_t seed, double x, double y) {
  uint64_t place = (uint64_t)(int64_t)x * 0x9e3779b97f4a7c15u + (uint64_t)(int64_t)y;
  return scaffold_share(muster_random_mix(seed ^ place));
}

/* The ground between the corners. */
static double ground(uint64_t seed, double x, double y) {
  double left = floor(x), low = floor(y), right_share = x - left, high_share = y - low;
  double below = corner(seed, left, low) * (1 - right_share) + corner(seed, left + 1, low) * right_share;
  double above = corner(seed, left, low + 1) * (1 - right_share) + corner(seed, left + 1, low + 1) * right_share;
  return below * (1 - high_share) + above * high_share;
}

/* How much the ground goes up and down along a ray. */
static double roughness(uint64_t seed, muster_position from, double heading_rad, uint32_t steps) {
  double sum = 0, step_x = cos(heading_rad) * sight_m / steps, step_y = sin(heading_rad) * sight_m / steps;
  double before = ground(seed, from.x, from.y);
  for (uint32_t i = 1; i <= steps; i++) {
    double here = ground(seed, from.x + step_x * i, from.y + step_y * i);
    sum += fabs(here - before);
    before = here;
  }
  return sum;
}

static double smoothest_heading(uint64_t seed, muster_position from, double first_rad, uint32_t rays, uint32_t steps) {
  double best_rad = first_rad, least = INFINITY;
  for (uint32_t ray = 0; ray < rays; ray++) {
    double heading_rad = first_rad + turn_rad * ray / rays;
    double rough = roughness(seed, from, heading_rad, steps);
    if (rough >= least) continue;
    least = rough;
    best_rad = heading_rad;
  }
  return fmod(best_rad, turn_rad);
}

static double wrap(double value) {
  return value - floor(value / field_m) * field_m;
}

static muster_atom_result tan_wong_walk(muster_update *update) {
  const species_user *species = update->type_user;
  animat *self = update->state;
  bool observed = update->importance > 0.0f;
  double way_m = speed_m_per_s * (double)update->elapsed_ns * 1e-9;
  muster_position next = update->position;
  next.x = wrap(next.x + cos(self->heading_rad) * way_m);
  next.y = wrap(next.y + sin(self->heading_rad) * way_m);
  self->walked_m += way_m;
  self->updates++;
  self->heading_rad = smoothest_heading(species->seed, next, turn_rad * (double)muster_update_random_share(update),
                                        observed ? FINE_RAYS : COARSE_RAYS, observed ? FINE_STEPS : COARSE_STEPS);
  muster_update_move(update, next);
  return MUSTER_ATOM_NEXT;
}

static uint64_t model_cost_ns(const muster_cost_query *query, void *user) {
  const species_user *species = user;
  uint64_t noise_ns = species->cost_ns / NOISE_SHARE;
  return species->cost_ns - noise_ns + query->random % (2 * noise_ns + 1);
}

static muster_result tan_wong_prepare(void *instance) {
  for (int i = 0; i < TAN_WONG_SPECIES; i++) ((tan_wong *)instance)->species[i] = tan_wong_ordinary;
  return MUSTER_OK;
}

void tan_wong_choose(void *instance, const tan_wong_species species[TAN_WONG_SPECIES]) {
  tan_wong *self = instance;
  memcpy(self->species, species, sizeof self->species);
}

/* The cost estimate begins next to nothing, as in the paper. */
static muster_result tan_wong_join(void *instance, muster_world *world, uint32_t i) {
  static const muster_atom atoms[] = {{.run = tan_wong_walk, .role = MUSTER_ROLE_BEHAVIOUR, .model_ns = 1}};
  static const char *const names[TAN_WONG_SPECIES] = {"species 1", "species 2", "species 3", "species 4"};
  tan_wong *self = instance;
  const tan_wong_species *species = &self->species[i];
  muster_type_def def =
      scaffold_type(names[i], SCAFFOLD_ATOMS(atoms), sizeof(animat), species->period_ns, species->period_max_ns);
  self->users[i] = (species_user){self->base.seed, species->cost_ns};
  def.user = &self->users[i];
  def.models.cost_ns = model_cost_ns;
  def.overruns.demote = def.overruns.quarantine = 0; /* the paper knows no penalties: all 100 stay */
  return scaffold_register(world, &def, &self->types[i]);
}

/* A place that depends only on the seed and on the number of the agent or observer that stands there. */
static muster_position place_of(const tan_wong *self, uint64_t number) {
  uint64_t random = muster_random_mix(muster_random_mix(self->base.seed + 1) + number);
  return (muster_position){scaffold_share(random) * field_m, scaffold_share(muster_random_mix(random + 1)) * field_m,
                           0};
}

static muster_position tan_wong_place(void *instance, uint32_t observer, double seconds) {
  (void)seconds;
  return place_of(instance, UINT32_MAX + (uint64_t)observer);
}

/* Every animat has the elasticity of its species, whatever observers are near. */
static muster_result tan_wong_spawn(void *instance, muster_world *world, uint32_t i) {
  const tan_wong *self = instance;
  muster_agent_def def = scaffold_agent(self->types[i % TAN_WONG_SPECIES], place_of(self, i), NULL);
  def.elasticity = self->species[i % TAN_WONG_SPECIES].elasticity;
  return scaffold_spawn(world, &def, NULL);
}

/* A snapshot keeps only the world's own state. */
static const scaffold_field kept[] = {
    SCAFFOLD_SAME_WORLD, SCAFFOLD_SAME(scaffold, unused), SCAFFOLD_SAME(scaffold, seed), {0}};

/* What an experiment must know of the animats. */
typedef struct census {
  tan_wong_species species;
  uint64_t cost_max_ns;
} census;

static void tan_wong_conclude(const scaffold_look *look) {
  *(census *)look->sums = (census){tan_wong_ordinary, COST_NS + COST_NS / NOISE_SHARE};
}

static const scaffold_line lines[] = {SCAFFOLD_AGENTS("animats"),
                                      SCAFFOLD_SUM("walked_m", animat, walked_m),
                                      SCAFFOLD_FOUND("model_cost_ns", census, species.cost_ns),
                                      SCAFFOLD_FOUND("model_cost_max_ns", census, cost_max_ns),
                                      SCAFFOLD_FOUND("period_ns", census, species.period_ns),
                                      SCAFFOLD_FOUND("period_max_ns", census, species.period_max_ns),
                                      {0}};

uint64_t tan_wong_updates(const void *state) {
  return ((const animat *)state)->updates;
}

static const scaffold_plan plan = {.name = "tan-wong",
                                   .bytes = sizeof(tan_wong),
                                   .agents_default = 100,
                                   .agents_max = 1000000,
                                   .observers_max = 65536,
                                   .near_m = (float)FIELD_M,
                                   .far_m = (float)(2 * FIELD_M),
                                   .kept = kept,
                                   .lines = lines,
                                   .prepare = tan_wong_prepare,
                                   .kinds = TAN_WONG_SPECIES,
                                   .join_one = tan_wong_join,
                                   .spawn_one = tan_wong_spawn,
                                   .place = tan_wong_place,
                                   .conclude = tan_wong_conclude};

SCAFFOLD_MODULE(tan_wong, plan, "tan-wong",
                "the 100 animats of Tan & Wong's experiments; with --observers 1 they really work as long as modelled",
                SCAFFOLD_SAVES)

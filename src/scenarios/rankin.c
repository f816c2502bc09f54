/* rankin.c - the world of Rankin, Acton & Katchabaw's experiments, and larger ones of the same characters. */
#include "scenarios/rankin.h"

#include "scenarios/scaffold.h"

#include <muster/tune.h>

#include <math.h>

static const uint64_t frame_ns = 30000000;
static const double m_each = 20.0; /* of the square's side, for the root of the population */

uint64_t rankin_model_ns(uint32_t level) {
  static const uint64_t costs_ns[MUSTER_LEVELS] = {6000, 1500, 700, 150};
  return costs_ns[level < MUSTER_LEVELS ? level : MUSTER_LEVELS - 1];
}

static uint64_t model_cost_ns(const muster_cost_query *query, void *user) {
  (void)user;
  return rankin_model_ns(query->level);
}

static muster_atom_result decide(muster_update *update) {
  rankin_think(update->state, update->level, muster_update_random(update));
  return MUSTER_ATOM_NEXT;
}

/* A fixed level: every importance gives it. */
static void set_levels(muster_type_def *type, uint32_t level) {
  static const float dynamic[MUSTER_LEVELS - 1] = {0.5f, 0.4f, 0.3f}, by_role[MUSTER_LEVELS - 1] = {0.9f, 0.6f, 0.4f};
  type->levels.count = MUSTER_LEVELS;
  for (uint32_t i = 0; i + 1 < MUSTER_LEVELS; i++) {
    float fixed = i < level ? 1.0f : 0.0f;
    type->levels.importance[i] = level == RANKIN_DYNAMIC ? dynamic[i] : level == RANKIN_BY_ROLE ? by_role[i] : fixed;
  }
}

static muster_result rankin_register_type(muster_world *world, const rankin_def *def, muster_type *type) {
  static const muster_atom atoms[] = {{.run = decide, .role = MUSTER_ROLE_BEHAVIOUR}};
  muster_type_def own =
      scaffold_type("character", SCAFFOLD_ATOMS(atoms), sizeof(rankin_mind), def->period_ns, def->period_max_ns);
  own.models.cost_ns = model_cost_ns;
  own.overruns.demote = own.overruns.quarantine = 0; /* the paper knows no penalties */
  set_levels(&own, def->level);
  return scaffold_register(world, &own, type);
}

static muster_position rankin_place_of(const rankin_def *def, uint64_t random) {
  return (muster_position){scaffold_share(muster_random_mix(random)) * def->side_m,
                           scaffold_share(muster_random_mix(random + 1)) * def->side_m, 0};
}

/* Characters of one role have consecutive numbers, in the order of the paper's roles. */
static muster_result rankin_spawn_one(muster_world *world, const rankin_def *def, muster_type type, uint32_t number,
                                      muster_agent *agent) {
  uint64_t random = muster_random_mix(muster_random_mix(def->seed + 1) + number);
  uint32_t role = number % RANKIN_ROLES;
  rankin_mind mind;
  rankin_be_born(&mind, role, random);
  muster_agent_def own = scaffold_agent(type, rankin_place_of(def, random + 1), &mind);
  own.role = (float)(role + 1) / RANKIN_ROLES;
  own.designer = (float)scaffold_share(muster_random_mix(random + 3));
  if (def->level != RANKIN_DYNAMIC) {
    own.importance_floor = def->alike ? 0.5f : own.role * 0.999f; /* at 1 no threshold would be above it */
    own.elasticity = 1.0f;
  }
  return scaffold_spawn(world, &own, agent);
}

/* Every eighth character keeps company with the one before it, while the command queue has room and where it counts. */
static muster_result spawn_characters(muster_world *world, const rankin_def *def, muster_type type) {
  muster_agent agent = {0};
  muster_result result = MUSTER_OK;
  for (uint32_t i = 0; i < def->characters && !result; i++) {
    muster_agent before = agent;
    result = rankin_spawn_one(world, def, type, i, &agent);
    if (!result && i % 8 == 1) muster_agent_link(world, agent, before);
  }
  return result;
}

muster_result rankin_populate(muster_world *world, const rankin_def *def, muster_type *type) {
  muster_result result = rankin_register_type(world, def, type);
  return result ? result : spawn_characters(world, def, *type);
}

rankin_life rankin_life_of(const void *state) {
  const rankin_mind *mind = state;
  return (rankin_life){mind->role, mind->runs};
}

/* --------------------------------------------------------------------------------------------------------- scenario */

typedef struct rankin {
  scaffold base;
  rankin_def def;
  muster_type type;
} rankin;

static muster_result rankin_prepare(void *instance) {
  rankin *self = instance;
  self->def = (rankin_def){.characters = self->base.agents,
                           .level = RANKIN_DYNAMIC,
                           .seed = self->base.seed,
                           .period_ns = 3 * frame_ns,
                           .period_max_ns = 80 * frame_ns,
                           .side_m = sqrt((double)self->base.agents) * m_each};
  return MUSTER_OK;
}

static muster_result rankin_join(void *instance, muster_world *world) {
  rankin *self = instance;
  return rankin_register_type(world, &self->def, &self->type);
}

static muster_result rankin_spawn(void *instance, muster_world *world) {
  const rankin *self = instance;
  return spawn_characters(world, &self->def, self->type);
}

static muster_position rankin_place(void *instance, uint32_t observer, double seconds) {
  const rankin *self = instance;
  (void)seconds;
  return rankin_place_of(&self->def, muster_random_mix(muster_random_mix(self->base.seed + 2) + observer));
}

/* A snapshot keeps only the world's own state. */
static const scaffold_field kept[] = {
    SCAFFOLD_SAME_WORLD, SCAFFOLD_SAME(scaffold, unused), SCAFFOLD_SAME(scaffold, seed), {0}};

typedef struct census {
  uint32_t never_ran;
} census;

static void rankin_count(const scaffold_look *look) {
  ((census *)look->sums)->never_ran += ((const rankin_mind *)look->info.state)->runs == 0;
}

static const scaffold_line lines[] = {SCAFFOLD_SUM("runs", rankin_mind, runs),
                                      SCAFFOLD_SUM("actions", rankin_mind, acted),
                                      SCAFFOLD_SUM("goals_achieved", rankin_mind, achieved),
                                      SCAFFOLD_SUM("plans_searched", rankin_mind, planned),
                                      SCAFFOLD_FOUND("never_ran", census, never_ran),
                                      {0}};

static const scaffold_plan plan = {.name = "rankin",
                                   .bytes = sizeof(rankin),
                                   .agents_default = 800,
                                   .agents_max = 1000000,
                                   .observers_default = 20,
                                   .observers_max = 4096,
                                   .near_m = 25.0f,
                                   .far_m = 150.0f,
                                   .observers_first = true,
                                   .kept = kept,
                                   .lines = lines,
                                   .prepare = rankin_prepare,
                                   .join = rankin_join,
                                   .spawn = rankin_spawn,
                                   .place = rankin_place,
                                   .count = rankin_count};

SCAFFOLD_MODULE(rankin, plan, "rankin",
                "characters of Rankin, Acton & Katchabaw: roles, desires, emotions, goals, and plans at four levels",
                SCAFFOLD_SAVES)

/* rankin.c - the world of Rankin, Acton & Katchabaw's experiments, and larger ones of the same characters. */
#include "scenarios/rankin.h"

#include "scenarios/kept.h"

#include <math.h>
#include <stdlib.h>

enum {
  CHARACTERS = 800,
  AGENTS_MAX = 1000000,
  OBSERVERS = 20,
  OBSERVERS_MAX = 4096,
  VERSION = 1 /* of the snapshot's contents */
};

static const uint64_t frame_ns = 30000000;
static const double m_each = 20.0; /* of the square's side, for the root of the population */

typedef struct rankin {
  uint64_t seed;
  uint32_t agents, observers;
  double side_m;
} rankin;

static uint64_t rankin_mix(uint64_t value) {
  value ^= value >> 30;
  value *= 0xbf58476d1ce4e5b9u;
  value ^= value >> 27;
  value *= 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

static double share(uint64_t value) {
  return (double)(value >> 11) * 0x1p-53;
}

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
  type->level_count = MUSTER_LEVELS;
  for (uint32_t i = 0; i + 1 < MUSTER_LEVELS; i++) {
    float fixed = i < level ? 1.0f : 0.0f;
    type->level_importance[i] = level == RANKIN_DYNAMIC ? dynamic[i] : level == RANKIN_BY_ROLE ? by_role[i] : fixed;
  }
}

static muster_type rankin_register_type(muster_world *world, const rankin_def *def) {
  static const muster_atom atoms[] = {{.run = decide, .role = MUSTER_ROLE_BEHAVIOUR}};
  muster_type_def type = muster_default_type_def();
  type.name = "character";
  type.atoms = atoms;
  type.atom_count = 1;
  type.state_bytes = sizeof(rankin_mind);
  type.period_ns = def->period_ns;
  type.period_max_ns = def->period_max_ns;
  type.model_cost_ns = model_cost_ns;
  type.strikes_demote = type.strikes_quarantine = 0; /* the paper knows no penalties */
  set_levels(&type, def->level);
  return muster_type_register(world, &type);
}

/* Characters of one role have consecutive numbers, in the order of the paper's roles. */
static muster_agent rankin_spawn(muster_world *world, const rankin_def *def, muster_type type, uint32_t number) {
  uint64_t random = rankin_mix(rankin_mix(def->seed + 1) + number);
  uint32_t role = number % RANKIN_ROLES;
  rankin_mind mind;
  muster_agent_def agent = muster_default_agent_def();
  rankin_be_born(&mind, role, random);
  agent.type = type;
  agent.state = &mind;
  agent.position.x = share(rankin_mix(random + 1)) * def->side_m;
  agent.position.y = share(rankin_mix(random + 2)) * def->side_m;
  agent.role = (float)(role + 1) / RANKIN_ROLES;
  agent.designer = (float)share(rankin_mix(random + 3));
  if (def->level != RANKIN_DYNAMIC) {
    agent.importance_floor = def->alike ? 0.5f : agent.role * 0.999f; /* at 1 no threshold would be above it */
    agent.elasticity = 1.0f;
  }
  return muster_agent_spawn(world, &agent);
}

muster_result rankin_populate(muster_world *world, const rankin_def *def, muster_type *type) {
  *type = rankin_register_type(world, def);
  muster_agent before = {0, 0};
  if (type->index == 0) return MUSTER_E_ARGUMENT;
  for (uint32_t i = 0; i < def->characters; i++) {
    muster_agent agent = rankin_spawn(world, def, *type, i);
    if (muster_agent_is_null(agent)) return MUSTER_E_FULL;
    /* Every eighth character keeps company with the one before it, while the command queue has room and where it
     * counts. */
    if (i % 8 == 1) muster_agent_meet(world, agent, before);
    before = agent;
  }
  return MUSTER_OK;
}

rankin_life rankin_life_of(const void *state) {
  const rankin_mind *mind = state;
  return (rankin_life){mind->role, mind->runs};
}

static muster_result rankin_open_world(const muster_module_options *options, void **instance,
                                       muster_module_needs *needs) {
  if (options->path) return muster_module_fail(MUSTER_E_ARGUMENT, "rankin takes no file");
  if (options->agents > AGENTS_MAX)
    return muster_module_fail(MUSTER_E_ARGUMENT, "rankin has room for %d agents, not %u", AGENTS_MAX, options->agents);
  if (options->observers > OBSERVERS_MAX)
    return muster_module_fail(MUSTER_E_ARGUMENT, "rankin has room for %d observers, not %u", OBSERVERS_MAX,
                              options->observers);
  rankin *self = calloc(1, sizeof *self);
  if (!self) return muster_module_fail(MUSTER_E_MEMORY, "out of memory");
  self->seed = options->seed;
  self->agents = options->agents ? options->agents : CHARACTERS;
  self->observers = options->observers ? options->observers : OBSERVERS;
  self->side_m = sqrt((double)self->agents) * m_each;
  *instance = self;
  needs->agents = needs->agents_max = self->agents;
  needs->observers = self->observers;
  return MUSTER_OK;
}

static rankin_def def_of(const rankin *self) {
  return (rankin_def){.characters = self->agents,
                      .level = RANKIN_DYNAMIC,
                      .seed = self->seed,
                      .period_ns = 3 * frame_ns,
                      .period_max_ns = 80 * frame_ns,
                      .side_m = self->side_m};
}

static muster_result scenarios_rankin_populate(void *instance, muster_world *world) {
  const rankin *self = instance;
  muster_type type;
  rankin_def def = def_of(self);
  for (uint32_t i = 0; i < self->observers; i++) {
    muster_observer_def observer = muster_default_observer_def();
    uint64_t random = rankin_mix(rankin_mix(self->seed + 2) + i);
    observer.position.x = share(rankin_mix(random)) * self->side_m;
    observer.position.y = share(rankin_mix(random + 1)) * self->side_m;
    observer.near_m = 25.0f;
    observer.far_m = 150.0f;
    if (muster_observer_add(world, &observer).generation == 0) return MUSTER_E_FULL;
  }
  return rankin_populate(world, &def, &type);
}

/* A snapshot keeps only the world's own state. */
typedef struct kept_square {
  uint32_t version, agents, observers, zero;
  uint64_t seed;
} kept_square;

static kept_square describe(const rankin *self) {
  return (kept_square){.version = VERSION, .agents = self->agents, .observers = self->observers, .seed = self->seed};
}

static muster_result save(void *instance, const muster_world *world, muster_module_write write, void *write_user) {
  kept_square kept = describe(instance);
  (void)world;
  return write(&kept, sizeof kept, write_user) ? MUSTER_OK : kept_unwritten("rankin");
}

static muster_result rankin_resume(void *instance, muster_world *world, const void *bytes, size_t count) {
  kept_square own = describe(instance);
  rankin_def def = def_of(instance);
  if (rankin_register_type(world, &def).index == 0) return MUSTER_E_ARGUMENT;
  bool same = count == sizeof own && memcmp(bytes, &own, sizeof own) == 0;
  return same ? MUSTER_OK : kept_refused("rankin");
}

static void rankin_report(void *instance, const muster_world *world, muster_module_emit emit, void *emit_user) {
  muster_agent_info info = muster_default_agent_info();
  uint64_t runs = 0, achieved = 0, acted = 0, planned = 0, never = 0;
  (void)instance;
  for (muster_agent agent = muster_agent_next(world, (muster_agent){0, 0}); !muster_agent_is_null(agent);
       agent = muster_agent_next(world, agent)) {
    if (muster_agent_read(world, agent, &info) != MUSTER_OK) continue;
    const rankin_mind *mind = info.state;
    runs += mind->runs;
    achieved += mind->achieved;
    acted += mind->acted;
    planned += mind->planned;
    never += mind->runs == 0;
  }
  emit("runs", (double)runs, emit_user);
  emit("actions", (double)acted, emit_user);
  emit("goals_achieved", (double)achieved, emit_user);
  emit("plans_searched", (double)planned, emit_user);
  emit("never_ran", (double)never, emit_user);
}

const muster_module *muster_module_rankin(void) {
  static const muster_module module = {
      .size = sizeof module,
      .abi = MUSTER_MODULE_ABI,
      .name = "rankin",
      .summary = "characters of Rankin, Acton & Katchabaw: roles, desires, emotions, goals, and plans at four levels",
      .open = rankin_open_world,
      .populate = scenarios_rankin_populate,
      .report = rankin_report,
      .close = free,
      .save = save,
      .resume = rankin_resume,
  };
  return &module;
}

#include "scenarios/hostile.h"

#include <math.h>

static const uint64_t ms_ns = 1000000u;

/* What a kind is. Shares are of the population; costs are in nanoseconds. */
struct profile {
  const char *name;
  double share;
  uint64_t period_ns, period_max_ns;
  uint32_t cost_ns;   /* of an atom's labour, usually */
  uint32_t beside_ns; /* measured cost of the rest of the update: refused calls write a message */
};

static const struct profile profiles[HOSTILE_KINDS] = {
    [HOSTILE_ENDLESS] = {"endless", 0.02, 200000000u, 2000000000u, 10000, 200},
    [HOSTILE_FLIPPER] = {"flipper", 0.15, 200000000u, 2000000000u, 100, 100},
    [HOSTILE_BREEDER] = {"breeder", 0.10, 200000000u, 2000000000u, 8000, 500},
    [HOSTILE_MAYFLY] = {"mayfly", 0.08, 200000000u, 1000000000u, 5000, 800},
    [HOSTILE_FLAPPER] = {"flapper", 0.15, 100000000u, 1000000000u, 2000, 200},
    [HOSTILE_CHORUS] = {"chorus", 0.22, 100000000u, 1000000000u, 5000, 200},
    [HOSTILE_GLUTTON] = {"glutton", 0.10, 100000000u, 5000000000u, 3000, 200},
    [HOSTILE_RINGER] = {"ringer", 0.05, 500000000u, 4000000000u, 3000, 800},
    [HOSTILE_GOSSIP] = {"gossip", 0.10, 200000000u, 2000000000u, 5000, 4000},
    [HOSTILE_STRAYER] = {"strayer", 0.03, 100000000u, 1000000000u, 4000, 12000},
};

/* For the kind endless: the declared limit, how rarely it is broken, and how far. */
static const uint64_t endless_limit_ns = 50000;
enum { ENDLESS_ONE_IN = 64, ENDLESS_TIMES_MIN = 5, ENDLESS_TIMES_MAX = 50 };

static const uint64_t flip_factor = 100;
static const uint64_t glutton_most_ns = 60000; /* the most that time since the last update adds */

void hostile_cast_all(hostile *self) {
  double share = 0;
  uint32_t first = 0;
  for (uint32_t kind = 0; kind < HOSTILE_KINDS; kind++) {
    share += profiles[kind].share;
    uint32_t end = kind + 1 == HOSTILE_KINDS ? self->base.agents : (uint32_t)lround(share * self->base.agents);
    self->casts[kind] = (hostile_cast){.self = self, .kind = (hostile_kind)kind, .first = first, .count = end - first};
    first = end;
  }
}

static uint64_t endless_cost_ns(uint64_t random) {
  if (random % ENDLESS_ONE_IN) return profiles[HOSTILE_ENDLESS].cost_ns;
  uint64_t times = ENDLESS_TIMES_MIN + random / ENDLESS_ONE_IN % (ENDLESS_TIMES_MAX - ENDLESS_TIMES_MIN + 1);
  return endless_limit_ns * times;
}

uint64_t hostile_cost_ns(const hostile_cast *cast, uint32_t level, uint64_t elapsed_ns, uint64_t random) {
  static const uint32_t of_level[MUSTER_LEVELS] = {8, 3, 1, 1};
  uint64_t cost_ns = profiles[cast->kind].cost_ns;
  switch (cast->kind) {
  case HOSTILE_ENDLESS:
    return endless_cost_ns(random);
  case HOSTILE_FLIPPER:
    return cast->self->expensive ? cost_ns * flip_factor : cost_ns;
  case HOSTILE_FLAPPER:
    return cost_ns * of_level[level < MUSTER_LEVELS ? level : MUSTER_LEVELS - 1];
  case HOSTILE_GLUTTON: {
    uint64_t more_ns = elapsed_ns / 66667u; /* 15 us for each second */
    return cost_ns + (more_ns < glutton_most_ns ? more_ns : glutton_most_ns);
  }
  default:
    return cost_ns;
  }
}

static uint64_t model_cost(const muster_cost_query *query, void *user) {
  const hostile_cast *cast = user;
  uint64_t labour_ns = hostile_cost_ns(cast, query->level, query->elapsed_ns, query->random);
  return labour_ns + profiles[cast->kind].beside_ns;
}

/* A flipper's update has four atoms, so that it is preempted between them; a breeder's has an action. */
static void choose_atoms(hostile_kind kind, muster_type_def *def) {
  static const muster_atom work[] = {{hostile_work, MUSTER_ROLE_BEHAVIOUR, 5000}};
  static const muster_atom flip[] = {{hostile_work_on, MUSTER_ROLE_BEHAVIOUR, 1000},
                                     {hostile_work_on, MUSTER_ROLE_BEHAVIOUR, 1000},
                                     {hostile_work_on, MUSTER_ROLE_BEHAVIOUR, 1000},
                                     {hostile_work, MUSTER_ROLE_BEHAVIOUR, 1000}};
  static const muster_atom breed[] = {{hostile_breed, MUSTER_ROLE_BEHAVIOUR, 8000},
                                      {hostile_breed_now, MUSTER_ROLE_ACTION, 1000}};
  static const muster_atom fade[] = {{hostile_fade, MUSTER_ROLE_BEHAVIOUR, 5000}};
  static const muster_atom ring[] = {{hostile_ring, MUSTER_ROLE_BEHAVIOUR, 3000}};
  static const muster_atom gossip[] = {{hostile_gossip, MUSTER_ROLE_BEHAVIOUR, 5000}};
  static const muster_atom stray[] = {{hostile_stray, MUSTER_ROLE_BEHAVIOUR, 4000}};
  static const struct {
    const muster_atom *atoms;
    uint32_t count;
  } of_kind[HOSTILE_KINDS] = {
      [HOSTILE_ENDLESS] = {work, 1}, [HOSTILE_FLIPPER] = {flip, 4}, [HOSTILE_BREEDER] = {breed, 2},
      [HOSTILE_MAYFLY] = {fade, 1},  [HOSTILE_FLAPPER] = {work, 1}, [HOSTILE_CHORUS] = {work, 1},
      [HOSTILE_GLUTTON] = {work, 1}, [HOSTILE_RINGER] = {ring, 1},  [HOSTILE_GOSSIP] = {gossip, 1},
      [HOSTILE_STRAYER] = {stray, 1}};
  def->atoms = of_kind[kind].atoms;
  def->atom_count = of_kind[kind].count;
}

muster_result hostile_register(void *instance, muster_world *world, uint32_t kind) {
  hostile_cast *cast = &((hostile *)instance)->casts[kind];
  const struct profile *profile = &profiles[cast->kind];
  muster_type_def def =
      scaffold_type(profile->name, NULL, 0, sizeof(hostile_life), profile->period_ns, profile->period_max_ns);
  choose_atoms(cast->kind, &def);
  def.limit_ns = cast->kind == HOSTILE_ENDLESS ? endless_limit_ns : ms_ns / 2;
  def.level_count = cast->kind == HOSTILE_FLAPPER ? 3 : 1;
  def.spawns_max = cast->kind == HOSTILE_BREEDER || cast->kind == HOSTILE_MAYFLY ? 1 : 0;
  if (cast->kind == HOSTILE_GOSSIP) {
    def.messages_max = 4;
    def.message_bytes = 16;
    def.sends_max = 2;
  }
  def.user = cast;
  def.on_spawned = hostile_spawned;
  def.on_removed = hostile_removed;
  def.model_cost_ns = model_cost;
  return scaffold_register(world, &def, &cast->type);
}

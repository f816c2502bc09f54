#include "scenarios/siege.h"
#include "scenarios/sight.h"

#include <math.h>

const double siege_half_m = 1000.0;

enum { NEIGHBOURS_MAX = 8, LOOK_STEPS = 12 };

static const float beside_m = 4.0f; /* an agent this near may be a foe */
static const double sally_m = 15.0; /* how far from home a fight draws or drives an agent */
static const double walk_mps = 1.4, run_mps = 4.0;

/* Measured where the world fits the caches: a neighbour query, a line of sight, a walk, a blow. */
static const uint64_t query_ns = 900, look_ns = 180, walk_ns = 150, strike_ns = 300;

struct profile {
  const char *name;
  uint64_t period_ns, period_max_ns;
  float elasticity;
  uint32_t level_count;
  uint32_t looks[MUSTER_LEVELS]; /* at players, in a fight, by level */
  float importance;
  double reach_m;
  double drawn; /* how a fight moves it: towards the gate, or away from it */
};

static const struct profile profiles[SIEGE_KINDS] = {
    [SIEGE_BESIEGER] = {"besieger", 100000000u, 800000000u, 1.0f, 4, {24, 20, 16, 12}, 1.0f, 500.0, 1.0},
    [SIEGE_TOWNSMAN] = {"townsman", 100000000u, 1000000000u, 1.0f, 3, {24, 18, 12}, 1.0f, 300.0, -1.0},
    [SIEGE_GUARD] = {"guard", 66666667u, 500000000u, 0.5f, 4, {24, 20, 16, 12}, 1.0f, 150.0, 1.0},
    [SIEGE_ANIMAL] = {"animal", 200000000u, 2000000000u, 2.0f, 2, {24, 12}, 0.7f, 1000.0, -1.0},
    [SIEGE_CAPTAIN] = {"captain", 100000000u, 100000000u, 0.0f, 1, {24}, 1.0f, 60.0, 1.0},
};

siege_kind siege_kind_of(uint32_t number) {
  uint32_t place = number % 20;
  if (number % 1000 == 999) return SIEGE_CAPTAIN;
  return place < 8 ? SIEGE_BESIEGER : place < 15 ? SIEGE_TOWNSMAN : place < 17 ? SIEGE_GUARD : SIEGE_ANIMAL;
}

double siege_reach_m(siege_kind kind) {
  return profiles[kind].reach_m;
}

/* ----------------------------------------------------------------------------------------------------------- updates
 */

static siege_kind foe_of(siege_kind kind) {
  return kind == SIEGE_BESIEGER ? SIEGE_GUARD : kind == SIEGE_GUARD ? SIEGE_BESIEGER : SIEGE_KINDS;
}

/* Finds the nearest foe. */
static muster_agent find_foe(muster_update *update, const siege_cast *cast) {
  muster_neighbour near[NEIGHBOURS_MAX];
  uint32_t count = muster_update_nearby(update, beside_m, (muster_type){0}, near, NEIGHBOURS_MAX);
  siege_kind foe = foe_of(cast->kind);
  for (uint32_t i = 0; i < count && foe < SIEGE_KINDS; i++)
    if (near[i].type.index == cast->self->casts[foe].type.index) return near[i].agent;
  return (muster_agent){0, 0};
}

/* In peace there is nothing to see but the way. In a fight every agent looks at players, at different ones in each
 * update; at a cheaper level at fewer. */
static muster_atom_result siege_atoms_look_around(muster_update *update) {
  const siege_cast *cast = update->type_user;
  const siege *self = cast->self;
  siege_state *own = update->state;
  own->foe = (muster_agent){0, 0};
  if (!self->fighting) return MUSTER_ATOM_NEXT;
  uint32_t looks = profiles[cast->kind].looks[update->level];
  uint64_t first = update->agent.index * 7919u + own->looks;
  own->foe = find_foe(update, cast);
  for (uint32_t i = 0; i < looks; i++) {
    muster_position player = self->base.places[(first + i) % self->base.observer_count];
    own->seen += sight_is_clear(self->base.seed, update->position, player, LOOK_STEPS);
  }
  own->looks += looks;
  return MUSTER_ATOM_NEXT;
}

/* Where an agent wants to be: at home, and in a fight nearer to the gate or further from it. */
static muster_position siege_atoms_goal_of(const siege_cast *cast, const siege_state *own) {
  muster_position goal = {(double)own->home_x, (double)own->home_y, 0.0};
  double away_m = hypot(goal.x, goal.y);
  if (!cast->self->fighting || away_m < sally_m) return goal;
  double part = 1.0 - profiles[cast->kind].drawn * sally_m / away_m;
  return (muster_position){goal.x * part, goal.y * part, 0.0};
}

static muster_atom_result siege_atoms_walk(muster_update *update) {
  const siege_cast *cast = update->type_user;
  const siege *self = cast->self;
  siege_state *own = update->state;
  muster_position place = update->position, goal = siege_atoms_goal_of(cast, own);
  double x = goal.x - place.x, y = goal.y - place.y, left_m = hypot(x, y);
  double step_m = fmin((self->fighting ? run_mps : walk_mps) * (double)update->elapsed_ns * 1e-9, left_m);
  if (step_m > 0.01) {
    place.x += x * step_m / left_m;
    place.y += y * step_m / left_m;
    own->walked_m += step_m;
    muster_update_move(update, place);
  }
  own->updates++;
  convergence_note(update);
  bool strikes = !muster_agent_is_null(own->foe) && muster_update_random_share(update) < 0.125f;
  return strikes ? MUSTER_ATOM_NEXT : MUSTER_ATOM_FINISH;
}

/* Actions run one at a time, so this agent may change the other's state. */
static muster_atom_result siege_atoms_strike(muster_update *update) {
  siege_state *own = update->state, *other = muster_update_state_of(update, own->foe);
  own->strikes++;
  if (other) other->struck++;
  return MUSTER_ATOM_NEXT;
}

/* The cost model, like the updates. */
static uint64_t siege_atoms_model_cost(const muster_cost_query *query, void *user) {
  const siege_cast *cast = user;
  if (query->atom > 0) return query->atom == 1 ? walk_ns : strike_ns;
  if (!cast->self->fighting) return walk_ns;
  return query_ns + look_ns * profiles[cast->kind].looks[query->level];
}

muster_result siege_register(void *instance, muster_world *world, uint32_t kind) {
  static const muster_atom atoms[] = {{siege_atoms_look_around, MUSTER_ROLE_PERCEPTION, 150},
                                      {siege_atoms_walk, MUSTER_ROLE_BEHAVIOUR, 150},
                                      {siege_atoms_strike, MUSTER_ROLE_ACTION, 300}};
  siege *self = instance;
  const struct profile *profile = &profiles[kind];
  siege_cast *cast = &self->casts[kind];
  *cast = (siege_cast){.self = self, .kind = (siege_kind)kind};
  muster_type_def def = scaffold_type(profile->name, atoms, foe_of(cast->kind) < SIEGE_KINDS ? 3 : 2,
                                      sizeof(siege_state), profile->period_ns, profile->period_max_ns);
  def.elasticity = profile->elasticity;
  def.level_count = profile->level_count;
  def.importance = profile->importance;
  def.user = cast;
  def.on_spawned = convergence_born;
  def.model_cost_ns = siege_atoms_model_cost;
  return scaffold_register(world, &def, &cast->type);
}

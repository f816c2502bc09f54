#include "siege.h"
#include "line_of_sight.h"

#include <muster/tune.h>

static const double half_m = 1000.0; /* of the map, whose middle is the gate */

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
  double reach_m; /* the greatest distance from the gate at which it lives; more densely near the gate */
  double drawn;   /* how a fight moves it: towards the gate, or away from it */
};

static const struct profile profiles[SIEGE_KINDS] = {
    [SIEGE_BESIEGER] = {"besieger", 100000000u, 800000000u, 1.0f, 4, {24, 20, 16, 12}, 1.0f, 500.0, 1.0},
    [SIEGE_TOWNSMAN] = {"townsman", 100000000u, 1000000000u, 1.0f, 3, {24, 18, 12}, 1.0f, 300.0, -1.0},
    [SIEGE_GUARD] = {"guard", 66666667u, 500000000u, 0.5f, 4, {24, 20, 16, 12}, 1.0f, 150.0, 1.0},
    [SIEGE_ANIMAL] = {"animal", 200000000u, 2000000000u, 2.0f, 2, {24, 12}, 0.7f, 1000.0, -1.0},
    [SIEGE_CAPTAIN] = {"captain", 100000000u, 100000000u, 0.0f, 1, {24}, 1.0f, 60.0, 1.0},
};

/* The kind of the number-th agent: each has its share of every stretch. */
static siege_kind siege_kind_of(uint32_t number) {
  uint32_t place = number % 20;
  if (number % 1000 == 999) return SIEGE_CAPTAIN;
  return place < 8 ? SIEGE_BESIEGER : place < 15 ? SIEGE_TOWNSMAN : place < 17 ? SIEGE_GUARD : SIEGE_ANIMAL;
}

/* ---------------------------------------------------------------------------------------------------------- updates */

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
  return (muster_agent){0};
}

/* In peace there is nothing to see but the way. In a fight every agent looks at players, at different ones in each
 * update; at a cheaper level at fewer. */
static muster_atom_result siege_look_around(muster_update *update) {
  const siege_cast *cast = update->type_user;
  const siege *self = cast->self;
  siege_state *own = update->state;
  own->foe = (muster_agent){0};
  if (!self->fighting) return MUSTER_ATOM_NEXT;
  uint32_t looks = profiles[cast->kind].looks[update->level];
  uint64_t first = muster_agent_index(update->agent) * 7919u + own->looks;
  own->foe = find_foe(update, cast);
  for (uint32_t i = 0; i < looks; i++) {
    muster_position player = self->base.places[(first + i) % self->base.observer_count];
    own->seen += line_of_sight_is_clear(self->base.seed, update->position, player, LOOK_STEPS);
  }
  own->looks += looks;
  return MUSTER_ATOM_NEXT;
}

/* Where an agent wants to be: at home, and in a fight nearer to the gate or further from it. */
static muster_position siege_goal_of(const siege_cast *cast, const siege_state *own) {
  muster_position goal = {(double)own->home_x, (double)own->home_y, 0.0};
  double away_m = hypot(goal.x, goal.y);
  if (!cast->self->fighting || away_m < sally_m) return goal;
  double part = 1.0 - profiles[cast->kind].drawn * sally_m / away_m;
  return (muster_position){goal.x * part, goal.y * part, 0.0};
}

static muster_atom_result siege_walk(muster_update *update) {
  const siege_cast *cast = update->type_user;
  siege_state *own = update->state;
  muster_position goal = siege_goal_of(cast, own);
  own->walked_m += scaffold_approach(update, goal.x, goal.y, 0.0, cast->self->fighting ? run_mps : walk_mps);
  own->updates++;
  convergence_note(update);
  bool strikes = !muster_agent_is_null(own->foe) && muster_update_random_share(update) < 0.125f;
  return strikes ? MUSTER_ATOM_NEXT : MUSTER_ATOM_FINISH;
}

/* Actions run one at a time, so this agent may change the other's state. */
static muster_atom_result siege_strike(muster_update *update) {
  siege_state *own = update->state, *other = muster_update_state_of(update, own->foe);
  own->strikes++;
  if (other) other->struck++;
  return MUSTER_ATOM_NEXT;
}

/* The cost model, like the updates. */
static uint64_t siege_model_cost(const muster_cost_query *query, void *user) {
  const siege_cast *cast = user;
  if (query->atom > 0) return query->atom == 1 ? walk_ns : strike_ns;
  if (!cast->self->fighting) return walk_ns;
  return query_ns + look_ns * profiles[cast->kind].looks[query->level];
}

static muster_result siege_register(void *instance, muster_world *world, uint32_t kind) {
  static const muster_atom atoms[] = {{siege_look_around, MUSTER_ROLE_PERCEPTION, 150},
                                      {siege_walk, MUSTER_ROLE_BEHAVIOUR, 150},
                                      {siege_strike, MUSTER_ROLE_ACTION, 300}};
  siege *self = instance;
  const struct profile *profile = &profiles[kind];
  siege_cast *cast = &self->casts[kind];
  *cast = (siege_cast){.self = self, .kind = (siege_kind)kind};
  muster_type_def def = scaffold_type(profile->name, atoms, foe_of(cast->kind) < SIEGE_KINDS ? 3 : 2,
                                      sizeof(siege_state), profile->period_ns, profile->period_max_ns);
  def.elasticity = profile->elasticity;
  def.levels.count = profile->level_count;
  def.importance = profile->importance;
  def.user = cast;
  def.on_spawned = convergence_born;
  def.models.cost_ns = siege_model_cost;
  return scaffold_register(world, &def, &cast->type);
}

static const double setting_out_s = 3.0, ride_s = 3.0;   /* players set out within this time; how long each rides */
static const double camp_m = 250.0, camp_wide_m = 150.0; /* distance and width of the camp that players come from */
static const double gate_m = 40.0;                       /* radius of the crowd at the gate */
static const double golden_rad = 2.399963;               /* angle between neighbours on a spiral */
static const float level_pressure = 0.5f;

static muster_result siege_prepare(void *instance) {
  ((siege *)instance)->lasts_s = INFINITY;
  return MUSTER_OK;
}

void siege_choose(void *instance, float lasts_s) {
  ((siege *)instance)->lasts_s = lasts_s;
}

/* --------------------------------------------------------------------------------------------------------- populate */

static double share_of(const siege *self, uint64_t number) {
  return scaffold_random_share(self->base.seed * 0x9e3779b97f4a7c15u + number);
}

static muster_result siege_spawn_one(void *instance, muster_world *world, uint32_t number) {
  const siege *self = instance;
  siege_kind kind = siege_kind_of(number);
  muster_position place = scaffold_beside((muster_position){0}, profiles[kind].reach_m * share_of(self, 2ull * number),
                                          6.283185307179586 * share_of(self, 2ull * number + 1));
  siege_state state = {.home_x = (float)place.x, .home_y = (float)place.y};
  muster_agent_def def = scaffold_agent(self->casts[kind].type, place, &state);
  if (kind == SIEGE_CAPTAIN) {
    def.importance_floor = 0.8f;
    def.elasticity = 0.0f;
  }
  return scaffold_spawn(world, &def, NULL);
}

static muster_result siege_spawn(void *instance, muster_world *world) {
  muster_world_tuning tuning = muster_world_tuning_default();
  tuning.levels.pressure = level_pressure;
  (void)instance;
  return muster_world_tune(world, &tuning);
}

/* ---------------------------------------------------------------------------------------------------------- players */

/* How far a player is on its way to the gate: 0..1. When the siege ends, players that came first leave first. */
static double way_of(const siege *self, uint32_t player, double seconds) {
  double out_s = setting_out_s * scaffold_random_share(player ^ self->base.seed << 32);
  double there = fmin(fmax((seconds - out_s) / ride_s, 0.0), 1.0);
  double back = fmin(fmax((seconds - (double)self->lasts_s - out_s) / ride_s, 0.0), 1.0);
  return there - back;
}

/* There is a fight at the gate from the first arrival to the first departure. */
static void siege_gather(void *instance, double seconds) {
  siege *self = instance;
  self->arrived = 0;
  self->fighting = seconds >= ride_s && seconds < (double)self->lasts_s;
}

static muster_position siege_place(void *instance, uint32_t player, double seconds) {
  siege *self = instance;
  double way = way_of(self, player, seconds);
  double place_m = gate_m * sqrt((player + 0.5) / self->base.observer_count);
  double from_m = camp_m + camp_wide_m * scaffold_random_share(player + self->base.seed);
  self->arrived += way >= 1.0;
  return scaffold_beside((muster_position){0}, from_m + (place_m - from_m) * way, golden_rad * player);
}

/* Players are moved while any is on the way, or was one frame ago. */
static void siege_frame(void *instance, muster_world *world) {
  const siege *self = instance;
  double seconds = scaffold_seconds(&self->base), end_s = (double)self->lasts_s;
  double busy_s = setting_out_s + ride_s + 2e-9 * (double)self->base.frame_ns;
  if (seconds < busy_s || (seconds >= end_s && seconds < end_s + busy_s))
    scaffold_move_observers(instance, world);
  else
    scaffold_gather(instance);
}

/* ----------------------------------------------------------------------------------------------------------- report */

typedef struct census {
  uint64_t strikes, struck, violations;
} census;

static void siege_count(const scaffold_look *look) {
  const siege_state *own = look->info.state;
  census *all = look->sums;
  all->strikes += own->strikes;
  all->struck += own->struck;
  all->violations += hypot(look->info.position.x, look->info.position.y) > 1.1 * half_m;
  all->violations += !convergence_has_lived(&own->mark, &look->info);
}

static void siege_conclude(const scaffold_look *look) {
  census *all = look->sums;
  all->violations += all->strikes != all->struck;
}

static const scaffold_line lines[] = {
    SCAFFOLD_AGENTS("population"),
    SCAFFOLD_OWN("players", scaffold, observer_count),
    SCAFFOLD_OWN("players_at_the_gate", siege, arrived),
    SCAFFOLD_OWN("fighting", siege, fighting),
    SCAFFOLD_SUM("updates", siege_state, updates),
    SCAFFOLD_SUM("looks", siege_state, looks),
    SCAFFOLD_SUM("seen", siege_state, seen),
    SCAFFOLD_SUM("strikes", siege_state, strikes),
    SCAFFOLD_SUM("walked_m", siege_state, walked_m),
    SCAFFOLD_SUM_OF("captain_updates", siege_state, updates, siege, casts[SIEGE_CAPTAIN].type),
    SCAFFOLD_FOUND("violations", census, violations),
    {0}};

/* What a snapshot keeps besides the agents; the rest follows from the time. */
static const scaffold_field kept[] = {SCAFFOLD_SAME_SEED_AND_TIMES, {0}};

static const scaffold_array arrays[] = {SCAFFOLD_KEPT_OBSERVERS, {0}};

static const scaffold_plan plan = {.name = "siege",
                                   .bytes = sizeof(siege),
                                   .agents_default = 100000,
                                   .agents_max = 2000000,
                                   .observers_default = 2000,
                                   .observers_max = 65536,
                                   .cell_m = 8.0f,
                                   .arrays = arrays,
                                   .kept = kept,
                                   .lines = lines,
                                   .prepare = siege_prepare,
                                   .kinds = SIEGE_KINDS,
                                   .join_one = siege_register,
                                   .spawn = siege_spawn,
                                   .spawn_one = siege_spawn_one,
                                   .gather = siege_gather,
                                   .place = siege_place,
                                   .frame = siege_frame,
                                   .count = siege_count,
                                   .conclude = siege_conclude};

SCAFFOLD_MODULE(siege, plan, "siege", "2,000 players gather at one gate: the important alone do not fit",
                SCAFFOLD_FRAMES, SCAFFOLD_SAVES)

#include "scenarios/siege.h"

#include <math.h>

static const double setting_out_s = 3.0, ride_s = 3.0;   /* players set out within this time; how long each rides */
static const double camp_m = 250.0, camp_wide_m = 150.0; /* distance and width of the camp that players come from */
static const double gate_m = 40.0;                       /* radius of the crowd at the gate */
static const double golden_rad = 2.399963;               /* angle between neighbours on a spiral */
static const float level_pressure = 0.5f;

static muster_result siege_prepare(void *instance, const muster_module_options *options) {
  (void)options;
  ((siege *)instance)->lasts_s = INFINITY;
  return MUSTER_OK;
}

void siege_choose(void *instance, float lasts_s) {
  ((siege *)instance)->lasts_s = lasts_s;
}

/* ---------------------------------------------------------------------------------------------------------- populate
 */

static double share_of(const siege *self, uint64_t number) {
  return scaffold_random_share(self->base.seed * 0x9e3779b97f4a7c15u + number);
}

static muster_result siege_spawn_one(void *instance, muster_world *world, uint32_t number) {
  const siege *self = instance;
  siege_kind kind = siege_kind_of(number);
  double away_m = siege_reach_m(kind) * share_of(self, 2ull * number);
  double angle = 6.283185307179586 * share_of(self, 2ull * number + 1);
  muster_position place = {away_m * cos(angle), away_m * sin(angle), 0.0};
  siege_state state = {.home_x = (float)place.x, .home_y = (float)place.y};
  muster_agent_def def = scaffold_agent(self->casts[kind].type, place, &state);
  if (kind == SIEGE_CAPTAIN) {
    def.importance_floor = 0.8f;
    def.elasticity = 0.0f;
  }
  return scaffold_spawn(world, &def, NULL);
}

static muster_result siege_spawn(void *instance, muster_world *world) {
  muster_world_tuning tuning = muster_default_world_tuning();
  tuning.level_pressure = level_pressure;
  (void)instance;
  return muster_world_tune(world, &tuning);
}

/* ----------------------------------------------------------------------------------------------------------- players
 */

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
  double way = way_of(self, player, seconds), angle = golden_rad * player;
  double place_m = gate_m * sqrt((player + 0.5) / self->base.observer_count);
  double from_m = camp_m + camp_wide_m * scaffold_random_share(player + self->base.seed);
  double away_m = from_m + (place_m - from_m) * way;
  self->arrived += way >= 1.0;
  return (muster_position){away_m * cos(angle), away_m * sin(angle), 0.0};
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

/* ------------------------------------------------------------------------------------------------------------ report
 */

typedef struct census {
  uint64_t strikes, struck, captain_updates, violations;
} census;

static void siege_count(const scaffold_look *look) {
  const siege *self = look->instance;
  const siege_state *own = look->info.state;
  census *all = look->sums;
  all->strikes += own->strikes;
  all->struck += own->struck;
  if (look->info.type.index == self->casts[SIEGE_CAPTAIN].type.index) all->captain_updates += own->updates;
  all->violations += hypot(look->info.position.x, look->info.position.y) > 1.1 * siege_half_m;
  all->violations += !convergence_has_lived(&own->mark, &look->info);
}

static void siege_conclude(const scaffold_look *look) {
  census *all = look->sums;
  all->violations += all->strikes != all->struck;
}

static const scaffold_line lines[] = {SCAFFOLD_AGENTS("population"),
                                      SCAFFOLD_OWN("players", scaffold, observer_count),
                                      SCAFFOLD_OWN("players_at_the_gate", siege, arrived),
                                      SCAFFOLD_OWN("fighting", siege, fighting),
                                      SCAFFOLD_SUM("updates", siege_state, updates),
                                      SCAFFOLD_SUM("looks", siege_state, looks),
                                      SCAFFOLD_SUM("seen", siege_state, seen),
                                      SCAFFOLD_SUM("strikes", siege_state, strikes),
                                      SCAFFOLD_SUM("walked_m", siege_state, walked_m),
                                      SCAFFOLD_FOUND("captain_updates", census, captain_updates),
                                      SCAFFOLD_FOUND("violations", census, violations),
                                      {0}};

/* What a snapshot keeps besides the agents; the rest follows from the time. */
static const scaffold_field kept[] = {SCAFFOLD_SAME_WORLD,
                                      SCAFFOLD_FLAG(scaffold, begun),
                                      SCAFFOLD_SAME(scaffold, seed),
                                      SCAFFOLD_KEPT(scaffold, begin_ns),
                                      SCAFFOLD_KEPT(scaffold, frame_ns),
                                      SCAFFOLD_KEPT(scaffold, now_ns),
                                      {0}};

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

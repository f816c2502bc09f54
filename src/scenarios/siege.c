#include "scenarios/siege.h"

#include "scenarios/kept.h"
#include "scenarios/options_check.h"
#include "scenarios/population_random.h"

#include <math.h>
#include <stdlib.h>

enum { AGENTS_DEFAULT = 100000, AGENTS_MAX = 2000000, PLAYERS_DEFAULT = 2000, PLAYERS_MAX = 65536 };
enum { VERSION = 1 /* of the snapshot's contents */ };

static const double setting_out_s = 3.0, ride_s = 3.0;   /* players set out within this time; how long each rides */
static const double camp_m = 250.0, camp_wide_m = 150.0; /* distance and width of the camp that players come from */
static const double gate_m = 40.0;                       /* radius of the crowd at the gate */
static const double golden_rad = 2.399963;               /* angle between neighbours on a spiral */
static const float level_pressure = 0.5f;

/* -------------------------------------------------------------------------------------------------------------- open
 */

static void close_siege(void *instance) {
  siege *self = instance;
  free(self->players);
  free(self->places);
  free(self);
}

static siege *siege_make(const muster_module_options *options) {
  siege *self = calloc(1, sizeof *self);
  if (!self) return NULL;
  self->seed = options->seed;
  self->lasts_s = INFINITY;
  self->agents = options->agents ? options->agents : AGENTS_DEFAULT;
  self->player_count = options->observers ? options->observers : PLAYERS_DEFAULT;
  self->players = calloc(self->player_count, sizeof *self->players);
  self->places = calloc(self->player_count, sizeof *self->places);
  if (self->players && self->places) return self;
  close_siege(self);
  return NULL;
}

static muster_result open_siege(const muster_module_options *options, void **instance, muster_module_needs *needs) {
  muster_result result = options_check("siege", options, AGENTS_MAX, PLAYERS_MAX);
  if (result) return result;
  siege *self = siege_make(options);
  if (!self) return muster_module_fail(MUSTER_E_MEMORY, "siege: no memory for %u players", options->observers);
  *instance = self;
  *needs = (muster_module_needs){.size = (uint32_t)sizeof *needs,
                                 .agents = self->agents,
                                 .agents_max = self->agents,
                                 .observers = self->player_count,
                                 .cell_m = 8.0f};
  return MUSTER_OK;
}

void siege_choose(void *instance, float lasts_s) {
  siege *self = instance;
  self->lasts_s = lasts_s;
}

/* ---------------------------------------------------------------------------------------------------------- populate
 */

static double share_of(const siege *self, uint64_t number) {
  return (double)population_share(population_mix(self->seed * 0x9e3779b97f4a7c15u + number));
}

static bool siege_spawn_one(const siege *self, muster_world *world, uint32_t number) {
  siege_kind kind = siege_kind_of(number);
  double away_m = siege_reach_m(kind) * share_of(self, 2ull * number);
  double angle = 6.283185307179586 * share_of(self, 2ull * number + 1);
  muster_agent_def def = muster_default_agent_def();
  def.type = self->casts[kind].type;
  def.position = (muster_position){away_m * cos(angle), away_m * sin(angle), 0.0};
  siege_state state = {.home_x = (float)def.position.x, .home_y = (float)def.position.y};
  def.state = &state;
  if (kind == SIEGE_CAPTAIN) {
    def.importance_floor = 0.8f;
    def.elasticity = 0.0f;
  }
  return !muster_agent_is_null(muster_agent_spawn(world, &def));
}

/* How far a player is on its way to the gate: 0..1. When the siege ends, players that came first leave first. */
static double way_of(const siege *self, uint32_t player, double seconds) {
  double out_s = setting_out_s * (double)population_share(population_mix(player ^ self->seed << 32));
  double there = fmin(fmax((seconds - out_s) / ride_s, 0.0), 1.0);
  double back = fmin(fmax((seconds - (double)self->lasts_s - out_s) / ride_s, 0.0), 1.0);
  return there - back;
}

/* Computes where every player is at a time. There is a fight at the gate from the first arrival to the first
 * departure. */
static void siege_gather(siege *self, double seconds) {
  self->arrived = 0;
  for (uint32_t i = 0; i < self->player_count; i++) {
    double way = way_of(self, i, seconds), angle = golden_rad * i;
    double place_m = gate_m * sqrt((i + 0.5) / self->player_count);
    double from_m = camp_m + camp_wide_m * (double)population_share(population_mix(i + self->seed));
    double away_m = from_m + (place_m - from_m) * way;
    self->places[i] = (muster_position){away_m * cos(angle), away_m * sin(angle), 0.0};
    self->arrived += way >= 1.0;
  }
  self->fighting = seconds >= ride_s && seconds < (double)self->lasts_s;
}

/* Whether any player is on the way, or was one frame ago. */
static bool is_moving(const siege *self, double seconds) {
  double busy_s = setting_out_s + ride_s + 2e-9 * (double)self->frame_ns;
  return seconds < busy_s || (seconds >= (double)self->lasts_s && seconds < (double)self->lasts_s + busy_s);
}

static muster_result siege_populate(void *instance, muster_world *world) {
  siege *self = instance;
  muster_world_tuning tuning = muster_default_world_tuning();
  muster_result result = siege_register(self, world);
  tuning.level_pressure = level_pressure;
  if (!result) result = muster_world_tune(world, &tuning);
  for (uint32_t i = 0; i < self->agents && !result; i++)
    if (!siege_spawn_one(self, world, i)) result = MUSTER_E_FULL;
  siege_gather(self, 0.0);
  for (uint32_t i = 0; i < self->player_count && !result; i++) {
    muster_observer_def def = muster_default_observer_def();
    def.position = self->places[i];
    self->players[i] = muster_observer_add(world, &def);
    if (self->players[i].generation == 0) result = MUSTER_E_FULL;
  }
  return result;
}

static double seconds_at(const siege *self, uint64_t sim_now_ns) {
  return (double)(sim_now_ns - self->begin_ns) * 1e-9;
}

static void siege_before_frame(void *instance, muster_world *world, uint64_t sim_now_ns) {
  siege *self = instance;
  if (!self->begun) self->begin_ns = self->last_ns = sim_now_ns;
  self->begun = true;
  self->frame_ns = sim_now_ns - self->last_ns;
  self->last_ns = sim_now_ns;
  siege_gather(self, seconds_at(self, sim_now_ns));
  if (is_moving(self, seconds_at(self, sim_now_ns)))
    muster_observers_move(world, self->players, self->places, self->player_count);
}

/* -------------------------------------------------------------------------------------------------------------- keep
 */

/* What a snapshot keeps besides the agents; the rest follows from the time. */
typedef struct kept_siege {
  uint32_t version, agents, player_count, begun;
  uint64_t seed, begin_ns, frame_ns, last_ns;
} kept_siege;

static muster_result siege_save(void *instance, const muster_world *world, muster_module_write write,
                                void *write_user) {
  const siege *self = instance;
  kept_siege kept = {.version = VERSION,
                     .agents = self->agents,
                     .player_count = self->player_count,
                     .begun = self->begun,
                     .seed = self->seed,
                     .begin_ns = self->begin_ns,
                     .frame_ns = self->frame_ns,
                     .last_ns = self->last_ns};
  (void)world;
  bool written = write(&kept, sizeof kept, write_user) &&
                 write(self->players, self->player_count * sizeof *self->players, write_user);
  return written ? MUSTER_OK : kept_unwritten("siege");
}

static muster_result siege_resume(void *instance, muster_world *world, const void *bytes, size_t count) {
  siege *self = instance;
  kept_bytes left = {.bytes = bytes, .count = count};
  kept_siege kept;
  muster_result result = siege_register(self, world);
  if (result) return result;
  kept_take(&left, &kept, sizeof kept);
  if (kept.version != VERSION || kept.agents != self->agents || kept.player_count != self->player_count ||
      kept.begun > 1 || kept.seed != self->seed)
    return kept_refused("siege");
  kept_take(&left, self->players, self->player_count * sizeof *self->players);
  if (!kept_is_read(&left)) return kept_refused("siege");
  self->begun = kept.begun;
  self->begin_ns = kept.begin_ns;
  self->frame_ns = kept.frame_ns;
  self->last_ns = kept.last_ns;
  siege_gather(self, seconds_at(self, kept.last_ns));
  return MUSTER_OK;
}

/* ------------------------------------------------------------------------------------------------------------ report
 */

typedef struct sums {
  uint64_t agents, updates, looks, seen, strikes, struck, captain_updates, outside, lifetime_errors;
  double walked_m;
} sums;

static void siege_add_one(const siege *self, const muster_agent_info *info, sums *all) {
  const siege_state *own = info->state;
  bool captain = info->type.index == self->casts[SIEGE_CAPTAIN].type.index;
  all->agents++;
  all->updates += own->updates;
  all->looks += own->looks;
  all->seen += own->seen;
  all->strikes += own->strikes;
  all->struck += own->struck;
  all->captain_updates += captain ? own->updates : 0;
  all->walked_m += own->walked_m;
  all->outside += hypot(info->position.x, info->position.y) > 1.1 * siege_half_m;
  all->lifetime_errors += !convergence_has_lived(&own->mark, info);
}

static void siege_report(void *instance, const muster_world *world, muster_module_emit emit, void *emit_user) {
  const siege *self = instance;
  sums all = {0};
  muster_agent_info info = muster_default_agent_info();
  for (muster_agent agent = muster_agent_next(world, (muster_agent){0, 0}); !muster_agent_is_null(agent);
       agent = muster_agent_next(world, agent))
    if (muster_agent_read(world, agent, &info) == MUSTER_OK) siege_add_one(self, &info, &all);
  emit("population", (double)all.agents, emit_user);
  emit("players", self->player_count, emit_user);
  emit("players_at_the_gate", self->arrived, emit_user);
  emit("fighting", self->fighting, emit_user);
  emit("updates", (double)all.updates, emit_user);
  emit("looks", (double)all.looks, emit_user);
  emit("seen", (double)all.seen, emit_user);
  emit("strikes", (double)all.strikes, emit_user);
  emit("walked_m", all.walked_m, emit_user);
  emit("captain_updates", (double)all.captain_updates, emit_user);
  emit("violations", (double)(all.outside + all.lifetime_errors + (all.strikes != all.struck)), emit_user);
}

const muster_module *muster_module_siege(void) {
  static const muster_module module = {.size = (uint32_t)sizeof module,
                                       .abi = MUSTER_MODULE_ABI,
                                       .name = "siege",
                                       .summary = "2,000 players gather at one gate: the important alone do not fit",
                                       .open = open_siege,
                                       .populate = siege_populate,
                                       .before_frame = siege_before_frame,
                                       .report = siege_report,
                                       .close = close_siege,
                                       .save = siege_save,
                                       .resume = siege_resume};
  return &module;
}

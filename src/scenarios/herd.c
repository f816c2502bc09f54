#include "scenarios/herd.h"

#include <muster/herd.h>

enum { HERDS_PER_WOLF = 256, WOLVES_LEAST = 4, AGENTS_CAP = 16000000 };

static const double side_m = 4000.0;

static uint64_t random_of(const herd_world *self, uint64_t purpose, uint64_t number) {
  return scaffold_random(scaffold_random(self->base.seed + purpose * 0x632be59bd9b4e019u) + number);
}

/* A coordinate anywhere between the fences. */
static double anywhere(const herd_world *self, uint64_t purpose, uint64_t number) {
  return (scaffold_share(random_of(self, purpose, number)) - 0.5) * side_m;
}

/* Any direction. */
static void direction_of(const herd_world *self, uint64_t purpose, uint64_t number, float *x, float *y) {
  herd_direction(herd_lower_share((uint32_t)random_of(self, purpose, number)), x, y);
}

/* ------------------------------------------------------------------------------------------------------------- open */

/* How many agents the observers may cause: the leaves in the rings around each observer, if herds stand as densely as
 * in the beginning, plus half as many for places where herds crowd together; not more than there are deer. */
static uint32_t agents_for(const herd_world *self, double herds_per_m2, double zone_m) {
  double leaves = 0.0;
  for (uint32_t ring = 0; ring < HERD_DEPTH; ring++) {
    double outer_m = zone_m * (ring + 1) * 1.15, inner_m = zone_m * ring;
    leaves += herds_per_m2 * 3.15 * (outer_m * outer_m - inner_m * inner_m) * (double)(1u << (HERD_DEPTH - ring));
  }
  leaves = fmin(1.5 * leaves * self->base.observer_count + 256.0, self->base.agents);
  return (uint32_t)fmin(leaves + self->block_count + self->wolves + 64.0, AGENTS_CAP);
}

static herd_choice default_choice(void) {
  const muster_herd_type_def def = muster_herd_type_def_default();
  return (herd_choice){
      .visible_m = def.visible_m, .observer_mps = 2.0f, .wolves = UINT32_MAX, .members = HERD_MEMBERS, .pace = 1.0f};
}

void herd_choose(void *instance, const herd_choice *choice) {
  herd_world *self = instance;
  self->choice = *choice;
  if (choice->wolves != UINT32_MAX) self->wolves = choice->wolves;
}

static muster_result herd_prepare(void *instance) {
  herd_world *self = instance;
  self->herds = (uint32_t)(((uint64_t)self->base.agents + HERD_MEMBERS - 1) / HERD_MEMBERS);
  self->block_count = self->herds / MUSTER_HERD_BLOCK + 1;
  self->wolves = WOLVES_LEAST + self->herds / HERDS_PER_WOLF;
  self->choice = default_choice();
  self->ground = herd_ground_of((float)side_m, (uint32_t)self->base.seed);
  self->rules = herd_flock_paper;
  self->rules.drag_per_s = herd_drag;
  self->base.needs.agents = self->wolves + self->block_count;
  self->base.needs.agents_max =
      agents_for(self, self->herds / (side_m * side_m), (double)muster_herd_type_def_default().zone_m[0]);
  return MUSTER_OK;
}

/* --------------------------------------------------------------------------------------------------------- populate */

static muster_result register_herds(herd_world *self, muster_world *world) {
  muster_herd_type_def def = muster_herd_type_def_default();
  double reach_m = (double)def.zone_m[HERD_DEPTH - 1] * (1.0 + (double)def.hysteresis);
  double unfolded = 1.5 * self->base.observer_count * 3.15 * reach_m * reach_m * self->herds / (side_m * side_m) + 64.0;
  def.member = self->deer_type;
  def.branching = HERD_BRANCHING;
  def.depth = HERD_DEPTH;
  def.visible_m = self->choice.visible_m;
  def.totals = HERD_TOTALS;
  def.herds_max = self->herds;
  def.unfolded_max = (uint32_t)fmin(fmin(unfolded, self->herds), 1u << 20);
  def.model_ns = 20000; /* measured, for a full block */
  def.run_block = herd_run_block;
  def.unfold = herd_unfold_deer;
  def.fold = herd_fold_deer;
  def.user = self;
  self->herd_type = muster_herd_type_register(world, &def);
  return self->herd_type.index ? MUSTER_OK : MUSTER_E_ARGUMENT;
}

/* Every second bit of a number, for an order of the squares that keeps neighbours together. */
static uint32_t every_second_bit(uint64_t number) {
  uint32_t bits = 0;
  for (uint32_t bit = 0; bit < 32; bit++) bits |= (uint32_t)(number >> (2 * bit) & 1u) << bit;
  return bits;
}

/* One herd stands somewhere in each of as many squares as there are herds, or in some of up to four times as many. */
static muster_herd_def first_herd(const herd_world *self, uint32_t number) {
  uint32_t order = 0;
  while ((uint64_t)1 << (2 * order) < self->herds) order++;
  uint64_t square = ((uint64_t)number << (2 * order)) / self->herds, random = random_of(self, 1, number);
  double edge_m = side_m / (double)((uint64_t)1 << order);
  muster_herd_def def = {.members = self->choice.members};
  def.position.x = (every_second_bit(square) + scaffold_share(random)) * edge_m - 0.5 * side_m;
  def.position.y = (every_second_bit(square >> 1) + scaffold_share(scaffold_random(random))) * edge_m - 0.5 * side_m;
  direction_of(self, 2, number, &def.velocity_x, &def.velocity_y);
  def.velocity_x *= herd_walk_mps;
  def.velocity_y *= herd_walk_mps;
  uint32_t left = self->base.agents - number * HERD_MEMBERS; /* the last herd has what is left */
  if (left < def.members) def.members = left;
  return def;
}

static muster_result herd_add_herds(herd_world *self, muster_world *world) {
  enum { AT_ONCE = 512 };
  muster_herd_def defs[AT_ONCE];
  for (uint32_t first = 0; first < self->herds; first += AT_ONCE) {
    uint32_t count = self->herds - first < AT_ONCE ? self->herds - first : AT_ONCE;
    for (uint32_t i = 0; i < count; i++) {
      defs[i] = first_herd(self, first + i);
      self->first_deer += defs[i].members;
    }
    if (muster_herds_add(world, self->herd_type, defs, count, NULL) != count) return MUSTER_E_FULL;
  }
  return MUSTER_OK;
}

static muster_result add_wolves(const herd_world *self, muster_world *world) {
  muster_result result = MUSTER_OK;
  for (uint32_t i = 0; i < self->wolves && !result; i++) {
    herd_wolf wolf = {.aim_x = anywhere(self, 3, i), .aim_y = anywhere(self, 4, i)};
    direction_of(self, 5, i, &wolf.velocity_x, &wolf.velocity_y);
    muster_agent_def def = scaffold_agent(self->wolf_type, (muster_position){wolf.aim_x, wolf.aim_y, 0.0}, &wolf);
    result = scaffold_spawn(world, &def, NULL);
  }
  return result;
}

static muster_result herd_join(void *instance, muster_world *world) {
  herd_world *self = instance;
  muster_result result = herd_register_deer(self, world);
  if (!result) result = herd_register_wolves(self, world);
  return result ? result : register_herds(self, world);
}

static muster_result herd_spawn(void *instance, muster_world *world) {
  herd_world *self = instance;
  muster_result result = herd_add_herds(self, world);
  return result ? result : add_wolves(self, world);
}

/* ----------------------------------------------------------------------------------------------------------- frames */

static muster_position herd_place(void *instance, uint32_t observer, double seconds) {
  const herd_world *self = instance;
  float east, north;
  direction_of(self, 8, observer, &east, &north);
  scaffold_walker walker = {anywhere(self, 6, observer), anywhere(self, 7, observer),
                            (double)(self->choice.observer_mps * east), (double)(self->choice.observer_mps * north)};
  return scaffold_walk(&walker, seconds, -0.5 * side_m, side_m);
}

/* Without a frame the world is new or just loaded. */
static void note_represented(void *instance, const muster_world *world) {
  muster_frame_report report = muster_frame_report_default();
  muster_frame_report_read(world, &report);
  if (report.frame) ((herd_world *)instance)->represented = report.represented;
}

static void herd_frame(void *instance, muster_world *world) {
  herd_world *self = instance;
  note_represented(self, world);
  uint64_t deer = self->represented > self->wolves ? self->represented - self->wolves : 0;
  self->deer_s += (double)self->base.frame_ns * 1e-9 * (double)deer;
  scaffold_move_observers(self, world);
}

/* ----------------------------------------------------------------------------------------------------------- report */

/* Sums over herds, and over what was counted. */
typedef struct census {
  uint64_t herds, folded, unfolded, leaves, deer, represented;
  double grazed_g, grazed_kg, grazed_kg_per_deer_hour, fawns, orphans, speed_mps;
  uint64_t births, deaths;
  muster_statistics statistics;
} census;

static void count_herds(const muster_world *world, census *sums) {
  muster_herd_info info = muster_herd_info_default();
  muster_herd herd = muster_herd_next(world, (muster_herd){0});
  for (; muster_herd_generation(herd); herd = muster_herd_next(world, herd)) {
    if (muster_herd_read(world, herd, &info) != MUSTER_OK) continue;
    sums->herds++;
    sums->unfolded += info.leaves > 0;
    sums->leaves += info.leaves;
    sums->deer += info.members;
    sums->grazed_g += (double)info.totals[HERD_GRAZED];
    sums->fawns += (double)info.totals[HERD_FAWNS];
    sums->speed_mps += (double)hypotf(info.velocity_x, info.velocity_y);
  }
}

/* Numbers of members: first = deer + deaths + killed - births. */
static void herd_conclude(const scaffold_look *look) {
  const herd_world *self = look->instance;
  census *sums = look->sums;
  double by_dead_g = scaffold_untallied(self->tally.grazed_by_dead_g);
  muster_frame_report frame = muster_frame_report_default();
  muster_frame_report_read(look->world, &frame);
  sums->represented = frame.represented;
  sums->statistics = muster_statistics_default();
  muster_statistics_read(look->world, &sums->statistics);
  sums->deaths = self->tally.deaths;
  sums->orphans = scaffold_untallied(self->tally.orphans);
  for (uint32_t i = 0; i < self->block_count; i++) {
    sums->births += self->blocks[i].births;
    sums->deaths += self->blocks[i].deaths;
    by_dead_g += self->blocks[i].grazed_by_dead_g;
  }
  count_herds(look->world, sums);
  double grazed_g = sums->grazed_g + by_dead_g;
  sums->folded = sums->herds - sums->unfolded;
  sums->grazed_kg = grazed_g * 1e-3;
  sums->grazed_kg_per_deer_hour = grazed_g * 3.6 / (self->deer_s + 1e-9);
  if (sums->herds) sums->speed_mps /= (double)sums->herds;
}

#define STATISTIC(name) SCAFFOLD_FOUND(#name, census, statistics.name)

static const scaffold_line lines[] = {SCAFFOLD_FOUND("represented", census, represented),
                                      SCAFFOLD_OWN("first_deer", herd_world, first_deer),
                                      SCAFFOLD_FOUND("deer", census, deer),
                                      SCAFFOLD_FOUND("leaves", census, leaves),
                                      SCAFFOLD_FOUND("herds_folded", census, folded),
                                      SCAFFOLD_FOUND("herds_unfolded", census, unfolded),
                                      SCAFFOLD_OWN("wolves", herd_world, wolves),
                                      SCAFFOLD_SECONDS("simulated_s"),
                                      SCAFFOLD_FOUND("births", census, births),
                                      SCAFFOLD_FOUND("fawns_waiting", census, fawns),
                                      SCAFFOLD_FOUND("fawns_orphaned", census, orphans),
                                      SCAFFOLD_FOUND("deaths", census, deaths),
                                      SCAFFOLD_OWN("killed", herd_world, tally.killed),
                                      SCAFFOLD_OWN("killed_folded", herd_world, tally.killed_folded),
                                      SCAFFOLD_OWN("scares", herd_world, tally.scares),
                                      SCAFFOLD_FOUND("grazed_kg", census, grazed_kg),
                                      SCAFFOLD_FOUND("grazed_kg_per_deer_hour", census, grazed_kg_per_deer_hour),
                                      SCAFFOLD_FOUND("herd_speed_mps", census, speed_mps),
                                      STATISTIC(folds),
                                      STATISTIC(unfolds),
                                      STATISTIC(unfolds_refused),
                                      STATISTIC(folds_refused),
                                      STATISTIC(herds_refused),
                                      STATISTIC(changes_in_sight),
                                      STATISTIC(bytes_folded),
                                      STATISTIC(bytes_unfolded),
                                      {0}};

/* --------------------------------------------------------------------------------------------------------- the plan */

/* What a snapshot keeps besides herds and wolves; the observers and the tallies of the blocks follow. */
static const scaffold_field kept[] = {SCAFFOLD_SAME_WORLD,
                                      SCAFFOLD_SAME(herd_world, wolves),
                                      SCAFFOLD_SAME(herd_world, block_count),
                                      SCAFFOLD_FLAG(scaffold, begun),
                                      SCAFFOLD_KEPT_TIMES,
                                      SCAFFOLD_KEPT(herd_world, first_deer),
                                      SCAFFOLD_KEPT(herd_world, represented),
                                      SCAFFOLD_KEPT(herd_world, deer_s),
                                      SCAFFOLD_KEPT(herd_world, tally),
                                      {0}};

static const scaffold_array arrays[] = {
    SCAFFOLD_KEPT_OBSERVERS, SCAFFOLD_KEPT_ARRAY(herd_world, blocks, block_count), {0}};

static const scaffold_plan plan = {.name = "herd",
                                   .bytes = sizeof(herd_world),
                                   .agents_default = 65536,
                                   .agents_max = 1u << 31,
                                   .observers_default = 1,
                                   .observers_max = 65536,
                                   .cell_m = 32.0f,
                                   SCAFFOLD_TALLY(herd_world, tally),
                                   .arrays = arrays,
                                   .kept = kept,
                                   .lines = lines,
                                   .prepare = herd_prepare,
                                   .join = herd_join,
                                   .spawn = herd_spawn,
                                   .place = herd_place,
                                   .frame = herd_frame,
                                   .settle = note_represented,
                                   .conclude = herd_conclude};

SCAFFOLD_MODULE(herd, plan, "herd", "deer in herds of 32, agents only near observers, and wolves", SCAFFOLD_FRAMES,
                SCAFFOLD_SAVES)

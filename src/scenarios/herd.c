#include "scenarios/herd.h"

#include "scenarios/options_check.h"
#include "scenarios/population_random.h"

#include <stdlib.h>

enum { DEER_DEFAULT = 65536, OBSERVERS_MAX = 65536, HERDS_PER_WOLF = 256, WOLVES_LEAST = 4, AGENTS_CAP = 16000000 };

static const uint32_t deer_max = 1u << 31;
static const double side_m = 4000.0;
static const float neighbour_m = 32.0f;

static double share_of(uint64_t scattered) {
  return (double)(scattered >> 11) * 0x1p-53;
}

static uint64_t random_of(const herd_world *self, uint64_t purpose, uint64_t number) {
  return population_mix(population_mix(self->seed + purpose * 0x632be59bd9b4e019u) + number);
}

/* -------------------------------------------------------------------------------------------------------------- open
 */

/* How many agents the observers may cause: the leaves in the rings around each observer, if herds stand as densely as
 * in the beginning, plus half as many for places where herds crowd together; not more than there are deer. */
static uint32_t agents_for(const herd_world *self, double herds_per_m2, double zone_m) {
  double leaves = 0.0;
  for (uint32_t ring = 0; ring < HERD_DEPTH; ring++) {
    double outer_m = zone_m * (ring + 1) * 1.15, inner_m = zone_m * ring;
    leaves += herds_per_m2 * 3.15 * (outer_m * outer_m - inner_m * inner_m) * (double)(1u << (HERD_DEPTH - ring));
  }
  leaves = fmin(1.5 * leaves * self->observers + 256.0, self->deer);
  return (uint32_t)fmin(leaves + self->block_count + self->wolves + 64.0, AGENTS_CAP);
}

static herd_choice default_choice(void) {
  const muster_herd_type_def def = muster_default_herd_type_def();
  return (herd_choice){
      .visible_m = def.visible_m, .observer_mps = 2.0f, .wolves = UINT32_MAX, .members = HERD_MEMBERS, .pace = 1.0f};
}

void herd_choose(void *instance, const herd_choice *choice) {
  herd_world *self = instance;
  self->choice = *choice;
  if (choice->wolves != UINT32_MAX) self->wolves = choice->wolves;
}

static void settle_numbers(herd_world *self, const muster_module_options *options) {
  self->seed = options->seed;
  self->deer = options->agents ? options->agents : DEER_DEFAULT;
  self->herds = (uint32_t)(((uint64_t)self->deer + HERD_MEMBERS - 1) / HERD_MEMBERS);
  self->observers = options->observers ? options->observers : 1;
  self->block_count = self->herds / MUSTER_HERD_BLOCK + 1;
  self->wolves = WOLVES_LEAST + self->herds / HERDS_PER_WOLF;
  self->choice = default_choice();
  self->ground = herd_ground_of((float)side_m, (uint32_t)options->seed);
  self->rules = herd_flock_paper;
  self->rules.drag_per_s = herd_drag;
}

static void close_herds(void *instance) {
  herd_world *self = instance;
  free(self->blocks);
  free(self->walkers);
  free(self->observer_ids);
  free(self->places);
  free(self);
}

static muster_result open_herds(const muster_module_options *options, void **instance, muster_module_needs *needs) {
  muster_result result = options_check("herd", options, deer_max, OBSERVERS_MAX);
  if (result) return result;
  herd_world *self = calloc(1, sizeof *self);
  if (!self) return muster_module_fail(MUSTER_E_MEMORY, "herd: no memory");
  settle_numbers(self, options);
  self->blocks = aligned_alloc(64, self->block_count * sizeof *self->blocks);
  self->walkers = calloc(self->observers, sizeof *self->walkers);
  self->observer_ids = calloc(self->observers, sizeof *self->observer_ids);
  self->places = calloc(self->observers, sizeof *self->places);
  if (!self->blocks || !self->walkers || !self->observer_ids || !self->places) {
    close_herds(self);
    return muster_module_fail(MUSTER_E_MEMORY, "herd: no memory for %u observers and %u deer", options->observers,
                              options->agents);
  }
  for (uint32_t i = 0; i < self->block_count; i++) self->blocks[i] = (herd_block_tally){0};
  double zone_m = (double)muster_default_herd_type_def().zone_m[0];
  *instance = self;
  *needs = (muster_module_needs){.size = (uint32_t)sizeof *needs,
                                 .agents = self->wolves + self->block_count,
                                 .agents_max = agents_for(self, self->herds / (side_m * side_m), zone_m),
                                 .observers = self->observers,
                                 .cell_m = neighbour_m};
  return MUSTER_OK;
}

/* ---------------------------------------------------------------------------------------------------------- populate
 */

static muster_herd_type register_herds(herd_world *self, muster_world *world) {
  muster_herd_type_def def = muster_default_herd_type_def();
  double reach_m = (double)def.zone_m[HERD_DEPTH - 1] * (1.0 + (double)def.hysteresis);
  double unfolded = 1.5 * self->observers * 3.15 * reach_m * reach_m * self->herds / (side_m * side_m) + 64.0;
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
  return muster_herd_type_register(world, &def);
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
  def.position.x = (every_second_bit(square) + share_of(random)) * edge_m - 0.5 * side_m;
  def.position.y = (every_second_bit(square >> 1) + share_of(population_mix(random))) * edge_m - 0.5 * side_m;
  herd_direction(herd_lower_share((uint32_t)random_of(self, 2, number)), &def.velocity_x, &def.velocity_y);
  def.velocity_x *= herd_walk_mps;
  def.velocity_y *= herd_walk_mps;
  if (number + 1 == self->herds) {
    uint32_t last = self->deer - number * HERD_MEMBERS;
    if (last < def.members) def.members = last;
  }
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
  for (uint32_t i = 0; i < self->wolves; i++) {
    herd_wolf wolf = {0};
    muster_agent_def def = muster_default_agent_def();
    def.type = self->wolf_type;
    def.position.x = (share_of(random_of(self, 3, i)) - 0.5) * side_m;
    def.position.y = (share_of(random_of(self, 4, i)) - 0.5) * side_m;
    wolf.aim_x = def.position.x;
    wolf.aim_y = def.position.y;
    herd_direction(herd_lower_share((uint32_t)random_of(self, 5, i)), &wolf.velocity_x, &wolf.velocity_y);
    def.state = &wolf;
    if (muster_agent_is_null(muster_agent_spawn(world, &def))) return MUSTER_E_FULL;
  }
  return MUSTER_OK;
}

void herd_begin_walks(herd_world *self) {
  for (uint32_t i = 0; i < self->observers; i++) {
    float east, north;
    herd_direction(herd_lower_share((uint32_t)random_of(self, 8, i)), &east, &north);
    self->walkers[i] = (herd_walker){
        (share_of(random_of(self, 6, i)) - 0.5) * side_m, (share_of(random_of(self, 7, i)) - 0.5) * side_m,
        (double)(self->choice.observer_mps * east), (double)(self->choice.observer_mps * north)};
  }
}

static muster_result herd_add_observers(herd_world *self, muster_world *world) {
  herd_begin_walks(self);
  for (uint32_t i = 0; i < self->observers; i++) {
    muster_observer_def def = muster_default_observer_def();
    def.position = (muster_position){self->walkers[i].x, self->walkers[i].y, 0.0};
    self->observer_ids[i] = muster_observer_add(world, &def);
    if (self->observer_ids[i].generation == 0) return MUSTER_E_FULL;
  }
  return MUSTER_OK;
}

muster_result herd_register(herd_world *self, muster_world *world) {
  self->deer_type = herd_register_deer(self, world);
  if (!self->deer_type.index) return MUSTER_E_ARGUMENT;
  self->wolf_type = herd_register_wolves(self, world);
  if (!self->wolf_type.index) return MUSTER_E_ARGUMENT;
  self->herd_type = register_herds(self, world);
  return self->herd_type.index ? MUSTER_OK : MUSTER_E_ARGUMENT;
}

static muster_result herd_populate(void *instance, muster_world *world) {
  herd_world *self = instance;
  muster_result result = herd_register(self, world);
  if (!result) result = herd_add_herds(self, world);
  if (!result) result = add_wolves(self, world);
  return result ? result : herd_add_observers(self, world);
}

/* ------------------------------------------------------------------------------------------------------------ frames
 */

/* The position of an observer that has gone this distance from the middle, to and fro on a line between the fences. */
static double between_fences(double way_m) {
  double lap_m = fmod(way_m + 0.5 * side_m, 2 * side_m);
  if (lap_m < 0) lap_m += 2 * side_m;
  return (lap_m <= side_m ? lap_m : 2 * side_m - lap_m) - 0.5 * side_m;
}

static void herd_before_frame(void *instance, muster_world *world, uint64_t sim_now_ns) {
  herd_world *self = instance;
  muster_frame_report report = muster_default_frame_report();
  if (!self->begun) self->begin_ns = self->now_ns = sim_now_ns;
  self->begun = true;
  muster_frame_report_read(world, &report);
  if (report.frame) self->represented = report.represented; /* without a frame the world is new or just loaded */
  uint64_t deer = self->represented > self->wolves ? self->represented - self->wolves : 0;
  self->deer_s += (double)(sim_now_ns - self->now_ns) * 1e-9 * (double)deer;
  self->now_ns = sim_now_ns;
  double seconds = (double)(sim_now_ns - self->begin_ns) * 1e-9;
  for (uint32_t i = 0; i < self->observers; i++) {
    const herd_walker *walker = &self->walkers[i];
    self->places[i] = (muster_position){between_fences(walker->x + walker->east_mps * seconds),
                                        between_fences(walker->y + walker->north_mps * seconds), 0.0};
  }
  muster_observers_move(world, self->observer_ids, self->places, self->observers);
}

const muster_module *muster_module_herd(void) {
  static const muster_module module = {.size = (uint32_t)sizeof module,
                                       .abi = MUSTER_MODULE_ABI,
                                       .name = "herd",
                                       .summary = "deer in herds of 32, agents only near observers, and wolves",
                                       .open = open_herds,
                                       .populate = herd_populate,
                                       .before_frame = herd_before_frame,
                                       .report = herd_report,
                                       .close = close_herds,
                                       .save = herd_save,
                                       .resume = herd_resume};
  return &module;
}

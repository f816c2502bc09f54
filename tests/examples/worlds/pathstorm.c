#include "pathstorm.h"

#include "worlds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHIFT_MAX = 10, SHIFT_MIN = 7, CROWD = 800 }; /* from so many walkers on: the largest map */

/* The first storm comes while a host still warms up, and touches memory for the first time; then one comes every 10
 * s. */
static const double first_order_s = 0.5, before_storms_s = 2.0, order_s = 10.0;
static const double round_m = 60.0, walk_mps = 1.4; /* observers walk in circles */

/* The share of a storm's orders that name goals that cannot be reached, storm by storm. */
static const float forbidden_shares[] = {0.10f, 0.40f, 0.20f, 0.01f, 0.05f};

/* ---------------------------------------------------------------------------------------------------- what follows */

uint64_t pathstorm_random(const pathstorm *self, uint64_t number, uint64_t purpose) {
  return scaffold_random(scaffold_random(self->base.seed + purpose) ^ scaffold_random(number));
}

muster_position pathstorm_position(const pathstorm *self, uint32_t cell) {
  return (muster_position){pathstorm_cell_x(&self->map, cell) + 0.5, pathstorm_cell_y(&self->map, cell) + 0.5, 0.0};
}

uint32_t pathstorm_place_of(const pathstorm *self, uint32_t order, uint32_t walker) {
  uint64_t random = pathstorm_random(self, (uint64_t)order << 32 | walker, 2), choice = scaffold_random(random);
  uint32_t storm = order - 1;
  if (muster_random_share(random) < forbidden_shares[storm % (sizeof forbidden_shares / sizeof *forbidden_shares)])
    return PATHSTORM_PLACES + (uint32_t)(choice % PATHSTORM_FORBIDDEN);
  return (storm * PATHSTORM_GOALS + (uint32_t)(choice % PATHSTORM_GOALS)) % PATHSTORM_PLACES;
}

bool pathstorm_is_reachable(const pathstorm *self, uint32_t from, uint32_t to) {
  return self->map.regions[from] && self->map.regions[from] == self->map.regions[to];
}

/* ------------------------------------------------------------------------------------------------------------- open */

static void pathstorm_release(void *instance) {
  pathstorm *self = instance;
  pathstorm_solvers_destroy(self);
  for (uint32_t i = 0; i < PATHSTORM_FIELDS; i++) free(self->fields[i].ways);
  pathstorm_map_destroy(&self->map);
}

static bool make_map(pathstorm *self) {
  uint32_t shift = SHIFT_MAX;
  for (uint32_t crowd = CROWD; shift > SHIFT_MIN && self->base.agents < crowd; crowd /= 4) shift--;
  if (!pathstorm_map_create(&self->map, shift)) return false;
  pathstorm_map_build(&self->map, self->base.seed);
  return pathstorm_map_finish(&self->map);
}

static bool make_fields(pathstorm *self) {
  for (uint32_t i = 0; i < PATHSTORM_FIELDS; i++) {
    self->fields[i].ways = malloc(self->map.cells);
    if (!self->fields[i].ways) return false;
    memset(self->fields[i].ways, 0xff, self->map.cells); /* first touched here, not in a frame */
  }
  for (uint32_t i = 0; i < self->base.agents; i++) self->grants[i] = (pathstorm_grant){PATHSTORM_NONE, 0};
  return true;
}

/* Whether a cell can be the goal of this number: the first half of the unreachable goals lies on the far bank, where a
 * search takes long to find that out; the others lie in houses without a door, or on the far bank, too. */
static bool suits(const pathstorm *self, uint32_t goal, uint32_t cell, bool has_closed_houses) {
  uint32_t region = self->map.regions[cell];
  if (goal < PATHSTORM_PLACES) return region == 1;
  if (goal < PATHSTORM_PLACES + PATHSTORM_FORBIDDEN / 2 || !has_closed_houses) return region == 2;
  return region > 2;
}

static bool is_chosen(const pathstorm *self, uint32_t goals, uint32_t cell) {
  for (uint32_t i = 0; i < goals; i++)
    if (self->goals[i] == cell) return true;
  return false;
}

/* Gives each number its own cell, the next that suits. False when the map has too few. */
static bool choose_goals(pathstorm *self) {
  const pathstorm_map *map = &self->map;
  uint32_t closed = 0;
  for (uint32_t region = 3; region <= map->region_count; region++) closed += map->region_cells[region];
  if (map->region_count < 2 || map->region_cells[2] < PATHSTORM_FORBIDDEN) return false;
  if (map->region_cells[1] < PATHSTORM_PLACES) return false;
  for (uint32_t goal = 0; goal < PATHSTORM_PLACES + PATHSTORM_FORBIDDEN; goal++) {
    uint32_t cell = (uint32_t)(pathstorm_random(self, goal, 3) % map->cells);
    while (!suits(self, goal, cell, closed >= PATHSTORM_FORBIDDEN) || is_chosen(self, goal, cell))
      cell = (cell + 1) % map->cells;
    self->goals[goal] = cell;
  }
  return true;
}

static muster_result pathstorm_prepare(void *instance) {
  pathstorm *self = instance;
  self->base.needs.agents = self->base.needs.agents_max = self->base.agents + PATHSTORM_SOLVERS;
  return MUSTER_OK;
}

static muster_result pathstorm_build(void *instance) {
  pathstorm *self = instance;
  const char *name = self->base.plan->name;
  if (!make_map(self) || !make_fields(self) || !pathstorm_solvers_create(self))
    return muster_module_fail(MUSTER_E_MEMORY, "%s: no memory for %u agents", name, self->base.agents);
  if (choose_goals(self)) return MUSTER_OK;
  return muster_module_fail(MUSTER_E_ARGUMENT, "%s: seed %llu gives a map in one piece; take another one", name,
                            (unsigned long long)self->base.seed);
}

static muster_position pathstorm_observer_place(void *instance, uint32_t observer, double seconds) {
  const pathstorm *self = instance;
  uint64_t random = pathstorm_random(self, observer, 4);
  double side_m = self->map.side, angle = walk_mps * seconds / round_m + observer;
  return (muster_position){side_m * (double)muster_random_share(random) + round_m * cos(angle),
                           side_m * scaffold_random_share(random) + round_m * sin(angle), 0.0};
}

/* --------------------------------------------------------------------------------------------------- between frames */

/* Sends as many orders as the world takes; the others are sent in the next frame. */
static void give_orders(pathstorm *self, muster_world *world) {
  while (self->ordered < self->base.agents) {
    pathstorm_order order = {self->order, pathstorm_place_of(self, self->order, self->ordered)};
    muster_result result = muster_agent_send(world, self->walker_ids[self->ordered], &order, sizeof order);
    if (result == MUSTER_E_FULL) return;
    self->ordered++;
  }
}

static void pathstorm_frame(void *instance, muster_world *world) {
  pathstorm *self = instance;
  double seconds = scaffold_seconds(&self->base);
  scaffold_move_observers(self, world);
  if (seconds < first_order_s) return;
  uint32_t due = 1 + (uint32_t)(fmax(seconds - before_storms_s, 0.0) / order_s);
  if (due > self->order) {
    self->order = due;
    self->ordered = 0;
  }
  give_orders(self, world);
}

/* ------------------------------------------------------------------------------------------------------ the modules */

static const scaffold_array arrays[] = {
    SCAFFOLD_ARRAY(pathstorm, grants, base.agents), SCAFFOLD_ARRAY(pathstorm, walker_ids, base.agents), {0}};

#define PLAN(title)                                                                                                    \
  {                                                                                                                    \
    .name = title, .bytes = sizeof(pathstorm), .agents_default = 3200, .agents_max = 20000, .observers_default = 8,    \
    .observers_max = 4096, .cell_m = 16.0f, .arrays = arrays, .lines = pathstorm_lines, .prepare = pathstorm_prepare,  \
    .build = pathstorm_build, .release = pathstorm_release, .join = pathstorm_register,                                \
    .spawn = pathstorm_solvers_spawn, .spawn_one = pathstorm_walker_spawn, .place = pathstorm_observer_place,          \
    .frame = pathstorm_frame, .count = pathstorm_count, .conclude = pathstorm_conclude                                 \
  }

static const scaffold_plan sliced = PLAN("pathstorm"), whole = PLAN("pathstorm-whole");

bool pathstorm_is_whole(const pathstorm *self) {
  return self->base.plan == &whole;
}

SCAFFOLD_MODULE(pathstorm, sliced, "pathstorm", "all walkers are ordered across a large map at once, every 10 s",
                SCAFFOLD_FRAMES)
SCAFFOLD_MODULE(pathstorm_whole, whole, "pathstorm-whole",
                "the same, but each search is one atom: what slices are good for", SCAFFOLD_FRAMES)

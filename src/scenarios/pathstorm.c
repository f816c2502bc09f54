#include "scenarios/pathstorm.h"

#include "scenarios/options_check.h"
#include "scenarios/population_random.h"
#include "scenarios/scenarios.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WALKERS_DEFAULT = 3200, WALKERS_MAX = 20000, OBSERVERS_DEFAULT = 8, OBSERVERS_MAX = 4096 };
enum { SHIFT_MAX = 10, SHIFT_MIN = 7, CROWD = 800 }; /* from so many walkers on: the largest map */

/* The first storm comes while a host still warms up, and touches memory for the first time; then one comes every 10
 * s. */
static const double first_order_s = 0.5, before_storms_s = 2.0, order_s = 10.0;
static const double round_m = 60.0, walk_mps = 1.4; /* observers walk in circles */

/* The share of a storm's orders that name goals that cannot be reached, storm by storm. */
static const float forbidden_shares[] = {0.10f, 0.40f, 0.20f, 0.01f, 0.05f};

/* ---------------------------------------------------------------------------------------------------- what follows */

uint64_t pathstorm_random(const pathstorm *self, uint64_t number, uint64_t purpose) {
  return population_mix(population_mix(self->seed + purpose) ^ population_mix(number));
}

muster_position pathstorm_position(const pathstorm *self, uint32_t cell) {
  return (muster_position){pathstorm_cell_x(&self->map, cell) + 0.5, pathstorm_cell_y(&self->map, cell) + 0.5, 0.0};
}

uint32_t pathstorm_place_of(const pathstorm *self, uint32_t order, uint32_t walker) {
  uint64_t random = pathstorm_random(self, (uint64_t)order << 32 | walker, 2), choice = population_mix(random);
  uint32_t storm = order - 1;
  if (population_share(random) < forbidden_shares[storm % (sizeof forbidden_shares / sizeof *forbidden_shares)])
    return PATHSTORM_PLACES + (uint32_t)(choice % PATHSTORM_FORBIDDEN);
  return (storm * PATHSTORM_GOALS + (uint32_t)(choice % PATHSTORM_GOALS)) % PATHSTORM_PLACES;
}

uint32_t pathstorm_solver_of(uint32_t place) {
  return place % PATHSTORM_SOLVERS;
}

bool pathstorm_is_reachable(const pathstorm *self, uint32_t from, uint32_t to) {
  return self->map.regions[from] && self->map.regions[from] == self->map.regions[to];
}

/* ------------------------------------------------------------------------------------------------------------- open */

static void pathstorm_free_all(pathstorm *self) {
  pathstorm_solvers_destroy(self);
  for (uint32_t i = 0; i < PATHSTORM_FIELDS; i++) free(self->fields[i].ways);
  pathstorm_map_destroy(&self->map);
  free(self->grants);
  free(self->walker_ids);
  free(self->observers);
  free(self->places);
  free(self);
}

static bool make_fields(pathstorm *self) {
  for (uint32_t i = 0; i < PATHSTORM_FIELDS; i++) {
    self->fields[i].ways = malloc(self->map.cells);
    if (!self->fields[i].ways) return false;
    memset(self->fields[i].ways, 0xff, self->map.cells); /* first touched here, not in a frame */
  }
  memset(self->grants, 0xff, self->walkers * sizeof *self->grants);
  for (uint32_t i = 0; i < self->walkers; i++) self->grants[i].order = 0;
  return true;
}

static bool make_map(pathstorm *self) {
  uint32_t shift = SHIFT_MAX;
  for (uint32_t crowd = CROWD; shift > SHIFT_MIN && self->walkers < crowd; crowd /= 4) shift--;
  if (!pathstorm_map_create(&self->map, shift)) return false;
  pathstorm_map_build(&self->map, self->seed);
  return pathstorm_map_finish(&self->map);
}

static pathstorm *pathstorm_make(const muster_module_options *options, bool whole) {
  pathstorm *self = calloc(1, sizeof *self);
  if (!self) return NULL;
  self->seed = options->seed;
  self->whole = whole;
  self->walkers = options->agents ? options->agents : WALKERS_DEFAULT;
  self->observer_count = options->observers ? options->observers : OBSERVERS_DEFAULT;
  self->grants = calloc(self->walkers, sizeof *self->grants);
  self->walker_ids = calloc(self->walkers, sizeof *self->walker_ids);
  self->observers = calloc(self->observer_count, sizeof *self->observers);
  self->places = calloc(self->observer_count, sizeof *self->places);
  bool all = self->grants && self->walker_ids && self->observers && self->places;
  if (all && make_map(self) && make_fields(self) && pathstorm_solvers_create(self)) return self;
  pathstorm_free_all(self);
  return NULL;
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

static muster_result open_either(const char *name, bool whole, const muster_module_options *options, void **instance,
                                 muster_module_needs *needs) {
  muster_result result = options_check(name, options, WALKERS_MAX, OBSERVERS_MAX);
  if (result) return result;
  pathstorm *self = pathstorm_make(options, whole);
  if (!self) return muster_module_fail(MUSTER_E_MEMORY, "%s: no memory for %u agents", name, options->agents);
  if (!choose_goals(self)) {
    pathstorm_free_all(self);
    return muster_module_fail(MUSTER_E_ARGUMENT, "%s: seed %llu gives a map in one piece; take another one", name,
                              (unsigned long long)options->seed);
  }
  *instance = self;
  *needs = (muster_module_needs){.size = (uint32_t)sizeof *needs,
                                 .agents = self->walkers + PATHSTORM_SOLVERS,
                                 .agents_max = self->walkers + PATHSTORM_SOLVERS,
                                 .observers = self->observer_count,
                                 .cell_m = 16.0f};
  return MUSTER_OK;
}

static muster_result open_sliced(const muster_module_options *options, void **instance, muster_module_needs *needs) {
  return open_either("pathstorm", false, options, instance, needs);
}

static muster_result open_whole(const muster_module_options *options, void **instance, muster_module_needs *needs) {
  return open_either("pathstorm-whole", true, options, instance, needs);
}

static void close_storm(void *instance) {
  pathstorm_free_all(instance);
}

/* --------------------------------------------------------------------------------------------------------- populate */

static void walk_observers(pathstorm *self, double seconds) {
  for (uint32_t i = 0; i < self->observer_count; i++) {
    uint64_t random = pathstorm_random(self, i, 4);
    double side_m = self->map.side, angle = walk_mps * seconds / round_m + i;
    self->places[i].x = side_m * (double)population_share(random) + round_m * cos(angle);
    self->places[i].y = side_m * (double)population_share(population_mix(random)) + round_m * sin(angle);
  }
}

static muster_result pathstorm_populate(void *instance, muster_world *world) {
  pathstorm *self = instance;
  muster_result result = pathstorm_solvers_spawn(self, world);
  if (!result) result = pathstorm_walkers_spawn(self, world);
  walk_observers(self, 0.0);
  for (uint32_t i = 0; i < self->observer_count && !result; i++) {
    muster_observer_def def = muster_default_observer_def();
    def.position = self->places[i];
    self->observers[i] = muster_observer_add(world, &def);
    if (self->observers[i].generation == 0) result = MUSTER_E_FULL;
  }
  return result;
}

/* --------------------------------------------------------------------------------------------------- between frames */

/* Sends as many orders as the world takes; the others are sent in the next frame. */
static void give_orders(pathstorm *self, muster_world *world) {
  while (self->ordered < self->walkers) {
    pathstorm_order order = {self->order, pathstorm_place_of(self, self->order, self->ordered)};
    muster_result result = muster_agent_send(world, self->walker_ids[self->ordered], &order, sizeof order);
    if (result == MUSTER_E_FULL) return;
    self->ordered++;
  }
}

static void pathstorm_before_frame(void *instance, muster_world *world, uint64_t sim_now_ns) {
  pathstorm *self = instance;
  if (!self->begun) self->begin_ns = sim_now_ns;
  self->begun = true;
  self->now_ns = sim_now_ns;
  double seconds = (double)(sim_now_ns - self->begin_ns) * 1e-9;
  walk_observers(self, seconds);
  muster_observers_move(world, self->observers, self->places, self->observer_count);
  if (seconds < first_order_s) return;
  uint32_t due = 1 + (uint32_t)(fmax(seconds - before_storms_s, 0.0) / order_s);
  if (due > self->order) {
    self->order = due;
    self->ordered = 0;
  }
  give_orders(self, world);
}

/* ------------------------------------------------------------------------------------------------------ the modules */

const muster_module *muster_module_pathstorm(void) {
  static const muster_module module = {.size = (uint32_t)sizeof module,
                                       .abi = MUSTER_MODULE_ABI,
                                       .name = "pathstorm",
                                       .summary = "all walkers are ordered across a large map at once, every 10 s",
                                       .open = open_sliced,
                                       .populate = pathstorm_populate,
                                       .before_frame = pathstorm_before_frame,
                                       .report = pathstorm_report,
                                       .close = close_storm};
  return &module;
}

const muster_module *muster_module_pathstorm_whole(void) {
  static const muster_module module = {.size = (uint32_t)sizeof module,
                                       .abi = MUSTER_MODULE_ABI,
                                       .name = "pathstorm-whole",
                                       .summary = "the same, but each search is one atom: what slices are good for",
                                       .open = open_whole,
                                       .populate = pathstorm_populate,
                                       .before_frame = pathstorm_before_frame,
                                       .report = pathstorm_report,
                                       .close = close_storm};
  return &module;
}

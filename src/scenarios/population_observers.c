#include "scenarios/population_observers.h"

#include "scenarios/population_roles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Goals lie at most so many spawns ahead or behind on the route. */
enum { GOAL_REACH = 24 };

/* --------------------------------------------------------------------------------------------------------- routes */

/* Cells of 120 m number the range of +-1e9 m with 24 bits; inside a cell the rows keep the order of the file. */
static uint64_t route_key(const population_row *row) {
  uint64_t x = (uint64_t)((row->position.x + 1e9) / 120), y = (uint64_t)((row->position.y + 1e9) / 120);
  uint64_t key = (uint64_t)row->world << 48;
  for (uint32_t bit = 0; bit < 24; bit++) key |= ((x >> bit & 1) | (y >> bit & 1) << 1) << 2 * bit;
  return key;
}

static int compare_stops(const void *left, const void *right) {
  const population_stop *a = left, *b = right;
  if (a->key != b->key) return a->key < b->key ? -1 : 1;
  return (a->row > b->row) - (a->row < b->row);
}

static bool lay_routes(population_observers *observers, const population_rows *rows) {
  observers->route = calloc(rows->count, sizeof *observers->route);
  observers->starts = calloc((size_t)rows->world_count + 1, sizeof *observers->starts);
  if (!observers->route || !observers->starts) return false;
  for (uint32_t i = 0; i < rows->count; i++) {
    observers->route[i] = (population_stop){route_key(&rows->rows[i]), i};
    observers->starts[rows->rows[i].world + 1]++;
  }
  for (uint32_t world = 0; world < rows->world_count; world++) {
    observers->worlds += observers->starts[world + 1] > 0;
    observers->starts[world + 1] += observers->starts[world];
  }
  qsort(observers->route, rows->count, sizeof *observers->route, compare_stops);
  return true;
}

/* --------------------------------------------------------------------------------------------------------- walkers */

static uint64_t next_random(population_observers *observers, uint32_t walker) {
  return scaffold_random(observers->seed ^ scaffold_random((uint64_t)walker << 40 ^ observers->goals++));
}

/* A spawn not far along the route; at first, one anywhere in the world. */
static void population_observers_choose_goal(population_observers *observers, const population_rows *rows,
                                             uint32_t number, bool anywhere) {
  population_walker *walker = &observers->walkers[number];
  uint32_t first = observers->starts[walker->world], length = observers->starts[walker->world + 1] - first;
  bool all = anywhere || length <= 2 * GOAL_REACH;
  uint64_t reach = all ? length : 2 * GOAL_REACH + 1, back = all ? 0 : GOAL_REACH;
  walker->near = (uint32_t)((walker->near + length - back + next_random(observers, number) % reach) % length);
  walker->goal = rows->rows[observers->route[first + walker->near].row].position;
}

/* Walker i of those beyond one per world stands where the (i + 1/2)-th of so many equal parts of all agents lies. */
static void spread_walkers(population_observers *observers, const population_rows *rows) {
  const uint32_t *starts = observers->starts;
  uint32_t placed = 0;
  for (uint32_t world = 0; world < rows->world_count; world++)
    if (starts[world + 1] > starts[world]) observers->walkers[placed++].world = world;
  uint64_t others = observers->count - placed;
  for (uint64_t i = 0, world = 0; i < others; i++) {
    uint64_t middle = (2 * i + 1) * rows->count / (2 * others);
    while (starts[world + 1] <= middle) world++;
    observers->walkers[placed + i].world = (uint32_t)world;
  }
}

bool population_observers_begin(population_observers *observers, const population_rows *rows, uint32_t wanted,
                                uint64_t seed) {
  *observers = (population_observers){.seed = seed};
  if (!lay_routes(observers, rows)) return false;
  if (wanted == 0) wanted = POPULATION_OBSERVERS_DEFAULT;
  observers->count = wanted > observers->worlds ? wanted : observers->worlds;
  observers->walkers = calloc(observers->count, sizeof *observers->walkers);
  if (!observers->walkers) return false;
  spread_walkers(observers, rows);
  for (uint32_t i = 0; i < observers->count; i++) {
    population_observers_choose_goal(observers, rows, i, true);
    observers->walkers[i].place = observers->walkers[i].goal;
  }
  return true;
}

bool population_observers_enter(population_observers *observers, muster_world *world) {
  for (uint32_t i = 0; i < observers->count; i++) {
    muster_observer_def def = muster_observer_def_default();
    def.position = observers->walkers[i].place;
    def.partition = observers->walkers[i].world;
    observers->walkers[i].observer = muster_observer_add(world, &def);
    if (muster_observer_is_null(observers->walkers[i].observer)) return false;
  }
  return true;
}

/* Walks straight to the goal, heights included; a walker that arrives chooses the next goal and stands until the next
 * frame. */
static void walk_one(population_observers *observers, const population_rows *rows, uint32_t number, double distance_m) {
  population_walker *walker = &observers->walkers[number];
  double x = walker->goal.x - walker->place.x, y = walker->goal.y - walker->place.y,
         z = walker->goal.z - walker->place.z;
  double gap_m = sqrt(x * x + y * y + z * z), share = gap_m > distance_m ? distance_m / gap_m : 1;
  walker->place.x += x * share;
  walker->place.y += y * share;
  walker->place.z += z * share;
  observers->walked_m += gap_m * share;
  if (share >= 1) population_observers_choose_goal(observers, rows, number, false);
}

void population_observers_walk(population_observers *observers, const population_rows *rows, muster_world *world,
                               uint64_t sim_now_ns) {
  uint64_t elapsed_ns = sim_now_ns > observers->last_now_ns ? sim_now_ns - observers->last_now_ns : 0;
  double distance_m = population_seconds(elapsed_ns) * (double)POPULATION_WALKING_MPS;
  observers->last_now_ns = sim_now_ns;
  for (uint32_t i = 0; i < observers->count; i++) {
    walk_one(observers, rows, i, distance_m);
    /* A full command queue only delays a position: the next one that is told is complete again. */
    (void)muster_observer_move(world, observers->walkers[i].observer, observers->walkers[i].place);
  }
}

void population_observers_free(population_observers *observers) {
  free(observers->walkers);
  free(observers->route);
  free(observers->starts);
  *observers = (population_observers){0};
}

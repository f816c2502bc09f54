/* The search of pathstorm against one without heuristic, list or order, and the map that it runs on. */
#include "examples/worlds/pathstorm_search.h"
#include "scenarios/scaffold.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { SHIFT = 5, CELLS = 1 << 2 * SHIFT, UNKNOWN = 1 << 30, ROUNDS = 40 };

static pathstorm_map map;
static pathstorm_search search;
static uint8_t ways[CELLS], other_ways[CELLS];
static uint32_t reference[CELLS];

static void close_ground(void) {
  pathstorm_search_destroy(&search);
  pathstorm_map_destroy(&map);
}

/* Blocked cells at random: from open ground to where hardly any way leads anywhere. */
static void open_ground(uint64_t seed) {
  close_ground();
  cr_assert(pathstorm_map_create(&map, SHIFT));
  float share = 0.1f + 0.06f * (float)(seed % 8);
  for (uint32_t cell = 0; cell < map.cells; cell++)
    pathstorm_map_set(&map, (int32_t)pathstorm_cell_x(&map, cell), (int32_t)pathstorm_cell_y(&map, cell),
                      muster_random_share(scaffold_random(seed << 32 | cell)) < share);
  cr_assert(pathstorm_map_finish(&map));
  cr_assert(pathstorm_search_create(&search, &map));
}

TestSuite(pathstorm_search, .fini = close_ground);

static uint32_t free_cell(uint64_t random) {
  uint32_t cell = (uint32_t)(scaffold_random(random) % map.cells);
  while (map.ground[cell]) cell = (cell + 1) % map.cells;
  return cell;
}

/* The least cost of a way from each cell to the goal, by relaxing all until nothing changes; from the ground alone. */
static void refer_to(uint32_t goal) {
  int32_t side = (int32_t)map.side;
  for (uint32_t i = 0; i < map.cells; i++) reference[i] = UNKNOWN;
  reference[goal] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (int32_t cell = 0; cell < (int32_t)map.cells; cell++) {
      if (reference[cell] == UNKNOWN) continue;
      for (int32_t dy = -1; dy <= 1; dy++)
        for (int32_t dx = -1; dx <= 1; dx++) {
          int32_t to = cell + dy * side + dx;
          if (map.ground[to] || map.ground[cell + dx] || map.ground[cell + dy * side]) continue;
          uint32_t cost = reference[cell] + (dx && dy ? GRID_DIAGONAL : GRID_STRAIGHT);
          if (cost < reference[to]) reference[to] = cost, changed = true;
        }
    }
  }
}

/* Goes a way to its end; UNKNOWN when there is none, or it does not lead to the goal by permitted steps. */
static uint32_t cost_of_way(const uint8_t *of, uint32_t cell, uint32_t goal) {
  uint32_t cost = 0;
  for (uint32_t steps = 0; cell != goal; steps++) {
    if (steps > map.cells || !pathstorm_way_is_known(of, cell)) return UNKNOWN;
    uint32_t direction = pathstorm_way_step(of, cell), next = pathstorm_neighbour(&map, cell, direction);
    int32_t dx = grid_x[direction], dy = grid_y[direction] * (int32_t)map.side;
    if (map.ground[next] || map.ground[(int32_t)cell + dx] || map.ground[(int32_t)cell + dy]) return UNKNOWN;
    cost += direction & 1 ? GRID_DIAGONAL : GRID_STRAIGHT;
    cell = next;
  }
  return pathstorm_way_is_known(of, cell) ? cost : UNKNOWN;
}

static void begin(uint32_t goal, pathstorm_box box) {
  memset(ways, 0, sizeof ways);
  pathstorm_search_begin(&search, ways, goal, box);
}

/* Searches from several starts, so many steps at a time. */
static void search_for(const uint32_t *starts, uint32_t count, uint32_t goal, uint32_t slice) {
  pathstorm_box box = pathstorm_box_around(&map, pathstorm_no_box, starts[0]);
  for (uint32_t i = 1; i < count; i++) box = pathstorm_box_around(&map, box, starts[i]);
  begin(goal, box);
  for (uint32_t i = 0; i < count; i++) pathstorm_search_want(&search, starts[i]);
  while (search.status == PATHSTORM_RUNNING) cr_assert_leq(pathstorm_search_expand(&search, slice), slice);
}

Test(pathstorm_search, finds_a_shortest_way_or_knows_that_there_is_none) {
  uint32_t found = 0, missed = 0;
  for (uint64_t seed = 0; seed < ROUNDS; seed++) {
    open_ground(seed);
    for (uint64_t pair = 0; pair < 8; pair++) {
      uint32_t start = free_cell(seed * 100 + pair), goal = free_cell(seed * 100 + pair + 50);
      refer_to(goal);
      search_for(&start, 1, goal, UINT32_MAX);
      uint32_t cost = cost_of_way(ways, start, goal);
      cr_assert_eq(cost, reference[start], "seed %d, %u to %u: %u, should be %u", (int)seed, start, goal, cost,
                   reference[start]);
      cr_assert_eq(search.status, cost == UNKNOWN ? PATHSTORM_EXHAUSTED : PATHSTORM_FOUND);
      cr_assert_eq(cost != UNKNOWN, map.regions[start] == map.regions[goal], "regions say what can be reached");
      found += cost != UNKNOWN;
      missed += cost == UNKNOWN;
    }
  }
  cr_assert_gt(found, 50);
  cr_assert_gt(missed, 50);
}

Test(pathstorm_search, serves_all_who_want_to_one_goal_whenever_they_ask) {
  for (uint64_t seed = 0; seed < ROUNDS; seed++) {
    uint32_t starts[12];
    open_ground(seed % 5);
    for (uint32_t i = 0; i < 12; i++) starts[i] = free_cell(seed << 8 | i);
    uint32_t goal = free_cell(seed << 8 | 99);
    refer_to(goal);
    pathstorm_box box = pathstorm_box_around(&map, pathstorm_no_box, starts[0]); /* the others do not lie in it */
    begin(goal, box);
    for (uint32_t i = 0; i < 6; i++) pathstorm_search_want(&search, starts[i]);
    for (uint32_t i = 6; i < 12; i++) {
      pathstorm_search_expand(&search, 40);
      bool known = pathstorm_way_is_known(ways, starts[i]);
      cr_assert_eq(pathstorm_search_want(&search, starts[i]), known);
    }
    while (search.status == PATHSTORM_RUNNING) pathstorm_search_expand(&search, 40);
    for (uint32_t i = 0; i < 12; i++) cr_assert_eq(cost_of_way(ways, starts[i], goal), reference[starts[i]]);
  }
}

Test(pathstorm_search, finds_the_same_in_slices_of_any_length) {
  for (uint64_t seed = 0; seed < ROUNDS; seed++) {
    open_ground(seed);
    uint32_t starts[3] = {free_cell(seed), free_cell(seed + 1000), free_cell(seed + 2000)}, goal = free_cell(~seed);
    search_for(starts, 3, goal, UINT32_MAX);
    uint32_t closed = search.closed;
    memcpy(other_ways, ways, sizeof ways);
    search_for(starts, 3, goal, 1 + (uint32_t)(seed % 7));
    cr_assert_eq(search.closed, closed);
    cr_assert_arr_eq(ways, other_ways, sizeof ways);
  }
}

Test(pathstorm_search, never_changes_a_way_that_it_gave_out) {
  open_ground(1);
  uint32_t start = free_cell(1), goal = free_cell(2);
  static uint8_t given[CELLS];
  begin(goal, pathstorm_box_around(&map, pathstorm_no_box, start));
  for (uint32_t i = 0; i < 100; i++) pathstorm_search_want(&search, free_cell(1000 + i));
  uint32_t kept = 0;
  while (search.status == PATHSTORM_RUNNING) {
    memcpy(given, ways, sizeof ways);
    pathstorm_search_expand(&search, 16);
    for (uint32_t cell = 0; cell < map.cells; cell++) {
      if (!pathstorm_way_is_known(given, cell)) continue;
      kept++;
      cr_assert_eq(ways[cell], given[cell]);
    }
  }
  cr_assert_gt(kept, 1000);
}

Test(pathstorm_search, looks_towards_those_who_ask) {
  cr_assert(pathstorm_map_create(&map, SHIFT));
  cr_assert(pathstorm_map_finish(&map));
  cr_assert(pathstorm_search_create(&search, &map));
  uint32_t start = 16u << SHIFT | 30, goal = 16u << SHIFT | 1;
  search_for(&start, 1, goal, 8);
  cr_assert_eq(search.costs[start], 29 * GRID_STRAIGHT);
  cr_assert_lt(search.closed, 40, "of 900 cells on open ground");
}

Test(pathstorm_search, can_be_taken_up_again_for_somebody_else) {
  open_ground(0);
  uint32_t goal = free_cell(7), near = 0, far = 0;
  refer_to(goal);
  for (uint32_t cell = 0; cell < map.cells; cell++) {
    if (reference[cell] == UNKNOWN) continue;
    if (reference[cell] == 2 * GRID_STRAIGHT) near = cell;
    if (!far || reference[cell] > reference[far]) far = cell;
  }
  search_for(&near, 1, goal, 64);
  cr_assert_eq(search.status, PATHSTORM_FOUND);
  cr_assert_not(pathstorm_way_is_known(ways, far));
  cr_assert_not(pathstorm_search_want(&search, far));
  cr_assert_eq(search.status, PATHSTORM_RUNNING);
  for (uint32_t cell = 0; cell < map.cells; cell++) pathstorm_search_want(&search, cell);
  while (search.status == PATHSTORM_RUNNING) pathstorm_search_expand(&search, 64);
  for (uint32_t cell = 0; cell < map.cells; cell++) cr_assert_eq(cost_of_way(ways, cell, goal), reference[cell]);
}

Test(pathstorm_search, knows_after_an_unreachable_goal_that_nobody_else_gets_there) {
  open_ground(0);
  uint32_t goal = 16u << SHIFT | 16, start = 5u << SHIFT | 5, other = 25u << SHIFT | 25;
  for (int32_t i = -1; i <= 1; i++)
    for (int32_t j = -1; j <= 1; j++) pathstorm_map_set(&map, 16 + i, 16 + j, i || j);
  for (int32_t i = 0; i < 2; i++) pathstorm_map_set(&map, i ? 25 : 5, i ? 25 : 5, false);
  cr_assert(pathstorm_map_finish(&map));
  search_for(&start, 1, goal, 1);
  cr_assert_eq(search.status, PATHSTORM_EXHAUSTED);
  cr_assert_eq(search.closed, 1);
  cr_assert_not(pathstorm_search_want(&search, other));
  cr_assert_eq(search.status, PATHSTORM_EXHAUSTED);
}

/* --------------------------------------------------------------------------------------------------------- the map */

Test(pathstorm_map, is_of_one_large_piece_another_bank_and_closed_houses) {
  for (uint64_t seed = 1; seed < 5; seed++) {
    cr_assert(pathstorm_map_create(&map, 9));
    pathstorm_map_build(&map, seed);
    cr_assert(pathstorm_map_finish(&map));
    cr_assert_gt(map.region_cells[1], map.cells / 2, "seed %d", (int)seed);
    cr_assert_gt(map.region_cells[2], map.cells / 20, "seed %d", (int)seed);
    uint32_t rooms = 0;
    for (uint32_t i = 3; i <= map.region_count; i++) rooms += map.region_cells[i] >= 40;
    cr_assert_gt(rooms, 3, "seed %d: %u rooms", (int)seed, rooms);
    pathstorm_map_destroy(&map);
  }
}

Test(pathstorm_map, permits_a_step_where_its_way_back_is_permitted) {
  open_ground(2);
  uint32_t steps = 0;
  for (uint32_t cell = 0; cell < map.cells; cell++)
    for (uint32_t d = 0; d < GRID_DIRECTIONS; d++) {
      if (!(map.exits[cell] >> d & 1u)) continue;
      uint32_t next = pathstorm_neighbour(&map, cell, d);
      cr_assert(map.exits[next] >> (d ^ 4) & 1u);
      cr_assert_eq(map.regions[next], map.regions[cell]);
      steps++;
    }
  cr_assert_gt(steps, 1000);
  close_ground();
}

Test(pathstorm_map, follows_from_its_seed) {
  pathstorm_map again, other;
  cr_assert(pathstorm_map_create(&map, 7) && pathstorm_map_create(&again, 7) && pathstorm_map_create(&other, 7));
  pathstorm_map_build(&map, 5);
  pathstorm_map_build(&again, 5);
  pathstorm_map_build(&other, 6);
  cr_assert_arr_eq(map.ground, again.ground, map.cells);
  cr_assert_neq(memcmp(map.ground, other.ground, map.cells), 0);
  pathstorm_map_destroy(&map);
  pathstorm_map_destroy(&again);
  pathstorm_map_destroy(&other);
}

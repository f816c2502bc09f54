/* The bounded A* against an unbounded search without any heuristic. */
#include "scenarios/population_search.h"
#include "scenarios/scaffold.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { UNKNOWN = 1 << 30 };

static population_search search;

/* The cost of the shortest way inside the search's window, found by relaxing every cell until nothing changes. */
static int reference_cost(search_cell start, search_cell goal) {
  static int cost[SEARCH_WINDOW][SEARCH_WINDOW];
  static bool free_cell[SEARCH_WINDOW][SEARCH_WINDOW];
  int start_x = start.x - search.origin.x, start_y = start.y - search.origin.y;
  int goal_x = goal.x - search.origin.x, goal_y = goal.y - search.origin.y;
  for (int y = 0; y < SEARCH_WINDOW; y++)
    for (int x = 0; x < SEARCH_WINDOW; x++) {
      bool end = (x == start_x && y == start_y) || (x == goal_x && y == goal_y);
      free_cell[y][x] = end || !search_is_blocked((search_cell){search.origin.x + x, search.origin.y + y});
      cost[y][x] = UNKNOWN;
    }
  cost[goal_y][goal_x] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (int y = 0; y < SEARCH_WINDOW; y++)
      for (int x = 0; x < SEARCH_WINDOW; x++)
        for (int step = 0; step < 9; step++) {
          int to_x = x + step % 3 - 1, to_y = y + step / 3 - 1;
          bool inside = to_x >= 0 && to_y >= 0 && to_x < SEARCH_WINDOW && to_y < SEARCH_WINDOW;
          if (!inside || cost[y][x] == UNKNOWN || !free_cell[to_y][to_x]) continue;
          bool diagonal = to_x != x && to_y != y;
          if (diagonal && !(free_cell[y][to_x] && free_cell[to_y][x])) continue;
          int reached = cost[y][x] + (diagonal ? 14 : 10);
          if (reached < cost[to_y][to_x]) cost[to_y][to_x] = reached, changed = true;
        }
  }
  return cost[start_y][start_x];
}

static search_cell random_cell(uint64_t number, int32_t around, uint32_t range) {
  return (search_cell){around + (int32_t)(scaffold_random(number) % range),
                       around + (int32_t)(scaffold_random(~number) % range)};
}

/* Follows the way; -1 when it does not lead to the goal by free cells. */
static int way_cost(search_cell start, search_cell goal) {
  int cost = 0;
  search_cell cell = start, before = start;
  for (; search_step(&search, &cell); before = cell) {
    if (cost > 100000 || (search_is_blocked(cell) && !(cell.x == goal.x && cell.y == goal.y))) return -1;
    cost += cell.x != before.x && cell.y != before.y ? 14 : 10;
  }
  return cell.x == goal.x && cell.y == goal.y ? cost : -1;
}

/* A search that closes few cells cannot fill its open list, and must be exact; the others may fall short now and then.
 */
Test(population_search, finds_ways_as_short_as_an_exhaustive_search_does) {
  int exact = 0, found = 0, missed = 0, worse = 0;
  for (uint64_t i = 0; i < 100; i++) {
    search_cell start = random_cell(2 * i, -5000, 10000), offset = random_cell(2 * i + 1, -20, 41);
    search_cell goal = {start.x + offset.x, start.y + offset.y};
    search_begin(&search, start, goal);
    uint32_t expanded = search_expand(&search, SEARCH_CELLS);
    int wanted = reference_cost(start, goal);
    int cost = search.status == SEARCH_FOUND ? way_cost(start, goal) : UNKNOWN;
    cr_assert_geq(cost, wanted, "search %d cheats: %d against %d", (int)i, cost, wanted);
    cr_assert(search.status == SEARCH_FOUND || search.status == SEARCH_MISSED);
    if (expanded * 7 <= SEARCH_OPEN_MAX) {
      cr_assert_eq(cost, wanted, "search %d: %d instead of %d", (int)i, cost, wanted);
      exact++;
    }
    found += cost != UNKNOWN;
    missed += cost == UNKNOWN;
    worse += cost > wanted;
  }
  cr_assert_gt(exact, 30);
  cr_assert_gt(found, 50);
  cr_assert_gt(missed, 5);
  cr_assert_leq(worse, 4, "%d of 100 searches fell short", worse);
}

Test(population_search, slices_of_any_size_end_alike) {
  static population_search whole, sliced;
  for (uint64_t i = 0; i < 100; i++) {
    search_cell start = random_cell(i, 0, 10000), goal = {start.x + 20, start.y - 12};
    search_begin(&whole, start, goal);
    uint32_t expanded = search_expand(&whole, SEARCH_CELLS), sum = 0;
    search_begin(&sliced, start, goal);
    while (sliced.status == SEARCH_RUNNING) {
      uint32_t slice = search_expand(&sliced, 1 + (uint32_t)(scaffold_random(sum + i) % 97));
      cr_assert_leq(slice, 97);
      sum += slice;
    }
    cr_assert_eq(sum, expanded);
    cr_assert_eq(sliced.status, whole.status);
    cr_assert_eq(memcmp(sliced.closed, whole.closed, sizeof whole.closed), 0);
  }
}

Test(population_search, no_search_closes_more_cells_than_its_window_has) {
  uint32_t most = 0;
  for (uint64_t i = 0; i < 300; i++) {
    search_cell start = random_cell(i, 0, 10000);
    search_begin(&search, start, (search_cell){start.x + 28, start.y + 28});
    uint32_t expanded = search_expand(&search, UINT32_MAX);
    if (expanded > most) most = expanded;
  }
  cr_assert_leq(most, SEARCH_CELLS);
  cr_assert_gt(most, 1000, "no search was hard: the tail is gone");
}

Test(population_search, a_goal_beyond_the_window_is_missed_at_once) {
  search_begin(&search, (search_cell){0, 0}, (search_cell){65, 0});
  cr_assert_eq(search.status, SEARCH_MISSED);
  cr_assert_eq(search_expand(&search, 100), 0);
}

Test(population_search, works_at_the_edge_of_the_world) {
  search_cell start = search_cell_at(1e9, -1e9), goal = {start.x - 9, start.y + 5}, cell = start;
  search_begin(&search, start, goal);
  search_expand(&search, SEARCH_CELLS);
  cr_assert(search.status == SEARCH_FOUND || !search_step(&search, &cell));
  cr_assert(search.status == SEARCH_MISSED || way_cost(start, goal) > 0);
}

/* pathstorm_build.c - what stands on the map: rubble first, then houses, then rivers, which cut through everything. */
#include "pathstorm_map.h"
#include "scenarios/scaffold.h"

enum { BLOCK = 32, WALL_MIN = 10, WALL_MAX = 26, WATER = 5, BRIDGE = 4, BRIDGES = 6 };

static const float rubble_share = 0.10f, house_share = 0.62f, closed_share = 0.08f;

/* Numbers for the builder, one after another. */
struct dice {
  uint64_t state;
};

static uint64_t roll(struct dice *dice) {
  dice->state += 0x9e3779b97f4a7c15u;
  return scaffold_random(dice->state);
}

static float share_of(struct dice *dice) {
  return muster_random_share(roll(dice));
}

/* A number from `least` to `most`. */
static int32_t between(struct dice *dice, int32_t least, int32_t most) {
  return least + (int32_t)(roll(dice) % (uint64_t)(most - least + 1));
}

static void fill(pathstorm_map *map, int32_t x, int32_t y, int32_t width, int32_t height, bool blocked) {
  for (int32_t row = y; row < y + height; row++)
    for (int32_t column = x; column < x + width; column++) pathstorm_map_set(map, column, row, blocked);
}

static void scatter_rubble(pathstorm_map *map, struct dice *dice) {
  for (uint32_t cell = 0; cell < map->cells; cell++)
    if (share_of(dice) < rubble_share)
      pathstorm_map_set(map, (int32_t)pathstorm_cell_x(map, cell), (int32_t)pathstorm_cell_y(map, cell), true);
}

/* A gap of two cells in one of four walls. */
static void open_door(pathstorm_map *map, struct dice *dice, int32_t x, int32_t y, int32_t width, int32_t height) {
  int32_t along = between(dice, 1, width - 3), up = between(dice, 1, height - 3);
  uint64_t wall = roll(dice) % 4;
  if (wall < 2)
    fill(map, x + along, wall == 0 ? y : y + height - 1, 2, 1, false);
  else
    fill(map, wall == 2 ? x : x + width - 1, y + up, 1, 2, false);
}

/* Four walls with one to three doors, or with none, and a wall inside with a door of its own. */
static void build_house(pathstorm_map *map, struct dice *dice, int32_t x, int32_t y) {
  int32_t width = between(dice, WALL_MIN, WALL_MAX), height = between(dice, WALL_MIN, WALL_MAX);
  x += between(dice, 1, BLOCK - width - 1);
  y += between(dice, 1, BLOCK - height - 1);
  fill(map, x, y, width, height, true);
  fill(map, x + 1, y + 1, width - 2, height - 2, false);
  if (width > WALL_MIN + 4) {
    int32_t wall = x + between(dice, 3, width - 4), gap = y + between(dice, 1, height - 3);
    fill(map, wall, y, 1, height, true);
    fill(map, wall, gap, 1, 2, false);
  }
  if (share_of(dice) < closed_share) return;
  for (int32_t doors = between(dice, 1, 3); doors > 0; doors--) open_door(map, dice, x, y, width, height);
}

static void build_houses(pathstorm_map *map, struct dice *dice) {
  int32_t side = (int32_t)map->side;
  for (int32_t y = 0; y + BLOCK <= side; y += BLOCK)
    for (int32_t x = 0; x + BLOCK <= side; x += BLOCK)
      if (share_of(dice) < house_share) build_house(map, dice, x, y);
}

/* Builds a river from edge to edge about the line `middle`, across the map (or down, for `down`). */
static void dig_river(pathstorm_map *map, struct dice *dice, int32_t middle, bool down, int32_t bridges) {
  int32_t side = (int32_t)map->side, bank = middle, sway = side / 16;
  int32_t apart = bridges ? side / bridges : side + 1;
  for (int32_t i = 0; i < side; i++) {
    int32_t step = between(dice, -1, 1);
    if (bank + step > middle - sway && bank + step < middle + sway) bank += step;
    bool bridge = bridges && i % apart >= apart / 2 && i % apart < apart / 2 + BRIDGE;
    /* A bridge reaches as far as the river may have swayed within its width, so that nothing blocks its ends. */
    int32_t reach = bridge ? BRIDGE : 0;
    if (down)
      fill(map, bank - reach, i, WATER + 2 * reach, 1, !bridge);
    else
      fill(map, i, bank - reach, 1, WATER + 2 * reach, !bridge);
  }
}

void pathstorm_map_build(pathstorm_map *map, uint64_t seed) {
  struct dice dice = {scaffold_random(seed)};
  int32_t side = (int32_t)map->side;
  scatter_rubble(map, &dice);
  build_houses(map, &dice);
  dig_river(map, &dice, side * 3 / 10, true, BRIDGES);
  dig_river(map, &dice, side * 2 / 5, false, BRIDGES);
  dig_river(map, &dice, side * 3 / 4, false, 0);
}

#include "pathstorm_map.h"

#include <stdlib.h>

bool pathstorm_map_create(pathstorm_map *map, uint32_t shift) {
  *map = (pathstorm_map){.shift = shift, .side = 1u << shift, .cells = 1u << 2 * shift};
  map->ground = calloc(map->cells, 1);
  map->exits = calloc(map->cells, 1);
  map->regions = calloc(map->cells, sizeof *map->regions);
  if (!map->ground || !map->exits || !map->regions) return false;
  uint32_t last = map->side - 1;
  for (uint32_t i = 0; i <= last; i++)
    map->ground[i] = map->ground[last << shift | i] = map->ground[i << shift] = map->ground[i << shift | last] = 1;
  return true;
}

void pathstorm_map_destroy(pathstorm_map *map) {
  free(map->ground);
  free(map->exits);
  free(map->regions);
  free(map->region_cells);
  *map = (pathstorm_map){0};
}

void pathstorm_map_set(pathstorm_map *map, int32_t x, int32_t y, bool blocked) {
  int32_t last = (int32_t)map->side - 1;
  if (x > 0 && y > 0 && x < last && y < last) map->ground[(uint32_t)y << map->shift | (uint32_t)x] = blocked;
}

/* ----------------------------------------------------------------------------------------------------------- finish */

static uint8_t exits_of(const pathstorm_map *map, uint32_t cell) {
  bool open[GRID_DIRECTIONS];
  if (map->ground[cell]) return 0;
  for (uint32_t d = 0; d < GRID_DIRECTIONS; d++) open[d] = !map->ground[pathstorm_neighbour(map, cell, d)];
  return (uint8_t)grid_exits(open);
}

/* Gives the region of a cell its number; returns its size. `stack` has room for every cell. */
static uint32_t flood(pathstorm_map *map, uint32_t first, uint32_t number, uint32_t *stack) {
  uint32_t height = 0, size = 0;
  stack[height++] = first;
  map->regions[first] = number;
  while (height > 0) {
    uint32_t cell = stack[--height];
    size++;
    for (uint32_t d = 0; d < GRID_DIRECTIONS; d++) {
      if (!(map->exits[cell] >> d & 1u)) continue;
      uint32_t next = pathstorm_neighbour(map, cell, d);
      if (map->regions[next]) continue;
      map->regions[next] = number;
      stack[height++] = next;
    }
  }
  return size;
}

typedef struct region_size {
  uint32_t number, size;
} region_size;

static int larger_first(const void *left, const void *right) {
  const region_size *a = left, *b = right;
  if (a->size != b->size) return a->size < b->size ? 1 : -1;
  return a->number < b->number ? -1 : 1;
}

/* Numbers regions anew, the largest first. `renamed` has room for every number. */
static bool sort_regions(pathstorm_map *map, region_size *found, uint32_t count, uint32_t *renamed) {
  free(map->region_cells);
  map->region_cells = calloc(count + 1, sizeof *map->region_cells);
  map->region_count = count;
  if (!map->region_cells) return false;
  qsort(found, count, sizeof *found, larger_first);
  renamed[0] = 0;
  for (uint32_t i = 0; i < count; i++) {
    renamed[found[i].number] = i + 1;
    map->region_cells[i + 1] = found[i].size;
  }
  for (uint32_t cell = 0; cell < map->cells; cell++) map->regions[cell] = renamed[map->regions[cell]];
  return true;
}

bool pathstorm_map_finish(pathstorm_map *map) {
  uint32_t *stack = calloc(map->cells, sizeof *stack);
  region_size *found = calloc(map->cells, sizeof *found);
  uint32_t count = 0;
  bool done = stack && found;
  for (uint32_t cell = 0; done && cell < map->cells; cell++) {
    map->exits[cell] = exits_of(map, cell);
    map->regions[cell] = 0;
  }
  for (uint32_t cell = 0; done && cell < map->cells; cell++) {
    if (map->ground[cell] || map->regions[cell]) continue;
    uint32_t number = ++count;
    found[number - 1] = (region_size){number, flood(map, cell, number, stack)};
  }
  done = done && sort_regions(map, found, count, stack);
  free(stack);
  free(found);
  return done;
}

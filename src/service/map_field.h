/* service/map_field.h - squares of the observer grid for a map: single cells of the field, or as many cells together as
 * keeps the squares within the wanted number. Knows no HTTP. */
#ifndef SERVICE_MAP_FIELD_H
#define SERVICE_MAP_FIELD_H

#include "service/rectangle.h"
#include "service/service.h"

#include <muster/view.h>

/* Squares are cut at multiples of their edge from the origin, so a rectangle may always touch four of them. */
enum { FIELD_SQUARES_MIN = 4 };

typedef struct field_square {
  uint32_t cells; /* known */
  uint32_t flags; /* muster_field_flag bits: empty when all known cells are, waiting when any is */
  float least;    /* least bound of the cells that are not empty; unused when all are empty */
} field_square;

typedef struct map_field {
  uint32_t max;               /* squares, at most; there is room for as many */
  double edge_m;              /* of the field's cells; 0 = nothing was seen yet */
  double across;              /* cells along a square: 1, 2, 4, ... */
  struct rectangle rectangle; /* the area that the squares cover */
  uint32_t columns, rows;
  uint32_t cells; /* of the field that are known in the rectangle */
  field_square *squares;
} map_field;

/* Loop's thread. False: no memory. */
bool map_field_begin(map_field *map, uint32_t max);
void map_field_free(map_field *map);

/* What is looked at in one call: so much of a rectangle. */
muster_view map_view(const struct rectangle *rectangle, uint32_t partition, uint32_t looks_max);

/* Looks at some tiles of the field; starts again when the cells have another size than before. The cursor is that of
 * muster_field_view(). Frames' thread, between frames. */
void map_field_look(map_field *map, const muster_world *world, const struct rectangle *wanted, uint32_t partition,
                    uint32_t *cursor);

/* The importance of a square: the least bound of all cells in it; a cell that is not known counts as 0. */
float map_field_importance(const map_field *map, const field_square *square);

#endif

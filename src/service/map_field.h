/* service/map_field.h - squares of the observer grid for a map: cells of the field, or so many together that they are
 * no more than was asked for. Knows no HTTP. */
#ifndef SERVICE_MAP_FIELD_H
#define SERVICE_MAP_FIELD_H

#include "service/rectangle.h"
#include "service/service.h"

/* Squares are cut at multiples of their edge from the origin, so a rectangle may always touch four of them. */
enum { FIELD_SQUARES_MIN = 4 };

typedef struct field_square {
  uint32_t cells; /* known */
  uint32_t flags; /* muster_field_flag bits: empty when all of those are, waiting when any is */
  float least;    /* of those that are not empty; nothing yet when all are */
} field_square;

typedef struct map_field {
  uint32_t max;               /* squares, at most; there is room for as many */
  double edge_m;              /* of the field's cells; 0 = nothing was seen yet */
  double across;              /* cells along a square: 1, 2, 4, ... */
  struct rectangle rectangle; /* that the squares cover */
  uint32_t columns, rows;
  uint32_t cells; /* of the field that are known in the rectangle */
  field_square *squares;
} map_field;

/* Loop's thread. False: no memory. */
bool map_field_begin(map_field *map, uint32_t max);
void map_field_free(map_field *map);

/* Looks at some tiles of the field; begins anew when its cells have another size than before. The cursor is that of
 * muster_field_view(). Frames' thread, between frames. */
void map_field_look(map_field *map, const muster_world *world, const struct rectangle *wanted, uint32_t partition,
                    uint32_t *cursor);

/* What a square says, by the bound that the cells in it have: all of them, since one that is not known counts as 0. */
float map_field_importance(const map_field *map, const field_square *square);

#endif

/* agents/spot.h - where a position is in the grid: see agents/space.h. */
#ifndef AGENTS_SPOT_H
#define AGENTS_SPOT_H

#include <stdint.h>

/* Where a position is: what of a place a move changes. */
typedef struct space_spot {
  int32_t cell_x, cell_y;
  float x, y, z;
} space_spot;

#endif

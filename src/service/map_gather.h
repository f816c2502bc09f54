/* service/map_gather.h - collects what a map shows between frames, a slice at a time: agents, or the observer grid.
 * Knows no HTTP. */
#ifndef SERVICE_MAP_GATHER_H
#define SERVICE_MAP_GATHER_H

#include "service/map_field.h"

#include <muster/view.h>

enum { MAP_RECORDS_MAX = 65536, MAP_SIDE_MAX = 1024, MAP_HEADER_BYTES = 88, MAP_FIELD_HEADER_BYTES = 96 };

typedef enum map_subject { MAP_OF_AGENTS = 0, MAP_OF_FIELD } map_subject;

/* A request for a map; equal queries give the same map. */
typedef struct map_query {
  hosted_world *world;
  map_subject subject;
  struct rectangle rectangle; /* when not given: the smallest around all agents */
  uint32_t partition;
  uint32_t max;           /* agents one by one, or squares of the grid, at most */
  uint32_t width, height; /* of the raster of agents, in cells */
} map_query;

/* Whether two queries ask for the same map. Any thread. */
bool map_queries_equal(const map_query *a, const map_query *b);

typedef enum map_phase { MAP_EXTENT = 0, MAP_AGENTS, MAP_CELLS, MAP_FIELD, MAP_GATHERED } map_phase;

typedef struct map_gather {
  map_query query;
  map_phase phase;
  uint32_t cursor;
  uint32_t slices;
  uint32_t agents; /* in the rectangle, so far */
  muster_extent extent;
  muster_view_agent *shown; /* room for max + 1 */
  muster_raster_cell *cells;
  map_field field;
  uint64_t frame, sim_now_ns; /* of the last slice */
} map_gather;

/* Loop's thread. False: no memory. */
bool map_gather_begin(map_gather *gather, const map_query *query);
void map_gather_free(map_gather *gather);

/* Works for about 200 us. False with a message when the world is not open. Frames' thread, between frames. */
bool map_gather_slice(map_gather *gather);

/* The map as it is sent (service/live.h), from malloc; null = no memory. Loop's thread, once it is gathered. */
void *map_gather_encode(const map_gather *gather, size_t *bytes);

#endif

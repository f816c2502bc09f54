/* maps.c - maps that are being gathered, and those that are fresh: several pages that look at the same share one.
 *
 *     request --> equal map gathers? --> waits for it
 *            \--> equal map is fresh? -> has it
 *             \-> a new one: slice --> slice --> ... --> answers all requests that wait; fresh for a while */
#include "service/maps.h"

#include "base/error.h"
#include "service/map_gather.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

enum { FRESH_MS = 40, WAITING_MAX = 64, RECORDS = 4096, WIDTH = 160, HEIGHT = 100, SQUARES = 16384 };

struct map {
  mailbox_request posted; /* stands first */
  LIST_ENTRY(map) link;
  struct maps *maps;
  map_query query; /* as asked for; the query of the gathering has the rectangle that was found */
  map_gather gather;
  bool ran, refused; /* by the frames' thread: ran: it ran a slice; refused: the world is not open */
  char reason[160];  /* why */
  http_request *waiting[WAITING_MAX];
  uint32_t waiting_count; /* 0 = the gathering has ended */
  uint64_t fresh_until_ms;
  void *bytes; /* null until it is made */
  size_t length;
};

struct maps {
  struct service *service;
  LIST_HEAD(, map) list;
  uint32_t count;
};

/* ------------------------------------------------------------------------------------------------------------- maps */

static void discard(struct map *map) {
  LIST_REMOVE(map, link);
  map->maps->count--;
  map_gather_free(&map->gather);
  free(map->bytes);
  free(map);
}

static void discard_stale(struct maps *maps) {
  uint64_t now_ms = uv_now(maps->service->loop);
  for (struct map *map = LIST_FIRST(&maps->list), *next; map; map = next) {
    next = LIST_NEXT(map, link);
    if (map->waiting_count == 0 && now_ms >= map->fresh_until_ms) discard(map);
  }
}

static struct map *maps_find(const struct maps *maps, const map_query *query) {
  struct map *map;
  LIST_FOREACH(map, &maps->list, link)
  if (map_queries_equal(&map->query, query)) break;
  return map;
}

/* -------------------------------------------------------------------------------------------------------- gathering */

static void refuse_all(struct map *map, unsigned status, const char *code, const char *message) {
  for (uint32_t i = 0; i < map->waiting_count; i++) http_refuse(map->waiting[i], status, code, NULL, "%s", message);
  discard(map);
}

static void maps_answer_all(struct map *map) {
  map->bytes = map_gather_encode(&map->gather, &map->length);
  map_gather_free(&map->gather);
  if (!map->bytes) {
    refuse_all(map, 429, "busy", "no memory for the map now");
    return;
  }
  for (uint32_t i = 0; i < map->waiting_count; i++)
    http_answer(map->waiting[i], 200, HTTP_BINARY, map->bytes, map->length);
  map->waiting_count = 0;
  map->fresh_until_ms = uv_now(map->maps->service->loop) + FRESH_MS;
}

static void maps_run(mailbox_request *request, struct service *service) {
  struct map *map = (struct map *)request;
  (void)service;
  map->ran = true;
  map->refused = !map_gather_slice(&map->gather);
  if (map->refused) strncpy(map->reason, muster_last_error(), sizeof map->reason - 1);
}

static void maps_post(struct map *map);

static void maps_done(mailbox_request *request) {
  struct map *map = (struct map *)request;
  if (!map->ran)
    refuse_all(map, 503, "stopping", "the daemon stops");
  else if (map->refused)
    refuse_all(map, 409, "state", map->reason);
  else if (map->gather.phase == MAP_GATHERED)
    maps_answer_all(map);
  else
    maps_post(map);
}

static void maps_post(struct map *map) {
  map->posted = (mailbox_request){.run = maps_run, .done = maps_done};
  map->ran = false;
  muster_result result = frame_mailbox_post(&map->maps->service->mailbox, &map->posted);
  if (result) refuse_all(map, result == MUSTER_E_FULL ? 429 : 503, "busy", muster_last_error());
}

/* --------------------------------------------------------------------------------------------------------- requests */

/* Width and height are no queries of the field. */
static bool take_query(http_request *request, map_query *query, api_problem *problem) {
  bool of_field = query->subject == MAP_OF_FIELD;
  uint64_t partition = 0, max = of_field ? SQUARES : RECORDS, width = WIDTH, height = HEIGHT;
  bool taken = rectangle_read(request, &query->rectangle, problem) &&
               api_query_count(request, "partition", 0, PARTITION_MOST, &partition, problem) &&
               api_query_count(request, "max", of_field ? FIELD_SQUARES_MIN : 0, MAP_RECORDS_MAX, &max, problem) &&
               api_query_count(request, "width", 1, MAP_SIDE_MAX, &width, problem) &&
               api_query_count(request, "height", 1, MAP_SIDE_MAX, &height, problem);
  if (taken && width * height > MAP_RECORDS_MAX)
    taken = api_complain(problem, 400, "out_of_range", "width", "width x height must be %d at most", MAP_RECORDS_MAX);
  query->partition = (uint32_t)partition;
  query->max = (uint32_t)max;
  query->width = (uint32_t)width;
  query->height = (uint32_t)height;
  return taken;
}

static void begin_map(struct maps *maps, const map_query *query, http_request *request) {
  struct map *map = maps->count < MAPS_MAX ? calloc(1, sizeof *map) : NULL;
  if (!map || !map_gather_begin(&map->gather, query)) {
    free(map);
    http_refuse(request, 429, "busy", NULL, "%u maps are being gathered; ask again later", maps->count);
    return;
  }
  map->maps = maps;
  map->query = *query;
  map->waiting[map->waiting_count++] = request;
  LIST_INSERT_HEAD(&maps->list, map, link);
  maps->count++;
  maps_post(map);
}

static void maps_show(http_request *request) {
  struct service *service = http_user(request);
  struct maps *maps = service->maps;
  map_query query = {.world = api_world(request), .subject = *(const map_subject *)http_route_of(request)->order};
  api_problem problem = {0};
  if (!query.world) return;
  if (!take_query(request, &query, &problem)) {
    api_refuse(request, &problem);
    return;
  }
  discard_stale(maps);
  struct map *map = maps_find(maps, &query);
  if (!map)
    begin_map(maps, &query, request);
  else if (map->bytes)
    http_answer(request, 200, HTTP_BINARY, map->bytes, map->length);
  else if (map->waiting_count < WAITING_MAX)
    map->waiting[map->waiting_count++] = request;
  else
    http_refuse(request, 429, "busy", NULL, "%u wait for this map; ask again later", map->waiting_count);
}

const http_route map_routes[] = {
    {"GET", "/v1/worlds/{world}/map", "agents of a rectangle, or a raster of them, binary: service/live.h",
     .handle = maps_show, .order = &(const map_subject){MAP_OF_AGENTS},
     .queries = RECTANGLE_QUERIES " partition max width height"},
    {"GET", "/v1/worlds/{world}/cells", "cells of the observer grid in a rectangle, binary: service/live.h",
     .handle = maps_show, .order = &(const map_subject){MAP_OF_FIELD}, .queries = RECTANGLE_QUERIES " partition max"},
    {0},
};

/* ------------------------------------------------------------------------------------------------------------ whole */

muster_result maps_open(struct service *service) {
  service->maps = calloc(1, sizeof *service->maps);
  if (!service->maps) return error_set(MUSTER_E_MEMORY, "no memory for maps");
  service->maps->service = service;
  return MUSTER_OK;
}

void maps_close(struct service *service) {
  if (!service->maps) return;
  while (!LIST_EMPTY(&service->maps->list)) discard(LIST_FIRST(&service->maps->list));
  free(service->maps);
  service->maps = NULL;
}

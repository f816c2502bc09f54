/* history_routes.c - /v1/worlds/W/history: copies the seconds while it holds the mutex, and writes them after that. */
#include "service/api.h"

#include "service/history.h"

#include "base/clock.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#define COLUMN_OF(kind, name, member)                                                                                  \
  { name, NULL, offsetof(history_second, member), 0, kind, 0, 0, 0 }
#define COLUMN(kind, member) COLUMN_OF(kind, #member, member)

static const field_row columns[] = {COLUMN(FIELD_NUMBER, second),
                                    COLUMN(FIELD_COUNT, frames),
                                    COLUMN(FIELD_COUNT, late),
                                    COLUMN(FIELD_COUNT, judged),
                                    COLUMN(FIELD_COUNT, broken),
                                    COLUMN(FIELD_TIME, wall_p50_ns),
                                    COLUMN(FIELD_TIME, wall_p99_ns),
                                    COLUMN(FIELD_TIME, wall_max_ns),
                                    COLUMN(FIELD_TIME, overrun_max_ns),
                                    COLUMN(FIELD_TIME, updates_cpu_ns),
                                    COLUMN(FIELD_NUMBER, released),
                                    COLUMN(FIELD_NUMBER, completed),
                                    COLUMN(FIELD_NUMBER, preempted),
                                    COLUMN(FIELD_NUMBER, frame),
                                    COLUMN(FIELD_TIME, budget_ns),
                                    COLUMN(FIELD_COUNT, carried),
                                    COLUMN(FIELD_COUNT, agents),
                                    COLUMN(FIELD_COUNT, beyond_wish),
                                    COLUMN(FIELD_COUNT, quarantined),
                                    COLUMN_OF(FIELD_TIME, "idle_fault_ns", idle_ns[MUSTER_IDLE_FAULT]),
                                    COLUMN_OF(FIELD_TIME, "idle_x_ns", idle_ns[MUSTER_IDLE_X]),
                                    COLUMN_OF(FIELD_TIME, "idle_long_ns", idle_ns[MUSTER_IDLE_LONG]),
                                    COLUMN(FIELD_COUNT, idle_faults),
                                    COLUMN(FIELD_COUNT, mended),
                                    COLUMN(FIELD_FLOAT, pressure),
                                    COLUMN(FIELD_FLOAT, important_load),
                                    COLUMN(FIELD_FLOAT, wants),
                                    COLUMN(FIELD_FLOAT, has),
                                    {0}};

static void write_value(json_writer *writer, const field_row *column, const history_second *second) {
  const char *place = (const char *)second + column->offset;
  if (column->kind == FIELD_FLOAT)
    json_float(writer, NULL, (float)field_value(column, place));
  else
    json_uint(writer, NULL, field_whole(column, place));
}

static void write_columns(json_writer *writer, const history_second *seconds, uint32_t count) {
  char name[16];
  for (const field_row *column = columns; column->name; column++) {
    json_begin_array(writer, column->name);
    for (uint32_t i = 0; i < count; i++) write_value(writer, column, &seconds[i]);
    json_end_array(writer);
  }
  for (uint32_t level = 0; level < MUSTER_LEVELS; level++) {
    snprintf(name, sizeof name, "level_%u", level);
    json_begin_array(writer, name);
    for (uint32_t i = 0; i < count; i++) json_uint(writer, NULL, seconds[i].levels[level]);
    json_end_array(writer);
  }
  for (uint32_t band = 0; band < MUSTER_BANDS; band++) {
    snprintf(name, sizeof name, "got_ns_%u", band);
    json_begin_array(writer, name);
    for (uint32_t i = 0; i < count; i++) json_uint(writer, NULL, history_interval_ns(&seconds[i], 1, band));
    json_end_array(writer);
  }
}

typedef struct history_input {
  uint64_t after;
} history_input;

static bool read_after(api_call *call) {
  history_input *input = call->input;
  return api_query_count(call->request, "after", 0, UINT32_MAX, &input->after, &call->problem);
}

static void show_history(api_call *call) {
  const history_input *input = call->input;
  static history_second seconds[HISTORY_SECONDS]; /* the loop's thread alone reads */
  uint64_t now_ns = clock_system();
  uint32_t count = world_read_history(call->world, input->after, now_ns, seconds);
  json_print(&call->writer, "world=%s now_ns=%lu kept_s=%u", call->world->name, now_ns, (uint32_t)HISTORY_SECONDS);
  write_columns(&call->writer, seconds, count);
}

/* Ten minutes of 37 columns; a value of at most 20 digits stands on a line of its own. */
enum { HISTORY_ROOM = HISTORY_SECONDS * 37 * 28 };

const http_route history_routes[] = {
    {"GET", "/v1/worlds/{world}/history", "the last ten minutes, second by second; after=SECOND for newer ones",
     API_ORDER(show_history, .query = read_after, .at_once = true, .input_bytes = sizeof(history_input),
               .room = HISTORY_ROOM),
     .queries = "after"},
    {0},
};

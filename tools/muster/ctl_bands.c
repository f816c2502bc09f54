/* ctl_bands.c - the bands of importance of a world, out of what the daemon answers. */
#include "ctl.h"

#include <jansson.h>

static uint64_t count_of(const json_t *object, const char *name) {
  json_int_t value = json_integer_value(json_object_get(object, name));
  return value > 0 ? (uint64_t)value : 0;
}

static muster_band read_band(const json_t *object) {
  return (muster_band){.agents = (uint32_t)count_of(object, "agents"),
                       .agents_beyond_wish = (uint32_t)count_of(object, "beyond_wish"),
                       .wanted_ns = count_of(object, "wanted"),
                       .period_ns = count_of(object, "period"),
                       .interval_ns = count_of(object, "interval"),
                       .agent_time_ns = json_number_value(json_object_get(object, "agent_time")),
                       .completed = count_of(object, "completed"),
                       .staleness.max_ns = count_of(object, "max"),
                       .age.p50_ns = count_of(object, "age_p50"),
                       .age.p99_ns = count_of(object, "age_p99"),
                       .age.max_ns = count_of(object, "age_max")};
}

void ctl_read_bands(const json_t *array, muster_band bands[MUSTER_BANDS]) {
  for (uint32_t i = 0; i < MUSTER_BANDS; i++) bands[i] = read_band(json_array_get(array, i));
}

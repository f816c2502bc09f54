/* ctl_members.c - members of what the daemon answers, and the bands of importance of a world. */
#include "ctl.h"

#include <jansson.h>
#include <stdio.h>

uint64_t ctl_count_of(const json_t *object, const char *name) {
  json_int_t value = json_integer_value(json_object_get(object, name));
  return value > 0 ? (uint64_t)value : 0;
}

void ctl_copy_text(const json_t *object, const char *name, char *out, size_t bytes) {
  const char *text = json_string_value(json_object_get(object, name));
  snprintf(out, bytes, "%s", text ? text : "");
}

static muster_band read_band(const json_t *object) {
  return (muster_band){.agents = (uint32_t)ctl_count_of(object, "agents"),
                       .agents_beyond_wish = (uint32_t)ctl_count_of(object, "beyond_wish"),
                       .wanted_ns = ctl_count_of(object, "wanted"),
                       .period_ns = ctl_count_of(object, "period"),
                       .interval_ns = ctl_count_of(object, "interval"),
                       .agent_time_ns = json_number_value(json_object_get(object, "agent_time")),
                       .completed = ctl_count_of(object, "completed"),
                       .staleness.max_ns = ctl_count_of(object, "max"),
                       .age.p50_ns = ctl_count_of(object, "age_p50"),
                       .age.p99_ns = ctl_count_of(object, "age_p99"),
                       .age.max_ns = ctl_count_of(object, "age_max")};
}

void ctl_read_bands(const json_t *array, muster_band bands[MUSTER_BANDS]) {
  for (uint32_t i = 0; i < MUSTER_BANDS; i++) bands[i] = read_band(json_array_get(array, i));
}

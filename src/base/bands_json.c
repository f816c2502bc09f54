#include "base/bands_json.h"

static void write_band(json_writer *writer, uint32_t number, const muster_band *band) {
  json_begin_object(writer, NULL);
  json_number(writer, "from", number ? (double)muster_band_end(number - 1) : 0.0);
  json_number(writer, "to", (double)muster_band_end(number));
  json_uint(writer, "agents", band->agents);
  json_uint(writer, "beyond_wish", band->agents_beyond_wish);
  json_uint(writer, "wanted", band->wanted_ns);
  json_uint(writer, "period", band->period_ns);
  if (band->completed)
    json_uint(writer, "interval", band->interval_ns);
  else
    json_null(writer, "interval");
  json_number(writer, "agent_time", band->agent_time_ns);
  json_uint(writer, "completed", band->completed);
  json_uint(writer, "p50", band->staleness.p50_ns);
  json_uint(writer, "p99", band->staleness.p99_ns);
  json_uint(writer, "max", band->staleness.max_ns);
  json_uint(writer, "age_p50", band->age.p50_ns);
  json_uint(writer, "age_p99", band->age.p99_ns);
  json_uint(writer, "age_max", band->age.max_ns);
  json_end_object(writer);
}

void bands_json(json_writer *writer, const muster_statistics *statistics) {
  json_begin_array(writer, "staleness_by_importance");
  for (uint32_t i = 0; i < MUSTER_BANDS; i++) write_band(writer, i, &statistics->bands[i]);
  json_end_array(writer);
}

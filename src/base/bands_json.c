#include "base/bands_json.h"

#include <math.h>

static void write_band(json_writer *writer, uint32_t number, const muster_band *band) {
  const muster_quantiles *staleness = &band->staleness, *age = &band->age;
  json_print(writer,
             "{ from=%g to=%g agents=%u beyond_wish=%u wanted=%lu period=%lu interval=%g agent_time=%g completed=%lu "
             "p50=%lu p99=%lu max=%lu age_p50=%lu age_p99=%lu age_max=%lu }",
             number ? (double)muster_band_end(number - 1) : 0.0, (double)muster_band_end(number), band->agents,
             band->agents_beyond_wish, band->wanted_ns, band->period_ns,
             band->completed ? (double)band->interval_ns : (double)NAN, band->agent_time_ns, band->completed,
             staleness->p50_ns, staleness->p99_ns, staleness->max_ns, age->p50_ns, age->p99_ns, age->max_ns);
}

void bands_json(json_writer *writer, const muster_statistics *statistics) {
  json_begin_array(writer, "staleness_by_importance");
  for (uint32_t i = 0; i < MUSTER_BANDS; i++) write_band(writer, i, &statistics->bands[i]);
  json_end_array(writer);
}

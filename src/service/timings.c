#include "service/timings.h"

static const uint64_t bounds_ns[TIMING_BUCKETS - 1] = {
    10000,   25000,    50000,    100000,   250000,   500000,    1000000,   2500000,
    5000000, 10000000, 15000000, 25000000, 50000000, 100000000, 250000000, 1000000000,
};

uint64_t timing_bound_ns(uint32_t bucket) {
  return bucket < TIMING_BUCKETS - 1 ? bounds_ns[bucket] : UINT64_MAX;
}

static void timing_add(struct timing *timing, uint64_t value_ns) {
  uint32_t bucket = 0;
  while (bucket < TIMING_BUCKETS - 1 && value_ns > bounds_ns[bucket]) bucket++;
  timing->counts[bucket]++;
  timing->sum_ns += value_ns;
}

void timings_add(world_timings *timings, const muster_frame_report *report) {
  timing_add(&timings->frame, report->wall_ns);
  timing_add(&timings->overrun_wall, report->overrun_wall_ns);
  if (report->used_cpu_ns) timing_add(&timings->overrun_own, report->overrun_own_ns);
  for (uint32_t i = 0; i < MUSTER_STAGES; i++) timing_add(&timings->stages[i], report->stage_ns[i]);
  timings->update_cpu_ns += report->update_cpu_ns;
  timings->overhead_ns += report->overhead_ns;
}

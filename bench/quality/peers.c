/* The rules that servers use today, as plain loops over the crowd. */
#include "rules.h"

#include <math.h>

void rule_round_robin(crowd *crowd, double cpu_s, rule_span span) {
  double shortest_s = (double)crowd->def->period_ns * 1e-9 - 1e-9, left_s = 0;
  uint32_t next = 0;
  for (uint32_t frame = 0; frame < span.to; frame++) {
    rule_next_frame(crowd, frame, span);
    left_s = fmin(left_s + cpu_s, 2 * cpu_s);
    for (uint32_t seen = 0; seen < crowd->count && left_s > 0; seen++) {
      crowd_member *member = &crowd->members[next];
      next = (next + 1) % crowd->count;
      if (crowd->now_s - member->last_s < shortest_s) continue;
      crowd_update(crowd, member);
      left_s -= member->cost_s;
    }
  }
}

static uint32_t frames_between(const crowd *crowd, const crowd_member *member, double scale) {
  double frames = floor(member->distance_m * member->distance_m * scale);
  double fewest = ceil((double)crowd->def->period_ns / CROWD_FRAME_NS);
  double most = floor((double)crowd->def->period_max_ns / CROWD_FRAME_NS);
  return (uint32_t)fmin(fmax(frames, fewest), most);
}

static double mean_cpu(const crowd *crowd, double scale) {
  double cpu_s = 0;
  for (uint32_t i = 0; i < crowd->count; i++)
    cpu_s += crowd->members[i].cost_s / frames_between(crowd, &crowd->members[i], scale);
  return cpu_s;
}

void rule_distance(crowd *crowd, double cpu_s, rule_span span) {
  double low = 1e-12, high = 1e6;
  for (int i = 0; i < 150; i++) {
    double middle = sqrt(low * high);
    if (mean_cpu(crowd, middle) > cpu_s)
      low = middle;
    else
      high = middle;
  }
  for (uint32_t frame = 0; frame < span.to; frame++) {
    rule_next_frame(crowd, frame, span);
    for (uint32_t i = 0; i < crowd->count; i++)
      if ((frame + crowd_random(0, 3, i)) % frames_between(crowd, &crowd->members[i], high) == 0)
        crowd_update(crowd, &crowd->members[i]);
  }
}

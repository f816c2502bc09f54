/* The rules that servers use today, as plain loops over the crowd. */
#include "rules.h"

#include <math.h>

void rule_round_robin(struct crowd *crowd, double cpu_s, rule_span span) {
  double left_s = 0;
  uint32_t next = 0;
  for (uint32_t frame = 0; frame < span.to; frame++) {
    rule_next_frame(crowd, frame, span);
    left_s = fmin(left_s + cpu_s, 2 * cpu_s);
    for (uint32_t seen = 0; seen < crowd->count && left_s > 0; seen++) {
      crowd_member *member = &crowd->members[next];
      next = next + 1 < crowd->count ? next + 1 : 0;
      if (crowd->now_s - member->last_s < member->shortest_s - 1e-9) continue;
      crowd_update(crowd, member);
      left_s -= member->cost_s;
    }
  }
}

/* Converts a period to frames. */
typedef struct rule_scale {
  double frames_per_m2, stretch;
} rule_scale;

static uint32_t frames_between(const crowd_member *member, rule_scale scale) {
  static const double frame_s = CROWD_FRAME_NS * 1e-9;
  double distance_m = fmax(member->distance_m, 25.0), frames = floor(distance_m * distance_m * scale.frames_per_m2);
  double fewest = ceil(member->shortest_s / frame_s - 1e-9), most = floor(member->longest_s * scale.stretch / frame_s);
  return (uint32_t)fmin(fmax(frames, fewest), most);
}

static double mean_cpu(const struct crowd *crowd, rule_scale scale) {
  double cpu_s = 0;
  for (uint32_t i = 0; i < crowd->count; i++)
    cpu_s += crowd->members[i].cost_s / frames_between(&crowd->members[i], scale);
  return cpu_s;
}

void rule_distance(struct crowd *crowd, double cpu_s, double stretch, rule_span span) {
  double low = 1e-12, high = 1e6;
  for (int i = 0; i < 100; i++) {
    double middle = sqrt(low * high);
    if (mean_cpu(crowd, (rule_scale){middle, stretch}) > cpu_s)
      low = middle;
    else
      high = middle;
  }
  for (uint32_t i = 0; i < crowd->count; i++)
    crowd->members[i].every = frames_between(&crowd->members[i], (rule_scale){high, stretch});
  for (uint32_t frame = 0; frame < span.to; frame++) {
    rule_next_frame(crowd, frame, span);
    for (uint32_t i = 0; i < crowd->count; i++)
      if ((frame + crowd_random(0, 3, i)) % crowd->members[i].every == 0) crowd_update(crowd, &crowd->members[i]);
  }
}

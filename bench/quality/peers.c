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
      left_s -= crowd_update(crowd, member);
    }
  }
}

/* Sets how many frames are between two updates of each; returns the mean CPU of a frame. */
static double set_frames(struct crowd *crowd, double frames_per_m2, double stretch) {
  static const double frame_s = CROWD_FRAME_NS * 1e-9;
  double cpu_s = 0;
  for (crowd_member *member = crowd->members; member < crowd->members + crowd->count; member++) {
    double distance_m = fmax(member->distance_m, 25.0), frames = floor(distance_m * distance_m * frames_per_m2);
    double fewest = ceil(member->shortest_s / frame_s - 1e-9), most = floor(member->longest_s * stretch / frame_s);
    member->every = (uint32_t)fmin(fmax(frames, fewest), most);
    cpu_s += member->cost_s / member->every;
  }
  return cpu_s;
}

void rule_distance(struct crowd *crowd, double cpu_s, double stretch, rule_span span) {
  crowd_fit(crowd, 1e-12, 1e6, stretch, cpu_s, set_frames);
  for (uint32_t frame = 0; frame < span.to; frame++) {
    rule_next_frame(crowd, frame, span);
    for (uint32_t i = 0; i < crowd->count; i++)
      if ((frame + crowd_random(0, 3, i)) % crowd->members[i].every == 0) crowd_update(crowd, &crowd->members[i]);
  }
}

/* rules.h - the rules that keep a crowd fresh, each until a given time, with a given CPU in each frame. */
#ifndef BENCH_RULES_H
#define BENCH_RULES_H

#include "crowd.h"

/* When ages begin to count, and when the measure ends; in frames. */
typedef struct rule_span {
  uint32_t from, to;
} rule_span;

/* How a Muster world fits and ranks. */
typedef struct rule_muster_def {
  muster_elastic elastic;
  muster_order order;
  float octaves; /* of importance; heeded by MUSTER_ELASTIC_IMPORTANCE */
} rule_muster_def;

/* Runs the crowd in a Muster world; wishes may take `part` of the CPU, heeded by MUSTER_ELASTIC_IMPORTANCE. False with
 * the reason in muster_last_error(). */
bool rule_muster(struct crowd *crowd, const rule_muster_def *rule, double part, double cpu_s, rule_span span);

/* One after the other, as far as the frame's CPU reaches; what is left of it goes to the next frame. An agent that was
 * updated less than the shortest period ago is passed over. */
void rule_round_robin(struct crowd *crowd, double cpu_s, rule_span span);

/* Every k-th frame, k proportional to the squared distance to the nearest observer, which counts as 25 m at least, from
 * the shortest period up to `stretch` times the longest. */
void rule_distance(struct crowd *crowd, double cpu_s, double stretch, rule_span span);

/* The next frame begins; the window does when it is the span's first. */
static inline void rule_next_frame(struct crowd *crowd, uint32_t frame, rule_span span) {
  if (frame == span.from) crowd_begin_window(crowd);
  crowd->now_s = (double)(frame + 1) * CROWD_FRAME_NS * 1e-9;
}

#endif

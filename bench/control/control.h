/* control.h - how the frame's controller answers when costs or budgets change: a world under the virtual clock,
 * overloaded about 2.5 times, whose cost model follows a script. The same figures on any machine.
 *
 * Watched are the rate (updates completed in a frame), and the mean period that the fit gives. For a step each should
 * go to its new value at once and stay there:
 *
 *   settle_frames      frames until rate and period stay within 10 % of the new value
 *   overshoot          how far either went beyond it, as a share of the step
 *   frames_depressed   frames after the disturbance, its own included, with less than 90 % of the rate that costs allow
 *   swing              standard deviation over the mean of period and rate, the larger, when all has settled: a limit
 *                      cycle would show here */
#ifndef BENCH_CONTROL_H
#define BENCH_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

enum { CONTROL_FRAMES = 480, CONTROL_RESPONSES = 8 };

typedef struct control_trace {
  float rate[CONTROL_FRAMES];    /* updates completed */
  float allowed[CONTROL_FRAMES]; /* the rate that costs and budget allow: budget over the mean cost */
  float period_ms[CONTROL_FRAMES];
  float waiting[CONTROL_FRAMES]; /* updates released and not run */
} control_trace;

typedef struct control_figures {
  double overshoot;
  uint32_t settle_frames, frames_depressed;
  double swing;
} control_figures;

typedef struct control_response {
  const char *name, *summary;
  control_figures figures;
  uint64_t idle_frames, idle_windows; /* that did not use their capacity: idle_watch.h */
  bool within;                        /* the bounds below, and none of these */
  control_trace trace;
} control_response;

/* The bounds of a response. */
extern const control_figures control_within;

/* Measures all responses. Null, or what went wrong. */
const char *control_measure(uint64_t seed, control_response responses[CONTROL_RESPONSES]);

#endif

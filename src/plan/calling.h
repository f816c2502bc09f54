/* plan/calling.h - from how much work on is a worker called to help with it?
 *
 * A worker that comes has cold caches, and what it wrote is cold for the caller afterwards. Where a cache line takes 50
 * ns from one core to another, a tenth of a millisecond of updates is worth a call; where it takes 200, it makes frames
 * longer. Which it is may change while a world runs, and no time of one stage tells, since the others pay for it. So
 * the time of whole frames decides: now and then a few frames are run the other way, and what is faster for each
 * update stays. What updates do does not depend on it. */
#ifndef PLAN_CALLING_H
#define PLAN_CALLING_H

#include <stdbool.h>
#include <stdint.h>

enum {
  CALLING_FRAMES = 5,        /* of each way, whose medians are compared */
  CALLING_PAUSE_LEAST = 16,  /* frames from one trial to the next, */
  CALLING_PAUSE_MOST = 1024, /* twice as many after each that changed nothing */
  CALLING_RUN_NS = 100000,   /* of updates for each worker that is called, */
  CALLING_HELP_NS = 50000,   /* and of a serial stage; */
  CALLING_TIMID = 20         /* so many times as much where it does not pay */
};

/* All zero: workers are called for little work, and the first trial comes soon. */
struct calling {
  bool timid;      /* workers are called for much work only... */
  bool trying;     /* ...but at present it is the other way round */
  uint32_t frames; /* since the trial began, or ended */
  uint32_t pause;
  double own_ns[CALLING_FRAMES], tried_ns[CALLING_FRAMES]; /* the last frames' time for each update */
};

/* Work that is worth calling a worker for, from what it is where calls pay. */
static inline uint64_t calling_worth_ns(const struct calling *state, uint64_t least_ns) {
  return state->timid != state->trying ? least_ns * CALLING_TIMID : least_ns;
}

/* A frame with so much work, for which so many other workers might be called, took so long for so many updates. */
void calling_note(struct calling *state, uint64_t work_ns, uint32_t others, uint64_t frame_ns, uint32_t updates);

#endif

/* run/timeline.h - what frames took on one worker, step by step, so that one can work out what they would take on more.
 *
 * A world without a timeline pays a look at a null pointer for each of these calls. With one, work that workers can
 * share is cut as finely as for the most of them, and the caller does it piece by piece:
 *
 *   frame | alone | section: its runs | alone | offer | alone | offer | alone | claims | alone | ...
 *
 * Each call notes the time since the last one, less what reading the clock takes. So the steps of a frame add up to
 * what it took. On the wall clock, on the frame's thread; memory is reserved by who reads the timeline. */
#ifndef RUN_TIMELINE_H
#define RUN_TIMELINE_H

#include "base/clock.h"
#include "base/parts.h"

typedef enum timeline_kind {
  TIMELINE_FRAME = 0, /* a frame begins */
  TIMELINE_ALONE,     /* the caller works alone for `ns` */
  TIMELINE_SECTION,   /* pieces: runs of neighbouring items, for which helpers may be called */
  TIMELINE_OFFER,     /* so many claims may be taken from now on: `count`; helpers may be called to them */
  TIMELINE_CLAIMS     /* pieces: claims that the caller took, after it had offered them all */
} timeline_kind;

typedef struct timeline_step {
  timeline_kind kind;
  uint32_t stage;             /* by muster_stage; MUSTER_STAGES: after the last */
  const char *name;           /* alone: of what the caller did; null: it has none */
  part_work work;             /* a section's */
  uint64_t ns;                /* of all pieces */
  uint64_t work_ns, worth_ns; /* section, offer: the work that was expected, and how much is worth calling a helper */
  uint32_t first, count;      /* of the pieces */
} timeline_step;

struct timeline {
  const clock_source *clock;
  uint64_t last_ns; /* up to here all is noted */
  timeline_step *steps;
  uint32_t *pieces_ns;
  uint32_t step_count, steps_max, piece_count, pieces_max;
  uint32_t stage_first;                 /* the first step of the stage */
  bool full;                            /* there was no room for a step or a piece */
  uint32_t offered;                     /* claims, by the last offer */
  void (*move)(void *mover, bool away); /* takes the caller to another processor, or home; null: it stays */
  void *mover;
  bool away;
};

/* A frame begins, and ends. */
void timeline_begin_frame(struct timeline *timeline);
void timeline_end_frame(struct timeline *timeline);

/* A stage ends. */
void timeline_end_stage(struct timeline *timeline, uint32_t stage);

/* The caller did this alone since the last call. */
void timeline_alone(struct timeline *timeline, const char *name);

/* A section begins, whose work is expected to take `work_ns`. */
void timeline_section(struct timeline *timeline, part_work work, uint64_t work_ns, uint64_t worth_ns);

/* `claims` in all may be taken from now on. */
void timeline_offer(struct timeline *timeline, uint32_t claims, uint64_t work_ns, uint64_t worth_ns);

/* The caller has done a run of the section; it has run a claim. */
void timeline_run(struct timeline *timeline);
void timeline_claim(struct timeline *timeline);

/* Takes the caller to another processor for pieces that a second worker would do, and home behind them, where the
 * timeline has a way to. So lines of memory go to and fro as among two workers; going there is not noted. */
void timeline_place(struct timeline *timeline, bool away);

#endif

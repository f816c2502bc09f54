/* frame_state.h - the frame that is running, what it expects of itself, and how far its commit got. */
#ifndef FRAME_STATE_H
#define FRAME_STATE_H

#include <stdbool.h>
#include <stdint.h>

/* What a frame expects of itself, from what the frames before it took. Asked once, when the intake is over
 * (frame/forecast.h); the stages read it. */
typedef struct frame_forecast {
  double utilisation;    /* U_d: what the workers can run, as a share of simulation time; infinite in the first frame */
  double settle_ns;      /* the commit settles an entry */
  double entry_ns;       /* an entry is ranked and settled */
  double act_ns;         /* the frame's actions */
  double commit_most_ns; /* the commit is taken to last no longer */
  double gap_ns;         /* what the other workers can run while the caller plans */
  uint64_t reserve_ns;   /* of the budget, kept free at its end */
  uint32_t entries_most; /* that there is time to rank */
} frame_forecast;

/* The frame that is running. */
typedef struct frame_state {
  uint64_t number;
  uint64_t now_ns;                /* simulation time */
  uint64_t elapsed_ns;            /* T_f */
  uint64_t budget_ns;             /* what the host gave, less what calls between frames took and what past frames owe */
  uint64_t begin_ns, deadline_ns; /* wall */
  uint64_t capacity_ns;           /* virtual clock: of this frame, its actions included */
  uint64_t spent_ns;              /* virtual clock: modelled cost so far */
  uint64_t stage_ns;              /* wall clock at the end of the last stage */
  uint64_t mark_ns, mark_cpu_ns;  /* audit: the last look at both clocks */
  uint64_t late_cpu_ns;           /* audit: the caller's thread CPU after the promised end, outside stage 7 */
  uint64_t serial_cpu_ns;         /* audit: the caller's thread CPU outside stage 7 */
  uint64_t stolen_ns;             /* audit: wall time of the caller outside stage 7 that the kernel gave to others */
  bool slept;                     /* audit: the caller did, until the last worker left a crew of a serial stage */
  uint64_t act_ns;                /* spent in action atoms */
  frame_forecast forecast;
  uint64_t commit_ns;  /* what the commit will take: known when the batch is */
  double everybody_ns; /* what one update of everybody takes who has a period */
  double acts_late_ns; /* what the actions will take of those whose turn should have come, */
  uint32_t acts_late;  /* and how many these are */
} frame_state;

/* How far the commit of the last batch got: what found no time is left to the next frame. */
typedef struct commit_progress {
  bool open;
  bool begun;                  /* else the deadline had passed, and all of it is left */
  bool all_settled;            /* what is left is to deliver messages */
  uint32_t settled;            /* entries */
  uint64_t unheld_ns;          /* of those that did not run, what those would take that are never held */
  uint32_t ids_seen, ids_kept; /* of those set aside for spawns */
} commit_progress;

#endif

/* frame_state.h - the frame that is running, what it expects of itself, and how far its commit got. */
#ifndef FRAME_STATE_H
#define FRAME_STATE_H

#include <stdbool.h>
#include <stdint.h>

/* What a frame expects of itself, judged by what earlier frames took. Computed once, when the intake is over
 * (frame/forecast.h); the stages read it. */
typedef struct frame_forecast {
  double utilisation;    /* U_d: what the workers can run, as a share of simulation time; infinite in the first frame */
  double settle_ns;      /* what the commit takes to settle an entry */
  double entry_ns;       /* what it takes to rank and settle an entry */
  double act_ns;         /* what the frame's actions take */
  double commit_most_ns; /* the longest that the commit is expected to take */
  double gap_ns;         /* what the other workers can run while the caller plans */
  uint64_t reserve_ns;   /* the part of the budget that is kept free at its end */
  uint32_t entries_most; /* the most entries that there is time to rank */
} frame_forecast;

/* The frame that is running. */
typedef struct frame_state {
  uint64_t number;
  uint64_t now_ns;                /* simulation time */
  uint64_t elapsed_ns;            /* T_f */
  uint64_t budget_ns;             /* what the host gave, less what calls between frames took and what past frames owe */
  uint64_t begin_ns, deadline_ns; /* wall */
  uint64_t begin_own_ns;          /* the caller's own clock at the begin, */
  uint64_t planning_taken_ns;     /* and how long it was away from its processor until the batch was planned */
  uint64_t capacity_ns;           /* virtual clock: what this frame can run, its actions included */
  uint64_t spent_ns;              /* virtual clock: modelled cost so far */
  uint64_t stage_ns;              /* wall clock at the end of the last stage */
  uint64_t mark_ns, mark_own_ns;  /* the last look at both clocks: wall, and the caller's own (world/serial.h) */
  uint64_t late_cpu_ns;           /* audit: the caller's thread CPU after the promised end, outside stage 7 */
  uint64_t serial_ns;             /* own time of the caller outside stage 7 */
  uint64_t helped_ns;             /* of it, while other workers might work, too */
  uint64_t early_ns, early_own_ns; /* both clocks when the early claims were opened, */
  uint64_t early_helped_ns;        /* and helped_ns */
  uint64_t early_dry_ns;           /* how long no claims were left for others until ranking began */
  uint64_t stolen_ns;              /* audit: wall time of the caller outside stage 7 that the kernel gave to others */
  bool slept;                      /* audit: the caller slept until the last worker left a team of a serial stage */
  uint64_t act_ns;                 /* spent in action atoms */
  uint64_t believed_ns, own_ns; /* planner: what the updates that ran were believed to take; and took by themselves */
  frame_forecast forecast;
  uint64_t commit_ns;      /* what the commit will take: known when the batch is known */
  uint64_t updates_before; /* that workers had run when the last appending was considered (frame/append.c), */
  uint32_t entries_before; /* and the entries of the batch then */
  uint32_t updates_max;    /* x; UINT32_MAX = no limit */
  double everybody_ns;     /* what one update of every agent with a period takes */
  double longest_ns;       /* the longest period in force */
  double acts_late_ns;     /* what the waiting actions that should have run before now will take */
  uint32_t acts_late;      /* and of how many agents these are */
} frame_state;

/* How far the commit of the last batch got: what found no time is left to the next frame. */
/* How far the ids that were set aside for spawns are sorted out. */
typedef struct spawn_ids {
  uint32_t seen; /* so many were looked at; */
  uint32_t kept; /* of these, those that were not used have moved to the front */
} spawn_ids;

typedef struct commit_progress {
  bool open;
  bool begun;         /* false: the deadline had passed, and all of it is left */
  bool all_settled;   /* only messages are left to deliver */
  uint32_t settled;   /* entries settled so far */
  uint64_t unheld_ns; /* predicted cost of the entries that did not run and are never held */
  spawn_ids ids;
} commit_progress;

#endif

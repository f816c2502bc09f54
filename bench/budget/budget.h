/* budget.h - how much of its budget a frame uses while agents wait, by what updates cost: the planner, the library and
 * two plain loops, over one set of shapes.
 *
 * By accounting: time is told (base/clock.h). An update advances the clock by what it costs in its shape, and nothing
 * else takes time, so that figures are exact, the same on any machine, and those of the decisions alone. An update's
 * cost depends on the seed, its agent and how often that agent ran before, so every contender meets the same costs.
 *
 *   used        over frames at whose end an agent waits that is due (by its shortest period): min(time inside updates,
 *               budget) + what the frame repaid of earlier own overruns, over the budget. Planning is no use
 *   staleness   mean over time of sum w_i age_i / sum w_i with w_i = 2^(12 importance), as in bench quality
 *   late        frames that end beyond their deadline by more than their longest update; on the wall clock, where the
 *               library judges itself, those that broke its promise
 *   idle        frames under a fifth of the budget while an agent that is due waits
 *
 * On the wall clock updates are busy work, frames follow each other at once, and contenders take turns of a few frames,
 * so that each has the same of what else the machine does.
 *
 * The first two seconds are left out, but where a shape is about them. */
#ifndef BENCH_BUDGET_H
#define BENCH_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

enum { BUDGET_SHAPES = 18, BUDGET_ROWS = 2 * BUDGET_SHAPES, BUDGET_GROUPS = 2, BUDGET_SECONDS = 20 };

typedef enum budget_contender {
  BUDGET_PLAN = 0,  /* a planner's host that plans once in a frame */
  BUDGET_REPLAN,    /* the same, which plans again with the rest of its budget */
  BUDGET_LIBRARY,   /* muster_frame_run() on the calling thread */
  BUDGET_LIBRARY_2, /* and on two workers, on the wall clock alone */
  BUDGET_SORTED,    /* a loop over the agents by staleness x weight */
  BUDGET_SORTED_2,  /* and two of them, each with half of the agents, on the wall clock alone */
  BUDGET_ROBIN,     /* a loop over the agents in turn */
  BUDGET_CONTENDERS
} budget_contender;

typedef struct budget_setup {
  uint64_t seed;
  const char *only;                            /* a list of shapes with commas, or null = all */
  const char *contenders;                      /* likewise */
  const char *spawns;                          /* a spawn file; null = its shape is left out */
  uint32_t agents, hz, seconds;                /* of a run; shapes may have agents and frames of their own */
  uint32_t plans;                              /* at most, in a frame of BUDGET_REPLAN */
  uint32_t wall_frames;                        /* on the wall clock; 0 = none */
  bool report_own;                             /* planners' hosts report thread CPU time instead of wall time */
  uint64_t budget_ns;                          /* of a frame */
  void (*show)(const char *doing, void *user); /* called now and then; null = not wanted */
  void *user;
} budget_setup;

/* What a group of agents got: where a shape has two, cheap and dear ones, or those far from and near to the player. */
typedef struct budget_group {
  uint32_t agents;
  double interval_ms;           /* mean time between two updates of an agent, in the window */
  double staleness_ms;          /* without weights */
  uint32_t rates_from;          /* the second at which... */
  double rates[BUDGET_SECONDS]; /* ...these begin: updates of an agent in each */
} budget_group;

typedef struct budget_result {
  bool measured;
  uint32_t frames;            /* of the window */
  uint32_t frames_waiting;    /* at whose end an agent was waiting */
  double used;                /* share; 0 when no agent ever waited */
  double staleness_ms, ratio; /* weighted; and to that of the sorted loop on as many threads, 0 = not measured */
  double mean_staleness_ms;   /* without weights */
  double late_share;
  uint64_t longest_late_ns; /* beyond the deadline, the update that crosses it included */
  uint32_t idle_frames;
  double updates_per_frame; /* in the window, */
  /* and by the time that its frames took, which are longer where the kernel runs others; and to those of the same loop
   */
  double updates_per_second, updates_ratio;
  uint64_t updates, inside_ns; /* of the whole run, as are the following three */
  uint64_t repeats;            /* updates of agents that had run in the same frame already */
  uint64_t at_once;            /* updates that were told no elapsed time */
  uint64_t faults;             /* elapsed times that are not those since the last update, and sums that disagree */
  budget_group groups[BUDGET_GROUPS];
} budget_result;

typedef struct budget_row {
  const char *shape;
  bool wall; /* on the machine's clock */
  uint32_t agents, hz;
  uint64_t budget_ns;
  budget_result results[BUDGET_CONTENDERS];
} budget_row;

/* Threads that run updates. With more than one it takes part on the wall clock alone. */
static inline uint32_t budget_threads(uint32_t contender) {
  return contender == BUDGET_LIBRARY_2 || contender == BUDGET_SORTED_2 ? 2 : 1;
}

/* The name of each contender and of each shape, as in rows, and what it is. */
extern const char *const budget_contenders[BUDGET_CONTENDERS][2];
extern const char *const budget_shapes[BUDGET_SHAPES][2];

/* Measures the rows: those by accounting, then those on the wall clock. Null, or what went wrong. */
const char *budget_measure(const budget_setup *setup, budget_row rows[BUDGET_ROWS], uint32_t *count);

#endif

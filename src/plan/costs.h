/* plan/costs.h - what an update costs, per agent type and level: a moving mean and a moving high percentile; and, where
 * it shows, how the cost grows with the time that has passed since the agent's last update.
 *
 * Such a cost is a line in elapsed time, a + b T: longer periods save some of a / T, and none of b. What is learnt is
 * b, and a follows from the means. It is learnt from updates that came earlier or later than by their period, because
 * what agents with other periods cost says nothing: they may be other agents. b changes by evidence alone: it stays 0,
 * and nothing depends on elapsed time, until it is beyond noise. */
#ifndef PLAN_COSTS_H
#define PLAN_COSTS_H

#include "base/arena.h"
#include "plan/cost_factors.h"

#include <math.h>
#include <muster/muster.h>

typedef struct cost_estimate {
  double mean_ns;
  double factor_more; /* the mean factor of the agents whose updates these were (plan/cost_factors.h), less 1 */
  double high_ns;     /* tracks the 95th percentile; as all below, of agents with that mean factor */
  /* The mean over the window and over a sixteenth of it, where a sample counts for at most twice the usual, so that no
   * single one makes a difference. When the two are far apart, costs have changed. */
  double usual_ns, late_ns;
  double limit_ns; /* the most a sample counts for: one that took longer counts as this, and doubles it */
  uint64_t samples;
  uint64_t samples_before; /* at the end of the last frame */
  uint32_t window;         /* of the mean: as many samples as four frames give, so that noise is not taken for change */
  uint32_t predicted_ns;   /* the mean as a batch's entry keeps it: 1 ns .. 1 s */
  float unit;              /* of a factor, in parts of the mean one: 1 / (FACTOR_ONE * (1 + factor_more)) */
  float variance_ns2;      /* of what samples count for, around what was believed */
  uint16_t rose, fell;     /* for so many samples more, costs count as risen, or fallen, lately; both = neither */
  factor_fit fit;          /* of costs to the factors of their agents */
  float slope;             /* b, for the mean factor, in ns for each ns elapsed; 0 = costs do not grow with it */
  float elapsed_ns;        /* the mean elapsed time over updates, by factor as costs are */
  /* The evidence for b: by how much updates came later than is usual for their agents, in seconds: the mean, and second
   * and fourth moments around it; that second moment with what costs were more than believed, and the one of these. */
  float later, later2, later4, later_off, off2;
  uint16_t evidence, evidence_frames; /* samples, and frames, as far as they are counted */
  uint32_t frame_samples;             /* of the frame that runs, */
  float frame_later2, frame_off;      /* and its sums of later2 and later_off; */
  float frames_off2;                  /* the square of the error that frames, each as a whole, leave in later_off */
} cost_estimate;

/* How often updates of a type have actions. */
typedef struct cost_actions {
  double per_update; /* actions per update, learnt over some 64 updates */
  uint32_t begun;    /* in this frame */
  double each_ns;    /* mean cost of an update's actions, which the fit adds to that of the update */
} cost_actions;

typedef struct cost_table {
  cost_estimate (*estimates)[MUSTER_LEVELS]; /* by type */
  cost_actions *actions;                     /* by type */
} cost_table;

/* Whether a duration can have been learnt: for what is read from files. */
static inline bool costs_is_duration(double duration_ns) {
  return duration_ns >= 0.0 && duration_ns < 1e15;
}

/* The same for an estimate. Any thread. */
bool estimate_is_possible(const cost_estimate *estimate);

/* Reserves the table. */
void costs_create(cost_table *costs, uint32_t types_max, struct arena *arena);

/* A predicted cost as batches and classes keep it: 1 ns .. 1 s. Without a branch. */
static inline uint32_t costs_whole_ns(double cost_ns) {
  double least_ns = cost_ns > 1.0 ? cost_ns : 1.0;
  return (uint32_t)(least_ns < 1e9 ? least_ns : 1e9);
}

/* The first guess for a type, before anything was measured. It counts as one sample: the first updates of a type are
 * often slow for reasons that do not come again (a compiler, a table that is loaded), and must not be taken whole. */
void costs_guess(cost_table *costs, uint32_t type, uint64_t guess_ns);

/* Where a cost is known from. */
typedef enum cost_source {
  COST_MEASURED = 0, /* by a clock, in which other things may be */
  COST_OVERRAN,      /* likewise, of an update that was found to take too long */
  COST_MODELLED      /* it is so */
} cost_source;

/* Takes one cost into an estimate: the plain mean of the first 64, then an exponential one over `window`. One update
 * that takes a thousand times as long as others must not slow down the world for seconds: a measured one counts as
 * eight times the high percentile at most, be it the first or any other, and as the percentile itself where it overran,
 * so that one of many does not move the mean, however long it took. Where such updates are no exception the limit at
 * most doubles with each, and the mean comes out right. Without a guess, the first cost of more than nothing is the
 * guess. */
void estimate_add(cost_estimate *estimate, double cost_ns, cost_source source);

/* The same for a duration of a frame's own parts, in which the kernel may have run another thread: after the first it
 * counts as four times the mean plus `floor_ns` at most, so that one interruption does not spoil the estimate. */
void estimate_add_clipped(cost_estimate *estimate, double cost_ns, double floor_ns);

/* A frame has ended: learns how many actions were begun where `released` updates were released. */
void costs_learn_actions(cost_actions *actions, uint32_t released);

/* A frame has ended: the windows follow the numbers of samples, and b the evidence. O(types). Returns whether some
 * costs are known to grow with elapsed time that were not before: costs_grow_newly() says which. */
bool costs_turn(cost_table *costs, uint32_t types);

/* An update whose cost is known. */
typedef struct cost_known {
  double cost_ns;
  uint64_t elapsed_ns;    /* since the agent's last update, */
  float usual_elapsed_ns; /* and what is usual for it; 0 = that is not known */
  int32_t factor;
  cost_source source;
} cost_known;

/* Takes one update in. O(1). */
void costs_add(cost_table *costs, uint32_t type, uint32_t level, const cost_known *update);

/* Whether that was learnt at the end of the last frame. */
static inline bool costs_grow_newly(const cost_estimate *estimate) {
  return estimate->slope > 0.0f && estimate->evidence_frames == 0;
}

/* All costs are taken to be so many times what they are believed to be. O(types). */
void costs_scale(cost_table *costs, uint32_t types, double factor);

/* The estimate now. */
static inline const cost_estimate *costs_of(const cost_table *costs, uint32_t type, uint32_t level) {
  return &costs->estimates[type][level];
}

/* What an update with so much elapsed time is believed to cost, in parts of one with the mean elapsed time: where costs
 * grow with it. Out of line, since few do. */
double costs_part_elapsed(const cost_estimate *estimate, double elapsed_ns);

/* What an update of an agent with a factor is believed to cost, in parts of the mean over updates, when so much time
 * has passed since its last one. */
static inline float costs_part(const cost_estimate *estimate, int32_t factor, uint64_t elapsed_ns) {
  float part = (float)factor_units_of(factor) * estimate->unit;
  if (__builtin_expect(estimate->slope > 0.0f, false)) part *= (float)costs_part_elapsed(estimate, (double)elapsed_ns);
  return part;
}

/* What an agent that costs as much as the members of its type and level in the mean is believed to cost: an update of
 * the mean elapsed time; of that a, which each update takes; and b, for each ns elapsed. */
static inline double costs_usual_ns(const cost_estimate *estimate) {
  return estimate->mean_ns * FACTOR_ONE * (double)estimate->unit;
}

static inline double costs_fixed_ns(const cost_estimate *estimate) {
  double elapsed_part_ns = (double)estimate->slope * (double)estimate->elapsed_ns;
  return (estimate->mean_ns - elapsed_part_ns) * FACTOR_ONE * (double)estimate->unit;
}

static inline double costs_slope(const cost_estimate *estimate) {
  return (double)estimate->slope * FACTOR_ONE * (double)estimate->unit;
}

/* The variance of what updates cost around what is, or soon will be, believed of their agents, in parts of that. */
static inline float costs_noise(const cost_estimate *estimate) {
  float mean_ns = (float)estimate->mean_ns;
  return fminf(estimate->variance_ns2 / (mean_ns * mean_ns), factor_fit_noise(&estimate->fit));
}

/* Whether a type and level are known well enough to say what agents cost beside others of it. */
static inline bool costs_tell_factors(const cost_estimate *estimate) {
  enum { KNOWN_SAMPLES = 64 };
  return estimate->samples >= KNOWN_SAMPLES && estimate->mean_ns > 0.0;
}

#endif

/* plan/usage.h - a consistency check of the estimates: idle budget contradicts stretched periods.
 *
 * Periods are stretched because updates are believed to need more time than there is. When, over a window in which each
 * agent had its turn, more than a tenth of the time that updates could have had was left, that belief is wrong. The
 * contradiction is counted, and mended by what the window showed: costs are believed to be what they were beside what
 * they were believed to be, by a factor of two at most; where these agree, the plan was too careful and gets as much
 * more. A window in which something else kept updates from running (a limit that the host set) shows nothing.
 *
 * Frames whose periods are as wanted may leave time, so they do not count: where the load comes and goes, a window
 * would else show the time of before to periods of now.
 *
 * Pure: no clock, no threads. */
#ifndef PLAN_USAGE_H
#define PLAN_USAGE_H

#include <stdbool.h>
#include <stdint.h>

/* The window that is open. */
struct usage {
  uint64_t begin_ns; /* simulation time */
  uint64_t frames, updates;
  double offered_ns, left_ns, took_ns, believed_ns;
  uint64_t excused; /* frames of it in which something else kept updates from running */
  uint64_t faults;  /* windows that ended in contradiction, in all */
};

/* What one frame showed. */
typedef struct usage_sample {
  uint64_t now_ns;     /* simulation time */
  uint64_t longest_ns; /* the longest period in force */
  uint64_t updates;    /* that ran */
  double offered_ns;   /* the time that updates could have had, of all workers */
  double left_ns;      /* what was left of it when none ran any more */
  double took_ns;      /* the time that they took, */
  double believed_ns;  /* and what they were believed to take */
  bool stretched;      /* periods are longer than wanted */
  bool excused;
} usage_sample;

/* What follows from a window. */
typedef struct usage_verdict {
  bool contradicts;
  double costs; /* the factor by which costs are to be believed; 1 = as they are, */
  double plan;  /* and that for which the fit may plan */
} usage_verdict;

/* Adds a frame. The verdict of a window that ends with it; else none. */
usage_verdict usage_add(struct usage *usage, const usage_sample *sample);

#endif

/* run/strands.h - claims that must not run at the same time: those on one strand, in their order.
 *
 * A worker that draws a claim on a strand tells the strand that one more may run. If it is the first to say so, it has
 * entered the strand: it runs the strand's claims in their order, one for each that was told, until none is left, and
 * no other worker waits for it. A worker that finds the strand entered goes on to its next claim. So the strand's order
 * is that of the batch, whichever worker draws which claim.
 *
 * Claims on strands may be published while the frame is still planned, in their order. A worker that runs them then
 * stays on its strand when the planning is over, until nothing is left there (run/taking.c).
 *
 * At the end of the frame a worker may leave a strand entered: the claims that are left do not run. */
#ifndef RUN_STRANDS_H
#define RUN_STRANDS_H

#include "run/runner.h"

struct strand {
  _Alignas(64) shared_u32 told; /* claims that were drawn, and not left */
  uint32_t taken;               /* the claim that was taken last; of the worker that has entered */
  uint32_t first, last;         /* claims that were linked; written by the frame's thread, which alone reads `last` */
};

/* No claim is on any strand. While no worker runs. */
void strands_open(struct runner *runner);

/* Links the claims [first, end), which follow on those that were linked before. Before they are published, while
 * workers run those. Frame's thread. */
void strands_link(struct runner *runner, uint32_t first, uint32_t end);

/* Tells a strand (1 + its number) of a claim that was drawn. True: the caller has entered it. */
bool strands_enter(struct runner *runner, uint32_t strand);

/* The number of the claim that runs next on the strand that the caller has entered. */
uint32_t strands_take(struct runner *runner, uint32_t strand);

/* A claim on the strand is over. False: the caller has left the strand; else it takes the next. */
bool strands_goes_on(struct runner *runner, uint32_t strand);

#endif

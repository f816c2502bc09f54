/* run/cycles.h - further cycles of an update in the same frame, for the most important agents: right behind the first
 * cycle, by the same worker. No time has passed since, so they are told none, and they bring the agent no further. A
 * cycle is whole: it is begun only when it is expected to end in time, and nothing interrupts it. */
#ifndef RUN_CYCLES_H
#define RUN_CYCLES_H

#include "run/runner.h"

/* Runs what is left of an entry's cycles after the first, and notes in the entry how many ran. *clock_ns: the clock,
 * before and after; not used under the virtual clock. */
void cycles_run(worker_state *state, const struct runner *runner, uint32_t entry_index, uint64_t *clock_ns);

/* Whether an entry has cycles left after its first one came to its end. */
static inline bool cycles_are_left(const struct runner *runner, uint32_t entry_index) {
  if (__builtin_expect(runner->batch->entries[entry_index].cycles <= 1, true)) return false;
  batch_outcome outcome = (batch_outcome)runner->batch->outcomes[entry_index];
  return outcome == OUTCOME_FINISHED || outcome == OUTCOME_ACT;
}

#endif

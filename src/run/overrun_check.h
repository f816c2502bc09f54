/* run/overrun_check.h - what workers note about atoms that take too long.
 *
 * Only an atom's own CPU time counts against its limit: the kernel may take a worker away inside an atom, which is not
 * the atom's fault. An atom that waits for something (it sleeps, reads a file, takes a lock) is an overrun of another
 * kind, and how long it was away from its processor is kept out of all costs. So a worker reads its thread's CPU clock,
 * and how often the thread left its processor and why, when it begins its part of a frame, and again when an atom took
 * too long: all wall time in between in which it had no CPU is taken off what the atom took.
 *
 *     waits   preemptions   since the last look
 *     none    any           the kernel took the worker away
 *     some    none          the atom waited
 *     some    some          unclear: the agent is suspected, and the next time its worker looks right before its first
 *                           atom. Then an atom waited if it left the processor more often to wait than by preemption */
#ifndef RUN_OVERRUN_CHECK_H
#define RUN_OVERRUN_CHECK_H

#include "run/runner.h"

/* From here on the worker's own time is counted; clock_ns is the time now. Wall clock only. */
void overrun_check_begin(worker_state *state, uint64_t clock_ns);

/* The same before the first atom of an agent that is suspected to wait: this look is exact for it. Wall clock only. */
void overrun_check_begin_suspect(worker_state *state, const struct runner *runner, uint32_t index);

/* An atom of the update in the worker's context took longer than its limit, or, with audit, than all before it in this
 * frame, as of clock_ns: notes what it did. Sets *atom_ns to the atom's own time. Returns the clock afterwards. Under
 * the virtual clock *atom_ns is what the model says. */
uint64_t overrun_check_long_atom(worker_state *state, const struct runner *runner, uint32_t atom, uint64_t *atom_ns,
                                 uint64_t clock_ns);

/* With audit: an atom's own time is looked at when it is longer than all before it, by more than a look costs. */
static inline bool overrun_check_is_longest(const worker_audit *audit, uint64_t atom_ns) {
  return atom_ns > audit->longest_atom_ns + audit->longest_atom_ns / 64 + 500;
}

/* With audit: an atom that began before the promised end may be the one to cross it. So near to that end, it also notes
 * the thread's CPU clock for the begin of the next atom. */
static inline void overrun_check_mark_atom(worker_audit *audit, uint64_t begin_ns, uint64_t clock_ns, uint64_t reach_ns,
                                           uint64_t promised_ns) {
  if (begin_ns > promised_ns) return;
  audit->atom_begin_ns = begin_ns;
  audit->atom_begin_cpu_ns = audit->next_begin_cpu_ns;
  audit->next_begin_cpu_ns = clock_ns + reach_ns > promised_ns ? clock_thread_cpu() : 0;
}

/* The clock was read after an atom, which took *atom_ns until clock_ns; under the virtual clock *atom_ns is what its
 * model says. Notes the longest atom, and the last one to begin before the promised end; deals with an atom over its
 * limit. Sets *atom_ns to the atom's own time, where that was measured. Returns the clock afterwards. */
static inline uint64_t overrun_check_atom(worker_state *state, const struct runner *runner, uint32_t atom,
                                          uint64_t *atom_ns, uint64_t clock_ns) {
  worker_audit *audit = &state->audit;
  bool look = *atom_ns > state->context.type->def.limit_ns;
  if (runner->virtual) {
    if (*atom_ns > audit->longest_atom_ns) audit->longest_atom_ns = *atom_ns;
  } else if (runner->audit) {
    uint64_t reach_ns = audit->longest_atom_ns + state->context.type->def.limit_ns;
    overrun_check_mark_atom(audit, clock_ns - *atom_ns, clock_ns, reach_ns, runner->promised_ns + state->blocked_ns);
    look |= overrun_check_is_longest(audit, *atom_ns);
  }
  return look ? overrun_check_long_atom(state, runner, atom, atom_ns, clock_ns) : clock_ns;
}

/* A claim took longer than an atom of some type may: when it was not timed, notes its types as suspects. */
void overrun_check_long_claim(worker_state *state, const struct runner *runner, const batch_claim *claim,
                              uint64_t claim_ns, uint64_t clock_ns);

/* Whether an agent is the one of its type that is suspected to wait. */
static inline bool overrun_check_suspects(const agent_type *type, uint32_t index) {
  return __builtin_expect(type->suspect == index + 1u, false);
}

#endif

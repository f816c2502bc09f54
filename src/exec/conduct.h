/* exec/conduct.h - what workers note of atoms that take too long.
 *
 * The kernel may take a worker away inside an atom, which is not the atom's fault. So a worker looks at its thread's
 * CPU clock when it begins its part of a frame, and again when an atom took too long: all wall time since then in which
 * it had no CPU is taken off what the atom took. */
#ifndef EXEC_CONDUCT_H
#define EXEC_CONDUCT_H

#include "exec/runner.h"

/* From here on the worker's own time is counted; clock_ns is now. Wall clock only. */
void conduct_begin(worker_state *state, uint64_t clock_ns);

/* An atom of the update in the worker's context took longer than its limit, as of clock_ns: notes the offence, unless
 * the kernel did it. Returns the clock afterwards. Under the virtual clock atom_ns is what the model says. */
uint64_t conduct_long_atom(worker_state *state, const runner *runner, uint32_t atom, uint64_t atom_ns,
                           uint64_t clock_ns);

/* A claim took longer than an atom of some type may: when it was not timed, notes its types as suspects. */
void conduct_long_claim(worker_state *state, const runner *runner, const batch_claim *claim, uint64_t claim_ns,
                        uint64_t clock_ns);

#endif

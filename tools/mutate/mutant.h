/* mutant.h - the run-time interface of mutated sources: it is included before each of them. One process has one mutant,
 * which the environment names; without one, every source behaves as it is written.
 *
 *   MUSTER_MUTANT=N          the mutant with this number is active
 *   MUSTER_MUTANT_LIMIT=N    a process in which it was reached more often ends, since something runs for ever
 *   MUSTER_MUTANTS_SEEN=FILE counts in FILE how often each is reached, and whether it would have made a difference */
#ifndef MUTANT_H
#define MUTANT_H

enum { MUTANTS_MAX = 16384 };

extern int mutant_active, mutants_seen;

/* The slow path: the active mutant is reached, or all are counted. */
int mutant_reached(int number);
int mutant_differs(int number);

static inline int mutant_is(int number) {
  return __builtin_expect(mutant_active == number || mutants_seen, 0) && mutant_reached(number);
}

#endif

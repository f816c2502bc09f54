/* sets.h - what sets of atoms cost: beside a plain list of the same atoms, and beside a plain loop that honours the
 * same periods and delays without a scheduler.
 *
 * Everything runs on the calling thread, and the compared versions take turns, so that both see the same minutes of the
 * machine; times are CPU of the thread, medians of rounds. */
#ifndef BENCH_SETS_H
#define BENCH_SETS_H

#include <stdbool.h>
#include <stdint.h>

enum { SETS_SETS_MOST = 8, SETS_ATOMS_MOST = 4, SETS_ROUNDS_MOST = 64 };

/* An update of so many sets with so many atoms each; every set is active in every update. Atoms do next to nothing. */
typedef struct sets_overhead {
  uint32_t sets, atoms;
  double loop_ns; /* an atom in a loop over the callbacks, */
  double list_ns; /* in a type with a list of atoms, all of its update included, */
  double sets_ns; /* and in a type with sets */
  double over_list_ns;
} sets_overhead;

/* A crowd whose sets have periods of 1, 4, 6 and 8 updates, with enough budget. */
typedef struct sets_schedule {
  uint32_t agents, atom_ns; /* what an atom takes, as calibrated */
  double atoms_per_update;
  double loop_ns, scheduled_ns; /* of an update */
  double overhead;              /* the difference as a share of loop_ns; median of the rounds' */
  double lowest, highest;       /* of the rounds */
  bool equal;                   /* both ran the same atoms, each as often */
} sets_schedule;

/* At most SETS_ROUNDS_MOST rounds. Null, or what went wrong. */
const char *sets_measure_overhead(uint32_t rounds, sets_overhead *row);
const char *sets_measure_schedule(uint32_t rounds, sets_schedule *row);

#endif

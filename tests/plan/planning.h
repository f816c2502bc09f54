/* tests/plan/planning.h - what tests of planning share: memory, agents that do nothing, and chance. */
#ifndef MUSTER_TESTS_PLANNING_H
#define MUSTER_TESTS_PLANNING_H

#include "support/arenas.h"
#include "support/nothing.h"
#include "support/papers_rules.h"

enum { IDLE_ATOMS_MAX = 16 };

/* A type of so many such atoms, of 1,000 ns each. */
static inline muster_type_def idle_type(uint32_t atom_count) {
  static muster_atom atoms[IDLE_ATOMS_MAX];
  cr_assert_leq(atom_count, IDLE_ATOMS_MAX);
  for (uint32_t i = 0; i < atom_count; i++) atoms[i] = (muster_atom){nothing, MUSTER_ROLE_BEHAVIOUR, 1000};
  return WITH(muster_type_def, it.atoms = atoms, it.atom_count = atom_count);
}

/* Numbers drawn one after another. */
struct dice {
  uint64_t seed, drawn;
};

static inline double draw_share(struct dice *dice) {
  return (double)muster_random_share(random_at(dice->seed, 0, 0, ++dice->drawn));
}

static inline double draw(struct dice *dice, double low, double high) {
  return low + (high - low) * draw_share(dice);
}

#endif

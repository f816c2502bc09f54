/* plan/cost_factors.h - what an agent costs beside others of its type and level, and how that is learnt.
 *
 * A row has a byte for it: a shift of -17..17 half octaves, and a rest of -3..3 sixths of an octave around it, as
 * 7 * shift + rest. The rest overlaps with those of the neighbouring shifts: 2^(4/6) is the shift 1 with the rest 1. So
 * the shift, by which the law of importance puts agents into classes (plan/grade.c), has its hysteresis in the factor
 * itself: an agent leaves its class when evidence has moved its factor by two thirds of an octave from the middle of
 * its shift, and comes back when it is beyond that middle again.
 *
 * A cost is evidence: the factor is the mean of the first updates, with the 1 that an agent begins with as a quarter of
 * one, and then an exponential one over 32; an update counts for at most eight times what was believed. Rows have no
 * room for parts of a step, so these are decided by chance, with numbers that the agent and its update name.
 *
 * Factors are relative to the others: a small pull, the same for all updates of a type and level, brings the mean over
 * the members back to 1, and with it what their costs have in common back into the estimate. */
#ifndef PLAN_COST_FACTORS_H
#define PLAN_COST_FACTORS_H

#include "agents/store.h"

enum {
  FACTOR_OCTAVE = 6,      /* steps */
  FACTOR_SHIFT_STEPS = 3, /* half an octave */
  FACTOR_REST = 3,
  FACTOR_RESTS = 2 * FACTOR_REST + 1, /* in each shift */
  FACTOR_SHIFTS = 17,
  FACTOR_MOST = FACTOR_SHIFTS * FACTOR_RESTS + FACTOR_REST, /* and -FACTOR_MOST is the least */
  FACTOR_AGE_MOST = 15,                                     /* it is beyond the first updates */
  FACTOR_ONE = 65536                                        /* units */
};

extern const uint32_t factor_units[2 * FACTOR_MOST + 1];

/* What a factor stands for, in units of 1 / FACTOR_ONE: whole numbers, so that sums are exact. */
static inline uint32_t factor_units_of(int32_t factor) {
  return factor_units[factor + FACTOR_MOST];
}

/* The half octaves of a factor. */
static inline int32_t factor_shift(int32_t factor) {
  return (factor + FACTOR_MOST) / FACTOR_RESTS - FACTOR_SHIFTS;
}

/* Whether a row can have it: for what is read from files. */
static inline bool factor_is_possible(int32_t factor) {
  return factor >= -FACTOR_MOST && factor <= FACTOR_MOST;
}

/* So many steps more, or fewer; within the range. */
int32_t factor_moved(int32_t factor, int32_t steps);

/* The part of a factor that its shift leaves, in the same units: 2^(-1/2) .. 2^(1/2). */
static inline uint32_t factor_rest_units_of(int32_t factor) {
  return factor_units_of(factor - factor_shift(factor) * FACTOR_RESTS);
}

/* The age after an update more: the mean over the first updates is as good as the exponential one only little by
 * little. */
static inline uint32_t factor_aged(uint32_t age, uint64_t random) {
  return age < FACTOR_AGE_MOST - 1 || (age < FACTOR_AGE_MOST && random % 16 == 0) ? age + 1 : age;
}

/* The factor of an agent after an update that took `ratio` times what was believed of it, when it was learnt from `age`
 * updates, and members of its type and level have such a mean factor. `random` decides about parts of steps. */
int32_t factor_learn(int32_t factor, uint32_t age, float ratio, float mean, uint64_t random);

#endif

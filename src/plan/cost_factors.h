/* plan/cost_factors.h - what an agent costs beside others of its type and level, and how that is learnt.
 *
 * A row has a byte for it: a shift of -17..17 half octaves, and a rest of -3..3 eighths of an octave around it, as
 * 7 * shift + rest. The rest overlaps with those of the neighbouring shifts: 2^(3/8) is also the shift 1 with the rest
 * -1. So the shift, by which the law of importance puts agents into classes (plan/grade.c), has its hysteresis in the
 * factor itself: an agent leaves its class when evidence has moved its factor by half an octave from the middle of its
 * shift, and comes back when it is beyond that middle again.
 *
 * A cost is evidence, and the more the less costs differ by chance: an update counts as 1 where what is believed of a
 * type and level is exact, and as a half where it is off by a quarter in the mean. How much is chance is seen from how
 * costs go with what was known of their agents before (factor_fit): that is much long before it is exact. The factor is
 * the mean of the first updates, and then an exponential one over 32; the 1 that an agent begins with counts as a
 * quarter of one, and as four where all is chance. An update counts for at most eight times what was believed. Rows
 * have four bits for parts of a step; what is less is decided by chance, with numbers that the agent and its update
 * name.
 *
 * Factors are relative to the others: a small pull, the same for all updates of a type and level, brings the mean over
 * the members back to 1, and with it what their costs have in common back into the estimate. */
#ifndef PLAN_COST_FACTORS_H
#define PLAN_COST_FACTORS_H

#include "agents/store.h"

enum {
  FACTOR_OCTAVE = 8,      /* steps */
  FACTOR_SHIFT_STEPS = 4, /* half an octave */
  FACTOR_REST = 3,
  FACTOR_RESTS = 2 * FACTOR_REST + 1, /* in each shift */
  FACTOR_SHIFTS = 17,
  FACTOR_MOST = FACTOR_SHIFTS * FACTOR_RESTS + FACTOR_REST, /* and -FACTOR_MOST is the least */
  FACTOR_PARTS = 16,                                        /* of a step */
  FACTOR_AGE_MOST = 15,                                     /* it is beyond the first updates */
  FACTOR_YOUNG = 4,                                         /* ages below: its updates are timed, for it to be known */
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

/* What the shift of a factor stands for, in the same units. */
static inline uint32_t factor_shift_units_of(int32_t factor) {
  return factor_units_of(factor_shift(factor) * FACTOR_RESTS);
}

/* How the costs of a type and level go with what was known of their agents before: sums over some hundred updates. */
typedef struct factor_fit {
  float updates, costs, factors, both; /* of squares, and of products */
} factor_fit;

/* Takes in an update: by how much it and the factor of its agent were off their means, in parts of these. */
void factor_fit_add(factor_fit *fit, float cost_off, float factor_off);

/* The variance of costs that no factors would explain, by a guess: factors that are hardly learnt explain a part of
 * what they will, and those of chance none. So what they leave of the variance counts to the fourth power. */
float factor_fit_noise(const factor_fit *fit);

/* Whether they can be such sums: for what is read from files. */
static inline bool factor_fit_is_possible(const factor_fit *fit) {
  float sum = fit->updates + fit->costs + fit->factors;
  return fit->updates >= 0.0f && fit->costs >= 0.0f && fit->factors >= 0.0f && sum + fit->both < 1e30f &&
         sum - fit->both < 1e30f;
}

/* What is known of an agent, as rows keep it. */
typedef struct known_factor {
  int32_t factor;
  uint32_t part; /* of a step more: below FACTOR_PARTS */
  uint32_t age;
} known_factor;

/* An update of it. */
typedef struct factor_evidence {
  float ratio;     /* it took so many times what was believed of it */
  float noise;     /* the variance of such ratios in its type and level, by chance */
  float mean;      /* the mean factor of the members of these */
  uint64_t random; /* decides about parts of steps */
} factor_evidence;

/* Learns from an update. */
void factor_learn(known_factor *known, const factor_evidence *evidence);

/* Whether an update took another time than was believed, by more than a quarter and two standard deviations: the next
 * is to be looked at as well. */
bool factor_is_doubtful(const factor_evidence *evidence);

#endif

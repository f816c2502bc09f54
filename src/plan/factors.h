/* plan/factors.h - the factors from which importance may be made: see plan/judge.h. */
#ifndef PLAN_FACTORS_H
#define PLAN_FACTORS_H

/* Weights of the factors of importance. */
typedef struct judge_factors {
  float focus, designer, role, company;
} judge_factors;

#endif

/* plan/factors.h - the factors from which importance may be made: see plan/importance.h. */
#ifndef PLAN_FACTORS_H
#define PLAN_FACTORS_H

/* Weights of the factors of importance. */
typedef struct importance_weights {
  float focus, designer, role, company;
} importance_weights;

#endif

/* weight.h - an inline function that two sources include: its mutants are the same in both. */
#ifndef PLAN_WEIGHT_H
#define PLAN_WEIGHT_H

static inline int weight_of(int axles) {
  return axles * 8;
}

#endif

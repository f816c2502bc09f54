#ifndef PLAN_TOLL_H
#define PLAN_TOLL_H

#include <stdbool.h>

typedef struct toll {
  int paid, passed;
} toll;

int toll_for(int axles);
bool toll_take(toll *toll, int axles, int coins);
int toll_highest(const int *axles, int count);
int toll_forgotten(int axles);
int lorry_weight(int axles);

#endif

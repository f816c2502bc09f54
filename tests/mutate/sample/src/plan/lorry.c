#include "plan/toll.h"
#include "plan/weight.h"

int lorry_weight(int axles) {
  return weight_of(axles);
}

#include "agents/elasticity.h"

#include <math.h>

uint32_t elasticity_step_of(float elasticity) {
  if (elasticity < 0.0f) return ELASTICITY_DERIVED;
  if (!(elasticity > 0.0f)) return 0;
  float step = roundf(log2f(elasticity) * 8.0f) + (float)ELASTICITY_STEP_OF_ONE;
  return (uint32_t)fminf(fmaxf(step, 1.0f), (float)(ELASTICITY_STEPS - 1));
}

double elasticity_of_step(uint32_t step) {
  return step == 0 ? 0.0 : exp2(((double)step - (double)ELASTICITY_STEP_OF_ONE) / 8.0);
}

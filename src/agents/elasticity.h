/* agents/elasticity.h - how readily a period gives way, in steps of an eighth of an octave: few enough that agents
 * which stretch alike can share a class. */
#ifndef AGENTS_ELASTICITY_H
#define AGENTS_ELASTICITY_H

#include <stdint.h>

enum {
  ELASTICITY_STEPS = 162, /* step 0: never gives way; step s: 2^((s - 81) / 8) = 2^-10 .. 2^10 */
  ELASTICITY_STEP_OF_ONE = 81,
  ELASTICITY_DERIVED = 255 /* in place of a step: follows from importance */
};

/* The step that an elasticity rounds to; 0 for 0, ELASTICITY_DERIVED for a negative one. */
uint32_t elasticity_step_of(float elasticity);

/* The elasticity of a step below ELASTICITY_STEPS. */
double elasticity_of_step(uint32_t step);

#endif

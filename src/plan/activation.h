/* plan/activation.h - in which frame agents begin, so that no frame is fuller than it must be.
 *
 * An agent of period p that is activated with a delay of d frames runs in the frames t >= d with (t - d) mod p = 0.
 * Who chooses d among 0..D by what is booked in the frames that it will use takes the peaks off the load
 * (Wright & Marshall's dynamic activation delay, by predicted cost instead of by count). */
#ifndef PLAN_ACTIVATION_H
#define PLAN_ACTIVATION_H

#include <stdbool.h>
#include <stdint.h>

enum { ACTIVATION_HORIZON_MAX = 1 << 20 };

/* The least common multiple of periods, after which the load repeats; `most` when it is greater. */
uint32_t activation_cycle(const uint32_t *periods, uint32_t count, uint32_t most);

/* Chooses delays for a whole population at once, by the load of the frames 0..horizon - 1: the dearest agents first,
 * then each once more beside all others, until none finds a better place. Periods and delays are frames, periods at
 * least 1, delays at most delay_max; costs are at least 0, in any unit; horizon is 1 .. ACTIVATION_HORIZON_MAX. Equal
 * input gives equal delays. False when memory is refused; else O(count x (delay_max + 1) x horizon / period) a pass.
 * For tools: it allocates. */
bool activation_plan_offline(const uint32_t *periods, const float *costs, uint32_t count, uint32_t delay_max,
                             uint32_t horizon, uint32_t *delays);

#endif

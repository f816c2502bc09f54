/* varied_costs.h - updates that cost more or less by chance, with a mean that stays. */
#ifndef BENCH_VARIED_COSTS_H
#define BENCH_VARIED_COSTS_H

#include <muster/muster.h>
#include <stdint.h>

/* A random factor with mean 1 whose logarithm is normal with this standard deviation; 1 where that is 0. */
double varied_factor(uint64_t random, double sigma);

/* The cost models of a world's types, as they were. */
struct varied_costs;

/* From now on each update of the types that a world has costs what it did times such a factor, which is drawn from the
 * world's seed; none of them is too long. Under the virtual clock, between frames; what actions cost stays. Null with
 * the reason in muster_last_error(). To be freed when the world is gone. */
struct varied_costs *varied_costs_begin(muster_world *world, double sigma);
void varied_costs_free(struct varied_costs *varied);

#endif

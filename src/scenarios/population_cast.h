/* scenarios/population_cast.h - chooses which rows of a file become agents, and the family of behaviour of each kind.
 *
 * A file says where NPCs stand and of which kind they are, not what they do. The cast gives every kind one of four
 * families of behaviour, so that the agents' shares of the families are those of a real server:
 *
 *     family     share of the agents   what one update costs
 *     routine    70 %                  0.05-0.15 us: a small state machine
 *     steering   20 %                  1-2 us: moves among its neighbours
 *     sensing     8 %                  3-5 us: appraises its neighbours, weighs what to do
 *     paths       2 %                  A* with a heavy tail, up to a millisecond
 */
#ifndef SCENARIOS_POPULATION_CAST_H
#define SCENARIOS_POPULATION_CAST_H

#include "scenarios/population_csv.h"

typedef enum population_family {
  POPULATION_ROUTINE = 0,
  POPULATION_STEERING,
  POPULATION_SENSING,
  POPULATION_PATHS,
  POPULATION_FAMILIES
} population_family;

/* Keeps `wanted` of the rows, in order: one out of each of `wanted` equal parts of the file, chosen by the seed. Every
 * row stays when wanted is 0 or the number of rows; wanted must not be larger. The numbers of worlds and kinds stay as
 * they are. */
void population_thin(population_rows *rows, uint32_t wanted, uint64_t seed);

/* Writes the family of every kind to families[kind_count]. The largest kinds are placed first, kinds of about the same
 * size in an order that the seed shuffles, each into the family that lacks most agents; so shares are met as closely as
 * kinds are small. False when memory is refused. */
bool population_cast(const population_rows *rows, uint64_t seed, uint8_t *families);

#endif

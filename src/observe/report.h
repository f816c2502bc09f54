/* report.h - what can be read of a world between frames, for the files that put it together. Nothing here changes
 * anything. */
#ifndef REPORT_H
#define REPORT_H

#include "world/world.h"

/* muster_world_hash(), at any moment. */
uint64_t world_hash(const struct muster_world *world);

/* What agents of a band of importance got since the statistics were cleared: the interval of muster_band, 0 when none
 * of them ran. */
uint64_t world_band_interval(const struct muster_world *world, uint32_t band);

/* Of herds; in herds_read.c. */

/* Bytes in use for folded and for unfolded herds, without their agents. */
void herds_bytes(const struct muster_world *world, uint64_t *folded, uint64_t *unfolded);

/* Continues a hash over all herds. */
uint64_t herds_hash(const struct muster_world *world, uint64_t hash);

#endif

/* plan/ready_fresh.h - the agents released in a frame, in order.
 *
 * Many of them are sorted beside each other: first they are cut into piles, by a sample of them; then each pile is
 * sorted by itself. */
#ifndef PLAN_READY_FRESH_H
#define PLAN_READY_FRESH_H

#include "base/parts.h"
#include "plan/ready.h"

enum { FRESH_KEYS = 128, FRESH_CHUNK = 2048 };

/* Sorts the fresh. O(fresh). */
void ready_sort_fresh(ready_set *ready, const struct parts *parts);

#endif

/* plan/ready_fresh.h - the agents released in a frame, in order.
 *
 * Many of them are sorted beside each other: first by how far ahead of now their turns are, in sixteen steps for each
 * doubling; then each of these piles by itself. */
#ifndef PLAN_READY_FRESH_H
#define PLAN_READY_FRESH_H

#include "base/parts.h"
#include "plan/ready.h"

enum { FRESH_KEYS = 256, FRESH_CHUNK = 4096 };

/* Sorts the fresh. O(fresh). */
void ready_sort_fresh(ready_set *ready, const struct parts *parts);

#endif

/* pool/living.h - which worlds and pools exist.
 *
 * The only purpose is to tell a handle that was destroyed already, whose memory is gone and cannot be asked, from one
 * that can be destroyed. This list belongs to the process, not to a world, and nothing is scheduled by it: it is
 * touched when worlds and pools are created and destroyed, and at no other time. */
#ifndef POOL_LIVING_H
#define POOL_LIVING_H

#include <stdbool.h>

/* Of a world or a pool; stands inside of it. */
typedef struct living {
  struct living *next;
} living;

/* A world or pool has begun to exist. Any thread. */
void living_add(living *entry);

/* Takes one out that is about to be destroyed; false when it does not exist. The entry is only compared until it is
 * found. Any thread. */
bool living_take(living *entry);

/* Whether it exists now. Any thread. */
bool living_has(const living *entry);

#endif

/* pool/identity.h - who holds an index, and whether an id still means what it meant.
 *
 * An index is taken from those given back (first in, first out, so that a generation lives long), else from those
 * never used. Its generation is odd while it is somebody and even while it is nobody; an id is live when its
 * generation is odd and still the index's own.
 *
 *   take  ->  open (generation becomes odd)  ->  close (even)  ->  give_back  ->  take ...
 */
#ifndef POOL_IDENTITY_H
#define POOL_IDENTITY_H

#include "pool/ring.h"

struct identity {
  uint32_t maximum;
  struct ring given_back;
  shared_u32 fresh;           /* indices below were used at least once */
  unsigned char *generations; /* a shared_u32 every `stride` bytes */
  uint32_t stride;
  uint64_t *held; /* bitmap: indices that somebody holds, where a record says who; else null */
};

#define IDENTITY_NONE UINT32_MAX

/* Reserves room for `maximum` indices. */
void identity_create(struct identity *identity, uint32_t maximum, struct arena *arena);

/* The same with generations that stand in the caller's memory, zeroed, one every `stride` bytes from `first` on.
 * Whoever else looks at them must write nothing there. With a null `first` there are none: indices are only taken and
 * given back. */
void identity_create_over(struct identity *identity, uint32_t maximum, uint32_t *first, uint32_t stride,
                          struct arena *arena);

/* Commits what the arena is to have ready of it. Whoever created it. */
void identity_make_ready(const struct identity *identity, const struct arena *arena);

/* Where the generation of an index stands. */
static inline shared_u32 *identity_generation_of(const struct identity *identity, uint32_t index) {
  return (shared_u32 *)(void *)(identity->generations + (size_t)index * identity->stride);
}

/* An index that nobody holds, or IDENTITY_NONE; one that is being given back at this moment may be missed. Any thread.
 */
uint32_t identity_take(struct identity *identity);

/* Makes a taken index somebody; returns the generation of the id. Its taker's thread. */
uint32_t identity_open(struct identity *identity, uint32_t index);

/* Where a record says who takes which index, and identity_take() finds none: takes a certain one. False when somebody
 * holds it, or there is none such. Frame's thread, no other. */
bool identity_claim(struct identity *identity, uint64_t index);

/* Makes an index somebody of a known generation, whoever it was: as a record says. Frame's thread, no other. */
void identity_assign(struct identity *identity, uint32_t index, uint32_t generation);

/* Makes the index nobody: every id of it is stale from here on. One thread (the frame's). */
void identity_close(struct identity *identity, uint32_t index);

/* Returns an index for others to take. Its holder's thread. */
void identity_give_back(struct identity *identity, uint32_t index);

/* Whether (index, generation) is somebody now. Any thread. */
bool identity_is_live(const struct identity *identity, uint32_t index, uint32_t generation);

/* The generation of an index now. Any thread. */
static inline uint32_t identity_generation(const struct identity *identity, uint32_t index) {
  return load_relaxed_u32(identity_generation_of(identity, index));
}

/* About how many indices can be taken. Any thread. */
uint32_t identity_available(const struct identity *identity);

/* How many indices were ever in use. Any thread. */
uint32_t identity_high(const struct identity *identity);

#endif

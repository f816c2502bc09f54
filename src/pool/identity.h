/* pool/identity.h - which indices are taken, and whether an id still means what it meant.
 *
 * An index is taken from those given back (first in, first out, so that it is long until a generation comes again),
 * else from those never used. Its generation is odd while the index is open and even while it is closed; an id is live
 * when its generation is odd and still the index's own.
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
  uint64_t *held; /* bitmap: taken indices, in a world that replays a record; else null */
};

#define IDENTITY_NONE UINT32_MAX

/* Reserves room for `maximum` indices. */
void identity_create(struct identity *identity, uint32_t maximum, struct arena *arena);

/* The same with generations that stand in the caller's memory, zeroed, one every `stride` bytes from `first` on.
 * Other readers of them must write nothing there. With a null `first` there are none: indices are only taken and given
 * back. */
void identity_create_over(struct identity *identity, uint32_t maximum, uint32_t *first, uint32_t stride,
                          struct arena *arena);

/* Commits as much of its memory as the arena's `ready` says. Only the creator. */
void identity_make_ready(const struct identity *identity, const struct arena *arena);

/* Where the generation of an index stands. */
static inline shared_u32 *identity_generation_of(const struct identity *identity, uint32_t index) {
  return (shared_u32 *)(void *)(identity->generations + (size_t)index * identity->stride);
}

/* Takes a free index; IDENTITY_NONE when there is none. An index that is being given back at this moment may be missed.
 * Any thread. */
uint32_t identity_take(struct identity *identity);

/* Opens a taken index; returns the generation of its id. The thread that took it. */
uint32_t identity_open(struct identity *identity, uint32_t index);

/* Takes a given index. For worlds where a record says which index is taken, and identity_take() finds none. False when
 * the index is taken already, or does not exist. Only the frame's thread. */
bool identity_claim(struct identity *identity, uint64_t index);

/* A replay has ended: what is not held is free from here on, in the order in which it was given back, and indices are
 * taken by identity_take() again. Only the
 * frame's thread, while no other knows the world. */
void identity_free_rest(struct identity *identity);

/* Opens an index with a given generation, whatever it was: as a record says. Only the frame's thread. */
void identity_assign(struct identity *identity, uint32_t index, uint32_t generation);

/* Closes an index: every id of it is stale from here on. One thread (the frame's). */
void identity_close(struct identity *identity, uint32_t index);

/* Gives an index back for others to take. The thread that holds it. */
void identity_give_back(struct identity *identity, uint32_t index);

/* Whether (index, generation) is a live id now. Any thread. */
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

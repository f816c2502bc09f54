#include "pool/identity.h"

#include "base/assert.h"
#include "base/bits.h"

void identity_create_over(struct identity *identity, uint32_t maximum, uint32_t *first, uint32_t stride,
                          struct arena *arena) {
  ASSERT(maximum > 0);
  identity->maximum = maximum;
  identity->generations = (unsigned char *)first;
  identity->stride = stride;
  ring_create(&identity->given_back, maximum, sizeof(uint32_t), arena);
}

void identity_create(struct identity *identity, uint32_t maximum, struct arena *arena) {
  void *generations = arena_reserve(arena, maximum, sizeof(shared_u32));
  identity_create_over(identity, maximum, generations, sizeof(shared_u32), arena);
}

void identity_make_ready(const struct identity *identity, const struct arena *arena) {
  ring_make_ready(&identity->given_back, arena);
}

uint32_t identity_take(struct identity *identity) {
  uint32_t index;
  if (identity->held) return IDENTITY_NONE;
  if (ring_pop(&identity->given_back, &index)) return index;
  index = load_relaxed_u32(&identity->fresh);
  while (index < identity->maximum)
    if (compare_exchange_relaxed_u32(&identity->fresh, &index, index + 1)) return index;
  return IDENTITY_NONE;
}

uint32_t identity_open(struct identity *identity, uint32_t index) {
  uint32_t generation = load_relaxed_u32(identity_generation_of(identity, index)) + 1;
  ASSERT(generation & 1);
  /* Pairs with the acquire in identity_is_live: a thread that sees the id live sees what the id's taker did before. */
  store_release_u32(identity_generation_of(identity, index), generation);
  return generation;
}

static void use(struct identity *identity, uint32_t index) {
  if (load_relaxed_u32(&identity->fresh) <= index) store_relaxed_u32(&identity->fresh, index + 1);
}

/* Claimed indices leave the list when they have come to its front: a record may name them in another order. */
static void pass_held(struct identity *identity) {
  uint32_t index;
  while (ring_peek(&identity->given_back, 0, &index) && bits_has(identity->held, index))
    ring_pop(&identity->given_back, &index);
}

bool identity_claim(struct identity *identity, uint64_t index) {
  if (index >= identity->maximum || bits_has(identity->held, (uint32_t)index)) return false;
  bits_set(identity->held, (uint32_t)index);
  use(identity, (uint32_t)index);
  pass_held(identity);
  return true;
}

void identity_free_rest(struct identity *identity) {
  uint64_t *held = identity->held;
  uint32_t index;
  ASSERT(held);
  identity->held = NULL;
  for (uint32_t listed = ring_count(&identity->given_back); listed > 0 && ring_pop(&identity->given_back, &index);
       listed--) {
    if (bits_has(held, index)) continue;
    bits_set(held, index); /* it may be listed twice */
    ring_push_sure(&identity->given_back, &index);
  }
  for (index = 0; index < identity_high(identity); index++)
    if (!bits_has(held, index)) ring_push_sure(&identity->given_back, &index);
}

void identity_assign(struct identity *identity, uint32_t index, uint32_t generation) {
  use(identity, index);
  store_release_u32(identity_generation_of(identity, index), generation);
}

void identity_close(struct identity *identity, uint32_t index) {
  uint32_t generation = load_relaxed_u32(identity_generation_of(identity, index));
  ASSERT(generation & 1);
  store_release_u32(identity_generation_of(identity, index), generation + 1);
}

void identity_give_back(struct identity *identity, uint32_t index) {
  if (identity->held) {
    bits_clear(identity->held, index);
    pass_held(identity);
    ring_push(&identity->given_back, &index); /* what finds no room comes last, in identity_free_rest() */
  } else
    ring_push_sure(&identity->given_back, &index);
}

bool identity_is_live(const struct identity *identity, uint32_t index, uint32_t generation) {
  return index < identity->maximum && (generation & 1) &&
         load_acquire_u32(identity_generation_of(identity, index)) == generation;
}

uint32_t identity_available(const struct identity *identity) {
  return ring_count(&identity->given_back) + identity->maximum - identity_high(identity);
}

uint32_t identity_high(const struct identity *identity) {
  return load_relaxed_u32(&identity->fresh);
}

#include "run/zone_ids.h"

#include "base/assert.h"
#include "base/bits.h"

#include <muster/random.h>

_Static_assert(ZONE_INDEX_BITS + ZONE_GENERATION_BITS + 2 * ZONE_EPOCH_BITS == 64, "an id is 64 bits");
_Static_assert(sizeof(muster_agent) == sizeof(shared_u64), "ids are read as numbers by other threads");

enum { INDEX_MASK = (1 << ZONE_INDEX_BITS) - 1, GENERATION_MASK = (1 << ZONE_GENERATION_BITS) - 1 };

void zone_ids_create(struct zone_ids *zone, uint32_t number, uint32_t epoch, struct identity *agents, muster_agent *ids,
                     uint64_t *ghosts, struct arena *arena) {
  uint32_t maximum = agents->maximum, chains = 1;
  while (chains < maximum) chains *= 2;
  *zone = (struct zone_ids){.number = number, .maximum = maximum, .mask = chains - 1, .agents = agents};
  zone->ids = (shared_u64 *)(void *)ids;
  zone->ghosts = (shared_u64 *)(void *)ghosts;
  store_relaxed_u32(&zone->epoch, epoch);
  ARENA_ARRAY(arena, zone->nexts, maximum);
  ARENA_ARRAY(arena, zone->chains, chains);
  ARENA_ARRAY(arena, zone->resting, bits_words(maximum));
  recent_create(&zone->marks, maximum > ZONE_MARKS_LEAST ? maximum : ZONE_MARKS_LEAST, arena);
}

/* ----------------------------------------------------------------------------------------------------------- chains */

static shared_u32 *zone_chain(const struct zone_ids *zone, muster_agent id) {
  return &zone->chains[muster_random_mix(id.value) & zone->mask];
}

/* Whether an id leads to the index by itself: it was born here, and the index has its generation. */
static bool is_where_born(const struct zone_ids *zone, uint32_t index, uint32_t generation, muster_agent id) {
  return id.value >> (64 - ZONE_EPOCH_BITS) == zone->number && (id.value & INDEX_MASK) == index &&
         (id.value >> ZONE_INDEX_BITS & GENERATION_MASK) == (generation >> 1 & GENERATION_MASK);
}

static void begin_change(struct zone_ids *zone) {
  store_relaxed_u32(&zone->version, load_relaxed_u32(&zone->version) + 1);
}

static void end_change(struct zone_ids *zone) {
  store_release_u32(&zone->version, load_relaxed_u32(&zone->version) + 1);
}

static void zone_link(struct zone_ids *zone, uint32_t index, muster_agent id) {
  shared_u32 *chain = zone_chain(zone, id);
  begin_change(zone);
  store_release_u32(&zone->nexts[index], load_relaxed_u32(chain));
  store_release_u32(chain, index + 1);
  end_change(zone);
}

static void zone_unlink(struct zone_ids *zone, uint32_t index, muster_agent id) {
  shared_u32 *link = zone_chain(zone, id);
  while (load_relaxed_u32(link) != index + 1) {
    ASSERT(load_relaxed_u32(link));
    link = &zone->nexts[load_relaxed_u32(link) - 1];
  }
  begin_change(zone);
  store_release_u32(link, load_relaxed_u32(&zone->nexts[index]));
  end_change(zone);
}

/* A chain that is changed meanwhile may lead anywhere, but not for longer than there are indices. */
static muster_agent look_along(const struct zone_ids *zone, muster_agent id) {
  uint32_t next = load_acquire_u32(zone_chain(zone, id));
  for (uint32_t steps = 0; next && steps <= zone->maximum; steps++) {
    uint32_t index = next - 1;
    if (load_acquire_u64(&zone->ids[index]) == id.value)
      return muster_agent_make(index, load_acquire_u32(identity_generation_of(zone->agents, index)));
    next = load_acquire_u32(&zone->nexts[index]);
  }
  return (muster_agent){0};
}

static muster_agent find_by_chain(const struct zone_ids *zone, muster_agent id) {
  for (;;) {
    uint32_t before = load_acquire_u32(&zone->version);
    muster_agent found = before & 1 ? (muster_agent){0} : look_along(zone, id);
    if (!(before & 1) && load_relaxed_u32(&zone->version) == before) return found;
    pause_processor();
  }
}

/* -------------------------------------------------------------------------------------------------------------- ids */

muster_agent zone_ids_of(const struct zone_ids *zone, uint32_t index, uint32_t generation, uint32_t epoch) {
  return (muster_agent){(uint64_t)zone->number << (64 - ZONE_EPOCH_BITS) |
                        (uint64_t)epoch << (ZONE_INDEX_BITS + ZONE_GENERATION_BITS) |
                        (uint64_t)(generation >> 1 & GENERATION_MASK) << ZONE_INDEX_BITS | index};
}

muster_agent zone_ids_open(struct zone_ids *zone, uint32_t index) {
  uint32_t generation = identity_generation(zone->agents, index) + 1;
  muster_agent id = zone_ids_of(zone, index, generation, load_relaxed_u32(&zone->epoch));
  store_relaxed_u64(&zone->ids[index], id.value);
  identity_open(zone->agents, index); /* release: a thread that sees it live sees its id */
  return id;
}

static void set_ghost(struct zone_ids *zone, uint32_t index, bool ghost) {
  uint64_t bits = load_relaxed_u64(&zone->ghosts[index / 64]), bit = 1ull << index % 64;
  store_relaxed_u64(&zone->ghosts[index / 64], ghost ? bits | bit : bits & ~bit);
}

void zone_ids_restore(struct zone_ids *zone, uint32_t index, uint32_t generation, muster_agent id, bool ghost) {
  store_relaxed_u64(&zone->ids[index], id.value);
  set_ghost(zone, index, ghost);
  identity_assign(zone->agents, index, generation);
  if ((generation & 1) && !is_where_born(zone, index, generation, id)) zone_link(zone, index, id);
}

void zone_ids_admit(struct zone_ids *zone, uint32_t index, muster_agent id, bool ghost) {
  zone_ids_restore(zone, index, identity_generation(zone->agents, index) + 1, id, ghost);
}

void zone_ids_close(struct zone_ids *zone, uint32_t index) {
  muster_agent id = {load_relaxed_u64(&zone->ids[index])};
  if (!is_where_born(zone, index, identity_generation(zone->agents, index), id)) zone_unlink(zone, index, id);
  set_ghost(zone, index, false);
  identity_close(zone->agents, index);
}

bool zone_ids_rests(uint32_t generation) {
  return generation > 0 && (generation >> 1 & GENERATION_MASK) == 0;
}

void zone_ids_rest(struct zone_ids *zone, uint32_t index) {
  ASSERT(!bits_has(zone->resting, index) && !(identity_generation(zone->agents, index) & 1));
  bits_set(zone->resting, index);
  store_relaxed_u32(&zone->resting_count, load_relaxed_u32(&zone->resting_count) + 1);
}

void zone_ids_give_back(struct zone_ids *zone, uint32_t index) {
  if (zone_ids_rests(identity_generation(zone->agents, index)))
    zone_ids_rest(zone, index);
  else
    identity_give_back(zone->agents, index);
}

void zone_ids_set_epoch(struct zone_ids *zone, uint32_t epoch) {
  uint32_t words = bits_words(zone->maximum), index = 0, left = load_relaxed_u32(&zone->resting_count);
  store_relaxed_u32(&zone->epoch, epoch);
  for (; left; left--) {
    index = bits_next(zone->resting, words, index);
    bits_clear(zone->resting, index);
    identity_give_back(zone->agents, index);
  }
  store_relaxed_u32(&zone->resting_count, 0);
}

muster_agent zone_ids_find(const struct zone_ids *zone, muster_agent id) {
  uint32_t index = (uint32_t)(id.value & INDEX_MASK);
  if (id.value >> (64 - ZONE_EPOCH_BITS) == zone->number && index < zone->maximum) {
    uint32_t generation = load_acquire_u32(identity_generation_of(zone->agents, index));
    if ((generation & 1) && load_relaxed_u64(&zone->ids[index]) == id.value)
      return muster_agent_make(index, generation);
  }
  return find_by_chain(zone, id);
}

void zone_ids_fetch(const struct zone_ids *zone, muster_agent id) {
  uint32_t index = (uint32_t)(id.value & INDEX_MASK);
  __builtin_prefetch(zone_chain(zone, id));
  if (id.value >> (64 - ZONE_EPOCH_BITS) != zone->number || index >= zone->maximum) return;
  __builtin_prefetch(&zone->ids[index]);
  __builtin_prefetch(identity_generation_of(zone->agents, index));
}

uint32_t zone_ids_fetch_likely(const struct zone_ids *zone, muster_agent id) {
  uint32_t index = load_relaxed_u32(zone_chain(zone, id)) - 1; /* an empty chain is 0 */
  if (index >= zone->maximum) return UINT32_MAX;
  __builtin_prefetch(&zone->ids[index]);
  __builtin_prefetch(identity_generation_of(zone->agents, index));
  return index;
}

/* ------------------------------------------------------------------------------------------------------------ marks */

bool zone_ids_left(const struct zone_ids *zone, muster_agent id, zone_mark *mark) {
  uint64_t value;
  if (!zone_ids_is_id(id) || !recent_find(&zone->marks, (recent_key){id.value, 0}, &value)) return false;
  *mark = zone_mark_of(value);
  return true;
}

void zone_ids_mark(struct zone_ids *zone, muster_agent id, zone_mark mark) {
  ASSERT(zone_ids_is_id(id) && mark.zone != zone->number);
  recent_add(&zone->marks, (recent_key){id.value, 0}, zone_mark_value(mark));
}

void zone_ids_unmark(struct zone_ids *zone, muster_agent id) {
  recent_take_out(&zone->marks, (recent_key){id.value, 0});
}

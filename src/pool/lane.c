#include "pool/lane.h"

#include "base/assert.h"

enum { SLOT_FREE = 0, SLOT_FULL, SLOT_TAKEN };

static lane_slot *slot_of(const struct lane *lane, uint64_t position) {
  return &lane->slots[position & lane->mask];
}

static uint64_t state_of(const struct lane *lane, uint64_t position, uint64_t state) {
  return (position >> lane->log2_capacity) * 4 + state;
}

static uint64_t next_lap(const struct lane *lane, uint64_t position) {
  return state_of(lane, position, SLOT_FREE) + 4;
}

void lane_create(struct lane *lane, uint32_t capacity, struct arena *arena) {
  ASSERT(capacity > 1 && (capacity & (capacity - 1)) == 0);
  lane->mask = capacity - 1;
  lane->log2_capacity = (uint32_t)__builtin_ctz(capacity);
  ARENA_ARRAY(arena, lane->slots, capacity);
}

bool lane_push(struct lane *lane, const struct job *job) {
  uint64_t position = load_relaxed_u64(&lane->tail);
  lane_slot *slot;
  for (;;) {
    slot = slot_of(lane, position);
    /* Acquire: pairs with [c]; all reads of the job that stood here before are over. */
    int64_t turn = (int64_t)(load_acquire_u64(&slot->state) - state_of(lane, position, SLOT_FREE));
    if (turn < 0) return false;
    if (turn == 0) {
      if (compare_exchange_relaxed_u64(&lane->tail, &position, position + 1)) break;
    } else {
      position = load_relaxed_u64(&lane->tail);
    }
  }
  store_relaxed_u64(&slot->run, (uint64_t)(uintptr_t)job->run);
  store_relaxed_u64(&slot->argument, (uint64_t)(uintptr_t)job->argument);
  store_relaxed_u64(&slot->group, (uint64_t)(uintptr_t)job->group);
  store_ordered_u64(&slot->state, state_of(lane, position, SLOT_FULL)); /* [p] */
  return true;
}

static void read_job(const lane_slot *slot, struct job *job) {
  job->run = (muster_job_function)(uintptr_t)load_relaxed_u64(&slot->run);
  job->argument = (void *)(uintptr_t)load_relaxed_u64(&slot->argument);
  job->group = (struct group *)(uintptr_t)load_relaxed_u64(&slot->group);
}

static bool is_of(const lane_slot *slot, const struct group *only) {
  return !only || load_relaxed_u64(&slot->group) == (uint64_t)(uintptr_t)only;
}

/* How many positions from `position` on hold something to claim; -1 when head was outdated. */
static int32_t count_claimable(const struct lane *lane, uint64_t position, uint32_t most, const struct group *only) {
  for (uint32_t count = 0; count < most; count++, position++) {
    const lane_slot *slot = slot_of(lane, position);
    /* Ordered: a worker that enlisted to sleep looks here, and a producer that published looks for sleepers. */
    int64_t ahead = (int64_t)(load_ordered_u64(&slot->state) - state_of(lane, position, SLOT_FREE));
    if (ahead > SLOT_TAKEN) return count ? (int32_t)count : -1;
    if (ahead < SLOT_FULL || (ahead == SLOT_FULL && !is_of(slot, only))) return (int32_t)count;
  }
  return (int32_t)most;
}

uint32_t lane_look(const struct lane *lane, uint32_t most, const struct group *only, uint64_t *first) {
  for (;;) {
    *first = load_ordered_u64(&lane->head);
    int32_t count = count_claimable(lane, *first, most, only);
    if (count >= 0) return (uint32_t)count;
  }
}

bool lane_claim(struct lane *lane, uint64_t first, uint32_t count) {
  return compare_exchange_ordered_u64(&lane->head, &first, first + count);
}

bool lane_sweep(struct lane *lane) {
  static const uint64_t nobody; /* no group has its address: only what was taken matches */
  enum { AT_ONCE = 64 };
  uint64_t first;
  bool swept = false;
  struct job job;
  for (uint32_t count; (count = lane_look(lane, AT_ONCE, (const struct group *)(const void *)&nobody, &first));) {
    if (!lane_claim(lane, first, count)) continue;
    for (uint32_t i = 0; i < count; i++) lane_start(lane, first + i, &job);
    swept = true;
  }
  return swept;
}

const struct group *lane_group(const struct lane *lane, uint64_t position) {
  return (const struct group *)(uintptr_t)load_relaxed_u64(&slot_of(lane, position)->group);
}

bool lane_start(struct lane *lane, uint64_t position, struct job *job) {
  lane_slot *slot = slot_of(lane, position);
  uint64_t seen = state_of(lane, position, SLOT_FULL);
  read_job(slot, job);
  if (compare_exchange_ordered_u64(&slot->state, &seen, next_lap(lane, position))) return true; /* [c] */
  /* The job was taken out of turn: the claimer frees its place. */
  ASSERT(seen == state_of(lane, position, SLOT_TAKEN));
  store_release_u64(&slot->state, next_lap(lane, position));
  return false;
}

bool lane_waits(const struct lane *lane, uint64_t position) {
  return load_ordered_u64(&slot_of(lane, position)->state) == state_of(lane, position, SLOT_FULL);
}

bool lane_take_out(struct lane *lane, uint64_t position, const struct group *only, struct job *job) {
  lane_slot *slot = slot_of(lane, position);
  uint64_t full = state_of(lane, position, SLOT_FULL);
  if (load_acquire_u64(&slot->state) != full || !is_of(slot, only)) return false;
  read_job(slot, job);
  return compare_exchange_ordered_u64(&slot->state, &full, state_of(lane, position, SLOT_TAKEN)); /* [c] */
}

bool lane_has_work(const struct lane *lane) {
  uint64_t first;
  return lane_look(lane, 1, NULL, &first) > 0;
}

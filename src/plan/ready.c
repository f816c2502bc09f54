#include "plan/ready.h"

#include "base/assert.h"

#include <math.h>
#include <string.h>

void ready_create(ready_set *ready, const muster_world_def *def, const type_table *types, arena *arena) {
  double wait = fmax((double)def->weight_wait, 1e-6);
  *ready = (ready_set){.types = types};
  ready->weights = (ready_weights){def->order, (double)def->guarantee_ns, (double)def->weight_importance / wait,
                                   (double)def->weight_runs / wait, (double)def->weight_progress / wait};
  ready->width_ns = (int64_t)((double)def->guarantee_ns / wait / 256.0) + 1;
  if (def->order == MUSTER_ORDER_DELAYS) ready->width_ns = 1000000;
  ready->low = -READY_PAST_BUCKETS;
  ready->keys = arena_reserve(arena, READY_SORTED_MAX, sizeof *ready->keys);
  ready->keys_too = arena_reserve(arena, READY_SORTED_MAX, sizeof *ready->keys_too);
  ready->sorted = arena_reserve(arena, READY_SORTED_MAX, sizeof *ready->sorted);
}

/* The share of its update that a preempted agent has behind it. */
static double progress_of(const ready_set *ready, const agent_row *row) {
  return row->atom_next ? (double)row->atom_next / (double)(ready->types->types[row->type].parallel_atoms + 1) : 0.0;
}

static int64_t primary_key(const ready_set *ready, const agent_row *row) {
  const ready_weights *weights = &ready->weights;
  if (weights->order == MUSTER_ORDER_DELAYS) return (int64_t)row->first_due_ns;
  double lead = weights->importance * (double)row->importance + weights->progress * progress_of(ready, row) -
                weights->runs * (double)row->runs;
  /* Weights of next to nothing for waiting make the lead astronomic: it need not be exact then, only ordered. */
  return (int64_t)row->last_update_ns - (int64_t)fmin(fmax(weights->guarantee_ns * lead, -4e18), 4e18);
}

static int64_t floor_divide(int64_t value, int64_t by) {
  int64_t quotient = value / by;
  return quotient - (value % by < 0);
}

static void bucket_append(ready_set *ready, agent_store *store, uint32_t bucket, uint32_t index) {
  agent_row *row = &store->rows[index];
  agent_links *links = &store->links[index];
  row->bucket = (uint16_t)bucket;
  row->status = AGENT_READY;
  links->next = 0;
  links->previous = ready->tails[bucket];
  if (links->previous)
    store->links[links->previous - 1].next = index + 1;
  else
    ready->heads[bucket] = index + 1;
  ready->tails[bucket] = index + 1;
  if (bucket < READY_BUCKETS) ready->occupied[bucket / 64] |= 1ull << (bucket % 64);
  ready->count++;
  ready->counts[bucket]++;
  ready->begun += row->atom_next > 0;
  ASSERT(ready->begun <= ready->count);
}

static uint32_t bucket_of(const ready_set *ready, int64_t number) {
  if (number < ready->low) return READY_OLDER;
  if (number > ready->low + READY_BUCKETS - 1) number = ready->low + READY_BUCKETS - 1;
  return (uint32_t)((uint64_t)number % READY_BUCKETS);
}

static void insert(ready_set *ready, agent_store *store, uint32_t index) {
  const agent_row *row = &store->rows[index];
  int64_t number = floor_divide(primary_key(ready, row), ready->width_ns);
  bucket_append(ready, store, row->woken ? READY_WOKEN : bucket_of(ready, number), index);
}

static void empty_into_older(ready_set *ready, agent_store *store, uint32_t bucket) {
  agent_link link = ready->heads[bucket];
  ready->heads[bucket] = ready->tails[bucket] = 0;
  ready->occupied[bucket / 64] &= ~(1ull << (bucket % 64));
  ready->counts[bucket] = 0;
  while (link) {
    uint32_t index = link - 1;
    link = store->links[index].next;
    ready->count--;
    ready->begun -= store->rows[index].atom_next > 0;
    bucket_append(ready, store, READY_OLDER, index);
  }
}

void ready_advance(ready_set *ready, agent_store *store, uint64_t now_ns) {
  ready->now_ns = now_ns;
  int64_t low = floor_divide((int64_t)now_ns, ready->width_ns) - READY_PAST_BUCKETS;
  if (low <= ready->low) return;
  int64_t end = low < ready->low + READY_BUCKETS ? low : ready->low + READY_BUCKETS;
  for (int64_t number = ready->low; number < end; number++) {
    uint32_t bucket = (uint32_t)((uint64_t)number % READY_BUCKETS);
    if (ready->heads[bucket]) empty_into_older(ready, store, bucket);
  }
  ready->low = low;
}

void ready_release(ready_set *ready, agent_store *store, uint32_t index, uint64_t now_ns, uint64_t frame) {
  agent_row *row = &store->rows[index];
  row->first_due_ns = now_ns;
  row->released_frame = (uint8_t)frame;
  insert(ready, store, index);
}

void ready_enlist(ready_set *ready, agent_store *store, uint32_t index) {
  agent_row *row = &store->rows[index];
  agent_links *links = &store->links[index];
  if (row->enlisted) return;
  row->enlisted = 1;
  links->younger = 0;
  links->older = ready->youngest;
  if (links->older)
    store->links[links->older - 1].younger = index + 1;
  else
    ready->oldest = index + 1;
  ready->youngest = index + 1;
}

void ready_admit(ready_set *ready, agent_store *store, uint32_t index) {
  agent_row *row = &store->rows[index];
  const agent_links *links = &store->links[index];
  ASSERT(row->status == AGENT_READY && ready->count > 0);
  uint32_t bucket = row->bucket;
  if (links->previous)
    store->links[links->previous - 1].next = links->next;
  else
    ready->heads[bucket] = links->next;
  if (links->next)
    store->links[links->next - 1].previous = links->previous;
  else
    ready->tails[bucket] = links->previous;
  if (bucket < READY_BUCKETS && !ready->heads[bucket]) ready->occupied[bucket / 64] &= ~(1ull << (bucket % 64));
  row->status = AGENT_ADMITTED;
  ready->counts[bucket]--;
  ready->count--;
  ready->begun -= row->atom_next > 0;
}

void ready_put_back(ready_set *ready, agent_store *store, uint32_t index) {
  ASSERT(store->rows[index].status == AGENT_ADMITTED);
  insert(ready, store, index);
  ready_enlist(ready, store, index);
}

void ready_wake(ready_set *ready, agent_store *store, uint32_t index) {
  ready_admit(ready, store, index);
  store->rows[index].woken = 1;
  bucket_append(ready, store, READY_WOKEN, index);
}

void ready_forget(ready_set *ready, agent_store *store, uint32_t index) {
  agent_links *links = &store->links[index];
  if (!store->rows[index].enlisted) return;
  store->rows[index].enlisted = 0;
  if (links->older)
    store->links[links->older - 1].younger = links->younger;
  else
    ready->oldest = links->younger;
  if (links->younger)
    store->links[links->younger - 1].older = links->older;
  else
    ready->youngest = links->older;
  links->older = links->younger = 0;
}

enum { AGENT_BITS = 24, INSERTION_MAX = 32 };

/* What orders agents inside a bucket, as one number with the agent in its lower bits: the key, or in the paper's order
 * the frame of release and then the elapsed time in steps of 64 us. Differences beyond 40 bits count as equal. */
static uint64_t sort_key(const ready_set *ready, const agent_row *row, uint32_t agent, int64_t base, uint64_t now_ns) {
  const uint64_t most = (1ull << 40) - 1;
  int64_t offset = primary_key(ready, row) - base;
  uint64_t order = offset < 0 ? 0 : (uint64_t)offset;
  if (ready->weights.order == MUSTER_ORDER_DELAYS) {
    uint64_t elapsed = (now_ns - row->last_update_ns) >> 16, longest = (1u << 20) - 1;
    order = (order < longest ? order : longest) << 20 | (longest - (elapsed < longest ? elapsed : longest));
  }
  return (order < most ? order : most) << AGENT_BITS | agent;
}

static void sort_few(uint64_t *keys, uint32_t count) {
  for (uint32_t i = 1; i < count; i++) {
    uint64_t key = keys[i];
    uint32_t slot = i;
    for (; slot > 0 && key < keys[slot - 1]; slot--) keys[slot] = keys[slot - 1];
    keys[slot] = key;
  }
}

/* Radix sort by bytes, skipping those in which all keys agree; allocates nothing, unlike the C library's qsort. Returns
 * the buffer that holds the result. */
static uint64_t *sort_many(uint64_t *keys, uint64_t *other, uint32_t count) {
  uint64_t differs = 0;
  for (uint32_t i = 1; i < count; i++) differs |= keys[i] ^ keys[0];
  for (uint32_t shift = 0; shift < 64; shift += 8) {
    uint32_t ends[256] = {0};
    if (!(differs >> shift & 255)) continue;
    for (uint32_t i = 0; i < count; i++) ends[keys[i] >> shift & 255]++;
    for (uint32_t sum = 0, digit = 0; digit < 256; digit++) {
      uint32_t number = ends[digit];
      ends[digit] = sum;
      sum += number;
    }
    for (uint32_t i = 0; i < count; i++) other[ends[keys[i] >> shift & 255]++] = keys[i];
    uint64_t *swap = keys;
    keys = other;
    other = swap;
  }
  return keys;
}

/* The cursor's bucket: 0 is the list of older ones, 1 + k the k-th of the ring from its first. */
static uint32_t cursor_bucket(const ready_set *ready, const ready_cursor *cursor) {
  return cursor->bucket == 0 ? (uint32_t)READY_OLDER
                             : (uint32_t)((uint64_t)(ready->low + cursor->bucket - 1) % READY_BUCKETS);
}

/* Moves to the first bucket at or after the cursor's that holds anybody. False when there is none. */
static bool find_occupied(const ready_set *ready, ready_cursor *cursor) {
  for (; cursor->bucket <= READY_BUCKETS; cursor->bucket++) {
    uint32_t bucket = cursor_bucket(ready, cursor);
    if (ready->heads[bucket]) return true;
    if (bucket == READY_OLDER) continue;
    uint64_t rest_of_word = ready->occupied[bucket / 64] >> (bucket % 64);
    if (!rest_of_word) cursor->bucket += 63 - bucket % 64;
  }
  return false;
}

/* Lists whole buckets from the cursor's on while they fit; walks them side by side, so that while one list's next link
 * is fetched, the others are looked at. Returns how many agents: 0 when not even the first bucket fits. */
static uint32_t list_buckets(ready_set *ready, const agent_store *store, ready_cursor *cursor) {
  enum { SIDE_BY_SIDE = 16 };
  agent_link chains[SIDE_BY_SIDE];
  uint32_t chain_count = 0, total = 0, listed = 0;
  bool alone = cursor->bucket == 0 || ready->weights.order == MUSTER_ORDER_DELAYS;
  while (chain_count < (alone ? 1u : SIDE_BY_SIDE) && find_occupied(ready, cursor)) {
    uint32_t bucket = cursor_bucket(ready, cursor);
    if (total + ready->counts[bucket] > READY_SORTED_MAX) break;
    total += ready->counts[bucket];
    chains[chain_count++] = ready->heads[bucket];
    cursor->bucket++;
  }
  while (chain_count) {
    uint32_t left = 0;
    for (uint32_t i = 0; i < chain_count; i++) {
      agent_link next = store->links[chains[i] - 1].next;
      ready->sorted[listed++] = chains[i] - 1;
      if (!next) continue;
      __builtin_prefetch(&store->links[next - 1]);
      chains[left++] = next;
    }
    chain_count = left;
  }
  return listed;
}

/* Lists a part of a bucket that is too large to be sorted at once. */
static uint32_t list_part(ready_set *ready, const agent_store *store, ready_cursor *cursor) {
  uint32_t count = 0;
  agent_link link = cursor->next ? cursor->next : ready->heads[cursor_bucket(ready, cursor)];
  for (; link && count < READY_SORTED_MAX; link = store->links[link - 1].next) ready->sorted[count++] = link - 1;
  cursor->next = link;
  if (!link) cursor->bucket++;
  return count;
}

/* Keys are told from the start of the bucket, those of the older ones from the oldest of the part that is sorted. */
static int64_t base_of(const ready_set *ready, const agent_store *store, uint32_t bucket, uint32_t count) {
  if (bucket > 0) return (ready->low + bucket - 1) * ready->width_ns;
  int64_t smallest = INT64_MAX;
  for (uint32_t i = 0; i < count; i++) {
    int64_t key = primary_key(ready, &store->rows[ready->sorted[i]]);
    if (key < smallest) smallest = key;
  }
  return smallest;
}

const uint32_t *ready_next(ready_set *ready, const agent_store *store, ready_cursor *cursor, uint32_t *count) {
  enum { AHEAD = 12 };
  *count = 0;
  if (!cursor->next && !find_occupied(ready, cursor)) return NULL;
  uint32_t first = cursor->bucket;
  uint32_t listed = cursor->next ? 0 : list_buckets(ready, store, cursor);
  if (!listed) listed = list_part(ready, store, cursor);
  int64_t base = base_of(ready, store, first, listed);
  for (uint32_t i = 0; i < listed; i++) {
    if (i + AHEAD < listed) __builtin_prefetch(&store->rows[ready->sorted[i + AHEAD]], 1);
    ready->keys[i] = sort_key(ready, &store->rows[ready->sorted[i]], ready->sorted[i], base, ready->now_ns);
  }
  uint64_t *keys = ready->keys;
  if (listed > INSERTION_MAX)
    keys = sort_many(ready->keys, ready->keys_too, listed);
  else
    sort_few(keys, listed);
  for (uint32_t i = 0; i < listed; i++) ready->sorted[i] = (uint32_t)(keys[i] & ((1u << AGENT_BITS) - 1));
  *count = listed;
  return ready->sorted;
}

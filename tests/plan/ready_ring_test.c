/* The ring of ready agents against a plain sorted array, whatever its keys look like; and the walk over a backlog
 * against a sort of all agents that wait, in every frame. */
#include "ready_set.h"
#include "support/backwards.h"

typedef struct ring_fixture {
  struct arena arena;
  ready_ring ring;
  uint64_t *expected; /* in order */
  uint32_t count, maximum, frame;
} ring_fixture;

static ring_fixture *ring_fixture_create(uint32_t maximum, uint32_t shift, uint64_t low) {
  ring_fixture *fixture = new_fixture(sizeof *fixture);
  ready_ring_create(&fixture->ring, maximum, &fixture->arena);
  cr_assert(!fixture->arena.failed);
  ready_ring_place(&fixture->ring, shift, low);
  fixture->expected = arena_reserve(&fixture->arena, maximum, sizeof *fixture->expected);
  fixture->maximum = maximum;
  return fixture;
}

static void add(ring_fixture *fixture, uint64_t key, uint32_t agent) {
  uint64_t entry = ring_entry(key, agent);
  cr_assert_lt(fixture->count, fixture->maximum);
  fixture->expected[fixture->count++] = entry;
  ready_ring_add(&fixture->ring, entry);
}

/* Takes the first `wanted` entries, or all: they are the first of a sort. What was taken beyond comes back. */
static void take_first(ring_fixture *fixture, uint32_t wanted) {
  uint32_t taken = 0, count;
  qsort(fixture->expected, fixture->count, sizeof *fixture->expected, compare_numbers);
  while (taken < wanted && (count = ready_ring_take(&fixture->ring)) > 0) {
    ready_ring_sort(&fixture->ring.sorted, &fixture->ring.other, count);
    for (uint32_t i = 0; i < count; i++)
      if (taken < wanted) {
        cr_assert_eq(fixture->ring.sorted[i], fixture->expected[taken], "frame %u: entry %u is another one",
                     fixture->frame, taken);
        taken++;
      } else {
        ready_ring_set_aside(&fixture->ring, fixture->ring.sorted[i]);
      }
  }
  cr_assert_eq(taken, wanted < fixture->count ? wanted : fixture->count, "%u of %u were taken", taken, wanted);
  ready_ring_restore(&fixture->ring);
  fixture->count -= taken;
  memmove(fixture->expected, fixture->expected + taken, fixture->count * sizeof *fixture->expected);
  cr_assert_eq(fixture->ring.entries, fixture->count);
}

/* What keys look like: of agents at random times, of agents that were all woken at once, and of a few that are far away
 * from thousands that are close together. */
typedef uint64_t (*key_function)(uint64_t now, uint64_t random);

static uint64_t spread(uint64_t now, uint64_t random) {
  return now - 3000000 + random % 5000000;
}
static uint64_t equal(uint64_t now, uint64_t random) {
  (void)random;
  return now;
}
static uint64_t skewed(uint64_t now, uint64_t random) {
  return random % 1000 == 0 ? now - random % 100000000 : now + (random >> 20) % 50;
}
static uint64_t ahead(uint64_t now, uint64_t random) {
  return now + (random % 16 == 0 ? random % 1000000000000 : random % 300);
}

static void check_ring(key_function key, uint32_t each, uint32_t wanted, uint32_t frames, uint64_t step) {
  enum { SHIFT = 12, PAST = 1024 };
  uint64_t now = 1ull << 39;
  uint32_t agents = 0;
  SCOPED(free_fixture) ring_fixture *fixture = ring_fixture_create(each * frames, SHIFT, (now >> SHIFT) - PAST);
  for (fixture->frame = 0; fixture->frame < frames; fixture->frame++, now += step) {
    ready_ring_advance(&fixture->ring, (now >> SHIFT) - PAST);
    for (uint32_t i = 0; i < each; i++, agents++) {
      uint64_t random = random_at(5, agents, fixture->frame, 0);
      add(fixture, key(now, random) & RING_KEY_MAX, agents * 7919u % (each * frames)); /* in no order of agents */
    }
    take_first(fixture, wanted);
  }
  take_first(fixture, UINT32_MAX);
  cr_assert_eq(fixture->ring.depth, 0);
}

Test(ready_ring, gives_entries_in_order_whatever_their_keys_look_like) {
  static const key_function keys[] = {spread, equal, skewed, ahead};
  for (size_t i = 0; i < COUNT_OF(keys); i++) {
    check_ring(keys[i], 40, 35, 200, 33000);
    check_ring(keys[i], 2000, 700, 20, 33000); /* buckets are split, and time passes over them */
    check_ring(keys[i], 10000, 9000, 6, 33000);
    check_ring(keys[i], 3000, 1000, 20, 4000000);   /* a quarter of the ring in each frame */
    check_ring(keys[i], 3000, 2900, 12, 100000000); /* everything is older than the ring */
  }
}

Test(ready_ring, takes_out_all_that_is_in_it_in_levels_too) {
  SCOPED(free_fixture) ring_fixture *fixture = ring_fixture_create(30000, 12, 1000);
  for (uint32_t i = 0; i < 30000; i++) add(fixture, skewed(1ull << 30, random_at(6, i, 0, 0)), i);
  take_first(fixture, 100);
  cr_assert_gt(fixture->ring.depth, 1, "it was split only %u times", fixture->ring.depth);
  uint32_t count = ready_ring_take_all(&fixture->ring);
  cr_assert_eq(count, fixture->count);
  ready_ring_sort(&fixture->ring.sorted, &fixture->ring.other, count);
  for (uint32_t i = 0; i < count; i++) cr_assert_eq(fixture->ring.sorted[i], fixture->expected[i]);
  cr_assert(fixture->ring.entries == 0 && fixture->ring.depth == 0 && ready_ring_take(&fixture->ring) == 0);
}

Test(ready_ring, sorts_few_and_many_entries_of_equal_and_of_different_keys) {
  enum { COUNT = 5000 };
  static uint64_t one[COUNT], other[COUNT], expected[COUNT];
  for (uint32_t count = 5; count <= COUNT; count *= 10)
    for (uint32_t kinds = 1; kinds <= count; kinds *= 10) {
      uint64_t *entries = one, *too = other;
      for (uint32_t i = 0; i < count; i++)
        expected[i] = one[i] = ring_entry(random_at(7, i, 0, 0) % kinds * 77777, i * 911u % COUNT);
      qsort(expected, count, sizeof *expected, compare_numbers);
      ready_ring_sort(&entries, &too, count);
      for (uint32_t i = 0; i < count; i++)
        cr_assert_eq(entries[i], expected[i], "%u of %u keys, of %u", i, count, kinds);
    }
}

/* ---------------------------------------------------------------------------------------------------- the whole set */

/* The entries of all agents that wait, sorted: those that are to be admitted come first. */
static uint32_t sort_all(const ready_fixture *fixture, uint64_t *entries) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < fixture->agents; i++)
    if (fixture->store.rows[i].status == AGENT_READY)
      entries[count++] = ready_entry(&fixture->ready, &fixture->store.rows[i], i);
  qsort(entries, count, sizeof *entries, compare_numbers);
  return count;
}

/* Of `agents`, some are released in each frame and fewer are admitted, until half a frame's crowd waits; keys change in
 * between, and agents leave. */
static void check_cut(uint32_t agents, uint32_t frames) {
  muster_world_def def = WITH(muster_world_def, it.order = MUSTER_ORDER_DEADLINE);
  const agent_class classes[] = {{.nominal_ns = 100000000u, .rate = 1.0, .period_ns = 1e8f},
                                 {.nominal_ns = 100000000u, .rate = 0.1, .period_ns = 1e9f}};
  SCOPED(free_fixture) ready_fixture *fixture = ready_fixture_create(def, agents);
  SCOPED(free_memory) uint64_t *entries = calloc(agents, sizeof *entries);
  uint64_t now_ns = 0;
  fixture->ready.classes = classes;
  for (uint32_t frame = 0, released = 0; frame < frames; frame++) {
    begin_frame_at(fixture, now_ns += SET_FRAME_NS);
    for (uint32_t i = 0; i < agents / frames; i++, released++) {
      uint64_t random = random_at(8, released, frame, 0);
      release_row(fixture, released,
                  (agent_row){.class = random % 2,
                              .importance = (uint16_t)((random >> 8) % 4 * 20000),
                              .last_update_ns = now_ns / 2,
                              .woken = random >> 32 & 1});
    }
    for (uint32_t i = 0; i < released; i += 97) {
      agent_row *row = &fixture->store.rows[i];
      if (row->status != AGENT_READY || (random_at(9, i, frame, 0) & 7) || !row->filed) continue;
      row->class ^= 1; /* its key changes */
      ready_refresh(&fixture->ready, &fixture->store, i);
    }
    uint32_t count = sort_all(fixture, entries), wanted = count / 3;
    ready_begin_walk(&fixture->ready, frame % 2 ? &backwards : NULL);
    for (uint32_t i = 0; i < wanted; i++) {
      uint32_t index = walk_on(fixture);
      cr_assert_eq(index, ring_agent(entries[i]), "frame %u: agent %u of %u is another one than by a global sort",
                   frame, i, count);
      ready_admit(&fixture->ready, &fixture->store, index);
    }
    ready_end_walk(&fixture->ready, &fixture->store);
    ready_keep_fresh(&fixture->ready, &fixture->store);
  }
}

Test(ready_ring, the_first_agents_of_a_walk_are_those_of_a_global_sort_in_every_frame) {
  check_cut(2000, 50);
  check_cut(60000, 12);
  check_cut(1000000, 4); /* up to 500,000 wait */
}

/* Agents that leave without running, over and over: the ring drops their entries before they are too many. */
Test(ready_ring, entries_of_agents_that_have_left_never_outgrow_the_others) {
  enum { AGENTS = 3000, ROUNDS = 200 };
  agent_class class = {.nominal_ns = 100000000u, .rate = 1.0, .period_ns = 1e8f};
  SCOPED(free_fixture) ready_fixture *fixture = ready_fixture_in(MUSTER_ORDER_DEADLINE, AGENTS);
  fixture->ready.classes = &class;
  begin_frame_at(fixture, SET_FRAME_NS);
  for (uint32_t i = 0; i < AGENTS; i++) release_row(fixture, i, (agent_row){.importance = (uint16_t)(i * 20)});
  ready_keep_fresh(&fixture->ready, &fixture->store);
  for (uint32_t round = 1; round <= ROUNDS; round++) {
    class.period_ns = round % 2 ? 5e8f : 1e8f;
    for (uint32_t i = 0; i < AGENTS; i++) {
      ready_refresh(&fixture->ready, &fixture->store, i);
      cr_assert_leq(fixture->ready.ring.entries, 2 * AGENTS + RING_SORTED_MAX + 1);
    }
  }
  cr_assert_eq(fixture->ready.in_ring, AGENTS);
  begin_frame_at(fixture, 2 * SET_FRAME_NS);
  cr_assert_eq(walk_all(fixture, false, 256), AGENTS, "each is met once, whatever is left of it elsewhere");
  cr_assert_eq(fixture->ready.ring.entries, 0);
}

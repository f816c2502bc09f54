/* The order of ready agents across fresh ones and the ring: every agent once, by the published keys. */
#include "ready_set.h"

#define SECOND_NS 1000000000u

static agent_row random_row(uint64_t now_ns, uint64_t span_ns, uint64_t random) {
  return (agent_row){.last_update_ns = now_ns - random % span_ns,
                     .importance = (uint16_t)(random >> 17),
                     .runs = (uint16_t)((random >> 33) % (RUNS_ONE + 1)),
                     .atom_next = ((random >> 50) % 8 == 0 ? (random >> 54) % 3 : 0) & (MUSTER_ATOMS_MAX - 1)};
}

/* Agents first .. end - 1 become ready now. */
static void release_some(ready_fixture *fixture, uint32_t first, uint32_t end, uint64_t span_ns) {
  for (uint32_t i = first; i < end; i++)
    release_row(fixture, i, random_row(fixture->now_ns, span_ns, random_at(2, i, fixture->frame, 0)));
}

/* Some wait in the ring since earlier frames, as many are fresh; and then again, when some were admitted. */
static void check_order(muster_world_def def, uint64_t span_ns) {
  enum { AGENTS = 6000, EACH = AGENTS / 4 };
  SCOPED(free_fixture) ready_fixture *fixture = ready_fixture_create(def, AGENTS);
  uint64_t now_ns = 20ull * SECOND_NS;
  for (uint32_t i = 0; i < 4; i++) {
    begin_frame_at(fixture, now_ns += SET_FRAME_NS);
    release_some(fixture, i * EACH, (i + 1) * EACH, span_ns);
    cr_assert_eq(fixture->ready.fresh_count, EACH);
    cr_assert_geq(walk_all(fixture, true, 20), EACH);
    if (i < 3) ready_keep_fresh(&fixture->ready, &fixture->store);
  }
  begin_frame_at(fixture, now_ns + SET_FRAME_NS);
  cr_assert(walk_all(fixture, true, 256) > AGENTS / 2 && fixture->ready.count == 0 && fixture->ready.begun == 0);
  cr_assert_eq(fixture->ready.in_ring, 0);
  cr_assert_eq(fixture->ready.ring.entries, 0, "all entries were taken out");
}

Test(ready, fresh_agents_and_the_ring_are_one_order_by_the_published_priority) {
  muster_world_def def = WITH(muster_world_def, it.order = MUSTER_ORDER_PRIORITY);
  check_order(def, 2ull * SECOND_NS);
  check_order(def, 8ull * SECOND_NS); /* some are older than the ring, few enough to be sorted at once */
}

Test(ready, the_weights_count_as_published) {
  muster_world_def def = WITH(muster_world_def, it.order = MUSTER_ORDER_PRIORITY, it.priority.importance = 0.25f,
                              it.priority.wait = 0.5f, it.priority.runs = 0.75f, it.priority.progress = 0.125f);
  check_order(def, SECOND_NS);
  def.priority.importance = 0.0f;
  def.priority.guarantee_ns = 10000000u;
  check_order(def, SECOND_NS / 20);
}

/* Agents wait in the ring when their order is turned around: none is lost, and the walk is in the new order. */
Test(ready, other_weights_put_those_who_wait_in_another_order) {
  enum { AGENTS = 5000 };
  SCOPED(free_fixture) ready_fixture *fixture = ready_fixture_in(MUSTER_ORDER_PRIORITY, AGENTS);
  uint64_t now_ns = 1000ull * SECOND_NS, before = 0;
  begin_frame_at(fixture, now_ns);
  for (uint32_t i = 0; i < AGENTS; i++)
    release_row(
        fixture, i,
        (agent_row){.last_update_ns = now_ns - i * 100000u, .importance = (uint16_t)(i % 60000), .level = i % 4u});
  ready_keep_fresh(&fixture->ready, &fixture->store);
  muster_world_def def = WITH(muster_world_def, it.order = MUSTER_ORDER_PRIORITY, it.priority.importance = 0.0f,
                              it.priority.reduction = 1.0f, it.priority.guarantee_ns = 3000ull * SECOND_NS);
  /* A level is worth 1,000 s: more than any age here. */
  ready_reweigh(&fixture->ready, &fixture->store, &def);
  begin_frame_at(fixture, now_ns + SET_FRAME_NS);
  ready_begin_walk(&fixture->ready, NULL);
  uint32_t walked = 0, level_before = 3, index;
  while ((index = walk_on(fixture)) != UINT32_MAX) {
    const agent_row *row = &fixture->store.rows[index];
    cr_assert_leq(row->level, level_before, "level %u comes after %u", row->level, level_before);
    if (row->level == level_before && walked)
      cr_assert_geq(row->last_update_ns, before, "of one level, the younger came first");
    level_before = row->level;
    before = row->last_update_ns;
    walked++;
  }
  ready_end_walk(&fixture->ready, &fixture->store);
  cr_assert_eq(walked, AGENTS);
}

Test(ready, fresh_agents_and_the_ring_are_one_order_by_delays_and_then_elapsed_time) {
  muster_world_def def = WITH(muster_world_def, it.order = MUSTER_ORDER_DELAYS);
  check_order(def, 2ull * SECOND_NS);
  check_order(def, 15ull * SECOND_NS);
}

/* -------------------------------------------------------------------------------------------------- large buckets */

/* Thousands of one bucket, with others before and behind it and fresh ones among them. */
static void check_large_bucket(muster_order order, uint64_t age_ns, uint32_t chance) {
  enum { AGENTS = 4 * RING_SORTED_MAX, OTHERS = 300 };
  SCOPED(free_fixture) ready_fixture *fixture = ready_fixture_in(order, AGENTS);
  uint64_t now_ns = 1000ull * SECOND_NS;
  begin_frame_at(fixture, now_ns);
  for (uint32_t i = 0; i < AGENTS - OTHERS; i++) {
    bool large = i >= OTHERS;
    uint64_t random = random_at(3, i, 0, 0);
    release_row(fixture, i, (agent_row){.last_update_ns = now_ns - (large ? age_ns : random % (2 * age_ns))});
  }
  ready_keep_fresh(&fixture->ready, &fixture->store);
  for (uint32_t frame = 0; fixture->ready.count > 0; frame++) {
    begin_frame_at(fixture, now_ns += 100000);
    if (frame == 0)
      for (uint32_t i = AGENTS - OTHERS; i < AGENTS; i++)
        release_row(fixture, i, (agent_row){.last_update_ns = now_ns - random_at(4, i, 0, 0) % (2 * age_ns)});
    walk_all(fixture, false, frame < 12 ? chance : 256);
    ready_keep_fresh(&fixture->ready, &fixture->store);
  }
}

Test(ready, every_agent_of_a_bucket_that_is_read_in_parts_is_met_once_whichever_are_admitted_between_the_parts) {
  for (uint32_t order = MUSTER_ORDER_PRIORITY; order <= MUSTER_ORDER_DELAYS; order++)
    for (uint32_t chance = 0; chance <= 256; chance += 64) {
      check_large_bucket((muster_order)order, 100000000u, chance);
      check_large_bucket((muster_order)order, 100ull * SECOND_NS, chance); /* older than the ring */
    }
}

/* Admitting stops in the middle of a part, and the next frame begins anew. */
Test(ready, a_walk_that_ends_in_the_middle_of_a_part_leaves_everyone_else_in_place) {
  enum { AGENTS = 3 * RING_SORTED_MAX, EACH = 700 };
  SCOPED(free_fixture) ready_fixture *fixture = ready_fixture_in(MUSTER_ORDER_PRIORITY, AGENTS);
  SCOPED(free_memory) uint8_t *admitted = calloc(AGENTS, 1);
  begin_frame_at(fixture, SECOND_NS);
  for (uint32_t i = 0; i < AGENTS; i++) release_row(fixture, i, (agent_row){.last_update_ns = SECOND_NS / 2});
  ready_keep_fresh(&fixture->ready, &fixture->store);
  for (uint32_t left = AGENTS; left > 0;) {
    begin_next_frame(fixture);
    ready_begin_walk(&fixture->ready, NULL);
    for (uint32_t i = 0; i < EACH && left > 0; i++, left--) {
      uint32_t index = walk_on(fixture);
      cr_assert_lt(index, AGENTS);
      cr_assert_eq(admitted[index]++, 0);
      ready_admit(&fixture->ready, &fixture->store, index);
    }
    ready_end_walk(&fixture->ready, &fixture->store);
    cr_assert_eq(fixture->ready.count, left);
  }
}

/* ------------------------------------------------------------------------------------------------- crowds, windows */

Test(ready, more_agents_than_are_kept_fresh_are_one_order_and_all_of_them_wait_in_line) {
  enum { AGENTS = 20000 };
  SCOPED(free_fixture) ready_fixture *fixture = ready_fixture_in(MUSTER_ORDER_PRIORITY, AGENTS);
  fixture->ready.fresh_max = AGENTS - 5000;
  begin_frame_at(fixture, 20ull * SECOND_NS);
  release_some(fixture, 0, AGENTS, 4ull * SECOND_NS);
  cr_assert_eq(fixture->ready.count, AGENTS);
  cr_assert_eq(walk_all(fixture, true, 64), AGENTS);
  ready_keep_fresh(&fixture->ready, &fixture->store);
  for (uint32_t i = 0; i < AGENTS; i++)
    cr_assert(fixture->store.rows[i].queued || fixture->store.rows[i].status != AGENT_READY, "agent %u", i);
  cr_assert_geq(fixture->ready.waiting.standing, fixture->ready.count);
  begin_next_frame(fixture);
  walk_all(fixture, true, 256);
  cr_assert_eq(fixture->ready.count, 0);
}

Test(ready, widening_the_ring_keeps_everyone_in_order) {
  enum { AGENTS = 5000 };
  SCOPED(free_fixture) ready_fixture *fixture = ready_fixture_in(MUSTER_ORDER_PRIORITY, AGENTS);
  begin_frame_at(fixture, 4000ull * SECOND_NS);
  release_some(fixture, 0, AGENTS, 600ull * SECOND_NS);
  ready_keep_fresh(&fixture->ready, &fixture->store);
  cr_assert_gt(fixture->ready.ring.lists[RING_OLDER].count, RING_SORTED_MAX);
  uint32_t shift = fixture->ready.width_shift;
  ready_widen(&fixture->ready, &fixture->store, SECOND_NS);
  cr_assert_eq(fixture->ready.width_shift, shift, "it was wide enough");
  ready_widen(&fixture->ready, &fixture->store, 600ull * SECOND_NS);
  cr_assert_gt(fixture->ready.width_shift, shift);
  cr_assert_eq(fixture->ready.ring.lists[RING_OLDER].count, 0);
  walk_all(fixture, true, 128);
  begin_next_frame(fixture);
  ready_widen(&fixture->ready, &fixture->store, 3000ull * SECOND_NS);
  walk_all(fixture, true, 256);
  cr_assert_eq(fixture->ready.count, 0);
}

Test(ready, keeps_the_order_through_jumps_of_time_short_and_longer_than_the_ring) {
  enum { AGENTS = 1500 };
  static const uint64_t jumps_ns[] = {1, 2097152, 134217728, 900000000, 4000000000, 8589934592, 60000000000, 1};
  SCOPED(free_fixture) ready_fixture *fixture = ready_fixture_in(MUSTER_ORDER_PRIORITY, AGENTS);
  uint64_t now_ns = 0;
  for (uint32_t i = 0; i < AGENTS; i++) {
    begin_frame_at(fixture, now_ns += jumps_ns[i % 8]);
    release_row(fixture, i, random_row(now_ns, now_ns < 9ull * SECOND_NS ? now_ns + 1 : 9ull * SECOND_NS, i * 7919ull));
    ready_keep_fresh(&fixture->ready, &fixture->store);
    if (i % 50 == 0) walk_all(fixture, true, 16);
  }
  walk_all(fixture, true, 256);
  cr_assert_eq(fixture->ready.count, 0);
}

Test(ready, who_is_removed_while_waiting_is_met_no_more) {
  enum { AGENTS = 3000 };
  SCOPED(free_fixture) ready_fixture *fixture = ready_fixture_in(MUSTER_ORDER_PRIORITY, AGENTS);
  begin_frame_at(fixture, 20ull * SECOND_NS);
  release_some(fixture, 0, AGENTS, 12ull * SECOND_NS);
  ready_keep_fresh(&fixture->ready, &fixture->store);
  for (uint32_t i = 0; i < AGENTS; i += 3) ready_wake(&fixture->ready, &fixture->store, i);
  for (uint32_t i = 0; i < AGENTS; i += 2) { /* as the intake does */
    ready_admit(&fixture->ready, &fixture->store, i);
    ready_forget(&fixture->ready, &fixture->store, i);
    fixture->store.rows[i] = (agent_row){.generation = 1};
  }
  cr_assert_eq(fixture->ready.count, AGENTS / 2);
  cr_assert_eq(fixture->ready.woken.standing, AGENTS / 6);
  cr_assert_eq(fixture->ready.waiting.standing, AGENTS / 2);
  begin_next_frame(fixture);
  uint32_t place = fixture->ready.woken.head;
  for (uint32_t i = 3; i < AGENTS; i += 6) cr_assert_eq(ready_next_woken(&fixture->ready, &place), i);
  cr_assert_eq(ready_next_woken(&fixture->ready, &place), UINT32_MAX);
  cr_assert_eq(walk_all(fixture, true, 256), AGENTS / 2 - AGENTS / 6);
}

Test(ready, those_behind_the_time_are_counted_wherever_in_the_ring_they_stand) {
  enum { LATE = 50 };
  SCOPED(free_fixture) ready_fixture *fixture = ready_fixture_create(papers_world_def(), LATE + 1);
  begin_frame_at(fixture, 60000000000u);
  for (uint32_t i = 0; i < LATE; i++)
    release_row(fixture, i, (agent_row){.last_update_ns = 1000000000u * (uint64_t)(1 + i)});
  ready_keep_fresh(&fixture->ready, &fixture->store);
  cr_assert_eq(ready_count_late(&fixture->ready), LATE);
  release_row(fixture, LATE, (agent_row){.last_update_ns = fixture->now_ns});
  ready_keep_fresh(&fixture->ready, &fixture->store);
  cr_assert_eq(ready_count_late(&fixture->ready), LATE, "who is due now is not late");
}

Test(ready, who_was_released_and_admitted_leaves_no_room_taken_among_the_fresh) {
  SCOPED(free_fixture) ready_fixture *fixture = ready_fixture_create(papers_world_def(), 3);
  begin_frame_at(fixture, 1000000000u);
  for (uint32_t i = 0; i < 3; i++) release_row(fixture, i, (agent_row){.last_update_ns = 1});
  for (uint32_t i = 0; i < 3; i++) {
    cr_assert_eq(fixture->ready.fresh_left, 3 - i);
    ready_admit(&fixture->ready, &fixture->store, i);
  }
  cr_assert_eq(fixture->ready.fresh_left, 0);
  ready_keep_fresh(&fixture->ready, &fixture->store);
  cr_assert_eq(fixture->ready.fresh_count, 0);
}

/* A weight as great as that of waiting moves a turn by a quarter of a period: importance brings it forward, having run
 * in every period puts it off. */
Test(ready, a_turn_is_moved_by_importance_and_by_runs_as_their_weights_say) {
  muster_world_def def = WITH(muster_world_def, it.order = MUSTER_ORDER_DEADLINE, it.priority.wait = 1.0f,
                              it.priority.importance = 0.5f, it.priority.runs = 0.25f);
  SCOPED(free_fixture) ready_fixture *fixture = ready_fixture_create(def, 1);
  const agent_class class = {.period_ns = 1e9f, .elapsed = MUSTER_ELAPSED_DELTA};
  fixture->ready.classes = &class;
  const agent_row plain = {.first_due_ns = 5000000000u}, important = {.first_due_ns = 5000000000u, .importance = 65535},
                  runs = {.first_due_ns = 5000000000u, .runs = RUNS_ONE};
  cr_assert_float_eq((double)ready_deadline(&fixture->ready, &plain), 6e9, 1e3);
  cr_assert_float_eq((double)ready_deadline(&fixture->ready, &important), 5.875e9, 1e3);
  cr_assert_float_eq((double)ready_deadline(&fixture->ready, &runs), 6.0625e9, 1e3);
}

/* Ages beyond half a minute count in full. */
Test(ready, who_has_waited_longest_leads_by_delays_however_long_that_is) {
  SCOPED(free_fixture) ready_fixture *fixture = ready_fixture_in(MUSTER_ORDER_DELAYS, 1);
  uint64_t before = 0, now_ns = 1000ull * SECOND_NS;
  begin_frame_at(fixture, now_ns);
  for (uint64_t seconds = 65; seconds > 0; seconds--) {
    agent_row row = {.first_due_ns = now_ns - seconds * SECOND_NS, .last_update_ns = now_ns - seconds * SECOND_NS};
    uint64_t key = ready_delays_key(&fixture->ready, &row);
    cr_assert_gt(key, before, "who waited for %lu s stands before who did for longer", seconds);
    before = key;
  }
}

/* An eighth of the period, or a 64th of the guarantee. */
Test(ready, who_is_woken_has_its_turn_within_a_small_part_of_its_period) {
  agent_class class = {.nominal_ns = 40000000u, .rate = 1.0, .period_ns = 4e7f};
  muster_world_def def =
      WITH(muster_world_def, it.order = MUSTER_ORDER_DEADLINE, it.priority.guarantee_ns = 640000000u);
  SCOPED(free_fixture) ready_fixture *fixture = ready_fixture_create(def, 1);
  fixture->ready.classes = &class;
  const agent_row woken = {.first_due_ns = 100, .woken = 1};
  cr_assert_eq(ready_deadline(&fixture->ready, &woken), 100 + 5000000);
  class.period_ns = 4e8f;
  cr_assert_eq(ready_deadline(&fixture->ready, &woken), 100 + 10000000);
}

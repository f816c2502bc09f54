/* In the order of deadlines woken agents stand in the ring like all others: once. */
#include "ready_set.h"

enum { AGENTS = 4 };

static const agent_class class = {.nominal_ns = 100000000u, .rate = 1.0, .period_ns = 1e8f};

/* An agent woken while a frame runs is released and admitted after the ranking, and put back when it found no time; the
 * next woken agent is released before the following frame has looked at the fresh ones. */
Test(ready_woken, who_was_put_back_after_the_ranking_is_filed_once) {
  SCOPED(free_fixture) ready_fixture *set = ready_fixture_in(MUSTER_ORDER_DEADLINE, AGENTS);
  set->ready.classes = &class;
  begin_frame_at(set, SET_FRAME_NS);
  ready_keep_fresh(&set->ready, &set->store);
  release_row(set, 0, (agent_row){.woken = 1});
  ready_admit(&set->ready, &set->store, 0);
  ready_put_back(&set->ready, &set->store, 0);
  release_row(set, 1, (agent_row){.woken = 1});
  begin_frame_at(set, 2 * SET_FRAME_NS);
  cr_assert_eq(set->ready.count, 2);
  cr_assert_eq(set->ready.in_ring, 2);
  cr_assert_eq(set->ready.ring.entries, 2);
  for (uint32_t agent = 0; agent < 2; agent++) ready_admit(&set->ready, &set->store, agent);
  cr_assert_eq(set->ready.in_ring, 0);
}

Test(ready_woken, who_left_the_head_of_the_line_is_passed_over_once_and_for_all) {
  SCOPED(free_fixture) ready_fixture *set = ready_fixture_in(MUSTER_ORDER_PRIORITY, AGENTS);
  const struct fifo *woken = &set->ready.woken;
  begin_frame_at(set, SET_FRAME_NS);
  for (uint32_t agent = 0; agent < AGENTS; agent++) release_row(set, agent, (agent_row){.woken = 1});
  ready_admit(&set->ready, &set->store, 0);
  ready_admit(&set->ready, &set->store, 1);
  begin_frame_at(set, 2 * SET_FRAME_NS);
  cr_assert(fifo_stands(woken, woken->places[woken->head]));
  uint32_t place = woken->head;
  cr_assert_eq(ready_next_woken(&set->ready, &place), 2);
}

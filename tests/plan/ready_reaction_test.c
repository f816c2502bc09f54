/* The order of ready agents that must react by a time: the nearer it comes, the further ahead of those without one. */
#include "ready_set.h"

enum { NOT_YET, HALF, LATE, WITHOUT, LONGER, AGENTS };

/* Agents that have waited alike; some must react by a time. LONGER was given twice as long to react as HALF. */
static ready_fixture *waiting_fixture(void) {
  ready_fixture *fixture = ready_fixture_create(papers_world_def(), AGENTS);
  const uint64_t asked_ns[AGENTS] = {[NOT_YET] = 100, [HALF] = 80, [LATE] = 50, [LONGER] = 80};
  const uint64_t by_ns[AGENTS] = {[NOT_YET] = 120, [HALF] = 120, [LATE] = 90, [LONGER] = 160};
  fixture->ready.reacting = &fixture->store;
  begin_frame_at(fixture, 100ull * SET_FRAME_NS);
  for (uint32_t i = 0; i < AGENTS; i++) {
    fixture->store.alarms[i].react_from_ns = asked_ns[i] * SET_FRAME_NS;
    fixture->store.alarms[i].react_by_ns = by_ns[i] * SET_FRAME_NS;
    release_row(fixture, i, (agent_row){.last_update_ns = 50ull * SET_FRAME_NS, .reacts = i != WITHOUT});
  }
  return fixture;
}

static int64_t ahead_ns(const ready_fixture *fixture, uint32_t agent) {
  return ready_priority_key(&fixture->ready, &fixture->store.rows[WITHOUT]) -
         ready_priority_key(&fixture->ready, &fixture->store.rows[agent]);
}

Test(ready_reaction, leads_more_the_nearer_its_time_is) {
  SCOPED(free_fixture) ready_fixture *fixture = waiting_fixture();
  int64_t whole_ns = ahead_ns(fixture, LATE);
  cr_assert_gt(whole_ns, 0, "whose time has passed comes %ld ns later", -whole_ns);
  cr_assert_eq(ahead_ns(fixture, NOT_YET), 0, "a time that was set just now is worth nothing yet");
  cr_assert_eq(ahead_ns(fixture, HALF), whole_ns / 2);
  cr_assert_eq(ahead_ns(fixture, LONGER), whole_ns / 4);
}

/* A time that has come counts as much as importance, progress and a wait of the guarantee together, or more. */
Test(ready_reaction, whose_time_has_come_leads_whoever_has_waited_for_what_is_guaranteed) {
  SCOPED(free_fixture) ready_fixture *fixture = waiting_fixture();
  const muster_world_def *def = &fixture->def;
  double others = (double)(def->priority.importance + def->priority.progress) / (double)def->priority.wait;
  cr_assert_geq((double)ahead_ns(fixture, LATE), (double)def->priority.guarantee_ns * (1.0 + others) * 0.999);
}

Test(ready_reaction, is_walked_in_the_order_of_its_times) {
  SCOPED(free_fixture) ready_fixture *fixture = waiting_fixture();
  const uint32_t order[AGENTS] = {LATE, HALF, LONGER, NOT_YET, WITHOUT};
  ready_begin_walk(&fixture->ready, NULL);
  for (uint32_t i = 0; i < AGENTS; i++) cr_assert_eq(walk_on(fixture), order[i], "%u", i);
  cr_assert_eq(walk_on(fixture), UINT32_MAX);
  ready_end_walk(&fixture->ready, &fixture->store);
}

/* NOT_YET, which had just been asked, has a nearer time than LONGER, and passes it. */
Test(ready_reaction, moves_forward_in_the_ring_when_it_is_looked_at_again) {
  SCOPED(free_fixture) ready_fixture *fixture = waiting_fixture();
  ready_keep_fresh(&fixture->ready, &fixture->store);
  begin_frame_at(fixture, 119ull * SET_FRAME_NS);
  ready_refresh(&fixture->ready, &fixture->store, NOT_YET);
  ready_refresh(&fixture->ready, &fixture->store, HALF);
  const uint32_t order[AGENTS] = {LATE, HALF, NOT_YET, LONGER, WITHOUT};
  ready_begin_walk(&fixture->ready, NULL);
  for (uint32_t i = 0; i < AGENTS; i++) cr_assert_eq(walk_on(fixture), order[i], "%u", i);
  ready_end_walk(&fixture->ready, &fixture->store);
}

Test(ready_reaction, is_explained_as_part_of_the_sum) {
  SCOPED(free_fixture) ready_fixture *fixture = waiting_fixture();
  ready_terms half = ready_explain(&fixture->ready, &fixture->store.rows[HALF]);
  ready_terms without = ready_explain(&fixture->ready, &fixture->store.rows[WITHOUT]);
  cr_assert_eq(half.reaction_ns, ahead_ns(fixture, HALF));
  cr_assert_eq(without.reaction_ns, 0);
  cr_assert_eq(half.priority_ns - without.priority_ns, half.reaction_ns);
  cr_assert_eq(half.runs_ns, without.runs_ns);
}

/* Overrun counts, decay, windows of types and the bounds of the table, without a world. */
#include "plan/overrun_table.h"

#include <criterion/criterion.h>

enum { AGENTS = 4096, TYPES = 2 };

#define SECOND_NS 1000000000u

struct fixture {
  struct arena arena;
  struct overrun_table table;
  uint64_t frame, now_ns;
};

static void create(struct fixture *fixture) {
  muster_allocator allocator = {0};
  *fixture = (struct fixture){0};
  cr_assert_eq(arena_create(&fixture->arena, &allocator), MUSTER_OK);
  overrun_table_create(&fixture->table, AGENTS, TYPES, &fixture->arena);
  cr_assert_not(fixture->arena.failed);
}

static void destroy(struct fixture *fixture) {
  arena_destroy(&fixture->arena);
}

static overrun_terms terms_of(bool cheapest) {
  return (overrun_terms){3, 3, cheapest, SECOND_NS};
}

/* A frame passes_ns later, in which an agent of type 0 has an overrun. */
static overrun_penalty run_over(struct fixture *fixture, uint32_t agent, bool cheapest, uint64_t passes_ns) {
  overrun_terms terms = terms_of(cheapest);
  struct overrun overrun = {.agent = agent, .generation = 1, .duration_ns = 1000};
  fixture->frame++;
  fixture->now_ns += passes_ns;
  return overrun_table_count_agent(&fixture->table, &overrun, &terms, fixture->frame, fixture->now_ns);
}

Test(overrun_table, the_third_overrun_demotes_and_the_count_begins_anew) {
  struct fixture fixture;
  create(&fixture);
  for (uint32_t round = 0; round < 2; round++) {
    cr_assert_eq(run_over(&fixture, 7, false, 1000), OVERRUN_NO_PENALTY);
    cr_assert_eq(run_over(&fixture, 7, false, 1000), OVERRUN_NO_PENALTY);
    cr_assert_eq(run_over(&fixture, 7, false, 1000), OVERRUN_DEMOTED);
  }
  for (uint32_t i = 0; i < 2; i++) cr_assert_eq(run_over(&fixture, 7, true, 1000), OVERRUN_NO_PENALTY);
  cr_assert_eq(run_over(&fixture, 7, true, 1000), OVERRUN_QUARANTINED);
  destroy(&fixture);
}

Test(overrun_table, several_atoms_of_one_frame_count_once) {
  struct fixture fixture;
  create(&fixture);
  struct overrun overrun = {.agent = 3, .generation = 1, .duration_ns = 1000};
  overrun_terms terms = terms_of(false);
  for (uint32_t i = 0; i < 10; i++)
    cr_assert_eq(overrun_table_count_agent(&fixture.table, &overrun, &terms, 1, 5), OVERRUN_NO_PENALTY);
  cr_assert_eq(fixture.table.entries[0].overrun_count, 1);
  destroy(&fixture);
}

Test(overrun_table, each_window_without_an_overrun_takes_one_away) {
  struct fixture fixture;
  create(&fixture);
  for (uint32_t i = 0; i < 20; i++) cr_assert_eq(run_over(&fixture, 7, false, SECOND_NS), OVERRUN_NO_PENALTY);
  cr_assert_eq(run_over(&fixture, 7, false, SECOND_NS - 1), OVERRUN_NO_PENALTY);
  cr_assert_eq(run_over(&fixture, 7, false, SECOND_NS - 1), OVERRUN_DEMOTED);
  destroy(&fixture);
}

Test(overrun_table, zero_overruns_stand_for_never) {
  struct fixture fixture;
  create(&fixture);
  struct overrun overrun = {.agent = 3, .generation = 1, .duration_ns = 1000};
  const overrun_terms never = {0, 0, false, SECOND_NS}, only_quarantine = {0, 2, false, SECOND_NS},
                      only_demote = {2, 0, true, SECOND_NS};
  for (uint64_t frame = 1; frame < 50; frame++) {
    cr_assert_eq(overrun_table_count_agent(&fixture.table, &overrun, &never, frame, frame), OVERRUN_NO_PENALTY);
    cr_assert_eq(overrun_table_count_agent(&fixture.table, &overrun, &only_demote, frame, frame), OVERRUN_NO_PENALTY);
  }
  overrun_table_forget(&fixture.table, 3);
  cr_assert_eq(overrun_table_count_agent(&fixture.table, &overrun, &only_quarantine, 51, 51), OVERRUN_NO_PENALTY);
  cr_assert_eq(overrun_table_count_agent(&fixture.table, &overrun, &only_quarantine, 52, 52), OVERRUN_QUARANTINED);
  destroy(&fixture);
}

Test(overrun_table, forgets_who_is_gone_and_nobody_else) {
  struct fixture fixture;
  create(&fixture);
  for (uint32_t agent = 10; agent < 20; agent++) {
    run_over(&fixture, agent, false, 10);
    run_over(&fixture, agent, false, 10);
  }
  overrun_table_forget(&fixture.table, 12);
  overrun_table_forget(&fixture.table, 999);
  cr_assert_eq(fixture.table.count, 9);
  for (uint32_t agent = 10; agent < 20; agent++)
    cr_assert_eq(run_over(&fixture, agent, false, 10), agent == 12 ? OVERRUN_NO_PENALTY : OVERRUN_DEMOTED, "agent %u",
                 agent);
  overrun_table_forget_type(&fixture.table, 1);
  cr_assert_eq(fixture.table.count, 10);
  overrun_table_forget_type(&fixture.table, 0);
  cr_assert_eq(fixture.table.count, 0);
  for (uint32_t agent = 0; agent < AGENTS; agent++) cr_assert_eq(fixture.table.places[agent], 0);
  destroy(&fixture);
}

/* The type had two bad seconds of the three that quarantine takes: forgetting the type forgets them. */
Test(overrun_table, a_type_that_is_forgotten_begins_anew) {
  struct fixture fixture;
  create(&fixture);
  type_overruns *counts = &fixture.table.types[0];
  *counts = (type_overruns){.bad_windows = 2, .window_begin_ns = 5, .window_samples = 7, .window_overruns = 3};
  counts->window_agents = 2;
  overrun_table_forget_type(&fixture.table, 0);
  cr_assert_eq(counts->bad_windows, 0);
  cr_assert(counts->window_begin_ns == 0 && counts->window_samples == 0 && counts->window_overruns == 0);
  cr_assert_eq(counts->window_agents, 0);
  destroy(&fixture);
}

Test(overrun_table, a_full_table_forgets_the_lowest_counts_first) {
  struct fixture fixture;
  create(&fixture);
  for (uint32_t agent = 0; agent < OVERRUN_ENTRIES_MAX; agent++) {
    run_over(&fixture, agent, false, 10);
    if (agent % 2) run_over(&fixture, agent, false, 10);
  }
  cr_assert_eq(fixture.table.count, OVERRUN_ENTRIES_MAX);
  for (uint32_t agent = OVERRUN_ENTRIES_MAX; agent < OVERRUN_ENTRIES_MAX + 300; agent++)
    run_over(&fixture, agent, false, 10);
  cr_assert_eq(fixture.table.count, OVERRUN_ENTRIES_MAX);
  for (uint32_t agent = 1; agent < OVERRUN_ENTRIES_MAX; agent += 2)
    cr_assert_gt(fixture.table.places[agent], 0, "agent %u had two overruns and was forgotten", agent);
  for (uint32_t i = 0; i < OVERRUN_ENTRIES_MAX; i++)
    cr_assert_eq(fixture.table.places[fixture.table.entries[i].agent], i + 1);
  destroy(&fixture);
}

Test(overrun_table, of_equals_in_a_full_table_the_one_that_has_been_there_longest_goes) {
  struct fixture fixture;
  create(&fixture);
  for (uint32_t agent = 0; agent <= OVERRUN_ENTRIES_MAX; agent++) run_over(&fixture, agent, false, 0);
  for (uint32_t agent = 0; agent <= OVERRUN_ENTRIES_MAX; agent++)
    cr_assert_eq(fixture.table.places[agent] == 0, agent == 0, "agent %u", agent);
  destroy(&fixture);
}

/* A second in which `agents` of type 0 have one overrun each while it had so many updates. */
static overrun_penalty pass_second(struct fixture *fixture, uint32_t agents, uint64_t updates, bool cheapest,
                                   uint64_t *samples) {
  overrun_terms terms = terms_of(cheapest);
  if (agents) overrun_table_count_type(&fixture->table, 0, agents, *samples, fixture->now_ns);
  for (uint32_t agent = 0; agent < agents; agent++) run_over(fixture, 100 + agent, false, 0);
  cr_assert_eq(overrun_table_type_penalty(&fixture->table, 0, &terms, *samples, fixture->now_ns), OVERRUN_NO_PENALTY,
               "not before the second is over");
  *samples += updates;
  fixture->now_ns += SECOND_NS;
  return overrun_table_type_penalty(&fixture->table, 0, &terms, *samples, fixture->now_ns);
}

Test(overrun_table, a_type_is_demoted_by_its_share_and_by_how_many_agents_overrun) {
  struct fixture fixture;
  uint64_t samples = 1000;
  create(&fixture);
  fixture.now_ns = 5 * (uint64_t)SECOND_NS;
  cr_assert_eq(pass_second(&fixture, 10, 80, false, &samples), OVERRUN_NO_PENALTY, "an eighth is not more than that");
  cr_assert_eq(pass_second(&fixture, 7, 40 + 24, false, &samples), OVERRUN_NO_PENALTY, "too few agents");
  cr_assert_eq(pass_second(&fixture, 10, 79, false, &samples), OVERRUN_DEMOTED);
  destroy(&fixture);
}

Test(overrun_table, a_type_at_its_cheapest_level_needs_bad_seconds_in_a_row) {
  struct fixture fixture;
  uint64_t samples = 1;
  create(&fixture);
  fixture.now_ns = SECOND_NS;
  cr_assert_eq(pass_second(&fixture, 20, 100, true, &samples), OVERRUN_NO_PENALTY);
  cr_assert_eq(pass_second(&fixture, 20, 100, true, &samples), OVERRUN_NO_PENALTY);
  cr_assert_eq(pass_second(&fixture, 0, 100, true, &samples), OVERRUN_NO_PENALTY);
  fixture.now_ns += 3 * (uint64_t)SECOND_NS;
  cr_assert_eq(pass_second(&fixture, 20, 100, true, &samples), OVERRUN_NO_PENALTY, "it had behaved for a while");
  cr_assert_eq(pass_second(&fixture, 20, 100, true, &samples), OVERRUN_NO_PENALTY);
  cr_assert_eq(pass_second(&fixture, 20, 100, true, &samples), OVERRUN_QUARANTINED);
  destroy(&fixture);
}

/* A frame later an atom of the agent is blocked. */
static overrun_penalty block(struct fixture *fixture, uint32_t agent, const overrun_terms *terms) {
  struct overrun overrun = {.agent = agent, .generation = 1, .duration_ns = 1000, .kind = OVERRUN_BLOCKED};
  fixture->now_ns += 1000;
  return overrun_table_count_agent(&fixture->table, &overrun, terms, ++fixture->frame, fixture->now_ns);
}

Test(overrun_table, who_is_blocked_repeatedly_is_demoted_and_never_put_into_quarantine) {
  struct fixture fixture;
  create(&fixture);
  overrun_terms terms = terms_of(false);
  for (uint32_t i = 0; i < 2; i++) cr_assert_eq(block(&fixture, 7, &terms), OVERRUN_NO_PENALTY);
  cr_assert_eq(block(&fixture, 7, &terms), OVERRUN_DEMOTED);
  terms = terms_of(true);
  for (uint32_t i = 0; i < 100; i++) cr_assert_eq(block(&fixture, 7, &terms), OVERRUN_NO_PENALTY);
  for (uint32_t i = 0; i < 2; i++)
    cr_assert_eq(run_over(&fixture, 7, true, 1000), OVERRUN_NO_PENALTY, "the clock's word");
  cr_assert_eq(run_over(&fixture, 7, true, 1000), OVERRUN_QUARANTINED);
  destroy(&fixture);
}

Test(overrun_table, overruns_of_both_kinds_demote_together) {
  struct fixture fixture;
  create(&fixture);
  overrun_terms terms = terms_of(false);
  cr_assert_eq(block(&fixture, 7, &terms), OVERRUN_NO_PENALTY);
  cr_assert_eq(run_over(&fixture, 7, false, 1000), OVERRUN_NO_PENALTY);
  cr_assert_eq(block(&fixture, 7, &terms), OVERRUN_DEMOTED);
  destroy(&fixture);
}

Test(overrun_table, who_has_no_cheaper_level_and_no_quarantine_is_told_of_each_third_time) {
  struct fixture fixture;
  create(&fixture);
  overrun_terms terms = {.demote = 3, .cheapest = true, .window_ns = SECOND_NS};
  for (uint32_t i = 1; i <= 30; i++)
    cr_assert_eq(block(&fixture, 7, &terms), i % 3 ? OVERRUN_NO_PENALTY : OVERRUN_WARNED, "time %u", i);
  terms.demote = 0;
  for (uint32_t i = 0; i < 30; i++) cr_assert_eq(block(&fixture, 7, &terms), OVERRUN_NO_PENALTY);
  destroy(&fixture);
}

Test(overrun_table, a_type_is_not_demoted_by_atoms_that_were_blocked) {
  struct fixture fixture;
  create(&fixture);
  overrun_terms terms = terms_of(true);
  for (uint32_t i = 0; i < 20; i++) block(&fixture, i, &terms);
  cr_assert_eq(fixture.table.types[0].window_agents, 0);
  cr_assert_eq(fixture.table.types[0].window_overruns, 0);
  destroy(&fixture);
}

Test(overrun_table, each_window_counts_its_own_agents) {
  struct fixture fixture;
  uint64_t samples = 1;
  create(&fixture);
  fixture.now_ns = SECOND_NS;
  overrun_terms terms = terms_of(false);
  for (uint32_t window = 0; window < 5; window++) {
    overrun_table_count_type(&fixture.table, 0, 70, samples, fixture.now_ns);
    for (uint32_t agent = 0; agent < OVERRUN_TYPE_AGENTS - 1; agent++) run_over(&fixture, agent, true, 0);
    samples += 100;
    fixture.now_ns += SECOND_NS;
    cr_assert_eq(overrun_table_type_penalty(&fixture.table, 0, &terms, samples, fixture.now_ns), OVERRUN_NO_PENALTY,
                 "window %u: one agent too few", window);
  }
  destroy(&fixture);
}

Test(overrun_table, a_window_of_too_few_updates_lets_off_and_stays_open) {
  struct fixture fixture;
  uint64_t samples = 1;
  create(&fixture);
  fixture.now_ns = SECOND_NS;
  cr_assert_eq(pass_second(&fixture, 10, OVERRUN_WINDOW_UPDATES - 1, false, &samples), OVERRUN_NO_PENALTY);
  overrun_terms terms = terms_of(false);
  cr_assert_eq(overrun_table_type_penalty(&fixture.table, 0, &terms, samples + 1, fixture.now_ns), OVERRUN_DEMOTED);
  destroy(&fixture);
}

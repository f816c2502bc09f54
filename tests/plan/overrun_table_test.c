/* Overrun counts, decay, windows of types and the bounds of the table, without a world. */
#include "plan/overrun_table.h"
#include "plan/planning.h"

enum { AGENTS = 4096, TYPES = 2 };

#define SECOND_NS 1000000000u

static struct arena arena;
static struct overrun_table table;
static uint64_t frame, now_ns;
static uint64_t samples; /* updates of type 0 */

static void begin(void) {
  arena = begin_arena();
  overrun_table_create(&table, AGENTS, TYPES, &arena);
  cr_assert_not(arena.failed);
}

static void end(void) {
  arena_destroy(&arena);
}

TestSuite(overrun_table, .init = begin, .fini = end);

static overrun_terms terms_of(bool cheapest) {
  return (overrun_terms){3, 3, cheapest, SECOND_NS};
}

/* In this frame an agent of type 0 has an overrun. */
static overrun_penalty count(uint32_t agent, uint8_t kind, overrun_terms terms) {
  struct overrun overrun = {.agent = agent, .generation = 1, .duration_ns = 1000, .kind = kind};
  return overrun_table_count_agent(&table, &overrun, &terms, frame, now_ns);
}

/* A frame passes_ns later. */
static overrun_penalty run_over(uint32_t agent, bool cheapest, uint64_t passes_ns) {
  frame++;
  now_ns += passes_ns;
  return count(agent, OVERRUN_CPU, terms_of(cheapest));
}

Test(overrun_table, the_third_overrun_demotes_and_the_count_begins_anew) {
  for (uint32_t round = 0; round < 2; round++) {
    cr_assert_eq(run_over(7, false, 1000), OVERRUN_NO_PENALTY);
    cr_assert_eq(run_over(7, false, 1000), OVERRUN_NO_PENALTY);
    cr_assert_eq(run_over(7, false, 1000), OVERRUN_DEMOTED);
  }
  for (uint32_t i = 0; i < 2; i++) cr_assert_eq(run_over(7, true, 1000), OVERRUN_NO_PENALTY);
  cr_assert_eq(run_over(7, true, 1000), OVERRUN_QUARANTINED);
}

Test(overrun_table, several_atoms_of_one_frame_count_once) {
  frame = 1;
  for (uint32_t i = 0; i < 10; i++) cr_assert_eq(count(3, OVERRUN_CPU, terms_of(false)), OVERRUN_NO_PENALTY);
  cr_assert_eq(table.entries[0].overrun_count, 1);
}

Test(overrun_table, each_window_without_an_overrun_takes_one_away) {
  for (uint32_t i = 0; i < 20; i++) cr_assert_eq(run_over(7, false, SECOND_NS), OVERRUN_NO_PENALTY);
  cr_assert_eq(run_over(7, false, SECOND_NS - 1), OVERRUN_NO_PENALTY);
  cr_assert_eq(run_over(7, false, SECOND_NS - 1), OVERRUN_DEMOTED);
}

Test(overrun_table, zero_overruns_stand_for_never) {
  const overrun_terms never = {0, 0, false, SECOND_NS}, only_quarantine = {0, 2, false, SECOND_NS},
                      only_demote = {2, 0, true, SECOND_NS};
  while (frame < 49) {
    now_ns = ++frame;
    cr_assert_eq(count(3, OVERRUN_CPU, never), OVERRUN_NO_PENALTY);
    cr_assert_eq(count(3, OVERRUN_CPU, only_demote), OVERRUN_NO_PENALTY);
  }
  overrun_table_forget(&table, 3);
  now_ns = frame = 51;
  cr_assert_eq(count(3, OVERRUN_CPU, only_quarantine), OVERRUN_NO_PENALTY);
  now_ns = frame = 52;
  cr_assert_eq(count(3, OVERRUN_CPU, only_quarantine), OVERRUN_QUARANTINED);
}

Test(overrun_table, forgets_who_is_gone_and_nobody_else) {
  for (uint32_t agent = 10; agent < 20; agent++) {
    run_over(agent, false, 10);
    run_over(agent, false, 10);
  }
  overrun_table_forget(&table, 12);
  overrun_table_forget(&table, 999);
  cr_assert_eq(table.count, 9);
  for (uint32_t agent = 10; agent < 20; agent++)
    cr_assert_eq(run_over(agent, false, 10), agent == 12 ? OVERRUN_NO_PENALTY : OVERRUN_DEMOTED, "agent %u", agent);
  overrun_table_forget_type(&table, 1);
  cr_assert_eq(table.count, 10);
  overrun_table_forget_type(&table, 0);
  cr_assert_eq(table.count, 0);
  for (uint32_t agent = 0; agent < AGENTS; agent++) cr_assert_eq(table.places[agent], 0);
}

/* The type had two bad seconds of the three that quarantine takes: forgetting the type forgets them. */
Test(overrun_table, a_type_that_is_forgotten_begins_anew) {
  type_overruns *counts = &table.types[0];
  *counts = (type_overruns){.bad_windows = 2, .window_begin_ns = 5, .window_samples = 7, .window_overruns = 3};
  counts->window_agents = 2;
  overrun_table_forget_type(&table, 0);
  cr_assert_eq(counts->bad_windows, 0);
  cr_assert(counts->window_begin_ns == 0 && counts->window_samples == 0 && counts->window_overruns == 0);
  cr_assert_eq(counts->window_agents, 0);
}

Test(overrun_table, a_full_table_forgets_the_lowest_counts_first) {
  for (uint32_t agent = 0; agent < OVERRUN_ENTRIES_MAX; agent++) {
    run_over(agent, false, 10);
    if (agent % 2) run_over(agent, false, 10);
  }
  cr_assert_eq(table.count, OVERRUN_ENTRIES_MAX);
  for (uint32_t agent = OVERRUN_ENTRIES_MAX; agent < OVERRUN_ENTRIES_MAX + 300; agent++) run_over(agent, false, 10);
  cr_assert_eq(table.count, OVERRUN_ENTRIES_MAX);
  for (uint32_t agent = 1; agent < OVERRUN_ENTRIES_MAX; agent += 2)
    cr_assert_gt(table.places[agent], 0, "agent %u had two overruns and was forgotten", agent);
  for (uint32_t i = 0; i < OVERRUN_ENTRIES_MAX; i++) cr_assert_eq(table.places[table.entries[i].agent], i + 1);
}

Test(overrun_table, of_equals_in_a_full_table_the_one_that_has_been_there_longest_goes) {
  for (uint32_t agent = 0; agent <= OVERRUN_ENTRIES_MAX; agent++) run_over(agent, false, 0);
  for (uint32_t agent = 0; agent <= OVERRUN_ENTRIES_MAX; agent++)
    cr_assert_eq(table.places[agent] == 0, agent == 0, "agent %u", agent);
}

static overrun_penalty judge_type(bool cheapest) {
  overrun_terms terms = terms_of(cheapest);
  return overrun_table_type_penalty(&table, 0, &terms, samples, now_ns);
}

/* A second in which `agents` of type 0 have one overrun each while it had so many updates. */
static overrun_penalty pass_second(uint32_t agents, uint64_t updates, bool cheapest) {
  if (agents) overrun_table_count_type(&table, 0, agents, samples, now_ns);
  for (uint32_t agent = 0; agent < agents; agent++) run_over(100 + agent, false, 0);
  cr_assert_eq(judge_type(cheapest), OVERRUN_NO_PENALTY, "not before the second is over");
  samples += updates;
  now_ns += SECOND_NS;
  return judge_type(cheapest);
}

Test(overrun_table, a_type_is_demoted_by_its_share_and_by_how_many_agents_overrun) {
  samples = 1000;
  now_ns = 5 * (uint64_t)SECOND_NS;
  cr_assert_eq(pass_second(10, 80, false), OVERRUN_NO_PENALTY, "an eighth is not more than that");
  cr_assert_eq(pass_second(7, 40 + 24, false), OVERRUN_NO_PENALTY, "too few agents");
  cr_assert_eq(pass_second(10, 79, false), OVERRUN_DEMOTED);
}

Test(overrun_table, a_type_at_its_cheapest_level_needs_bad_seconds_in_a_row) {
  samples = 1;
  now_ns = SECOND_NS;
  cr_assert_eq(pass_second(20, 100, true), OVERRUN_NO_PENALTY);
  cr_assert_eq(pass_second(20, 100, true), OVERRUN_NO_PENALTY);
  cr_assert_eq(pass_second(0, 100, true), OVERRUN_NO_PENALTY);
  now_ns += 3 * (uint64_t)SECOND_NS;
  cr_assert_eq(pass_second(20, 100, true), OVERRUN_NO_PENALTY, "it had behaved for a while");
  cr_assert_eq(pass_second(20, 100, true), OVERRUN_NO_PENALTY);
  cr_assert_eq(pass_second(20, 100, true), OVERRUN_QUARANTINED);
}

/* A frame later an atom of the agent is blocked. */
static overrun_penalty block(uint32_t agent, overrun_terms terms) {
  frame++;
  now_ns += 1000;
  return count(agent, OVERRUN_BLOCKED, terms);
}

Test(overrun_table, who_is_blocked_repeatedly_is_demoted_and_never_put_into_quarantine) {
  for (uint32_t i = 0; i < 2; i++) cr_assert_eq(block(7, terms_of(false)), OVERRUN_NO_PENALTY);
  cr_assert_eq(block(7, terms_of(false)), OVERRUN_DEMOTED);
  for (uint32_t i = 0; i < 100; i++) cr_assert_eq(block(7, terms_of(true)), OVERRUN_NO_PENALTY);
  for (uint32_t i = 0; i < 2; i++) cr_assert_eq(run_over(7, true, 1000), OVERRUN_NO_PENALTY, "the clock's word");
  cr_assert_eq(run_over(7, true, 1000), OVERRUN_QUARANTINED);
}

Test(overrun_table, overruns_of_both_kinds_demote_together) {
  cr_assert_eq(block(7, terms_of(false)), OVERRUN_NO_PENALTY);
  cr_assert_eq(run_over(7, false, 1000), OVERRUN_NO_PENALTY);
  cr_assert_eq(block(7, terms_of(false)), OVERRUN_DEMOTED);
}

Test(overrun_table, who_has_no_cheaper_level_and_no_quarantine_is_told_of_each_third_time) {
  overrun_terms terms = {.demote = 3, .cheapest = true, .window_ns = SECOND_NS};
  for (uint32_t i = 1; i <= 30; i++)
    cr_assert_eq(block(7, terms), i % 3 ? OVERRUN_NO_PENALTY : OVERRUN_WARNED, "time %u", i);
  terms.demote = 0;
  for (uint32_t i = 0; i < 30; i++) cr_assert_eq(block(7, terms), OVERRUN_NO_PENALTY);
}

Test(overrun_table, a_type_is_not_demoted_by_atoms_that_were_blocked) {
  for (uint32_t i = 0; i < 20; i++) block(i, terms_of(true));
  cr_assert_eq(table.types[0].window_agents, 0);
  cr_assert_eq(table.types[0].window_overruns, 0);
}

Test(overrun_table, each_window_counts_its_own_agents) {
  samples = 1;
  now_ns = SECOND_NS;
  for (uint32_t window = 0; window < 5; window++) {
    overrun_table_count_type(&table, 0, 70, samples, now_ns);
    for (uint32_t agent = 0; agent < OVERRUN_TYPE_AGENTS - 1; agent++) run_over(agent, true, 0);
    samples += 100;
    now_ns += SECOND_NS;
    cr_assert_eq(judge_type(false), OVERRUN_NO_PENALTY, "window %u: one agent too few", window);
  }
}

Test(overrun_table, a_window_of_too_few_updates_lets_off_and_stays_open) {
  samples = 1;
  now_ns = SECOND_NS;
  cr_assert_eq(pass_second(10, OVERRUN_WINDOW_UPDATES - 1, false), OVERRUN_NO_PENALTY);
  samples++;
  cr_assert_eq(judge_type(false), OVERRUN_DEMOTED);
}

/* Strikes, decay, windows of types and the bounds of the table, without a world. */
#include "plan/offenders.h"

#include <criterion/criterion.h>

enum { AGENTS = 4096, TYPES = 2 };

#define SECOND_NS 1000000000u

struct fixture {
  struct arena arena;
  struct offenders offenders;
  uint64_t frame, now_ns;
};

static void create(struct fixture *fixture) {
  muster_allocator allocator = {0};
  *fixture = (struct fixture){0};
  cr_assert_eq(arena_create(&fixture->arena, &allocator), MUSTER_OK);
  offenders_create(&fixture->offenders, AGENTS, TYPES, &fixture->arena);
  cr_assert_not(fixture->arena.failed);
}

static void destroy(struct fixture *fixture) {
  arena_destroy(&fixture->arena);
}

static offender_terms terms_of(bool cheapest) {
  return (offender_terms){3, 3, cheapest, SECOND_NS};
}

/* A frame passes_ns later, in which an agent of type 0 offends. */
static offender_verdict offend(struct fixture *fixture, uint32_t agent, bool cheapest, uint64_t passes_ns) {
  offender_terms terms = terms_of(cheapest);
  struct offence offence = {.agent = agent, .generation = 1, .duration_ns = 1000};
  fixture->frame++;
  fixture->now_ns += passes_ns;
  return offenders_strike(&fixture->offenders, &offence, &terms, fixture->frame, fixture->now_ns);
}

Test(offenders, the_third_strike_demotes_and_the_count_begins_anew) {
  struct fixture fixture;
  create(&fixture);
  for (uint32_t round = 0; round < 2; round++) {
    cr_assert_eq(offend(&fixture, 7, false, 1000), OFFENDER_LET_OFF);
    cr_assert_eq(offend(&fixture, 7, false, 1000), OFFENDER_LET_OFF);
    cr_assert_eq(offend(&fixture, 7, false, 1000), OFFENDER_DEMOTED);
  }
  for (uint32_t i = 0; i < 2; i++) cr_assert_eq(offend(&fixture, 7, true, 1000), OFFENDER_LET_OFF);
  cr_assert_eq(offend(&fixture, 7, true, 1000), OFFENDER_QUARANTINED);
  destroy(&fixture);
}

Test(offenders, several_atoms_of_one_frame_are_one_strike) {
  struct fixture fixture;
  create(&fixture);
  struct offence offence = {.agent = 3, .generation = 1, .duration_ns = 1000};
  offender_terms terms = terms_of(false);
  for (uint32_t i = 0; i < 10; i++)
    cr_assert_eq(offenders_strike(&fixture.offenders, &offence, &terms, 1, 5), OFFENDER_LET_OFF);
  cr_assert_eq(fixture.offenders.entries[0].strikes, 1);
  destroy(&fixture);
}

Test(offenders, each_window_of_good_conduct_takes_a_strike_away) {
  struct fixture fixture;
  create(&fixture);
  for (uint32_t i = 0; i < 20; i++) cr_assert_eq(offend(&fixture, 7, false, SECOND_NS), OFFENDER_LET_OFF);
  cr_assert_eq(offend(&fixture, 7, false, SECOND_NS - 1), OFFENDER_LET_OFF);
  cr_assert_eq(offend(&fixture, 7, false, SECOND_NS - 1), OFFENDER_DEMOTED);
  destroy(&fixture);
}

Test(offenders, zero_strikes_stand_for_never) {
  struct fixture fixture;
  create(&fixture);
  struct offence offence = {.agent = 3, .generation = 1, .duration_ns = 1000};
  const offender_terms never = {0, 0, false, SECOND_NS}, only_quarantine = {0, 2, false, SECOND_NS},
                       only_demote = {2, 0, true, SECOND_NS};
  for (uint64_t frame = 1; frame < 50; frame++) {
    cr_assert_eq(offenders_strike(&fixture.offenders, &offence, &never, frame, frame), OFFENDER_LET_OFF);
    cr_assert_eq(offenders_strike(&fixture.offenders, &offence, &only_demote, frame, frame), OFFENDER_LET_OFF);
  }
  offenders_forget(&fixture.offenders, 3);
  cr_assert_eq(offenders_strike(&fixture.offenders, &offence, &only_quarantine, 51, 51), OFFENDER_LET_OFF);
  cr_assert_eq(offenders_strike(&fixture.offenders, &offence, &only_quarantine, 52, 52), OFFENDER_QUARANTINED);
  destroy(&fixture);
}

Test(offenders, forgets_who_is_gone_and_nobody_else) {
  struct fixture fixture;
  create(&fixture);
  for (uint32_t agent = 10; agent < 20; agent++) {
    offend(&fixture, agent, false, 10);
    offend(&fixture, agent, false, 10);
  }
  offenders_forget(&fixture.offenders, 12);
  offenders_forget(&fixture.offenders, 999);
  cr_assert_eq(fixture.offenders.count, 9);
  for (uint32_t agent = 10; agent < 20; agent++)
    cr_assert_eq(offend(&fixture, agent, false, 10), agent == 12 ? OFFENDER_LET_OFF : OFFENDER_DEMOTED, "agent %u",
                 agent);
  offenders_forget_type(&fixture.offenders, 1);
  cr_assert_eq(fixture.offenders.count, 10);
  offenders_forget_type(&fixture.offenders, 0);
  cr_assert_eq(fixture.offenders.count, 0);
  for (uint32_t agent = 0; agent < AGENTS; agent++) cr_assert_eq(fixture.offenders.places[agent], 0);
  destroy(&fixture);
}

/* The type had two bad seconds of the three that quarantine takes: forgetting the type forgets them. */
Test(offenders, a_type_that_is_forgotten_begins_anew) {
  struct fixture fixture;
  create(&fixture);
  type_conduct *conduct = &fixture.offenders.types[0];
  *conduct = (type_conduct){.bad_windows = 2, .window_begin_ns = 5, .window_samples = 7, .window_offences = 3};
  conduct->window_agents = 2;
  offenders_forget_type(&fixture.offenders, 0);
  cr_assert_eq(conduct->bad_windows, 0);
  cr_assert(conduct->window_begin_ns == 0 && conduct->window_samples == 0 && conduct->window_offences == 0);
  cr_assert_eq(conduct->window_agents, 0);
  destroy(&fixture);
}

Test(offenders, a_full_table_lets_the_mild_go_and_keeps_who_has_more_strikes) {
  struct fixture fixture;
  create(&fixture);
  for (uint32_t agent = 0; agent < OFFENDERS_MAX; agent++) {
    offend(&fixture, agent, false, 10);
    if (agent % 2) offend(&fixture, agent, false, 10);
  }
  cr_assert_eq(fixture.offenders.count, OFFENDERS_MAX);
  for (uint32_t agent = OFFENDERS_MAX; agent < OFFENDERS_MAX + 300; agent++) offend(&fixture, agent, false, 10);
  cr_assert_eq(fixture.offenders.count, OFFENDERS_MAX);
  for (uint32_t agent = 1; agent < OFFENDERS_MAX; agent += 2)
    cr_assert_gt(fixture.offenders.places[agent], 0, "agent %u had two strikes and was let off", agent);
  for (uint32_t i = 0; i < OFFENDERS_MAX; i++)
    cr_assert_eq(fixture.offenders.places[fixture.offenders.entries[i].agent], i + 1);
  destroy(&fixture);
}

Test(offenders, of_equals_in_a_full_table_the_one_that_has_been_there_longest_goes) {
  struct fixture fixture;
  create(&fixture);
  for (uint32_t agent = 0; agent <= OFFENDERS_MAX; agent++) offend(&fixture, agent, false, 0);
  for (uint32_t agent = 0; agent <= OFFENDERS_MAX; agent++)
    cr_assert_eq(fixture.offenders.places[agent] == 0, agent == 0, "agent %u", agent);
  destroy(&fixture);
}

/* A second in which `agents` of type 0 offend once each while it had so many updates. */
static offender_verdict pass_second(struct fixture *fixture, uint32_t agents, uint64_t updates, bool cheapest,
                                    uint64_t *samples) {
  offender_terms terms = terms_of(cheapest);
  if (agents) offenders_count(&fixture->offenders, 0, agents, *samples, fixture->now_ns);
  for (uint32_t agent = 0; agent < agents; agent++) offend(fixture, 100 + agent, false, 0);
  cr_assert_eq(offenders_type_verdict(&fixture->offenders, 0, &terms, *samples, fixture->now_ns), OFFENDER_LET_OFF,
               "not before the second is over");
  *samples += updates;
  fixture->now_ns += SECOND_NS;
  return offenders_type_verdict(&fixture->offenders, 0, &terms, *samples, fixture->now_ns);
}

Test(offenders, a_type_is_judged_by_its_share_and_by_how_many_agents_offend) {
  struct fixture fixture;
  uint64_t samples = 1000;
  create(&fixture);
  fixture.now_ns = 5 * (uint64_t)SECOND_NS;
  cr_assert_eq(pass_second(&fixture, 10, 80, false, &samples), OFFENDER_LET_OFF, "an eighth is not more than that");
  cr_assert_eq(pass_second(&fixture, 7, 40 + 24, false, &samples), OFFENDER_LET_OFF, "too few agents");
  cr_assert_eq(pass_second(&fixture, 10, 79, false, &samples), OFFENDER_DEMOTED);
  destroy(&fixture);
}

Test(offenders, a_type_at_its_cheapest_level_needs_bad_seconds_in_a_row) {
  struct fixture fixture;
  uint64_t samples = 1;
  create(&fixture);
  fixture.now_ns = SECOND_NS;
  cr_assert_eq(pass_second(&fixture, 20, 100, true, &samples), OFFENDER_LET_OFF);
  cr_assert_eq(pass_second(&fixture, 20, 100, true, &samples), OFFENDER_LET_OFF);
  cr_assert_eq(pass_second(&fixture, 0, 100, true, &samples), OFFENDER_LET_OFF);
  fixture.now_ns += 3 * (uint64_t)SECOND_NS;
  cr_assert_eq(pass_second(&fixture, 20, 100, true, &samples), OFFENDER_LET_OFF, "it had behaved for a while");
  cr_assert_eq(pass_second(&fixture, 20, 100, true, &samples), OFFENDER_LET_OFF);
  cr_assert_eq(pass_second(&fixture, 20, 100, true, &samples), OFFENDER_QUARANTINED);
  destroy(&fixture);
}

/* A frame later an atom of the agent is blocked. */
static offender_verdict block(struct fixture *fixture, uint32_t agent, const offender_terms *terms) {
  struct offence offence = {.agent = agent, .generation = 1, .duration_ns = 1000, .kind = OFFENCE_BLOCKED};
  fixture->now_ns += 1000;
  return offenders_strike(&fixture->offenders, &offence, terms, ++fixture->frame, fixture->now_ns);
}

Test(offenders, who_is_blocked_repeatedly_is_demoted_and_never_put_into_quarantine) {
  struct fixture fixture;
  create(&fixture);
  offender_terms terms = terms_of(false);
  for (uint32_t i = 0; i < 2; i++) cr_assert_eq(block(&fixture, 7, &terms), OFFENDER_LET_OFF);
  cr_assert_eq(block(&fixture, 7, &terms), OFFENDER_DEMOTED);
  terms = terms_of(true);
  for (uint32_t i = 0; i < 100; i++) cr_assert_eq(block(&fixture, 7, &terms), OFFENDER_LET_OFF);
  for (uint32_t i = 0; i < 2; i++) cr_assert_eq(offend(&fixture, 7, true, 1000), OFFENDER_LET_OFF, "the clock's word");
  cr_assert_eq(offend(&fixture, 7, true, 1000), OFFENDER_QUARANTINED);
  destroy(&fixture);
}

Test(offenders, strikes_of_both_kinds_demote_together) {
  struct fixture fixture;
  create(&fixture);
  offender_terms terms = terms_of(false);
  cr_assert_eq(block(&fixture, 7, &terms), OFFENDER_LET_OFF);
  cr_assert_eq(offend(&fixture, 7, false, 1000), OFFENDER_LET_OFF);
  cr_assert_eq(block(&fixture, 7, &terms), OFFENDER_DEMOTED);
  destroy(&fixture);
}

Test(offenders, who_has_no_cheaper_level_and_no_quarantine_is_told_of_each_third_time) {
  struct fixture fixture;
  create(&fixture);
  offender_terms terms = {.strikes_demote = 3, .cheapest = true, .window_ns = SECOND_NS};
  for (uint32_t i = 1; i <= 30; i++)
    cr_assert_eq(block(&fixture, 7, &terms), i % 3 ? OFFENDER_LET_OFF : OFFENDER_TOLD, "time %u", i);
  terms.strikes_demote = 0;
  for (uint32_t i = 0; i < 30; i++) cr_assert_eq(block(&fixture, 7, &terms), OFFENDER_LET_OFF);
  destroy(&fixture);
}

Test(offenders, a_type_is_not_judged_by_atoms_that_were_blocked) {
  struct fixture fixture;
  create(&fixture);
  offender_terms terms = terms_of(true);
  for (uint32_t i = 0; i < 20; i++) block(&fixture, i, &terms);
  cr_assert_eq(fixture.offenders.types[0].window_agents, 0);
  cr_assert_eq(fixture.offenders.types[0].window_offences, 0);
  destroy(&fixture);
}

Test(offenders, each_window_counts_its_own_agents) {
  struct fixture fixture;
  uint64_t samples = 1;
  create(&fixture);
  fixture.now_ns = SECOND_NS;
  offender_terms terms = terms_of(false);
  for (uint32_t window = 0; window < 5; window++) {
    offenders_count(&fixture.offenders, 0, 70, samples, fixture.now_ns);
    for (uint32_t agent = 0; agent < OFFENDERS_TYPE_AGENTS - 1; agent++) offend(&fixture, agent, true, 0);
    samples += 100;
    fixture.now_ns += SECOND_NS;
    cr_assert_eq(offenders_type_verdict(&fixture.offenders, 0, &terms, samples, fixture.now_ns), OFFENDER_LET_OFF,
                 "window %u: one agent too few", window);
  }
  destroy(&fixture);
}

Test(offenders, a_window_of_too_few_updates_lets_off_and_stays_open) {
  struct fixture fixture;
  uint64_t samples = 1;
  create(&fixture);
  fixture.now_ns = SECOND_NS;
  cr_assert_eq(pass_second(&fixture, 10, OFFENDERS_UPDATES - 1, false, &samples), OFFENDER_LET_OFF);
  offender_terms terms = terms_of(false);
  cr_assert_eq(offenders_type_verdict(&fixture.offenders, 0, &terms, samples + 1, fixture.now_ns), OFFENDER_DEMOTED);
  destroy(&fixture);
}

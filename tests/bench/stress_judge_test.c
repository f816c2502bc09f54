/* The verdict of `muster stress`, with made-up figures for each criterion and each cause. */
#include "stress.h"

#include "support/with.h"

#include <criterion/criterion.h>

/* Figures of steps, of which each case changes some. One that holds with much to spare, on a quiet machine, and shows
 * no cause: */
typedef stress_figures calm;

static calm calm_default(void) {
  stress_figures figures = {.load.knobs = {2000, 16, 64, 4, 16, 4},
                            .processors = 4,
                            .attempts = 1,
                            .frames = 200,
                            .kept = 200,
                            .budget_ns = 10000000,
                            .updates_per_frame = 700,
                            .pressure = 0.2,
                            .important_load = 0.1,
                            .important_agents = 40,
                            .important_wanted_ns = 1e8,
                            .important_interval_ns = 1.1e8,
                            .serial_share = 0.05,
                            .serial_per_frame_ns = 100000,
                            .messages_sent = 64 * 200,
                            .wakes_answered = 16 * 200,
                            .bytes = 1 << 20,
                            .brought_per_frame = 24,
                            .cell_share = 0.01,
                            .noise_known = true};
  for (uint32_t i = 0; i < STRESS_TYPES; i++)
    figures.types[i] = (stress_type_figures){.name = "type", .updates_share = 0.2, .time_share = 0.2};
  return figures;
}

/* Important agents get half of what they may get at least. */
typedef stress_figures unimportant;

static unimportant unimportant_default(void) {
  return WITH(calm, it.important_interval_ns = 4e8);
}

/* One frame in ten breaks the promise. */
typedef stress_figures promise_broken;

static promise_broken promise_broken_default(void) {
  return WITH(calm, it.kept = 180);
}

static stress_verdict judge(stress_figures figures) {
  stress_limits limits = CHANGED(stress_default_limits(), it.memory_bytes = 1 << 30);
  return stress_judge(&figures, &limits);
}

static void expect_cause(stress_figures figures, stress_cause cause) {
  stress_verdict verdict = judge(figures);
  cr_expect(!verdict.holds);
  cr_expect_eq(verdict.cause, cause, "'%s' instead of '%s'", stress_cause_name(verdict.cause),
               stress_cause_name(cause));
  if (cause != STRESS_BY_UNKNOWN) cr_expect(verdict.shown & 1u << cause);
}

static void expect_holds(stress_figures figures) {
  stress_verdict verdict = judge(figures);
  cr_expect(verdict.holds, "criteria 0x%x are not met", verdict.broken);
  cr_expect_eq(verdict.cause, STRESS_BY_NOTHING);
  cr_expect_eq(verdict.broken, 0);
  cr_expect_eq(verdict.shown, 0);
}

static void expect_broken(stress_figures figures, stress_criterion criterion) {
  stress_verdict verdict = judge(figures);
  cr_expect(!verdict.holds);
  cr_expect_eq(verdict.broken, 1u << criterion, "criteria 0x%x instead of %s", verdict.broken,
               stress_criterion_name(criterion));
}

/* --------------------------------------------------------------------------------------------------------- criteria */

Test(stress_criteria, a_calm_step_holds) {
  expect_holds(calm_default());
}

Test(stress_criteria, the_promise_is_kept_in_99_of_100_frames) {
  expect_holds(WITH(calm, it.kept = 198));
  expect_broken(WITH(calm, it.kept = 197), STRESS_PROMISE);
}

Test(stress_criteria, one_broken_frame_of_few_says_little) {
  stress_figures few =
      WITH(calm, it.frames = 20, it.messages_sent = 64 * 20, it.wakes_answered = 16 * 20, it.kept = 19);
  expect_holds(few);
  few.kept = 18;
  expect_broken(few, STRESS_PROMISE);
}

Test(stress_criteria, frames_in_which_the_host_took_a_processor_do_not_count) {
  expect_holds(WITH(calm, it.kept = 180, it.excused = 20));
  expect_broken(WITH(calm, it.kept = 180, it.excused = 17), STRESS_PROMISE);
  stress_figures all = WITH(calm, it.kept = 0, it.excused = 200);
  expect_broken(all, STRESS_PROMISE);
  cr_expect_eq(stress_kept_share(&all), 0);
  expect_holds(WITH(calm, it.messages_sent *= 2, it.wakes_answered *= 2, it.frames = 400, it.kept = 360,
                    it.excused = 38)); /* two of 362 are broken */
}

Test(stress_criteria, important_agents_run_within_twice_their_wanted_period) {
  expect_holds(WITH(calm, it.important_interval_ns = 2e8));
  expect_broken(WITH(calm, it.important_interval_ns = 2.01e8), STRESS_IMPORTANT);
  expect_holds(WITH(calm, it.important_agents = 0, it.important_wanted_ns = it.important_interval_ns = 0));
}

Test(stress_criteria, messages_are_sent_and_wakes_answered) {
  expect_holds(WITH(calm, it.messages_sent = 64 * 180, it.wakes_answered = 16 * 180));
  expect_broken(WITH(calm, it.messages_sent = 64 * 180 - 1, it.wakes_answered = 16 * 180), STRESS_EVENTS);
  stress_figures unanswered = WITH(calm, it.wakes_answered = 16 * 180 - 1);
  expect_broken(unanswered, STRESS_EVENTS);
  unanswered.load.knobs[STRESS_WAKES] = 0;
  expect_holds(unanswered);
}

Test(stress_criteria, no_message_is_lost) {
  expect_broken(WITH(calm, it.messages_dropped = 1), STRESS_DELIVERY);
  expect_broken(WITH(calm, it.messages_refused = 1), STRESS_DELIVERY);
}

Test(stress_criteria, no_spawn_and_no_command_is_refused) {
  expect_broken(WITH(calm, it.spawns_refused = 1), STRESS_ACCEPTANCE);
  expect_broken(WITH(calm, it.commands_refused = 1), STRESS_ACCEPTANCE);
}

Test(stress_criteria, intakes_keep_up_with_what_is_brought) {
  expect_holds(WITH(calm, it.waiting = 240));
  expect_broken(WITH(calm, it.waiting = 241), STRESS_INTAKE);
  expect_holds(WITH(calm, it.brought_per_frame = 0, it.waiting = 10));
}

Test(stress_criteria, agents_see_their_neighbours) {
  expect_holds(WITH(calm, it.queries_cut = 1400)); /* one of a hundred updates */
  expect_broken(WITH(calm, it.queries_cut = 1401), STRESS_NEIGHBOURS);
}

Test(stress_criteria, the_world_stays_within_its_memory) {
  expect_holds(WITH(calm, it.bytes = 1 << 30));
  expect_broken(WITH(calm, it.bytes = (1 << 30) + 1), STRESS_MEMORY);
}

/* ----------------------------------------------------------------------------------------------------------- causes */

Test(stress_cause, of_memory_is_the_limit_that_was_passed_or_what_the_system_refused) {
  expect_cause(WITH(calm, it.bytes = 2u << 30), STRESS_BY_MEMORY);
  /* Steps that were not begun. */
  expect_cause((stress_figures){.bytes = 2u << 30}, STRESS_BY_MEMORY);
  stress_figures refused = {.bytes = 1, .memory_refused = true};
  expect_cause(refused, STRESS_BY_MEMORY);
  cr_expect_eq(judge(refused).broken, 1u << STRESS_MEMORY, "of a step without frames nothing else is judged");
}

Test(stress_cause, of_a_crowded_cell_are_queries_that_are_cut) {
  expect_cause(WITH(calm, it.queries_cut = 10000), STRESS_BY_CROWD);
}

Test(stress_cause, of_a_crowded_cell_are_looks_at_all_agents_when_something_gives_way) {
  expect_cause(WITH(unimportant, it.crowd_rounds = 1), STRESS_BY_CROWD);
  expect_cause(WITH(promise_broken, it.crowd_rounds = 1), STRESS_BY_CROWD);
  expect_holds(WITH(calm, it.crowd_rounds = 1));
}

Test(stress_cause, of_a_crowded_cell_is_a_crowd_that_is_important_beyond_the_capacity) {
  expect_cause(WITH(unimportant, it.cell_share = 0.5, it.important_load = 1.1), STRESS_BY_CROWD);
  expect_cause(WITH(unimportant, it.cell_share = 0.49, it.important_load = 1.1), STRESS_BY_CAPACITY);
  expect_cause(WITH(unimportant, it.cell_share = 1, it.important_load = 1), STRESS_BY_UNKNOWN);
}

Test(stress_cause, of_what_waits_is_the_intake) {
  expect_cause(WITH(calm, it.waiting = 1000), STRESS_BY_INTAKE);
}

/* With 4 workers a serial part of a third of the budget leaves a quarter of the CPU idle. */
Test(stress_cause, of_serial_rest_is_cpu_that_lies_idle_meanwhile) {
  expect_cause(WITH(promise_broken, it.serial_per_frame_ns = 3.34e6), STRESS_BY_SERIAL);
  expect_cause(WITH(promise_broken, it.serial_per_frame_ns = 3.33e6), STRESS_BY_UNKNOWN);
  /* The more workers, the less of it is enough. */
  stress_figures figures =
      WITH(promise_broken, it.load.knobs[STRESS_WORKERS] = it.processors = 64, it.serial_per_frame_ns = 2.6e6);
  expect_cause(figures, STRESS_BY_SERIAL);
  figures.load.knobs[STRESS_WORKERS] = 2;
  figures.serial_per_frame_ns = 4.9e6;
  expect_cause(figures, STRESS_BY_UNKNOWN);
  figures.serial_per_frame_ns = 5.1e6;
  expect_cause(figures, STRESS_BY_SERIAL);
}

Test(stress_cause, is_not_serial_rest_where_one_worker_does_all) {
  stress_figures figures = WITH(promise_broken, it.load.knobs[STRESS_WORKERS] = 1, it.serial_per_frame_ns = 9e6);
  expect_cause(figures, STRESS_BY_UNKNOWN);
  cr_expect_eq(stress_serial_idle(&figures), 0);
}

Test(stress_cause, of_serial_rest_explains_late_important_agents_and_lost_messages_too) {
  stress_figures late = WITH(unimportant, it.serial_per_frame_ns = 5e6, it.pressure = 2);
  expect_cause(late, STRESS_BY_SERIAL);
  cr_expect(judge(late).shown & 1u << STRESS_BY_CAPACITY, "what else is shown is told");
  expect_cause(WITH(calm, it.messages_dropped = 1, it.serial_per_frame_ns = 5e6), STRESS_BY_SERIAL);
}

Test(stress_cause, of_one_type_is_much_time_for_few_updates_under_pressure) {
  stress_figures figures =
      WITH(unimportant, it.pressure = 1.5, it.types[3].time_share = 0.5, it.types[3].updates_share = 0.25);
  expect_cause(figures, STRESS_BY_TYPE);
  cr_expect_eq(judge(figures).type, 3);
  figures.important_interval_ns = 1e8;
  figures.messages_dropped = 1; /* receivers that run late have full boxes */
  expect_cause(figures, STRESS_BY_TYPE);
  figures = WITH(unimportant, it.pressure = 1.5, it.types[3].updates_share = 0.25, it.types[3].time_share = 0.49);
  expect_cause(figures, STRESS_BY_CAPACITY);
  figures.types[3].time_share = 0.9;
  figures.types[3].updates_share = 0.26; /* there are many of them: the type is no exception */
  expect_cause(figures, STRESS_BY_CAPACITY);
  figures.types[3].updates_share = 0.1;
  figures.pressure = 1; /* all fits */
  expect_cause(figures, STRESS_BY_UNKNOWN);
}

Test(stress_cause, of_capacity_is_a_pressure_above_one_or_too_much_that_is_important) {
  expect_cause(WITH(unimportant, it.pressure = 1.01), STRESS_BY_CAPACITY);
  expect_cause(WITH(unimportant, it.pressure = 1), STRESS_BY_UNKNOWN);
  expect_cause(WITH(unimportant, it.pressure = 1, it.important_load = 1.01), STRESS_BY_CAPACITY);
}

/* Agents without a period, as those that are woken, are in neither of the two. */
Test(stress_cause, of_capacity_is_cpu_that_is_used_up_while_work_waits) {
  stress_figures figures = WITH(calm, it.wakes_answered = 100);
  expect_cause(figures, STRESS_BY_UNKNOWN);
  figures.waiting_share = 0.5;
  figures.waiting_used_share = 0.8;
  expect_cause(figures, STRESS_BY_CAPACITY);
  figures.waiting_share = 0.49;
  expect_cause(figures, STRESS_BY_UNKNOWN);
  figures.waiting_share = 1;
  figures.waiting_used_share = 0.79;
  expect_cause(figures, STRESS_BY_UNKNOWN);
  figures.pressure = 2;
  expect_cause(figures, STRESS_BY_CAPACITY);
  figures.types[2] = (stress_type_figures){.time_share = 0.6, .updates_share = 0.1};
  expect_cause(figures, STRESS_BY_TYPE);
  figures.serial_per_frame_ns = 5e6;
  expect_cause(figures, STRESS_BY_SERIAL);
}

Test(stress_cause, of_events_that_do_not_happen_may_be_the_machine) {
  expect_cause(WITH(calm, it.messages_sent = 100, it.others_share = 0.5), STRESS_BY_MACHINE);
}

Test(stress_cause, is_not_capacity_where_the_promise_is_broken) {
  stress_figures figures = WITH(promise_broken, it.pressure = 20,
                                it.types[1] = (stress_type_figures){.time_share = 0.9, .updates_share = 0.1});
  expect_cause(figures, STRESS_BY_UNKNOWN);
}

Test(stress_cause, of_what_is_refused_is_a_bound_of_the_world_unless_receivers_come_too_late) {
  expect_cause(WITH(calm, it.messages_dropped = 5), STRESS_BY_BOUND);
  expect_cause(WITH(calm, it.messages_dropped = 5, it.pressure = 3), STRESS_BY_CAPACITY);
  /* Spawns do not need capacity for updates. */
  expect_cause(WITH(calm, it.spawns_refused = 5, it.pressure = 3), STRESS_BY_BOUND);
}

Test(stress_cause, of_a_noisy_machine_is_what_others_take) {
  expect_cause(WITH(promise_broken, it.others_share = 0.051), STRESS_BY_MACHINE);
  stress_figures figures = WITH(promise_broken, it.others_share = 0.05);
  expect_cause(figures, STRESS_BY_UNKNOWN);
  figures.stolen_share = 0.021;
  expect_cause(figures, STRESS_BY_MACHINE);
  figures.stolen_share = 0.02;
  expect_cause(figures, STRESS_BY_UNKNOWN);
  figures.others_share = figures.stolen_share = 0.9;
  figures.noise_known = false;
  expect_cause(figures, STRESS_BY_UNKNOWN);
}

Test(stress_cause, of_more_workers_than_processors_is_the_machine) {
  expect_cause(WITH(unimportant, it.processors = 3), STRESS_BY_MACHINE);
  expect_cause(WITH(unimportant, it.processors = 4), STRESS_BY_UNKNOWN);
}

/* Others are to blame only where nothing of the world's own shows. */
Test(stress_cause, is_named_by_the_order_of_causes) {
  stress_figures figures = WITH(unimportant, it.others_share = 0.5, it.pressure = 2);
  expect_cause(figures, STRESS_BY_CAPACITY);
  figures.types[0] = (stress_type_figures){.time_share = 0.9, .updates_share = 0.1};
  expect_cause(figures, STRESS_BY_TYPE);
  figures.serial_per_frame_ns = 5e6;
  expect_cause(figures, STRESS_BY_SERIAL);
  figures.waiting = 1000;
  expect_cause(figures, STRESS_BY_INTAKE);
  figures.queries_cut = 10000;
  expect_cause(figures, STRESS_BY_CROWD);
  figures.bytes = 2u << 30;
  expect_cause(figures, STRESS_BY_MEMORY);
  uint32_t all = 1u << STRESS_BY_MEMORY | 1u << STRESS_BY_CROWD | 1u << STRESS_BY_INTAKE | 1u << STRESS_BY_SERIAL |
                 1u << STRESS_BY_TYPE | 1u << STRESS_BY_CAPACITY | 1u << STRESS_BY_MACHINE;
  cr_expect_eq(judge(figures).shown, all);
}

Test(stress_cause, is_unknown_rather_than_guessed) {
  expect_cause(unimportant_default(), STRESS_BY_UNKNOWN);
  cr_expect_eq(judge(unimportant_default()).shown, 0);
  expect_cause(promise_broken_default(), STRESS_BY_UNKNOWN);
}

Test(stress_cause, and_criteria_have_names_that_differ) {
  for (uint32_t i = 0; i < STRESS_CAUSES; i++)
    for (uint32_t k = 0; k < i; k++) cr_expect_str_neq(stress_cause_name(i), stress_cause_name(k));
  for (uint32_t i = 0; i < STRESS_CRITERIA; i++)
    for (uint32_t k = 0; k < i; k++) cr_expect_str_neq(stress_criterion_name(i), stress_criterion_name(k));
  cr_expect_null(stress_cause_name(STRESS_CAUSES));
  cr_expect_null(stress_criterion_name(STRESS_CRITERIA));
  cr_expect_null(stress_axis_name(STRESS_AXES));
}

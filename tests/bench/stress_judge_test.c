/* The verdict of `muster stress`, with made-up figures for each criterion and each cause. */
#include "stress.h"

#include <criterion/criterion.h>

/* A step that holds with much to spare, on a quiet machine, and shows no cause. */
static stress_figures calm(void) {
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

static stress_limits limits(void) {
  stress_limits limits = stress_default_limits();
  limits.memory_bytes = 1 << 30;
  return limits;
}

static stress_verdict judge(const stress_figures *figures) {
  stress_limits all = limits();
  return stress_judge(figures, &all);
}

/* Important agents get half of what they may get at least. */
static stress_figures unimportant(void) {
  stress_figures figures = calm();
  figures.important_interval_ns = 4e8;
  return figures;
}

/* One frame in ten breaks the promise. */
static stress_figures promise_broken(void) {
  stress_figures figures = calm();
  figures.kept = 180;
  return figures;
}

static void expect_cause(const stress_figures *figures, stress_cause cause) {
  stress_verdict verdict = judge(figures);
  cr_expect(!verdict.holds);
  cr_expect_eq(verdict.cause, cause, "'%s' instead of '%s'", stress_cause_name(verdict.cause),
               stress_cause_name(cause));
  if (cause != STRESS_BY_UNKNOWN) cr_expect(verdict.shown & 1u << cause);
}

static void expect_holds(const stress_figures *figures) {
  stress_verdict verdict = judge(figures);
  cr_expect(verdict.holds, "criteria 0x%x are not met", verdict.broken);
  cr_expect_eq(verdict.cause, STRESS_BY_NOTHING);
  cr_expect_eq(verdict.broken, 0);
  cr_expect_eq(verdict.shown, 0);
}

static void expect_broken(const stress_figures *figures, stress_criterion criterion) {
  stress_verdict verdict = judge(figures);
  cr_expect(!verdict.holds);
  cr_expect_eq(verdict.broken, 1u << criterion, "criteria 0x%x instead of %s", verdict.broken,
               stress_criterion_name(criterion));
}

/* --------------------------------------------------------------------------------------------------------- criteria */

Test(stress_criteria, a_calm_step_holds) {
  stress_figures figures = calm();
  expect_holds(&figures);
}

Test(stress_criteria, the_promise_is_kept_in_99_of_100_frames) {
  stress_figures figures = calm();
  figures.kept = 198;
  expect_holds(&figures);
  figures.kept = 197;
  expect_broken(&figures, STRESS_PROMISE);
}

Test(stress_criteria, one_broken_frame_of_few_says_little) {
  stress_figures figures = calm();
  figures.frames = 20;
  figures.messages_sent = 64 * 20;
  figures.wakes_answered = 16 * 20;
  figures.kept = 19;
  expect_holds(&figures);
  figures.kept = 18;
  expect_broken(&figures, STRESS_PROMISE);
}

Test(stress_criteria, frames_in_which_the_host_took_a_processor_do_not_count) {
  stress_figures figures = calm();
  figures.kept = 180;
  figures.excused = 20;
  expect_holds(&figures);
  figures.excused = 17;
  expect_broken(&figures, STRESS_PROMISE);
  figures.kept = 0;
  figures.excused = 200;
  expect_broken(&figures, STRESS_PROMISE);
  cr_expect_eq(stress_kept_share(&figures), 0);
  figures = calm();
  figures.messages_sent *= 2;
  figures.wakes_answered *= 2;
  figures.frames = 400;
  figures.kept = 360;
  figures.excused = 38; /* two of 362 are broken */
  expect_holds(&figures);
}

Test(stress_criteria, important_agents_run_within_twice_their_wanted_period) {
  stress_figures figures = calm();
  figures.important_interval_ns = 2e8;
  expect_holds(&figures);
  figures.important_interval_ns = 2.01e8;
  expect_broken(&figures, STRESS_IMPORTANT);
  figures.important_agents = 0;
  figures.important_wanted_ns = figures.important_interval_ns = 0;
  expect_holds(&figures);
}

Test(stress_criteria, messages_are_sent_and_wakes_answered) {
  stress_figures figures = calm();
  figures.messages_sent = 64 * 180;
  figures.wakes_answered = 16 * 180;
  expect_holds(&figures);
  figures.messages_sent--;
  expect_broken(&figures, STRESS_EVENTS);
  figures.messages_sent = 64 * 200;
  figures.wakes_answered--;
  expect_broken(&figures, STRESS_EVENTS);
  figures.load.knobs[STRESS_WAKES] = 0;
  expect_holds(&figures);
}

Test(stress_criteria, no_message_is_lost) {
  stress_figures figures = calm();
  figures.messages_dropped = 1;
  expect_broken(&figures, STRESS_DELIVERY);
  figures = calm();
  figures.messages_refused = 1;
  expect_broken(&figures, STRESS_DELIVERY);
}

Test(stress_criteria, no_spawn_and_no_command_is_refused) {
  stress_figures figures = calm();
  figures.spawns_refused = 1;
  expect_broken(&figures, STRESS_ACCEPTANCE);
  figures = calm();
  figures.commands_refused = 1;
  expect_broken(&figures, STRESS_ACCEPTANCE);
}

Test(stress_criteria, intakes_keep_up_with_what_is_brought) {
  stress_figures figures = calm();
  figures.waiting = 240;
  expect_holds(&figures);
  figures.waiting = 241;
  expect_broken(&figures, STRESS_INTAKE);
  figures.brought_per_frame = 0;
  figures.waiting = 10;
  expect_holds(&figures);
}

Test(stress_criteria, agents_see_their_neighbours) {
  stress_figures figures = calm();
  figures.queries_cut = 1400; /* one of a hundred updates */
  expect_holds(&figures);
  figures.queries_cut = 1401;
  expect_broken(&figures, STRESS_NEIGHBOURS);
}

Test(stress_criteria, the_world_stays_within_its_memory) {
  stress_figures figures = calm();
  figures.bytes = 1 << 30;
  expect_holds(&figures);
  figures.bytes++;
  expect_broken(&figures, STRESS_MEMORY);
}

/* ----------------------------------------------------------------------------------------------------------- causes */

Test(stress_cause, of_memory_is_the_limit_that_was_passed_or_what_the_system_refused) {
  stress_figures figures = calm();
  figures.bytes = 2u << 30;
  expect_cause(&figures, STRESS_BY_MEMORY);
  /* Steps that were not begun. */
  figures = (stress_figures){.bytes = 2u << 30};
  expect_cause(&figures, STRESS_BY_MEMORY);
  figures = (stress_figures){.bytes = 1, .memory_refused = true};
  expect_cause(&figures, STRESS_BY_MEMORY);
  cr_expect_eq(judge(&figures).broken, 1u << STRESS_MEMORY, "of a step without frames nothing else is judged");
}

Test(stress_cause, of_a_crowded_cell_are_queries_that_are_cut) {
  stress_figures figures = calm();
  figures.queries_cut = 10000;
  expect_cause(&figures, STRESS_BY_CROWD);
}

Test(stress_cause, of_a_crowded_cell_are_looks_at_all_agents_when_something_gives_way) {
  stress_figures figures = unimportant();
  figures.crowd_rounds = 1;
  expect_cause(&figures, STRESS_BY_CROWD);
  figures = promise_broken();
  figures.crowd_rounds = 1;
  expect_cause(&figures, STRESS_BY_CROWD);
  figures = calm();
  figures.crowd_rounds = 1;
  expect_holds(&figures);
}

Test(stress_cause, of_a_crowded_cell_is_a_crowd_that_is_important_beyond_the_capacity) {
  stress_figures figures = unimportant();
  figures.cell_share = 0.5;
  figures.important_load = 1.1;
  expect_cause(&figures, STRESS_BY_CROWD);
  figures.cell_share = 0.49;
  expect_cause(&figures, STRESS_BY_CAPACITY);
  figures.cell_share = 1;
  figures.important_load = 1;
  expect_cause(&figures, STRESS_BY_UNKNOWN);
}

Test(stress_cause, of_what_waits_is_the_intake) {
  stress_figures figures = calm();
  figures.waiting = 1000;
  expect_cause(&figures, STRESS_BY_INTAKE);
}

/* With 4 workers a serial part of a third of the budget leaves a quarter of the CPU idle. */
Test(stress_cause, of_serial_rest_is_cpu_that_lies_idle_meanwhile) {
  stress_figures figures = promise_broken();
  figures.serial_per_frame_ns = 3.34e6;
  expect_cause(&figures, STRESS_BY_SERIAL);
  figures.serial_per_frame_ns = 3.33e6;
  expect_cause(&figures, STRESS_BY_UNKNOWN);
  /* The more workers, the less of it is enough. */
  figures.load.knobs[STRESS_WORKERS] = figures.processors = 64;
  figures.serial_per_frame_ns = 2.6e6;
  expect_cause(&figures, STRESS_BY_SERIAL);
  figures.load.knobs[STRESS_WORKERS] = 2;
  figures.serial_per_frame_ns = 4.9e6;
  expect_cause(&figures, STRESS_BY_UNKNOWN);
  figures.serial_per_frame_ns = 5.1e6;
  expect_cause(&figures, STRESS_BY_SERIAL);
}

Test(stress_cause, is_not_serial_rest_where_one_worker_does_all) {
  stress_figures figures = promise_broken();
  figures.load.knobs[STRESS_WORKERS] = 1;
  figures.serial_per_frame_ns = 9e6;
  expect_cause(&figures, STRESS_BY_UNKNOWN);
  cr_expect_eq(stress_serial_idle(&figures), 0);
}

Test(stress_cause, of_serial_rest_explains_late_important_agents_and_lost_messages_too) {
  stress_figures figures = unimportant();
  figures.serial_per_frame_ns = 5e6;
  figures.pressure = 2;
  expect_cause(&figures, STRESS_BY_SERIAL);
  cr_expect(judge(&figures).shown & 1u << STRESS_BY_CAPACITY, "what else is shown is told");
  figures = calm();
  figures.messages_dropped = 1;
  figures.serial_per_frame_ns = 5e6;
  expect_cause(&figures, STRESS_BY_SERIAL);
}

Test(stress_cause, of_one_type_is_much_time_for_few_updates_under_pressure) {
  stress_figures figures = unimportant();
  figures.pressure = 1.5;
  figures.types[3].time_share = 0.5;
  figures.types[3].updates_share = 0.25;
  expect_cause(&figures, STRESS_BY_TYPE);
  cr_expect_eq(judge(&figures).type, 3);
  figures.important_interval_ns = 1e8;
  figures.messages_dropped = 1; /* receivers that run late have full boxes */
  expect_cause(&figures, STRESS_BY_TYPE);
  figures = unimportant();
  figures.pressure = 1.5;
  figures.types[3].updates_share = 0.25;
  figures.types[3].time_share = 0.49;
  expect_cause(&figures, STRESS_BY_CAPACITY);
  figures.types[3].time_share = 0.9;
  figures.types[3].updates_share = 0.26; /* there are many of them: the type is no exception */
  expect_cause(&figures, STRESS_BY_CAPACITY);
  figures.types[3].updates_share = 0.1;
  figures.pressure = 1; /* all fits */
  expect_cause(&figures, STRESS_BY_UNKNOWN);
}

Test(stress_cause, of_capacity_is_a_pressure_above_one_or_too_much_that_is_important) {
  stress_figures figures = unimportant();
  figures.pressure = 1.01;
  expect_cause(&figures, STRESS_BY_CAPACITY);
  figures.pressure = 1;
  expect_cause(&figures, STRESS_BY_UNKNOWN);
  figures.important_load = 1.01;
  expect_cause(&figures, STRESS_BY_CAPACITY);
}

/* Agents without a period, as those that are woken, are in neither of the two. */
Test(stress_cause, of_capacity_is_cpu_that_is_used_up_while_work_waits) {
  stress_figures figures = calm();
  figures.wakes_answered = 100;
  expect_cause(&figures, STRESS_BY_UNKNOWN);
  figures.waiting_share = 0.5;
  figures.waiting_used_share = 0.8;
  expect_cause(&figures, STRESS_BY_CAPACITY);
  figures.waiting_share = 0.49;
  expect_cause(&figures, STRESS_BY_UNKNOWN);
  figures.waiting_share = 1;
  figures.waiting_used_share = 0.79;
  expect_cause(&figures, STRESS_BY_UNKNOWN);
  figures.pressure = 2;
  expect_cause(&figures, STRESS_BY_CAPACITY);
  figures.types[2] = (stress_type_figures){.time_share = 0.6, .updates_share = 0.1};
  expect_cause(&figures, STRESS_BY_TYPE);
  figures.serial_per_frame_ns = 5e6;
  expect_cause(&figures, STRESS_BY_SERIAL);
}

Test(stress_cause, of_events_that_do_not_happen_may_be_the_machine) {
  stress_figures figures = calm();
  figures.messages_sent = 100;
  figures.others_share = 0.5;
  expect_cause(&figures, STRESS_BY_MACHINE);
}

Test(stress_cause, is_not_capacity_where_the_promise_is_broken) {
  stress_figures figures = promise_broken();
  figures.pressure = 20;
  figures.types[1] = (stress_type_figures){.time_share = 0.9, .updates_share = 0.1};
  expect_cause(&figures, STRESS_BY_UNKNOWN);
}

Test(stress_cause, of_what_is_refused_is_a_bound_of_the_world_unless_receivers_come_too_late) {
  stress_figures figures = calm();
  figures.messages_dropped = 5;
  expect_cause(&figures, STRESS_BY_BOUND);
  figures.pressure = 3;
  expect_cause(&figures, STRESS_BY_CAPACITY);
  figures = calm();
  figures.spawns_refused = 5;
  figures.pressure = 3; /* spawns do not need capacity for updates */
  expect_cause(&figures, STRESS_BY_BOUND);
}

Test(stress_cause, of_a_noisy_machine_is_what_others_take) {
  stress_figures figures = promise_broken();
  figures.others_share = 0.051;
  expect_cause(&figures, STRESS_BY_MACHINE);
  figures.others_share = 0.05;
  expect_cause(&figures, STRESS_BY_UNKNOWN);
  figures.stolen_share = 0.021;
  expect_cause(&figures, STRESS_BY_MACHINE);
  figures.stolen_share = 0.02;
  expect_cause(&figures, STRESS_BY_UNKNOWN);
  figures.others_share = figures.stolen_share = 0.9;
  figures.noise_known = false;
  expect_cause(&figures, STRESS_BY_UNKNOWN);
}

Test(stress_cause, of_more_workers_than_processors_is_the_machine) {
  stress_figures figures = unimportant();
  figures.processors = 3;
  expect_cause(&figures, STRESS_BY_MACHINE);
  figures.processors = 4;
  expect_cause(&figures, STRESS_BY_UNKNOWN);
}

/* Others are to blame only where nothing of the world's own shows. */
Test(stress_cause, is_named_by_the_order_of_causes) {
  stress_figures figures = unimportant();
  figures.others_share = 0.5;
  figures.pressure = 2;
  expect_cause(&figures, STRESS_BY_CAPACITY);
  figures.types[0] = (stress_type_figures){.time_share = 0.9, .updates_share = 0.1};
  expect_cause(&figures, STRESS_BY_TYPE);
  figures.serial_per_frame_ns = 5e6;
  expect_cause(&figures, STRESS_BY_SERIAL);
  figures.waiting = 1000;
  expect_cause(&figures, STRESS_BY_INTAKE);
  figures.queries_cut = 10000;
  expect_cause(&figures, STRESS_BY_CROWD);
  figures.bytes = 2u << 30;
  expect_cause(&figures, STRESS_BY_MEMORY);
  uint32_t all = 1u << STRESS_BY_MEMORY | 1u << STRESS_BY_CROWD | 1u << STRESS_BY_INTAKE | 1u << STRESS_BY_SERIAL |
                 1u << STRESS_BY_TYPE | 1u << STRESS_BY_CAPACITY | 1u << STRESS_BY_MACHINE;
  cr_expect_eq(judge(&figures).shown, all);
}

Test(stress_cause, is_unknown_rather_than_guessed) {
  stress_figures figures = unimportant();
  expect_cause(&figures, STRESS_BY_UNKNOWN);
  cr_expect_eq(judge(&figures).shown, 0);
  figures = promise_broken();
  expect_cause(&figures, STRESS_BY_UNKNOWN);
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

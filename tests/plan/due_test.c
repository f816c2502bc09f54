/* Looks at waiting agents against a plain list of due times: whatever rates do, an agent is due in the first frame in
 * which its class's clock has come to its time. */
#include "plan/due.h"

#include "base/random.h"
#include "plan/costs.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

enum { AGENTS = 500 };

struct fixture {
  struct arena arena;
  agent_store store;
  class_table classes;
  muster_type_def type;
  uint32_t seen[AGENTS], due[AGENTS], looks;
};

static struct fixture *create_with(uint64_t period_ns, uint64_t longest_ns, uint32_t shards) {
  struct fixture *fixture = calloc(1, sizeof *fixture);
  muster_allocator allocator = {0};
  arena_create(&fixture->arena, &allocator);
  store_create(&fixture->store, AGENTS, &fixture->arena);
  for (uint32_t i = 0; i < AGENTS; i++) store_activate(&fixture->store, i);
  classes_create(&fixture->classes, 2, AGENTS, shards, &fixture->arena);
  fixture->type = muster_type_def_default();
  fixture->type.period_ns = period_ns;
  fixture->type.period_max_ns = longest_ns;
  return fixture;
}

static struct fixture *create(uint64_t period_ns, uint64_t longest_ns) {
  return create_with(period_ns, longest_ns, 1);
}

static void destroy(struct fixture *fixture) {
  arena_destroy(&fixture->arena);
  free(fixture);
}

/* A class with a member. */
static agent_class *class_of(struct fixture *fixture, uint32_t step) {
  agent_class *class = classes_get(&fixture->classes, &fixture->type, 0, 0, step);
  if (class->members == 0) classes_join(&fixture->classes, class, &(agent_row){0});
  return class;
}

/* Time goes on for all classes with members; returns how many agents are due. */
static uint32_t advance(struct fixture *fixture, uint64_t elapsed_ns) {
  class_table *classes = &fixture->classes;
  struct looks *looks = &classes->looks;
  uint32_t due = 0;
  due_advance_bands(classes, elapsed_ns);
  for (uint32_t i = 0; i < classes->active_count; i++)
    due_advance(classes, &classes->classes[classes->active[i]], elapsed_ns);
  looks_pass(looks);
  due_sweep(classes, &fixture->store, UINT64_MAX, fixture->seen);
  uint32_t count = looks_take(looks, 0, looks->map.count, fixture->seen);
  fixture->looks += count;
  for (uint32_t i = 0; i < count; i++)
    if (due_has_come(classes, &fixture->store, fixture->seen[i], UINT64_MAX)) fixture->due[due++] = fixture->seen[i];
  looks->vain += count - due;
  return due;
}

static void schedule(struct fixture *fixture, const agent_class *class, uint32_t agent, uint64_t due_ns) {
  fixture->store.rows[agent].virtual_due_ns = due_ns;
  fixture->store.rows[agent].class = class->number;
  due_insert(&fixture->classes, class, &fixture->store, agent);
}

/* Schedules an agent again after an update. */
static void schedule_next(struct fixture *fixture, const agent_class *class, uint32_t agent) {
  due_set_next(class, &fixture->store.rows[agent]);
  due_insert(&fixture->classes, class, &fixture->store, agent);
}

/* An agent that is due does not wait any more. */
static void take_out(struct fixture *fixture, uint32_t agent) {
  fixture->store.rows[agent].status = AGENT_READY;
  fixture->store.rows[agent].scheduled = 0;
}

Test(due, releases_exactly_those_whose_time_has_come_at_every_step) {
  struct fixture *fixture = create(100000000, 1000000000);
  agent_class *class = class_of(fixture, 5);
  uint64_t due[AGENTS], now = 0;
  for (uint32_t i = 0; i < AGENTS; i++) schedule(fixture, class, i, due[i] = random_at(1, i, 0, 0) % 200000000u);
  for (uint32_t step = 0; now < 250000000; step++) {
    uint64_t elapsed = random_at(2, step, 0, 0) % 20000000u;
    uint32_t count = advance(fixture, elapsed), expected = 0;
    for (uint32_t i = 0; i < AGENTS; i++) expected += due[i] <= now + elapsed && (due[i] > now || step == 0);
    now += elapsed;
    cr_assert_eq(count, expected, "step %u: %u due, expected %u", step, count, expected);
    for (uint32_t i = 0; i < count; i++) {
      cr_assert_leq(due[fixture->due[i]], now);
      take_out(fixture, fixture->due[i]);
    }
  }
  destroy(fixture);
}

Test(due, keeps_phase_over_ten_thousand_periods_of_an_odd_length_against_the_frame) {
  struct fixture *fixture = create(33333333, 33333333);
  agent_class *class = class_of(fixture, 5);
  uint64_t now = 0, runs = 0;
  schedule(fixture, class, 0, 1000);
  while (runs < 10000) {
    now += 16666667;
    uint32_t count = advance(fixture, 16666667);
    runs += count;
    if (count) schedule_next(fixture, class, 0);
  }
  cr_assert_eq(fixture->store.rows[0].virtual_due_ns, 1000 + 10000 * 33333333ull);
  cr_assert_leq(now, 1000 + 9999 * 33333333ull + 16666667);
  destroy(fixture);
}

Test(due, skips_missed_periods_but_keeps_the_phase) {
  struct fixture *fixture = create(10000000, 10000000);
  agent_class *class = class_of(fixture, 5);
  schedule(fixture, class, 0, 3000000);
  cr_assert_eq(advance(fixture, 95000000), 1);
  schedule_next(fixture, class, 0);
  cr_assert_eq(fixture->store.rows[0].virtual_due_ns, 103000000);
  destroy(fixture);
}

/* Its turn came a little more than a period late, as turns do in a standing queue: it is due at once, not a period
 * later.
 */
Test(due, a_due_time_that_was_missed_by_less_than_a_period_counts) {
  struct fixture *fixture = create(10000000, 10000000);
  agent_class *class = class_of(fixture, 5);
  schedule(fixture, class, 0, 3000000);
  cr_assert_eq(advance(fixture, 15000000), 1);
  schedule_next(fixture, class, 0);
  cr_assert_eq(fixture->store.rows[0].virtual_due_ns, 13000000);
  cr_assert_eq(advance(fixture, 1), 1);
  schedule_next(fixture, class, 0);
  cr_assert_eq(fixture->store.rows[0].virtual_due_ns, 23000000);
  destroy(fixture);
}

Test(due, runs_slower_at_a_lower_rate_and_retimes_those_that_wait) {
  struct fixture *fixture = create(100000000, 1000000000);
  agent_class *class = class_of(fixture, 5);
  schedule(fixture, class, 0, 100000000);
  advance(fixture, 50000000);
  classes_set_rate(class, 0.25); /* half the period is left: at a quarter of the rate it takes 200 ms */
  uint64_t waited = 0;
  while (!advance(fixture, 1000000)) waited += 1000000;
  cr_assert_eq(waited, 199000000);
  destroy(fixture);
}

Test(due, moves_an_agent_between_classes_with_what_remains_of_its_period) {
  struct fixture *fixture = create(100000000, 1000000000);
  agent_class *to = class_of(fixture, 9);
  advance(fixture, 777000000);
  agent_class *from = class_of(fixture, 5);
  schedule(fixture, from, 0, 100000000);
  advance(fixture, 40000000);
  due_transfer(&fixture->classes, from, to, &fixture->store, 0);
  fixture->store.rows[0].class = to->number;
  cr_assert_eq(fixture->store.rows[0].virtual_due_ns, 817000000 + 60000000);
  cr_assert_eq(advance(fixture, 59000000), 0);
  cr_assert_eq(advance(fixture, 1000000), 1);
  destroy(fixture);
}

Test(due, an_agent_that_has_left_is_passed_over_and_may_come_back) {
  struct fixture *fixture = create(100000000, 1000000000);
  agent_class *class = class_of(fixture, 5);
  for (uint32_t i = 0; i < 9; i++) schedule(fixture, class, i, 50000000);
  for (uint32_t i = 0; i < 9; i += 2) due_remove(&fixture->store, i);
  schedule(fixture, class, 4, 80000000);
  cr_assert_eq(advance(fixture, 60000000), 4);
  for (uint32_t i = 0; i < 4; i++) cr_assert_eq(fixture->due[i] % 2, 1);
  due_forget(&fixture->classes, 4);
  store_deactivate(&fixture->store, 4);
  cr_assert_eq(advance(fixture, 60000000), 0, "its row may be another's");
  destroy(fixture);
}

/* ------------------------------------------------------------------------------------------------- rates and shards */

/* A frame's rates: up and down together, or each by itself; or leaping. */
static double rate_in(uint32_t how, uint32_t class, uint32_t frame) {
  double swing = 0.5 + 0.45 * sin(frame / 7.0);
  if (how == 0) return swing / (1.0 + class);
  if (how == 1) return 0.02 + 0.98 * (double)(random_at(8, class, frame / 9, 0) % 1000) / 1000.0;
  return (frame / 40 + class) % 2 ? 1.0 : ldexp(1.0, -(int)(1 + random_at(9, class, frame / 40, 0) % 19));
}

/* Agents of many classes run for a while, and in each frame exactly those are due whose clocks say so. */
static void expect_exact(uint32_t how, uint32_t shards, uint64_t frame_ns) {
  enum { CLASSES = 6, FRAMES = 1500 };
  struct fixture *fixture = create_with(70000000, 10000000000u, shards);
  agent_class *classes[CLASSES];
  uint64_t seed = how * 3 + shards;
  for (uint32_t i = 0; i < CLASSES; i++) classes[i] = class_of(fixture, 3 * i);
  for (uint32_t i = 0; i < AGENTS; i++)
    schedule(fixture, classes[i % CLASSES], i, random_at(seed, i, 1, 0) % 70000000u);
  for (uint32_t frame = 0; frame < FRAMES; frame++) {
    uint8_t is_due[AGENTS] = {0};
    for (uint32_t i = 0; i < CLASSES; i++) classes_set_rate(classes[i], rate_in(how, i, frame));
    uint64_t pause_ns = frame % 400 == 399 ? 30000000000u : 0, more_ns = random_at(seed, frame, 2, 0) % frame_ns;
    uint32_t count = advance(fixture, pause_ns + frame_ns + more_ns);
    for (uint32_t i = 0; i < count; i++) is_due[fixture->due[i]]++;
    for (uint32_t i = 0; i < AGENTS; i++) {
      agent_row *row = &fixture->store.rows[i];
      agent_class *class = &fixture->classes.classes[row->class];
      cr_assert_eq(is_due[i], row->virtual_due_ns <= class->clock_ns, "frame %u, agent %u, %u times", frame, i,
                   is_due[i]);
      if (is_due[i]) schedule_next(fixture, class, i);
      if (random_at(seed, frame, i, 3) % 50 > 0) continue;
      agent_class *other = classes[random_at(seed, frame, i, 4) % CLASSES];
      due_transfer(&fixture->classes, class, other, &fixture->store, i);
      row->class = other->number;
    }
  }
  destroy(fixture);
}

Test(due, no_look_is_late_while_all_rates_swing_together) {
  expect_exact(0, 1, 5000000);
  expect_exact(0, 4, 33000000);
}

Test(due, no_look_is_late_while_each_rate_changes_by_itself) {
  expect_exact(1, 1, 5000000);
  expect_exact(1, 2, 33000000);
}

Test(due, no_look_is_late_while_rates_leap_up_and_down) {
  expect_exact(2, 1, 1000000);
  expect_exact(2, 8, 33000000);
}

/* When all periods are stretched by what another frame's budget asks for, each agent is looked at about once for each
 * update. */
Test(due, agents_are_looked_at_once_where_rates_change_together) {
  struct fixture *fixture = create(200000000, 10000000000u);
  agent_class *classes[2] = {class_of(fixture, 5), class_of(fixture, 50)};
  uint32_t runs = 0;
  for (uint32_t i = 0; i < AGENTS; i++) schedule(fixture, classes[i % 2], i, random_at(11, i, 0, 0) % 200000000u);
  for (uint32_t frame = 0; frame < 3000; frame++) {
    double swing = 0.3 + 0.15 * sin(frame / 11.0);
    classes_set_rate(classes[0], swing);
    classes_set_rate(classes[1], swing / 3.0);
    uint32_t count = advance(fixture, 33000000);
    runs += count;
    for (uint32_t i = 0; i < count; i++)
      schedule_next(fixture, &fixture->classes.classes[fixture->store.rows[fixture->due[i]].class], fixture->due[i]);
  }
  cr_assert_gt(runs, 30000);
  cr_assert_lt(fixture->looks, runs + runs / 3, "%u looks for %u updates", fixture->looks, runs);
  destroy(fixture);
}

/* As many agents come in, rates fall by a hundred, those of some classes no further than their longest period. That
 * some members were put in when the others' rates were much higher does not make the others be looked at early for
 * long. */
Test(due, agents_are_looked_at_seldom_while_rates_fall_and_after) {
  enum { CLASSES = 24, FALLING = 450, FRAMES = 1500 };
  struct fixture *fixture = create(100000000, 60000000000u);
  agent_class *classes[CLASSES];
  uint32_t runs = 0;
  for (uint32_t i = 0; i < CLASSES; i++) classes[i] = class_of(fixture, 3 * i);
  for (uint32_t i = 0; i < AGENTS; i++) schedule(fixture, classes[i % CLASSES], i, random_at(12, i, 0, 0) % 100000000u);
  for (uint32_t frame = 0; frame < FRAMES; frame++) {
    double fallen = exp(-5.0 * (frame < FALLING ? frame : FALLING) / FALLING);
    for (uint32_t i = 0; i < CLASSES; i++) classes_set_rate(classes[i], fmax(fallen / (1.0 + i), 0.005));
    uint32_t count = advance(fixture, 33000000);
    runs += count;
    for (uint32_t i = 0; i < count; i++)
      schedule_next(fixture, &fixture->classes.classes[fixture->store.rows[fixture->due[i]].class], fixture->due[i]);
  }
  cr_assert_lt(fixture->looks, 2 * runs, "%u looks for %u updates", fixture->looks, runs);
  destroy(fixture);
}

Test(due, a_frozen_type_is_not_due_until_it_is_thawed_and_then_at_once) {
  struct fixture *fixture = create(100000000, 1000000000);
  agent_class *class = class_of(fixture, 5);
  for (uint32_t i = 0; i < AGENTS; i++) schedule(fixture, class, i, 40000000 + i);
  cr_assert_eq(advance(fixture, 30000000), 0);
  classes_freeze(&fixture->classes, 0, true);
  for (uint32_t i = 0; i < 1000; i++) cr_assert_eq(advance(fixture, 33000000), 0);
  classes_freeze(&fixture->classes, 0, false);
  due_thaw(&fixture->classes, &fixture->store, 0);
  cr_assert_eq(advance(fixture, 10000000), 1);
  cr_assert_eq(advance(fixture, AGENTS), AGENTS - 1, "all but that one");
  destroy(fixture);
}

/* Periods of a day: an agent is looked at now and then until its time comes, not all of them at once. */
Test(due, agents_that_wait_for_a_day_are_looked_at_seldom_and_in_turn) {
  const uint64_t day_ns = 86400000000000u, frame_ns = 1000000000;
  struct fixture *fixture = create(day_ns, day_ns);
  agent_class *class = class_of(fixture, 5);
  uint32_t most = 0, total = 0;
  for (uint32_t i = 0; i < AGENTS; i++) schedule(fixture, class, i, day_ns - i * 1000);
  for (uint64_t now = 0; now < day_ns - 3 * frame_ns; now += frame_ns) {
    uint32_t before = fixture->looks;
    cr_assert_eq(advance(fixture, frame_ns), 0);
    total += fixture->looks - before;
    if (now < day_ns / 2 && fixture->looks - before > most) most = fixture->looks - before;
  }
  cr_assert_lt(total, 60 * AGENTS);
  cr_assert_lt(most, AGENTS / 10);
  cr_assert_eq(advance(fixture, 3 * frame_ns), AGENTS);
  destroy(fixture);
}

/* --------------------------------------------------------------------------------------------------------- classes */

Test(due, round_elasticity_to_an_eighth_of_an_octave_and_keep_zero) {
  cr_assert_eq(elasticity_step_of(0.0f), 0);
  cr_assert_eq(elasticity_step_of(1.0f), ELASTICITY_STEP_OF_ONE);
  cr_assert_eq(elasticity_of_step(ELASTICITY_STEP_OF_ONE), 1.0);
  cr_assert_eq(elasticity_of_step(0), 0.0);
  for (float elasticity = 0.001f; elasticity < 1024.0f; elasticity *= 1.37f) {
    double rounded = elasticity_of_step(elasticity_step_of(elasticity));
    cr_assert(fabs(log2(rounded / (double)elasticity)) <= 1.0 / 16.0 + 1e-6, "%g became %g", (double)elasticity,
              rounded);
  }
}

Test(due, list_exactly_those_that_have_members) {
  struct fixture *fixture = create(100000000, 1000000000);
  agent_class *a = class_of(fixture, 1), *b = class_of(fixture, 2), *c = class_of(fixture, 3);
  cr_assert_eq(class_of(fixture, 2), b);
  classes_join(&fixture->classes, a, &(agent_row){0});
  classes_leave(&fixture->classes, b, &(agent_row){0});
  classes_leave(&fixture->classes, a, &(agent_row){0});
  cr_assert_eq(fixture->classes.active_count, 2);
  cr_assert_eq(a->members, 1);
  classes_leave(&fixture->classes, a, &(agent_row){0});
  cr_assert_eq(fixture->classes.active_count, 1);
  cr_assert_eq(fixture->classes.active[0], c->number);
  destroy(fixture);
}

/* Looks at waiting agents against a plain list of due times: whatever rates do, an agent is due in the first frame in
 * which its class's clock has come to its time. */
#include "plan/costs.h"
#include "plan/due.h"
#include "plan/planning.h"

enum { AGENTS = 500 };

static struct arena arena;
static agent_store store;
static class_table classes;
static muster_type_def type;
static uint32_t seen[AGENTS], due[AGENTS], looked;

static void end(void) {
  arena_destroy(&arena);
}

TestSuite(due, .fini = end);

static void begin_with(uint64_t period_ns, uint64_t longest_ns, uint32_t shards) {
  end();
  arena = begin_arena();
  store = (agent_store){0};
  classes = (class_table){0};
  store_create(&store, AGENTS, &arena);
  for (uint32_t i = 0; i < AGENTS; i++) store_activate(&store, i);
  classes_create(&classes, 2, AGENTS, shards, &arena);
  type = WITH(muster_type_def, it.period_ns = period_ns, it.period_max_ns = longest_ns);
}

static void begin(uint64_t period_ns, uint64_t longest_ns) {
  begin_with(period_ns, longest_ns, 1);
}

/* A class with a member. */
static agent_class *class_of(uint32_t step) {
  agent_class *class = classes_get(&classes, &type, 0, 0, step);
  if (class->members == 0) classes_join(&classes, class, &(agent_row){0});
  return class;
}

/* The only class. */
static agent_class *begin_class(uint64_t period_ns, uint64_t longest_ns) {
  begin(period_ns, longest_ns);
  return class_of(5);
}

/* Time goes on for all classes with members; returns how many agents are due. */
static uint32_t advance(uint64_t elapsed_ns) {
  struct looks *looks = &classes.looks;
  uint32_t due_count = 0;
  due_advance_bands(&classes, elapsed_ns);
  for (uint32_t i = 0; i < classes.active_count; i++)
    due_advance(&classes, &classes.classes[classes.active[i]], elapsed_ns);
  looks_pass(looks);
  due_sweep(&classes, &store, UINT64_MAX, seen);
  uint32_t count = looks_take(looks, 0, looks->map.count, seen);
  looked += count;
  for (uint32_t i = 0; i < count; i++)
    if (due_has_come(&classes, &store, seen[i], UINT64_MAX)) due[due_count++] = seen[i];
  looks->vain += count - due_count;
  return due_count;
}

static void schedule(const agent_class *class, uint32_t agent, uint64_t due_ns) {
  store.rows[agent].virtual_due_ns = due_ns;
  store.rows[agent].class = class->number;
  due_insert(&classes, class, &store, agent);
}

/* Schedules an agent again after an update. */
static void schedule_next(uint32_t agent) {
  agent_row *row = &store.rows[agent];
  const agent_class *class = &classes.classes[row->class];
  due_set_next(class, row);
  due_insert(&classes, class, &store, agent);
}

/* A frame in which those who are due run; returns how many. */
static uint32_t run_frame(uint64_t elapsed_ns) {
  uint32_t count = advance(elapsed_ns);
  for (uint32_t i = 0; i < count; i++) schedule_next(due[i]);
  return count;
}

Test(due, releases_exactly_those_whose_time_has_come_at_every_step) {
  agent_class *class = begin_class(100000000, 1000000000);
  uint64_t due_ns[AGENTS], now = 0;
  for (uint32_t i = 0; i < AGENTS; i++) schedule(class, i, due_ns[i] = random_at(1, i, 0, 0) % 200000000u);
  for (uint32_t step = 0; now < 250000000; step++) {
    uint64_t elapsed = random_at(2, step, 0, 0) % 20000000u;
    uint32_t count = advance(elapsed), expected = 0;
    for (uint32_t i = 0; i < AGENTS; i++) expected += due_ns[i] <= now + elapsed && (due_ns[i] > now || step == 0);
    now += elapsed;
    cr_assert_eq(count, expected, "step %u: %u due, expected %u", step, count, expected);
    for (uint32_t i = 0; i < count; i++) {
      cr_assert_leq(due_ns[due[i]], now);
      store.rows[due[i]].status = AGENT_READY; /* it does not wait any more */
      store.rows[due[i]].scheduled = 0;
    }
  }
}

Test(due, keeps_phase_over_ten_thousand_periods_of_an_odd_length_against_the_frame) {
  agent_class *class = begin_class(33333333, 33333333);
  uint64_t now = 0, runs = 0;
  schedule(class, 0, 1000);
  while (runs < 10000) {
    now += 16666667;
    runs += run_frame(16666667);
  }
  cr_assert_eq(store.rows[0].virtual_due_ns, 1000 + 10000 * 33333333ull);
  cr_assert_leq(now, 1000 + 9999 * 33333333ull + 16666667);
}

Test(due, skips_missed_periods_but_keeps_the_phase) {
  schedule(begin_class(10000000, 10000000), 0, 3000000);
  cr_assert_eq(run_frame(95000000), 1);
  cr_assert_eq(store.rows[0].virtual_due_ns, 103000000);
}

/* Its turn came a little more than a period late, as turns do in a standing queue: it is due at once, not a period
 * later.
 */
Test(due, a_due_time_that_was_missed_by_less_than_a_period_counts) {
  schedule(begin_class(10000000, 10000000), 0, 3000000);
  cr_assert_eq(run_frame(15000000), 1);
  cr_assert_eq(store.rows[0].virtual_due_ns, 13000000);
  cr_assert_eq(run_frame(1), 1);
  cr_assert_eq(store.rows[0].virtual_due_ns, 23000000);
}

Test(due, runs_slower_at_a_lower_rate_and_retimes_those_that_wait) {
  agent_class *class = begin_class(100000000, 1000000000);
  schedule(class, 0, 100000000);
  advance(50000000);
  classes_set_rate(class, 0.25); /* half the period is left: at a quarter of the rate it takes 200 ms */
  uint64_t waited = 0;
  while (!advance(1000000)) waited += 1000000;
  cr_assert_eq(waited, 199000000);
}

Test(due, moves_an_agent_between_classes_with_what_remains_of_its_period) {
  begin(100000000, 1000000000);
  agent_class *to = class_of(9);
  advance(777000000);
  agent_class *from = class_of(5);
  schedule(from, 0, 100000000);
  advance(40000000);
  due_transfer(&classes, from, to, &store, 0);
  store.rows[0].class = to->number;
  cr_assert_eq(store.rows[0].virtual_due_ns, 817000000 + 60000000);
  cr_assert_eq(advance(59000000), 0);
  cr_assert_eq(advance(1000000), 1);
}

Test(due, an_agent_that_has_left_is_passed_over_and_may_come_back) {
  agent_class *class = begin_class(100000000, 1000000000);
  for (uint32_t i = 0; i < 9; i++) schedule(class, i, 50000000);
  for (uint32_t i = 0; i < 9; i += 2) due_remove(&store, i);
  schedule(class, 4, 80000000);
  cr_assert_eq(advance(60000000), 4);
  for (uint32_t i = 0; i < 4; i++) cr_assert_eq(due[i] % 2, 1);
  due_forget(&classes, 4);
  store_deactivate(&store, 4);
  cr_assert_eq(advance(60000000), 0, "its row may be another's");
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
  begin_with(70000000, 10000000000u, shards);
  agent_class *kinds[CLASSES];
  uint64_t seed = how * 3 + shards;
  for (uint32_t i = 0; i < CLASSES; i++) kinds[i] = class_of(3 * i);
  for (uint32_t i = 0; i < AGENTS; i++) schedule(kinds[i % CLASSES], i, random_at(seed, i, 1, 0) % 70000000u);
  for (uint32_t frame = 0; frame < FRAMES; frame++) {
    uint8_t is_due[AGENTS] = {0};
    for (uint32_t i = 0; i < CLASSES; i++) classes_set_rate(kinds[i], rate_in(how, i, frame));
    uint64_t pause_ns = frame % 400 == 399 ? 30000000000u : 0, more_ns = random_at(seed, frame, 2, 0) % frame_ns;
    uint32_t count = advance(pause_ns + frame_ns + more_ns);
    for (uint32_t i = 0; i < count; i++) is_due[due[i]]++;
    for (uint32_t i = 0; i < AGENTS; i++) {
      agent_row *row = &store.rows[i];
      agent_class *class = &classes.classes[row->class];
      cr_assert_eq(is_due[i], row->virtual_due_ns <= class->clock_ns, "frame %u, agent %u, %u times", frame, i,
                   is_due[i]);
      if (is_due[i]) schedule_next(i);
      if (random_at(seed, frame, i, 3) % 50 > 0) continue;
      agent_class *other = kinds[random_at(seed, frame, i, 4) % CLASSES];
      due_transfer(&classes, class, other, &store, i);
      row->class = other->number;
    }
  }
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
  begin(200000000, 10000000000u);
  agent_class *kinds[2] = {class_of(5), class_of(50)};
  uint32_t runs = 0;
  for (uint32_t i = 0; i < AGENTS; i++) schedule(kinds[i % 2], i, random_at(11, i, 0, 0) % 200000000u);
  for (uint32_t frame = 0; frame < 3000; frame++) {
    double swing = 0.3 + 0.15 * sin(frame / 11.0);
    classes_set_rate(kinds[0], swing);
    classes_set_rate(kinds[1], swing / 3.0);
    runs += run_frame(33000000);
  }
  cr_assert_gt(runs, 30000);
  cr_assert_lt(looked, runs + runs / 3, "%u looks for %u updates", looked, runs);
}

/* As many agents come in, rates fall by a hundred, those of some classes no further than their longest period. That
 * some members were put in when the others' rates were much higher does not make the others be looked at early for
 * long. */
Test(due, agents_are_looked_at_seldom_while_rates_fall_and_after) {
  enum { CLASSES = 24, FALLING = 450, FRAMES = 1500 };
  begin(100000000, 60000000000u);
  agent_class *kinds[CLASSES];
  uint32_t runs = 0;
  for (uint32_t i = 0; i < CLASSES; i++) kinds[i] = class_of(3 * i);
  for (uint32_t i = 0; i < AGENTS; i++) schedule(kinds[i % CLASSES], i, random_at(12, i, 0, 0) % 100000000u);
  for (uint32_t frame = 0; frame < FRAMES; frame++) {
    double fallen = exp(-5.0 * (frame < FALLING ? frame : FALLING) / FALLING);
    for (uint32_t i = 0; i < CLASSES; i++) classes_set_rate(kinds[i], fmax(fallen / (1.0 + i), 0.005));
    runs += run_frame(33000000);
  }
  cr_assert_lt(looked, 2 * runs, "%u looks for %u updates", looked, runs);
}

Test(due, a_frozen_type_is_not_due_until_it_is_thawed_and_then_at_once) {
  agent_class *class = begin_class(100000000, 1000000000);
  for (uint32_t i = 0; i < AGENTS; i++) schedule(class, i, 40000000 + i);
  cr_assert_eq(advance(30000000), 0);
  classes_freeze(&classes, 0, true);
  for (uint32_t i = 0; i < 1000; i++) cr_assert_eq(advance(33000000), 0);
  classes_freeze(&classes, 0, false);
  due_thaw(&classes, &store, 0);
  cr_assert_eq(advance(10000000), 1);
  cr_assert_eq(advance(AGENTS), AGENTS - 1, "all but that one");
}

/* Periods of a day: an agent is looked at now and then until its time comes, not all of them at once. */
Test(due, agents_that_wait_for_a_day_are_looked_at_seldom_and_in_turn) {
  const uint64_t day_ns = 86400000000000u, frame_ns = 1000000000;
  agent_class *class = begin_class(day_ns, day_ns);
  uint32_t most = 0, total = 0;
  for (uint32_t i = 0; i < AGENTS; i++) schedule(class, i, day_ns - i * 1000);
  for (uint64_t now = 0; now < day_ns - 3 * frame_ns; now += frame_ns) {
    uint32_t before = looked;
    cr_assert_eq(advance(frame_ns), 0);
    total += looked - before;
    if (now < day_ns / 2 && looked - before > most) most = looked - before;
  }
  cr_assert_lt(total, 60 * AGENTS);
  cr_assert_lt(most, AGENTS / 10);
  cr_assert_eq(advance(3 * frame_ns), AGENTS);
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
  begin(100000000, 1000000000);
  agent_class *a = class_of(1), *b = class_of(2), *c = class_of(3);
  cr_assert_eq(class_of(2), b);
  classes_join(&classes, a, &(agent_row){0});
  classes_leave(&classes, b, &(agent_row){0});
  classes_leave(&classes, a, &(agent_row){0});
  cr_assert_eq(classes.active_count, 2);
  cr_assert_eq(a->members, 1);
  classes_leave(&classes, a, &(agent_row){0});
  cr_assert_eq(classes.active_count, 1);
  cr_assert_eq(classes.active[0], c->number);
}

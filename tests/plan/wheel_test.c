/* The class wheel against a plain list of due times. */
#include "plan/wheel.h"

#include "base/random.h"
#include "plan/costs.h"
#include "plan/grade.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

enum { AGENTS = 500 };

/* Hangs an agent in again after an update. */
static void wheel_insert_next(class_table *classes, agent_class *class, uint32_t shard, agent_store *store,
                              uint32_t index) {
  wheel_set_next(class, &store->rows[index]);
  wheel_insert(classes, class, shard, store, index);
}

struct fixture {
  struct arena arena;
  agent_store store;
  class_table classes;
  muster_type_def type;
  uint32_t due[AGENTS + LIST_BLOCK_AGENTS];
};

static struct fixture *create(uint64_t period_ns, uint64_t longest_ns) {
  struct fixture *fixture = calloc(1, sizeof *fixture);
  muster_allocator allocator = {0};
  arena_create(&fixture->arena, &allocator);
  store_create(&fixture->store, AGENTS, &fixture->arena);
  classes_create(&fixture->classes, 2, AGENTS, &fixture->arena);
  fixture->type = muster_default_type_def();
  fixture->type.period_ns = period_ns;
  fixture->type.period_max_ns = longest_ns;
  return fixture;
}

static void destroy(struct fixture *fixture) {
  arena_destroy(&fixture->arena);
  free(fixture);
}

/* Takes the agents that hang in slots that the clock has reached. */
static uint32_t take_reached(struct fixture *fixture, agent_class *class, uint32_t capacity) {
  uint32_t count = wheel_empty_passed(&fixture->classes, class, fixture->due, capacity);
  if (count < capacity) count += wheel_empty_current(&fixture->classes, class, fixture->due + count, capacity - count);
  return count;
}

/* Both halves of a release, for one class. */
static uint32_t advance(struct fixture *fixture, agent_class *class, uint64_t elapsed_ns) {
  wheel_advance(class, elapsed_ns);
  uint32_t count = take_reached(fixture, class, AGENTS);
  uint32_t due = 0;
  for (uint32_t i = 0; i < count; i++)
    if (!wheel_keeps(&fixture->classes, &fixture->store, fixture->due[i])) fixture->due[due++] = fixture->due[i];
  return due;
}

static agent_class *class_of(struct fixture *fixture, uint32_t step) {
  return classes_get(&fixture->classes, &fixture->type, 0, 0, step);
}

Test(wheel, releases_exactly_those_whose_time_has_come_at_every_step) {
  struct fixture *fixture = create(100000000, 1000000000);
  agent_class *class = class_of(fixture, 5);
  uint64_t due[AGENTS];
  for (uint32_t i = 0; i < AGENTS; i++) {
    due[i] = fixture->store.rows[i].virtual_due_ns = random_at(1, i, 0, 0) % 200000000u;
    fixture->store.rows[i].class = class->number;
    wheel_insert(&fixture->classes, class, 0, &fixture->store, i);
  }
  uint64_t now = 0;
  for (uint32_t step = 0; now < 250000000; step++) {
    uint64_t elapsed = random_at(2, step, 0, 0) % 20000000u;
    uint32_t count = advance(fixture, class, elapsed), expected = 0;
    for (uint32_t i = 0; i < AGENTS; i++)
      expected += due[i] <= now + elapsed && (due[i] > now || (now == 0 && step == 0));
    now += elapsed;
    cr_assert_eq(count, expected, "step %u: %u due, expected %u", step, count, expected);
    for (uint32_t i = 0; i < count; i++) cr_assert_leq(due[fixture->due[i]], now);
  }
  destroy(fixture);
}

Test(wheel, keeps_phase_over_ten_thousand_periods_of_an_odd_length_against_the_frame) {
  struct fixture *fixture = create(33333333, 33333333);
  agent_class *class = class_of(fixture, 5);
  fixture->store.rows[0].virtual_due_ns = 1000;
  wheel_insert(&fixture->classes, class, 0, &fixture->store, 0);
  uint64_t now = 0, runs = 0;
  while (runs < 10000) {
    now += 16666667;
    uint32_t count = advance(fixture, class, 16666667);
    runs += count;
    if (count) wheel_insert_next(&fixture->classes, class, 0, &fixture->store, 0);
  }
  cr_assert_eq(fixture->store.rows[0].virtual_due_ns, 1000 + 10000 * 33333333ull);
  cr_assert_leq(now, 1000 + 9999 * 33333333ull + 16666667);
  destroy(fixture);
}

Test(wheel, skips_missed_periods_but_keeps_the_phase) {
  struct fixture *fixture = create(10000000, 10000000);
  agent_class *class = class_of(fixture, 5);
  fixture->store.rows[0].virtual_due_ns = 3000000;
  wheel_insert(&fixture->classes, class, 0, &fixture->store, 0);
  cr_assert_eq(advance(fixture, class, 95000000), 1);
  wheel_insert_next(&fixture->classes, class, 0, &fixture->store, 0);
  cr_assert_eq(fixture->store.rows[0].virtual_due_ns, 103000000);
  destroy(fixture);
}

/* Its turn came a little more than a period late, as turns do in a standing queue: it is due at once, not a period
 * later.
 */
Test(wheel, a_due_time_that_was_missed_by_less_than_a_period_counts) {
  struct fixture *fixture = create(10000000, 10000000);
  agent_class *class = class_of(fixture, 5);
  fixture->store.rows[0].virtual_due_ns = 3000000;
  wheel_insert(&fixture->classes, class, 0, &fixture->store, 0);
  cr_assert_eq(advance(fixture, class, 15000000), 1);
  wheel_insert_next(&fixture->classes, class, 0, &fixture->store, 0);
  cr_assert_eq(fixture->store.rows[0].virtual_due_ns, 13000000);
  cr_assert_eq(advance(fixture, class, 1), 1);
  wheel_insert_next(&fixture->classes, class, 0, &fixture->store, 0);
  cr_assert_eq(fixture->store.rows[0].virtual_due_ns, 23000000);
  destroy(fixture);
}

Test(wheel, runs_slower_at_a_lower_rate_and_retimes_those_that_wait) {
  struct fixture *fixture = create(100000000, 1000000000);
  agent_class *class = class_of(fixture, 5);
  fixture->store.rows[0].virtual_due_ns = 100000000;
  wheel_insert(&fixture->classes, class, 0, &fixture->store, 0);
  advance(fixture, class, 50000000);
  class->rate = 0.25; /* half the period is left: at a quarter of the rate it takes 200 ms */
  uint64_t waited = 0;
  while (!advance(fixture, class, 1000000)) waited += 1000000;
  cr_assert_eq(waited, 199000000);
  destroy(fixture);
}

Test(wheel, moves_an_agent_between_classes_with_what_remains_of_its_period) {
  struct fixture *fixture = create(100000000, 1000000000);
  agent_class *from = class_of(fixture, 5), *to = class_of(fixture, 9);
  advance(fixture, to, 777000000);
  fixture->store.rows[0].virtual_due_ns = 100000000;
  wheel_insert(&fixture->classes, from, 0, &fixture->store, 0);
  advance(fixture, from, 40000000);
  wheel_transfer(&fixture->classes, from, to, &fixture->store, 0);
  fixture->store.rows[0].class = to->number;
  cr_assert_eq(fixture->store.rows[0].virtual_due_ns, 777000000 + 60000000);
  cr_assert_eq(advance(fixture, from, 200000000), 0);
  cr_assert_eq(advance(fixture, to, 59000000), 0);
  cr_assert_eq(advance(fixture, to, 1000000), 1);
  destroy(fixture);
}

Test(wheel, removes_from_anywhere_in_a_slot) {
  struct fixture *fixture = create(100000000, 1000000000);
  agent_class *class = class_of(fixture, 5);
  for (uint32_t i = 0; i < 9; i++) {
    fixture->store.rows[i].virtual_due_ns = 50000000;
    fixture->store.rows[i].class = class->number;
    wheel_insert(&fixture->classes, class, 0, &fixture->store, i);
  }
  for (uint32_t i = 0; i < 9; i += 2) wheel_remove(&fixture->classes, class, &fixture->store, i);
  cr_assert_eq(advance(fixture, class, 60000000), 4);
  for (uint32_t i = 0; i < 4; i++) cr_assert_eq(fixture->due[i] % 2, 1);
  destroy(fixture);
}

/* ------------------------------------------------------------------------------------------------ shards, capacity */

static void hang(struct fixture *fixture, agent_class *class, uint32_t shard, uint32_t agent, uint64_t due_ns) {
  fixture->store.rows[agent].virtual_due_ns = due_ns;
  fixture->store.rows[agent].class = class->number;
  wheel_insert(&fixture->classes, class, shard, &fixture->store, agent);
}

static void expect_empty(const agent_class *class) {
  for (uint32_t shard = 0; shard < WHEEL_SHARDS; shard++) {
    for (uint32_t word = 0; word < WHEEL_SLOTS / 64; word++) cr_assert_eq(class->occupied[shard][word], 0);
    for (uint32_t slot = 0; slot < WHEEL_SLOTS; slot++) cr_assert_eq(class->slots[shard][slot], 0);
  }
}

Test(wheel, agents_of_all_shards_are_removed_from_anywhere_and_emptied_in_one_go) {
  struct fixture *fixture = create(100000000, 1000000000);
  agent_class *class = class_of(fixture, 5);
  uint8_t met[AGENTS] = {0};
  for (uint32_t i = 0; i < AGENTS; i++) hang(fixture, class, i % WHEEL_SHARDS, i, random_at(4, i, 0, 0) % 60000000u);
  for (uint32_t i = 0; i < AGENTS; i++) {
    uint32_t owner = lists_block_of(&fixture->classes.lists, fixture->store.rows[i].spot)->owner;
    cr_assert_eq(owner / WHEEL_SLOTS % WHEEL_SHARDS, i % WHEEL_SHARDS);
    cr_assert_eq(wheel_list_of(&fixture->classes, fixture->store.rows[i].spot),
                 &class->slots[i % WHEEL_SHARDS][owner % WHEEL_SLOTS]);
  }
  for (uint32_t i = 0; i < AGENTS; i += 3) wheel_remove(&fixture->classes, class, &fixture->store, i);
  uint32_t count = advance(fixture, class, 60000000);
  for (uint32_t i = 0; i < count; i++) cr_assert(fixture->due[i] % 3 != 0 && met[fixture->due[i]]++ == 0);
  cr_assert_eq(count, AGENTS - (AGENTS + 2) / 3);
  expect_empty(class);
  destroy(fixture);
}

Test(wheel, a_slot_that_held_only_removed_agents_is_not_visited) {
  struct fixture *fixture = create(100000000, 1000000000);
  agent_class *class = class_of(fixture, 5);
  for (uint32_t shard = 0; shard < WHEEL_SHARDS; shard++) hang(fixture, class, shard, shard, 50000000);
  for (uint32_t shard = 0; shard < WHEEL_SHARDS; shard++)
    wheel_remove(&fixture->classes, class, &fixture->store, shard);
  expect_empty(class);
  cr_assert_eq(advance(fixture, class, 60000000), 0);
  destroy(fixture);
}

Test(wheel, with_little_room_it_goes_on_where_it_stopped_and_loses_nobody) {
  for (uint32_t capacity = 1; capacity <= 64; capacity *= 4) {
    struct fixture *fixture = create(100000000, 1000000000);
    agent_class *class = class_of(fixture, 5);
    uint8_t met[AGENTS] = {0};
    for (uint32_t i = 0; i < AGENTS; i++)
      hang(fixture, class, (i * 7) % WHEEL_SHARDS, i, random_at(5, i, 0, 0) % 90000000u);
    wheel_advance(class, 100000000);
    uint32_t left = AGENTS, calls = 0;
    while (left > 0) {
      uint32_t count = take_reached(fixture, class, capacity);
      cr_assert(count > 0 && count < capacity + LIST_BLOCK_AGENTS, "%u came, %u wanted", count, capacity);
      for (uint32_t i = 0; i < count; i++) cr_assert_eq(met[fixture->due[i]]++, 0);
      left -= count;
      calls++;
    }
    cr_assert_leq(calls, (AGENTS + capacity - 1) / capacity);
    cr_assert_eq(take_reached(fixture, class, capacity), 0);
    cr_assert_eq(class->cursor, class->clock_ns >> class->slot_shift);
    expect_empty(class);
    destroy(fixture);
  }
}

/* A crowd hangs at one time, so that each period it takes several frames to let it go. */
Test(wheel, with_little_room_phases_are_kept_and_nobody_misses_a_turn) {
  enum { PERIOD_NS = 100000000, FRAME_NS = 1000000, ROOM = 20, PERIODS = 50 };
  struct fixture *fixture = create(PERIOD_NS, 1000000000);
  agent_class *class = class_of(fixture, 5);
  uint64_t phase_ns[AGENTS], runs[AGENTS] = {0};
  for (uint32_t i = 0; i < AGENTS; i++) {
    phase_ns[i] = i % 5 ? 40000000 : random_at(6, i, 0, 0) % PERIOD_NS;
    hang(fixture, class, i % WHEEL_SHARDS, i, phase_ns[i]);
  }
  for (uint32_t frame = 0; frame < PERIODS * (PERIOD_NS / FRAME_NS); frame++) {
    wheel_advance(class, FRAME_NS);
    uint32_t count = take_reached(fixture, class, ROOM);
    cr_assert_lt(count, ROOM + LIST_BLOCK_AGENTS);
    for (uint32_t i = 0; i < count; i++) {
      uint32_t agent = fixture->due[i];
      if (wheel_keeps(&fixture->classes, &fixture->store, agent)) continue;
      uint64_t due_ns = fixture->store.rows[agent].virtual_due_ns;
      cr_assert_eq(due_ns, phase_ns[agent] + runs[agent]++ * PERIOD_NS);
      cr_assert(due_ns <= class->clock_ns && class->clock_ns - due_ns < PERIOD_NS / 2);
      wheel_insert_next(&fixture->classes, class, frame % WHEEL_SHARDS, &fixture->store, agent);
    }
  }
  for (uint32_t i = 0; i < AGENTS; i++) cr_assert_geq(runs[i], PERIODS - 1, "%u ran %lu times", i, runs[i]);
  destroy(fixture);
}

Test(classes, round_elasticity_to_an_eighth_of_an_octave_and_keep_zero) {
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

Test(classes, list_exactly_those_that_have_members) {
  struct fixture *fixture = create(100000000, 1000000000);
  agent_class *a = class_of(fixture, 1), *b = class_of(fixture, 2), *c = class_of(fixture, 3);
  cr_assert_eq(class_of(fixture, 2), b);
  classes_join(&fixture->classes, a, 0);
  classes_join(&fixture->classes, b, 0);
  classes_join(&fixture->classes, c, 0);
  classes_join(&fixture->classes, a, 0);
  classes_leave(&fixture->classes, b, 0);
  classes_leave(&fixture->classes, a, 0);
  cr_assert_eq(fixture->classes.active_count, 2);
  cr_assert_eq(a->members, 1);
  classes_leave(&fixture->classes, a, 0);
  cr_assert_eq(fixture->classes.active_count, 1);
  cr_assert_eq(fixture->classes.active[0], c->number);
  destroy(fixture);
}

/* Only changes that exist are fetched ahead: the agent numbers behind them are beyond all memory. */
Test(wheel, nothing_is_fetched_for_changes_behind_the_last) {
  enum { CHANGES = 20, ROOM = 2 * CHANGES };
  struct fixture *fixture = create(100000000, 1000000000);
  agent_class *class = class_of(fixture, 5);
  for (uint32_t i = 0; i < CHANGES; i++) {
    fixture->store.rows[i].class = class->number;
    wheel_insert(&fixture->classes, class, 0, &fixture->store, i);
  }
  for (uint32_t coming = 0; coming <= CHANGES; coming++) {
    grade_change changes[ROOM];
    for (uint32_t i = 0; i < ROOM; i++) changes[i] = (grade_change){.agent = i < coming ? i : UINT32_MAX};
    grade_prefetch(&fixture->classes, &fixture->store, changes, coming);
  }
  destroy(fixture);
}

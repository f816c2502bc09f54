/* When a set with a period in time is active: from its delay on, a period apart, whenever it was run and whatever was
 * missed; and after its period was changed. Times are milliseconds after nothing in particular. */
#include "agents/passes.h"

#include <muster/sets.h>

#include <criterion/criterion.h>

enum { SPAWNED_MS = 100, DELAY_MS = 20, PERIOD_MS = 35 };

struct fixture {
  struct arena arena;
  muster_atom atoms[2];
  set_table table;
};

static muster_atom_result do_nothing(muster_update *update) {
  (void)update;
  return MUSTER_ATOM_NEXT;
}

static uint64_t ns_of(uint32_t ms) {
  return ms * 1000000ull;
}

/* An agent with one set, spawned at SPAWNED_MS; `period_ms` 0 = in every second update. */
static void create(struct fixture *fixture, uint32_t period_ms) {
  static const muster_atom atom = {do_nothing, MUSTER_ROLE_BEHAVIOUR, 0};
  muster_allocator allocator = {0};
  muster_type_def type = muster_type_def_default();
  muster_set_def set = muster_set_def_default();
  set.atoms = &atom;
  set.atom_count = 1;
  set.period_updates = period_ms ? 0 : 2;
  set.period_ns = ns_of(period_ms);
  set.delay_ns = ns_of(period_ms ? DELAY_MS : 0);
  type.sets.list = &set;
  type.sets.count = 1;
  cr_assert_eq(sets_check(&type), MUSTER_OK, "%s", muster_last_error());
  arena_create(&fixture->arena, &allocator);
  sets_register(&fixture->table, &type, fixture->atoms, 1, &fixture->arena);
  sets_begin(&fixture->table, 0, ns_of(SPAWNED_MS));
}

static bool is_active(const struct fixture *fixture, uint32_t ms) {
  const set_table *table = &fixture->table;
  return pass_active(table, table->states, table->passes, 0, ns_of(ms), false) != 0;
}

/* It is not active before `ms`, and is at `ms`. */
static void is_active_from(const struct fixture *fixture, uint32_t ms) {
  cr_assert_not(is_active(fixture, ms - 1), "active a millisecond before %u ms", ms);
  cr_assert(is_active(fixture, ms), "not active at %u ms", ms);
}

/* An update in which the set is run from `began_ms` to `ended_ms`. */
static void run_until(struct fixture *fixture, uint32_t began_ms, uint32_t ended_ms) {
  set_table *table = &fixture->table;
  uint16_t active = pass_active(table, table->states, table->passes, 0, ns_of(began_ms), false);
  cr_assert_eq(active, 1, "not active at %u ms", began_ms);
  pass_begin(table, table->states, table->passes, active, ns_of(began_ms), false);
  pass_begin_set(&table->sets[0], table->states, ns_of(began_ms));
  pass_complete(table->states, ns_of(ended_ms));
  cr_assert_not(pass_end(table, table->states, table->passes, 0, 0), "nothing was cut");
}

static void run_at(struct fixture *fixture, uint32_t ms) {
  run_until(fixture, ms, ms);
}

static void tune(struct fixture *fixture, uint32_t period_ms) {
  muster_set_tuning tuning = muster_set_tuning_default();
  tuning.period_updates = 0;
  tuning.period_ns = ns_of(period_ms);
  sets_tune(&fixture->table, 0, &tuning);
}

Test(set_phase, begins_with_the_delay) {
  struct fixture fixture;
  create(&fixture, PERIOD_MS);
  is_active_from(&fixture, SPAWNED_MS + DELAY_MS);
  arena_destroy(&fixture.arena);
}

Test(set_phase, is_kept_when_updates_come_late_or_not_at_all) {
  struct fixture fixture;
  create(&fixture, PERIOD_MS);
  run_at(&fixture, 121);
  is_active_from(&fixture, 155);
  run_at(&fixture, 261); /* 155, 190 and 225 were missed */
  is_active_from(&fixture, 295);
  run_at(&fixture, 295);
  is_active_from(&fixture, 330);
  arena_destroy(&fixture.arena);
}

/* It was due again while it ran. */
Test(set_phase, counts_from_where_a_run_began) {
  struct fixture fixture;
  create(&fixture, PERIOD_MS);
  run_until(&fixture, 121, 170);
  cr_assert(is_active(&fixture, 170));
  run_at(&fixture, 171);
  is_active_from(&fixture, 190);
  arena_destroy(&fixture.arena);
}

Test(set_phase, stays_when_the_period_becomes_shorter) {
  struct fixture fixture;
  create(&fixture, PERIOD_MS);
  run_at(&fixture, 126); /* due next at 155 */
  tune(&fixture, 10);
  is_active_from(&fixture, 135);
  run_at(&fixture, 138);
  is_active_from(&fixture, 145);
  run_at(&fixture, 145);
  is_active_from(&fixture, 155);
  run_at(&fixture, 155);
  is_active_from(&fixture, 165);
  arena_destroy(&fixture.arena);
}

/* Where the last run and the next are whole new periods apart, the next one is a period away, not at once. */
Test(set_phase, leaves_a_whole_period_after_a_run_that_was_in_phase) {
  struct fixture fixture;
  create(&fixture, PERIOD_MS);
  run_at(&fixture, 125); /* due next at 155, three of the new periods away */
  tune(&fixture, 10);
  is_active_from(&fixture, 135);
  run_at(&fixture, 135);
  is_active_from(&fixture, 145);
  arena_destroy(&fixture.arena);
}

Test(set_phase, lets_the_next_run_be_when_the_period_becomes_longer) {
  struct fixture fixture;
  create(&fixture, PERIOD_MS);
  run_at(&fixture, 121);
  tune(&fixture, 100);
  is_active_from(&fixture, 155);
  run_at(&fixture, 157);
  is_active_from(&fixture, 255);
  arena_destroy(&fixture.arena);
}

Test(set_phase, of_a_set_that_counted_updates_counts_from_the_spawn) {
  struct fixture fixture;
  create(&fixture, 0);
  run_at(&fixture, 110); /* the first of two updates */
  cr_assert_not(is_active(&fixture, 111));
  tune(&fixture, 50);
  cr_assert(is_active(&fixture, 111), "who does not know of its period yet is active");
  run_at(&fixture, 230);
  is_active_from(&fixture, 250);
  arena_destroy(&fixture.arena);
}

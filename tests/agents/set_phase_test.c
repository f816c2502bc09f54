/* When a set with a period in time is active: from its delay on, a period apart, whenever it was run and whatever was
 * missed; and after its period was changed. Times are milliseconds after nothing in particular. */
#include "agents/passes.h"
#include "support/arenas.h"
#include "support/nothing.h"

#include <muster/sets.h>

enum { SPAWNED_MS = 100, DELAY_MS = 20, PERIOD_MS = 35 };

static struct arena arena;
static muster_atom atoms[2];
static set_table table;

static uint64_t ns_of(uint32_t ms) {
  return ms * 1000000ull;
}

/* An agent with one set, spawned at SPAWNED_MS; `period_ms` 0 = in every second update. */
static void create(uint32_t period_ms) {
  static const muster_atom atom = {nothing, MUSTER_ROLE_BEHAVIOUR, 0};
  muster_set_def set = WITH(muster_set_def, it.atoms = &atom, it.atom_count = 1, it.period_updates = period_ms ? 0 : 2,
                            it.period_ns = ns_of(period_ms), it.delay_ns = ns_of(period_ms ? DELAY_MS : 0));
  const muster_type_def type = WITH(muster_type_def, it.sets.list = &set, it.sets.count = 1);
  cr_assert_eq(sets_check(&type), MUSTER_OK, "%s", muster_last_error());
  arena = begin_arena();
  sets_register(&table, &type, atoms, 1, &arena);
  sets_begin(&table, 0, ns_of(SPAWNED_MS));
}

static void end(void) {
  arena_destroy(&arena);
}

TestSuite(set_phase, .fini = end);

static bool is_active(uint32_t ms) {
  return pass_active(&table, table.states, table.passes, 0, ns_of(ms), false) != 0;
}

/* It is not active before `ms`, and is at `ms`. */
static void is_active_from(uint32_t ms) {
  cr_assert_not(is_active(ms - 1), "active a millisecond before %u ms", ms);
  cr_assert(is_active(ms), "not active at %u ms", ms);
}

/* An update in which the set is run from `began_ms` to `ended_ms`. */
static void run_until(uint32_t began_ms, uint32_t ended_ms) {
  uint16_t active = pass_active(&table, table.states, table.passes, 0, ns_of(began_ms), false);
  cr_assert_eq(active, 1, "not active at %u ms", began_ms);
  pass_begin(&table, table.states, table.passes, active, ns_of(began_ms), false);
  pass_begin_set(&table.sets[0], table.states, ns_of(began_ms));
  pass_complete(table.states, ns_of(ended_ms));
  cr_assert_not(pass_end(&table, table.states, table.passes, 0, 0), "nothing was cut");
}

static void run_at(uint32_t ms) {
  run_until(ms, ms);
}

static void tune(uint32_t period_ms) {
  muster_set_tuning tuning = WITH(muster_set_tuning, it.period_updates = 0, it.period_ns = ns_of(period_ms));
  sets_tune(&table, 0, &tuning);
}

Test(set_phase, begins_with_the_delay) {
  create(PERIOD_MS);
  is_active_from(SPAWNED_MS + DELAY_MS);
}

Test(set_phase, is_kept_when_updates_come_late_or_not_at_all) {
  create(PERIOD_MS);
  run_at(121);
  is_active_from(155);
  run_at(261); /* 155, 190 and 225 were missed */
  is_active_from(295);
  run_at(295);
  is_active_from(330);
}

/* It was due again while it ran. */
Test(set_phase, counts_from_where_a_run_began) {
  create(PERIOD_MS);
  run_until(121, 170);
  cr_assert(is_active(170));
  run_at(171);
  is_active_from(190);
}

Test(set_phase, stays_when_the_period_becomes_shorter) {
  create(PERIOD_MS);
  run_at(126); /* due next at 155 */
  tune(10);
  is_active_from(135);
  run_at(138);
  is_active_from(145);
  run_at(145);
  is_active_from(155);
  run_at(155);
  is_active_from(165);
}

/* Where the last run and the next are whole new periods apart, the next one is a period away, not at once. */
Test(set_phase, leaves_a_whole_period_after_a_run_that_was_in_phase) {
  create(PERIOD_MS);
  run_at(125); /* due next at 155, three of the new periods away */
  tune(10);
  is_active_from(135);
  run_at(135);
  is_active_from(145);
}

Test(set_phase, lets_the_next_run_be_when_the_period_becomes_longer) {
  create(PERIOD_MS);
  run_at(121);
  tune(100);
  is_active_from(155);
  run_at(157);
  is_active_from(255);
}

Test(set_phase, of_a_set_that_counted_updates_counts_from_the_spawn) {
  create(0);
  run_at(110); /* the first of two updates */
  cr_assert_not(is_active(111));
  tune(50);
  cr_assert(is_active(111), "who does not know of its period yet is active");
  run_at(230);
  is_active_from(250);
}

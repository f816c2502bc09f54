/* The walk over the sets of one update, without a world: order, shares, which sets are active. */
#include "agents/passes.h"
#include "support/arenas.h"
#include "support/nothing.h"

#include <muster/sets.h>

static struct arena arena;
static muster_atom atoms[64];
static set_table table;

static void end(void) {
  arena_destroy(&arena);
}

TestSuite(sets, .fini = end);

/* `roles` names a set each: p, b or a. Each has one atom and priority 50, unless `priorities` says otherwise. */
static void create(const char *roles, const uint32_t *priorities, muster_set_order order) {
  static const muster_atom atom = {nothing, MUSTER_ROLE_BEHAVIOUR, 0};
  muster_set_def sets[MUSTER_SETS_MAX];
  muster_type_def type = muster_type_def_default();
  for (type.sets.count = 0; roles[type.sets.count]; type.sets.count++) {
    muster_set_def *set = &sets[type.sets.count];
    char role = roles[type.sets.count];
    *set = WITH(muster_set_def, it.atoms = &atom, it.atom_count = 1,
                it.mode = role == 'a' ? MUSTER_MODE_RUN : MUSTER_MODE_SLICEABLE);
    set->role = role == 'p' ? MUSTER_ROLE_PERCEPTION : role == 'a' ? MUSTER_ROLE_ACTION : MUSTER_ROLE_BEHAVIOUR;
    if (priorities) set->share = priorities[type.sets.count];
  }
  type.sets.list = sets;
  type.sets.order = order;
  cr_assert_eq(sets_check(&type), MUSTER_OK, "%s", muster_last_error());
  end();
  arena = begin_arena();
  sets_register(&table, &type, atoms, 4, &arena);
  sets_begin(&table, 0, 0);
}

/* In which order a pass over all of them runs, as letters. */
static const char *order_of(const set_pass *kept, uint16_t active, char text[17]) {
  struct pass pass;
  pass_open(&pass, &table, kept, active, UINT64_MAX, UINT64_MAX);
  uint32_t count = 0, number;
  while ((number = pass_next(&pass, 0, 0)) != MUSTER_SETS_MAX) text[count++] = (char)('a' + number);
  text[count] = 0;
  cr_assert_eq(pass.left, active & table.actions, "actions wait for the commit");
  return text;
}

Test(sets, order_is_by_role_then_by_priority_then_as_defined) {
  static const uint32_t priorities[] = {50, 50, 60, 50, 70, 10};
  char text[17];
  set_pass kept = {0};
  create("abbpbp", priorities, MUSTER_SETS_BY_SHARE);
  cr_assert_str_eq(order_of(&kept, 0x3f, text), "dfecb");
  cr_assert_eq(table.sets[3].first_atom, 0, "atoms stand by role, then as defined");
  cr_assert_eq(table.sets[0].first_atom, 5);
  create("abbpbp", priorities, MUSTER_SETS_AS_DEFINED);
  cr_assert_str_eq(order_of(&kept, 0x3f, text), "dfbce");
}

Test(sets, who_is_owed_time_leads_its_role_from_behind_the_last_on) {
  char text[17];
  create("ppbbbb", NULL, MUSTER_SETS_BY_SHARE);
  set_pass kept = {.owed = 0x2d, .last = {1, 5}}; /* a, c, d and f; last ran a, and e */
  cr_assert_str_eq(order_of(&kept, 0x3f, text), "abfcde");
  kept.last[1] = 6;
  cr_assert_str_eq(order_of(&kept, 0x3f, text), "abcdfe");
  kept.last[1] = 3;
  cr_assert_str_eq(order_of(&kept, 0x2d, text), "adfc", "they alone");
}

/* Walks passes with random sets, costs and ends: each active set runs at most once, in an order without gaps; shares
 * are within what is left, and add up to it. */
Test(sets, shares_are_of_what_is_left) {
  enum { WALKS = 2000 };
  for (uint32_t walk = 0; walk < WALKS; walk++) {
    char roles[MUSTER_SETS_MAX + 1] = {0};
    uint32_t priorities[MUSTER_SETS_MAX], count = 1 + (uint32_t)(random_at(1, walk, 0, 0) % MUSTER_SETS_MAX),
                                          weight = 0;
    for (uint32_t i = 0; i < count; i++) {
      roles[i] = "pbbba"[random_at(2, walk, i, 0) % 5];
      priorities[i] = 1 + (uint32_t)(random_at(3, walk, i, 0) % 100);
    }
    create(roles, priorities, MUSTER_SETS_BY_SHARE);
    uint16_t active = (uint16_t)(random_at(4, walk, 0, 0) & ((1u << count) - 1u)), seen = 0;
    uint64_t clock_ns = 1000, end_ns = clock_ns + random_at(5, walk, 0, 0) % 100000;
    for (uint32_t i = 0; i < count; i++)
      if ((active >> i & 1) && roles[i] == 'b') weight += priorities[i];
    set_pass kept = {.owed = (uint16_t)random_at(6, walk, 0, 0)};
    struct pass pass;
    pass_open(&pass, &table, &kept, active, end_ns, UINT64_MAX);
    for (uint32_t number; (number = pass_next(&pass, clock_ns, 0)) != MUSTER_SETS_MAX;) {
      cr_assert((active >> number & 1) && !(seen >> number & 1), "set %u in walk %u", number, walk);
      cr_assert(clock_ns < end_ns || seen == 0, "no turn without time, but the first");
      seen |= (uint16_t)(1u << number);
      if (roles[number] == 'b' && clock_ns < end_ns) {
        uint64_t share_ns = (end_ns - clock_ns) * priorities[number] / weight;
        cr_assert_eq(pass.set_end_ns, clock_ns + share_ns, "walk %u", walk);
      }
      if (roles[number] == 'b') weight -= priorities[number];
      if (roles[number] == 'b' && weight == 0 && clock_ns < end_ns) cr_assert_eq(pass.set_end_ns, end_ns);
      clock_ns += random_at(7, walk, number, 0) % 8000;
    }
    cr_assert_eq(pass.left, active & ~seen);
    if (clock_ns < end_ns) cr_assert_eq(pass.left, active & table.actions, "all had their turn");
  }
}

Test(sets, the_end_of_the_frame_is_told_from_the_end_of_a_share) {
  set_pass kept = {0};
  create("bb", NULL, MUSTER_SETS_BY_SHARE);
  struct pass pass;
  pass_open(&pass, &table, &kept, 3, 100, 1000);
  cr_assert_eq(pass_next(&pass, 0, 0), 0);
  cr_assert_not(pass_goes_on(&pass, &table.sets[0], 50, 10));
  cr_assert_not(pass.stopped);
  cr_assert(pass_goes_on(&pass, &table.sets[0], 49, 951));
  cr_assert_not(pass_goes_on(&pass, &table.sets[0], 49, 952));
  cr_assert(pass.stopped);
}

Test(sets, periods_in_time_keep_their_phase) {
  create("b", NULL, MUSTER_SETS_BY_SHARE);
  set_state *state = sets_states_of(&table, 0);
  set_pass *kept = &table.passes[0];
  muster_set_tuning tuning = WITH(muster_set_tuning, it.period_updates = 0, it.period_ns = 1000000);
  sets_tune(&table, 0, &tuning);
  cr_assert_eq(pass_active(&table, state, kept, 0, 400000, false), 1, "another unit: active at once");
  pass_begin(&table, state, kept, 1, 400000, false);
  pass_begin_set(&table.sets[0], state, 400000);
  cr_assert_eq(state->due_ns, 1000000);
  cr_assert_eq(pass_active(&table, state, kept, 0, 999999, false), 0);
  cr_assert_eq(pass_active(&table, state, kept, 0, 3700000, false), 1);
  pass_begin(&table, state, kept, 1, 3700000, false);
  cr_assert_eq(state->due_ns, 4000000, "what was missed is skipped");
  pass_begin_set(&table.sets[0], state, 3700000);
  tuning.period_ns = 200000;
  sets_tune(&table, 0, &tuning);
  cr_assert_eq(pass_active(&table, state, kept, 0, 3799999, false), 0);
  cr_assert_eq(pass_active(&table, state, kept, 0, 3800000, false), 1, "a shorter period, in the same phase");
  pass_begin(&table, state, kept, 1, 3850000, false);
  cr_assert_eq(state->due_ns, 4000000);
}

Test(sets, may_be_asked_to_yield_at_the_first_question) {
  static const muster_atom atom = {nothing, MUSTER_ROLE_BEHAVIOUR, 0};
  muster_set_def set = WITH(muster_set_def, it.atoms = &atom, it.atom_count = 1);
  const muster_type_def type = WITH(muster_type_def, it.sets.list = &set, it.sets.count = 1);
  for (uint32_t asks = 0; asks <= 2; asks++) {
    set.asks = asks;
    cr_assert_eq(sets_check(&type), asks ? MUSTER_OK : MUSTER_E_ARGUMENT, "%u", asks);
  }
}

Test(sets, who_is_cut_and_begins_anew_has_no_progress) {
  create("b", NULL, MUSTER_SETS_BY_SHARE);
  type_set *set = &table.sets[0];
  set_state state = {.goes_on = 1, .progress = 20000, .reported = true};
  set->mode = MUSTER_MODE_SUSPENDABLE;
  pass_cut(set, &state, 0);
  cr_assert(state.progress == 0 && state.goes_on == 0 && !state.reported);
}

/* What agents cost beside others of their type: chance does not scatter what is learnt, and members that differ are
 * found. The members of a type run in turn; each update is learnt as a frame does it. */
#include "plan/classes.h"
#include "plan/little_costs.h"

enum { MEMBERS = 1000 };

struct member {
  known_factor known;
  double cost_ns;
  bool doubted;
};

struct crowd {
  little_costs *costs;
  struct member members[MEMBERS];
  uint64_t units; /* sum of the factors */
  uint64_t updates;
};

/* A new crowd, whose members cost so much each. */
static struct crowd *begin(double cost_ns) {
  static struct crowd crowd;
  crowd = (struct crowd){.costs = little_costs_begin(20000), .units = (uint64_t)MEMBERS * FACTOR_ONE};
  for (uint32_t i = 0; i < MEMBERS; i++) crowd.members[i].cost_ns = cost_ns;
  return &crowd;
}

static double believed_ns(const struct crowd *crowd, const struct member *member) {
  const cost_estimate *estimate = estimate_of(crowd->costs);
  return estimate->mean_ns * (double)costs_part(estimate, member->known.factor, 0);
}

static void learn_ratio(struct crowd *crowd, struct member *member, double ratio) {
  factor_evidence evidence = {.ratio = (float)ratio,
                              .noise = costs_noise(estimate_of(crowd->costs)),
                              .mean = (float)crowd->units / ((float)MEMBERS * (float)FACTOR_ONE),
                              .random = random_at(1, crowd->updates++, 0, 0)};
  if (!costs_tell_factors(estimate_of(crowd->costs))) return;
  crowd->units -= factor_units_of(member->known.factor);
  factor_learn(&member->known, &evidence);
  member->doubted = factor_is_doubtful(&evidence);
  crowd->units += factor_units_of(member->known.factor);
}

static void update(struct crowd *crowd, struct member *member, double cost_ns) {
  int32_t before = member->known.factor;
  learn_ratio(crowd, member, cost_ns / believed_ns(crowd, member));
  learn(crowd->costs, (cost_known){.cost_ns = floor(cost_ns), .factor = before});
}

/* Log-normal with sigma 1.3 and a mean of 20 us. */
static double by_chance(uint64_t number) {
  double one = ((double)(random_at(2, number, 0, 0) >> 11) + 1.0) * 0x1p-53;
  double other = (double)(random_at(2, number, 1, 0) >> 11) * 0x1p-53;
  double normal = sqrt(-2.0 * log(one)) * cos(2.0 * M_PI * other);
  return 20000.0 * exp(1.3 * normal - 1.3 * 1.3 / 2.0);
}

Test(cost_factors, costs_that_differ_by_chance_do_not_scatter_factors) {
  struct crowd *crowd = begin(0.0);
  double believed = 0.0, took = 0.0;
  uint32_t shifted = 0;
  for (uint32_t round = 0; round < 400; round++) {
    for (uint32_t i = 0; i < MEMBERS; i++) {
      double cost_ns = by_chance(crowd->updates);
      if (round >= 200) believed += believed_ns(crowd, &crowd->members[i]), took += cost_ns;
      update(crowd, &crowd->members[i], cost_ns);
    }
    costs_turn(&crowd->costs->table, 1);
  }
  for (uint32_t i = 0; i < MEMBERS; i++) shifted += factor_shift(crowd->members[i].known.factor) != 0;
  cr_expect_leq(shifted, MEMBERS / 100, "%u members are in other classes", shifted);
  cr_expect_float_eq(believed / took, 1.0, 0.05, "%g", believed / took);
}

static void run_members(struct crowd *crowd, uint32_t rounds) {
  for (uint32_t round = 0; round < rounds; round++) {
    for (uint32_t i = 0; i < MEMBERS; i++) update(crowd, &crowd->members[i], crowd->members[i].cost_ns);
    costs_turn(&crowd->costs->table, 1);
  }
}

Test(cost_factors, members_of_2_and_of_200_us_are_told_apart) {
  struct crowd *crowd = begin(2000.0);
  double units = 0.0, updates_ns = 0.0;
  for (uint32_t i = 0; i < MEMBERS; i += 10) crowd->members[i].cost_ns = 200000.0;
  run_members(crowd, 200);
  for (uint32_t i = 0; i < MEMBERS; i++) {
    double off = believed_ns(crowd, &crowd->members[i]) / crowd->members[i].cost_ns;
    cr_assert(off > 0.7 && off < 1.4, "member %u is believed to cost %g times what it does", i, off);
    units += (double)factor_units_of(crowd->members[i].known.factor) / FACTOR_ONE;
    updates_ns += believed_ns(crowd, &crowd->members[i]);
  }
  cr_assert_float_eq(units / MEMBERS, 1.0, 0.1, "their mean is %g", units / MEMBERS);
  cr_assert_float_eq(updates_ns / MEMBERS, 21800.0, 1100.0, "%g", updates_ns / MEMBERS);
}

Test(cost_factors, a_member_that_turns_dear_is_found_within_32_of_its_updates) {
  struct crowd *crowd = begin(2000.0);
  run_members(crowd, 100);
  crowd->members[7].cost_ns = 200000.0;
  run_members(crowd, 32);
  cr_assert_gt(believed_ns(crowd, &crowd->members[7]), 50000.0, "%g", believed_ns(crowd, &crowd->members[7]));
  for (uint32_t i = 0; i < MEMBERS; i++)
    cr_assert(i == 7 || believed_ns(crowd, &crowd->members[i]) < 4000.0, "member %u", i);
}

Test(cost_factors, one_long_update_among_others_is_doubted_and_forgotten) {
  struct crowd *crowd = begin(2000.0);
  run_members(crowd, 100);
  update(crowd, &crowd->members[7], 200000.0);
  cr_assert(crowd->members[7].doubted);
  run_members(crowd, 8);
  cr_assert(!crowd->members[7].doubted);
  cr_assert_float_eq(believed_ns(crowd, &crowd->members[7]), 2000.0, 250.0, "%g",
                     believed_ns(crowd, &crowd->members[7]));
}

Test(cost_factors, nothing_is_learnt_of_agents_of_a_type_that_is_hardly_known) {
  struct crowd *crowd = begin(0.0);
  for (uint32_t i = 0; i < 63; i++) update(crowd, &crowd->members[0], 20000000.0);
  cr_assert_eq(crowd->members[0].known.factor, 0);
}

/* ------------------------------------------------------------------------------------------------------ the numbers */

Test(cost_factors, stand_for_eighths_of_an_octave_and_overlap) {
  for (int32_t factor = -FACTOR_MOST; factor <= FACTOR_MOST; factor++) {
    int32_t shift = factor_shift(factor), rest = factor - shift * FACTOR_RESTS;
    cr_assert(abs(rest) <= FACTOR_REST && abs(shift) <= FACTOR_SHIFTS);
    double value = FACTOR_ONE * exp2((shift * FACTOR_SHIFT_STEPS + rest) / (double)FACTOR_OCTAVE);
    cr_assert_float_eq((double)factor_units_of(factor), value, 0.5001, "factor %d", factor);
  }
  cr_assert_eq(factor_units_of(0), FACTOR_ONE);
}

Test(cost_factors, change_their_shift_late_and_change_it_back_as_late) {
  int32_t factor = 0;
  for (int step = 0; step < FACTOR_REST; step++) factor = factor_moved(factor, 1);
  cr_assert_eq(factor_shift(factor), 0, "three eighths of an octave up");
  factor = factor_moved(factor, 1);
  cr_assert_eq(factor_shift(factor), 1);
  for (int step = 0; step < FACTOR_REST; step++) factor = factor_moved(factor, -1);
  cr_assert_eq(factor_shift(factor), 1, "an eighth of an octave up");
  factor = factor_moved(factor, -1);
  cr_assert_eq(factor_shift(factor), 0);
  cr_assert_eq(factor_units_of(factor), FACTOR_ONE);
}

Test(cost_factors, end_at_their_bounds) {
  cr_assert_eq(factor_moved(FACTOR_MOST - 2, 1000), FACTOR_MOST);
  cr_assert_eq(factor_moved(0, 1000), FACTOR_MOST);
  cr_assert_eq(factor_moved(0, -1000), -FACTOR_MOST);
  cr_assert(factor_is_possible(FACTOR_MOST) && !factor_is_possible(FACTOR_MOST + 1) && !factor_is_possible(-128));
}

Test(cost_factors, of_the_members_of_a_class_are_summed_up) {
  SCOPED(arena_destroy) struct arena arena = begin_arena();
  class_table table;
  muster_type_def type = muster_type_def_default();
  classes_create(&table, 1, 16, 0, &arena);
  agent_class *class = classes_get(&table, &type, 0, 0, ELASTICITY_STEP_OF_ONE);
  agent_row rows[3] = {{.cost_factor = 9}, {0}, {.cost_factor = -20}};
  for (int i = 0; i < 3; i++) classes_join(&table, class, &rows[i]);
  classes_set_factor(&table, class, &rows[1], 14);
  cr_assert_eq(class->factors, (uint64_t)factor_units_of(9) + factor_units_of(14) + factor_units_of(-20));
  cr_assert_eq(class->factors, table.sums[0][0].factors);
  cr_assert_eq(table.sums[0][0].members, 3);
  for (int i = 0; i < 3; i++) classes_leave(&table, class, &rows[i]);
  cr_assert_eq(class->factors | class->shifts | table.sums[0][0].factors | table.sums[0][0].members, 0);
}

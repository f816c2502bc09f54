/* The planner of townsfolk, and the plans that every agent knows. */
#include "examples/worlds/townsfolk_plan.h"
#include "support/with.h"

#include <criterion/criterion.h>

/* The problem of an agent that minds nothing but time. */
static folk_problem problem_with(uint64_t facts) {
  folk_problem problem = {.facts = facts, .workplace = FOLK_FIELDS};
  for (uint32_t action = 0; action < FOLK_ACTIONS; action++)
    problem.costs[action] = (uint8_t)(folk_deed_of(action)->minutes < 200 ? folk_deed_of(action)->minutes : 200);
  return problem;
}

/* The last that was found. */
static folk_plan plan;

static bool solve(const folk_problem *problem, uint32_t goal) {
  uint32_t cost = 0, nodes = 0;
  return folk_plan_search(problem, goal, FOLK_NODES_MAX, &plan, &cost, &nodes);
}

static void expect_plan(const folk_problem *problem, uint32_t goal) {
  cr_assert(solve(problem, goal), "no plan to %s", folk_goal_words(goal));
  cr_assert(folk_plan_holds(problem, &plan, goal), "a wrong plan to %s", folk_goal_words(goal));
}

static bool has_step(uint32_t action) {
  return memchr(plan.steps, (int)action, plan.count) != NULL;
}

/* Whether an agent that knows the prepared plans alone could reach the goal by one of them. */
static bool is_known(const folk_problem *problem, uint32_t goal, uint32_t but) {
  for (uint32_t i = 0; i < FOLK_PREPARED; i++) {
    folk_plan known = folk_prepared_plan(i, problem->workplace);
    if (folk_prepared[i].purpose == goal && i != but && folk_plan_holds(problem, &known, goal)) return true;
  }
  return false;
}

#define RICH                                                                                                           \
  (FOLK_AT(FOLK_MARKET) | FOLK_HAS_COINS | FOLK_HAS_PLENTY | FOLK_HAS_BREAD | FOLK_HAS_RIVAL | FOLK_HAS_BELOVED |      \
   FOLK_HAS_WRONGED)

Test(townsfolk_plan, every_goal_has_a_plan_that_everybody_knows_and_one_that_a_search_finds) {
  folk_problem problem = CHANGED(problem_with(RICH), it.rich = true);
  for (uint32_t goal = 0; goal < FOLK_GOALS; goal++) {
    cr_assert(is_known(&problem, goal, UINT32_MAX), "no known plan to %s", folk_goal_words(goal));
    expect_plan(&problem, goal);
  }
}

/* Each prepared plan can be done from what it says that it needs, wherever one is. */
Test(townsfolk_plan, prepared_plans_hold_where_their_needs_are_met) {
  for (uint32_t i = 0; i < FOLK_PREPARED; i++) {
    folk_problem problem = problem_with(FOLK_AT(FOLK_GATE) | folk_prepared[i].needs);
    plan = folk_prepared_plan(i, FOLK_SMITHY);
    problem.workplace = FOLK_SMITHY;
    problem.rich = folk_prepared[i].needs & FOLK_HAS_PLENTY;
    cr_assert(folk_plan_holds(&problem, &plan, folk_prepared[i].purpose), "plan %u", i);
  }
}

/* No bread, no coins, and too proud for the poor's table: cut wood and sell it. */
Test(townsfolk_plan, a_search_finds_nine_steps_where_no_known_plan_leads) {
  folk_problem problem = CHANGED(problem_with(FOLK_AT(FOLK_HOME)), it.blocked = 1ull << FOLK_EAT_ALMS);
  cr_assert_not(is_known(&problem, FOLK_EAT, UINT32_MAX));
  expect_plan(&problem, FOLK_EAT);
  static const uint32_t steps[] = {FOLK_BORROW_AXE, FOLK_CUT_WOOD, FOLK_SELL_WOOD};
  for (uint32_t i = 0; i < 3; i++) cr_assert(has_step(steps[i]), "without to %s", folk_deed_of(steps[i])->words);
  cr_assert_geq(plan.count, 8);
}

/* Each wish that costs coins or bread can be had without them, by plans of four steps and more. */
Test(townsfolk_plan, what_the_poor_cannot_have_by_known_plans_they_find_a_way_to) {
  static const uint32_t goals[] = {FOLK_WISH(FOLK_EATING), FOLK_WISH(FOLK_IDEALISM), FOLK_WISH(FOLK_SAVING)};
  folk_problem problem = problem_with(FOLK_AT(FOLK_FIELDS));
  for (uint32_t i = 0; i < COUNT_OF(goals); i++) {
    cr_assert_not(is_known(&problem, goals[i], UINT32_MAX), "%s", folk_goal_words(goals[i]));
    expect_plan(&problem, goals[i]);
    cr_assert_geq(plan.count, 4, "to %s in %u steps", folk_goal_words(goals[i]), plan.count);
  }
}

Test(townsfolk_plan, coins_that_are_spent_are_not_spent_again) {
  folk_problem problem = problem_with(FOLK_AT(FOLK_MARKET) | FOLK_HAS_COINS);
  folk_plan twice = {.count = 4, .steps = {FOLK_BUY_BREAD, FOLK_BUY_FINERY, FOLK_GO + FOLK_INN, FOLK_SHOW_OFF}};
  cr_assert_not(folk_plan_holds(&problem, &twice, FOLK_WISH(FOLK_STATUS)));
  expect_plan(&problem, FOLK_WISH(FOLK_STATUS));
  cr_assert(has_step(FOLK_SELL_WOOD), "nothing is earned for the second purchase");
  cr_assert_not(is_known(&problem, FOLK_WISH(FOLK_STATUS), UINT32_MAX));
  problem.rich = true;
  cr_assert(folk_plan_holds(&problem, &twice, FOLK_WISH(FOLK_STATUS)));
}

Test(townsfolk_plan, the_cheaper_of_two_ways_is_found_and_blocked_ones_are_not) {
  folk_problem problem = problem_with(FOLK_AT(FOLK_MARKET) | FOLK_HAS_COINS | FOLK_HAS_PLENTY | FOLK_HAS_BELOVED);
  cr_assert(solve(&problem, FOLK_WISH(FOLK_ROMANCE)));
  cr_assert(has_step(FOLK_BUY_FLOWERS));
  problem.costs[FOLK_BUY_FLOWERS] = 100;
  cr_assert(solve(&problem, FOLK_WISH(FOLK_ROMANCE)));
  cr_assert(has_step(FOLK_PICK_FLOWERS));
  problem.blocked = 1ull << FOLK_PICK_FLOWERS;
  cr_assert(solve(&problem, FOLK_WISH(FOLK_ROMANCE)));
  cr_assert(has_step(FOLK_BUY_FLOWERS));
  problem.blocked |= 1ull << FOLK_BUY_FLOWERS;
  cr_assert_not(solve(&problem, FOLK_WISH(FOLK_ROMANCE)));
}

Test(townsfolk_plan, what_holds_already_takes_no_step) {
  folk_problem problem = problem_with(FOLK_AT(FOLK_HOME) | FOLK_HAS_BREAD);
  cr_assert(solve(&problem, FOLK_EAT));
  cr_assert_eq(plan.count, 1);
  cr_assert_eq(plan.steps[0], FOLK_EAT_OWN);
}

Test(townsfolk_plan, nobody_courts_without_a_beloved_or_gets_even_with_nobody) {
  folk_problem problem = problem_with(FOLK_AT(FOLK_HOME) | FOLK_HAS_COINS);
  cr_assert_not(solve(&problem, FOLK_WISH(FOLK_ROMANCE)));
  cr_assert_not(solve(&problem, FOLK_WISH(FOLK_VENGEANCE)));
}

/* Whatever holds and whatever is blocked: what a search finds can be done, step by step, in this order. */
Test(townsfolk_plan, found_plans_can_be_done) {
  uint64_t random = 1;
  uint32_t found = 0;
  for (uint32_t i = 0; i < 20000; i++) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    folk_problem problem = problem_with(FOLK_AT(random >> 60 < FOLK_PLACES ? random >> 60 : FOLK_WELL) |
                                        (random >> 20 & (FOLK_HAS_WRONGED * 2 - FOLK_HAS_BREAD)));
    uint32_t goal = (uint32_t)(i % FOLK_GOALS);
    problem.blocked = 1ull << (random >> 54 & 31);
    problem.rich = random >> 53 & 1;
    if (!solve(&problem, goal)) continue;
    found++;
    cr_assert(folk_plan_holds(&problem, &plan, goal), "facts %lx, to %s", problem.facts, folk_goal_words(goal));
  }
  cr_assert_gt(found, 10000);
}

/* ---------------------------------------------------------------------------------------------------- partial plans */

Test(townsfolk_plan, a_search_in_parts_goes_on_over_rounds_and_ends_with_a_plan_that_holds) {
  folk_problem problem = problem_with(FOLK_AT(FOLK_HOME));
  folk_partial_plan partial;
  uint32_t rounds = 0, most = 0;
  folk_progress progress = FOLK_THINKING;
  problem.blocked = 1ull << FOLK_EAT_ALMS | 1ull << FOLK_EAT_AT_INN;
  folk_partial_begin(&partial, FOLK_EAT);
  for (; progress == FOLK_THINKING; rounds++) {
    uint32_t nodes = 0;
    progress = folk_partial_continue(&partial, &problem, 6, &plan, &nodes);
    if (nodes > most) most = nodes;
  }
  cr_assert_eq(progress, FOLK_FOUND);
  cr_assert_gt(rounds, 1, "the search was over at once");
  cr_assert_leq(most, 6, "a round made %u nodes", most);
  cr_assert(folk_plan_holds(&problem, &plan, FOLK_EAT));
  cr_assert_eq(partial.open, 0);
}

Test(townsfolk_plan, a_search_in_parts_that_leads_nowhere_ends) {
  folk_problem problem = problem_with(FOLK_AT(FOLK_HOME));
  folk_partial_plan partial;
  uint32_t nodes = 0, rounds = 0;
  folk_partial_begin(&partial, FOLK_WISH(FOLK_VENGEANCE));
  while (folk_partial_continue(&partial, &problem, 6, &plan, &nodes) == FOLK_THINKING)
    cr_assert_lt(++rounds, 20, "it goes on and on");
  cr_assert_eq(partial.open, 0);
}

/* However small the bound on nodes, no search goes beyond it. */
Test(townsfolk_plan, a_search_keeps_to_its_nodes) {
  folk_problem problem = CHANGED(problem_with(FOLK_AT(FOLK_HOME)), it.blocked = 1ull << FOLK_EAT_ALMS);
  for (uint32_t most = 1; most <= FOLK_NODES_MAX; most++) {
    uint32_t cost = 0, nodes = 0;
    bool found = folk_plan_search(&problem, FOLK_EAT, most, &plan, &cost, &nodes);
    cr_assert_leq(nodes, most);
    cr_assert(!found || folk_plan_holds(&problem, &plan, FOLK_EAT));
  }
}

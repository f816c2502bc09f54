#include "townsfolk_plan.h"

#include <string.h>

/* What must hold before the steps from this node to the goal. */
typedef struct plan_node {
  uint64_t open;
  uint16_t cost, estimate; /* cost of the steps; estimate: with what is still missing */
  uint8_t action, parent, depth;
  bool expanded;
} plan_node;

typedef struct plan_search {
  const folk_problem *problem;
  uint32_t count, most, depth_most;
  plan_node nodes[FOLK_NODES_MAX];
} plan_search;

enum { NO_NODE = UINT8_MAX, MISSING_MINUTES = 6 };

_Static_assert((int)FOLK_NODES_MAX < (int)NO_NODE, "nodes are numbered by bytes");

static uint64_t needs_of(const folk_problem *problem, uint32_t action) {
  return action == FOLK_DO_WORK ? FOLK_AT(problem->workplace) : folk_deed_of(action)->needs;
}

static uint64_t taken_by(const folk_problem *problem, uint32_t action) {
  const folk_deed *deed = folk_deed_of(action);
  return deed->takes | (deed->coins && !problem->rich ? FOLK_HAS_COINS : 0);
}

static bool is_at_two_places(uint64_t facts) {
  uint64_t places = facts & FOLK_AT_ANY;
  return (places & (places - 1)) != 0;
}

/* Each missing fact takes some minutes at least: a low guess, so that the plan found is the cheapest or near to it. */
static uint16_t estimate_of(const folk_problem *problem, uint64_t open, uint32_t cost) {
  uint32_t missing = (uint32_t)__builtin_popcountll(open & ~problem->facts);
  return (uint16_t)(cost + missing * MISSING_MINUTES);
}

/* Whether a node with these needs was reached at no more cost. */
static bool is_known(const plan_search *search, uint64_t open, uint32_t cost) {
  for (uint32_t i = 0; i < search->count; i++)
    if (search->nodes[i].open == open && search->nodes[i].cost <= cost) return true;
  return false;
}

static void add_node(plan_search *search, uint64_t open, uint32_t cost, uint32_t action, uint32_t parent) {
  uint8_t depth = parent == NO_NODE ? 0 : (uint8_t)(search->nodes[parent].depth + 1);
  search->nodes[search->count++] = (plan_node){.open = open,
                                               .cost = (uint16_t)cost,
                                               .estimate = estimate_of(search->problem, open, cost),
                                               .action = (uint8_t)action,
                                               .parent = (uint8_t)parent,
                                               .depth = depth};
}

/* Tries every action that could come right before the node's steps: it gives a fact that they need, and takes away none
 * that they need. A fact that holds already (a place, or coins) may have to be reached again when fetching a missing
 * one loses it. */
static void townsfolk_plan_expand(plan_search *search, uint32_t number) {
  plan_node *node = &search->nodes[number];
  const folk_problem *problem = search->problem;
  uint64_t open = node->open;
  node->expanded = true;
  if (node->depth == search->depth_most) return;
  for (uint32_t action = 0; action < FOLK_IDLE && search->count < search->most; action++) {
    if (!(folk_deed_of(action)->gives & open) || problem->blocked >> action & 1) continue;
    uint64_t kept = open & ~folk_deed_of(action)->gives;
    uint64_t before = kept | needs_of(problem, action);
    uint32_t cost = node->cost + problem->costs[action];
    if (taken_by(problem, action) & kept || is_at_two_places(before) || is_known(search, before, cost)) continue;
    add_node(search, before, cost, action, number);
  }
}

/* The most promising node that is not expanded yet; of equal ones the deepest. NO_NODE when there is none. */
static uint32_t next_node(const plan_search *search) {
  uint32_t best = NO_NODE;
  for (uint32_t i = 0; i < search->count; i++) {
    const plan_node *node = &search->nodes[i];
    if (node->expanded) continue;
    if (best == NO_NODE || node->estimate < search->nodes[best].estimate ||
        (node->estimate == search->nodes[best].estimate && node->depth > search->nodes[best].depth))
      best = i;
  }
  return best;
}

static bool is_solved(const plan_search *search, uint32_t number) {
  return (search->nodes[number].open & ~search->problem->facts) == 0;
}

/* The node that the search ends with: solved, or the most promising one when room or the nodes to look at run out. */
static uint32_t run_search(plan_search *search, const folk_problem *problem, uint64_t open, uint32_t most,
                           uint32_t depth_most) {
  search->problem = problem;
  search->count = 0;
  search->most = most < FOLK_NODES_MAX ? most : FOLK_NODES_MAX;
  search->depth_most = depth_most;
  add_node(search, open, 0, FOLK_IDLE, NO_NODE);
  for (;;) {
    uint32_t number = next_node(search);
    if (number == NO_NODE || is_solved(search, number) || search->count >= search->most) return number;
    townsfolk_plan_expand(search, number);
  }
}

/* Puts the steps from a node to the end in front of the plan's steps. */
static uint32_t steps_from(const plan_search *search, uint32_t number, uint8_t *steps) {
  uint32_t count = 0;
  for (; search->nodes[number].parent != NO_NODE; number = search->nodes[number].parent)
    steps[count++] = search->nodes[number].action;
  return count;
}

bool folk_plan_search(const folk_problem *problem, uint32_t goal, uint32_t nodes_most, folk_plan *plan, uint32_t *cost,
                      uint32_t *nodes) {
  plan_search search;
  uint32_t found = run_search(&search, problem, FOLK_REACHED(goal), nodes_most, FOLK_STEPS_MAX);
  *nodes += search.count;
  if (found == NO_NODE || !is_solved(&search, found)) return false;
  *plan = (folk_plan){0};
  plan->count = (uint8_t)steps_from(&search, found, plan->steps);
  *cost = search.nodes[found].cost;
  return true;
}

/* ---------------------------------------------------------------------------------------------------- partial plans */

void folk_partial_begin(folk_partial_plan *partial, uint32_t goal) {
  *partial = (folk_partial_plan){.open = FOLK_REACHED(goal), .goal = (uint8_t)goal};
}

/* Puts the steps found in front of those of the search so far. False when that is too long for a plan. */
static bool keep_steps(folk_partial_plan *partial, const uint8_t *found, uint32_t count) {
  if (partial->count + count > sizeof partial->steps) return false;
  memmove(partial->steps + count, partial->steps, partial->count);
  memcpy(partial->steps, found, count);
  partial->count = (uint8_t)(partial->count + count);
  return true;
}

folk_progress folk_partial_continue(folk_partial_plan *partial, const folk_problem *problem, uint32_t nodes_most,
                                    folk_plan *plan, uint32_t *nodes) {
  enum { ROUNDS_MAX = 8 };
  plan_search search;
  uint8_t steps[FOLK_STEPS_MAX];
  uint32_t left = (uint32_t)sizeof partial->steps - partial->count;
  uint32_t found = run_search(&search, problem, partial->open, nodes_most, left);
  *nodes += search.count;
  bool lost = found == NO_NODE || ++partial->rounds > ROUNDS_MAX;
  if (lost || !keep_steps(partial, steps, steps_from(&search, found, steps))) {
    partial->open = 0;
    return FOLK_LOST;
  }
  partial->open = search.nodes[found].open;
  if (!is_solved(&search, found)) return FOLK_THINKING;
  *plan = (folk_plan){.count = partial->count};
  memcpy(plan->steps, partial->steps, partial->count);
  partial->open = 0;
  return FOLK_FOUND;
}

bool folk_plan_holds(const folk_problem *problem, const folk_plan *plan, uint32_t goal) {
  uint64_t facts = problem->facts;
  for (uint32_t i = plan->at; i < plan->count; i++) {
    uint32_t action = plan->steps[i];
    if (needs_of(problem, action) & ~facts || problem->blocked >> action & 1) return false;
    facts = (facts & ~taken_by(problem, action)) | folk_deed_of(action)->gives;
  }
  return (facts & FOLK_REACHED(goal)) != 0;
}

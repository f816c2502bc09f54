#include "service/zones/balance.h"

#include "base/assert.h"

#include <math.h>
#include <string.h>

/* Plans that are gone on from; and the longest. */
enum { BEAM_PLANS = 32, PLAN_MOVES = 6 };

/* One look at the land. */
typedef struct balance_look {
  const balance_land *land;
  const balance_limits *limits;
  uint64_t now_ns;
  double pressures[BALANCE_NODES_MAX];
  uint64_t left_out; /* nodes, by their bits, that nothing relieves */
} balance_look;

void balance_pressures(const balance_land *land, double pressures[BALANCE_NODES_MAX]) {
  for (uint32_t i = 0; i < land->node_count; i++) pressures[i] = 0;
  for (uint32_t i = 0; i < land->zone_count; i++) {
    const balance_zone *zone = &land->zones[i];
    if (zone->node != BALANCE_NOWHERE) pressures[zone->node] += zone->load / land->nodes[zone->node].capacity;
  }
}

/* --------------------------------------------------------------------------------------------------- who may, where */

/* Whether a time lies in the past for so long; 0 does. */
static bool is_past(const balance_look *look, uint64_t since_ns, uint64_t rest_ns) {
  return !since_ns || look->now_ns >= since_ns + rest_ns;
}

static bool has_rested(const balance_look *look, const balance_zone *zone) {
  const balance_limits *limits = look->limits;
  return is_past(look, zone->moved_ns, limits->rest_ns) && is_past(look, zone->failed_ns, limits->retry_ns);
}

static bool is_heard_of(const balance_look *look, const balance_zone *zone) {
  return zone->node != BALANCE_NOWHERE && look->land->nodes[zone->node].heard;
}

static bool may_leave(const balance_look *look, const balance_zone *zone) {
  return is_heard_of(look, zone) && !(look->left_out >> zone->node & 1) && has_rested(look, zone);
}

/* Somebody waits for that. */
static bool is_to_leave(const balance_look *look, const balance_zone *zone) {
  return is_heard_of(look, zone) && look->land->nodes[zone->node].drains &&
         is_past(look, zone->failed_ns, look->limits->rest_ns);
}

static bool takes_part(const balance_look *look, uint32_t node) {
  const balance_node *at = &look->land->nodes[node];
  return at->heard && !at->drains && !(look->left_out >> node & 1);
}

static bool may_come(const balance_look *look, const balance_zone *zone, uint32_t node) {
  return node != zone->node && takes_part(look, node) && (zone->nodes_allowed >> node & 1);
}

static double least_part(const balance_look *look) {
  return look->left_out ? look->limits->gain_below : look->limits->gain;
}

static void leave_out(balance_look *look, uint32_t node) {
  look->left_out |= (uint64_t)1 << node;
}

/* What a zone adds to the pressure of a node. */
static double part_of(const balance_look *look, const balance_zone *zone, uint32_t node) {
  return zone->load / look->land->nodes[node].capacity;
}

/* ----------------------------------------------------------------------------------------------------------- drains */

static bool find_lowest(const balance_look *look, const balance_zone *zone, uint32_t *node) {
  double lowest = INFINITY;
  for (uint32_t i = 0; i < look->land->node_count; i++) {
    if (!may_come(look, zone, i)) continue;
    double after = look->pressures[i] + part_of(look, zone, i);
    if (after >= lowest) continue;
    lowest = after;
    *node = i;
  }
  return lowest < INFINITY;
}

static bool find_drain(const balance_look *look, balance_move *move) {
  double heaviest = -1;
  for (uint32_t i = 0; i < look->land->zone_count; i++) {
    const balance_zone *zone = &look->land->zones[i];
    uint32_t node = 0;
    if (!is_to_leave(look, zone) || zone->load <= heaviest) continue;
    if (!find_lowest(look, zone, &node)) continue;
    heaviest = zone->load;
    *move = (balance_move){i, node};
  }
  return heaviest >= 0;
}

/* ------------------------------------------------------------------------------------------------------------ plans */

enum { TOPS = 3 };

/* Some moves one after the other, none of a zone twice, and what they come to. */
typedef struct balance_plan {
  uint32_t count;
  balance_move first;
  double highest, most;             /* pressure in the end; and of all steps */
  double uneven;                    /* how uneven the pressures are: what is little of that is gone on from */
  uint64_t moved;                   /* zones, by their bits */
  uint8_t tops[TOPS];               /* nodes with the highest pressures, falling; NO_NODE = there are less */
  uint8_t nodes[BALANCE_ZONES_MAX]; /* of the zones */
  double pressures[BALANCE_NODES_MAX];
} balance_plan;

enum { NO_NODE = UINT8_MAX };

typedef struct balance_beam {
  uint32_t count;
  balance_plan plans[BEAM_PLANS];
  uint32_t worst; /* the most uneven one, once it is full */
} balance_beam;

/* A move more, and what it comes to. */
typedef struct balance_step {
  balance_move move;
  double from_after, to_after; /* pressures of its nodes */
  double highest, uneven;
} balance_step;

static double unevenness(const balance_look *look, uint32_t node, double pressure) {
  double square = pressure * pressure;
  return square * square * look->land->nodes[node].capacity;
}

/* Those nodes that a move leaves as they are have all but two of the highest pressures. */
static void note_tops(const balance_look *look, balance_plan *plan) {
  for (uint32_t top = 0; top < TOPS; top++) plan->tops[top] = NO_NODE;
  for (uint32_t i = 0; i < look->land->node_count; i++) {
    uint8_t node = (uint8_t)i;
    if (!takes_part(look, i)) continue;
    for (uint32_t top = 0; top < TOPS; top++) {
      uint8_t other = plan->tops[top];
      if (other != NO_NODE && plan->pressures[other] >= plan->pressures[node]) continue;
      plan->tops[top] = node;
      if (other == NO_NODE) break;
      node = other;
    }
  }
}

static double highest_but(const balance_plan *plan, uint32_t from, uint32_t to) {
  for (uint32_t top = 0; top < TOPS && plan->tops[top] != NO_NODE; top++)
    if (plan->tops[top] != from && plan->tops[top] != to) return plan->pressures[plan->tops[top]];
  return 0;
}

static balance_step make_step(const balance_look *look, const balance_plan *plan, balance_move move) {
  const balance_zone *zone = &look->land->zones[move.zone];
  uint32_t from = plan->nodes[move.zone], to = move.node;
  double from_before = plan->pressures[from], to_before = plan->pressures[to];
  balance_step step = {.move = move};
  step.from_after = from_before - part_of(look, zone, from);
  step.to_after = to_before + part_of(look, zone, to);
  step.highest = fmax(highest_but(plan, from, to), fmax(step.from_after, step.to_after));
  step.uneven = plan->uneven + unevenness(look, from, step.from_after) - unevenness(look, from, from_before) +
                unevenness(look, to, step.to_after) - unevenness(look, to, to_before);
  return step;
}

static void add_step(const balance_look *look, balance_plan *plan, const balance_step *step) {
  plan->pressures[plan->nodes[step->move.zone]] = step->from_after;
  plan->pressures[step->move.node] = step->to_after;
  plan->nodes[step->move.zone] = (uint8_t)step->move.node;
  plan->moved |= (uint64_t)1 << step->move.zone;
  if (!plan->count++) plan->first = step->move;
  plan->highest = step->highest;
  plan->most = fmax(plan->most, step->highest);
  plan->uneven = step->uneven;
  note_tops(look, plan);
}

static bool is_same(const balance_look *look, const balance_plan *left, const balance_plan *right) {
  return left->moved == right->moved && memcmp(left->nodes, right->nodes, look->land->zone_count) == 0;
}

/* Keeps a plan among the least uneven; of two that come to the same the one with the lower way. */
static void keep_longer(const balance_look *look, balance_beam *beam, const balance_plan *plan,
                        const balance_step *step) {
  if (beam->count == BEAM_PLANS && step->uneven >= beam->plans[beam->worst].uneven) return;
  balance_plan longer = *plan;
  add_step(look, &longer, step);
  for (uint32_t i = 0; i < beam->count; i++) {
    if (!is_same(look, &beam->plans[i], &longer)) continue;
    if (longer.most < beam->plans[i].most) beam->plans[i] = longer;
    return;
  }
  beam->plans[beam->count < BEAM_PLANS ? beam->count++ : beam->worst] = longer;
  beam->worst = 0;
  for (uint32_t i = 1; i < beam->count; i++)
    if (beam->plans[i].uneven > beam->plans[beam->worst].uneven) beam->worst = i;
}

/* The best that was found: the first move of a plan. */
typedef struct balance_choice {
  double before, cost;
  balance_move move;
} balance_choice;

/* Takes a plan with a step more, if that is worth it, and the best so far. */
static void judge_longer(const balance_look *look, const balance_plan *plan, const balance_step *step,
                         balance_choice *choice) {
  const balance_limits *limits = look->limits;
  double further = choice->before * limits->gain_more * plan->count, most = fmax(plan->most, step->highest);
  double gain = fmax(choice->before * least_part(look) + further, limits->floor);
  double detour = fmax(most - choice->before, 0), cost = step->highest + further + detour;
  if (step->highest > choice->before - gain || cost >= choice->cost) return;
  if (detour > 0 && most > step->highest * (1 + limits->detour)) return;
  choice->cost = cost;
  choice->move = plan->count ? plan->first : step->move;
}

/* All plans of one move more. */
static void try_longer(const balance_look *look, const balance_plan *plan, balance_beam *next, balance_choice *choice) {
  for (uint32_t i = 0; i < look->land->zone_count; i++) {
    const balance_zone *zone = &look->land->zones[i];
    if ((plan->moved >> i & 1) || !may_leave(look, zone)) continue;
    for (uint32_t node = 0; node < look->land->node_count; node++) {
      if (!may_come(look, zone, node)) continue;
      const balance_step step = make_step(look, plan, (balance_move){i, node});
      judge_longer(look, plan, &step, choice);
      keep_longer(look, next, plan, &step);
    }
  }
}

static void begin_plan(const balance_look *look, balance_plan *plan) {
  *plan = (balance_plan){.count = 0};
  memcpy(plan->pressures, look->pressures, sizeof plan->pressures);
  for (uint32_t i = 0; i < look->land->zone_count; i++) plan->nodes[i] = (uint8_t)look->land->zones[i].node;
  for (uint32_t i = 0; i < look->land->node_count; i++)
    if (takes_part(look, i)) plan->uneven += unevenness(look, i, plan->pressures[i]);
  note_tops(look, plan);
  plan->highest = plan->most = highest_but(plan, NO_NODE, NO_NODE);
}

/* Brings down the highest pressure of those that take part. */
static bool find_relief(const balance_look *look, balance_move *move) {
  balance_beam beams[2];
  begin_plan(look, &beams[0].plans[0]);
  beams[0].count = 1;
  balance_choice choice = {.before = beams[0].plans[0].highest, .cost = INFINITY};
  for (uint32_t length = 0; length < PLAN_MOVES; length++) {
    const balance_beam *now = &beams[length % 2];
    balance_beam *next = &beams[(length + 1) % 2];
    next->count = 0;
    for (uint32_t i = 0; i < now->count; i++) try_longer(look, &now->plans[i], next, &choice);
  }
  *move = choice.move;
  return choice.cost < INFINITY;
}

/* The node with the highest pressure, if there is something to gain at all: an even land has no lower one. */
static bool find_highest(const balance_look *look, uint32_t *highest) {
  double load = 0, capacity = 0, most = 0;
  for (uint32_t i = 0; i < look->land->node_count; i++) {
    if (!takes_part(look, i)) continue;
    load += look->pressures[i] * look->land->nodes[i].capacity;
    capacity += look->land->nodes[i].capacity;
    if (look->pressures[i] <= most) continue;
    most = look->pressures[i];
    *highest = i;
  }
  return capacity > 0 && most - load / capacity >= fmax(most * least_part(look), look->limits->floor);
}

static bool is_under_way(const balance_land *land) {
  bool any = false;
  for (uint32_t i = 0; i < land->zone_count; i++) any = any || land->zones[i].goes;
  return any;
}

bool balance_next(const balance_land *land, const balance_limits *limits, uint64_t now_ns, balance_move *move) {
  balance_look look = {.land = land, .limits = limits, .now_ns = now_ns};
  ASSERT(land->node_count <= BALANCE_NODES_MAX && land->zone_count <= BALANCE_ZONES_MAX);
  if (is_under_way(land)) return false;
  balance_pressures(land, look.pressures);
  if (find_drain(&look, move)) return true;
  if (limits->drains_only) return false;
  for (uint32_t node = 0; find_highest(&look, &node); leave_out(&look, node))
    if (find_relief(&look, move)) return true;
  return false;
}

/* The balance of zones, in virtual time: nine zones, three nodes, and a crowd that walks across the land. What the
 * planner reaches by one move at a time is held against the best of all 3^9 assignments, which are tried. */
#include "room.h"
#include "service/zones/balance.h"

#include "base/random.h"
#include "support/sanitized.h"

TestSuite(zones_balance, .timeout = 120);

enum { SIDE = 3, ZONES = SIDE * SIDE, NODES = 3, MOVES_MAX = 4096, EVERYWHERE = (1 << NODES) - 1 };

static const double second_ns = 1e9;

/* Loads are told twice a second, as means over ten seconds; a move takes some seconds. */
static const double step_s = 0.5, move_s = 4, mean_s = 10, settled_s = 120, factor = 1.25;

typedef struct crowd_def {
  double size;       /* processors that it wants */
  double spread;     /* in sides of a zone: the standard deviation of where its members are */
  double crossing_s; /* from corner to corner of the land; 0 = it stands in its corner */
  double ground;     /* what each zone wants besides */
  double bow;        /* how far from the straight way it comes, in sides of a zone */
  double noise;      /* part by which a frame's figure of a load is wrong, at most */
} crowd_def;

typedef struct walk_move {
  double from_s, until_s;
  uint32_t zone, from, to;
  bool drained; /* the node that it left drains */
} walk_move;

typedef struct land_walk {
  balance_land land; /* loads are what was told */
  balance_limits limits;
  crowd_def crowd;
  uint64_t seed, drawn;
  double now_s, judged_from_s;
  double wanted[ZONES]; /* in truth */
  uint32_t step, count;
  walk_move moves[MOVES_MAX]; /* all of them, with those under way */
  double worst, worst_s;      /* the highest pressure, over that of the best assignment */
} land_walk;

/* ------------------------------------------------------------------------------------------------------------ loads */

static double between_bounds(double from, double to, double place, double spread) {
  return 0.5 * (erf((to - place) / (spread * M_SQRT2)) - erf((from - place) / (spread * M_SQRT2)));
}

/* The part of the crowd that is in a row or a column; nobody is outside the land. */
static double part_in(uint32_t line, double place, double spread) {
  return between_bounds(line == 0 ? -1e3 : line, line == SIDE - 1 ? 1e3 : line + 1.0, place, spread);
}

static double draw(land_walk *walk) {
  return (double)(random_at(walk->seed, 1, 2, walk->drawn++) >> 11) * 0x1p-53;
}

static void set_loads(land_walk *walk) {
  /* The middle of the crowd walks from corner to corner, to and fro. */
  double ways = walk->crowd.crossing_s > 0 ? fmod(walk->now_s / walk->crowd.crossing_s, 2) : 0;
  double way = ways <= 1 ? ways : 2 - ways, aside = walk->crowd.bow * sin(M_PI * way);
  double x = SIDE * way + aside, y = SIDE * way - aside;
  for (uint32_t i = 0; i < ZONES; i++) {
    double part = part_in(i % SIDE, x, walk->crowd.spread) * part_in(i / SIDE, y, walk->crowd.spread);
    walk->wanted[i] = walk->crowd.ground * (1 + 0.1 * (i % 4)) + walk->crowd.size * part;
    double told = walk->wanted[i] * (1 + walk->crowd.noise * (2 * draw(walk) - 1)), *mean = &walk->land.zones[i].load;
    *mean = walk->now_s > 0 ? *mean + (told - *mean) * step_s / (mean_s + step_s) : told;
  }
}

/* ---------------------------------------------------------------------------------------------------------- judging */

typedef struct search_state {
  const balance_land *land;
  const double *wanted;
  double loads[NODES], best;
} search_state;

/* What is no better already than the best so far is not tried to its end. */
static void try_assignments(search_state *search, uint32_t zone, double highest) {
  if (highest >= search->best) return;
  if (zone == ZONES) {
    search->best = highest;
    return;
  }
  for (uint32_t node = 0; node < search->land->node_count; node++) {
    if (!search->land->nodes[node].heard || search->land->nodes[node].drains) continue;
    if (!(search->land->zones[zone].nodes_allowed >> node & 1)) continue;
    double before = search->loads[node];
    search->loads[node] += search->wanted[zone];
    try_assignments(search, zone + 1, fmax(highest, search->loads[node] / search->land->nodes[node].capacity));
    search->loads[node] = before;
  }
}

static void judge(land_walk *walk) {
  if (walk->now_s < walk->judged_from_s) return;
  search_state search = {.land = &walk->land, .wanted = walk->wanted, .best = INFINITY};
  try_assignments(&search, 0, 0); /* the best is the lowest of the highest pressures */
  balance_land truth = walk->land;
  double pressures[BALANCE_NODES_MAX], highest = 0;
  for (uint32_t i = 0; i < ZONES; i++) truth.zones[i].load = walk->wanted[i];
  balance_pressures(&truth, pressures);
  for (uint32_t i = 0; i < truth.node_count; i++) highest = fmax(highest, pressures[i]);
  double ratio = highest / search.best;
  if (ratio <= walk->worst) return;
  walk->worst = ratio;
  walk->worst_s = walk->now_s;
}

/* What must hold of any walk: one move at a time, and none of a zone within a minute of its last one, or it drains. */
static void expect_calm(const land_walk *walk) {
  for (uint32_t i = 0; i < walk->count; i++)
    for (uint32_t k = i + 1; k < walk->count; k++) {
      const walk_move *first = &walk->moves[i], *then = &walk->moves[k];
      cr_assert_geq(then->from_s, first->until_s, "two moves at a time, of zones %u and %u, at %.1f s", first->zone,
                    then->zone, then->from_s);
      cr_assert(first->zone != then->zone || then->drained || then->from_s - first->until_s >= 60,
                "zone %u moves again %.1f s after its last move", first->zone, then->from_s - first->until_s);
    }
}

/* ------------------------------------------------------------------------------------------------------------- walk */

static void begin_walk(land_walk *walk, const crowd_def *crowd, const double capacities[NODES]) {
  *walk = (land_walk){.crowd = *crowd, .limits = balance_limits_usual(), .seed = 1, .judged_from_s = settled_s};
  walk->land.node_count = NODES;
  walk->land.zone_count = ZONES;
  for (uint32_t i = 0; i < NODES; i++) walk->land.nodes[i] = (balance_node){.capacity = capacities[i], .heard = true};
  for (uint32_t i = 0; i < ZONES; i++)
    walk->land.zones[i] = (balance_zone){.node = i / SIDE, .nodes_allowed = EVERYWHERE};
}

static void end_moves(land_walk *walk) {
  for (uint32_t i = 0; i < walk->count; i++) {
    const walk_move *move = &walk->moves[i];
    balance_zone *zone = &walk->land.zones[move->zone];
    if (!zone->goes || move->until_s > walk->now_s || i + 1 < walk->count) continue;
    zone->goes = false;
    zone->node = move->to;
    zone->moved_ns = (uint64_t)(walk->now_s * second_ns);
  }
}

static void name_move(land_walk *walk) {
  balance_move move;
  if (!balance_next(&walk->land, &walk->limits, (uint64_t)(walk->now_s * second_ns), &move)) return;
  balance_zone *zone = &walk->land.zones[move.zone];
  cr_assert(!walk->land.nodes[move.node].drains, "a node that drains gets zone %u", move.zone);
  cr_assert(walk->land.nodes[move.node].heard && (zone->nodes_allowed >> move.node & 1) && move.node != zone->node);
  cr_assert_lt(walk->count, MOVES_MAX);
  bool drained = walk->land.nodes[zone->node].drains;
  walk->moves[walk->count++] =
      (walk_move){walk->now_s, walk->now_s + move_s, move.zone, zone->node, move.node, drained};
  zone->goes = true;
}

/* Twice a second, until a time. */
static void walk_until(land_walk *walk, double until_s) {
  for (; walk->now_s < until_s; walk->now_s += step_s) {
    set_loads(walk);
    end_moves(walk);
    if (walk->step++ % 2 == 0) name_move(walk); /* the balancer looks once a second */
    judge(walk);
  }
}

static land_walk here;

/* The worst that was seen while the crowd crossed the land once. */
static double cross(const crowd_def *crowd, const double capacities[NODES]) {
  begin_walk(&here, crowd, capacities);
  walk_until(&here, crowd->crossing_s);
  expect_calm(&here);
  return here.worst;
}

static void expect_even(const land_walk *walk, const char *what) {
  fprintf(stderr, "%s: %.3f of the best, %u moves\n", what, walk->worst, walk->count);
  cr_expect_leq(walk->worst, factor, "%s: %.3f at %.1f s", what, walk->worst, walk->worst_s);
  cr_expect_gt(walk->worst, 0, "%s: nothing was judged", what);
}

static void judge_from(land_walk *walk, double from_s) {
  walk->judged_from_s = from_s;
  walk->worst = 0;
}

static uint32_t count_zones(const land_walk *walk, uint32_t node) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < ZONES; i++) count += walk->land.zones[i].node == node;
  return count;
}

/* ----------------------------------------------------------------------------------------------------------- crowds */

static const double equal[NODES] = {4, 4, 4}, unequal[NODES] = {2, 4, 8};

/* Across six kilometres, say, in 40 minutes: at a run. */
static const crowd_def usual = {.size = 3, .spread = 0.6, .crossing_s = 2400, .ground = 0.3, .noise = 0.1};

Test(zones_balance, follows_a_crowd_across_the_land) {
  static const double sizes[] = {1, 3, 6}, spreads[] = {0.4, 0.8}, bows[] = {0, 0.4};
  for (uint32_t i = 0; i < (UNDER_SANITIZER ? 3 : 12); i++) {
    crowd_def crowd = usual;
    crowd.size = sizes[i % 3], crowd.spread = spreads[i / 3 % 2], crowd.bow = bows[i / 6];
    const char *what = formed("crowd of %g, spread %g, bow %g", crowd.size, crowd.spread, crowd.bow);
    cross(&crowd, equal);
    expect_even(&here, what);
    cr_expect_geq(here.count, 3, "%s: it stays where it is", what);
  }
}

Test(zones_balance, weighs_nodes_by_their_capacity) {
  cross(&usual, unequal);
  expect_even(&here, "nodes of 2, 4 and 8 processors");
  cr_expect_gt(count_zones(&here, 2), count_zones(&here, 0));
}

/* It is told, and not judged. */
Test(zones_balance, tells_how_fast_a_crowd_it_follows, .disabled = UNDER_SANITIZER) {
  static const double spreads[] = {0.2, 0.8}, crossings_s[] = {4800, 2400, 1200, 600, 300};
  for (uint32_t i = 0; i < 2; i++)
    for (uint32_t k = 0; k < 5; k++) {
      crowd_def crowd = usual;
      crowd.spread = spreads[i], crowd.crossing_s = crossings_s[k];
      double worst = cross(&crowd, equal);
      fprintf(stderr, "spread %g, across in %g min: %.3f of the best, %u moves\n", crowd.spread, crowd.crossing_s / 60,
              worst, here.count);
    }
}

Test(zones_balance, does_not_move_for_noise) {
  crowd_def crowd = {.size = 3, .spread = 0.6, .ground = 0.3, .noise = 0.2};
  begin_walk(&here, &crowd, equal);
  walk_until(&here, settled_s);
  uint32_t settled = here.count;
  walk_until(&here, settled_s + 7200);
  expect_even(&here, "a crowd that stands");
  cr_expect_geq(settled, 1);
  cr_expect_leq(here.count, settled, "%u moves in two hours", here.count - settled);
}

/* ------------------------------------------------------------------------------------------------------------ nodes */

/* What happens to the zones of a node that is not heard any more is not the balancer's: others take them over. */
static void lose_node(land_walk *walk, uint32_t node) {
  walk->land.nodes[node].heard = false;
  for (uint32_t i = 0; i < ZONES; i++) {
    balance_zone *zone = &walk->land.zones[i];
    if (zone->node != node) continue;
    zone->node = (node + 1) % NODES;
    zone->moved_ns = (uint64_t)(walk->now_s * second_ns);
  }
}

Test(zones_balance, spreads_what_a_dead_node_had) {
  begin_walk(&here, &usual, equal);
  walk_until(&here, 600);
  cr_expect_gt(count_zones(&here, 1), 0);
  if (here.count > 0) here.land.zones[here.moves[here.count - 1].zone].goes = false; /* given up */
  lose_node(&here, 1);
  judge_from(&here, 600 + settled_s);
  walk_until(&here, 1500);
  expect_even(&here, "two nodes of three");
  cr_expect_eq(count_zones(&here, 1), 0);
}

Test(zones_balance, spreads_onto_a_node_that_is_added) {
  begin_walk(&here, &usual, equal);
  lose_node(&here, 2);
  for (uint32_t i = 0; i < ZONES; i++) here.land.zones[i].moved_ns = 0;
  walk_until(&here, 600);
  cr_expect_eq(count_zones(&here, 2), 0);
  here.land.nodes[2].heard = true;
  judge_from(&here, 660);
  walk_until(&here, 1500);
  expect_even(&here, "a third node, a minute later");
  cr_expect_gt(count_zones(&here, 2), 0);
  expect_calm(&here);
}

Test(zones_balance, empties_a_node_that_drains) {
  begin_walk(&here, &usual, equal);
  walk_until(&here, 600);
  uint32_t had = count_zones(&here, 0);
  here.land.nodes[0].drains = true;
  cr_expect_gt(had, 0);
  walk_until(&here, 600 + 60 + had * (move_s + 2));
  cr_expect_eq(count_zones(&here, 0), 0, "a minute, if all have just moved, and a move for each");
  judge_from(&here, here.now_s + 120);
  walk_until(&here, 1500);
  cr_expect_eq(count_zones(&here, 0), 0);
  expect_even(&here, "without the node that drains");
  here.land.nodes[0].drains = false;
  judge_from(&here, here.now_s + 120);
  walk_until(&here, 2400);
  expect_even(&here, "with it again");
  cr_expect_gt(count_zones(&here, 0), 0);
  expect_calm(&here);
}

Test(zones_balance, moves_nothing_but_what_drains_where_that_is_asked) {
  begin_walk(&here, &usual, equal);
  here.limits.drains_only = true;
  walk_until(&here, 600);
  cr_expect_eq(here.count, 0);
  here.land.nodes[0].drains = true;
  walk_until(&here, 700);
  cr_expect_eq(here.count, 3);
  cr_expect_eq(count_zones(&here, 0), 0);
}

/* --------------------------------------------------------------------------------------------------------- one look */

static balance_land land;
static balance_move move;

/* Zones of these loads on nodes of capacity 4. */
static void set_land(uint32_t nodes, uint32_t zones, const uint32_t places[], const double loads[]) {
  land = (balance_land){.node_count = nodes, .zone_count = zones};
  for (uint32_t i = 0; i < nodes; i++) land.nodes[i] = (balance_node){.capacity = 4, .heard = true};
  for (uint32_t i = 0; i < zones; i++)
    land.zones[i] = (balance_zone){.node = places[i], .load = loads[i], .nodes_allowed = UINT64_MAX};
}

static bool look_ns(uint64_t at_ns) {
  const balance_limits limits = balance_limits_usual();
  return balance_next(&land, &limits, at_ns, &move);
}

static bool look(uint64_t at_s) {
  return look_ns(at_s * (uint64_t)second_ns);
}

static const uint32_t both_on_first[] = {0, 0};
static const double one_each[] = {1, 1};

Test(zones_balance, a_zone_goes_where_it_may_and_is_expected) {
  set_land(3, 2, both_on_first, one_each);
  cr_assert(look(1000));
  cr_expect_neq(move.node, 0);
  land.zones[0].nodes_allowed = 1;
  land.zones[1].nodes_allowed = 1 | 1 << 2;
  cr_assert(look(1000));
  cr_expect(move.zone == 1 && move.node == 2);
  land.nodes[2].heard = false;
  cr_expect(!look(1000));
  land.nodes[2] = (balance_node){.capacity = 4, .heard = true, .drains = true};
  cr_expect(!look(1000));
  land.nodes[2].drains = false;
  land.zones[0].goes = true;
  cr_expect(!look(1000), "one is under way");
  land.zones[0] = (balance_zone){.node = BALANCE_NOWHERE, .load = 1, .nodes_allowed = UINT64_MAX};
  cr_expect(!look(1000), "one alone is nowhere better");
}

Test(zones_balance, what_has_moved_or_was_given_up_rests) {
  const uint64_t at_ns = 1000 * (uint64_t)second_ns;
  set_land(2, 2, both_on_first, one_each);
  land.zones[0].moved_ns = land.zones[1].moved_ns = at_ns;
  cr_expect(!look(1000));
  cr_expect(!look(1059));
  cr_expect(look(1060));
  land.zones[0].failed_ns = land.zones[1].failed_ns = at_ns;
  cr_expect(!look(1299));
  cr_expect(look(1300));
  land.zones[1].moved_ns = 1290 * (uint64_t)second_ns;
  cr_assert(look(1300));
  cr_expect_eq(move.zone, 0);
  land.zones[0].moved_ns = 1290 * (uint64_t)second_ns;
  cr_expect(!look(1300));
  land.nodes[0].drains = true;
  cr_expect(look(1300), "somebody waits until they have left");
  land.zones[0].failed_ns = land.zones[1].failed_ns = 1300 * (uint64_t)second_ns;
  cr_expect(!look(1359));
  cr_expect(look(1360), "and they are tried again sooner");
}

/* The load that it brings weighs as much as the node is small: the node that has the least load is not the one. */
Test(zones_balance, what_drains_goes_to_where_the_pressure_is_the_lowest_then) {
  set_land(3, 4, (const uint32_t[]){0, 0, 1, 2}, (const double[]){1, 2, 0.1, 3});
  land.nodes[0].drains = true;
  land.nodes[1].capacity = 1;
  land.nodes[2].capacity = 32;
  cr_assert(look(1000));
  cr_expect_eq(move.zone, 1, "the heaviest first");
  cr_expect_eq(move.node, 2, "0.1 + 2 of one processor, or 3 + 2 of 32");
  land.zones[1].node = 2;
  cr_assert(look(1000));
  cr_expect(move.zone == 0 && move.node == 2);
  land.nodes[2].capacity = 4; /* 1.1 of one, or 6 of four */
  cr_assert(look(1000));
  cr_expect(move.zone == 0 && move.node == 1);
}

/* The best is reached by an exchange, in several moves, each of which the look after it goes on with. */
Test(zones_balance, two_heavy_zones_part_by_an_exchange) {
  set_land(3, 6, (const uint32_t[]){0, 0, 1, 1, 1, 2}, (const double[]){2, 1.9, 0.5, 0.6, 0.5, 1.7});
  for (uint32_t moves = 0; look(1000) && moves < 8; moves++) land.zones[move.zone].node = move.node;
  double pressures[BALANCE_NODES_MAX];
  balance_pressures(&land, pressures);
  for (uint32_t i = 0; i < 3; i++) cr_expect_leq(pressures[i], 0.65, "node %u: %.3f", i, pressures[i]);
}

/* Nothing relieves the node with the one heavy zone; the two others are not left as they are for that. */
Test(zones_balance, a_zone_too_heavy_for_any_node_does_not_hold_up_the_others) {
  set_land(3, 5, (const uint32_t[]){0, 1, 1, 1, 1}, (const double[]){9, 0.5, 0.5, 0.5, 0.5});
  for (uint32_t moves = 0; moves < 2; moves++) {
    cr_assert(look(1000));
    cr_expect(land.zones[move.zone].node == 1 && move.node == 2);
    land.zones[move.zone].node = 2;
  }
  cr_expect(!look(1000));
}

Test(zones_balance, an_idle_land_is_left_alone) {
  set_land(2, 2, both_on_first, (const double[]){0.03, 0.04});
  cr_expect(!look(1000), "that much is not worth a move");
  set_land(1, 2, both_on_first, one_each);
  cr_expect(!look(1000), "there is one node");
  set_land(0, 0, NULL, NULL);
  cr_expect(!look(1000));
}

/* A move that was given up is tried again much later, unless its node is to be emptied; and only where it may be. */
Test(zones_balance, what_was_given_up_rests_for_long_and_in_a_drain_for_less) {
  const balance_limits limits = balance_limits_usual();
  const uint64_t failed_ns = 1000000000000u, rested_ns = failed_ns + limits.rest_ns,
                 again_ns = failed_ns + limits.retry_ns;
  set_land(2, 2, both_on_first, (const double[]){1, 2});
  cr_assert(look_ns(failed_ns));
  for (uint32_t i = 0; i < 2; i++) land.zones[i].failed_ns = failed_ns;
  cr_expect(!look_ns(rested_ns));
  cr_expect(!look_ns(again_ns - 1));
  cr_expect(look_ns(again_ns));
  for (uint32_t i = 0; i < 2; i++) land.zones[i].failed_ns = 0, land.zones[i].moved_ns = failed_ns;
  cr_expect(!look_ns(rested_ns - 1));
  cr_expect(look_ns(rested_ns));
  land.nodes[0].drains = true;
  cr_expect(look_ns(failed_ns) && move.zone == 1 && move.node == 1, "somebody waits");
  for (uint32_t i = 0; i < 2; i++) land.zones[i].failed_ns = failed_ns;
  cr_expect(!look_ns(rested_ns - 1));
  cr_expect(look_ns(rested_ns));
  land.zones[1].nodes_allowed = 1;
  cr_expect(look_ns(rested_ns) && move.zone == 0);
  land.zones[0].nodes_allowed = 1;
  cr_expect(!look_ns(rested_ns), "neither may go there");
}

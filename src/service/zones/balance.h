/* service/zones/balance.h - which zone should move to which node next. Pure: it is given all that it looks at, the time
 * included, and remembers nothing.
 *
 * The pressure of a node is what its zones want, over its capacity. One move at a time is named:
 *
 *     first   a node that drains is emptied, its heaviest zone first, each to where the pressure is the lowest then. It
 *             gets nothing. Its zones do not rest: a person waits.
 *     then    the highest pressure is brought down. When nothing relieves the node that has it, such as one whose only
 *             zone is too heavy, that node is left out, and the turn of the others has come.
 *
 * Single moves that each bring the highest pressure down soon find none any more: two heavy zones on one node leave it
 * only in exchange for lighter ones of another, and these need room first. So plans of up to six moves are looked at,
 * by a beam: of all plans of one move more the 32 least uneven are gone on from. The first move of the best plan is
 * named; a moment later the rest of it is found again, or something better. No zone moves twice in a plan.
 *
 * Moves have their price, and loads are never still. So that zones do not go to and fro (hysteresis), a plan must bring
 * the highest pressure down by a part of it (`gain`, and `gain_more` for each further move), and by `floor` at least;
 * and what has moved rests. For the others that much is not worth it: zones that rest are missed when the highest
 * rises. A plan may lead over a pressure that is higher than now, in an exchange, but only a little higher than where
 * it ends (`detour`). */
#ifndef SERVICE_ZONES_BALANCE_H
#define SERVICE_ZONES_BALANCE_H

#include <stdbool.h>
#include <stdint.h>

enum { BALANCE_NODES_MAX = 64, BALANCE_ZONES_MAX = 64 };

typedef struct balance_node {
  double capacity; /* above 0, in the unit of the loads: processors */
  bool drains;
  bool heard; /* false: it gets nothing, and what it has stays where it is */
} balance_node;

typedef struct balance_zone {
  uint32_t node;          /* where it is: a place in the list of nodes; BALANCE_NOWHERE = not known */
  bool goes;              /* another node is to have it, and has not yet: until then nothing else is named */
  double load;            /* not below 0 */
  uint64_t nodes_allowed; /* a bit for each place in the list of nodes */
  uint64_t moved_ns;      /* when it came to its node; 0 = long ago */
  uint64_t failed_ns;     /* when a move of it was given up; 0 = never, or long ago */
} balance_zone;

#define BALANCE_NOWHERE UINT32_MAX

typedef struct balance_limits {
  double gain;       /* part of the highest pressure by which a plan brings it down at least; */
  double gain_below; /* the same for the others, where nothing relieves the highest; */
  double gain_more;  /* for each move but the first so much more */
  double floor;      /* and in any case so much */
  double detour;     /* part by which the way may be higher than its end, where it is higher than its begin */
  uint64_t
      rest_ns; /* after a move, before the next one of the same zone; and after one that was given up, in a drain */
  uint64_t retry_ns; /* after one that was given up, otherwise */
  bool drains_only;  /* zones leave nodes that drain, and stay otherwise */
} balance_limits;

/* What the balancer goes by. */
static inline balance_limits balance_limits_usual(void) {
  return (balance_limits){.gain = 0.04,
                          .gain_below = 0.25,
                          .gain_more = 0.03,
                          .floor = 0.02,
                          .detour = 0.12,
                          .rest_ns = 60000000000u,
                          .retry_ns = 300000000000u};
}

typedef struct balance_land {
  uint32_t node_count, zone_count;
  balance_node nodes[BALANCE_NODES_MAX];
  balance_zone zones[BALANCE_ZONES_MAX];
} balance_land;

typedef struct balance_move {
  uint32_t zone, node; /* places in the lists */
} balance_move;

/* The next move; false: none is worth it now, or one is under way. O(zones x nodes^2), a hundred times that. */
bool balance_next(const balance_land *land, const balance_limits *limits, uint64_t now_ns, balance_move *move);

/* What the zones of each node want, over its capacity. */
void balance_pressures(const balance_land *land, double pressures[BALANCE_NODES_MAX]);

#endif

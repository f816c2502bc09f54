/* service/zones/balancer.h - tells what this node is, hears the others (nodes.h), and, while it has the balancer's
 * lease, names one move after the other (balance.h).
 *
 * The lease is one like those of zones, of number BROKER_BALANCER. Its death changes nothing: moves that were named
 * stand in etcd, and the next node that has the lease waits until they are over. A balancer that does not know yet that
 * it has lost its lease stands still before another can have it, as zones do; a move that it named in the last moment
 * is one more that the next one waits for.
 *
 *     each 0.5 s   it tells
 *     each 1 s     which moves are wanted? none, and the tables are whole: the planner names the next
 *     each 2 s     it renews its lease, or asks for it
 *
 * Loop's thread. */
#ifndef SERVICE_ZONES_BALANCER_H
#define SERVICE_ZONES_BALANCER_H

#include "service/zones/holder_parts.h"
#include "service/zones/nodes.h"
#include "service/zones/orders.h"

struct balancer {
  struct holder *holder;
  struct nodes nodes;
  uv_timer_t timer;
  uint64_t turns;
  double capacity;   /* processors of this node */
  bool drains;       /* a person wants it */
  uint64_t quiet_ns; /* until then the log does not tell again that somebody cannot be understood */

  broker_lease lease;
  bool leased, asks;            /* as far as this node knows; a call about it has no answer yet */
  uint64_t asked_ns, leased_ns; /* CLOCK_BOOTTIME of the call under way, and of the last one that was granted */
  int64_t seen_revision;        /* of another's lease, */
  uint64_t seen_ns;             /* since when */

  bool reads; /* what is wanted */
  move_orders wanted, read;
  move_order named;               /* by this node; zone 0 = none that is not over */
  uint64_t over_ns;               /* since when it is wanted no more; 0 = it is */
  uint64_t failed_ns[WORLDS_MAX]; /* by the places of the zones: when a move was given up last */
  uint64_t moves_named, moves_failed;
  char words[NODES_WHY_BYTES]; /* why nothing is named, or what was; "" = all is well as it is */
};

/* Null: no memory. Begins once the broker is there. */
struct balancer *balancer_open(struct holder *holder);
void balancer_free(struct balancer *balancer);

/* Tells at once, and not only with the next turn. */
void balancer_tell(struct balancer *balancer);

/* Whether a zone is left to another node, since this one drains, and does not have it, nor is to have it. */
bool balancer_leaves(const struct balancer *balancer, const struct holding *holding);

/* balancer_lease.c: asks for the lease, or renews it; gives it back (false: it had none, or nobody can be
 * asked); whether it may be used. */
void balancer_look_at_lease(struct balancer *balancer);
bool balancer_release(struct balancer *balancer, broker_done done, void *user);
bool balancer_has_lease(const struct balancer *balancer);

#endif

/* pool/team.h - how a frame calls for help: one piece of work that all workers do beside the caller.
 *
 * A team is a group of jobs at MUSTER_URGENCY_FRAME, one for each worker that may come; each runs the same function
 * until there is nothing left for it. Several teams, of several worlds, can be open at once.
 *
 *   team_open ---> workers come, work, leave ---> team_close: no more may come --> team_wait: all have left
 *                     ^               |
 *                     +-- team_call: there is something again, one more may come
 */
#ifndef POOL_TEAM_H
#define POOL_TEAM_H

#include "pool/group.h"

struct worker_slot;

/* What every worker of a team runs, under its index. Returns when there is nothing left for this worker. */
typedef void (*team_work)(void *argument, uint32_t worker);

typedef struct team_orders {
  team_work work;
  void *argument;
  uint64_t patience_ns;                 /* the caller spins for the last worker until the clock reads this (at most
                                           SPIN_NS), then sleeps */
  void (*before_sleep)(void *argument); /* called on the caller before it sleeps; may be null */
  uint32_t workers;                     /* how many work on it at most, the caller included; 0 = all of the pool's */
} team_orders;

struct team {
  struct group group;
  shared_u32 open; /* closing clears it before it looks for entries; a call looks at it again after its push */
  team_orders orders;
};

/* Wakes the workers ahead of a team that opens within SPIN_NS: they wait for it spinning. */
void team_wake(struct muster_pool *pool);

/* Opens a team and calls up to `helpers` workers. The caller, which has `slot`, goes on. */
void team_open(struct team *team, struct worker_slot *slot, const team_orders *orders, uint32_t helpers);

/* Lets `count` more workers come, because there is more to do; does nothing when as many as there are came or were
 * called. It wakes WORKER_WAKES of them, and each of these as many again while workers are wanted, so calling many
 * takes hardly longer than calling a few. To be called by any member inside the team, and by the team's caller while it
 * is open. */
void team_call(struct team *team, struct worker_slot *slot, uint32_t count);

/* Lets no further worker in. To be called by the team's caller. */
void team_close(struct team *team, struct worker_slot *slot);

/* Waits until all workers that came have left. After team_close. */
void team_wait(struct team *team, struct worker_slot *slot);

/* Opens a team, works in it, closes it and waits. */
void team_run(struct team *team, struct worker_slot *slot, const team_orders *orders, uint32_t helpers);

#define TEAM_ALL UINT32_MAX

#endif

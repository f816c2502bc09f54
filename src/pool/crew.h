/* pool/crew.h - how a frame calls for help: one piece of work that all workers do beside the caller.
 *
 * A crew is a group of jobs at MUSTER_PRIORITY_FRAME, one for each worker that may come; each runs the same function
 * until there is nothing left for it. Several crews, of several worlds, can be open at once.
 *
 *   crew_open ---> workers come, work, leave ---> crew_close: no more may come --> crew_wait: all have left
 *                     ^               |
 *                     +-- crew_call: there is something again, one more may come
 */
#ifndef POOL_CREW_H
#define POOL_CREW_H

#include "pool/group.h"

struct seat;

/* What every worker of a crew runs, under its index. Returns when there is nothing left for this worker. */
typedef void (*crew_work)(void *argument, uint32_t worker);

typedef struct crew_orders {
  crew_work work;
  void *argument;
  uint64_t patience_ns;                 /* the caller spins for the last worker until the clock reads this (at most
                                           SPIN_NS), then sleeps */
  void (*before_sleep)(void *argument); /* called on the caller before it sleeps; may be null */
  uint32_t workers;                     /* how many work on it at most, the caller included; 0 = all of the pool's */
} crew_orders;

struct crew {
  struct group group;
  shared_u32 open; /* closing clears it before it looks for entries; a call looks at it again after its push */
  crew_orders orders;
};

/* Wakes the workers ahead of a crew that opens within SPIN_NS: they wait for it spinning. */
void crew_wake(struct muster_pool *pool);

/* Opens a crew and calls up to `helpers` workers. The caller, which sits at `seat`, goes on. */
void crew_open(struct crew *crew, struct seat *seat, const crew_orders *orders, uint32_t helpers);

/* Lets one more worker come, because there is more to do; does nothing when as many as there are came or were called.
 * To be called by any member inside the crew, and by the crew's caller while it is open. */
void crew_call(struct crew *crew, struct seat *seat);

/* Lets no further worker in. To be called by the crew's caller. */
void crew_close(struct crew *crew, struct seat *seat);

/* Waits until all workers that came have left. After crew_close. */
void crew_wait(struct crew *crew, struct seat *seat);

/* Opens a crew, works in it, closes it and waits. */
void crew_run(struct crew *crew, struct seat *seat, const crew_orders *orders, uint32_t helpers);

#define CREW_ALL UINT32_MAX

#endif

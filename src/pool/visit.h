/* pool/visit.h - how a thread gets a seat: the one it has, for as long as it is inside the pool, or a guest's.
 *
 * Visits form a stack on each thread, so that a thread that works for several pools in turn (a job of one waits for a
 * group of another) finds its seat at each. */
#ifndef POOL_VISIT_H
#define POOL_VISIT_H

#include "pool/pool.h"

typedef struct visit {
  struct muster_pool *pool;
  seat *seat;
  struct visit *outer;
  bool guest; /* the seat was taken for this visit */
} visit;

/* Takes a seat, or the thread's own when it has one; waits when all guest seats are taken. */
seat *visit_begin(visit *visit, struct muster_pool *pool);

/* The same, but null when the group is complete before there is a seat. */
seat *visit_begin_unless(visit *visit, struct muster_pool *pool, const group *group);

/* The same, but null when all guest seats are taken. */
seat *visit_try(visit *visit, struct muster_pool *pool);

/* Gives it back. On the same thread, the latest visit first. */
void visit_end(visit *visit);

/* A thread of the pool sits down for its lifetime. */
void visit_settle(visit *visit, seat *seat);

/* The seat that the thread has now; null when it has none. */
seat *visit_seat(const struct muster_pool *pool);

/* A number that no other running thread has. */
uint64_t visit_thread(void);

#endif

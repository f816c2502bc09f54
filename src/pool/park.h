/* pool/park.h - where a thread sleeps until something happens: one ck event count per waiter.
 *
 *   waiter: ticket = park_ticket()  ->  look for work  ->  park_wait(ticket)
 *   waker:  publish the work        ->  park_wake()
 *
 * The count is read before looking and waited on after, so a wake between the two ends the wait at once. */
#ifndef POOL_PARK_H
#define POOL_PARK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include <ck_ec.h>

struct parking {
  struct ck_ec32 count;
};

/* Reads the count (acquire): everything published before the wakes that it counts is visible. */
static inline uint32_t park_ticket(const struct parking *parking) {
  return ck_ec32_value(&parking->count);
}

/* Whether there was a wake since the ticket was drawn. */
static inline bool park_is_stale(const struct parking *parking, uint32_t ticket) {
  return ck_ec32_value(&parking->count) != ticket;
}

/* Sleeps until the count differs from the ticket. Only the thread that owns the parking. */
void park_wait(struct parking *parking, uint32_t ticket);

/* Counts one event and wakes the waiter if it sleeps. Any thread. */
void park_wake(struct parking *parking);

#endif

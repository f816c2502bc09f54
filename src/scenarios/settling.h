/* scenarios/settling.h - how many frames it takes, after something happened, until agents run as often as they should.
 *
 * An agent has settled when it completed an update, begun after the event, no longer after the one before than is
 * wanted of it. It notes its updates in a mark at the beginning of its private state. */
#ifndef SCENARIOS_SETTLING_H
#define SCENARIOS_SETTLING_H

#include <muster/muster.h>

/* The first member of the state of agents that are watched. */
typedef struct settling_mark {
  uint64_t updated_ns;         /* simulation time of the last update; 0: none yet */
  uint64_t elapsed_ns;         /* what had elapsed before it */
  uint64_t longest_elapsed_ns; /* of all updates */
  uint64_t lived_ns;           /* sum over them */
  uint64_t born_ns;            /* simulation time of on_spawned */
} settling_mark;

typedef struct settling_member {
  muster_agent agent;
  uint64_t wanted_ns; /* longest interval that counts as settled */
} settling_member;

struct settling {
  settling_member *members; /* those that have not settled yet come first */
  uint32_t capacity, count, left;
  uint32_t frames;                                /* since the event; stops when all have settled */
  uint32_t frames_to_nine_tenths, frames_to_last; /* 0: not reached */
  uint64_t since_ns;
};

/* Notes an update; to be called once in each, by the atom that ends it. */
static inline void settling_note(const muster_update *update) {
  settling_mark *mark = update->state;
  mark->updated_ns = update->now_ns;
  mark->elapsed_ns = update->elapsed_ns;
  mark->lived_ns += update->elapsed_ns;
  if (update->elapsed_ns > mark->longest_elapsed_ns) mark->longest_elapsed_ns = update->elapsed_ns;
}

/* The on_spawned of their types. */
static inline void settling_born(muster_update *update) {
  settling_mark *mark = update->state;
  mark->born_ns = update->now_ns;
}

/* Whether what an agent's updates were told has elapsed is how long it has lived: exactly, or with one update that has
 * done its atoms and is not complete. */
static inline bool settling_has_lived(const settling_mark *mark, const muster_agent_info *info) {
  uint64_t completed_ns = info->last_update_ns - mark->born_ns;
  return mark->lived_ns == completed_ns || mark->lived_ns == completed_ns + mark->elapsed_ns;
}

/* Room for `capacity` agents. False when memory is refused. The caller releases it. */
bool settling_create(struct settling *settling, uint32_t capacity);
void settling_destroy(struct settling *settling);

/* The event: nobody is watched yet. Between frames, in front of the one at `since_ns`. */
void settling_begin(struct settling *settling, uint64_t since_ns);

/* Watches one more agent; there must be room. */
void settling_watch(struct settling *settling, muster_agent agent, uint64_t wanted_ns);

/* Looks, after a frame and before the next, who has settled. O(those who have not). */
void settling_look(struct settling *settling, const muster_world *world);

#endif

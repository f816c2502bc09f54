/* scenarios/convergence.h - how many frames it takes, after something happened, until agents run as often as they
 * should.
 *
 * An agent has settled when it completed an update, begun after the event, no longer after the one before than is
 * wanted of it. It notes its updates in a mark at the beginning of its private state. */
#ifndef SCENARIOS_CONVERGENCE_H
#define SCENARIOS_CONVERGENCE_H

#include <muster/muster.h>

/* The first member of the state of agents that are watched. */
typedef struct convergence_mark {
  uint64_t updated_ns;         /* simulation time of the last update; 0: none yet */
  uint64_t elapsed_ns;         /* what had elapsed before it */
  uint64_t longest_elapsed_ns; /* of all updates */
  uint64_t lived_ns;           /* sum over them */
  uint64_t born_ns;            /* simulation time of on_spawned */
} convergence_mark;

typedef struct convergence_member {
  muster_agent agent;
  uint64_t wanted_ns; /* longest interval that counts as settled */
} convergence_member;

struct convergence {
  convergence_member *members; /* those that have not settled yet come first */
  uint32_t capacity, count, left;
  uint32_t frames;                                /* since the event; stops when all have settled */
  uint32_t frames_to_nine_tenths, frames_to_last; /* 0: not reached */
  uint64_t since_ns;
};

/* Notes an update; to be called once in each, by the atom that ends it. */
static inline void convergence_note(const muster_update *update) {
  convergence_mark *mark = update->state;
  mark->updated_ns = update->now_ns;
  mark->elapsed_ns = update->elapsed_ns;
  mark->lived_ns += update->elapsed_ns;
  if (update->elapsed_ns > mark->longest_elapsed_ns) mark->longest_elapsed_ns = update->elapsed_ns;
}

/* The on_spawned of their types. */
static inline void convergence_born(muster_update *update) {
  convergence_mark *mark = update->state;
  mark->born_ns = update->now_ns;
}

/* Whether what an agent's updates were told has elapsed is how long it has lived: exactly, or with one update that has
 * done its atoms and is not complete. */
static inline bool convergence_has_lived(const convergence_mark *mark, const muster_agent_info *info) {
  uint64_t completed_ns = info->last_update_ns - mark->born_ns;
  return mark->lived_ns == completed_ns || mark->lived_ns == completed_ns + mark->elapsed_ns;
}

/* Room for `capacity` agents. False when memory is refused. The caller releases it. */
bool convergence_create(struct convergence *convergence, uint32_t capacity);
void convergence_destroy(struct convergence *convergence);

/* The event: nobody is watched yet. Between frames, in front of the one at `since_ns`. */
void convergence_begin(struct convergence *convergence, uint64_t since_ns);

/* Watches one more agent; there must be room. */
void convergence_watch(struct convergence *convergence, muster_agent agent, uint64_t wanted_ns);

/* Looks, after a frame and before the next, who has settled. O(those who have not). */
void convergence_look(struct convergence *convergence, const muster_world *world);

#endif

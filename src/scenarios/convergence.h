/* scenarios/convergence.h - counts the frames that it takes, after an event, until agents run as often as they should.
 *
 * An agent has settled when it completed an update that began after the event and came after the previous update by no
 * more than the interval that is wanted. It notes its updates in a mark at the beginning of its private state. */
#ifndef SCENARIOS_CONVERGENCE_H
#define SCENARIOS_CONVERGENCE_H

#include <muster/muster.h>

/* The first member of the state of agents that are watched. */
typedef struct convergence_mark {
  uint64_t updated_ns;         /* simulation time of the last update; 0: none yet */
  uint64_t elapsed_ns;         /* elapsed time that this update was told */
  uint64_t longest_elapsed_ns; /* the longest elapsed time of all updates */
  uint64_t lived_ns;           /* sum of the elapsed times of all updates */
  uint64_t born_ns;            /* simulation time of on_spawned */
} convergence_mark;

typedef struct convergence_member {
  muster_agent agent;
  uint64_t wanted_ns; /* longest interval that counts as settled */
} convergence_member;

struct convergence {
  convergence_member *members; /* those that have not settled yet come first */
  uint32_t capacity, count, left;
  uint32_t frames;                                /* since the event; counting stops when all have settled */
  uint32_t frames_to_nine_tenths, frames_to_last; /* 0: not reached */
  uint64_t since_ns;
};

/* Notes an update. The last atom of each update calls it once. */
static inline void convergence_note(const muster_update *update) {
  convergence_mark *mark = update->state;
  mark->updated_ns = update->now_ns;
  mark->elapsed_ns = update->elapsed_ns;
  mark->lived_ns += update->elapsed_ns;
  if (update->elapsed_ns > mark->longest_elapsed_ns) mark->longest_elapsed_ns = update->elapsed_ns;
}

/* The on_spawned callback of the types of watched agents. */
static inline void convergence_born(muster_update *update) {
  convergence_mark *mark = update->state;
  mark->born_ns = update->now_ns;
}

/* Whether the elapsed times that an agent's updates were told add up to the time that it has lived: exactly, or with
 * one more update that has run its atoms and is not complete. */
static inline bool convergence_has_lived(const convergence_mark *mark, const muster_agent_info *info) {
  uint64_t completed_ns = info->last_update_ns - mark->born_ns;
  return mark->lived_ns == completed_ns || mark->lived_ns == completed_ns + mark->elapsed_ns;
}

/* Room for `capacity` agents. False when memory is refused. The caller releases it. */
bool convergence_create(struct convergence *convergence, uint32_t capacity);
void convergence_destroy(struct convergence *convergence);

/* Notes the event; no agent is watched yet. Called between frames, before the frame at `since_ns`. */
void convergence_begin(struct convergence *convergence, uint64_t since_ns);

/* Watches one more agent; there must be room. */
void convergence_watch(struct convergence *convergence, muster_agent agent, uint64_t wanted_ns);

/* Finds the agents that have settled. Called after a frame and before the next. O(agents that have not settled). */
void convergence_look(struct convergence *convergence, const muster_world *world);

#endif

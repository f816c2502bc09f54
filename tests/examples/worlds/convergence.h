/* worlds/convergence.h - counts the frames that it takes, after an event, until agents run as often as they should.
 *
 * An agent has settled when it completed an update that began after the event and came after the previous update by no
 * more than the interval that is wanted. It notes its updates in a mark at the beginning of its private state. */
#ifndef WORLDS_CONVERGENCE_H
#define WORLDS_CONVERGENCE_H

#include "scenarios/scaffold.h"

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
  convergence_member *members; /* the scenario's; those that have not settled yet come first */
  uint32_t count, left;
  uint32_t frames;                                /* since the event; counting stops when all have settled */
  uint32_t frames_to_nine_tenths, frames_to_last; /* 0: not reached */
  uint64_t since_ns;
};

/* Events after which all agents settled, and sums and maxima over them. */
typedef struct convergence_sums {
  uint64_t events, frames_to_nine_tenths, frames_to_last;
  uint32_t nine_tenths_max, last_max;
} convergence_sums;

typedef struct convergence_means {
  double frames_to_nine_tenths, frames_to_last;
} convergence_means;

#define CONVERGENCE_LINES(found, means, own, sums)                                                                     \
  SCAFFOLD_FOUND("frames_to_nine_tenths", found, means.frames_to_nine_tenths),                                         \
      SCAFFOLD_OWN("frames_to_nine_tenths_max", own, sums.nine_tenths_max),                                            \
      SCAFFOLD_FOUND("frames_to_last", found, means.frames_to_last),                                                   \
      SCAFFOLD_OWN("frames_to_last_max", own, sums.last_max)

/* The means for CONVERGENCE_LINES; 0 without an event. */
convergence_means convergence_mean(const convergence_sums *sums);

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

/* Notes the event; no agent is watched yet. Called between frames, before the frame at `since_ns`. */
void convergence_begin(struct convergence *convergence, uint64_t since_ns);

/* Watches one more agent; there must be room. */
void convergence_watch(struct convergence *convergence, muster_agent agent, uint64_t wanted_ns);

/* Finds the agents that have settled, and adds the event to the sums when all have. Called after a frame and before the
 * next. O(agents that have not settled). */
void convergence_look(struct convergence *convergence, const muster_world *world, convergence_sums *sums);

#endif

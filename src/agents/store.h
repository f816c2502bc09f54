/* agents/store.h - START HERE for the data: what exists.
 *
 * An agent is an index into parallel columns that are reserved for agents_max and never move. A column has one
 * writer stage at a time:
 *
 *   column               written by                     read by
 *   active               intake                         every stage, muster_agent_next
 *   row.importance       score (intake at activation)   rank, run
 *   row.level, .class    score (intake at activation)   fit, release, rank, run
 *   links.next, .previous,
 *      row.bucket        whoever holds the agent: wheel (waiting) or ready (released)
 *   links.older, .younger ready                          rank
 *   row.first_due_ns,
 *      .released_frame   release (ready)                rank
 *   row.virtual_due_ns   wheel                          release
 *   row.last_update_ns, .runs,
 *      .atom_next, .spent_ns commit                      release, rank, run
 *   row.user, .generation,
 *      .type, .state_slot intake                         score, run
 *   row.status           the stage that moves the agent along the diagram below
 *   row.front            commit (publishes)             run (reads others)
 *   place                commit, intake                 score, run (neighbours)
 *   cold.started_ns      commit                         run
 *   cold, the rest       intake                         score, run
 *   state, published     run (own agent), commit (action atoms)
 *   boxes (of the type)  commit, intake (messages.c)     run (own agent)
 *
 * An admitted agent that found no time may be held for the next frame: it stays ADMITTED between the two.
 * Until its intake, row, links, place and cold of a pending agent belong to the thread that spawns it.
 *
 *                 intake             release              rank
 *   FREE -> PENDING -----> WAITING ----------> READY -------------> ADMITTED
 *     ^        |             ^  ^                ^  not run, preempted |  |
 *     |        |             |  |                +--------------------+  |
 *     |        |             |  |  commit                                | no time for its action atoms
 *     |        |             |  +----------------------------------------+--------> ACTING
 *     |        v             |                                  commit, when they ran |
 *     +--- intake (remove)   +--------------------------------------------------------+
 */
#ifndef AGENTS_STORE_H
#define AGENTS_STORE_H

#include "base/arena.h"

#include <muster/muster.h>

typedef enum agent_status {
  AGENT_FREE = 0,
  AGENT_PENDING,
  AGENT_WAITING,
  AGENT_READY,
  AGENT_ADMITTED,
  AGENT_ACTING
} agent_status;

/* Links hold index + 1, so that zeroed memory is an empty list. */
typedef uint32_t agent_link;

/* What the frame touches for a due agent: one cache line. */
typedef struct agent_row {
  uint64_t last_update_ns; /* simulation time of the last completed update */
  uint64_t virtual_due_ns; /* on the clock of its class */
  uint64_t first_due_ns;   /* simulation time of the frame that released it */
  void *user;
  float importance;
  float runs;          /* Rankin's run counter rc, decaying by 1/16 per missed period */
  uint32_t generation; /* of the agent's id, copied at its intake */
  uint32_t state_slot;
  uint32_t spent_ns; /* what the earlier parts of a preempted update took */
  uint16_t class;
  uint16_t bucket; /* of the wheel or of the ready ring */
  uint16_t type;
  uint16_t atom_next; /* > 0: a preempted update goes on here */
  uint8_t level;
  uint8_t front;          /* which of the two published buffers others read */
  uint8_t released_frame; /* lower bits of the frame's number: delays are counted from it */
  uint8_t status : 3;     /* agent_status */
  uint8_t woken : 1;
  uint8_t doomed : 1;   /* removal is queued by an action atom, or a pending agent was removed */
  uint8_t enlisted : 1; /* in the list by release */
} agent_row;

_Static_assert(sizeof(agent_row) == 64, "an agent's row is one cache line");

/* Where an agent is: a cell of the ground plane and the place inside it. Linked into a bucket of the neighbour grid. */
typedef struct agent_place {
  int32_t cell_x, cell_y;
  float x, y; /* metres from the cell's corner */
  float z;
  agent_link next, previous;
  uint16_t partition;
  uint16_t type;
} agent_place;

_Static_assert(sizeof(agent_place) == 32, "two places share a cache line");

/* The lists that an agent is in, apart from the rows: changing a list touches its neighbours, and these should not cost
 * a cache line each. */
typedef struct agent_links {
  agent_link next, previous; /* of the wheel's slot or the ready bucket */
  agent_link older, younger; /* of all that are released */
} agent_links;

typedef struct agent_cold {
  uint64_t started_ns; /* simulation time at which a preempted or acting update began */
  float importance_floor;
  float elasticity; /* < 0: derived from the type's and importance */
} agent_cold;

typedef struct agent_store {
  uint32_t maximum;
  uint32_t active_count;
  uint32_t high; /* every active index is below */
  agent_row *rows;
  agent_links *links;
  agent_place *places;
  agent_cold *colds;
  uint64_t *active; /* bitmap */
  uint32_t level_counts[MUSTER_LEVELS];
} agent_store;

/* Reserves the columns for `maximum` agents in the arena; arena->failed tells of refusal. */
void store_create(agent_store *store, uint32_t maximum, arena *arena);

/* Whether the index names an active agent. Frame's thread. */
static inline bool store_is_active(const agent_store *store, uint32_t index) {
  return store->active[index >> 6] >> (index & 63) & 1;
}

/* A pending agent becomes active, or an active one stops being so; keeps count per level. */
void store_activate(agent_store *store, uint32_t index);
void store_deactivate(agent_store *store, uint32_t index);

/* Changes the level of an active agent and the counts. */
void store_set_level(agent_store *store, uint32_t index, uint32_t level);

/* The first active index at or after `from`; UINT32_MAX when there is none. */
uint32_t store_next_active(const agent_store *store, uint32_t from);

#endif

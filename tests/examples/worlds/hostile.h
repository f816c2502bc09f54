/* worlds/hostile.h - all behaviour that breaks schedulers together in one world, each kind as an agent type of its
 * own.
 *
 *     hostile.c         the module: the first agents, the observers, what the host does between frames, the invariants
 *     hostile_atoms.c   what each kind is: its numbers, its cost, what its updates do, its agent type
 *
 * Whatever the scheduler does, these invariants hold, and the report counts violations: births less deaths are
 * the population; the elapsed times that an agent was told add up to its life; no agent hears a message twice or one
 * that was never sent; no agent gets to a place that is not finite. */
#ifndef WORLDS_HOSTILE_H
#define WORLDS_HOSTILE_H

#include "scenarios/scaffold.h"

typedef enum hostile_kind {
  HOSTILE_ENDLESS = 0, /* now and then an atom takes 5 to 50 times its limit */
  HOSTILE_FLIPPER,     /* the cost of all of them changes by a factor of 100 every few frames */
  HOSTILE_BREEDER,     /* spawns, and kills others, in its updates */
  HOSTILE_MAYFLY,      /* lives for seconds, spawns its heir and removes itself */
  HOSTILE_FLAPPER,     /* stands where observers step over the boundary between two levels in each frame */
  HOSTILE_CHORUS,      /* all of one period, and released in the same frame */
  HOSTILE_GLUTTON,     /* costs more the longer it was not updated */
  HOSTILE_RINGER,      /* wakes the next of its ring in each update */
  HOSTILE_GOSSIP,      /* many send to a few whose inboxes are full */
  HOSTILE_STRAYER,     /* moves to places that are not finite */
  HOSTILE_KINDS
} hostile_kind;

typedef struct hostile hostile;

/* A kind in one world: its type's user. */
typedef struct hostile_cast {
  hostile *self;
  hostile_kind kind;
  muster_type type;
  uint32_t first, count; /* in hostile.members: agents that were there from the beginning */
} hostile_cast;

/* The private state of every agent, of whatever kind. */
typedef struct hostile_life {
  uint64_t born_ns;         /* simulation time of on_spawned */
  uint64_t lived_ns;        /* sum of the elapsed times that its updates were told */
  uint64_t last_elapsed_ns; /* elapsed time told to the last update */
  uint64_t updates, level_changes, wakes;
  uint64_t sent, heard, heard_twice, lost;
  uint64_t refused, misplaced; /* moves that were refused as they should be; moves that went wrong */
  double x, y;                 /* where a strayer should stand */
  uint32_t number;             /* in hostile.members */
  uint32_t level;
  bool intends, has_heir;
} hostile_life;

/* What happened in the world, noted where only one thread runs: at intake and commit, and between frames. */
typedef struct hostile_tally {
  uint64_t births, deaths, kills, births_refused;
  uint64_t frames, flips, calls, calls_refused; /* calls: wakes of the chorus by the host */
  uint64_t census_errors;                       /* frames in which births less deaths differed from the population */
  uint32_t population_max;
} hostile_tally;

struct hostile {
  scaffold base;
  uint32_t breeders, breeders_max; /* living; the number at which births end */
  uint32_t expensive;              /* 1: the flippers are now */
  hostile_cast casts[HOSTILE_KINDS];
  muster_agent *members;
  uint64_t *heard; /* per gossip: the number of its last message that was heard */
  hostile_tally tally;
};

/* How many of `agents` are of each kind; at least one ring, and one of the others. */
void hostile_cast_all(hostile *self);

/* Registers the type of a kind. Thread of the frames, between frames. */
muster_result hostile_register(void *instance, muster_world *world, uint32_t kind);

/* Where an agent of this kind stands: scattered over the ground, but flappers stand together. */
muster_position hostile_place(const hostile_cast *cast, uint64_t random);

enum { HOSTILE_RING = 8, HOSTILE_AUDIENCE = 16 }; /* ringers in a ring; gossips that send to the same receiver */

#endif

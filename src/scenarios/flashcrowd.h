/* scenarios/flashcrowd.h - observers that gather in one town and are in another ten seconds later.
 *
 *     flashcrowd.c         the module: towns, the first agents, the crowd, the numbers of the world
 *     flashcrowd_atoms.c   what the agents are, do and cost
 *
 * What an update costs depends on where and when: near the crowd an agent looks at many times as much, and under the
 * rain, which drifts across the map, each look takes twice as long. */
#ifndef SCENARIOS_FLASHCROWD_H
#define SCENARIOS_FLASHCROWD_H

#include "scenarios/convergence.h"

typedef enum flashcrowd_kind {
  FLASHCROWD_CITIZEN = 0, /* walks towards the crowd and home again */
  FLASHCROWD_TRADER,      /* stays near its stall */
  FLASHCROWD_GUARD,       /* runs often, and gives way less readily */
  FLASHCROWD_STORY,       /* part of a story: exempt, its period never gives way */
  FLASHCROWD_KINDS
} flashcrowd_kind;

enum { FLASHCROWD_TOWNS = 8 };

typedef struct flashcrowd flashcrowd;

typedef struct flashcrowd_cast {
  const flashcrowd *self;
  flashcrowd_kind kind;
  muster_type type;
} flashcrowd_cast;

/* The private state of an agent. */
typedef struct flashcrowd_state {
  convergence_mark mark;
  double walked_m;
  float home_x, home_y;
  uint64_t updates, late;          /* late: more than two frames over the shortest period; of interest for the exempt */
  uint64_t looks, crowded_updates; /* lines of sight that were followed; updates near the crowd */
  uint32_t seen;                   /* in the last update */
} flashcrowd_state;

typedef struct flashcrowd_home {
  float x, y;
} flashcrowd_home;

struct flashcrowd {
  scaffold base;
  flashcrowd_cast casts[FLASHCROWD_KINDS];
  double town_x[FLASHCROWD_TOWNS], town_y[FLASHCROWD_TOWNS];
  flashcrowd_home *homes; /* of every agent, by the index of its id */
  muster_agent *members;
  uint8_t *kinds;
  double crowd_x, crowd_y, crowd_m, rain_x; /* now; they change between frames alone */
  uint64_t jumps;                           /* of the crowd */
  convergence_sums settled;                 /* the jumps after which all settled before the next */
  uint32_t watched;
  struct convergence convergence;
};

extern const double flashcrowd_half_m; /* of the map */

/* A kind's shortest period. */
uint64_t flashcrowd_period_ns(flashcrowd_kind kind);

/* The kind of the number-th agent: each has its share of every stretch. */
flashcrowd_kind flashcrowd_kind_of(uint32_t number);

/* Registers the type of a kind. Thread of the frames, between frames. */
muster_result flashcrowd_register(void *instance, muster_world *world, uint32_t kind);

#endif

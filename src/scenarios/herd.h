/* scenarios/herd.h - the herd scenario: deer in herds of 32, of which only those near an observer are agents, and
 * wolves.
 *
 *     herd_lanes.h        eight floats at a time, or one
 *     herd_ground.c       the fence and the obstacles
 *     herd_flock_lanes.h  flocking, for as many bodies at a time as there are lanes
 *     herd_flock.c        flocking, one body at a time
 *     herd_flock_vector.c flocking, eight at a time
 *     herd.c              the module: the first herds and wolves, the observers, what a snapshot keeps, the numbers of
 *                         the world
 *     herd_block.c        far herds: the update of a thousand of them at once
 *     herd_deer.c         near ones: the update of a leaf, which stands for one deer or several
 *     herd_wolf.c         wolves, which hunt both
 *
 * Every change over time is a rate times deer times elapsed time, the same for a far herd and for a leaf: grazing
 * exactly, births and deaths on the average. A fawn that is born while its herd is seen joins when its herd is folded,
 * so that no deer appears in sight: until then it is counted in a total of the herd. */
#ifndef SCENARIOS_HERD_H
#define SCENARIOS_HERD_H

#include "scenarios/herd_flock.h"
#include "scenarios/scaffold.h"
#include "scenarios/scenarios.h"

#include <muster/herd.h>

enum { HERD_BRANCHING = 2, HERD_DEPTH = 5, HERD_MEMBERS = 32 };

/* The totals of a herd. */
enum { HERD_GRAZED = 0 /* grams */, HERD_FAWNS /* born, not yet with the herd */, HERD_TOTALS };

/* Per deer and second. */
static const float herd_grazing_g = 0.5f, herd_births = 1.0f / 1800.0f, herd_deaths = 1.0f / 3600.0f;
static const float herd_walk_mps = 1.2f; /* the speed that flocking with drag leads to */
static const float herd_drag = 0.3f;     /* per second: a grazing deer does not run */

/* What others may read of a leaf. Begins as a muster_herd_body. */
typedef struct herd_face {
  float velocity_x, velocity_y;
  float totals[HERD_TOTALS];
} herd_face;
_Static_assert(sizeof(herd_face) == sizeof(muster_herd_body) + HERD_TOTALS * sizeof(float), "a body and its totals");

/* The private state of a leaf. */
typedef struct herd_deer {
  muster_herd herd;
  float scare_x, scare_y; /* m/s: what wolves added to its velocity since its last update */
  uint32_t members;       /* the number that it stood for at its last update; wolves may have taken some since */
  uint32_t dying;         /* members that die at the commit */
} herd_deer;

typedef struct herd_wolf {
  double aim_x, aim_y; /* where it wants to go */
  float velocity_x, velocity_y;
  float fed_s;   /* time until it is hungry again */
  uint32_t runs; /* 1: it runs after prey in sight; 0: it trots */
} herd_wolf;

/* Counted for each block by the worker that updates it, since one block is updated by one worker at a time. */
typedef struct herd_block_tally {
  _Alignas(64) uint64_t births;
  uint64_t deaths;
  double grazed_by_dead_g;
} herd_block_tally;

/* Counted in actions and at intakes: a tally of the scaffold. */
typedef struct herd_tally {
  uint64_t deaths, killed, killed_folded, scares;
  uint64_t grazed_by_dead_g, orphans; /* fawns of dead leaves that had not joined; both as scaffold_tallied() has it */
} herd_tally;

/* One opened scenario; its agents are the deer that are wanted. */
typedef struct herd_world {
  scaffold base;
  uint32_t herds, wolves, block_count;
  herd_choice choice;
  herd_ground ground;
  herd_flock_rules rules;
  muster_type deer_type, wolf_type;
  muster_herd_type herd_type;
  herd_block_tally *blocks; /* one for each block of herds */
  herd_tally tally;
  uint64_t first_deer;  /* deer added to the world */
  uint64_t represented; /* deer and wolves after the latest frame */
  double deer_s;        /* deer times time, as frames saw them */
} herd_world;

/* The block's callback. */
void herd_run_block(muster_herd_block *block);

/* Register the types. */
muster_result herd_register_deer(herd_world *self, muster_world *world);
muster_result herd_register_wolves(herd_world *self, muster_world *world);

/* What the member type keeps, when nodes are folded and unfolded. */
muster_result herd_unfold_deer(const muster_herd_change *change);
muster_result herd_fold_deer(const muster_herd_change *change);

/* The tally to which an update adds. */
static inline herd_tally *herd_tally_of(const muster_update *update) {
  const herd_world *self = update->type_user;
  return scaffold_tally(&self->base, update);
}

/* Notes what dead members had, from the totals that were removed with them. */
static inline void herd_tally_dead(herd_tally *tally, const float *totals) {
  tally->grazed_by_dead_g += scaffold_tallied((double)totals[HERD_GRAZED]);
  tally->orphans += scaffold_tallied((double)totals[HERD_FAWNS]);
}

/* How many of `deer` an event happens to in elapsed_s, on the average, when it happens to each of them `rate` times per
 * second; share is random. */
static inline uint32_t herd_draw(float rate, float deer, float elapsed_s, float share) {
  return (uint32_t)(rate * deer * elapsed_s + share);
}

#endif

/* osborne.h - the experiments of Osborne & Dickinson, run and summed up.
 *
 * Herds of 32 on a square, one player that walks among them, and cycles of 500 ms of simulation in each of which every
 * agent is due: with the herds folded where the player is not, and without. Every figure gives two numbers: agents
 * represented, and leaves simulated. */
#ifndef TOOLS_OSBORNE_H
#define TOOLS_OSBORNE_H

#include "repro.h"

#include "scenarios/scenarios.h"

#include <muster/herd.h>

enum { OSBORNE_CYCLES_MAX = 500, OSBORNE_ROUNDS = 10, OSBORNE_SIZES_MAX = 17 };

/* How much of it is run. */
typedef struct osborne_plan {
  uint32_t herds;  /* of the comparison, and the least of the doubling */
  uint32_t most;   /* herds of the doubling */
  double side_m;   /* of the square */
  uint32_t cycles; /* of the comparison; a multiple of OSBORNE_ROUNDS, at most OSBORNE_CYCLES_MAX */
  uint64_t row_ns; /* wall time to spend on a size; at least a few cycles are run */
} osborne_plan;

/* ---------------------------------------------------------------------------------------------------------- herds */

typedef struct osborne_world {
  osborne_def def;
  uint32_t workers;
  muster_pool *pool;
  muster_world *world;
  muster_herd_type type;
  muster_observer player;
  muster_position place; /* the player's */
  uint64_t cycle;
  muster_frame_report report; /* of the last cycle */
} osborne_world;

/* Makes a world of herds, in which what is near the player is unfolded. False with the reason in muster_last_error();
 * osborne_close is due either way. */
bool osborne_open(osborne_world *it, const osborne_def *def, uint32_t workers);
void osborne_close(osborne_world *it);

/* Runs a cycle; reads its report. Apart, so that the first can be timed alone. False as above. */
bool osborne_cycle(osborne_world *it);
bool osborne_look(osborne_world *it);

/* What is kept of a world after a cycle. */
typedef struct osborne_counts {
  uint64_t agents;                               /* represented */
  uint32_t leaves, herds, unfolded;              /* the last two: herds in all, and those that are unfolded */
  uint64_t bytes;                                /* of the whole world */
  uint64_t bytes_folded, bytes_unfolded;         /* of herds alone */
  uint64_t folds, unfolds;                       /* since the world had settled */
  uint64_t refused, changed_in_sight;            /* unfoldings without room, and changes that the player could see */
  double bytes_each_folded, bytes_each_unfolded; /* of a herd; NaN where there is none */
} osborne_counts;

osborne_counts osborne_count(const osborne_world *it);

/* What was found in some cycles, all together. */
typedef struct osborne_inspection {
  uint32_t cycles;
  uint64_t folded, moved;        /* folded herds, and those of them that the cycle moved: they are work, too */
  uint64_t leaves, individuals;  /* of membranes; and of these, at the greatest depth */
  uint64_t too_coarse, too_fine; /* no individual though the player could see it; finer than its zone, by far */
} osborne_inspection;

/* The depth of a leaf in its membrane. Nodes are numbered depth by depth: the root is 0, those at depth 1 are 1 and 2.
 */
static inline uint32_t osborne_depth(uint32_t node) {
  uint32_t depth = 0;
  for (; node > 0; node = (node - 1) / 2) depth++;
  return depth;
}

/* -------------------------------------------------------------------------------------------------------- keeping */

enum { OSBORNE_KEPT_HERDS = 64 };

/* What is left of herds that drift without forces, after many folds and unfolds. */
typedef struct osborne_kept {
  uint64_t folds, unfolds;
  uint64_t bytes_unfolded;  /* when the player has gone */
  uint64_t members;         /* of all herds */
  double total, total_lost; /* a number that the host keeps of members: the sum of all, and the mean that is lost */
  double centroid_m;        /* how far the worst is from where it would be without an observer */
  double velocity_mps;      /* and by how much its mean velocity differs */
  uint64_t hash;            /* of the world */
  bool alike;               /* the same world came of the same seed again */
} osborne_kept;

/* Runs it. False as above. */
bool osborne_keep(osborne_kept *kept);

/* --------------------------------------------------------------------------------------------------------- figures */

enum { OSBORNE_WITH = 0, OSBORNE_WITHOUT_SIMD, OSBORNE_WITHOUT_SCALAR, OSBORNE_WAYS };

/* A number of agents with and without level of detail, on one worker; all in one run, in turns. */
typedef struct osborne_comparison {
  osborne_counts counts;              /* after the last cycle */
  uint32_t leaves_least, leaves_most; /* of all cycles */
  bool complete;                      /* all agents were represented, in every cycle */
  uint32_t cycles;
  osborne_inspection found;     /* in one more cycle after each round */
  double ms[OSBORNE_WAYS];      /* own CPU per cycle: median of the medians of rounds */
  double mean_ms[OSBORNE_WAYS]; /* mean of all cycles */
  double series_ms[OSBORNE_WAYS][OSBORNE_CYCLES_MAX];
} osborne_comparison;

/* The part of the time without level of detail, one way or the other, that it takes with it. */
static inline double osborne_part(const osborne_comparison *compare, int without) {
  return compare->ms[OSBORNE_WITH] / compare->ms[without];
}

/* One size of the doubling. */
typedef struct osborne_size {
  double side_m; /* of its square */
  osborne_counts counts;
  bool complete;
  uint32_t cycles, workers; /* `workers`: with which it took... */
  double ms;                /* ...so long per cycle, the median; the fastest of: */
  double one_ms, all_ms;    /* on one worker, by its CPU; on all, by the wall */
} osborne_size;

typedef enum osborne_end { OSBORNE_END_SLOW = 0, OSBORNE_END_MEMORY, OSBORNE_END_PLAN } osborne_end;

/* Twice as many herds, and again. */
typedef struct osborne_doubling {
  bool grows; /* the square with them, so that there are as many near the player as ever; else it stays */
  uint32_t sizes;
  osborne_size rows[OSBORNE_SIZES_MAX];
  osborne_end end; /* why no further size was run */
} osborne_doubling;

enum { OSBORNE_SAME_SQUARE = 0, OSBORNE_SAME_DENSITY, OSBORNE_DOUBLINGS };

typedef struct osborne_results {
  repro_results base; /* quick: to see that it works: nothing is said about how fast it is */
  osborne_plan plan;
  osborne_kept kept;
  osborne_comparison compare;
  uint32_t workers; /* all that the machine has */
  osborne_doubling doublings[OSBORNE_DOUBLINGS];
} osborne_results;

/* Runs the comparison, and draws the picture of its world where figures are wanted. False as above. */
bool osborne_compare(osborne_results *results);

/* Doubles the herds until a cycle takes 100 ms or memory ends, in both ways. False as above. */
bool osborne_scale(osborne_results *results);

/* ------------------------------------------------------------------------------------------------------------ show */

/* Of the paper's row. */
bool osborne_measure(void *all);
void osborne_check(const void *all);

/* What a world looks like from above, as in figure 2, drawn into a folder. False after a complaint. */
bool osborne_picture(const osborne_world *it, const char *folder);

#endif

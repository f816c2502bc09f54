/* wright.h - the experiments of Wright & Marshall, run and summed up.
 *
 * Table 2 counts frames in which processes of different periods coincide. The testbed is the scenario `pursuit`: how
 * many agents its versions serve on 60 Hz frames before they degrade, in virtual time, with costs that were measured.
 */
#ifndef TOOLS_WRIGHT_H
#define TOOLS_WRIGHT_H

#include "repro.h"
#include "scenarios/scenarios.h"

enum {
  WRIGHT_COUNTS = 4,    /* of Table 2 */
  WRIGHT_FRAMES = 105,  /* that it counts over */
  WRIGHT_BASE = 67,     /* agents that the paper's testbed served without scheduling... */
  WRIGHT_SERVED = 169,  /* ...and with scheduling and activation delay */
  WRIGHT_CROWD = 507,   /* too many */
  WRIGHT_DELAY = 2,     /* the most frames of that delay */
  WRIGHT_OUR_DELAY = 5, /* in our own versions: avoiding recurs after 6 */
  WRIGHT_VERSIONS = 7,
  WRIGHT_PARTS = 3,       /* agents or sets that share time */
  WRIGHT_MODE_ATOMS = 10, /* that a frame's time holds, of a set of three times as many */
  WRIGHT_MODE_FRAMES = 3,
  WRIGHT_TURN_FRAMES = 9
};

/* A version of the testbed. */
typedef struct wright_version {
  const char *name;
  bool managed; /* false: a frame runs whatever is due, however long that takes */
  bool every_update, elastic;
  uint32_t delay, workers;
  uint32_t published; /* agents; 0 = none */
} wright_version;

extern const wright_version wright_versions[WRIGHT_VERSIONS];

/* Numbers of versions that checks speak of. */
enum { WRIGHT_NAIVE = 0, WRIGHT_UNSCHEDULED, WRIGHT_SCHEDULED, WRIGHT_DELAYED, WRIGHT_OURS };

/* The results of a population, from its first frame on. Shares are of the updates that fell due, in the second in which
 * they were greatest. */
typedef struct wright_outcome {
  double missed_updates;       /* that did not run in their frame: no time, or the frame itself was dropped */
  double missed_sets;          /* that did not run in their update's frame */
  double missed_last;          /* updates in the last second */
  double least_rate;           /* of the set that fared worst: its runs by those that it should have at 60 Hz */
  double mean_load, peak_load; /* of frames: work by budget */
  uint64_t hash;               /* of the world at the end */
} wright_outcome;

typedef struct wright_row {
  uint32_t agents;             /* the most before degradation: 1 % missed, or a set below a third of its rate */
  uint32_t untroubled;         /* the most agents of which none ever missed anything */
  wright_outcome limit;        /* of the first */
  wright_outcome served;       /* of as many as the paper's best version served */
  double loads[WRIGHT_FRAMES]; /* of their first frames, by the budget */
  wright_outcome crowd;        /* of three times as many */
  bool alike;                  /* the same world came of the crowd on one thread with as much time */
  double overhead_ns;          /* scheduling, per update; NaN = not measured */
  double overhead_share;       /* by the work of an update */
} wright_row;

/* Parts of the time that three agents or sets had, of priority 10, 30 and 60, and the part that was used in all. */
typedef struct wright_shares {
  double parts[WRIGHT_PARTS], used;
} wright_shares;

/* The result of a set that needs three times a frame's time, after a number of frames. */
typedef struct wright_mode {
  uint64_t began, atoms, completed;
} wright_mode;

/* The parts of the process manager, each alone. */
typedef struct wright_manager {
  wright_shares agents, sets;
  wright_mode modes[3];       /* by muster_mode */
  double turns[WRIGHT_PARTS]; /* of sets of which a frame's time holds one */
} wright_manager;

typedef struct wright_results {
  repro_results base; /* quick: no search for how many agents the versions serve, and no overhead measured */
  double costs_ns[PURSUIT_ATOMS];
  wright_manager manager;
  double counts[WRIGHT_COUNTS];
  double before[WRIGHT_FRAMES + 1], after[WRIGHT_FRAMES + 1]; /* processes that run in a frame, by delays */
  wright_row rows[WRIGHT_VERSIONS];
} wright_results;

extern const double wright_published[WRIGHT_COUNTS], wright_priorities[WRIGHT_PARTS];

/* ------------------------------------------------------------------------------------------------------ processes */

/* Table 2, by an agent with three sets: in how many of the frames 1 .. 105 exactly two and exactly three of the periods
 * 4, 6, 8 coincide, and of 3, 5, 7. Then P(t), how many processes run in a frame: by WRIGHT_SERVED agents with sets of
 * periods 4, 6 and 8, all begun at once, and with the delays of up to WRIGHT_DELAY frames that Muster gives them. Then
 * shares of agents and of sets, modes and turns. False with the reason in muster_last_error(), as all that follow. */
bool wright_run_sets(wright_results *results);

/* ------------------------------------------------------------------------------------------------------- versions */

/* T_d: what the paper's 67 agents need in their fullest frame. */
uint64_t wright_budget_ns(void);

/* The mean work of an update, by the model. */
double wright_update_ns(void);

/* ---------------------------------------------------------------------------------------------------------- costs */

/* Measures the mean cost of every atom on the wall clock. */
bool wright_measure_costs(double costs_ns[PURSUIT_ATOMS]);

/* Measures Muster's overhead per update against a plain loop with the same callbacks on the same memory, the fastest of
 * many rounds, on one worker. False also when the two came to different worlds. */
bool wright_measure_overhead(const wright_version *version, double *each_ns);

/* ----------------------------------------------------------------------------------------------------------- show */

/* Of the paper's row. */
bool wright_measure(void *all);
void wright_check(const void *all);

#endif

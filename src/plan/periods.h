/* plan/periods.h - stages 4 and 5 over the class table: fits the periods of all classes, and releases who is due. */
#ifndef PLAN_PERIODS_H
#define PLAN_PERIODS_H

#include "plan/costs.h"
#include "plan/fit.h"
#include "plan/ready.h"
#include "plan/wheel.h"

/* A frame releases at most so many: at least RELEASES_MIN, and what takes an eighth of the budget at RELEASE_NS each.
 * So a crowd that comes due at once, after a pause of the host, is spread over frames. */
enum { RELEASES_MIN = 8192, RELEASE_NS = 40, RELEASE_BUDGET_PART = 8 };

typedef struct periods {
  muster_elastic elastic;
  double lambda;   /* of the last frame: where Newton starts */
  fit_kind *kinds; /* room for every class */
  uint32_t *due;   /* room for every agent */
  uint32_t next;   /* position among the active classes where the release goes on */
} periods;

/* Reserves the scratch arrays. */
void periods_create(periods *periods, const class_table *classes, const muster_world_def *def, arena *arena);

/* Stage 4: sets the rate of every class with members so that their demand fits `desired` utilisation; also the mean of
 * T_i - T_io over all agents. O(classes). */
fit_result periods_fit(periods *periods, class_table *classes, const cost_table *costs, double desired,
                       double *deviation_ns);

/* Stage 5: advances every class by `elapsed_ns` and hands whoever is due to the ready set, about `most` at most; who is
 * left is released in the next frames. Returns how many. O(classes + released). */
uint32_t periods_release(periods *periods, class_table *classes, agent_store *store, ready_set *ready,
                         uint64_t elapsed_ns, uint32_t most, uint64_t now_ns, uint64_t frame);

/* The first due time of a new agent: a random part of its period ahead, so that a crowd spawned at once does not run
 * at once. Hangs it into its wheel. */
void periods_begin(class_table *classes, agent_store *store, uint32_t index, uint64_t random);

/* After a completed update: the run counter, the next due time by phase, back into the wheel. `began_ns` is the
 * simulation time that the update brought the agent to. */
void periods_completed(class_table *classes, agent_store *store, ready_set *ready, uint32_t index, uint64_t began_ns);

#endif

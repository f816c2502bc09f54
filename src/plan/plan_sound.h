/* plan/plan_sound.h - whether what planning keeps of agents is sound: classes, when agents are looked at, the ready set
 * and its queues, times, importance, overruns. See base/sound.h and agents/agents_sound.h. */
#ifndef PLAN_SOUND_H
#define PLAN_SOUND_H

#include "agents/agents_sound.h"
#include "plan/due.h"
#include "plan/overrun_table.h"
#include "plan/ready.h"
#include "plan/score.h"
#include "plan/shedding.h"
#include "plan/timers.h"

/* Whether classes have the members and bands that are counted, and classes with members are listed. */
bool classes_are_sound(const class_table *classes, const agent_store *store, soundness *found);

/* Whether every scheduled agent is looked at by a clock that is in use, no earlier than the first of its line, and in
 * time.
 */
bool looks_are_sound(const class_table *classes, const agent_store *store, soundness *found);

/* Whether the agents that stand in a line are active and as many as are counted. `name` is the line's. */
bool line_is_sound(const struct fifo *fifo, const agent_store *store, const char *name, soundness *found);

/* Whether every ready agent is in one place of the ready set (a bucket of the ring, the queue of the woken, or the
 * fresh ones), waiting agents stand in the queue by release, and the counts are right. */
bool ready_is_sound(const ready_set *ready, const agent_store *store, soundness *found);

/* Whether a heap of times is in order, and its agents, all below `high`, know their places. */
bool timers_are_sound(const struct timers *timers, uint32_t high, const char *name, soundness *found);

/* Whether the bins of importance count the active agents, and each noted agent is noted once. Outside of the score. */
bool score_is_sound(const score_board *board, const agent_store *store, soundness *found);

/* Whether as many agents are lowered by pressure as are counted. */
bool shedding_is_sound(const struct shedding *shedding, const agent_store *store, soundness *found);

/* Whether the table of overruns knows its entries. */
bool overrun_table_is_sound(const struct overrun_table *table, const agent_store *store, soundness *found);

#endif

/* muster/tune.h - which agents run first, and at which level: weights that can be changed while the world runs, the
 * company that agents keep, and policies that set the weights. Not part of muster/muster.h.
 *
 *   importance   i = (alpha f + beta d + gamma r + delta c) / 4              which agents matter
 *   priority     ready first = eps i + zeta s - eta rc + theta p + kappa l   which of the due agents go first
 *
 * f  the players' focus: distance, lowered by visibility, bulk and interactivity   d  the designer's value
 * r  the agent's role                             c  company: the most important agent it is with, if more important
 * s  time waited, in S (guarantee_ns), uncapped   rc how often it ran lately     p  progress of a preempted update
 * l  how far its capabilities are reduced: its level in thirds
 *
 * From Rankin, Acton & Katchabaw: scalable believable NPCs, where l is the optional fifth factor. It is a factor of
 * priority here, since importance decides about levels: if the level changed importance, that would change the level in
 * turn. */
#ifndef MUSTER_TUNE_H
#define MUSTER_TUNE_H

#include <muster/muster.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --------------------------------------------------------------------------------------------------------- weights */

/* New values for the fields of muster_world_def of the same names, with their ranges; a field left as the default
 * function sets it keeps its value: negative floats, 0 in guarantee_ns and cycles_max, MUSTER_UPDATES_LEAVE. */
typedef struct muster_world_tuning {
  uint32_t size;
  uint32_t updates_per_frame; /* as there; MUSTER_UPDATES_LEAVE = leave */
  muster_priority priority;
  muster_importance importance; /* focus, designer, role and company: in a world with MUSTER_IMPORTANCE_FACTORS, all
                                   four or none of them */
  muster_levels levels;
  muster_load load; /* the fields that are 0 are left; to take a load back, let it end at 1 */
} muster_world_tuning;

#define MUSTER_UPDATES_LEAVE (UINT32_MAX - 1u)

MUSTER_DEFAULTS(muster_world_tuning);

/* Queues new values, which hold from the next intake on: waiting agents are put in the new order, and importance
 * follows within the next frames. All values are taken or, with a message, none: MUSTER_E_ARGUMENT for a value out of
 * range, MUSTER_E_STATE for weights of importance in a world without MUSTER_IMPORTANCE_FACTORS, MUSTER_E_FULL when 64
 * tunings wait. Any thread, but not inside atoms. The intake then takes O(agents that are due). */
MUSTER_API muster_result muster_world_tune(muster_world *world, const muster_world_tuning *tuning);

/* Copies the values in force; factors of importance are negative in a world without them. MUSTER_E_NOT_INITIALISED when
 * the tuning was not set by its default function. Thread of the frames, between frames. */
MUSTER_API muster_result muster_world_tuning_read(const muster_world *world, muster_world_tuning *tuning);

/* From the next frame on at most this many workers of the world's pool work on its frames, the calling thread included;
 * 0 = all, as in the beginning, also of those that the pool gets later. The others have time for jobs and for other
 * worlds, and predictions take that into account. Under the virtual clock nothing else changes. MUSTER_E_ARGUMENT when
 * the pool has fewer; MUSTER_E_STATE inside a frame, and in worlds that are replayed or that have planner_workers.
 * Thread of the frames, between frames.
 */
MUSTER_API muster_result muster_world_set_workers(muster_world *world, uint32_t workers);

/* How many workers work on the world's frames: as set, or all of the pool's, but of a pool that follows the processors
 * (muster_pool_def.workers 0) no more than there are; in a world with planner_workers that many. Thread of the frames,
 * between frames. */
MUSTER_API uint32_t muster_world_workers(const muster_world *world);

/* Policies, each a choice of the weights of priority. */
typedef enum muster_policy {
  MUSTER_POLICY_BALANCED = 0,     /* all four at 1: the default */
  MUSTER_POLICY_FAIR,             /* agents that waited longest and ran least first: runs are spread evenly */
  MUSTER_POLICY_IMPORTANCE_FIRST, /* the more important agents first; waiting decides among equals. Only guarantee_ns
                                     keeps the others from starving */
  MUSTER_POLICY_LEAST_SLACK       /* the agent with the least time left until it has waited for guarantee_ns first, its
                                     progress in an update counted as waiting: updates that were begun are finished
                                     first */
} muster_policy;

/* Sets the weights of priority to a policy; an unknown one changes nothing. */
static inline void muster_world_tuning_policy(muster_world_tuning *tuning, muster_policy policy) {
  static const float weights[4][4] = {{1, 1, 1, 1}, {0, 1, 1, 0}, {1, 0.001f, 0, 0}, {0, 1, 0, 1}};
  if ((unsigned)policy > MUSTER_POLICY_LEAST_SLACK) return;
  tuning->priority.importance = weights[policy][0];
  tuning->priority.wait = weights[policy][1];
  tuning->priority.runs = weights[policy][2];
  tuning->priority.progress = weights[policy][3];
  tuning->priority.reduction = 0;
}

/* The same for a world that is yet to be created. */
static inline void muster_world_def_policy(muster_world_def *def, muster_policy policy) {
  muster_world_tuning tuning = muster_world_tuning_default();
  if ((unsigned)policy > MUSTER_POLICY_LEAST_SLACK) return;
  muster_world_tuning_policy(&tuning, policy);
  def->priority.importance = tuning.priority.importance;
  def->priority.wait = tuning.priority.wait;
  def->priority.runs = tuning.priority.runs;
  def->priority.progress = tuning.priority.progress;
  def->priority.reduction = tuning.priority.reduction;
}

/* --------------------------------------------------------------------------------------------------------- periods */

/* Queue other periods, from the next intake on: of a type, for all its agents without periods of their own, those to
 * come as well; and of one agent, which then no longer follows its type. The part of its period that an agent has
 * waited for stays what it is: one that has waited for half of its period waits for half of the new one. Elasticity,
 * pressure and importance go on to stretch the new periods.
 *
 * Ranges are those of muster_type_def: period_ns 100 us .. 24 h, period_max_ns period_ns .. 24 h. period_max_ns 0 = the
 * type's (that of its definition, for a type), and at least period_ns. period_ns 0 = back to what they were: an agent
 * follows its type again, and a type has the periods of its definition; period_max_ns must be 0 then. Types with
 * bounded steps (MUSTER_ELAPSED_STEPS) need periods that their steps allow; those of an agent are brought into what
 * they allow. Agents without a period (MUSTER_ELAPSED_EVENTS) have no use for them.
 *
 * A world has room for 1,024 combinations of a type, a level, an elasticity and periods, and 64 more for each of
 * types_max. When all are in use, an agent gets the nearest that its type has.
 *
 * The last call before an intake counts. MUSTER_E_STALE when the agent is gone, MUSTER_E_ARGUMENT for a type that is
 * not registered or a period out of range, MUSTER_E_FULL when commands_max commands wait. Any thread, but not inside
 * atoms. The intake then takes O(agents that are active) for a type, O(1) for an agent. */
MUSTER_API muster_result muster_type_set_periods(muster_world *world, muster_type type, uint64_t period_ns,
                                                 uint64_t period_max_ns);
MUSTER_API muster_result muster_agent_set_periods(muster_world *world, muster_agent agent, uint64_t period_ns,
                                                  uint64_t period_max_ns);

/* The same from an update: of any agent, the updated one among them, and of a type; from the next intake on, in agent
 * order. Inside an atom, on_spawned or on_removed. */
MUSTER_API muster_result muster_update_set_periods(muster_update *update, muster_agent agent, uint64_t period_ns,
                                                   uint64_t period_max_ns);
MUSTER_API muster_result muster_update_set_type_periods(muster_update *update, muster_type type, uint64_t period_ns,
                                                        uint64_t period_max_ns);

/* Copies the periods in force for agents of a type without periods of their own. Those of an agent are nominal_ns and
 * longest_ns of muster_agent_explain(). MUSTER_E_ARGUMENT for a type that is not registered. Thread of the frames,
 * between frames. */
MUSTER_API muster_result muster_type_periods_read(const muster_world *world, muster_type type, uint64_t *period_ns,
                                                  uint64_t *period_max_ns);

/* --------------------------------------------------------------------------------------------------------- company */

#define MUSTER_COMPANIONS_MAX 4u

/* With MUSTER_IMPORTANCE_FACTORS: `agent` is in the company of `other`, which raises its importance while `other` is
 * more important than the agent; only the most important companion counts. Both importances are taken without their own
 * company, as the last score found them: so company does not chain, and agents that name each other in a circle raise
 * none beyond the most important of them. Of more than MUSTER_COMPANIONS_MAX others the latest stay. Company ends with
 * muster_agent_unlink() (null: with all), and with the removal of either agent.
 *
 * Queued as the other agent calls are. MUSTER_E_STALE when either agent is gone, MUSTER_E_ARGUMENT when both are the
 * same, MUSTER_E_STATE in a world without MUSTER_IMPORTANCE_FACTORS, MUSTER_E_FULL when commands_max commands wait. Any
 * thread, but not inside atoms. */
MUSTER_API muster_result muster_agent_link(muster_world *world, muster_agent agent, muster_agent other);
MUSTER_API muster_result muster_agent_unlink(muster_world *world, muster_agent agent, muster_agent other);

/* The same for the agent that an atom updates. Inside an atom, on_spawned or on_removed. */
MUSTER_API muster_result muster_update_link(muster_update *update, muster_agent other);
MUSTER_API muster_result muster_update_unlink(muster_update *update, muster_agent other);

/* ------------------------------------------------------------------------------------------------------- reactions */

/* An update noticed something to which its agent must react by a time: the agent's next update is to begin in a frame
 * whose sim_now_ns is not after by_ns. After half of the time until then the agent is due whatever its period, and its
 * priority rises until it is above that of all agents that have not waited for guarantee_ns; in the last quarter, and
 * in the last two frames at least, it goes ahead of the ranked agents, as a woken one does. muster_statistics counts
 * reactions met and late.
 *
 * Of two times the earlier holds; MUSTER_WAKE_NEVER cancels it. The time ends with the next update. It holds from the
 * commit of this part of the update on. MUSTER_E_ARGUMENT for a time beyond 146 years. Inside an atom,
 * on_spawned or on_removed. */
MUSTER_API muster_result muster_update_react_by(muster_update *update, uint64_t by_ns);

#ifdef __cplusplus
}
#endif

#endif

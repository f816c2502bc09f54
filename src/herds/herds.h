/* herds.h - herds from the frame's stages: joins their homes and pools (agents), the looks of stage 3 (plan) and ids
 * (run) with the stores of agents. Everything here is called on the frame's thread unless a comment says otherwise. */
#ifndef HERDS_H
#define HERDS_H

#include "run/intake_queues.h"
#include "world/world.h"
#include "world/world_herds.h"

#include <muster/herd.h>

/* ---------------------------------------------------------------------------------------------- stages:
 * src/herds/herds.c */

/* Intake: removes herds that died out, and folds and unfolds as the last stage 3 asked for. */
void herds_intake(struct muster_world *world);

/* Adds up what the workers' updates of blocks counted. */
void herds_gather(struct muster_world *world);

/* Stage 3; also notes for named members where their herds are. */
void herds_look(struct muster_world *world);

/* Intake: applies a command that names a herd. */
void herds_apply(struct muster_world *world, const struct command *command);

/* End of the frame: what the report says of herds. */
void herds_report(struct muster_world *world);

/* Removes a live herd with its leaves. */
void herds_remove(struct muster_world *world, uint32_t herd);

/* -------------------------------------------------------------------------------------- changes:
 * src/herds/herds_change.c */

/* Unfolds the root of a folded herd, or the leaf of a lane, and counts it. MUSTER_E_FULL without room, MUSTER_E_STATE
 * when its agent is busy, or the host's refusal. */
muster_result herds_unfold_root(struct muster_world *world, struct herd_type *type, uint32_t herd);
muster_result herds_unfold_lane(struct muster_world *world, struct herd_type *type, uint32_t number, uint32_t lane);

/* The time that a folded herd was brought to. */
uint64_t herds_reached(const struct muster_world *world, const struct herd_type *type, uint32_t herd);

/* An entry is not settling any more. */
void herds_forget_settling(struct herd_type *type, uint32_t number);

/* Folds siblings: all children of one parent. */
muster_result herds_fold_lanes(struct muster_world *world, struct herd_type *type, uint32_t number, uint32_t first,
                               uint32_t count);

/* Unfolds the path to a member as far as there is room; members are counted among those alive, from left to right.
 * Returns the lane of the leaf that stands for the member. `number` is the entry; HERD_NONE when not even the root
 * could be unfolded. */
uint32_t herds_unfold_path(struct muster_world *world, struct herd_type *type, uint32_t herd, uint32_t member,
                           uint32_t *number, muster_result *result);

/* The entry of an unfolded herd; HERD_NONE: it is folded. */
static inline uint32_t herds_open_entry(const struct herd_type *type, uint32_t herd) {
  uint32_t home = herds_home(type, herd);
  return type->members[home] || herds_number_in(type, home) >= HERD_EMPTY ? HERD_NONE : herds_number_in(type, home);
}

/* Whether a herd of a live index has died out: the next intake removes it. */
static inline bool herds_is_dying(const struct herd_type *type, uint32_t herd) {
  uint32_t home = herds_home(type, herd);
  return !type->members[home] && herds_number_in(type, home) == HERD_DYING;
}

/* -------------------------------------------------------------------------------------- updates:
 * src/herds/herds_update.c */

/* The behaviour of a block's agent. Any worker. */
muster_atom_result herds_update_block(muster_update *update);

/* Checks what an update of a block left against what the scratch saved; see herds_check.c. On the worker of the
 * block. */
void herds_check(const struct herd_type *type, uint32_t number, const muster_herd_block *shown, herd_scratch *scratch);

/* Brings the herds of a block forward to a time, outside of updates. */
void herds_bring_forward(struct muster_world *world, struct herd_type *type, uint32_t block, uint64_t now_ns);

/* ---------------------------------------------------------------------------------------- adding:
 * src/herds/herds_add.c */

/* Whether there is a home for another herd; `opens` is set to whether it takes a new block, which needs an index of an
 * agent; and the error of a block that finds none. */
muster_result herds_check_room(struct herd_type *type, uint32_t partition, bool *opens);
muster_result herds_refuse_block(const struct muster_world *world);

/* Adds a herd, for which there is room, at the last frame's time; returns its index. `index` is taken for a new block.
 */
uint32_t herds_add(struct muster_world *world, struct herd_type *type, uint32_t partition, const herd_body *body,
                   uint32_t index);

/* A folded herd was brought to an earlier time than its block: its next update is told that. Needs an entry of the
 * pool, and does nothing without one. */
void herds_set_back(const struct muster_world *world, struct herd_type *type, uint32_t herd, uint64_t reached_ns);

/* A place among the named members; HERD_NONE when all are taken. And the agent that has it. */
uint32_t herds_find_name(herd_table *table);
void herds_give_name(struct muster_world *world, struct herd_type *type, uint32_t place, uint32_t agent,
                     const herd_named *named);

/* The type of a live herd that did not die out; null with a message otherwise. */
struct herd_type *herds_find(const struct muster_world *world, muster_herd herd);

/* The id of a live herd's index. */
static inline muster_herd herds_id(const struct muster_world *world, uint32_t herd) {
  return muster_herd_make(herd, herd_ids_generation(&world->herds->ids, herd));
}

#endif

/* penalties.c - penalties of agents and types, and how these come back. */
#include "world/penalties.h"

#include "agents/batch.h"
#include "base/assert.h"
#include "plan/periods.h"
#include "world/frame_state.h"
#include "world/lifecycle.h"
#include "world/overruns_log.h"
#include "world/overruns_state.h"
#include "world/world_queues.h"
#include "world/world_score.h"
#include "world/world_sums.h"

#include <muster/overruns.h>

enum { REGRADED_PER_FRAME = 16384 };

/* -------------------------------------------------------------------------------------------------------- penalties */

void penalties_demote_agent(struct muster_world *world, uint32_t index, const muster_overrun *overrun) {
  agent_row *row = world_row(world, index);
  type_overruns *type = &world->overruns->table.types[row->type];
  if (!row->level_floor) {
    world->overruns->agents_demoted++;
    type->agents_demoted++;
  }
  row->level_floor = (row->level + 1u) & 3u;
  ASSERT(row->status != AGENT_QUARANTINED && row->level_floor < world_type(world, row->type)->def.levels.count);
  score_tuned_agent(&world->score->board, index);
  world->sums->statistics.demotions++;
  overruns_log_demoted(world, row->level, overrun);
}

void penalties_put_aside(struct muster_world *world, uint32_t index) {
  agent_row *row = world_row(world, index);
  row->acts = row->status == AGENT_ACTING;
  ASSERT(world_is_active(world, index) && row->status != AGENT_QUARANTINED);
  lifecycle_unschedule(world, index);
  row->status = AGENT_QUARANTINED;
  ASSERT(!row->scheduled && !row->queued);
  row->woken = 0;
  classes_leave(&world->queues->classes, &world->queues->classes.classes[row->class], row);
  world->overruns->agents_quarantined++;
  world->overruns->table.types[row->type].agents_quarantined++;
  world->sums->statistics.quarantines++;
}

void penalties_quarantine_agent(struct muster_world *world, uint32_t index, const muster_overrun *overrun) {
  penalties_put_aside(world, index);
  overruns_log_quarantined(world, overrun);
}

void penalties_set_aside(struct muster_world *world, uint32_t index) {
  agent_row *row = world_row(world, index);
  if (row->status == AGENT_QUARANTINED || world_type_of(world, index)->blocks) return;
  if (row->status == AGENT_PENDING) { /* it goes there once it is active */
    row->acts = 1;
    return;
  }
  ASSERT(row->status > AGENT_PENDING && world_is_active(world, index));
  penalties_put_aside(world, index);
  overruns_log_set_aside(world, index);
}

/* The level of every agent is looked at again, of a part of the agents in each frame: the floor of some type
 * changed. */
static void regrade(struct muster_world *world, uint32_t type) {
  grade_type *grade = &world->score->board.types[type];
  ASSERT(world->overruns->table.types[type].level_floor < MUSTER_LEVELS);
  grade->level_floor = (uint8_t)world->overruns->table.types[type].level_floor;
  grade->checked = true;
  world->overruns->regrade_next = 0;
  world->overruns->regrade_left = world->agents.store.high;
}

void penalties_weigh_anew(struct muster_world *world) {
  world->score->board.rule = grade_rule_of(&world->def);
  for (uint32_t type = 0; type < world->score->board.types_known; type++) {
    world->score->board.types[type] = grade_type_of(&world_type(world, type)->def, &world->score->board.rule);
    regrade(world, type);
  }
}

void penalties_go_on_regrading(struct muster_world *world) {
  overruns_state *overruns = world->overruns;
  for (uint32_t i = 0; i < REGRADED_PER_FRAME && overruns->regrade_left > 0; i++, overruns->regrade_left--) {
    uint32_t index = overruns->regrade_next++;
    if (world_is_active(world, index) && world->score->board.types[world_row(world, index)->type].checked)
      score_note(&world->score->board, index);
  }
}

void penalties_demote_type(struct muster_world *world, uint32_t number) {
  ASSERT(world->overruns->table.types[number].level_floor + 1 < world_type(world, number)->def.levels.count);
  type_overruns *type = &world->overruns->table.types[number];
  type->level_floor++;
  regrade(world, number);
  world->sums->statistics.demotions++;
  overruns_log_type_demoted(world, number);
}

/* The type's classes stand still, and so do the agents that wait in them; the ranking sends its other agents there. */
static void freeze_type(struct muster_world *world, uint32_t number) {
  ASSERT(number < world->agents.types.count && !world_type(world, number)->quarantined);
  struct batch *batch = world->batch;
  uint32_t kept = 0;
  world_type(world, number)->quarantined = true;
  classes_freeze(&world->queues->classes, number, true);
  for (uint32_t i = 0; i < batch->held_count; i++) {
    if (world_row(world, batch->held[i])->type == number)
      ready_put_back(&world->queues->ready, &world->agents.store, batch->held[i]);
    else
      batch->held[kept++] = batch->held[i];
  }
  batch->held_count = kept;
  world->overruns->types_quarantined++;
  world->sums->statistics.quarantines++;
}

/* ------------------------------------------------------------------------------------------------------ reinstating */

/* Puts an agent back into its class, and schedules it, due at once; or puts it among the agents that are ready,
 * or that wait for their action atoms. */
static void release_from_quarantine(struct muster_world *world, uint32_t index) {
  agent_row *row = world_row(world, index);
  agent_class *class = &world->queues->classes.classes[row->class];
  ASSERT(row->status == AGENT_QUARANTINED && !row->scheduled);
  if (row->acts) {
    row->acts = 0;
    row->status = AGENT_ACTING;
    bits_set(world->queues->acting, index);
    world->queues->acting_count++;
    return;
  }
  if (class->elapsed == MUSTER_ELAPSED_EVENTS) {
    row->status = AGENT_WAITING;
    /* Without a period nothing else would make the agent go on with what it had begun. */
    if (row->atom_next | row->owes)
      periods_release_early(&world->queues->classes, &world->agents.store, &world->queues->ready, index,
                            world->frame->now_ns, world->frame->number);
    return;
  }
  row->virtual_due_ns = class->clock_ns;
  due_insert(&world->queues->classes, class, &world->agents.store, index);
}

void penalties_reinstate(struct muster_world *world, uint32_t index) {
  agent_row *row = world_row(world, index);
  if (row->status == AGENT_PENDING) row->acts = 0;
  if (!world_is_active(world, index)) return;
  bool demoted = row->level_floor > 0, quarantined = row->status == AGENT_QUARANTINED;
  lifecycle_forget_overruns(world, index);
  world->sums->statistics.reinstated += demoted || quarantined;
  if (quarantined) release_from_quarantine(world, index);
  if (!demoted) return;
  row->level_floor = 0;
  score_tuned_agent(&world->score->board, index);
}

void penalties_reinstate_type(struct muster_world *world, uint32_t number) {
  agent_type *type = world_type(world, number);
  type_overruns *overruns = &world->overruns->table.types[number];
  world->sums->statistics.reinstated += type->quarantined || overruns->level_floor;
  world->overruns->types_quarantined -= type->quarantined;
  classes_freeze(&world->queues->classes, number, false);
  if (type->quarantined) due_thaw(&world->queues->classes, &world->agents.store, number);
  type->quarantined = false;
  overrun_table_forget_type(&world->overruns->table, number);
  if (overruns->level_floor) {
    overruns->level_floor = 0;
    regrade(world, number);
  }
  if (overruns->agents_demoted + overruns->agents_quarantined == 0) return;
  for (uint32_t i = 0; store_finds(&world->agents.store, &i); i++)
    if (world_row(world, i)->type == number) penalties_reinstate(world, i);
}

void penalties_quarantine_type(struct muster_world *world, uint32_t number, bool by_host) {
  if (world_type(world, number)->quarantined) return;
  freeze_type(world, number);
  if (by_host)
    overruns_log_type_set_aside(world, number);
  else
    overruns_log_type_quarantined(world, number);
}

/* lifecycle.c - see lifecycle.h. In other files a function named forget only clears what its file keeps of an agent. */
#include "world/lifecycle.h"

#include "agents/spawn.h"
#include "base/assert.h"
#include "base/random.h"
#include "plan/periods.h"
#include "plan/rates.h"
#include "record/recorder.h"
#include "run/callback.h"
#include "run/flight.h"
#include "world/frame_state.h"
#include "world/herd_links.h"
#include "world/messages.h"
#include "world/overruns_state.h"
#include "world/timing.h"
#include "world/world_commands.h"
#include "world/world_links.h"
#include "world/world_plan.h"
#include "world/world_queues.h"
#include "world/world_score.h"
#include "world/world_sums.h"

#include <muster/flight.h>

void lifecycle_callback(struct muster_world *world, uint32_t index, muster_flight_doing doing,
                        void (*callback)(muster_update *)) {
  if (!callback) return;
  ASSERT(world_is_active(world, index));
  batch_result result = {0};
  agent_row *row = world_row(world, index);
  worker_state *state = runner_caller(world->runner);
  flight_note before =
      flight_turn(state->flight, world->frames, world_id(world, index), doing, (muster_type){row->type + 1u});
  runner_begin_outside(state, index, PHASE_INTAKE, &result);
  callback_call(&state->context, doing, callback);
  flight_return(state->flight, before);
  state->context.phase = PHASE_OUTSIDE;
  if (world_type(world, row->type)->published) {
    row->front ^= 1u;
    world->agents.store.places[index].changed = 1;
    changes_note(&world->agents.store.changes, index, NOTED_PUBLISHED);
  }
  if (result.moved) lifecycle_move(world, index, result.moved_to);
  herds_note(world, index);
  if (result.asks) timing_ask_own(&world->agents, world->queues, world->frame->now_ns, index, &result);
}

/* ------------------------------------------------------------------------------------------------- coming to be */

muster_agent lifecycle_make(struct muster_world *world, uint32_t index, const muster_agent_def *def) {
  uint32_t slot = identity_take(&world->agents.slots[def->type.index - 1]);
  if (slot == IDENTITY_NONE) return (muster_agent){0};
  ASSERT(index < world->agents.store.maximum && world_row(world, index)->status <= AGENT_PENDING);
  spawn_write(&world->agents.store, &world->agents.types, &world->agents.space, index, slot, def);
  if (world->agents.zone) return zone_ids_open(world->agents.zone, index);
  return muster_agent_make(index, identity_open(&world->agents.ids, index));
}

/* Where the updates of a new agent stand in the periods of its sets. */
static void begin_phase(struct muster_world *world, uint32_t index) {
  const agent_row *row = world_row(world, index);
  uint32_t time = periods_first_update(&world->queues->classes, row->class, index);
  world_type(world, row->type)->sets.passes[row->state_slot].updates =
      phases_join(&world->plan->phases, row->type, index, time);
}

/* How long it is to a new agent's first update, on the clock of its class. */
static uint64_t first_ns(const struct muster_world *world, uint32_t index) {
  const agent_row *row = world_row(world, index);
  const agent_class *class = &world->queues->classes.classes[row->class];
  uint64_t name = (uint64_t)identity_generation(&world->agents.ids, index) << 32 | index;
  if (world_type(world, row->type)->rated)
    return rates_begin(world_type(world, row->type), class, row, world->def.seed, name);
  return periods_first_ns(class, random_at(world->def.seed, name, 0, 0));
}

/* How far the clocks of the classes are behind a time: within a frame the release advances them. */
static uint64_t clocks_behind_ns(const struct muster_world *world, uint64_t time_ns) {
  uint64_t clocks_ns = world_is_in_frame(world) ? world->frame->now_ns - world->frame->elapsed_ns : world->last_now_ns;
  ASSERT(clocks_ns <= INT64_MAX && time_ns <= INT64_MAX); /* no frame is earlier than it is long */
  return time_ns > clocks_ns ? time_ns - clocks_ns : 0;
}

void lifecycle_enter(struct muster_world *world, uint32_t index, uint64_t last_update_ns) {
  agent_row *row = world_row(world, index);
  row->last_update_ns = last_update_ns;
  ASSERT(row->status == AGENT_PENDING && !row->scheduled && (identity_generation(&world->agents.ids, index) & 1));
  if (world_type(world, row->type)->has_sets)
    sets_begin(&world_type(world, row->type)->sets, row->state_slot, last_update_ns);
  space_link(&world->agents.space, &world->agents.store, index);
  score_new_agent(&world->score->board, index);
  store_activate(&world->agents.store, index);
  periods_begin(&world->queues->classes, &world->agents.store, index, clocks_behind_ns(world, last_update_ns),
                first_ns(world, index));
  if (world_type(world, row->type)->has_sets) begin_phase(world, index);
  ASSERT(row->status == AGENT_WAITING && row->level < world_type(world, row->type)->def.levels.count);
}

void lifecycle_resume(struct muster_world *world, uint32_t index, int64_t ahead_ns, uint64_t passed_ns) {
  ASSERT(world_row(world, index)->status == AGENT_PENDING && !world_row(world, index)->scheduled);
  space_link(&world->agents.space, &world->agents.store, index);
  score_new_agent(&world->score->board, index);
  store_activate(&world->agents.store, index);
  periods_resume(&world->queues->classes, &world->agents.store, index, ahead_ns, passed_ns);
}

/* --------------------------------------------------------------------------------------------------- being gone */

static void forget_company(struct muster_world *world, uint32_t index) {
  ASSERT(!world_is_active(world, index));
  if (!world->score->factors) return;
  companions_unlink(&world->links->companions, index, (muster_agent){0});
  world->agents.store.inherited_importance[index] = world->agents.store.own_importance[index] = 0;
}

static void release_index(struct muster_world *world, uint32_t index) {
  ASSERT(!world_is_active(world, index));
  agent_row *row = world_row(world, index);
  messages_forget(world, index);
  timing_forget(&world->agents, world->queues, index);
  forget_company(world, index);
  identity_give_back(&world->agents.slots[row->type], row->state_slot);
  row->status = AGENT_FREE;
  lifecycle_close(world, index);
}

void lifecycle_close(struct muster_world *world, uint32_t index) {
  ASSERT(world_row(world, index)->status == AGENT_FREE && !world_is_active(world, index));
  if (world->agents.zone)
    zone_ids_close(world->agents.zone, index);
  else
    identity_close(&world->agents.ids, index);
  wakes_settle(&world->commands->wakes, index);
  if (world->agents.zone)
    zone_ids_give_back(world->agents.zone, index);
  else
    identity_give_back(&world->agents.ids, index);
}

void lifecycle_discard(struct muster_world *world, uint32_t index) {
  ASSERT(world_row(world, index)->status == AGENT_PENDING);
  release_index(world, index);
}

static void forget_acting(struct muster_world *world, uint32_t index) {
  ASSERT(world->queues->acting_count > 0 && bits_has(world->queues->acting, index));
  bits_clear(world->queues->acting, index);
  world->queues->acting_count--;
}

static void forget_held(struct muster_world *world, uint32_t index) {
  struct batch *batch = world->batch;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < batch->held_count; i++)
    if (batch->held[i] != index) batch->held[kept++] = batch->held[i];
  ASSERT(kept + 1 == batch->held_count);
  batch->held_count = kept;
}

void lifecycle_unschedule(struct muster_world *world, uint32_t index) {
  ASSERT(world_is_active(world, index));
  agent_row *row = world_row(world, index);
  if (world->queues->classes.activation.delay_max) activation_take_back(&world->queues->classes.activation, 0, index);
  if (row->status == AGENT_WAITING) {
    if (row->scheduled) due_remove(&world->agents.store, index);
  } else {
    if (row->status == AGENT_ADMITTED) forget_held(world, index);
    if (row->status == AGENT_READY) ready_admit(&world->queues->ready, &world->agents.store, index);
    if (row->status == AGENT_ACTING) forget_acting(world, index);
    ready_forget(&world->queues->ready, &world->agents.store, index);
  }
}

void lifecycle_forget_overruns(struct muster_world *world, uint32_t index) {
  agent_row *row = world_row(world, index);
  type_overruns *type = &world->overruns->table.types[row->type];
  overrun_table_forget(&world->overruns->table, index);
  if (row->level_floor) {
    ASSERT(world->overruns->agents_demoted > 0 && type->agents_demoted > 0);
    world->overruns->agents_demoted--;
    type->agents_demoted--;
  }
  if (row->status != AGENT_QUARANTINED) return;
  ASSERT(world->overruns->agents_quarantined > 0 && type->agents_quarantined > 0);
  classes_join(&world->queues->classes, &world->queues->classes.classes[row->class], row);
  world->overruns->agents_quarantined--;
  type->agents_quarantined--;
}

void lifecycle_leave(struct muster_world *world, uint32_t index) {
  agent_row *row = world_row(world, index);
  lifecycle_unschedule(world, index);
  ASSERT(!row->scheduled && !row->queued);
  due_forget(&world->queues->classes, index);
  phases_leave(&world->plan->phases, row->type, index);
  lifecycle_forget_overruns(world, index);
  shedding_forget(&world->score->shedding, &world->agents.store, index);
  score_forget_agent(&world->score->board, index);
  space_unlink(&world->agents.space, &world->agents.store, index);
  store_deactivate(&world->agents.store, index);
  release_index(world, index);
}

void lifecycle_remove(struct muster_world *world, uint32_t index) {
  const agent_type *type = world_type_of(world, index);
  ASSERT(world_is_active(world, index));
  lifecycle_callback(world, index, MUSTER_FLIGHT_ON_REMOVED, type->def.on_removed);
  if (type->herded) herds_forget(world, index);
  lifecycle_leave(world, index);
  world->sums->statistics.removed++;
}

/* ----------------------------------------------------------------------------------------------- while it is there */

bool lifecycle_defer(struct muster_world *world, const struct command *command) {
  ASSERT(command->kind < COMMAND_KINDS && world->commands->deferred_count <= world->def.limits.commands_max);
  if (world->commands->deferred_count == world->def.limits.commands_max) {
    /* Another wake of the agent may rely on this command: it is kept among the wakes instead. */
    if (command->kind == COMMAND_WAKE) wakes_settle(&world->commands->wakes, command->index);
    if (command->kind == COMMAND_WAKE && wakes_push(&world->commands->wakes, command->index)) return true;
    if (command->kind == COMMAND_WAKE) recorder_cannot(world->recorder, "a wake found no room");
    world->sums->statistics.commands_dropped++;
    return false;
  }
  world->commands->deferred[world->commands->deferred_count++] = *command;
  return true;
}

void lifecycle_apply_wake(struct muster_world *world, const struct command *command) {
  agent_row *row = world_row(world, command->index);
  ASSERT(command->kind == COMMAND_WAKE && row->status != AGENT_FREE);
  if (row->status != AGENT_PENDING && world_type(world, row->type)->quarantined) return;
  switch ((agent_status)row->status) {
  case AGENT_PENDING:
    row->woken = 1;
    break;
  case AGENT_QUARANTINED:
    break;
  case AGENT_WAITING:
    if (timing_delays_wake(&world->agents, world->queues, &world->sums->statistics, world->frame->now_ns,
                           command->index))
      return;
    row->woken = 1;
    periods_release_early(&world->queues->classes, &world->agents.store, &world->queues->ready, command->index,
                          world->frame->now_ns, world->frame->number);
    ready_queue(&world->queues->ready, &world->agents.store, command->index);
    world->sums->report.woken++;
    break;
  case AGENT_READY:
    if (!row->woken && !row->atom_next &&
        timing_delays_wake(&world->agents, world->queues, &world->sums->statistics, world->frame->now_ns,
                           command->index))
      return;
    if (!row->woken) ready_wake(&world->queues->ready, &world->agents.store, command->index);
    world->sums->report.woken++;
    /* The rest of a preempted update does not answer the wake: the update began before it. */
    if (row->atom_next) lifecycle_defer(world, command);
    break;
  default:
    lifecycle_defer(world, command); /* the update still waits for its action atoms: the agent runs again after it */
  }
}

void lifecycle_wake(struct muster_world *world, uint32_t index) {
  struct command wake = command_about(COMMAND_WAKE, world_agent(world, index));
  lifecycle_apply_wake(world, &wake);
}

void lifecycle_move(struct muster_world *world, uint32_t index, space_spot spot) {
  ASSERT(world_is_active(world, index));
  if (score_notices(&world->score->board, &world->agents.store.places[index], spot))
    score_note(&world->score->board, index);
  space_move(&world->agents.space, &world->agents.store, index, spot);
  herds_note(world, index);
}

/* intake.c - stage 1: what changed since the last frame? Commands and spawns that any thread queued, and what the
 * updates of the last frame asked for, are applied here and nowhere else: world/lifecycle.h does it to each agent. */
#include "base/assert.h"
#include "base/prefetch.h"
#include "frame/stages.h"
#include "herds/herds.h"
#include "world/frame_state.h"
#include "world/herd_links.h"
#include "world/lifecycle.h"
#include "world/messages.h"
#include "world/observer_ids.h"
#include "world/penalties.h"
#include "world/reactions.h"
#include "world/timing.h"
#include "world/tune.h"
#include "world/world_commands.h"
#include "world/world_links.h"
#include "world/world_plan.h"
#include "world/world_queues.h"
#include "world/world_record.h"
#include "world/world_score.h"
#include "world/world_sums.h"

#include <muster/bulk.h>
#include <muster/flight.h>
#include <muster/sets.h>

/* Large numbers of commands and of spawns are spread over frames: each frame takes what fits an eighth of the budget.
 * Under the virtual clock that is a number, at INTAKE_NS for each. */
enum { INTAKE_MIN = 256, INTAKE_NS = 250, INTAKE_BUDGET_PART = 8, TOGETHER = 16 };

static void apply_move(struct muster_world *world, const struct command *command) {
  ASSERT(space_accepts(command->position));
  if (world_is_active(world, command->index))
    lifecycle_move(world, command->index, space_spot_of(&world->agents.space, command->position));
  else
    space_place(&world->agents.space, &world->agents.store.places[command->index], command->position);
}

static void set_factor(agent_row *row, muster_factor factor, double value) {
  if (value >= 0.0) row->factors[factor] = byte_share_of((float)value);
}

static void apply_tune(struct muster_world *world, const struct command *command) {
  agent_row *row = world_row(world, command->index);
  ASSERT(command->kind == COMMAND_TUNE && row->type < world->agents.types.count);
  if (command->first >= 0.0f) row->floor = share_of(command->first);
  if (command->second >= 0.0f) row->elasticity_step = (uint8_t)elasticity_step_of(command->second);
  if (command->derive) row->elasticity_step = ELASTICITY_DERIVED;
  set_factor(row, MUSTER_FACTOR_VISIBILITY, command->position.x);
  set_factor(row, MUSTER_FACTOR_BULK, command->position.y);
  set_factor(row, MUSTER_FACTOR_INTERACTIVITY, command->position.z);
  if (command->rated && world->score->factors) tune_ratings(world, command);
  if (world_is_active(world, command->index)) score_tuned_agent(&world->score->board, command->index);
}

static class_periods periods_of(const struct command *command) {
  return (class_periods){command->periods.nominal_ns, command->periods.longest_ns};
}

/* An agent that is not active yet is of no class: it gets its periods at the next intake. */
static void apply_periods(struct muster_world *world, const struct command *command) {
  ASSERT(command->kind == COMMAND_PERIODS);
  if (herds_is_block(world, command->index)) return; /* herds live there */
  if (world_is_active(world, command->index))
    tune_periods(world, command->index, periods_of(command), false);
  else
    lifecycle_defer(world, command);
}

static void apply_remove(struct muster_world *world, const struct command *command) {
  struct removals *removals = &world->agents.removals;
  if (herds_is_block(world, command->index)) { /* herds live there */
    removals_unmark(removals, command->index);
    return;
  }
  if (world_is_active(world, command->index)) {
    lifecycle_remove(world, command->index);
    return;
  }
  world_row(world, command->index)->removal_pending = 1;
  removals_mark(removals, command->index, command->generation);
}

static void apply_observer(struct muster_world *world, const struct command *command) {
  muster_observer_def def = {.position = command->position,
                             .partition = command->partition,
                             .near_m = command->first,
                             .far_m = command->second};
  if (!identity_is_live(&world->observers->ids, command->index, command->generation)) return;
  switch ((command_kind)command->kind) {
  case COMMAND_OBSERVER_ADD:
    observers_add(&world->observers->table, command->index, &def);
    break;
  case COMMAND_OBSERVER_MOVE:
    if (world->observers->table.rows[command->index].present)
      observers_move(&world->observers->table, command->index, command->position);
    break;
  default:
    if (world->observers->table.rows[command->index].present)
      observers_remove(&world->observers->table, command->index);
    observer_ids_close(world, command->index);
  }
}

static void apply_to_type(struct muster_world *world, const struct command *command) {
  ASSERT(command->index < world->agents.types.count);
  agent_type *type = world_type(world, command->index);
  muster_set_tuning tuning;
  switch ((command_kind)command->kind) {
  case COMMAND_REINSTATE_TYPE:
    penalties_reinstate_type(world, command->index);
    break;
  case COMMAND_QUARANTINE_TYPE:
    penalties_quarantine_type(world, command->index, true);
    break;
  case COMMAND_TYPE_PERIODS:
    tune_type_periods(world, command->index, periods_of(command));
    break;
  case COMMAND_SET_SHARE:
    type->def.sets.share = command->tuning.share;
    break;
  default:
    tuning = command_set_tuning(command);
    if (tuning.period_updates != type->sets.sets[command->tuning.set].period_updates)
      phases_give_up(&world->plan->phases, command->index);
    sets_tune(&type->sets, command->tuning.set, &tuning);
  }
}

static void intake_apply(struct muster_world *world, const struct command *command) {
  ASSERT(command->kind < COMMAND_KINDS);
  if (command->kind >= COMMAND_HERD_WAKE) {
    herds_apply(world, command);
    return;
  }
  if (command->kind >= COMMAND_REINSTATE_TYPE) {
    apply_to_type(world, command);
    return;
  }
  if (command->kind >= COMMAND_OBSERVER_ADD) {
    apply_observer(world, command);
    return;
  }
  if (!world_is_live(world, muster_agent_make(command->index, command->generation)) ||
      world_row(world, command->index)->status == AGENT_GHOST)
    return;
  switch ((command_kind)command->kind) {
  case COMMAND_REMOVE:
    apply_remove(world, command);
    break;
  case COMMAND_MOVE:
    apply_move(world, command);
    break;
  case COMMAND_WAKE:
    wakes_settle(&world->commands->wakes, command->index);
    lifecycle_apply_wake(world, command);
    break;
  case COMMAND_WAKE_AT:
    timing_ask(&world->agents, world->queues, command->index, command->at_ns);
    break;
  case COMMAND_REINSTATE:
    penalties_reinstate(world, command->index);
    break;
  case COMMAND_QUARANTINE:
    penalties_set_aside(world, command->index);
    break;
  case COMMAND_LINK:
  case COMMAND_UNLINK:
    tune_companions(world, command);
    break;
  case COMMAND_PERIODS:
    apply_periods(world, command);
    break;
  default:
    apply_tune(world, command);
  }
}

/* Takes the next hint, of those that were there at the beginning, for an agent that still exists: the agent was woken,
 * and no worker ran it. */
static bool take_hint(struct muster_world *world, uint32_t *left, struct command *wake) {
  uint32_t index;
  for (; *left > 0 && wakes_pop(&world->commands->wakes, &index); --*left) {
    muster_agent agent = world_agent(world, index);
    if (!wakes_settle(&world->commands->wakes, index) || !world_is_live(world, agent)) continue;
    *wake = command_about(COMMAND_WAKE, agent);
    --*left;
    return true;
  }
  return false;
}

static bool is_wake(const struct muster_world *world, const struct command *wake) {
  return wake->kind == COMMAND_WAKE && world_is_live(world, muster_agent_make(wake->index, wake->generation)) &&
         world_row(world, wake->index)->status != AGENT_FREE;
}

static void apply_wakes(struct muster_world *world) {
  struct command wake;
  uint32_t left = wakes_count(&world->commands->wakes);
  while (world_record_command(world, take_hint(world, &left, &wake), &wake))
    if (is_wake(world, &wake))
      lifecycle_apply_wake(world, &wake);
    else /* a record was made up */
      recorder_diverges(world->recorder, "its record wakes agent %u, which does not exist", wake.index);
}

/* A part of the intake that stops when it has had its share of the frame. */
typedef struct intake_share {
  uint64_t end_ns; /* wall */
  uint64_t count;  /* virtual */
  uint64_t taken;
} intake_share;

static intake_share begin_share(const struct muster_world *world) {
  uint64_t share_ns = world->frame->budget_ns / INTAKE_BUDGET_PART;
  uint64_t count = share_ns / INTAKE_NS;
  return (intake_share){.end_ns = world_is_virtual(world) ? 0 : clock_now(world->clock) + share_ns,
                        .count = count > INTAKE_MIN ? count : INTAKE_MIN};
}

static bool is_left(const struct muster_world *world, const intake_share *share) {
  if (share->taken < INTAKE_MIN) return true;
  return world_is_virtual(world) ? share->taken < share->count : clock_now(world->clock) < share->end_ns;
}

/* Whether a few more may be taken, if there are any. */
static bool goes_on(const struct muster_world *world, const intake_share *share, bool any) {
  return recorder_choose(world->recorder, any && is_left(world, share));
}

/* Fetches the agents that are named in a few commands, or about to become active, before any of them is dealt with. */
PREFETCH_FUNCTION prefetch_agents(const struct muster_world *world, const uint32_t *agents, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    __builtin_prefetch(world_row(world, agents[i]), 1);
    __builtin_prefetch(&world->agents.store.places[agents[i]], 1);
  }
}

/* Fetches what taking agents out touches: their slots, their blocks in the grid, then the ends of the lists that the
 * blocks are part of. */
PREFETCH_FUNCTION prefetch_lists(struct muster_world *world, const uint32_t *agents, uint32_t count) {
  const agent_store *store = &world->agents.store;
  const list_store *placed = world->agents.space.stores;
  for (uint32_t i = 0; i < count; i++) __builtin_prefetch(lists_block_of(placed, store->places[agents[i]].spot), 1);
  for (uint32_t i = 0; i < count; i++) due_prefetch(&world->queues->classes, agents[i]);
  for (uint32_t i = 0; i < count; i++)
    if (store->places[agents[i]].depth == 0)
      __builtin_prefetch(&world->agents.space.buckets[lists_block_of(placed, store->places[agents[i]].spot)->owner], 1);
  for (uint32_t i = 0; i < count; i++) {
    const agent_place *place = &store->places[agents[i]];
    uint32_t bucket = place->depth ? 0 : lists_block_of(placed, place->spot)->owner;
    __builtin_prefetch(lists_last(placed, world->agents.space.buckets[bucket].list), 1);
  }
}

/* Lists the agents that some commands are about; `existing` leaves those out that are not live: the rows of other
 * agents may be in use by threads that spawn. Returns how many. */
static uint32_t list_agents(const struct muster_world *world, const struct command *commands, uint32_t count,
                            bool existing, uint32_t *agents) {
  uint32_t listed = 0;
  for (uint32_t i = 0; i < count; i++)
    if (commands[i].kind < COMMAND_OBSERVER_ADD &&
        (!existing || world_is_live(world, muster_agent_make(commands[i].index, commands[i].generation))))
      agents[listed++] = commands[i].index;
  return listed;
}

/* Applies a few commands: the agents of all of them are fetched before any of them is dealt with. */
static void apply_group(struct muster_world *world, const struct command *commands, uint32_t count) {
  uint32_t agents[TOGETHER], removals = 0;
  ASSERT(count <= TOGETHER);
  for (uint32_t i = 0; i < count; i++) removals += commands[i].kind == COMMAND_REMOVE;
  prefetch_agents(world, agents, list_agents(world, commands, count, false, agents));
  if (removals) prefetch_lists(world, agents, list_agents(world, commands, count, true, agents));
  for (uint32_t i = 0; i < count; i++) intake_apply(world, &commands[i]);
}

/* What other threads asked for before the intake began. */
typedef struct intake_asked {
  intake_share share;
  uint32_t commands; /* that are still to be taken, if there is time for them */
} intake_asked;

/* Takes a few commands of other threads, or else of the agents that they removed; returns how many. */
static uint32_t take_few(struct muster_world *world, intake_asked *asked, struct command *commands) {
  uint32_t count = 0, most = asked->commands < TOGETHER ? asked->commands : TOGETHER;
  while (count < most && ring_pop(&world->commands->queues.commands, &commands[count])) count++;
  asked->share.taken += count;
  asked->commands = count < most ? 0 : asked->commands - count; /* one may not be written yet */
  if (count) return count;
  for (struct command remove = {.kind = COMMAND_REMOVE};
       count < TOGETHER && removals_pop(&world->agents.removals, &remove.index, &remove.generation);)
    commands[count++] = remove;
  return count;
}

/* Applies a few of them; false when there was none. */
static bool apply_few(struct muster_world *world, intake_asked *asked) {
  struct command commands[TOGETHER];
  uint32_t count = world_record_commands(world, commands, take_few(world, asked, commands), TOGETHER);
  apply_group(world, commands, count);
  return count > 0;
}

/* Whether more is to be applied: commands while there is time for them, and then removals, of which none may wait. */
static bool asks_more(const struct muster_world *world, intake_asked *asked) {
  if (asked->commands && !is_left(world, &asked->share)) asked->commands = 0;
  return recorder_choose(world->recorder, asked->commands || world->agents.removals.seen_count);
}

/* Commands of the updates come first, then wakes, then the commands of other threads, no more than there were at the
 * beginning: a producer that never stops must not hold up the frame. Last of all come the agents that other threads
 * removed, so that on_removed finds an agent where the host has moved it. */
static void apply_commands(struct muster_world *world) {
  uint32_t count = world->commands->deferred_count;
  ASSERT(count <= world->def.limits.commands_max);
  struct command *deferred = world->commands->deferred;
  world->commands->deferred = world->commands->deferred_before; /* callbacks may defer anew */
  world->commands->deferred_before = deferred;
  world->commands->deferred_count = 0;
  for (uint32_t i = 0; i < count; i += TOGETHER)
    apply_group(world, deferred + i, count - i < TOGETHER ? count - i : TOGETHER);
  apply_wakes(world);
  intake_asked asked = {begin_share(world), ring_count(&world->commands->queues.commands)};
  while (asks_more(world, &asked) && apply_few(world, &asked)) continue;
  world->sums->report.commands_waiting = ring_count(&world->commands->queues.commands);
}

static void activate(struct muster_world *world, uint32_t index) {
  ASSERT(world_row(world, index)->status == AGENT_PENDING && !world_is_active(world, index));
  agent_row *row = world_row(world, index);
  if (row->removal_pending) { /* removed before it became active: no callback is told */
    lifecycle_discard(world, index);
    return;
  }
  bool aside = row->acts;
  row->acts = 0;
  lifecycle_enter(world, index, world->frame->now_ns);
  if (aside) penalties_set_aside(world, index);
  lifecycle_callback(world, index, MUSTER_FLIGHT_ON_SPAWNED, world_type(world, row->type)->def.on_spawned);
  world->sums->statistics.spawned++;
  if (row->woken) {
    row->woken = 0;
    lifecycle_wake(world, index);
  }
}

/* Fetches what putting agents into the grid touches: their buckets and slots; then the ends of the buckets' lists. */
PREFETCH_FUNCTION prefetch_homes(const struct muster_world *world, const uint32_t *agents, uint32_t count,
                                 uint32_t step) {
  const struct space *space = &world->agents.space;
  for (uint32_t i = 0; i < count; i++) {
    const agent_place *place = &world->agents.store.places[agents[i]];
    const space_bucket *bucket = space_cell(space, place->cell_x, place->cell_y, place->partition);
    if (step == 0) {
      __builtin_prefetch(bucket, 1);
      due_prefetch(&world->queues->classes, agents[i]);
    } else {
      __builtin_prefetch(lists_last(space->stores, bucket->list), 1);
    }
  }
}

/* Activates a few of the spawned agents; returns how many. */
static uint32_t activate_few(struct muster_world *world) {
  uint32_t agents[TOGETHER], count = world_record_take_spawns(world, agents, TOGETHER);
  prefetch_agents(world, agents, count);
  for (uint32_t step = 0; step < 2; step++) prefetch_homes(world, agents, count, step);
  for (uint32_t i = 0; i < count; i++) activate(world, agents[i]);
  return count;
}

static void activate_spawns(struct muster_world *world) {
  intake_share share = begin_share(world);
  while (goes_on(world, &share, true)) {
    uint32_t taken = activate_few(world);
    if (!taken) break;
    share.taken += taken;
  }
  world->sums->report.spawns_waiting = spawn_queue_count(&world->commands->queues.spawns);
}

/* Wakes receivers that ask for it, when messages were delivered to them since the last intake. A held receiver runs in
 * this frame anyway. */
static void wake_receivers(struct muster_world *world) {
  struct mailbox *mailbox = &world->links->mailbox;
  for (uint32_t index = 0; mailbox->wake_count;) {
    index = mailbox_take_wake(mailbox, index);
    ASSERT(identity_generation(&world->agents.ids, index) & 1);
    if (world_row(world, index)->status == AGENT_ADMITTED) continue;
    wakes_settle(&world->commands->wakes, index);
    lifecycle_wake(world, index);
  }
}

/* Tops up the ids set aside for spawns from inside updates; some stay for the host. */
static void set_ids_aside(struct muster_world *world) {
  uint32_t kept_free = world->def.limits.agents_max / 64 + 1;
  ASSERT(world->commands->spawn_id_count <= world->def.limits.agents_max);
  uint32_t wanted = 0;
  for (uint32_t i = 0; i < world->agents.types.count; i++)
    if (world_type(world, i)->def.spawns_max) wanted = world->def.limits.agents_max;
  if (wanted > world->agents.store.active_count / 2 + 1024) wanted = world->agents.store.active_count / 2 + 1024;
  while (world->commands->spawn_id_count < wanted) {
    bool any = identity_available(&world->agents.ids) > kept_free;
    uint32_t index = world_record_id(world, any ? identity_take(&world->agents.ids) : IDENTITY_NONE);
    if (index == IDENTITY_NONE) break;
    world->commands->spawn_ids[world->commands->spawn_id_count++] = index;
  }
}

/* ---------------------------------------------------------------------------------------------------------- alarms */

/* Makes the agent's next update answer its time. False when an earlier update is under way, the agent is not active
 * yet, or it is at this very time already. */
static bool release_timed(struct muster_world *world, uint32_t index) {
  agent_row *row = world_row(world, index);
  agent_alarm *alarm = &world->agents.store.alarms[index];
  bool waits = row->status == AGENT_WAITING;
  ASSERT(alarm->wake_at_ns > 0 && row->status != AGENT_FREE);
  if (!waits && row->status != AGENT_READY && row->status != AGENT_ADMITTED) return false;
  if (row->last_update_ns >= world->frame->now_ns) return false;
  if (row->status == AGENT_READY && !row->woken) ready_wake(&world->queues->ready, &world->agents.store, index);
  row->woken = 1;
  if (!waits && row->atom_next) return false;
  if (!row->timed) alarm->answered_ns = alarm->wake_at_ns;
  row->timed = 1;
  alarm->wake_at_ns = 0;
  world->sums->statistics.wakes_timed++;
  if (!waits) return true;
  periods_release_early(&world->queues->classes, &world->agents.store, &world->queues->ready, index,
                        world->frame->now_ns, world->frame->number);
  ready_queue(&world->queues->ready, &world->agents.store, index);
  return true;
}

static void answer_alarm(struct muster_world *world, uint32_t index) {
  agent_row *row = world_row(world, index);
  const agent_alarm *alarm = &world->agents.store.alarms[index];
  uint64_t now_ns = world->frame->now_ns;
  if (alarm->wake_at_ns && alarm->wake_at_ns <= now_ns && !release_timed(world, index)) {
    timers_set(&world->queues->timers, index, now_ns + 1); /* looked at again in each frame until then */
    return;
  }
  if (row->delayed && alarm->quiet_until_ns <= now_ns) {
    row->delayed = 0;
    lifecycle_wake(world, index);
  }
  timing_set(&world->agents, world->queues, index);
}

/* Releases agents at the time that they asked for, and wakes agents at the end of their gap. Twice: before the
 * commands, since these times come first, and after them. */
static void answer_alarms(struct muster_world *world) {
  uint32_t left = periods_most(world->frame->budget_ns), index;
  for (; left > 0; left--) {
    if ((index = timers_take_due(&world->queues->timers, world->frame->now_ns)) == UINT32_MAX) return;
    answer_alarm(world, index);
  }
}

void intake_run(struct muster_world *world) {
  ASSERT(!world->commit->open && world->queues->ready.count >= world->queues->ready.begun);
  /* What is removed from here on waits for the next intake. */
  removals_take(&world->agents.removals, &world->agents.ids);
  answer_alarms(world);
  reactions_run(&world->agents, world->queues, world->frame);
  tune_run(world);
  apply_commands(world);
  messages_take(world);
  activate_spawns(world);
  wake_receivers(world);
  answer_alarms(world);
  herds_intake(world);
  set_ids_aside(world);
}

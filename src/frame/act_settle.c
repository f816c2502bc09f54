/* act_settle.c - stage 8: what follows from actions that ran beside each other, in this order:
 *
 *   asked    what they asked of other agents goes to the next intake, in agent order
 *   ids      so do agents that they spawned
 *   plain    most agents have done nothing that others must know of: their updates are completed beside each other. A
 *            worker takes all agents of a shard, in agent order, and touches nothing but the shard
 *   the rest the others, one after another, in agent order: those that moved, sent messages, asked for a time ...
 *
 * Which agents are plain follows from what they did and not from workers or shards, and no agent depends on one of
 * another shard. So the world is the same for any number of workers, and for a replay in other shards. */
#include "agents/batch.h"
#include "base/assert.h"
#include "base/prefetch.h"
#include "frame/complete.h"
#include "frame/settle.h"
#include "record/recorder.h"
#include "world/herd_links.h"
#include "world/messages.h"
#include "world/section.h"
#include "world/world_acts.h"
#include "world/world_commands.h"
#include "world/world_links.h"
#include "world/world_teams.h"

/* ----------------------------------------------------------------------------------------------- asked, and spawned */

/* What the actions asked of other agents waits for the next intake. */
static void send_asked(struct muster_world *world) {
  log_merge merge;
  const logged_command *logged;
  runner_merge_logs(world->runner, &merge);
  while ((logged = runner_merge_next(&merge))) {
    const struct command *command = &logged->command;
    bool removes = command->kind == COMMAND_REMOVE;
    ASSERT(command->kind < COMMAND_KINDS);
    if (removes) world->acts->beside.removed[command->index] = 0;
    if (lifecycle_defer(world, command) && removes) world_row(world, command->index)->removal_pending = 1;
  }
}

/* Agents that they spawned wait for the intake; ids that they did not use stay set aside. */
static void keep_ids(struct muster_world *world) {
  const struct acts *acts = &world->acts->beside;
  spawn_ids ids = {0};
  for (uint32_t i = 0; i < acts->count; i++)
    if (acts->entries[i].ran && acts->results[i].spawned)
      settle_spawned(world, &ids, acts->entries[i].spawn_base, acts->results[i].spawned);
  settle_close_ids(world, &ids);
}

static void act_post(struct muster_world *world, const act_entry *entry, const batch_result *result) {
  uint32_t sends = result->sends < entry->send_limit ? result->sends : entry->send_limit;
  ASSERT(entry->send_base + entry->send_limit <= world->batch->places_max);
  world->sums->statistics.messages_refused += result->sends - sends;
  for (uint32_t i = 0; i < sends; i++) {
    const outgoing *message = &world->links->mailbox.places[entry->send_base + i];
    messages_post(world, entry->agent, &message->head, message->bytes);
  }
}

/* Virtual clock: notes the atoms with a model over their limit. */
static void note_overruns(struct muster_world *world, const act_entry *entry) {
  const agent_row *row = world_row(world, entry->agent);
  const agent_type *type = world_type(world, row->type);
  for (uint64_t left = entry->late_atoms; left; left &= left - 1) {
    uint32_t atom = type->parallel_atoms + (uint32_t)__builtin_ctzll(left);
    overruns_add(&runner_caller(world->runner)->overruns, &(struct overrun){.duration_ns = type->atoms[atom].model_ns,
                                                                            .agent = entry->agent,
                                                                            .generation = row->generation,
                                                                            .type = row->type,
                                                                            .atom = (uint16_t)atom,
                                                                            .level = row->level});
  }
}

/* ------------------------------------------------------------------------------------------------------------ plain */

/* Whether no message has come to the agent while its update was under way: its box is empty afterwards. */
static inline bool nothing_came(const agent_type *type, const agent_row *row) {
  if (!type->has_boxes) return true;
  const struct box *box = &type->boxes.boxes[row->state_slot];
  return box->count == box->begun;
}

/* Whether an update can be completed beside others: it touches nothing of other shards. */
static inline bool act_is_plain(const struct muster_world *world, const act_entry *entry, const batch_result *result) {
  const agent_row *row = world_row(world, entry->agent);
  const agent_type *type = world_type(world, row->type);
  if (result->moved || result->asks || result->sends || entry->late_atoms || entry->taken) return false;
  return !type->has_sets && !row->reacts && !messages_are_owed(world, entry->agent) && nothing_came(type, row);
}

/* What completing some entries touches: of each group at once, and what follows from the row a group later. */
PREFETCH_FUNCTION prefetch_acted(const struct muster_world *world, const uint32_t *numbers, uint32_t i,
                                 uint32_t count) {
  enum { EACH = 8 };
  const class_table *classes = &world->queues->classes;
  const struct acts *acts = &world->acts->beside;
  if (i % EACH) return;
  for (uint32_t k = i ? i + EACH : 0; k < i + 2 * EACH && k < count; k++) {
    uint32_t agent = acts->entries[numbers[k]].agent;
    __builtin_prefetch(world_row(world, agent), 1);
    __builtin_prefetch(&world->agents.store.begun[agent]);
    __builtin_prefetch(&acts->results[numbers[k]]);
    due_prefetch(classes, agent);
    changes_prefetch(&world->agents.store.changes, agent);
  }
  for (uint32_t k = i; k < i + EACH && k < count; k++) {
    uint32_t agent = acts->entries[numbers[k]].agent;
    due_prefetch_line(classes, world_row(world, agent), agent);
  }
}

static void complete_acted(struct muster_world *world, settle_part *part, uint32_t agent) {
  update_complete(world, part, 0, agent, world->agents.store.begun[agent].started_ns);
}

/* Completes the plain ones of some entries, in their order; counts the others. */
static void settle_plain_acts(struct muster_world *world, const uint32_t *numbers, uint32_t count, uint32_t worker) {
  struct acts *acts = &world->acts->beside;
  settle_part *part = &world->sums->parts[worker];
  for (uint32_t i = 0; i < count; i++) {
    act_entry *entry = &acts->entries[numbers[i]];
    prefetch_acted(world, numbers, i, count);
    if (!entry->ran) continue;
    if (!act_is_plain(world, entry, &acts->results[numbers[i]])) {
      entry->left = true;
      acts->parts[worker].left++;
      continue;
    }
    settle_forget_queued(world, part, entry->agent);
    complete_acted(world, part, entry->agent);
  }
}

static void settle_some_acts(void *argument, uint32_t first, uint32_t end, uint32_t worker) {
  struct muster_world *world = argument;
  const struct settle_lots *lots = &world->teams->lots;
  for (uint32_t lot = first; lot < end; lot++) {
    uint32_t begin = settle_lot_begin(lots, lot);
    settle_plain_acts(world, lots->entries + begin, lots->ends[lot] - begin, worker);
  }
}

/* Where activation is planned, one agent's time depends on what those before it booked: they go one after another. */
static void settle_all_plain(struct muster_world *world) {
  enum { SETTLE_NS = 40 };
  struct acts *acts = &world->acts->beside;
  struct settle_lots *lots = &world->teams->lots;
  if (acts->count == 0) return;
  ASSERT(lots->count == 0 && acts->count <= world->agents.store.active_count);
  settle_cut(world, &acts->entries->agent, sizeof *acts->entries, acts->count);
  if (world->queues->classes.activation.delay_max) {
    for (uint32_t i = 0; i < acts->count; i++) lots->entries[i] = i;
    settle_plain_acts(world, lots->entries, acts->count, 0);
  } else {
    section_run(world, settle_some_acts, lots->count, (uint64_t)acts->count * SETTLE_NS);
  }
  lots->count = 0;
  settle_close_queue(world, world->sums->part_count);
}

/* -------------------------------------------------------------------------------------------------------- the rest */

static void settle_left(struct muster_world *world) {
  const struct acts *acts = &world->acts->beside;
  for (uint32_t i = 0; i < acts->count; i++) {
    const act_entry *entry = &acts->entries[i];
    if (!entry->left) continue;
    ASSERT(entry->ran);
    settle_effects(world, entry->agent, &acts->results[i]);
    if (acts->results[i].sends) act_post(world, entry, &acts->results[i]);
    if (entry->late_atoms) note_overruns(world, entry);
    if (entry->taken) herds_taken(world, entry->agent, entry->taken);
    complete_acted(world, world->sums->parts, entry->agent);
  }
}

uint32_t settle_acted(struct muster_world *world) {
  const struct acts *acts = &world->acts->beside;
  act_part sum = {0};
  for (uint32_t i = 0; i < world->runner->state_count; i++) {
    sum.acted += acts->parts[i].acted;
    sum.spawned += acts->parts[i].spawned;
  }
  send_asked(world);
  if (sum.spawned) keep_ids(world);
  settle_all_plain(world);
  for (uint32_t i = 0; i < world->runner->state_count; i++) sum.left += acts->parts[i].left;
  if (sum.left) settle_left(world);
  ASSERT(sum.acted <= world->queues->acting_count);
  world->queues->acting_count -= sum.acted;
  return sum.acted;
}

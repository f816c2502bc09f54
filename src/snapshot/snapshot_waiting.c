/* snapshot_waiting.c - what a snapshot says of agents that wait, and for what: a period, a worker, the commit, a time,
 * the next intake. */
#include "base/assert.h"
#include "base/bits.h"
#include "base/error.h"
#include "snapshot/snapshot.h"
#include "world/guard.h"
#include "world/tune.h"
#include "world/world_acts.h"
#include "world/world_commands.h"
#include "world/world_herds.h"
#include "world/world_links.h"
#include "world/world_plan.h"
#include "world/world_queues.h"

#include <muster/tune.h>

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------ ready */

/* The agents in a line: the queue of the woken agents if `woken`, else the line of all waiting agents. */
static void exchange_fifo(struct snapshot *snapshot, struct fifo *fifo, bool woken) {
  static const snapshot_listing listings[] = {
      {"agents in a line", "the line", SNAPSHOT_IN_FIFO, 1u << AGENT_READY | 1u << AGENT_ADMITTED | 1u << AGENT_ACTING},
      {"agents in a line", "the line of the woken", SNAPSHOT_LISTED, 1u << AGENT_READY}};
  ASSERT(fifo->head <= fifo->tail && (snapshot_saves(snapshot) || fifo->standing == 0));
  struct muster_world *world = snapshot->world;
  if (snapshot_saves(snapshot)) fifo_compact(fifo); /* as it will be once it is loaded: reports look at places */
  for (uint32_t i = 0, place = fifo->head; i < fifo->standing; i++) snapshot->indices[i] = fifo_next(fifo, &place);
  uint32_t count = snapshot_indices(snapshot, fifo->standing, snapshot->high, &listings[woken]);
  snapshot_expect(snapshot, !count || !ready_by_deadline(&world->queues->ready), "no agent stands in a line");
  for (uint32_t i = 0; i < count && !snapshot_saves(snapshot); i++) {
    uint32_t index = snapshot->indices[i];
    snapshot_expect(snapshot, !woken || snapshot->rows[index].woken, "agent %u was not woken", index);
    if (!snapshot_loads(snapshot)) continue;
    fifo_join(fifo, index);
    if (!woken) world->agents.store.rows[index].queued = 1;
  }
}

static int by_release(const void *one, const void *other, void *rows) {
  uint64_t a = ((const agent_row *)rows)[*(const uint32_t *)one].first_due_ns;
  uint64_t b = ((const agent_row *)rows)[*(const uint32_t *)other].first_due_ns;
  return (a > b) - (a < b);
}

/* In the order of deadlines no agent has a place in the line: all that are ready wait, in order of their releases. */
static void wait_again(struct snapshot *snapshot, ready_set *ready) {
  agent_store *store = &snapshot->world->agents.store;
  uint32_t count = 0;
  for (uint32_t i = 0; store_finds(store, &i); i++)
    if (store->rows[i].status == AGENT_READY) snapshot->indices[count++] = i;
  qsort_r(snapshot->indices, count, sizeof *snapshot->indices, by_release, store->rows);
  for (uint32_t i = 0; i < count; i++) ready_queue(ready, store, snapshot->indices[i]);
}

/* The agents that are held for the next frame. */
static void exchange_held(struct snapshot *snapshot) {
  static const snapshot_listing held = {"agents are held", "the list of held agents", SNAPSHOT_LISTED,
                                        1u << AGENT_ADMITTED};
  struct batch *batch = snapshot->world->batch;
  uint32_t most = snapshot->high < HELD_MAX ? snapshot->high : HELD_MAX;
  ASSERT(batch->held_count <= HELD_MAX);
  snapshot_array(snapshot, batch->held, &batch->held_count, most, &held);
  snapshot_exchange_own(snapshot, &batch->held_ns, sizeof batch->held_ns);
}

/* The agents in the ring with their keys, in order; their buckets follow from the keys. */
static void exchange_ring(struct snapshot *snapshot, ready_set *ready) {
  static const snapshot_listing listing = {"agents in the ring", "the ring of ready agents", SNAPSHOT_LISTED,
                                           1u << AGENT_READY};
  struct muster_world *world = snapshot->world;
  uint32_t count = 0;
  const uint64_t *entries = snapshot_saves(snapshot) ? ready_entries(ready, &world->agents.store, &count) : NULL;
  for (uint32_t i = 0; i < count; i++) snapshot->indices[i] = ring_agent(entries[i]);
  count = snapshot_indices(snapshot, count, snapshot->high, &listing);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t index = snapshot->indices[i];
    uint64_t key = entries ? entries[i] >> RING_AGENT_BITS : 0;
    snapshot_exchange(snapshot, &key, sizeof key);
    snapshot_expect(snapshot, key <= RING_KEY_MAX, "agent %u has the key %llu", index, (unsigned long long)key);
    snapshot_expect(snapshot, ready_by_deadline(ready) || !snapshot->rows[index].woken,
                    "agent %u is in the ring, woken", index);
    if (snapshot_loads(snapshot)) ready_file(ready, &world->agents.store, ring_entry(key, index));
  }
}

void snapshot_ready(struct snapshot *snapshot) {
  static const snapshot_column columns[] = {ANY(ready_set, epoch_ns), DOUBLE(ready_set, filed_lambda, 0.0, INFINITY),
                                            PAST(ready_set, now_ns), COLUMNS_END};
  struct world_queues *queues = snapshot->world->queues;
  ready_set substitute = {.weights = queues->ready.weights};
  ready_set *ready = snapshot_object(snapshot, &queues->ready, &substitute);
  snapshot_columns(snapshot, columns, ready);
  snapshot_expect(snapshot, ready_epoch_is_possible(ready), "keys that begin at %lld", (long long)ready->epoch_ns);
  if (snapshot_loads(snapshot)) ready_place_ring(ready);
  exchange_ring(snapshot, ready);
  exchange_fifo(snapshot, &queues->ready.woken, true);
  exchange_fifo(snapshot, &queues->ready.waiting, false);
  if (snapshot_loads(snapshot) && ready_by_deadline(ready)) wait_again(snapshot, ready);
  exchange_held(snapshot);
  snapshot_count_own(snapshot, &snapshot->world->acts->first, ACT_KINDS - 1, "kinds of actions");
}

/* ----------------------------------------------------------------------------------------------------------- timers */

static void exchange_timers(struct snapshot *snapshot, struct timers *timers, uint16_t mark) {
  const snapshot_listing listing = {"times", "the agents that wait for a time", mark, LISTS_LIVE};
  ASSERT(timers->count <= timers->high && (snapshot_saves(snapshot) || timers->count == 0));
  for (uint32_t i = 0; i < timers->count; i++) snapshot->indices[i] = timers->heap[i].agent;
  uint32_t count = snapshot_indices(snapshot, timers->count, snapshot->high, &listing);
  uint32_t high = snapshot_count(snapshot, timers->high, snapshot->world->def.limits.agents_max, "times at once");
  for (uint32_t i = 0; i < count; i++) {
    uint64_t at_ns = timers->heap[i].at_ns;
    snapshot_exchange(snapshot, &at_ns, sizeof at_ns);
    if (snapshot_loads(snapshot)) timers_set(timers, snapshot->indices[i], at_ns);
  }
  snapshot_expect(snapshot, high >= count, "more times than ever");
  if (snapshot_loads(snapshot)) timers->high = high;
}

void snapshot_timers(struct snapshot *snapshot) {
  exchange_timers(snapshot, &snapshot->world->queues->timers, SNAPSHOT_TIMED);
  exchange_timers(snapshot, &snapshot->world->queues->reactions, SNAPSHOT_REACTS);
}

/* ----------------------------------------------------------------------------------------------------------- queues */

/* Where the intake goes on among spawned agents: which agents wait there, their status says. */
static void exchange_spawns(struct snapshot *snapshot) {
  struct spawn_queue *spawns = &snapshot->world->commands->queues.spawns;
  snapshot_count_own(snapshot, &spawns->next, snapshot->world->def.limits.agents_max + 63, "spawns");
  if (spawns->next >= spawns->words * 64) spawns->next = 0;
}

/* Hints of agents that were already taken care of are left out. */
static void exchange_wakes(struct snapshot *snapshot) {
  struct wakes *wakes = &snapshot->world->commands->wakes;
  uint32_t index = 0, hints = 0, woken = 0;
  for (; snapshot_saves(snapshot) && ring_peek(&wakes->hints, hints, &index); hints++)
    woken += wakes_is_woken(wakes, index);
  uint32_t count = snapshot_count(snapshot, woken, wakes->hints_max + POOL_SLOTS_MAX, "wakes");
  for (uint32_t i = 0, hint = 0; i < count; i++) {
    if (snapshot_saves(snapshot)) do
        ring_peek(&wakes->hints, hint++, &index);
      while (!wakes_is_woken(wakes, index));
    index = snapshot_number(snapshot, index);
    snapshot_expect_agent(snapshot, index);
    snapshot_expect(snapshot, snapshot->rows[index].generation & 1 && !snapshot_is_ghost(snapshot, index),
                    "agent %u was woken and is gone", index);
    if (snapshot_loads(snapshot)) wakes_push(wakes, index);
  }
}

static void exchange_command(struct snapshot *snapshot, void *value) {
  struct command *command = value;
  snapshot_exchange(snapshot, command, sizeof *command);
  snapshot_expect(snapshot, snapshot_saves(snapshot) || command_is_possible(snapshot->world, command),
                  "command %u for %u cannot have been given", command->kind, command->index);
}

/* The next of the removals that were looked for, as a command. */
static void next_removal(struct muster_world *world, struct command *command) {
  *command = (struct command){.kind = COMMAND_REMOVE};
  removals_pop(&world->agents.removals, &command->index, &command->generation);
}

static void return_command(struct muster_world *world, const struct command *command) {
  if (command->kind == COMMAND_REMOVE)
    removals_add(&world->agents.removals, &world->agents.ids, command->index, command->generation);
  else
    ring_push(&world->commands->queues.commands, command);
}

/* What other threads asked for: commands, and behind them removals, for which there is always room. */
static void exchange_commands(struct snapshot *snapshot) {
  struct muster_world *world = snapshot->world;
  const struct ring *ring = &world->commands->queues.commands;
  struct command command;
  bool saves = snapshot_saves(snapshot);
  uint32_t commands = 0, others = 0;
  if (saves) removals_look(&world->agents.removals, &world->agents.ids);
  while (saves && ring_peek(ring, commands, &command)) commands++;
  uint32_t count = commands + (saves ? world->agents.removals.seen_count : 0);
  count = snapshot_count(snapshot, count, ring->mask + 1 + snapshot->high, "commands");
  for (uint32_t i = 0; i < count; i++) {
    if (i < commands)
      ring_peek(ring, i, &command);
    else if (saves)
      next_removal(world, &command);
    exchange_command(snapshot, &command);
    others += command.kind != COMMAND_REMOVE;
    snapshot_expect(snapshot, others <= ring->mask + 1, "more commands than there is room for");
    if (snapshot_loads(snapshot)) return_command(world, &command);
  }
}

/* What updates asked of other agents. */
static void exchange_deferred(struct snapshot *snapshot) {
  struct world_commands *commands = snapshot->world->commands;
  uint32_t most = snapshot->world->def.limits.commands_max;
  uint32_t count = snapshot_count(snapshot, commands->deferred_count, most, "commands of updates");
  for (uint32_t i = 0; i < count; i++) {
    struct command checked;
    exchange_command(snapshot, snapshot_object(snapshot, &commands->deferred[i], &checked));
  }
  if (snapshot_loads(snapshot)) commands->deferred_count = count;
}

static void exchange_tuning(struct snapshot *snapshot, void *value) {
  snapshot_exchange(snapshot, value, sizeof(muster_world_tuning));
  if (snapshot_checks(snapshot))
    snapshot_expect(snapshot, tune_check(snapshot->world, value) == MUSTER_OK, "a tuning that cannot have been given");
}

static void exchange_outgoing(struct snapshot *snapshot, void *value) {
  snapshot_message(snapshot, value, MUSTER_MESSAGE_BYTES_MAX);
}

/* What other threads asked for, and what updates did; without a type that has boxes there is no ring of messages. */
static void exchange_asked(struct snapshot *snapshot) {
  struct intake_queues *queues = &snapshot->world->commands->queues;
  muster_world_tuning tuning;
  outgoing message = {0};
  exchange_commands(snapshot);
  exchange_deferred(snapshot);
  snapshot_ring(snapshot, &queues->tunings, "tunings", &tuning, exchange_tuning);
  if (intake_queues_take_messages(queues))
    snapshot_ring(snapshot, &queues->messages, "messages", &message, exchange_outgoing);
  else
    snapshot_count(snapshot, 0, 0, "messages");
}

/* The agents that a message wakes at the next intake, and the agents that are to be told of dropped messages. */
static void exchange_mailbox(struct snapshot *snapshot) {
  static const snapshot_listing to_wake = {"agents to wake", "the agents to wake", 0, LISTS_LIVE};
  static const snapshot_listing lost = {"agents that lost messages", "those that lost messages", SNAPSHOT_LOST,
                                        LISTS_ACTIVE};
  struct mailbox *mailbox = &snapshot->world->links->mailbox;
  uint32_t most = mailbox->places ? snapshot->high : 0, count = mailbox->wake_count, owed = mailbox->owed_count;
  for (uint32_t i = 0, index = 0; i < count; index++)
    if (bits_has(mailbox->to_wake, index)) snapshot->indices[i++] = index;
  count = snapshot_indices(snapshot, count, most, &to_wake);
  for (uint32_t i = 0; i < count && snapshot_loads(snapshot); i++) mailbox_wake(mailbox, snapshot->indices[i]);
  for (uint32_t i = 0, index = 0; i < owed; index++)
    if (mailbox->losses[index].count) snapshot->indices[i++] = index;
  owed = snapshot_indices(snapshot, owed, most, &lost);
  if (snapshot_loads(snapshot)) mailbox->owed_count = owed;
  for (uint32_t i = 0; i < owed; i++) {
    uint32_t index = snapshot->indices[i];
    struct loss substitute, *loss = snapshot_object(snapshot, &mailbox->losses[index], &substitute);
    snapshot_exchange(snapshot, loss, sizeof *loss);
    snapshot_expect(snapshot, loss->count > 0 && loss->begun <= loss->count, "agent %u lost what none can", index);
  }
}

/* Checks that every agent is in the list that its status asks for, and in the grid. */
static void check_lists(struct snapshot *snapshot) {
  ASSERT(snapshot_checks(snapshot));
  for (uint32_t i = 0; i < snapshot->high; i++) {
    const agent_row *row = &snapshot->rows[i];
    if (!(row->generation & 1)) continue;
    bool events = snapshot->world->agents.types.types[row->type].elapsed == MUSTER_ELAPSED_EVENTS;
    bool none = row->status == AGENT_PENDING || row->status == AGENT_ACTING || row->status >= AGENT_QUARANTINED;
    bool either = row->status == AGENT_WAITING && events;
    bool listed = snapshot->marks[i] & SNAPSHOT_LISTED || row->scheduled,
         placed = snapshot->marks[i] & SNAPSHOT_IN_GRID;
    snapshot_expect(snapshot, either || listed != none, "agent %u is in %s list", i, listed ? "a" : "no");
    snapshot_expect(snapshot, placed == (row->status != AGENT_PENDING), "agent %u is %sin the grid", i,
                    placed ? "" : "not ");
    bool timed = snapshot->marks[i] & SNAPSHOT_TIMED, reacts = snapshot->marks[i] & SNAPSHOT_REACTS;
    snapshot_expect(snapshot, timed || !(snapshot->marks[i] & SNAPSHOT_AWAITS),
                    "agent %u waits for a time without a timer", i);
    snapshot_expect(snapshot, reacts == row->reacts, "agent %u is %samong the agents that must react", i,
                    reacts ? "" : "not ");
  }
}

void snapshot_queues(struct snapshot *snapshot) {
  exchange_spawns(snapshot);
  exchange_wakes(snapshot);
  exchange_asked(snapshot);
  exchange_mailbox(snapshot);
  if (snapshot_checks(snapshot)) check_lists(snapshot);
}

/* snapshot_waiting.c - what a snapshot says of agents that wait, and for what: a period, a worker, the commit, a time,
 * the next intake. */
#include "base/assert.h"
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

#include <string.h>

/* Expects that an agent is in one list at the most, and has the status of the agents in that list. */
static bool expect_status(struct snapshot *snapshot, uint32_t index, agent_status status, const char *where) {
  if (!snapshot_checks(snapshot)) return true;
  return snapshot_mark(snapshot, index, SNAPSHOT_LISTED, where) &&
         snapshot_expect(snapshot, snapshot->rows[index].status == status, "agent %u is in %s", index, where);
}

/* ----------------------------------------------------------------------------------------------------------- wheels
 */

/* One list of the wheels. */
static void exchange_slot(struct snapshot *snapshot, uint32_t owner, uint32_t count) {
  struct muster_world *world = snapshot->world;
  uint32_t number = owner / (WHEEL_LISTS * WHEEL_SLOTS), shard = owner / WHEEL_SLOTS % WHEEL_LISTS;
  ASSERT(number < world->queues->classes.count || snapshot_checks(snapshot));
  for (uint32_t i = 0; i < count && !snapshot->failed; i++) {
    uint32_t index = snapshot_number(snapshot, snapshot_saves(snapshot) ? world->plan->periods.due[i] : 0);
    if (!expect_status(snapshot, index, AGENT_WAITING, "a wheel")) return;
    if (snapshot_checks(snapshot))
      snapshot_expect(snapshot, snapshot->rows[index].class == number, "agent %u is in a wheel of class %u", index,
                      number);
    if (snapshot_loads(snapshot))
      wheel_hang(&world->queues->classes, &world->queues->classes.classes[number], shard, owner % WHEEL_SLOTS,
                 &world->agents.store, index);
  }
}

static void save_wheel(struct snapshot *snapshot, uint32_t number) {
  ASSERT(number < snapshot->world->queues->classes.count);
  const class_table *table = &snapshot->world->queues->classes;
  for (uint32_t list = 0; list < WHEEL_LISTS * WHEEL_SLOTS; list++) {
    agent_list agents = table->classes[number].slots[list / WHEEL_SLOTS][list % WHEEL_SLOTS];
    uint32_t count = snapshot_list(snapshot, &table->lists, agents);
    if (!count) continue;
    uint32_t owner = snapshot_number(snapshot, number * WHEEL_LISTS * WHEEL_SLOTS + list);
    exchange_slot(snapshot, owner, snapshot_number(snapshot, count));
  }
}

void snapshot_wheels(struct snapshot *snapshot) {
  const uint32_t lists = snapshot->classes * WHEEL_LISTS * WHEEL_SLOTS;
  if (snapshot_saves(snapshot)) {
    for (uint32_t i = 0; i < snapshot->world->queues->classes.count; i++) save_wheel(snapshot, i);
    snapshot_number(snapshot, UINT32_MAX);
    return;
  }
  for (;;) {
    uint32_t owner = snapshot_number(snapshot, 0);
    if (owner == UINT32_MAX || !snapshot_expect(snapshot, owner < lists, "list %u is none of the wheels", owner))
      return;
    uint32_t count = snapshot_count(snapshot, 0, snapshot->high, "agents in a wheel");
    if (!snapshot_expect(snapshot, count > 0, "an empty list")) return;
    exchange_slot(snapshot, owner, count);
    if (snapshot->failed) return;
  }
}

/* ------------------------------------------------------------------------------------------------------------ ready
 */

static void snapshot_waiting_file(struct muster_world *world, uint32_t bucket, uint32_t index) {
  ASSERT(bucket < READY_LISTS && world->agents.store.rows[index].status == AGENT_READY &&
         !world->agents.store.rows[index].spot);
  ready_set *ready = &world->queues->ready;
  world->agents.store.rows[index].spot = lists_add(&ready->members, 0, &ready->lists[bucket], bucket, index);
  ready->counts[bucket]++;
  if (bucket < READY_BUCKETS) ready->occupied[bucket / 64] |= 1ull << (bucket % 64);
}

static void exchange_bucket(struct snapshot *snapshot, uint32_t bucket, uint32_t count) {
  struct muster_world *world = snapshot->world;
  for (uint32_t i = 0; i < count && !snapshot->failed; i++) {
    uint32_t index = snapshot_number(snapshot, snapshot_saves(snapshot) ? world->plan->periods.due[i] : 0);
    if (!expect_status(snapshot, index, AGENT_READY, "the ring of ready agents")) return;
    if (snapshot_checks(snapshot) && !ready_by_deadline(&world->queues->ready))
      snapshot_expect(snapshot, !snapshot->rows[index].woken, "agent %u was woken and is in the ring", index);
    if (snapshot_loads(snapshot)) snapshot_waiting_file(world, bucket, index);
  }
}

static void exchange_ring(struct snapshot *snapshot) {
  const ready_set *ready = &snapshot->world->queues->ready;
  for (uint32_t bucket = 0; bucket < READY_LISTS && snapshot_saves(snapshot); bucket++) {
    uint32_t count = snapshot_list(snapshot, &ready->members, ready->lists[bucket]);
    if (!count) continue;
    snapshot_number(snapshot, bucket);
    exchange_bucket(snapshot, bucket, snapshot_number(snapshot, count));
  }
  if (snapshot_saves(snapshot)) snapshot_number(snapshot, UINT32_MAX);
  while (!snapshot_saves(snapshot) && !snapshot->failed) {
    uint32_t bucket = snapshot_number(snapshot, 0);
    if (bucket == UINT32_MAX || !snapshot_expect(snapshot, bucket < READY_LISTS, "bucket %u is none", bucket)) return;
    uint32_t count = snapshot_count(snapshot, 0, snapshot->high, "agents in a bucket");
    if (!snapshot_expect(snapshot, count > 0, "an empty bucket")) return;
    exchange_bucket(snapshot, bucket, count);
  }
}

/* The agents in a line: the queue of the woken agents if `woken`, else the line of all waiting agents. */
static void exchange_fifo(struct snapshot *snapshot, struct fifo *fifo, bool woken) {
  ASSERT(fifo->head <= fifo->tail && (snapshot_saves(snapshot) || fifo->standing == 0));
  struct muster_world *world = snapshot->world;
  uint32_t place = fifo->head, count = snapshot_count(snapshot, fifo->standing, snapshot->high, "agents in a line");
  for (uint32_t i = 0; i < count && !snapshot->failed; i++) {
    uint32_t index = snapshot_number(snapshot, snapshot_saves(snapshot) ? fifo_next(fifo, &place) : 0);
    if (woken &&
        !snapshot_expect(snapshot, !ready_by_deadline(&world->queues->ready), "no agent is woken ahead of others"))
      return;
    if (woken && !expect_status(snapshot, index, AGENT_READY, "the line of the woken")) return;
    if (!woken && !snapshot_mark(snapshot, index, SNAPSHOT_IN_FIFO, "the line")) return;
    if (woken && snapshot_checks(snapshot))
      snapshot_expect(snapshot, snapshot->rows[index].woken, "agent %u was not woken", index);
    if (!woken && snapshot_checks(snapshot))
      snapshot_expect(snapshot,
                      snapshot->rows[index].status >= AGENT_READY && snapshot->rows[index].status <= AGENT_ACTING,
                      "agent %u is in the line", index);
    if (!snapshot_loads(snapshot)) continue;
    fifo_join(fifo, index);
    if (!woken) world->agents.store.rows[index].queued = 1;
  }
}

/* The agents that are held for the next frame. */
static void exchange_held(struct snapshot *snapshot) {
  ASSERT(snapshot->world->batch->held_count <= HELD_MAX);
  struct batch *batch = snapshot->world->batch;
  uint32_t count = snapshot_count(snapshot, batch->held_count, HELD_MAX, "agents are held");
  uint64_t held_ns = snapshot_long(snapshot, batch->held_ns);
  for (uint32_t i = 0; i < count && !snapshot->failed; i++) {
    uint32_t index = snapshot_number(snapshot, snapshot_saves(snapshot) ? batch->held[i] : 0);
    if (!expect_status(snapshot, index, AGENT_ADMITTED, "the list of held agents")) return;
    if (snapshot_loads(snapshot)) batch->held[i] = index;
  }
  if (!snapshot_loads(snapshot)) return;
  batch->held_count = count;
  batch->held_ns = held_ns;
}

/* The agents with waiting action atoms. */
static void exchange_acting(struct snapshot *snapshot) {
  ASSERT(snapshot->world->acts->first < ACT_KINDS);
  struct muster_world *world = snapshot->world;
  uint32_t count = snapshot_count(snapshot, world->queues->acting_count, snapshot->high, "agents with waiting actions");
  for (uint32_t i = 0, index = 0; i < count && !snapshot->failed; i++, index++) {
    while (snapshot_saves(snapshot) && !(world->queues->acting[index / 64] >> (index % 64) & 1)) index++;
    index = snapshot_number(snapshot, index);
    if (!expect_status(snapshot, index, AGENT_ACTING, "the list of acting agents")) return;
    if (!snapshot_loads(snapshot)) continue;
    world->queues->acting[index / 64] |= 1ull << (index % 64);
    world->queues->acting_count++;
  }
  uint32_t first = snapshot_count(snapshot, world->acts->first, ACT_KINDS - 1, "kinds of actions");
  if (snapshot_loads(snapshot)) world->acts->first = first;
}

static void snapshot_waiting_count_ready(struct muster_world *world) {
  ASSERT(world->queues->ready.count == 0 && world->queues->ready.begun == 0);
  ready_set *ready = &world->queues->ready;
  for (uint32_t i = 0; (i = store_next_active(&world->agents.store, i)) != UINT32_MAX; i++) {
    const agent_row *row = &world->agents.store.rows[i];
    if (row->status != AGENT_READY) continue;
    ready->count++;
    ready->counts_of[row->type]++;
    ready->begun += (row->atom_next | row->owes) > 0;
  }
}

void snapshot_ready(struct snapshot *snapshot) {
  ready_set *ready = &snapshot->world->queues->ready;
  int64_t low = (int64_t)snapshot_long(snapshot, (uint64_t)ready->low);
  uint64_t now_ns = snapshot_long(snapshot, ready->now_ns);
  uint32_t width_shift = snapshot_count(snapshot, ready->width_shift, 60, "bits of a bucket's width");
  snapshot_expect(snapshot,
                  now_ns <= snapshot->info.sim_now_ns && low >= ready_first_low(ready) &&
                      low <= (int64_t)(now_ns >> width_shift),
                  "a ring that begins at %lld", (long long)low);
  if (snapshot_loads(snapshot)) {
    ready->low = low;
    ready->now_ns = now_ns;
    ready->width_shift = width_shift;
  }
  exchange_ring(snapshot);
  exchange_fifo(snapshot, &ready->woken, true);
  exchange_fifo(snapshot, &ready->waiting, false);
  exchange_held(snapshot);
  exchange_acting(snapshot);
  if (snapshot_loads(snapshot)) snapshot_waiting_count_ready(snapshot->world);
}

/* ----------------------------------------------------------------------------------------------------------- timers
 */

static void exchange_timers(struct snapshot *snapshot, struct timers *timers, uint16_t mark) {
  ASSERT(timers->count <= timers->high && (snapshot_saves(snapshot) || timers->count == 0));
  uint32_t count = snapshot_count(snapshot, timers->count, snapshot->high, "times");
  uint32_t high = snapshot_count(snapshot, timers->high, snapshot->world->def.agents_max, "times at once");
  for (uint32_t i = 0; i < count && !snapshot->failed; i++) {
    struct timer timer = {0};
    if (snapshot_saves(snapshot)) timer = timers->heap[i];
    timer.agent = snapshot_number(snapshot, timer.agent);
    timer.at_ns = snapshot_long(snapshot, timer.at_ns);
    if (snapshot_checks(snapshot)) {
      if (!snapshot_mark(snapshot, timer.agent, mark, "the agents that wait for a time")) return;
      snapshot_expect(snapshot, snapshot->rows[timer.agent].generation & 1, "agent %u waits for a time and is gone",
                      timer.agent);
    }
    if (snapshot_loads(snapshot)) timers_set(timers, timer.agent, timer.at_ns);
  }
  snapshot_expect(snapshot, high >= count, "more times than ever");
  if (snapshot_loads(snapshot)) timers->high = high;
}

void snapshot_timers(struct snapshot *snapshot) {
  exchange_timers(snapshot, &snapshot->world->queues->timers, SNAPSHOT_TIMED);
  exchange_timers(snapshot, &snapshot->world->queues->reactions, SNAPSHOT_REACTS);
}

/* ----------------------------------------------------------------------------------------------------------- queues
 */

/* Spawned agents, in the order of their indices. */
static void exchange_spawns(struct snapshot *snapshot) {
  struct muster_world *world = snapshot->world;
  struct spawn_queue *spawns = &world->commands->queues.spawns;
  uint32_t count = 0, next = snapshot_count(snapshot, spawns->next, world->def.agents_max + 63, "spawns");
  for (uint32_t i = 0; snapshot_saves(snapshot) && i < snapshot->high; i++) count += spawn_queue_has(spawns, i);
  count = snapshot_count(snapshot, count, snapshot->high, "spawns wait");
  for (uint32_t i = 0, index = 0; i < count && !snapshot->failed; i++, index++) {
    while (snapshot_saves(snapshot) && !spawn_queue_has(spawns, index)) index++;
    index = snapshot_number(snapshot, index);
    if (!expect_status(snapshot, index, AGENT_PENDING, "the spawns")) return;
    if (snapshot_loads(snapshot)) spawn_queue_add(spawns, index);
  }
  if (snapshot_loads(snapshot) && next < spawns->words * 64) spawns->next = next;
}

/* Hints of agents that were already taken care of are left out. */
static void exchange_wakes(struct snapshot *snapshot) {
  struct wakes *wakes = &snapshot->world->commands->wakes;
  uint32_t index = 0, hints = 0, woken = 0;
  for (; snapshot_saves(snapshot) && ring_peek(&wakes->hints, hints, &index); hints++)
    woken += wakes_is_woken(wakes, index);
  uint32_t count = snapshot_count(snapshot, woken, wakes->hints_max + POOL_SEATS_MAX, "wakes");
  for (uint32_t i = 0, hint = 0; i < count && !snapshot->failed; i++) {
    if (snapshot_saves(snapshot)) do
        ring_peek(&wakes->hints, hint++, &index);
      while (!wakes_is_woken(wakes, index));
    index = snapshot_number(snapshot, index);
    if (!snapshot_expect_agent(snapshot, index)) return;
    if (snapshot_checks(snapshot))
      snapshot_expect(snapshot, snapshot->rows[index].generation & 1, "agent %u was woken and is gone", index);
    if (snapshot_loads(snapshot)) wakes_push(wakes, index);
  }
}

static bool snapshot_waiting_is_possible(const struct muster_world *world, const struct command *command) {
  if (command->kind != COMMAND_HERD_WAKE && command->kind != COMMAND_HERD_REMOVE)
    return command_is_possible(world, command);
  const struct herd_type *type = herds_type_of(&world->herds->table, command->index);
  return type && command->partition < type->tree.below[0];
}

static bool exchange_command(struct snapshot *snapshot, struct command *command) {
  snapshot_exchange(snapshot, command, sizeof *command);
  return snapshot_expect(snapshot, snapshot_saves(snapshot) || snapshot_waiting_is_possible(snapshot->world, command),
                         "command %u for %u cannot have been given", command->kind, command->index);
}

/* What other threads and updates asked for. */
static void exchange_commands(struct snapshot *snapshot) {
  struct muster_world *world = snapshot->world;
  struct command command;
  uint32_t count = 0;
  if (snapshot_saves(snapshot))
    while (ring_peek(&world->commands->queues.commands, count, &command)) count++;
  count = snapshot_count(snapshot, count, world->commands->queues.commands.mask + 1, "commands");
  for (uint32_t i = 0; i < count && !snapshot->failed; i++) {
    if (snapshot_saves(snapshot)) ring_peek(&world->commands->queues.commands, i, &command);
    if (exchange_command(snapshot, &command) && snapshot_loads(snapshot))
      ring_push(&world->commands->queues.commands, &command);
  }
  count = snapshot_count(snapshot, world->commands->deferred_count, world->def.commands_max, "commands of updates");
  for (uint32_t i = 0; i < count && !snapshot->failed; i++) {
    if (snapshot_saves(snapshot)) command = world->commands->deferred[i];
    if (exchange_command(snapshot, &command) && snapshot_loads(snapshot))
      world->commands->deferred[world->commands->deferred_count++] = command;
  }
}

static void exchange_tunings(struct snapshot *snapshot) {
  struct muster_world *world = snapshot->world;
  muster_world_tuning tuning;
  uint32_t count = 0;
  if (snapshot_saves(snapshot))
    while (ring_peek(&world->commands->queues.tunings, count, &tuning)) count++;
  count = snapshot_count(snapshot, count, INTAKE_TUNINGS, "tunings");
  for (uint32_t i = 0; i < count && !snapshot->failed; i++) {
    if (snapshot_saves(snapshot)) ring_peek(&world->commands->queues.tunings, i, &tuning);
    snapshot_exchange(snapshot, &tuning, sizeof tuning);
    if (!snapshot_saves(snapshot))
      snapshot_expect(snapshot, tune_check(world, &tuning) == MUSTER_OK, "a tuning that cannot have been given");
    if (snapshot_loads(snapshot)) ring_push(&world->commands->queues.tunings, &tuning);
  }
}

static void exchange_messages(struct snapshot *snapshot) {
  struct muster_world *world = snapshot->world;
  const struct ring *ring = &world->commands->queues.messages;
  bool takes = intake_queues_take_messages(&world->commands->queues);
  outgoing message = {0};
  uint32_t count = 0;
  if (snapshot_saves(snapshot) && takes)
    while (ring_peek(ring, count, &message)) count++;
  count = snapshot_count(snapshot, count, takes ? ring->mask + 1 : 0, "messages");
  for (uint32_t i = 0; i < count && !snapshot->failed; i++) {
    if (snapshot_saves(snapshot)) ring_peek(ring, i, &message);
    snapshot_exchange(snapshot, &message.head, sizeof message.head);
    if (!snapshot_expect(snapshot, message.head.size <= MUSTER_MESSAGE_BYTES_MAX, "a message of %u bytes",
                         message.head.size))
      return;
    snapshot_exchange(snapshot, message.bytes, message.head.size);
    if (snapshot_loads(snapshot)) ring_push(&world->commands->queues.messages, &message);
  }
}

/* The agents that a message wakes at the next intake, and the agents that are to be told of dropped messages. */
static void exchange_mailbox(struct snapshot *snapshot) {
  struct mailbox *mailbox = &snapshot->world->links->mailbox;
  uint32_t most = mailbox->places ? snapshot->high : 0, index = 0;
  uint32_t count = snapshot_count(snapshot, mailbox->wake_count, most, "agents to wake");
  for (uint32_t i = 0; i < count && !snapshot->failed; i++, index++) {
    while (snapshot_saves(snapshot) && !(mailbox->to_wake[index / 64] >> (index % 64) & 1)) index++;
    index = snapshot_number(snapshot, index);
    if (!snapshot_expect_agent(snapshot, index)) return;
    if (snapshot_checks(snapshot))
      snapshot_expect(snapshot, snapshot->rows[index].generation & 1, "agent %u is to wake and gone", index);
    if (snapshot_loads(snapshot)) mailbox_wake(mailbox, index);
  }
  count = snapshot_count(snapshot, mailbox->owed_count, most, "agents that lost messages");
  index = 0;
  for (uint32_t i = 0; i < count && !snapshot->failed; i++, index++) {
    while (snapshot_saves(snapshot) && !mailbox->losses[index].count) index++;
    index = snapshot_number(snapshot, index);
    if (!snapshot_mark(snapshot, index, SNAPSHOT_LOST, "those that lost messages")) return;
    struct loss loss = {0};
    if (snapshot_saves(snapshot)) loss = mailbox->losses[index];
    snapshot_exchange(snapshot, &loss, sizeof loss);
    snapshot_expect(snapshot, loss.count > 0 && loss.begun <= loss.count, "agent %u lost what none can", index);
    if (snapshot_checks(snapshot))
      snapshot_expect(snapshot, snapshot->rows[index].status > AGENT_PENDING, "agent %u lost messages and never ran",
                      index);
    if (!snapshot_loads(snapshot)) continue;
    mailbox->losses[index] = loss;
    mailbox->owed_count++;
  }
}

/* Checks that every agent is in the list that its status asks for, and in the grid. */
static void check_lists(struct snapshot *snapshot) {
  ASSERT(snapshot_checks(snapshot));
  for (uint32_t i = 0; i < snapshot->high && !snapshot->failed; i++) {
    const agent_row *row = &snapshot->rows[i];
    if (!(row->generation & 1)) continue;
    bool events = snapshot->world->agents.types.types[row->type].elapsed == MUSTER_ELAPSED_EVENTS;
    bool none = row->status == AGENT_QUARANTINED, either = row->status == AGENT_WAITING && events;
    bool listed = snapshot->marks[i] & SNAPSHOT_LISTED, placed = snapshot->marks[i] & SNAPSHOT_IN_GRID;
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
  exchange_commands(snapshot);
  exchange_tunings(snapshot);
  exchange_messages(snapshot);
  exchange_mailbox(snapshot);
  if (snapshot_checks(snapshot)) check_lists(snapshot);
}

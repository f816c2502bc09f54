/* world_waiting.c - what a journal says at the end of each frame of inputs that no intake has taken yet, so that a
 * world that goes on after the death of its process has them; most often there are none. */
#include "agents/batch.h"
#include "agents/mailbox.h"
#include "base/assert.h"
#include "world/guard.h"
#include "world/tune.h"
#include "world/world_commands.h"
#include "world/world_observers.h"
#include "world/world_record.h"

#include <muster/tune.h>
#include <string.h>

/* The entries of agents that were woken and ran beside the batch, which the commit had no time for. */
static uint32_t adopted_end(const struct muster_world *world) {
  return world->batch->count + world->batch->woken_count;
}

static void exchange_counts(struct tape *tape, recorder_waiting *waiting) {
  uint32_t *const counts[] = {&waiting->wakes, &waiting->commands, &waiting->tunings, &waiting->messages};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
    *counts[i] = (uint32_t)tape_exchange_number(tape, *counts[i]);
}

/* --------------------------------------------------------------------------------------------------------- writing */

static uint32_t count_values(const struct ring *ring, void *value) {
  uint32_t count = 0;
  while (ring_peek(ring, count, value)) count++;
  return count;
}

static void put_wake(struct muster_world *world, uint32_t agent) {
  ASSERT(agent < world->def.limits.agents_max && recorder_records(world->recorder));
  uint32_t woken = wakes_is_woken(&world->commands->wakes, agent) ? agent : IDENTITY_NONE;
  tape_put(&world->recorder->tape, &woken, sizeof woken);
}

static void put_values(struct muster_world *world, const struct ring *ring, uint32_t count, void *value, size_t bytes) {
  for (uint32_t i = 0; i < count && ring_peek(ring, i, value); i++) tape_put(&world->recorder->tape, value, bytes);
}

/* Removals stand behind the other commands, as an intake takes them. */
static void put_removals(struct muster_world *world) {
  struct command command = {.kind = COMMAND_REMOVE};
  ASSERT(recorder_records(world->recorder));
  while (removals_pop(&world->agents.removals, &command.index, &command.generation))
    tape_put(&world->recorder->tape, &command, sizeof command);
}

/* Other threads may give more meanwhile: what was counted stays. */
static void waiting_put(struct muster_world *world) {
  struct removals *removals = &world->agents.removals;
  struct intake_queues *queues = &world->commands->queues;
  struct tape *tape = &world->recorder->tape;
  struct command command;
  muster_world_tuning tuning;
  outgoing message = {0};
  uint32_t index = 0, hints = count_values(&world->commands->wakes.hints, &index);
  bool boxes = intake_queues_take_messages(queues);
  removals_look(removals, &world->agents.ids);
  uint32_t commands = count_values(&queues->commands, &command);
  recorder_waiting waiting = {.wakes = hints + world->batch->woken_count,
                              .commands = commands + removals->seen_count,
                              .tunings = count_values(&queues->tunings, &tuning),
                              .messages = boxes ? count_values(&queues->messages, &message) : 0};
  exchange_counts(tape, &waiting);
  for (uint32_t i = 0; i < hints && ring_peek(&world->commands->wakes.hints, i, &index); i++) put_wake(world, index);
  for (uint32_t i = world->batch->count; i < adopted_end(world); i++) put_wake(world, world->batch->entries[i].agent);
  put_values(world, &queues->commands, commands, &command, sizeof command);
  put_removals(world);
  put_values(world, &queues->tunings, waiting.tunings, &tuning, sizeof tuning);
  if (boxes) put_values(world, &queues->messages, waiting.messages, &message, sizeof message);
}

/* --------------------------------------------------------------------------------------------------------- reading */

static void waiting_take(struct muster_world *world) {
  recorder_waiting *waiting = &world->recorder->waiting;
  exchange_counts(&world->recorder->tape, waiting);
  waiting->bytes = tape_take_place(&world->recorder->tape, (size_t)waiting->wakes * sizeof(uint32_t) +
                                                               (size_t)waiting->commands * sizeof(struct command) +
                                                               (size_t)waiting->tunings * sizeof(muster_world_tuning) +
                                                               (size_t)waiting->messages * sizeof(outgoing));
}

void world_record_waiting(struct muster_world *world) {
  if (recorder_records(world->recorder)) world_record_newborns(world);
  if (!recorder_mark(world->recorder, TAG_WAITING)) return;
  if (recorder_replays(world->recorder))
    waiting_take(world);
  else
    waiting_put(world);
}

/* ------------------------------------------------------------------------------------------------------- going on */

/* Spawned agents that wait are those that are pending. */
static void refill_spawns(struct muster_world *world) {
  struct spawn_queue *spawns = &world->commands->queues.spawns;
  spawn_queue_clear(spawns);
  for (uint32_t i = 0; i < identity_high(&world->agents.ids); i++)
    if (world->agents.store.rows[i].status == AGENT_PENDING && identity_generation(&world->agents.ids, i) & 1)
      spawn_queue_add(spawns, i);
}

/* The replay has no worker that looks for woken agents: those that the commit is still to settle run, as in the run. */
static void refill_wakes(struct muster_world *world, const unsigned char *from, uint32_t count) {
  struct wakes *wakes = &world->commands->wakes;
  uint32_t index;
  while (wakes_pop(wakes, &index)) wakes_settle(wakes, index);
  for (uint32_t i = world->batch->count; i < adopted_end(world); i++) {
    wakes_settle(wakes, world->batch->entries[i].agent);
    wakes_resume(wakes, world->batch->entries[i].agent);
  }
  for (uint32_t i = 0; i < count; i++) {
    memcpy(&index, from + i * sizeof index, sizeof index);
    if (index == IDENTITY_NONE) continue;
    if (index < world->def.limits.agents_max && identity_generation(&world->agents.ids, index) & 1)
      wakes_push(wakes, index);
    else
      recorder_diverges(world->recorder, "agent %u waits to be woken, which does not exist", index);
  }
}

static void refill_commands(struct muster_world *world, const unsigned char *from, uint32_t count) {
  struct ring *ring = &world->commands->queues.commands;
  struct command command;
  while (ring_pop(ring, &command)) continue;
  for (uint32_t i = 0; i < count; i++) {
    memcpy(&command, from + i * sizeof command, sizeof command);
    if (!world_record_accepts(world, &command)) return;
    if (command.kind == COMMAND_REMOVE)
      removals_add(&world->agents.removals, &world->agents.ids, command.index, command.generation);
    else if (!ring_push(ring, &command))
      recorder_diverges(world->recorder, "%u commands wait, for which there is no room", count);
  }
}

static void refill_tunings(struct muster_world *world, const unsigned char *from, uint32_t count) {
  struct ring *ring = &world->commands->queues.tunings;
  muster_world_tuning tuning;
  while (ring_pop(ring, &tuning)) continue;
  for (uint32_t i = 0; i < count; i++) {
    memcpy(&tuning, from + i * sizeof tuning, sizeof tuning);
    if (tune_check(world, &tuning) != MUSTER_OK || !ring_push(ring, &tuning))
      recorder_diverges(world->recorder, "a tuning waits that cannot have been given");
  }
}

static void refill_messages(struct muster_world *world, const unsigned char *from, uint32_t count) {
  struct intake_queues *queues = &world->commands->queues;
  outgoing message;
  if (!intake_queues_take_messages(queues)) {
    if (count) recorder_diverges(world->recorder, "messages wait, and no type has boxes");
    return;
  }
  while (ring_pop(&queues->messages, &message)) continue;
  for (uint32_t i = 0; i < count; i++) {
    memcpy(&message, from + i * sizeof message, sizeof message);
    if (message.head.size > sizeof message.bytes || !ring_push(&queues->messages, &message))
      recorder_diverges(world->recorder, "a message waits that cannot have been sent");
  }
}

void world_record_refill(struct muster_world *world) {
  ASSERT(recorder_replays(world->recorder) && !world_is_in_frame(world));
  const recorder_waiting *waiting = &world->recorder->waiting;
  const unsigned char *at = waiting->bytes;
  refill_spawns(world);
  if (!at) return; /* no frame was replayed: the queues are those of the snapshot */
  refill_wakes(world, at, waiting->wakes);
  at += (size_t)waiting->wakes * sizeof(uint32_t);
  refill_commands(world, at, waiting->commands);
  at += (size_t)waiting->commands * sizeof(struct command);
  refill_tunings(world, at, waiting->tunings);
  at += (size_t)waiting->tunings * sizeof(muster_world_tuning);
  refill_messages(world, at, waiting->messages);
}

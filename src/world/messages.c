/* messages.c - messages between agents: queued by other threads or left in places by updates, delivered at intake and
 * commit.
 *
 * Each message is delivered once and in order, even when a commit runs out of time: a sender's bit is cleared before
 * its messages are put into boxes, the batch and the places stay as they are until the next frame's ranking, and the
 * next intake begins with what is left. No update starts and no agent is removed before that. */
#include "world/messages.h"

#include "agents/batch.h"
#include "base/assert.h"
#include "world/frame_state.h"
#include "world/serial.h"
#include "world/world_commands.h"
#include "world/world_links.h"
#include "world/world_record.h"
#include "world/world_sums.h"
#include "world/zone_delivery.h"
#include "world/zone_mail.h"
#include "world/zone_order.h"

void messages_reserve(struct muster_world *world, const agent_type *type) {
  struct mailbox *mailbox = &world->links->mailbox;
  struct intake_queues *queues = &world->commands->queues;
  if (world->arena.failed || (!type->boxes.capacity && !type->def.messages.sends_max)) return;
  if (!mailbox->places)
    mailbox_create(mailbox, world->def.limits.agents_max, world->def.limits.sends_per_frame, &world->arena);
  if (mailbox->places) world->batch->places_max = world->def.limits.sends_per_frame;
  if (!type->boxes.capacity || intake_queues_take_messages(queues)) return;
  ring_create(&queues->messages, world->def.limits.commands_max, sizeof(outgoing), &world->arena);
  if (!world->arena.failed) intake_queues_open_messages(queues);
}

void messages_post(struct muster_world *world, uint32_t from, const struct message_head *head, const void *bytes) {
  muster_agent sender = from == MESSAGE_OF_HOST ? (muster_agent){0} : world_id(world, from);
  world->sums->statistics.messages_sent++;
  if (world->zone && zone_takes_message(world, from, sender, head, bytes)) return;
  if (!messages_put(world, sender, head, bytes) && from != MESSAGE_OF_HOST) mailbox_lose(&world->links->mailbox, from);
}

void messages_set_aside_late(struct muster_world *world, batch_entry *entry) {
  const struct batch *batch = world->batch;
  uint32_t wanted = world_type_of(world, entry->agent)->def.messages.sends_max;
  if (wanted == 0 || entry->send_base == NO_PLACES) return;
  uint32_t given;
  entry->send_base =
      batch->places + index_counter_take(&world->links->places_late, batch->places_max - batch->places, wanted, &given);
  entry->send_limit = (uint16_t)given;
}

void messages_keep_late(struct muster_world *world) {
  world->batch->places += index_counter_taken(&world->links->places_late);
  index_counter_reset(&world->links->places_late);
}

static void take(struct muster_world *world, outgoing *message) {
  message->head.sent_ns = world->frame->now_ns;
  messages_post(world, MESSAGE_OF_HOST, &message->head, message->bytes);
}

/* Takes the next message of other threads, of those that were queued at the beginning: a producer that never stops must
 * not hold up the frame. */
static bool next_message(struct muster_world *world, uint32_t *left, outgoing *message) {
  bool any = *left > 0 && ring_pop(&world->commands->queues.messages, message);
  *left -= any;
  return world_record_message(world, any, message);
}

void messages_take(struct muster_world *world) {
  outgoing message;
  index_counter_reset(&world->links->places_late);
  if (world->zone) zone_order_pass(world);
  if (world->zone) zone_forget_delivered(world);
  if (!intake_queues_take_messages(&world->commands->queues)) return;
  uint32_t left = ring_count(&world->commands->queues.messages);
  while (next_message(world, &left, &message)) take(world, &message);
}

void messages_note_sender(struct muster_world *world, uint32_t number) {
  const batch_entry *entry = &world->batch->entries[number];
  uint32_t sends = world->batch->results[number].sends;
  if (sends == 0 || world->batch->places_max == 0) return;
  ASSERT(number < world->batch->count && world_row(world, entry->agent)->status > AGENT_PENDING);
  if (sends > entry->send_limit) world->sums->statistics.messages_refused += sends - entry->send_limit;
  if (entry->send_limit) mailbox_add_sender(&world->links->mailbox, entry->agent, number);
}

typedef struct sendings {
  const outgoing *first;
  uint32_t count;
} sendings;

static sendings sendings_of(const struct muster_world *world, uint32_t sender) {
  uint32_t number = world->links->mailbox.entries[sender];
  const batch_entry *entry = &world->batch->entries[number];
  uint32_t sends = world->batch->results[number].sends;
  ASSERT(entry->agent == sender);
  ASSERT(entry->send_base + entry->send_limit <= world->batch->places_max);
  return (sendings){&world->links->mailbox.places[entry->send_base],
                    sends < entry->send_limit ? sends : entry->send_limit};
}

static void fetch_message(const struct muster_world *world, const outgoing *message) {
  (void)world;
  __builtin_prefetch(message);
}

static void fetch_receiver(const struct muster_world *world, const outgoing *message) {
  __builtin_prefetch(world_row(world, muster_agent_index(message->head.peer)));
  __builtin_prefetch(identity_generation_of(&world->agents.ids, muster_agent_index(message->head.peer)));
}

static void fetch_box(const struct muster_world *world, const outgoing *message) {
  const agent_row *row = world_row(world, muster_agent_index(message->head.peer));
  const box_table *boxes = &world_type(world, row->type)->boxes;
  if (boxes->capacity) __builtin_prefetch(&boxes->boxes[row->state_slot], 1);
}

static void fetch_end(const struct muster_world *world, const outgoing *message) {
  const agent_row *row = world_row(world, muster_agent_index(message->head.peer));
  const box_table *boxes = &world_type(world, row->type)->boxes;
  if (boxes->capacity) __builtin_prefetch(boxes_end(boxes, row->state_slot), 1);
}

enum { ROUND = 16 };

/* Receivers lie in memory in no order: what several deliveries touch is fetched for all of them, step by step. */
static void fetch_ahead(const struct muster_world *world, const sendings *round, uint32_t count) {
  static void (*const steps[])(const struct muster_world *, const outgoing *) = {fetch_message, fetch_receiver,
                                                                                 fetch_box, fetch_end};
  enum { STEPS = sizeof steps / sizeof *steps, MESSAGES = 4 };
  uint32_t steps_here = world->zone ? 1 : STEPS; /* in a zone an id does not say where its agent is */
  for (uint32_t step = 0; step < steps_here; step++)
    for (uint32_t i = 0; i < count; i++)
      for (uint32_t k = 0; k < round[i].count && k < MESSAGES; k++) steps[step](world, round[i].first + k);
}

/* Delivers what the next senders sent, in agent order, from `index` on. Returns where the remaining senders begin. */
static uint32_t deliver_round(struct muster_world *world, uint32_t index) {
  struct mailbox *mailbox = &world->links->mailbox;
  uint32_t senders[ROUND], count = 0;
  sendings round[ROUND];
  for (; count < ROUND && mailbox->sender_count; index++) {
    index = mailbox_take_sender(mailbox, index);
    senders[count] = index;
    round[count++] = sendings_of(world, index);
  }
  fetch_ahead(world, round, count);
  for (uint32_t i = 0; i < count; i++) {
    for (uint32_t k = 0; k < round[i].count; k++)
      messages_post(world, senders[i], &round[i].first[k].head, round[i].first[k].bytes);
  }
  return index;
}

bool messages_deliver(struct muster_world *world, uint64_t end_ns) {
  struct mailbox *mailbox = &world->links->mailbox;
  uint32_t places = world->batch->places + index_counter_taken(&world->links->places_late);
  if (places > mailbox->places_high) mailbox->places_high = places;
  for (uint32_t index = 0; mailbox->sender_count;) {
    if (serial_is_over(world, end_ns)) return false;
    index = deliver_round(world, index);
  }
  return true;
}

void messages_begin(struct muster_world *world, uint32_t index) {
  ASSERT(world_row(world, index)->status == AGENT_ADMITTED);
  const agent_row *row = world_row(world, index);
  box_table *boxes = &world_type(world, row->type)->boxes;
  if (boxes->capacity) boxes_begin(boxes, row->state_slot);
  if (world->links->mailbox.owed_count) mailbox_losses_begin(&world->links->mailbox, index);
}

void messages_complete_update(struct muster_world *world, uint32_t index) {
  const agent_row *row = world_row(world, index);
  agent_type *type = world_type(world, row->type);
  bool begun = message_is_read(row);
  ASSERT(row->status == AGENT_ADMITTED || row->status == AGENT_ACTING);
  if (messages_are_owed(world, index)) mailbox_losses_complete(&world->links->mailbox, index, begun);
  if (!type->boxes.capacity) return;
  uint32_t left = boxes_complete(&type->boxes, row->state_slot, begun);
  if (left && type->def.messages.wake) mailbox_wake(&world->links->mailbox, index);
}

void messages_forget(struct muster_world *world, uint32_t index) {
  ASSERT(!world_is_active(world, index));
  const agent_row *row = world_row(world, index);
  box_table *boxes = &world_type(world, row->type)->boxes;
  if (boxes->capacity) boxes_clear(boxes, row->state_slot);
  if (world->links->mailbox.places) mailbox_forget(&world->links->mailbox, index);
  if (world->zone) zone_order_forget(world, index);
}

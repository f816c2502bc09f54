/* messages.c - messages between agents: queued by other threads or left in places by updates, put into boxes at intake
 * and commit (deliveries.c). */
#include "world/messages.h"

#include "agents/batch.h"
#include "base/assert.h"
#include "world/frame_state.h"
#include "world/world_commands.h"
#include "world/world_links.h"
#include "world/world_record.h"
#include "world/world_sums.h"

void messages_reserve(struct muster_world *world, const agent_type *type) {
  struct mailbox *mailbox = &world->links->mailbox;
  struct intake_queues *queues = &world->commands->queues;
  if (world->arena.failed || (!type->boxes.capacity && !type->def.sends_max)) return;
  if (!mailbox->places) mailbox_create(mailbox, world->def.agents_max, world->def.sends_per_frame, &world->arena);
  if (mailbox->places) world->batch->places_max = world->def.sends_per_frame;
  if (!type->boxes.capacity || intake_queues_take_messages(queues)) return;
  ring_create(&queues->messages, world->def.commands_max, sizeof(outgoing), &world->arena);
  if (!world->arena.failed) intake_queues_open_messages(queues);
}

/* An update of the agent has begun and is not complete. */
static bool is_under_way(const agent_row *row) {
  return row->atom_next || row->status == AGENT_ACTING;
}

bool messages_put(struct muster_world *world, muster_agent sender, const struct message_head *head, const void *bytes,
                  bool *wakes) {
  muster_agent to = head->peer;
  ASSERT(head->size <= MUSTER_MESSAGE_BYTES_MAX);
  if (!world_is_live(world, to)) return false;
  const agent_row *row = world_row(world, to.index);
  agent_type *type = world_type(world, row->type);
  struct message_head message = {sender, head->sent_ns, head->size};
  if (!type->boxes.capacity || head->size > type->boxes.message_bytes) return false;
  if (!boxes_put(&type->boxes, row->state_slot, &message, bytes)) return false;
  *wakes = type->def.wake_on_message && !is_under_way(row);
  return true;
}

void messages_post(struct muster_world *world, muster_agent sender, const struct message_head *head,
                   const void *bytes) {
  struct mailbox *mailbox = &world->links->mailbox;
  bool wakes = false;
  world->sums->statistics.messages_sent++;
  if (messages_put(world, sender, head, bytes, &wakes)) {
    world->sums->statistics.messages_delivered++;
    if (wakes) mailbox_wake(mailbox, head->peer.index);
    return;
  }
  world->sums->statistics.messages_dropped++;
  if (!muster_agent_is_null(sender)) mailbox_lose(mailbox, sender.index);
}

void messages_set_aside_late(struct muster_world *world, batch_entry *entry) {
  const struct batch *batch = world->batch;
  uint32_t wanted = world_type_of(world, entry->agent)->def.sends_max;
  if (wanted == 0 || entry->send_base == NO_PLACES) return;
  uint32_t given;
  entry->send_base =
      batch->places + index_counter_take(&world->links->places_late, batch->places_max - batch->places, wanted, &given);
  entry->send_limit = (uint16_t)given;
}

static void take(struct muster_world *world, outgoing *message) {
  message->head.sent_ns = world->frame->now_ns;
  messages_post(world, (muster_agent){0, 0}, &message->head, message->bytes);
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
  bool begun = is_under_way(row);
  ASSERT(row->status == AGENT_ADMITTED || row->status == AGENT_ACTING);
  if (messages_are_owed(world, index)) mailbox_losses_complete(&world->links->mailbox, index, begun);
  if (!type->boxes.capacity) return;
  uint32_t left = boxes_complete(&type->boxes, row->state_slot, begun);
  if (left && type->def.wake_on_message) mailbox_wake(&world->links->mailbox, index);
}

void messages_forget(struct muster_world *world, uint32_t index) {
  ASSERT(!world_is_active(world, index));
  const agent_row *row = world_row(world, index);
  box_table *boxes = &world_type(world, row->type)->boxes;
  if (boxes->capacity) boxes_clear(boxes, row->state_slot);
  if (world->links->mailbox.places) mailbox_forget(&world->links->mailbox, index);
}

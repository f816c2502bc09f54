#include "world/message_put.h"

#include "base/assert.h"
#include "world/world_links.h"
#include "world/world_sums.h"

/* An update of the agent has begun and is not complete. */
bool message_is_read(const agent_row *row) {
  return row->atom_next || row->status == AGENT_ACTING;
}

bool message_has_room(struct muster_world *world, uint32_t index) {
  const agent_row *row = world_row(world, index);
  const agent_type *type = world_type(world, row->type);
  return !type->boxes.capacity || boxes_has_room(&type->boxes, row->state_slot);
}

static bool put_into_box(struct muster_world *world, muster_agent sender, const struct message_head *head,
                         const void *bytes) {
  muster_agent to = world_find(world, head->peer);
  ASSERT(head->size <= MUSTER_MESSAGE_BYTES_MAX);
  if (!world_is_live(world, to)) return false;
  const agent_row *row = world_row(world, muster_agent_index(to));
  agent_type *type = world_type(world, row->type);
  struct message_head message = {sender, head->sent_ns, head->size};
  if (!type->boxes.capacity || head->size > type->boxes.message_bytes) return false;
  if (!boxes_put(&type->boxes, row->state_slot, &message, bytes)) return false;
  if (type->def.messages.wake && !message_is_read(row)) mailbox_wake(&world->links->mailbox, muster_agent_index(to));
  return true;
}

bool messages_put(struct muster_world *world, muster_agent sender, const struct message_head *head, const void *bytes) {
  bool put = put_into_box(world, sender, head, bytes);
  world->sums->statistics.messages_delivered += put;
  world->sums->statistics.messages_dropped += !put;
  return put;
}

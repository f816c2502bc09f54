/* messages.h - messages between agents, from the frame's stages: joins the mailbox (agents), the ids of receivers and
 * the queue of other threads (run). Everything here is called on the frame's thread unless a comment says otherwise. */
#ifndef MESSAGES_H
#define MESSAGES_H

#include "world/message_put.h"
#include "world/world_links.h"

struct batch_entry;

/* Reserves what a newly registered type needs: the mailbox when it is the first type that sends or has boxes, and the
 * queue for messages of other threads when it is the first type with boxes. arena->failed tells of refusal. */
void messages_reserve(struct muster_world *world, const agent_type *type);

/* Delivers one message of an agent now, or of MESSAGE_OF_HOST; drops it, and notes that for the sender, when it cannot.
 * The receiver is the message's peer, an id. In a zone a message to an agent that is elsewhere goes to the queue of
 * those. */
void messages_post(struct muster_world *world, uint32_t from, const struct message_head *head, const void *bytes);

/* Intake: delivers what other threads have sent. */
void messages_take(struct muster_world *world);

/* Run: reserves places for the messages of an entry that the ranking did not see, since it was put behind the batch
 * later. On the worker that runs the entry. */
void messages_set_aside_late(struct muster_world *world, struct batch_entry *entry);

/* Run, while no worker runs: what was reserved so stays as it is when more is ranked. Frame's thread. */
void messages_keep_late(struct muster_world *world);

/* Commit: an entry ran; what it sent will be delivered. */
void messages_note_sender(struct muster_world *world, uint32_t entry);

/* Commit: delivers what the senders sent, in agent order, until the clock passes `end_ns`. True when nothing is left.
 */
bool messages_deliver(struct muster_world *world, uint64_t end_ns);

/* Commit: an update of the agent has begun in this frame and goes on later. */
void messages_begin(struct muster_world *world, uint32_t index);

/* The agent is gone: its box, and what it would have been told, must be empty for the next agent with its index. */
void messages_forget(struct muster_world *world, uint32_t index);

/* The slow path of messages_complete(). */
void messages_complete_update(struct muster_world *world, uint32_t index);

/* Commit, before the agent's row changes: its update is complete. Any worker may complete an agent that is owed
 * nothing, while other workers complete other agents. */
static inline void messages_complete(struct muster_world *world, const agent_type *type, uint32_t index) {
  if (type->has_boxes || world->links->mailbox.owed_count) messages_complete_update(world, index);
}

/* Whether an agent's next update is to be told of dropped messages. Any worker, while no message is delivered. */
static inline bool messages_are_owed(const struct muster_world *world, uint32_t index) {
  return world->links->mailbox.owed_count && world->links->mailbox.losses[index].count;
}

#endif

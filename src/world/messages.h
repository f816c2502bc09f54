/* messages.h - messages between agents, from the frame's stages: joins the mailbox (agents), the ids of receivers and
 * the queue of other threads (run). Everything here is called on the frame's thread, but where it says otherwise. */
#ifndef MESSAGES_H
#define MESSAGES_H

#include "world/world.h"
#include "world/world_links.h"

struct batch_entry;

/* A type is registered: reserves the mailbox when it is the first that sends or has boxes, and the queue for other
 * threads' messages when it is the first that has boxes; arena->failed tells of refusal. */
void messages_reserve(struct muster_world *world, const agent_type *type);

/* Delivers one message now, or drops it and notes it for the sender; a null sender is the host. The receiver is the
 * letter's peer. */
void messages_post(struct muster_world *world, muster_agent sender, const struct letter *head, const void *bytes);

/* Intake: delivers what other threads have sent. */
void messages_take(struct muster_world *world);

/* Run: places for the messages of an entry for which the ranking did not look, as it was put behind the batch later.
 * The worker that runs it. */
void messages_set_aside_late(struct muster_world *world, struct batch_entry *entry);

/* Commit: an entry ran; what it sent will be delivered. */
void messages_note_sender(struct muster_world *world, uint32_t entry);

/* Commit: delivers what the senders sent, in agent order, until the clock passes `end_ns`. True when nothing is left.
 */
bool messages_deliver(struct muster_world *world, uint64_t end_ns);

/* Commit: an update of the agent has begun in this frame and goes on later. */
void messages_begin(struct muster_world *world, uint32_t index);

/* The agent is gone: its box, and what it would have been told, must be empty for the next holder of its index. */
void messages_forget(struct muster_world *world, uint32_t index);

/* The slow path of messages_complete(). */
void messages_complete_update(struct muster_world *world, uint32_t index);

/* Commit, before the agent's row changes: its update is complete. An agent that is owed nothing may be completed beside
 * others, by any worker. */
static inline void messages_complete(struct muster_world *world, const agent_type *type, uint32_t index) {
  if (type->has_boxes || world->links->mailbox.owed_count) messages_complete_update(world, index);
}

/* Whether an agent's next update is to be told of dropped messages. Any worker, while none is delivered. */
static inline bool messages_are_owed(const struct muster_world *world, uint32_t index) {
  return world->links->mailbox.owed_count && world->links->mailbox.losses[index].count;
}

#endif

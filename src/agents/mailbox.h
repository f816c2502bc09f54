/* agents/mailbox.h - messages on their way, and what the next intake and the next update must know of them.
 *
 * Places for what an update may send are set aside before the frame runs (batch_entry), as ids for its spawns are. So a
 * worker writes to places that no other thread touches, and the number of workers changes neither the order of messages
 * nor which agents find no room.
 *
 *   send (run)           commit                                                  intake
 *   places of an entry -> senders: bitmap in agent order -> boxes (boxes.h)   -> to_wake: receivers that want it
 *                                                        -> losses, when full -> the sender's next update is told
 */
#ifndef AGENTS_MAILBOX_H
#define AGENTS_MAILBOX_H

#include "agents/boxes.h"

#include <muster/muster.h>

/* A message on its way: the receiver is its peer. */
typedef struct outgoing {
  struct message_head head;
  unsigned char bytes[MUSTER_MESSAGE_BYTES_MAX];
} outgoing;

/* How many messages of an agent were dropped since its last completed update; `begun` of them are what an update that
 * is under way was told. */
struct loss {
  uint32_t count, begun;
};

struct mailbox {
  outgoing *places;      /* null until a type is registered that sends or has boxes */
  uint32_t places_high;  /* so many were ever in use */
  uint32_t sender_count; /* bits of `senders` */
  uint64_t *senders;     /* bitmap: agents whose messages are not delivered yet */
  uint32_t *entries;     /* of a sender: its entry in the batch */
  uint32_t wake_count;   /* bits of `to_wake` */
  uint64_t *to_wake;     /* bitmap: agents that a message wakes at the next intake */
  uint32_t owed_count;   /* agents with losses */
  struct loss *losses;   /* by agent */
};

/* Reserves everything. When memory is refused, arena->failed is set and the mailbox is as it was. */
void mailbox_create(struct mailbox *mailbox, uint32_t agents_max, uint32_t sends_per_frame, struct arena *arena);

/* An agent has sent messages that wait in the places of its entry. */
void mailbox_add_sender(struct mailbox *mailbox, uint32_t agent, uint32_t entry);

/* Takes out the first sender in agent order at or after `from`, of which there must be one. */
uint32_t mailbox_take_sender(struct mailbox *mailbox, uint32_t from);

/* Wakes an agent at the next intake, once however often this is called. */
void mailbox_wake(struct mailbox *mailbox, uint32_t agent);

/* Takes out the first agent to wake at or after `from`, of which there must be one. */
uint32_t mailbox_take_wake(struct mailbox *mailbox, uint32_t from);

/* One more message of an agent was dropped. */
void mailbox_lose(struct mailbox *mailbox, uint32_t agent);

/* The same three steps as for a box: an update that goes on later has read them; it is complete; the agent is gone. */
void mailbox_losses_begin(struct mailbox *mailbox, uint32_t agent);
void mailbox_losses_complete(struct mailbox *mailbox, uint32_t agent, bool begun);
void mailbox_forget(struct mailbox *mailbox, uint32_t agent);

#endif

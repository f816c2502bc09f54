/* agents/boxes.h - what waits for an agent: a bounded queue of messages for each state slot of a type that has boxes.
 *
 * An update reads what had been delivered when it began, and its completion takes just that out. More may arrive before
 * it completes, when it was cut between two atoms or waits for its action atoms: such an update has noted how much was
 * there (`begun`), and what came later stays for the next one.
 *
 *   first -> | begun ............ | later ........... | free -> ...
 *              boxes_complete()     boxes_put() at the end
 *
 * Both parts have room for `capacity` messages: what an update still reads takes no room from what comes for the next.
 *
 * Most boxes hold one message or none. So the first places of all boxes lie side by side, then all second ones: a world
 * of a million boxes touches one message for each, and frames, which are the first to touch them, clear few pages.
 *
 *   place 0 of slots 0 .. slots - 1 | place 1 of slots 0 .. slots - 1 | ...
 *
 * Written by the frame's thread (delivery) and by the thread that settles the agent; read by the agent's own update. */
#ifndef AGENTS_BOXES_H
#define AGENTS_BOXES_H

#include "base/arena.h"

#include <muster/update.h>

/* A message without its bytes, which follow it in memory. */
struct message_head {
  muster_agent peer; /* in a box: the sender, null when it is the host; on its way: the receiver */
  uint64_t sent_ns;  /* simulation time */
  uint32_t size;
};

_Static_assert(sizeof(struct message_head) % 8 == 0, "the bytes of a message are aligned as its reader expects");

/* An empty box is all zero, so that a box that was never used costs no memory. */
struct box {
  uint16_t first, count, begun;
};

typedef struct box_table {
  uint32_t slots;          /* agents that may have a box */
  uint32_t capacity;       /* messages that can wait in a box; 0: the type has none, and nothing else here is set */
  uint32_t message_bytes;  /* longest message */
  uint32_t stride;         /* bytes of a message with its message */
  struct box *boxes;       /* by slot */
  unsigned char *messages; /* 2 x capacity x slots x stride: see below */
} box_table;

/* Reserves empty boxes for `slots` agents, none when the capacity is 0. Sets arena->failed when memory is refused. */
void boxes_create(box_table *table, uint32_t slots, uint32_t capacity, uint32_t message_bytes, struct arena *arena);

/* Whether a further message may wait in a box. */
bool boxes_has_room(const box_table *table, uint32_t slot);

/* Puts a copy at the end of a box; false when `capacity` messages wait there for an update that has not begun. */
bool boxes_put(box_table *table, uint32_t slot, const struct message_head *head, const void *bytes);

/* Message `number` of a box, counted from the oldest; number < count. */
const struct message_head *boxes_message(const box_table *table, uint32_t slot, uint32_t number);

/* The same, to be changed: an agent that comes from another zone brings times of there. */
struct message_head *boxes_change(const box_table *table, uint32_t slot, uint32_t number);

/* Where the next message would be put. */
const void *boxes_end(const box_table *table, uint32_t slot);

/* The update that sees the box as it is now will complete in a later commit, or later in this commit. */
void boxes_begin(box_table *table, uint32_t slot);

/* The update is complete: takes out what it could read, `begun` telling whether boxes_begin() was called for it.
 * Returns how many messages stay for the next. */
uint32_t boxes_complete(box_table *table, uint32_t slot, bool begun);

/* Empties a box for the next holder of the slot. */
void boxes_clear(box_table *table, uint32_t slot);

#endif

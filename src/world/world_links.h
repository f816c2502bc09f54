/* world_links.h - links between agents: messages and companions. With shards, boxes belong to the shards of their
 * receivers. */
#ifndef WORLD_LINKS_H
#define WORLD_LINKS_H

#include "agents/companions.h"
#include "agents/mailbox.h"
#include "pool/ticket.h"

struct world_links {
  struct mailbox mailbox;
  struct companions companions;
  struct index_counter places_late; /* places for messages that were set aside in this frame after the ranking */
};

#endif

/* world_links.h - what agents have to do with each other: messages and companions. With shards, boxes belong to the
 * shards of their receivers. */
#ifndef WORLD_LINKS_H
#define WORLD_LINKS_H

#include "agents/companions.h"
#include "agents/mailbox.h"
#include "pool/ticket.h"

struct world_links {
  struct mailbox mailbox;
  struct companions companions;
  struct index_counter places_late; /* for messages: set aside in this frame after the ranking */
};

#endif

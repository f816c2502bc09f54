/* world_commands.h - what the next intake will apply: commands and wakes of other threads, commands of updates, and the
 * ids that updates may give to the agents they spawn. With shards, each shard has ids and a queue of its own. */
#ifndef WORLD_COMMANDS_H
#define WORLD_COMMANDS_H

#include "run/intake_queues.h"
#include "run/wakes.h"

struct world_commands {
  struct intake_queues queues;
  struct wakes wakes;
  struct command *deferred;        /* what updates asked of other agents, in order: the next intake begins with it */
  struct command *deferred_before; /* the other buffer, while the intake reads one */
  uint32_t deferred_count;
  uint32_t spawn_id_count;
  uint32_t *spawn_ids; /* set aside for spawns from inside updates; kept from frame to frame */
};

#endif

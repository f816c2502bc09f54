/* world_queues.h - which agents wait for what: members of classes until they are due, released agents, timers, action
 * atoms. With shards, all of this belongs to shards except the clocks of the classes. */
#ifndef WORLD_QUEUES_H
#define WORLD_QUEUES_H

#include "plan/classes.h"
#include "plan/ready.h"
#include "plan/timers.h"

struct world_queues {
  class_table classes;
  ready_set ready;
  struct timers timers;
  struct timers reactions; /* of agents that must react by a time: when they are looked at next */
  uint64_t *acting;        /* bitmap: agents with waiting action atoms */
  uint32_t acting_count;
};

#endif

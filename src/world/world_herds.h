/* world_herds.h - herds and their ids. With shards, a herd belongs to the shard of its root. */
#ifndef WORLD_HERDS_H
#define WORLD_HERDS_H

#include "agents/herds.h"
#include "run/herd_ids.h"

struct world_herds {
  herd_table table;
  struct herd_ids ids;
};

#endif

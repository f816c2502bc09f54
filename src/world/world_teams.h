/* world_teams.h - the thread that runs the frame, and the workers that it calls to its stages. */
#ifndef WORLD_TEAMS_H
#define WORLD_TEAMS_H

#include "base/parts.h"
#include "plan/calling.h"
#include "pool/pool.h"
#include "pool/team.h"
#include "pool/ticket.h"

struct update_context;

enum { SETTLE_LOTS_MAX = 256, SETTLE_STRETCHES = 64 };

/* The section that workers are in (section.h). */
struct section {
  part_work work;
  void *argument;
  uint32_t items, runs, workers;
  struct work_partitions partitions; /* the runs */
};

/* The entries of a batch by the lots in which they are settled beside each other: a lot has the agents of a shard, or
 * of every so many of them. */
struct settle_lots {
  uint32_t count;                   /* 0 = the batch is not cut into lots */
  uint32_t *entries;                /* lot by lot, in the order of the batch */
  uint32_t ends[SETTLE_LOTS_MAX];   /* where each lot ends, */
  uint32_t done[SETTLE_LOTS_MAX];   /* and how many of its entries were looked at */
  uint64_t end_ns;                  /* until when: what they leave to be done finds time after it */
  uint32_t left;                    /* entries that were not looked at, */
  uint32_t *left_entries;           /* in ascending order; later those of each stretch that leave something, */
  uint32_t rests[SETTLE_STRETCHES]; /* and how many these are */
};

struct world_teams {
  struct team early; /* runs agents held from the last frame while the caller plans */
  struct team run;
  struct team beside; /* works along in a stage: one at a time */
  struct section section;
  bool early_open;
  uint32_t early_called;     /* by ranking */
  struct pool_entry entered; /* of the thread that runs the frame, and its worker slot */
  struct worker_slot *slot;
  const struct update_context *outer; /* callbacks of another world that the thread was running before; null: none */
  uint32_t helpers;                   /* workers that were called to run the last batch */
  struct settle_lots lots;
  struct calling calling; /* how little work they are called for */
};

#endif

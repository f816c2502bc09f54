/* world_teams.h - the thread that runs the frame, and the workers that it calls to its stages. */
#ifndef WORLD_TEAMS_H
#define WORLD_TEAMS_H

#include "base/parts.h"
#include "pool/team.h"
#include "pool/ticket.h"

struct update_context;

enum { SETTLE_SHARES = 4 }; /* partitions in which a batch is settled beside each other, by shard */

/* The section that workers are in (section.h). */
struct section {
  part_work work;
  void *argument;
  uint32_t items, runs, workers;
  struct work_partitions partitions; /* the runs */
};

struct world_teams {
  struct team early; /* runs agents held from the last frame while the caller plans */
  struct team run;
  struct team beside; /* works along in a stage: one at a time */
  struct section section;
  bool early_open;
  uint32_t early_called; /* by ranking */
  struct pool_entry entered; /* of the thread that runs the frame, and its seat */
  struct seat *seat;
  const struct update_context *outer; /* callbacks of another world that the thread was running before; null: none */
  uint32_t helpers;                   /* workers that were called to run the last batch */
  uint32_t settle_looked_at[SETTLE_SHARES]; /* entries, by the partition that looked at them */
};

#endif

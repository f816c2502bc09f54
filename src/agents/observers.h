/* agents/observers.h - players and cameras, grouped by partition so that an agent meets only those that can see it. */
#ifndef AGENTS_OBSERVERS_H
#define AGENTS_OBSERVERS_H

#include "base/arena.h"

#include <muster/muster.h>

enum { PARTITIONS = 65536 };

typedef struct observer_row {
  muster_position position;
  float near_m, far_m;
  uint16_t partition;
  bool present;
} observer_row;

typedef struct observer_table {
  uint32_t maximum, high; /* every present index is below `high` */
  observer_row *rows;
  uint32_t *order;  /* present observers grouped by partition */
  uint32_t *starts; /* PARTITIONS + 1: where each group begins in `order` */
  bool regroup;     /* the groups are older than the rows */
} observer_table;

/* Reserves the table in the arena. */
void observers_create(observer_table *table, uint32_t maximum, arena *arena);

/* Sets an observer present at `index`, moves it, or takes it away. Intake only. */
void observers_add(observer_table *table, uint32_t index, const muster_observer_def *def);
void observers_move(observer_table *table, uint32_t index, muster_position position);
void observers_remove(observer_table *table, uint32_t index);

/* Groups by partition again when observers came or went: O(observers + partitions) then, nothing otherwise. */
void observers_group(observer_table *table);

#endif

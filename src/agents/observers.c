#include "agents/observers.h"

#include "base/assert.h"

#include <string.h>

void observers_create(observer_table *table, uint32_t maximum, arena *arena) {
  ASSERT(maximum > 0);
  *table = (observer_table){.maximum = maximum};
  table->rows = arena_reserve(arena, maximum, sizeof *table->rows);
  table->order = arena_reserve(arena, maximum, sizeof *table->order);
  table->starts = arena_reserve(arena, PARTITIONS + 1, sizeof *table->starts);
}

void observers_add(observer_table *table, uint32_t index, const muster_observer_def *def) {
  ASSERT(index < table->maximum && !table->rows[index].present);
  table->rows[index] = (observer_row){def->position, def->near_m, def->far_m, (uint16_t)def->partition, true};
  if (index >= table->high) table->high = index + 1;
  table->regroup = true;
}

void observers_move(observer_table *table, uint32_t index, muster_position position) {
  ASSERT(table->rows[index].present);
  table->rows[index].position = position;
}

void observers_remove(observer_table *table, uint32_t index) {
  ASSERT(table->rows[index].present);
  table->rows[index].present = false;
  table->regroup = true;
}

void observers_group(observer_table *table) {
  if (!table->regroup) return;
  table->regroup = false;
  uint32_t *starts = table->starts;
  memset(starts, 0, (PARTITIONS + 1) * sizeof *starts);
  for (uint32_t i = 0; i < table->high; i++)
    if (table->rows[i].present) starts[table->rows[i].partition + 1]++;
  for (uint32_t partition = 0; partition < PARTITIONS; partition++) starts[partition + 1] += starts[partition];
  /* Filling advances each start to its group's end, which is the next group's start: shift back afterwards. */
  for (uint32_t i = 0; i < table->high; i++)
    if (table->rows[i].present) table->order[starts[table->rows[i].partition]++] = i;
  memmove(starts + 1, starts, PARTITIONS * sizeof *starts);
  starts[0] = 0;
}

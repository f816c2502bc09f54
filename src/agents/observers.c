#include "agents/observers.h"

#include "base/assert.h"

#include <math.h>
#include <string.h>

/* Bins of far_m, four per octave. */
enum { FAR_BINS = 256, FAR_BIN_OF_ONE = 100, FAR_BINS_PER_OCTAVE = 4 };
/* An observer stands in a bucket when its far_m is at most this many times typical_far_m: 2^(8/4). */
enum { FAR_SIGHTED_BINS = 8, FAR_SIGHTED_MOST = 32, FAR_SIGHTED_PART = 20 };
static const float far_sighted_from = 4.0f;
/* A source is noted in about 25 buckets, which many share with others. */
enum { SEEN_PER_BUCKET = 8 };
/* The buckets keep their width while typical_far_m changes by no more than this factor. */
static const float relink_from = 2.0f;

void observers_create(observer_table *table, uint32_t maximum, struct arena *arena) {
  ASSERT(maximum > 0);
  *table = (observer_table){.maximum = maximum, .counted = true, .shortest_m = INFINITY};
  uint32_t buckets = round_up_to_power_of_two(maximum) * 2;
  table->buckets_mask = buckets - 1;
  ARENA_ARRAY(arena, table->rows, maximum);
  ARENA_ARRAY(arena, table->sources, maximum);
  for (uint32_t i = 0; i < OBSERVER_QUEUES; i++) ARENA_ARRAY(arena, table->queues[i].waiting, maximum);
  ARENA_ARRAY(arena, table->buckets, buckets);
  table->seen_mask = buckets * SEEN_PER_BUCKET - 1;
  ARENA_ARRAY(arena, table->seen, (size_t)table->seen_mask + 1);
  ARENA_ARRAY(arena, table->far_sighted, maximum);
}

static void observers_enqueue(observer_table *table, uint32_t which, uint32_t index) {
  observer_queue *queue = &table->queues[which];
  observer_row *row = &table->rows[index];
  if (row->queued[which]) return;
  row->queued[which] = true;
  queue->waiting[(queue->head + queue->count++) % table->maximum] = index;
}

void observers_add(observer_table *table, uint32_t index, const muster_observer_def *def) {
  observer_row *row = &table->rows[index];
  ASSERT(index < table->maximum && !row->present);
  row->position = def->position;
  row->near_m = def->near_m;
  row->far_m = def->far_m;
  row->partition = (uint16_t)def->partition;
  row->present = true;
  if (index >= table->high) table->high = index + 1;
  table->counted = false;
  observers_enqueue(table, OBSERVER_LEAPS, index);
}

/* Whether an observer is further from its source than a share of importance. */
static bool is_away(const observer_row *row, const observer_source *source, float share) {
  double x = row->position.x - source->position.x, y = row->position.y - source->position.y,
         z = row->position.z - source->position.z;
  double step_m = (double)share * ((double)row->far_m - (double)row->near_m);
  return x * x + y * y + z * z > step_m * step_m;
}

void observers_move(observer_table *table, uint32_t index, muster_position position) {
  observer_row *row = &table->rows[index];
  const observer_source *source = &table->sources[index];
  ASSERT(row->present);
  row->position = position;
  if (!is_away(row, source, OBSERVER_STEP)) return;
  observers_enqueue(table, is_away(row, source, OBSERVER_LEAP) ? OBSERVER_LEAPS : OBSERVER_WALKS, index);
}

void observers_remove(observer_table *table, uint32_t index) {
  ASSERT(table->rows[index].present);
  table->rows[index].present = false;
  table->counted = false;
  observers_enqueue(table, OBSERVER_LEAPS, index);
}

static uint32_t observers_dequeue(observer_table *table, uint32_t which) {
  observer_queue *queue = &table->queues[which];
  if (!queue->count) return OBSERVER_NONE;
  uint32_t index = queue->waiting[queue->head];
  queue->head = (queue->head + 1) % table->maximum;
  queue->count--;
  table->rows[index].queued[which] = false;
  return index;
}

/* An observer that waits among those that walk may have been written meanwhile as one that leapt, or have come back. */
static bool is_due(const observer_table *table, uint32_t index) {
  const observer_row *row = &table->rows[index];
  const observer_source *source = &table->sources[index];
  return row->present != source->written || (row->present && is_away(row, source, OBSERVER_STEP));
}

uint32_t observers_next(observer_table *table, uint32_t which) {
  uint32_t index = observers_dequeue(table, which);
  while (which == OBSERVER_WALKS && index != OBSERVER_NONE && !is_due(table, index))
    index = observers_dequeue(table, which);
  return index;
}

static uint32_t *bucket_of(const observer_table *table, const observer_source *source) {
  return &table->buckets[observers_bucket_number(table, source->bucket_x, source->bucket_y, source->partition)];
}

static void widen_reach(observer_table *table, const observer_source *source) {
  if (source->near_m > table->near_m) table->near_m = source->near_m;
  if (source->far_m > table->far_m) table->far_m = source->far_m;
}

/* Counts a source in every bucket that it may see into; `change` is one more, or one fewer. */
static void note_seen(observer_table *table, const observer_source *source, uint32_t change) {
  int32_t reach = (int32_t)ceil((double)source->far_m / table->bucket_m);
  for (int32_t north = -reach; north <= reach; north++)
    for (int32_t east = -reach; east <= reach; east++) {
      uint32_t hash = observers_hash(source->bucket_x + east, source->bucket_y + north, source->partition);
      table->seen[hash & table->seen_mask] += change;
    }
}

/* Enters a filled source into its bucket, or into the list of the far-sighted observers. */
static void link_source(observer_table *table, uint32_t index) {
  observer_source *source = &table->sources[index];
  source->far_sighted = source->far_m > table->linked_far_m * far_sighted_from;
  if (source->far_sighted) {
    source->next = table->far_sighted_count;
    table->far_sighted[table->far_sighted_count++] = index;
    return;
  }
  widen_reach(table, source);
  source->bucket_x = (int32_t)floor(source->position.x / table->bucket_m);
  source->bucket_y = (int32_t)floor(source->position.y / table->bucket_m);
  note_seen(table, source, 1);
  uint32_t *head = bucket_of(table, source);
  source->previous = 0;
  source->next = *head;
  if (*head) table->sources[*head - 1].previous = index + 1;
  *head = index + 1;
}

static void unlink_source(observer_table *table, uint32_t index) {
  observer_source *source = &table->sources[index];
  if (source->far_sighted) {
    uint32_t last = table->far_sighted[--table->far_sighted_count];
    table->far_sighted[source->next] = last;
    table->sources[last].next = source->next;
    return;
  }
  note_seen(table, source, UINT32_MAX);
  if (source->previous)
    table->sources[source->previous - 1].next = source->next;
  else
    *bucket_of(table, source) = source->next;
  if (source->next) table->sources[source->next - 1].previous = source->previous;
}

void observers_write(observer_table *table, uint32_t index) {
  const observer_row *row = &table->rows[index];
  observer_source *source = &table->sources[index];
  ASSERT(table->counted);
  if (source->written) unlink_source(table, index);
  source->written = row->present;
  if (!row->present) return;
  source->position = row->position;
  source->near_m = row->near_m;
  source->far_m = row->far_m;
  source->partition = row->partition;
  link_source(table, index);
}

void observers_restore(observer_table *table, uint32_t index) {
  ASSERT(table->sources[index].written);
  link_source(table, index);
}

/* Enters every source again, for buckets of another width. */
static void link_again(observer_table *table) {
  memset(table->buckets, 0, ((size_t)table->buckets_mask + 1) * sizeof *table->buckets);
  memset(table->seen, 0, ((size_t)table->seen_mask + 1) * sizeof *table->seen);
  table->far_sighted_count = 0;
  table->near_m = table->far_m = 0.0f;
  table->linked_far_m = table->typical_far_m;
  /* The least width: the number of a bucket must still fit in a world of 1e9 m. */
  table->bucket_m = fmax((double)table->typical_far_m / 2.0, 1.0);
  for (uint32_t i = 0; i < table->high; i++)
    if (table->sources[i].written) link_source(table, i);
}

static uint32_t far_bin_of(float far_m) {
  float bin = roundf(log2f(far_m) * (float)FAR_BINS_PER_OCTAVE) + (float)FAR_BIN_OF_ONE;
  return (uint32_t)fminf(fmaxf(bin, 0.0f), (float)(FAR_BINS - 1));
}

/* At least the median; and so much that few observers see more than four times as far. */
static float typical_far(const uint32_t *bins, uint32_t present) {
  uint32_t median = 0, below = bins[0], beyond = 0;
  while (below * 2 < present) below += bins[++median];
  uint32_t few = present / FAR_SIGHTED_PART + FAR_SIGHTED_MOST, bin = FAR_BINS;
  while (bin > 0 && beyond + bins[bin - 1] <= few) beyond += bins[--bin];
  uint32_t wide = bin > FAR_SIGHTED_BINS ? bin - 1 - FAR_SIGHTED_BINS : 0;
  uint32_t typical = median > wide ? median : wide;
  return exp2f(((float)typical - (float)FAR_BIN_OF_ONE) / (float)FAR_BINS_PER_OCTAVE);
}

void observers_count(observer_table *table) {
  uint32_t bins[FAR_BINS] = {0}, present = 0;
  if (table->counted) return;
  table->counted = true;
  table->near_m = table->far_m = 0.0f;
  table->shortest_m = INFINITY;
  for (uint32_t i = 0; i < table->high; i++) {
    const observer_row *row = &table->rows[i];
    const observer_source *source = &table->sources[i];
    if (source->written && !source->far_sighted) widen_reach(table, source);
    if (!row->present) continue;
    present++;
    bins[far_bin_of(row->far_m)]++;
    table->shortest_m = fminf(table->shortest_m, row->far_m - row->near_m);
  }
  if (!present) return;
  table->typical_far_m = typical_far(bins, present);
  float ratio = table->typical_far_m / table->linked_far_m;
  if (!(ratio <= relink_from && ratio >= 1.0f / relink_from)) link_again(table);
}

uint32_t observers_nearest(const observer_table *table, muster_position position, uint32_t partition) {
  uint32_t nearest = OBSERVER_NONE;
  double least = INFINITY;
  for (uint32_t i = 0; i < table->high; i++) {
    const observer_row *row = &table->rows[i];
    if (!row->present || row->partition != partition) continue;
    double x = row->position.x - position.x, y = row->position.y - position.y, z = row->position.z - position.z;
    double square = x * x + y * y + z * z;
    if (square >= least) continue;
    least = square;
    nearest = i;
  }
  return nearest;
}

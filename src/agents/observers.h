/* agents/observers.h - players and cameras: where they are, and where importance believes them to be.
 *
 * An observer that walks changes importance little by little, so what is planned with is where it was when it was last
 * written: its source. One that has come so far from its source that importance may notice (OBSERVER_STEP of the way
 * from far_m to near_m) waits in a queue to be written again, once, whatever else it does in the meantime; so do new
 * ones and those that are gone. Agents find observers in buckets as wide as half the usual far_m; observers that see
 * much further than the others are few, and stand apart in a list of their own. */
#ifndef AGENTS_OBSERVERS_H
#define AGENTS_OBSERVERS_H

#include "base/arena.h"
#include "base/fields.h"

#include <muster/muster.h>

enum { PARTITIONS = PARTITION_MOST + 1 };

#define OBSERVER_NONE UINT32_MAX

/* How far an observer may be from its source: as a share of importance. */
#define OBSERVER_STEP 0.03f
/* An observer that came so far at once goes before those that walk. */
#define OBSERVER_LEAP 0.1f

/* Queues: observers that came, went or leapt; and observers that walk. */
enum { OBSERVER_LEAPS = 0, OBSERVER_WALKS, OBSERVER_QUEUES };

typedef struct observer_queue {
  uint32_t *waiting; /* a ring of `maximum` places, first in, first out; each observer once */
  uint32_t head, count;
} observer_queue;

typedef struct observer_row {
  muster_position position;
  float near_m, far_m;
  uint16_t partition;
  bool present;
  bool queued[OBSERVER_QUEUES];
} observer_row;

/* An observer as it was last written. */
typedef struct observer_source {
  muster_position position;
  float near_m, far_m;
  int32_t bucket_x, bucket_y;
  uint32_t next, previous; /* index + 1 in the bucket; next of a far-sighted one: its place in that list */
  uint16_t partition;
  bool written;
  bool far_sighted;
} observer_source;

typedef struct observer_table {
  uint32_t maximum, high; /* every present or written index is below `high` */
  observer_row *rows;
  observer_source *sources;
  observer_queue queues[OBSERVER_QUEUES]; /* to be written */
  bool counted;                           /* what follows belongs to the present rows */
  float typical_far_m;
  float linked_far_m;    /* the one that the buckets were made for */
  float shortest_m;      /* the least far_m - near_m */
  float near_m, far_m;   /* the largest of those in buckets */
  double bucket_m;       /* 0: no observer was written yet */
  uint32_t *buckets;     /* index + 1 of the first */
  uint32_t buckets_mask; /* buckets - 1 */
  uint32_t *seen;        /* by hash of a bucket: how many may be worth something to an agent in it */
  uint32_t seen_mask;
  uint32_t *far_sighted; /* observers that are in no bucket */
  uint32_t far_sighted_count;
} observer_table;

/* Reserves the table in the arena. */
void observers_create(observer_table *table, uint32_t maximum, struct arena *arena);

/* Sets an observer present at `index`, moves it, or takes it away. Frame's thread. O(1). */
void observers_add(observer_table *table, uint32_t index, const muster_observer_def *def);
void observers_move(observer_table *table, uint32_t index, muster_position position);
void observers_remove(observer_table *table, uint32_t index);

/* Counts anew when observers came or went since the last time: O(observers) then, else nothing. When most of them see
 * much further or less far than those before, the buckets get another width. */
void observers_count(observer_table *table);

/* Takes the observer that has waited longest in a queue; OBSERVER_NONE when none waits. Empty OBSERVER_LEAPS first.
 */
uint32_t observers_next(observer_table *table, uint32_t which);

/* How many wait to be written. */
static inline uint32_t observers_waiting(const observer_table *table) {
  return table->queues[OBSERVER_LEAPS].count + table->queues[OBSERVER_WALKS].count;
}

/* Makes an observer's source what its row says now: nothing when it is not present. After observers_count. O(1). */
void observers_write(observer_table *table, uint32_t index);

/* Enters the source of an observer that was written from outside. Call it for all of those in the order in which they
 * were once entered. The width of the buckets is set. */
void observers_restore(observer_table *table, uint32_t index);

static inline uint32_t observers_hash(int32_t bucket_x, int32_t bucket_y, uint32_t partition) {
  uint32_t hash = (uint32_t)bucket_x * 0x9e3779b1u + (uint32_t)bucket_y * 0x85ebca77u + partition * 0xc2b2ae3du;
  return hash ^ hash >> 15;
}

/* Where in `buckets` the list of a bucket is. */
static inline uint32_t observers_bucket_number(const observer_table *table, int32_t bucket_x, int32_t bucket_y,
                                               uint32_t partition) {
  return observers_hash(bucket_x, bucket_y, partition) & table->buckets_mask;
}

/* The present observer of a partition that is nearest to a place, whatever it sees; OBSERVER_NONE when there is none.
 * O(observers). */
uint32_t observers_nearest(const observer_table *table, muster_position position, uint32_t partition);

/* Whether an observer that is not far-sighted may be worth something to an agent in a bucket. O(1). */
static inline bool observers_may_see(const observer_table *table, int32_t bucket_x, int32_t bucket_y,
                                     uint32_t partition) {
  return table->seen[observers_hash(bucket_x, bucket_y, partition) & table->seen_mask] > 0;
}

/* The first observer whose source is in the bucket's list, index + 1. The list may hold other buckets' observers: check
 * partition and bucket. */
static inline uint32_t observers_bucket(const observer_table *table, int32_t bucket_x, int32_t bucket_y,
                                        uint32_t partition) {
  return table->buckets[observers_bucket_number(table, bucket_x, bucket_y, partition)];
}

#endif

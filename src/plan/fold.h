/* plan/fold.h - stage 3: which herds are one agent, which are many?
 *
 * The membrane is the cut of every herd's tree whose nodes run now. Blocks of folded herds and entries of unfolded ones
 * are looked at in turn, each once per look_ns, all of them when an observer leapt, came or went. A herd whose membrane
 * is not where its observers want it is listed; the next intake asks again, change by change, and does it. */
#ifndef PLAN_FOLD_H
#define PLAN_FOLD_H

#include "agents/herds.h"
#include "agents/observers.h"

/* Folded herds leave room in the list: who is to be folded makes room for them. */
enum {
  FOLD_LISTED_MAX = 2048,
  FOLD_FOLDED_MAX = 1536,
  FOLD_TABLE = 4 * FOLD_LISTED_MAX,
  FOLD_BLOCKS = 1024 /* looked at together */
};

#define FOLD_FAR 1e30f

/* A herd whose membrane is to change. */
typedef struct fold_item {
  uint32_t herd;
  float distance_m; /* of the node that wants it most */
  bool folds;       /* and nothing of it is to be unfolded */
} fold_item;

typedef struct fold_watcher {
  double x, y;
  uint32_t next; /* + 1: in its bucket */
  uint16_t partition;
  bool present;
} fold_watcher;

/* How far the round of a herd type is. */
typedef struct fold_round {
  uint64_t begin_ns;
  uint32_t blocks, entries; /* looked at */
  bool begun;
  bool hurries;       /* an observer leapt: as fast as frames allow; */
  bool again;         /* and since then again */
  fold_watcher *from; /* observers as the round began */
} fold_round;

/* How much of a round one frame allows. */
typedef struct fold_limits {
  uint32_t blocks, entries;
} fold_limits;

/* What looking needs of memory: each thread has its own. */
typedef struct fold_scratch {
  float *near_x, *near_y;
  float *distances; /* of lanes, or of a block's herds; squares while they are made */
} fold_scratch;

/* Blocks that are looked at together. */
struct fold_blocks {
  const struct herd_type *type;
  uint32_t first, count;
};

/* Observers that matter somewhere, from an origin. */
typedef struct fold_near {
  uint32_t count;
  float *x, *y;
} fold_near;

typedef struct fold_board {
  uint32_t observers_max;
  uint32_t watcher_count;
  fold_watcher *watchers;          /* present ones, as of the last stage 3 */
  double bucket_m;                 /* they stand in buckets of so wide a cell */
  uint32_t *buckets, buckets_mask; /* + 1 */
  fold_scratch *scratch;           /* by worker; the frame's thread has the first, too: when nobody else looks */
  float *distances;                /* of the lanes that were measured last */
  uint64_t (*hits)[MUSTER_HERD_BLOCK / 64]; /* herds of blocks that are looked at together */
  fold_round rounds[MUSTER_HERD_TYPES_MAX];
  fold_item *items;
  uint32_t item_count;
  uint32_t *listed; /* a table of herds + 1 that are listed */
} fold_board;

/* Reserves what the first herd type needs, and what each needs. */
void fold_create(fold_board *board, uint32_t observers_max, uint32_t workers, struct arena *arena);
void fold_reserve(fold_board *board, uint32_t type, struct arena *arena);

/* Stage 3, for each frame: where the observers are now. */
void fold_watch(fold_board *board, const herd_table *table, const observer_table *observers);

/* The parts of it: nobody stands anywhere; then somebody stands there. */
void fold_watch_none(fold_board *board, const herd_table *table);
void fold_watch_from(fold_board *board, double x, double y, uint16_t partition);

/* Then for each type: what of its round is due. */
fold_limits fold_due(fold_board *board, const struct herd_type *type, uint32_t number, const observer_table *observers,
                     fold_limits most, uint64_t now_ns);

/* The next of the due blocks, at most FOLD_BLOCKS: then all of them are looked at, on any thread; and listed. */
struct fold_blocks fold_next_blocks(fold_board *board, const struct herd_type *type, uint32_t number, uint32_t left);
void fold_look(fold_board *board, const struct fold_blocks *blocks, uint32_t first, uint32_t end, uint32_t worker);
void fold_list(fold_board *board, const struct fold_blocks *blocks);

/* The next of the due entries. */
void fold_look_at_entries(fold_board *board, const struct herd_type *type, uint32_t number, uint32_t count,
                          uint64_t now_ns);

/* The frame's part of a round is done. */
void fold_end(fold_board *board, const struct herd_type *type, uint32_t number, const observer_table *observers,
              uint64_t now_ns);

/* Lists a herd, unless it is listed. One that finds no room is found again, when its turn comes. */
void fold_note(fold_board *board, uint32_t herd, float distance_m, bool folds);

/* Puts the list in order: who is to be unfolded first, and the nearest first. */
void fold_sort(fold_board *board);

/* What is left of the list after an intake: the first `count` were moved to its front. */
void fold_keep(fold_board *board, uint32_t count);

/* Observers of a partition within `reach_m` of a box, from an origin inside it. */
fold_near fold_near_of(const fold_board *board, uint32_t partition, double low_x, double low_y, double high_x,
                       double high_y, double reach_m, double origin_x, double origin_y);

/* How near the nearest of them is to a point; FOLD_FAR without any. */
float fold_distance(const fold_near *near, float x, float y);

/* How near the nearest observer is to a folded herd, if it is in one's outermost zone; else more than that. */
float fold_herd_distance(const fold_board *board, const struct herd_type *type, uint32_t home);

/* Fills board->distances for the lanes of an entry; returns who is near. */
fold_near fold_measure(const fold_board *board, const struct herd_type *type, const herd_lanes *lanes);

/* Whether a leaf at a depth and distance is to be unfolded. */
bool fold_unfolds(const struct herd_type *type, uint32_t depth, float distance_m);

/* The lane that is to be unfolded next: the nearest; HERD_NONE = none. After fold_measure. */
uint32_t fold_next_unfolding(const fold_board *board, const struct herd_type *type, const herd_lanes *lanes);

/* Siblings that are to be folded. */
typedef struct fold_siblings {
  uint32_t first, count; /* lanes; 0 = there are none */
  float distance_m;      /* of their parent */
} fold_siblings;

/* The first such siblings at or behind a lane. After fold_measure. */
fold_siblings fold_next_folding(const fold_board *board, const struct herd_type *type, const herd_lanes *lanes,
                                const fold_near *near, uint32_t from, uint64_t now_ns);

/* Whether all leaves are where they are wanted, as nearly always; false when in doubt. A parent that is far from its
 * one observer has a child that is as far; of several observers, each child may be near to another one, so that says
 * nothing. After fold_measure. */
bool fold_stays(const fold_board *board, const struct herd_type *type, const herd_lanes *lanes, const fold_near *near);

/* A lane's pin for a time, and whether it holds still. */
static inline uint32_t fold_pin(uint64_t until_ns) {
  return (uint32_t)(until_ns >> HERD_PINS_UNIT_BITS) | 1u;
}
static inline bool fold_holds(uint32_t pin, uint64_t now_ns) {
  return pin && (int32_t)(pin - (uint32_t)(now_ns >> HERD_PINS_UNIT_BITS)) >= 0;
}

#endif

/* plan/fold.h - stage 3: which herds are one agent, which are many?
 *
 * A herd's membrane is the cut of its tree through the nodes that run now. Blocks of folded herds and entries of
 * unfolded ones are looked at in turn, each once per look_ns, and all of them when an observer leapt, came or went. A
 * herd whose membrane is not where its observers want it is listed; the next intake asks again, change by change, and
 * makes the changes. */
#ifndef PLAN_FOLD_H
#define PLAN_FOLD_H

#include "agents/herds.h"
#include "agents/observers.h"

#include <muster/herd.h>

/* Herds that are to be folded do not fill the list, so that herds that are to be unfolded find room. */
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
  float distance_m; /* distance of the node that wants the change most */
  bool folds;       /* it is to be folded, and nothing of it to be unfolded */
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
  uint32_t blocks, entries; /* how many were looked at */
  bool begun;
  bool hurries;       /* an observer leapt: look as fast as frames allow */
  bool again;         /* an observer leapt again since then */
  fold_watcher *from; /* the observers at the begin of the round */
} fold_round;

/* How much of a round one frame allows. */
typedef struct fold_limits {
  uint32_t blocks, entries;
} fold_limits;

/* Memory for looking: each thread has its own. */
typedef struct fold_scratch {
  float *near_x, *near_y;
  float *distances; /* of lanes, or of a block's herds; squares at first */
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
  double bucket_m;                 /* the width of the cells that are hashed into buckets */
  uint32_t *buckets, buckets_mask; /* + 1: the first watcher of each */
  fold_scratch *scratch;           /* by worker; the frame's thread has the first, too, while no worker looks */
  float *distances;                /* of the lanes that were measured last */
  uint64_t (*hits)[MUSTER_HERD_BLOCK / 64]; /* herds of blocks that are looked at together */
  fold_round rounds[MUSTER_HERD_TYPES_MAX];
  fold_item *items;
  uint32_t item_count;
  uint32_t *listed; /* a hash table of the listed herds, + 1 */
} fold_board;

/* Reserves what the first herd type needs, and what each herd type needs. */
void fold_create(fold_board *board, uint32_t observers_max, uint32_t workers, struct arena *arena);
void fold_reserve(fold_board *board, uint32_t type, struct arena *arena);

/* Stage 3, in each frame: notes where the observers are now. */
void fold_watch(fold_board *board, const herd_table *table, const observer_table *observers);

/* The parts of fold_watch(): no observer is anywhere; then an observer is there. */
void fold_watch_none(fold_board *board, const herd_table *table);
void fold_watch_from(fold_board *board, double x, double y, uint16_t partition);

/* Then, for each type: how much of its round is due. */
fold_limits fold_due(fold_board *board, const struct herd_type *type, uint32_t number, const observer_table *observers,
                     fold_limits most, uint64_t now_ns);

/* The next of the due blocks, at most FOLD_BLOCKS. Then look at all of them, on any thread; then list their herds. */
struct fold_blocks fold_next_blocks(fold_board *board, const struct herd_type *type, uint32_t number, uint32_t left);
void fold_look(fold_board *board, const struct fold_blocks *blocks, uint32_t first, uint32_t end, uint32_t worker);
void fold_list(fold_board *board, const struct fold_blocks *blocks);

/* Looks at the next of the due entries. */
void fold_look_at_entries(fold_board *board, const struct herd_type *type, uint32_t number, uint32_t count,
                          uint64_t now_ns);

/* Ends the frame's part of a round. */
void fold_end(fold_board *board, const struct herd_type *type, uint32_t number, const observer_table *observers,
              uint64_t now_ns);

/* Lists a herd, unless it is listed. A herd that finds no room is found again when its turn comes. */
void fold_note(fold_board *board, uint32_t herd, float distance_m, bool folds);

/* Puts the list in order: herds that are to be unfolded first, and nearer ones first. */
void fold_sort(fold_board *board);

/* Keeps the rest of the list after an intake: its first `count` items, which were moved to the front. */
void fold_keep(fold_board *board, uint32_t count);

/* Observers of a partition within `reach_m` of a box, from an origin inside it. */
fold_near fold_near_of(const fold_board *board, uint32_t partition, double low_x, double low_y, double high_x,
                       double high_y, double reach_m, double origin_x, double origin_y);

/* How near the nearest of these observers is to a point; FOLD_FAR without any. */
float fold_distance(const fold_near *near, float x, float y);

/* How near the nearest observer is to a folded herd, if the herd is in its outermost zone; else more than that. */
float fold_herd_distance(const fold_board *board, const struct herd_type *type, uint32_t home);

/* Fills board->distances for the lanes of an entry; returns the observers that are near. */
fold_near fold_measure(const fold_board *board, const struct herd_type *type, const herd_lanes *lanes);

/* Whether a leaf at a depth and distance is to be unfolded. */
bool fold_unfolds(const struct herd_type *type, uint32_t depth, float distance_m);

/* The lane that is to be unfolded next: the nearest; HERD_NONE = none. After fold_measure. */
uint32_t fold_next_unfolding(const fold_board *board, const struct herd_type *type, const herd_lanes *lanes);

/* Sibling leaves that are to be folded. */
typedef struct fold_siblings {
  uint32_t first, count; /* lanes; 0 = there are none */
  float distance_m;      /* the distance of their parent */
} fold_siblings;

/* The first such siblings at or behind a lane. After fold_measure. */
fold_siblings fold_next_folding(const fold_board *board, const struct herd_type *type, const herd_lanes *lanes,
                                const fold_near *near, uint32_t from, uint64_t now_ns);

/* Whether all leaves are where they are wanted, as nearly always; false when in doubt. If a parent is far from its one
 * observer, at least one of its children is as far. With several observers each child may be near to another one, so
 * the children's distances prove nothing. After fold_measure. */
bool fold_stays(const fold_board *board, const struct herd_type *type, const herd_lanes *lanes, const fold_near *near);

/* A lane's pin for a time, and whether it holds still. */
static inline uint32_t fold_pin(uint64_t until_ns) {
  return (uint32_t)(until_ns >> HERD_PINS_UNIT_BITS) | 1u;
}
static inline bool fold_holds(uint32_t pin, uint64_t now_ns) {
  return pin && (int32_t)(pin - (uint32_t)(now_ns >> HERD_PINS_UNIT_BITS)) >= 0;
}

#endif

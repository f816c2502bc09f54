/* agents/herds.h - herds: where the folded ones lie in blocks, and where the leaves of the unfolded ones are noted.
 *
 * A herd's index is its home for as long as it lives: type, block and slot follow from it. Slots are columns:
 *
 *   members > 0                      folded: x, y, velocity and totals are the herd's
 *   members = 0, x holds a number    unfolded: of the entry of the pool that notes the leaves
 *   members = 0, x holds HERD_DYING  folded, and its last member is gone: the next intake removes it
 *   members = 0, x holds HERD_EMPTY  free
 *
 * Columns are written by the block's own update (stage 7), by serial actions and between the stages on the frame's
 * thread; stage 3 and serial actions read them. An entry's lanes are the leaves in the order of the tree, from left to
 * right: written when a leaf's update completes (its own lane), by serial actions and by intakes; read by updates in
 * stage 7 and by stage 3. So every reader sees the last commit. run/herd_ids.h says whether an id is live. */
#ifndef AGENTS_HERDS_H
#define AGENTS_HERDS_H

#include "agents/herd_tree.h"
#include "agents/space.h"
#include "agents/types.h"
#include "base/prefetch.h"

#include <muster/herd.h>

#define HERD_NONE  UINT32_MAX
#define HERD_DYING UINT32_MAX
#define HERD_EMPTY (UINT32_MAX - 1)
/* Where padding lanes lie: so far away that no query finds them. */
#define HERD_NOWHERE 1e18f

enum { HERD_PINS_UNIT_BITS = 20 /* of ns: about a millisecond */ };

/* 1024 herds of a type and partition, and the agent that brings them forward. */
typedef struct herd_block {
  double origin_x, origin_y;
  float low_x, low_y, high_x, high_y; /* around the folded herds, from the origin; maybe wider */
  uint32_t agent;
  uint32_t entry; /* + 1: the first entry that a folded herd of this block still has */
  uint16_t partition;
  uint16_t high; /* slots below were used */
  uint16_t live; /* herds, wherever they are */
  uint16_t dying;
  uint32_t gap; /* every slot below is taken; a bound */
  uint32_t unused[2];
} herd_block;

_Static_assert(sizeof(herd_block) == 64, "a block is one cache line");

typedef enum herd_entry_state {
  HERD_ENTRY_FREE = 0,
  HERD_ENTRY_OPEN,     /* its herd is unfolded */
  HERD_ENTRY_SETTLING, /* folded, and its last update was not its block's */
  HERD_ENTRY_KEPT      /* folded, with its members retained */
} herd_entry_state;

/* The entry of an unfolded herd; there is one for each herd that may be unfolded. Its lanes follow it in memory. */
typedef struct herd_entry {
  uint32_t herd;
  uint32_t next; /* + 1: the next free entry, or the next entry of its block */
  double origin_x, origin_y;
  int64_t ahead_ns;  /* folded: its last update less its block's */
  uint64_t block_ns; /* settling: the block's last update; it is settled once that changed */
  uint16_t lanes, pinned;
  uint8_t state; /* herd_entry_state */
  bool listed;
  uint16_t unused;
  float x, y, velocity_x, velocity_y; /* centroid from the origin, and mean velocity, as last looked at */
} herd_entry;

_Static_assert(sizeof(herd_entry) == 64, "an entry's head is one cache line");

/* An entry's lanes. */
typedef struct herd_lanes {
  herd_entry *entry;
  float *x, *y, *velocity_x, *velocity_y; /* x, y from the entry's origin */
  float *totals[MUSTER_HERD_TOTALS];
  uint32_t *agents;
  uint32_t *pins; /* time / 2^HERD_PINS_UNIT_BITS until which it stays an individual; 0 = none */
  uint16_t *members, *nodes;
} herd_lanes;

/* What a retained node was like, relative to its parent. */
typedef struct herd_kept {
  float x, y, velocity_x, velocity_y;
  uint16_t members;
  bool is_kept;
} herd_kept;

struct herd_type {
  muster_herd_type_def def; /* its name points to `name` */
  char name[24];
  herd_tree tree;
  uint32_t member_type, block_type; /* indices of agent types */
  uint32_t first;                   /* index of its first herd */
  uint32_t blocks_max, block_count;
  uint32_t fresh;    /* blocks from here on were added since the last frame began */
  uint32_t herds;    /* live */
  uint32_t unfolded; /* of these */
  uint32_t leaves;   /* agents */
  uint32_t gaps;     /* slots of herds that are gone */
  float *x, *y, *velocity_x, *velocity_y, *totals[MUSTER_HERD_TOTALS];
  uint16_t *members;
  herd_block *blocks;
  uint32_t *open; /* + 1, by partition: the block that took the last herd */
  unsigned char *pool;
  size_t stride;                               /* of entries */
  size_t lane_bytes;                           /* of a float in all lanes, padded */
  uint32_t entry_high, entry_free, entry_used; /* free: + 1 */
  uint32_t *settling, settling_count;
  unsigned char *kept; /* herd_kept and state of each node of each entry; null unless it retains */
  size_t kept_stride, kept_each;
};

typedef enum herd_tie { HERD_TIE_NONE = 0, HERD_TIE_LEAF, HERD_TIE_NAMED, HERD_TIE_BLOCK } herd_tie;

/* What an agent is to a herd. */
typedef struct herd_link {
  uint32_t entry; /* named: its number among the named; block: its number */
  uint16_t lane;
  uint8_t type;
  uint8_t tie; /* herd_tie */
} herd_link;

/* A member with a name. */
typedef struct herd_named {
  muster_herd herd; /* generation 0: it has none any more */
  uint32_t agent;   /* HERD_NONE: a free place */
  uint32_t entry;   /* its herd's; HERD_NONE: the herd is folded. As of the frame's begin */
  float velocity_x, velocity_y;
  double x, y; /* centroid */
} herd_named;

/* What a worker needs for a block's update, and what it counts. */
typedef struct herd_scratch {
  _Alignas(64) float elapsed_s[MUSTER_HERD_BLOCK];
  float x[MUSTER_HERD_BLOCK], y[MUSTER_HERD_BLOCK];
  float velocity_x[MUSTER_HERD_BLOCK], velocity_y[MUSTER_HERD_BLOCK];
  float totals[MUSTER_HERD_TOTALS][MUSTER_HERD_BLOCK];
  uint32_t herds[MUSTER_HERD_BLOCK];
  uint16_t members[MUSTER_HERD_BLOCK];
  int64_t members_more;
  uint64_t refused;
  bool dying; /* the last member of some herd is gone */
} herd_scratch;

typedef struct herd_table {
  uint32_t count;
  struct herd_type *types;
  herd_link *links; /* by agent; null while there is no herd type */
  herd_named *named;
  uint32_t named_max, named_high, named_count;
  herd_scratch *scratch; /* by worker */
  uint32_t spare;        /* an agent's index for folds when no other is left; HERD_NONE = used */
  int64_t members;       /* in all trees; the workers' changes since the last intake not counted */
  bool dying;            /* the last member of some folded herd is gone */
} herd_table;

/* ------------------------------------------------------------------------------------------------------------ homes */

/* The type of a herd's index; null when there is none. O(types). */
struct herd_type *herds_type_of(const herd_table *table, uint32_t herd);

/* The home of a herd: block and slot, counted from the type's first. */
static inline uint32_t herds_home(const struct herd_type *type, uint32_t herd) {
  return herd - type->first;
}

static inline herd_block *herds_block_of(const struct herd_type *type, uint32_t home) {
  return &type->blocks[home / MUSTER_HERD_BLOCK];
}

/* What an unfolded herd's x holds: the number of its entry. */
static inline uint32_t herds_number_in(const struct herd_type *type, uint32_t home) {
  uint32_t number;
  __builtin_memcpy(&number, &type->x[home], sizeof number);
  return number;
}

static inline void herds_put_number(const struct herd_type *type, uint32_t home, uint32_t number) {
  type->members[home] = 0;
  __builtin_memcpy(&type->x[home], &number, sizeof number);
}

/* A block with room for a herd of a partition. In this order: the block that took the last herd; a block where herds
 * are gone; a block of any partition where all herds are gone, which the caller must move first; a new block, whose
 * number is type->block_count and which the caller must open first. HERD_NONE when all blocks are taken. */
uint32_t herds_find_block(struct herd_type *type, uint32_t partition);

/* Opens the next block. */
void herds_open_block(struct herd_type *type, uint32_t partition, double origin_x, double origin_y);

/* Moves a block without herds. */
void herds_move_block(struct herd_type *type, uint32_t block, uint32_t partition, double origin_x, double origin_y);

/* Takes a slot of a block with room; returns the home. */
uint32_t herds_take_slot(struct herd_type *type, uint32_t block);

/* The herd at a home is gone. */
void herds_give_slot(struct herd_type *type, uint32_t home);

/* Writes a folded herd's body at its home, and makes the block's box wide enough. */
void herds_write(struct herd_type *type, uint32_t home, const herd_body *body);

/* The folded body. */
herd_body herds_body(const struct herd_type *type, uint32_t home);

/* ------------------------------------------------------------------------------------------------------------- pool */

/* Lanes begin at multiples of 32 bytes. */
static inline size_t herds_align(size_t bytes) {
  return (bytes + 31) & ~(size_t)31;
}

static inline herd_entry *herds_entry(const struct herd_type *type, uint32_t number) {
  return (herd_entry *)(void *)(type->pool + number * type->stride);
}

/* One column of an entry's lanes: x, y, velocity_x, velocity_y, totals. For callers that need few columns: to fill a
 * whole herd_lanes takes longer. */
static inline float *herds_column(const struct herd_type *type, uint32_t number, uint32_t column) {
  return (float *)(void *)(type->pool + number * type->stride + sizeof(herd_entry) + column * type->lane_bytes);
}

/* An entry's lanes: behind its head come four floats, the totals, agents and pins, then members and nodes. */
static inline herd_lanes herds_lanes(const struct herd_type *type, uint32_t number) {
  unsigned char *entry = type->pool + number * type->stride, *at = entry + sizeof(herd_entry);
  size_t bytes = type->lane_bytes, totals = type->def.totals;
  herd_lanes lanes = {.entry = (herd_entry *)(void *)entry,
                      .x = (float *)(void *)at,
                      .y = (float *)(void *)(at + bytes),
                      .velocity_x = (float *)(void *)(at + 2 * bytes),
                      .velocity_y = (float *)(void *)(at + 3 * bytes),
                      .agents = (uint32_t *)(void *)(at + (4 + totals) * bytes),
                      .pins = (uint32_t *)(void *)(at + (5 + totals) * bytes),
                      .members = (uint16_t *)(void *)(at + (6 + totals) * bytes),
                      .nodes = (uint16_t *)(void *)(at + (6 + totals) * bytes + herds_align(bytes / 2))};
  for (uint32_t t = 0; t < MUSTER_HERD_TOTALS; t++) lanes.totals[t] = (float *)(void *)(at + (4 + t) * bytes);
  return lanes;
}

/* Fetches what a leaf's update, or noting it, needs of its herd: the first eight lanes. */
PREFETCH_FUNCTION herds_prefetch(const herd_table *table, uint32_t agent, bool writes) {
  const herd_link *link = &table->links[agent];
  const struct herd_type *type = &table->types[link->type];
  if (link->tie != HERD_TIE_LEAF) return;
  const unsigned char *entry = type->pool + link->entry * type->stride, *at = entry + sizeof(herd_entry);
  __builtin_prefetch(entry);
  for (uint32_t i = 0; i < 4; i++) __builtin_prefetch(at + i * type->lane_bytes, 1);
  if (writes) return;
  __builtin_prefetch(at + (6 + type->def.totals) * type->lane_bytes);
  __builtin_prefetch(at + (6 + type->def.totals) * type->lane_bytes + herds_align(type->lane_bytes / 2));
}

/* Computes how entries lie in memory. */
void herds_lay_out(struct herd_type *type);

/* Takes an entry for a herd whose origin is at a place; HERD_NONE when unfolded_max are taken. */
uint32_t herds_take_entry(struct herd_type *type, uint32_t herd, double origin_x, double origin_y);

/* Gives back an entry without lanes, which is in no list. */
void herds_free_entry(struct herd_type *type, uint32_t number);

/* The entry that a folded herd still has; HERD_NONE = none. O(entries of its block). */
uint32_t herds_entry_of_folded(const struct herd_type *type, uint32_t herd);

/* Puts an entry into its block's list, or takes it out. */
void herds_chain(struct herd_type *type, uint32_t number);
void herds_unchain(struct herd_type *type, uint32_t number);

/* Inserts lanes at `at`, with the given agents and the nodes of the bodies; or takes lanes out. Updates the links. */
void herds_insert(herd_table *table, struct herd_type *type, uint32_t number, uint32_t at, const herd_body *bodies,
                  const uint32_t *agents, uint32_t count);
void herds_take_out(herd_table *table, struct herd_type *type, uint32_t number, uint32_t at, uint32_t count);

/* Fills up lanes behind the last one to a multiple of eight: without members, and at HERD_NOWHERE. */
void herds_pad(const herd_lanes *lanes);

/* Writes a leaf's lane: its place and what it published. */
void herds_note_leaf(const herd_table *table, const struct space *space, const agent_store *store,
                     const type_table *types, uint32_t agent);

/* The body that a leaf stands for, by its lane. */
herd_body herds_leaf(const struct herd_type *type, const herd_lanes *lanes, uint32_t lane);

/* Members of all leaves. */
uint32_t herds_count(const herd_lanes *lanes);

/* The body of the whole herd, by its lanes. */
herd_body herds_whole(const struct herd_type *type, const herd_lanes *lanes);

#endif

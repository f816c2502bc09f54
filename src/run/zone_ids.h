/* run/zone_ids.h - ids that are valid in all zones of a larger world (muster/zone.h): of agents, and of observers,
 * which have a table of their own.
 *
 *   id:  zone (14) | epoch (14) | generation (16) | index (20)
 *
 * Inside the library an agent is its index here and that index's generation: a handle, which looks like the id of a
 * world that is no zone. Ids are made of handles, and handles of ids, where the public calls are. An agent that was
 * born here and has never left stands at the index in its id. All others are found by chains: those that were born
 * elsewhere, those that came back, and ghosts.
 *
 *   id born here ---> ids[index] is this id ----------------------------------> handle
 *   other id    ---> chain of its hash ---> ids[...] is this id: that index ---> handle
 *
 * Any thread reads, as in run/recent.h. A thread that makes an agent writes the id of its index before it opens the
 * generation; everything else is written by the frame's thread.
 *
 * The generation in an id is half of its index's, modulo 2^16. So that none comes again in one epoch, an index rests
 * when its next one would be 0: it is given back when another epoch begins. */
#ifndef RUN_ZONE_IDS_H
#define RUN_ZONE_IDS_H

#include "base/arena.h"
#include "pool/identity.h"
#include "run/recent.h"

#include <muster/muster.h>

enum { ZONE_INDEX_BITS = 20, ZONE_GENERATION_BITS = 16, ZONE_EPOCH_BITS = 14, ZONE_MARKS_LEAST = 1024 };

struct zone_ids {
  uint32_t number; /* of the zone: 1 .. MUSTER_ZONES_MAX */
  uint32_t maximum, mask;
  shared_u32 epoch;
  struct identity *agents;
  shared_u64 *ids;          /* by index: of the agent or ghost that is there, or was last */
  shared_u64 *ghosts;       /* bitmap */
  shared_u32 *nexts;        /* by index: the next index of its chain + 1 */
  shared_u32 *chains;       /* by hash: the first index + 1 */
  shared_u32 version;       /* of the chains: odd while they are changed */
  uint64_t *resting;        /* bitmap: indices that rest */
  shared_u32 resting_count; /* frame's thread writes */
  struct recent marks;      /* by id: where agents went that left */
};

/* What a mark says. */
typedef struct zone_mark {
  uint32_t zone, hop;
} zone_mark;

/* Reserves what `maximum` indices need. `ids` and `ghosts` stand in the agents' store, whose readers write nothing
 * there. */
void zone_ids_create(struct zone_ids *zone, uint32_t number, uint32_t epoch, struct identity *agents, muster_agent *ids,
                     uint64_t *ghosts, struct arena *arena);

/* The id of an agent that was born here in some epoch. Any thread. */
muster_agent zone_ids_of(const struct zone_ids *zone, uint32_t index, uint32_t generation, uint32_t epoch);

/* Opens a taken index for an agent that is born here; returns its id. The thread that took the index. */
muster_agent zone_ids_open(struct zone_ids *zone, uint32_t index);

/* Opens a taken index for an agent that was born before, here or elsewhere, or for a ghost of one. Frame's thread. */
void zone_ids_admit(struct zone_ids *zone, uint32_t index, muster_agent id, bool ghost);

/* Restores the generation of an index, and the id that stands there. Frame's thread, before others know the world; or
 * in a replay. */
void zone_ids_restore(struct zone_ids *zone, uint32_t index, uint32_t generation, muster_agent id, bool ghost);

/* Closes an index: its agent or ghost is gone. Frame's thread. */
void zone_ids_close(struct zone_ids *zone, uint32_t index);

/* Gives an index back for others to take, unless it has to rest. Frame's thread. */
void zone_ids_give_back(struct zone_ids *zone, uint32_t index);

/* Whether a generation of an index that is free says that it rests, if it was not given back; and lets it rest. */
bool zone_ids_rests(uint32_t generation);
void zone_ids_rest(struct zone_ids *zone, uint32_t index);

/* The epoch in force, and the one with which a snapshot or a record begins. Any thread; before others know the world.
 */
static inline uint32_t zone_ids_epoch(const struct zone_ids *zone) {
  return load_relaxed_u32(&zone->epoch);
}
static inline void zone_ids_restore_epoch(struct zone_ids *zone, uint32_t epoch) {
  store_relaxed_u32(&zone->epoch, epoch);
}

/* The id that stands at an index. Any thread. */
static inline muster_agent zone_ids_at(const struct zone_ids *zone, uint32_t index) {
  return (muster_agent){load_relaxed_u64(&zone->ids[index])};
}

/* How many indices rest. Any thread. */
static inline uint32_t zone_ids_resting(const struct zone_ids *zone) {
  return load_relaxed_u32(&zone->resting_count);
}

/* Another epoch begins: indices that rest are given back. Frame's thread. */
void zone_ids_set_epoch(struct zone_ids *zone, uint32_t epoch);

/* The handle of an agent's id, or of a ghost's; null when neither is here. Any thread. */
muster_agent zone_ids_find(const struct zone_ids *zone, muster_agent id);

/* Fetches what zone_ids_find() looks at first; and the index that it will probably find, once that is there: fetches
 * what it looks at then. UINT32_MAX when it will find none. */
void zone_ids_fetch(const struct zone_ids *zone, muster_agent id);
uint32_t zone_ids_fetch_likely(const struct zone_ids *zone, muster_agent id);

/* Whether a ghost, and no agent, has an index. Any thread. */
static inline bool zone_ids_is_ghost(const struct zone_ids *zone, uint32_t index) {
  return load_relaxed_u64(&zone->ghosts[index / 64]) >> (index % 64) & 1;
}

/* Whether an id is one that a zone gave. */
static inline bool zone_ids_is_id(muster_agent id) {
  return id.value >> (64 - ZONE_EPOCH_BITS) != 0;
}

/* Where an agent went that left; false when nothing is known of it. Any thread. */
bool zone_ids_left(const struct zone_ids *zone, muster_agent id, zone_mark *mark);

/* Notes that an agent left; forgets it. Frame's thread. */
void zone_ids_mark(struct zone_ids *zone, muster_agent id, zone_mark mark);
void zone_ids_unmark(struct zone_ids *zone, muster_agent id);

/* A mark as a number, and back. */
static inline uint64_t zone_mark_value(zone_mark mark) {
  return (uint64_t)mark.zone << 32 | mark.hop;
}
static inline zone_mark zone_mark_of(uint64_t value) {
  return (zone_mark){(uint32_t)(value >> 32), (uint32_t)value};
}

#endif

/* run/herd_ids.h - whether a herd's id still means what it meant: a generation by index, odd while the id is live.
 *
 * Herd types own ranges of indices, announced one after another. Any thread may ask; the frame's thread writes. */
#ifndef RUN_HERD_IDS_H
#define RUN_HERD_IDS_H

#include "base/arena.h"
#include "pool/atomics.h"

#include <muster/herd.h>

typedef struct herd_id_range {
  uint32_t first, count;
  uint32_t members_max;
  shared_u16 *generations;
} herd_id_range;

struct herd_ids {
  shared_u32 count;
  herd_id_range ranges[MUSTER_HERD_TYPES_MAX];
};

/* Reserves generations for the indices of another type. Sets arena->failed when there is no room. */
void herd_ids_reserve(struct herd_ids *herd_ids, uint32_t first, uint32_t count, uint32_t members_max,
                      struct arena *arena);

/* From here on other threads may ask about the range reserved last. */
void herd_ids_announce(struct herd_ids *herd_ids);

/* Makes an index live, or free; returns the generation. Frame's thread. */
uint32_t herd_ids_turn(struct herd_ids *herd_ids, uint32_t index);

/* Restores the saved generation of an index. Frame's thread, before other threads know the world. */
void herd_ids_assign(struct herd_ids *herd_ids, uint32_t index, uint16_t generation);

/* The generation of an index that exists. Any thread. */
uint32_t herd_ids_generation(const struct herd_ids *herd_ids, uint32_t index);

/* The range of a live id; null when the herd is gone. Any thread. */
const herd_id_range *herd_ids_find(const struct herd_ids *herd_ids, muster_herd herd);

#endif

#include "run/herd_ids.h"

#include "base/assert.h"

#include <muster/herd.h>

void herd_ids_reserve(struct herd_ids *herd_ids, uint32_t first, uint32_t count, uint32_t members_max,
                      struct arena *arena) {
  uint32_t number = load_relaxed_u32(&herd_ids->count);
  ASSERT(number < MUSTER_HERD_TYPES_MAX);
  herd_ids->ranges[number] =
      (herd_id_range){first, count, members_max, arena_reserve(arena, count, sizeof *herd_ids->ranges->generations)};
}

void herd_ids_announce(struct herd_ids *herd_ids) {
  /* Release: pairs with the acquire in homes_range_of. */
  store_release_u32(&herd_ids->count, load_relaxed_u32(&herd_ids->count) + 1);
}

static const herd_id_range *homes_range_of(const struct herd_ids *herd_ids, uint32_t index) {
  uint32_t count = load_acquire_u32(&herd_ids->count);
  for (uint32_t i = 0; i < count; i++)
    if (index >= herd_ids->ranges[i].first && index - herd_ids->ranges[i].first < herd_ids->ranges[i].count)
      return &herd_ids->ranges[i];
  return NULL;
}

uint32_t herd_ids_turn(struct herd_ids *herd_ids, uint32_t index) {
  const herd_id_range *range = homes_range_of(herd_ids, index);
  ASSERT(range);
  shared_u16 *generation = &range->generations[index - range->first];
  uint16_t turned = (uint16_t)(load_relaxed_u16(generation) + 1u);
  /* Relaxed: a thread may take an id for live that goes stale this moment; the intake checks again. */
  store_relaxed_u16(generation, turned);
  return turned;
}

void herd_ids_assign(struct herd_ids *herd_ids, uint32_t index, uint16_t generation) {
  const herd_id_range *range = homes_range_of(herd_ids, index);
  ASSERT(range);
  store_relaxed_u16(&range->generations[index - range->first], generation);
}

uint32_t herd_ids_generation(const struct herd_ids *herd_ids, uint32_t index) {
  const herd_id_range *range = homes_range_of(herd_ids, index);
  ASSERT(range);
  return load_relaxed_u16(&range->generations[index - range->first]);
}

const herd_id_range *herd_ids_find(const struct herd_ids *herd_ids, muster_herd herd) {
  if (!(muster_herd_generation(herd) & 1u)) return NULL;
  const herd_id_range *range = homes_range_of(herd_ids, muster_herd_index(herd));
  if (!range ||
      load_relaxed_u16(&range->generations[muster_herd_index(herd) - range->first]) != muster_herd_generation(herd))
    return NULL;
  return range;
}

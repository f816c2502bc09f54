#include "run/homes.h"

#include "base/assert.h"

void homes_reserve(struct homes *homes, uint32_t first, uint32_t count, uint32_t members_max, struct arena *arena) {
  uint32_t number = load_relaxed_u32(&homes->count);
  ASSERT(number < MUSTER_HERD_TYPES_MAX);
  homes->ranges[number] =
      (home_range){first, count, members_max, arena_reserve(arena, count, sizeof *homes->ranges->generations)};
}

void homes_announce(struct homes *homes) {
  /* Release: pairs with the acquire in homes_range_of. */
  store_release_u32(&homes->count, load_relaxed_u32(&homes->count) + 1);
}

static const home_range *homes_range_of(const struct homes *homes, uint32_t index) {
  uint32_t count = load_acquire_u32(&homes->count);
  for (uint32_t i = 0; i < count; i++)
    if (index >= homes->ranges[i].first && index - homes->ranges[i].first < homes->ranges[i].count)
      return &homes->ranges[i];
  return NULL;
}

uint32_t homes_turn(struct homes *homes, uint32_t index) {
  const home_range *range = homes_range_of(homes, index);
  ASSERT(range);
  shared_u16 *generation = &range->generations[index - range->first];
  uint16_t turned = (uint16_t)(load_relaxed_u16(generation) + 1u);
  /* Relaxed: an id that goes stale this moment may be taken for live; the intake looks again. */
  store_relaxed_u16(generation, turned);
  return turned;
}

void homes_assign(struct homes *homes, uint32_t index, uint16_t generation) {
  const home_range *range = homes_range_of(homes, index);
  ASSERT(range);
  store_relaxed_u16(&range->generations[index - range->first], generation);
}

uint32_t homes_generation(const struct homes *homes, uint32_t index) {
  const home_range *range = homes_range_of(homes, index);
  ASSERT(range);
  return load_relaxed_u16(&range->generations[index - range->first]);
}

const home_range *homes_find(const struct homes *homes, muster_herd herd) {
  if (!(herd.generation & 1u)) return NULL;
  const home_range *range = homes_range_of(homes, herd.index);
  if (!range || load_relaxed_u16(&range->generations[herd.index - range->first]) != herd.generation) return NULL;
  return range;
}

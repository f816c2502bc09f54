#include "service/holds.h"

#include "base/error.h"

/* The number of an observer in the list; the count when it is not there. */
static uint32_t holds_find(const struct holds *holds, muster_observer observer) {
  uint32_t i = 0;
  for (; i < holds->count; i++) {
    const muster_observer *other = &holds->list[i].observer;
    if (muster_observer_index(*other) == muster_observer_index(observer) &&
        muster_observer_generation(*other) == muster_observer_generation(observer))
      break;
  }
  return i;
}

muster_result holds_check(const struct holds *holds, muster_observer observer) {
  if (holds_find(holds, observer) < HOLDS_MAX) return MUSTER_OK;
  return error_set(MUSTER_E_FULL, "%d observers are held; let go of one", HOLDS_MAX);
}

muster_result holds_put(struct holds *holds, muster_observer observer, muster_position position) {
  uint32_t i = holds_find(holds, observer);
  muster_result result = holds_check(holds, observer);
  if (result) return result;
  if (i == holds->count) holds->count++;
  holds->list[i] = (struct hold){observer, position};
  return MUSTER_OK;
}

bool holds_drop(struct holds *holds, muster_observer observer) {
  uint32_t i = holds_find(holds, observer);
  if (i == holds->count) return false;
  holds->list[i] = holds->list[--holds->count];
  return true;
}

bool holds_has(const struct holds *holds, muster_observer observer) {
  return holds_find(holds, observer) < holds->count;
}

void holds_apply(struct holds *holds, muster_world *world) {
  for (uint32_t i = 0; i < holds->count;) {
    const struct hold *hold = &holds->list[i];
    if (muster_observer_move(world, hold->observer, hold->position) == MUSTER_E_STALE)
      holds_drop(holds, hold->observer);
    else
      i++;
  }
}

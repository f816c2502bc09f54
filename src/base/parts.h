/* base/parts.h - work in numbered parts, which may be done beside each other.
 *
 * Those who know threads say how parts are done (world/section.h), and those who plan say what a part is: so planning
 * needs no thread. Which worker does a part decides nothing: a part writes what belongs to it, or to its worker and can
 * be added up. All parts are done when parts_run() returns. */
#ifndef BASE_PARTS_H
#define BASE_PARTS_H

#include <stdint.h>

enum { PARTS_MAX = 256 };

/* Does a part, on a worker. */
typedef void (*part_work)(void *argument, uint32_t part, uint32_t worker);

/* How parts are done. */
struct parts {
  void (*run)(void *owner, part_work work, void *argument, uint32_t count, uint64_t work_ns);
  void *owner;
};

/* Does parts 0 .. count - 1, PARTS_MAX at most, of work that takes about `work_ns`; one by one, as worker 0, where
 * `parts` is null. */
static inline void parts_run(const struct parts *parts, part_work work, void *argument, uint32_t count,
                             uint64_t work_ns) {
  if (parts)
    parts->run(parts->owner, work, argument, count, work_ns);
  else
    for (uint32_t part = 0; part < count; part++) work(argument, part, 0);
}

/* How many items a part has when there are `items`, of which a part has at least `least`. */
static inline uint32_t parts_items_each(uint32_t items, uint32_t least) {
  uint32_t each = (items + PARTS_MAX - 1) / PARTS_MAX;
  return each > least ? each : least;
}

#endif

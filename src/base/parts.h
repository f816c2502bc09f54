/* base/parts.h - work on numbered items, which may be done beside each other.
 *
 * Planning says what is done with an item and knows no thread; world/section.h knows threads and shares items out.
 * Items are done in runs of neighbours. How they are cut into runs, and which worker does a run, decides nothing: an
 * item writes what belongs to it, or what belongs to its worker and can be added up. All items are done when
 * parts_run() returns. */
#ifndef BASE_PARTS_H
#define BASE_PARTS_H

#include <stdint.h>

/* Does items first .. end - 1, on a worker. */
typedef void (*part_work)(void *argument, uint32_t first, uint32_t end, uint32_t worker);

/* How items are shared out. */
struct parts {
  void (*run)(void *owner, part_work work, void *argument, uint32_t items, uint64_t work_ns);
  void *owner;
};

/* Does items 0 .. items - 1, which take about `work_ns` in all; as one run, on worker 0, where `parts` is null. */
static inline void parts_run(const struct parts *parts, part_work work, void *argument, uint32_t items,
                             uint64_t work_ns) {
  if (parts)
    parts->run(parts->owner, work, argument, items, work_ns);
  else if (items)
    work(argument, 0, items, 0);
}

#endif

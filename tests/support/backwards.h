/* tests/support/backwards.h - items that may be done beside each other, done one by one, the last first. */
#ifndef SUPPORT_BACKWARDS_H
#define SUPPORT_BACKWARDS_H

#include "base/parts.h"

static void run_backwards(void *owner, part_work work, void *argument, uint32_t items, uint64_t work_ns) {
  (void)owner;
  (void)work_ns;
  for (uint32_t i = items; i > 0; i--) work(argument, i - 1, i, 0);
}

static const struct parts backwards = {run_backwards, NULL};

#endif

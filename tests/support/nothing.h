/* tests/support/nothing.h - an atom for agents that need not do anything. */
#ifndef NOTHING_H
#define NOTHING_H

#include <muster/muster.h>

static inline muster_atom_result nothing(muster_update *update) {
  (void)update;
  return MUSTER_ATOM_NEXT;
}

#endif

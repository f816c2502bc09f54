/* world_acts.h - the stage of action atoms: whose turn it is. */
#ifndef WORLD_ACTS_H
#define WORLD_ACTS_H

#include "run/acts.h"

struct world_acts {
  uint64_t *now;      /* bitmap: those whose turn it is of the agents whose action atoms wait; only in the stage */
  uint32_t kinds;     /* bitmap of muster_act: those that some type has */
  uint32_t first;     /* the one whose turn is first */
  struct acts beside; /* those who act beside each other; reserved with the first type that says so */
};

#endif

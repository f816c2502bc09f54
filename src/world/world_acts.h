/* world_acts.h - the stage of action atoms: which agents act now. */
#ifndef WORLD_ACTS_H
#define WORLD_ACTS_H

#include "run/acts.h"

struct world_acts {
  uint32_t *waiting;           /* only in the stage: agents with waiting action atoms, in agent order, */
  uint32_t count;              /* and how many they are */
  uint32_t kinds;              /* bitmap of muster_act: the kinds that some type with actions has */
  uint32_t first;              /* the kind that acts first */
  bool asks;                   /* some type with actions may spawn agents or send messages */
  uint32_t *listed[ACT_KINDS]; /* the agents of each kind that act, in agent order; of kinds that some type has */
  uint32_t counts[ACT_KINDS];
  struct acts beside; /* agents that act beside each other; reserved with the first type that says so */
};

#endif

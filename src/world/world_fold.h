/* world_fold.h - stage 3: which herds are looked at now. */
#ifndef WORLD_FOLD_H
#define WORLD_FOLD_H

#include "plan/fold.h"

struct world_fold {
  fold_board board;
  struct fold_blocks blocks; /* the blocks that are looked at now */
};

#endif

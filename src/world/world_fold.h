/* world_fold.h - stage 3: which herds are looked at now, and who looks. */
#ifndef WORLD_FOLD_H
#define WORLD_FOLD_H

#include "plan/fold.h"
#include "pool/crew.h"
#include "pool/ticket.h"

struct world_fold {
  fold_board board;
  struct fold_blocks blocks; /* that are looked at now */
  struct crew crew;
  shared_u64 ticket; /* blocks of herds that no worker has taken yet */
};

#endif

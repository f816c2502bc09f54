/* world_crews.h - the thread that runs the frame, and the workers that it calls to its stages. */
#ifndef WORLD_CREWS_H
#define WORLD_CREWS_H

#include "pool/crew.h"
#include "pool/ticket.h"

struct update_context;

enum { SETTLE_SHARES = 4 }; /* of a batch: as many as a wheel has shards */

struct world_crews {
  struct crew early; /* runs those held from the last frame while the caller plans */
  struct crew run, settle, act, score, fold;
  shared_u64 score_ticket; /* items of the score stage that no worker has taken yet, several at a time */
  shared_u64 fold_ticket;  /* and blocks of herds of stage 3 */
  bool early_open;
  struct visit visit; /* of the thread that runs the frame, and its seat */
  struct seat *seat;
  const struct update_context *outer; /* whose callbacks that thread was running before: of another world; null: none */
  uint32_t helpers;                   /* workers that were called to run the last batch */
  struct shares settle_shares;
  uint32_t settle_looked_at[SETTLE_SHARES]; /* claims, by the share that looked at them */
};

#endif

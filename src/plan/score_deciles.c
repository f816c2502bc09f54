#include "plan/score.h"

static uint8_t decile_at(uint64_t below, uint32_t population) {
  uint64_t decile = population ? below * MUSTER_DECILES / population : 0;
  return (uint8_t)(decile < MUSTER_DECILES ? decile : MUSTER_DECILES - 1);
}

void score_deciles(score_board *board, uint32_t population) {
  uint64_t below = 0;
  if (!board->deciles_stale) return;
  board->deciles_stale = false;
  for (uint32_t bin = 0; bin < IMPORTANCE_BINS; bin++) {
    uint64_t through = below + board->importance[bin];
    uint64_t last = through > below ? through - 1 : below;
    board->decile_low[bin] = decile_at(below, population);
    board->decile_high[bin] = decile_at(last, population);
    below = through;
  }
}

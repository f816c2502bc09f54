/* fold_list.c - the herds whose membranes are to change, each once. */
#include "base/assert.h"
#include "plan/fold.h"

#include <string.h>

static void enter(fold_board *board, uint32_t herd) {
  uint32_t at = herd * 0x9e3779b1u % FOLD_TABLE;
  while (board->listed[at]) at = (at + 1) % FOLD_TABLE;
  board->listed[at] = herd + 1;
}

static bool is_listed(const fold_board *board, uint32_t herd) {
  uint32_t at = herd * 0x9e3779b1u % FOLD_TABLE;
  while (board->listed[at] && board->listed[at] != herd + 1) at = (at + 1) % FOLD_TABLE;
  return board->listed[at] != 0;
}

void fold_note(fold_board *board, uint32_t herd, float distance_m, bool folds) {
  if (board->item_count == FOLD_LISTED_MAX || is_listed(board, herd)) return;
  enter(board, herd);
  board->items[board->item_count++] = (fold_item){herd, distance_m, folds};
}

static bool comes_before(const fold_item *a, const fold_item *b) {
  if (a->folds != b->folds) return b->folds;
  if (a->distance_m < b->distance_m || a->distance_m > b->distance_m) return a->distance_m < b->distance_m;
  return a->herd < b->herd;
}

/* Lets an item of a heap, the last one on top, sink to its place. */
static void sink(fold_item *items, uint32_t at, uint32_t count) {
  fold_item sinking = items[at];
  for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
    if (child + 1 < count && comes_before(&items[child], &items[child + 1])) child++;
    if (!comes_before(&sinking, &items[child])) break;
    items[at] = items[child];
  }
  items[at] = sinking;
}

/* By a heap: in place, unlike the C library's qsort. */
void fold_sort(fold_board *board) {
  fold_item *items = board->items;
  for (uint32_t i = board->item_count / 2; i > 0; i--) sink(items, i - 1, board->item_count);
  for (uint32_t left = board->item_count; left > 1; left--) {
    fold_item last = items[left - 1];
    items[left - 1] = items[0];
    items[0] = last;
    sink(items, 0, left - 1);
  }
}

void fold_keep(fold_board *board, uint32_t count) {
  ASSERT(count <= board->item_count);
  memset(board->listed, 0, FOLD_TABLE * sizeof *board->listed);
  board->item_count = count;
  for (uint32_t i = 0; i < count; i++) enter(board, board->items[i].herd);
}

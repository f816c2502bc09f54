/* fold_wants.c - where the membrane of one herd is wanted: which of its leaves are to be unfolded, and which siblings
 * folded. */
#include "plan/fold.h"

#include <math.h>

/* How much rounding may move the mean of places, as a part of its size. */
#define ROUNDING 1e-4f

static float nearest_square(const fold_near *near, float x, float y) {
  float least = FOLD_FAR;
  for (uint32_t i = 0; i < near->count; i++) {
    float dx = near->x[i] - x, dy = near->y[i] - y, square = dx * dx + dy * dy;
    least = square < least ? square : least;
  }
  return least;
}

float fold_distance(const fold_near *near, float x, float y) {
  return near->count ? sqrtf(nearest_square(near, x, y)) : FOLD_FAR;
}

bool fold_unfolds(const struct herd_type *type, uint32_t depth, float distance_m) {
  return depth < type->tree.depth && distance_m < type->def.zone_m[type->tree.depth - depth - 1];
}

uint32_t fold_next_unfolding(const fold_board *board, const struct herd_type *type, const herd_lanes *lanes) {
  uint32_t found = HERD_NONE;
  for (uint32_t i = 0; i < lanes->entry->lanes; i++) {
    if (!fold_unfolds(type, herd_tree_depth(&type->tree, lanes->nodes[i]), board->distances[i])) continue;
    if (found == HERD_NONE || board->distances[i] < board->distances[found]) found = i;
  }
  return found;
}

/* Whether a leaf lies below a node. */
static bool is_below(const herd_tree *tree, uint32_t leaf, uint32_t node, uint32_t depth) {
  uint32_t place = herd_tree_place(tree, leaf), begin = herd_tree_place(tree, node);
  return place >= begin && place < begin + tree->below[depth];
}

/* How many lanes from `first` on are all the children of one parent; 0 when one of these children is not a leaf. */
static uint32_t count_siblings(const struct herd_type *type, const herd_lanes *lanes, uint32_t first) {
  const herd_tree *tree = &type->tree;
  uint32_t depth = herd_tree_depth(tree, lanes->nodes[first]), end = first, leaves = lanes->entry->lanes;
  if (depth == 0) return 0;
  uint32_t parent = herd_tree_parent(tree, lanes->nodes[first]);
  while (end < leaves && lanes->nodes[end] > 0 && herd_tree_parent(tree, lanes->nodes[end]) == parent) end++;
  bool deeper = (first > 0 && is_below(tree, lanes->nodes[first - 1], parent, depth - 1)) ||
                (end < leaves && is_below(tree, lanes->nodes[end], parent, depth - 1));
  return deeper ? 0 : end - first;
}

/* Whether any of these leaves must stay unfolded: it is in its own zone, so that no member in sight is folded, or it is
 * pinned. */
static bool is_kept_apart(const fold_board *board, const herd_lanes *lanes, uint32_t first, uint32_t count,
                          float zone_m, uint64_t now_ns) {
  for (uint32_t i = first; i < first + count; i++)
    if (board->distances[i] <= zone_m || (lanes->pins[i] && fold_holds(lanes->pins[i], now_ns))) return true;
  return false;
}

/* The distance of the mean of some lanes. */
static float distance_of_mean(const herd_lanes *lanes, const fold_near *near, uint32_t first, uint32_t count) {
  float x = 0, y = 0, members = 0;
  for (uint32_t i = first; i < first + count; i++) {
    x += lanes->members[i] * lanes->x[i];
    y += lanes->members[i] * lanes->y[i];
    members += lanes->members[i];
  }
  return members > 0 ? fold_distance(near, x / members, y / members) : 0.0f;
}

fold_siblings fold_next_folding(const fold_board *board, const struct herd_type *type, const herd_lanes *lanes,
                                const fold_near *near, uint32_t from, uint64_t now_ns) {
  const herd_tree *tree = &type->tree;
  for (uint32_t i = from; i < lanes->entry->lanes; i++) {
    uint32_t count = count_siblings(type, lanes, i);
    if (!count) continue;
    uint32_t depth = herd_tree_depth(tree, lanes->nodes[i]) - 1;
    float distance_m = distance_of_mean(lanes, near, i, count);
    float zone_m = type->def.zone_m[tree->depth - depth - 1];
    if (distance_m > zone_m * (1.0f + type->def.hysteresis) && !is_kept_apart(board, lanes, i, count, zone_m, now_ns))
      return (fold_siblings){i, count, distance_m};
    i += count - 1;
  }
  return (fold_siblings){0};
}

bool fold_stays(const fold_board *board, const struct herd_type *type, const herd_lanes *lanes, const fold_near *near) {
  const herd_tree *tree = &type->tree;
  const float *zone_m = type->def.zone_m;
  float beyond = 1.0f + type->def.hysteresis;
  if (near->count != 1) return false;
  for (uint32_t i = 0; i < lanes->entry->lanes; i++) {
    uint32_t depth = herd_tree_depth(tree, lanes->nodes[i]);
    if (fold_unfolds(type, depth, board->distances[i])) return false;
    if (depth > 0 && board->distances[i] > zone_m[tree->depth - depth] * beyond * (1.0f - ROUNDING)) return false;
  }
  return true;
}

/* agents/herd_tree.h - the mathematics of a herd's tree: which node is where, how members are dealt to children, and
 * how bodies are split and merged so that number, centroid, momentum and totals stay what they are. Pure.
 *
 * Nodes are numbered as in a heap: the root is 0, the children of n are b n + 1 .. b n + b. */
#ifndef AGENTS_HERD_TREE_H
#define AGENTS_HERD_TREE_H

#include "base/fields.h"

#include <muster/herd.h>

enum { HERD_CHILDREN_MAX = BRANCHING_MOST, HERD_NODES_MAX = 2 * MUSTER_HERD_MEMBERS_MAX };

typedef struct herd_tree {
  uint32_t branching, depth;
  uint32_t first[MUSTER_HERD_DEPTHS + 2]; /* the first node of each depth; behind them, how many nodes there are */
  uint32_t below[MUSTER_HERD_DEPTHS + 1]; /* members that a node of each depth stands for at most */
  uint8_t depths[HERD_NODES_MAX];         /* by node */
  uint16_t places[HERD_NODES_MAX];        /* by node: see herd_tree_place */
} herd_tree;

/* What a node stands for. */
typedef struct herd_body {
  double x, y, z;
  double velocity_x, velocity_y;
  uint32_t node, members;
  double totals[MUSTER_HERD_TOTALS];
} herd_body;

/* Where children appear around their parent. */
typedef struct herd_spread {
  double radius_m, speed_mps; /* of the root's children */
  uint32_t totals;
  uint64_t seed; /* of this herd at this time */
} herd_spread;

/* Fills the table; false when b^D is beyond MUSTER_HERD_MEMBERS_MAX. */
bool herd_tree_make(herd_tree *tree, uint32_t branching, uint32_t depth);

/* The depth of a node; the root's is 0. */
static inline uint32_t herd_tree_depth(const herd_tree *tree, uint32_t node) {
  return tree->depths[node];
}

static inline uint32_t herd_tree_parent(const herd_tree *tree, uint32_t node) {
  return (node - 1) / tree->branching;
}

static inline uint32_t herd_tree_child(const herd_tree *tree, uint32_t node, uint32_t number) {
  return node * tree->branching + 1 + number;
}

/* Where the node's part of the tree begins, counted in nodes of the greatest depth. It orders nodes from left to
 * right. */
static inline uint32_t herd_tree_place(const herd_tree *tree, uint32_t node) {
  return tree->places[node];
}

/* How many of a node's members its child gets: they differ by one at most, the first ones have more. */
static inline uint32_t herd_tree_share(const herd_tree *tree, uint32_t members, uint32_t number) {
  return members / tree->branching + (number < members % tree->branching);
}

/* Makes those children of a node that have members; returns how many. The same seed and node give the same children. */
uint32_t herd_split(const herd_tree *tree, const herd_body *parent, const herd_spread *spread, herd_body *children);

/* Moves bodies and their velocities together, so that their centroid and momentum are the parent's. */
void herd_recentre(const herd_body *parent, herd_body *children, uint32_t count);

/* Deals the parent's totals to its children, in proportion to their members. */
void herd_deal_totals(const herd_body *parent, herd_body *children, uint32_t count, uint32_t totals);

/* The body that stands for several; the caller sets its node. */
herd_body herd_merge(const herd_body *bodies, uint32_t count, uint32_t totals);

#endif

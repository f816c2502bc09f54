/* The mathematics of a herd's tree. */
#include "agents/herd_tree.h"
#include "support/arenas.h"

static herd_tree tree_of(uint32_t branching, uint32_t depth) {
  herd_tree tree;
  cr_assert(herd_tree_make(&tree, branching, depth));
  return tree;
}

static double random_between(uint64_t seed, uint32_t counter, double low, double high) {
  return low + (high - low) * (double)muster_random_share(random_at(seed, counter, 0, 0));
}

static herd_body random_body(const herd_tree *tree, uint64_t seed, uint32_t node) {
  herd_body body = {.x = random_between(seed, 1, -1e5, 1e5),
                    .y = random_between(seed, 2, -1e5, 1e5),
                    .velocity_x = random_between(seed, 3, -20, 20),
                    .velocity_y = random_between(seed, 4, -20, 20),
                    .node = node,
                    .totals = {random_between(seed, 5, -1e3, 1e3), random_between(seed, 6, 0, 1e6)}};
  uint32_t most = tree->below[herd_tree_depth(tree, node)];
  body.members = 1 + (uint32_t)(random_at(seed, 7, 0, 0) % most);
  return body;
}

Test(herd_tree, refuses_more_members_than_are_allowed) {
  herd_tree tree;
  cr_assert(herd_tree_make(&tree, 2, 10));
  cr_assert(herd_tree_make(&tree, 32, 2));
  cr_assert_not(herd_tree_make(&tree, 3, 7));
  cr_assert_not(herd_tree_make(&tree, 32, 3));
}

Test(herd_tree, numbers_nodes_as_a_heap) {
  herd_tree tree = tree_of(3, 3);
  cr_assert_eq(tree.first[4], 1 + 3 + 9 + 27);
  cr_assert_eq(herd_tree_child(&tree, 0, 2), 3);
  cr_assert_eq(herd_tree_parent(&tree, 3), 0);
  cr_assert_eq(herd_tree_parent(&tree, herd_tree_child(&tree, 7, 1)), 7);
  cr_assert_eq(herd_tree_depth(&tree, 0), 0);
  cr_assert_eq(herd_tree_depth(&tree, 12), 2);
  cr_assert_eq(herd_tree_depth(&tree, 13), 3);
  cr_assert_eq(herd_tree_place(&tree, 2), 9);
}

Test(herd_tree, numbers_no_more_nodes_than_there_are) {
  herd_tree tree = tree_of(3, 3);
  cr_assert_eq(tree.depths[tree.first[4] - 1], 3);
  cr_assert_eq(tree.depths[tree.first[4]], 0);
  cr_assert_eq(tree.places[tree.first[4]], 0);
}

Test(herd_tree, deals_members_so_that_shares_differ_by_one_at_most) {
  herd_tree tree = tree_of(5, 3);
  for (uint32_t members = 1; members <= 125; members++) {
    uint32_t sum = 0, least = UINT32_MAX, most = 0;
    for (uint32_t k = 0; k < 5; k++) {
      uint32_t share = herd_tree_share(&tree, members, k);
      sum += share;
      least = share < least ? share : least;
      most = share > most ? share : most;
    }
    cr_assert_eq(sum, members);
    cr_assert(most - least <= 1 && most <= 25);
  }
}

static void expect_conserved(const herd_tree *tree, uint64_t seed, uint32_t node) {
  herd_body parent = random_body(tree, seed, node), children[HERD_CHILDREN_MAX];
  herd_spread spread = {10.0, 2.0, 2, seed};
  uint32_t count = herd_split(tree, &parent, &spread, children);
  herd_body merged = herd_merge(children, count, 2);
  cr_assert_eq(merged.members, parent.members);
  cr_assert(fabs(merged.x - parent.x) < 1e-9 && fabs(merged.y - parent.y) < 1e-9);
  cr_assert(fabs(merged.velocity_x - parent.velocity_x) < 1e-12 && fabs(merged.velocity_y - parent.velocity_y) < 1e-12);
  for (uint32_t t = 0; t < 2; t++)
    cr_assert(fabs(merged.totals[t] - parent.totals[t]) <= 1e-9 * fabs(parent.totals[t]));
  double radius = 10.0 / sqrt((double)tree->below[0] / (double)tree->below[herd_tree_depth(tree, node)]);
  for (uint32_t i = 0; i < count; i++) {
    cr_assert(children[i].members > 0);
    cr_assert(hypot(children[i].x - parent.x, children[i].y - parent.y) <= radius * 1.000001);
    cr_assert(hypot(children[i].velocity_x - parent.velocity_x, children[i].velocity_y - parent.velocity_y) <=
              2.000001);
  }
}

Test(herd_tree, split_and_merged_bodies_keep_number_centroid_momentum_and_totals) {
  const uint32_t shapes[][2] = {{2, 5}, {2, 10}, {3, 4}, {5, 3}, {32, 2}};
  for (uint32_t i = 0; i < COUNT_OF(shapes); i++) {
    herd_tree tree = tree_of(shapes[i][0], shapes[i][1]);
    for (uint32_t k = 0; k < 2000; k++)
      expect_conserved(&tree, k, (uint32_t)(random_at(k, 9, 0, 0) % tree.first[tree.depth]));
  }
}

Test(herd_tree, the_same_seed_and_node_give_the_same_children) {
  herd_tree tree = tree_of(2, 5);
  herd_body parent = random_body(&tree, 3, 1), one[HERD_CHILDREN_MAX], same[HERD_CHILDREN_MAX],
            other[HERD_CHILDREN_MAX];
  parent.members = 16;
  herd_split(&tree, &parent, &(herd_spread){10.0, 2.0, 0, 5}, one);
  herd_split(&tree, &parent, &(herd_spread){10.0, 2.0, 0, 5}, same);
  herd_split(&tree, &parent, &(herd_spread){10.0, 2.0, 0, 6}, other);
  for (uint32_t i = 0; i < 2; i++) {
    cr_assert(one[i].x <= same[i].x && one[i].x >= same[i].x && one[i].velocity_y <= same[i].velocity_y &&
              one[i].velocity_y >= same[i].velocity_y);
    cr_assert(fabs(one[i].x - other[i].x) > 1e-6);
  }
}

Test(herd_tree, an_only_child_stands_where_its_parent_stood) {
  herd_tree tree = tree_of(2, 5);
  herd_body parent = {.x = 3, .y = 4, .members = 1}, children[HERD_CHILDREN_MAX];
  cr_assert_eq(herd_split(&tree, &parent, &(herd_spread){10.0, 2.0, 0, 5}, children), 1);
  cr_assert(children[0].x <= 3 && children[0].x >= 3 && children[0].members == 1 && children[0].node == 1);
}

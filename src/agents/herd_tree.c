#include "agents/herd_tree.h"

#include "base/assert.h"
#include "base/random.h"

#include <muster/herd.h>

#include <math.h>

bool herd_tree_make(herd_tree *tree, uint32_t branching, uint32_t depth) {
  ASSERT(branching >= 2 && branching <= HERD_CHILDREN_MAX && depth >= 1 && depth <= MUSTER_HERD_DEPTHS);
  *tree = (herd_tree){.branching = branching, .depth = depth};
  uint32_t width = 1, first = 0;
  for (uint32_t d = 0; d <= depth; d++) {
    tree->first[d] = first;
    if (width > MUSTER_HERD_MEMBERS_MAX) return false;
    first += width;
    width *= branching;
  }
  tree->first[depth + 1] = first;
  for (uint32_t d = 0, below = 1; d <= depth; d++, below *= branching) tree->below[depth - d] = below;
  ASSERT(first <= HERD_NODES_MAX);
  for (uint32_t d = 0; d <= depth; d++)
    for (uint32_t node = tree->first[d]; node < tree->first[d + 1]; node++) {
      tree->depths[node] = (uint8_t)d;
      tree->places[node] = (uint16_t)((node - tree->first[d]) * tree->below[d]);
    }
  return true;
}

/* A random number in -1..1. */
static double random_side(uint64_t seed, uint32_t node, uint32_t counter) {
  return 2.0 * ((double)(random_at(seed, node, counter, 0) >> 11) * 0x1p-53) - 1.0;
}

/* A random point of the unit disc. */
static void random_point(uint64_t seed, uint32_t node, uint32_t counter, double *x, double *y) {
  *x = random_side(seed, node, counter);
  *y = random_side(seed, node, counter + 1);
  double square = *x * *x + *y * *y;
  if (square <= 1.0) return;
  *x /= square; /* mirrored into the disc, not drawn again: so each child has its own numbers */
  *y /= square;
}

/* The radius in which children may be drawn, so that none is further than 1 away once their centroid is corrected. */
static double drawn_radius(const herd_body *parent, const herd_body *children, uint32_t count) {
  uint32_t least = parent->members;
  for (uint32_t i = 0; i < count; i++)
    if (children[i].members < least) least = children[i].members;
  double others = 1.0 - (double)least / (double)parent->members;
  return others > 0.0 ? fmin(0.5 / others, 1.0) * (1.0 - 0x1p-20) : 0.0;
}

void herd_recentre(const herd_body *parent, herd_body *children, uint32_t count) {
  double x = 0, y = 0, velocity_x = 0, velocity_y = 0, members = 0;
  for (uint32_t i = 0; i < count; i++) {
    double weight = (double)children[i].members;
    x += weight * (children[i].x - parent->x);
    y += weight * (children[i].y - parent->y);
    velocity_x += weight * (children[i].velocity_x - parent->velocity_x);
    velocity_y += weight * (children[i].velocity_y - parent->velocity_y);
    members += weight;
  }
  for (uint32_t i = 0; i < count; i++) {
    children[i].x -= x / members;
    children[i].y -= y / members;
    children[i].velocity_x -= velocity_x / members;
    children[i].velocity_y -= velocity_y / members;
  }
}

/* The last child gets what is left, so that nothing is lost to rounding. */
void herd_deal_totals(const herd_body *parent, herd_body *children, uint32_t count, uint32_t totals) {
  for (uint32_t t = 0; t < totals; t++) {
    double left = parent->totals[t];
    for (uint32_t i = 0; i < count; i++) {
      double part = (double)children[i].members / (double)parent->members;
      children[i].totals[t] = i + 1 == count ? left : (double)(float)(parent->totals[t] * part);
      left -= children[i].totals[t];
    }
  }
}

uint32_t herd_split(const herd_tree *tree, const herd_body *parent, const herd_spread *spread, herd_body *children) {
  uint32_t count = 0, depth = herd_tree_depth(tree, parent->node);
  ASSERT(depth < tree->depth && parent->members > 0 && parent->members <= tree->below[depth]);
  for (uint32_t k = 0; k < tree->branching; k++) {
    uint32_t members = herd_tree_share(tree, parent->members, k);
    if (!members) break;
    children[count] = *parent;
    children[count].node = herd_tree_child(tree, parent->node, k);
    children[count++].members = members;
  }
  double drawn = drawn_radius(parent, children, count);
  double radius = drawn * spread->radius_m / sqrt((double)tree->below[0] / (double)tree->below[depth]);
  for (uint32_t i = 0; i < count; i++) {
    double x, y;
    random_point(spread->seed, children[i].node, 0, &x, &y);
    children[i].x += radius * x;
    children[i].y += radius * y;
    random_point(spread->seed, children[i].node, 2, &x, &y);
    children[i].velocity_x += drawn * spread->speed_mps * x;
    children[i].velocity_y += drawn * spread->speed_mps * y;
  }
  herd_recentre(parent, children, count);
  herd_deal_totals(parent, children, count, spread->totals);
  return count;
}

herd_body herd_merge(const herd_body *bodies, uint32_t count, uint32_t totals) {
  ASSERT(count > 0);
  herd_body merged = {.node = bodies[0].node};
  double z = 0;
  for (uint32_t i = 0; i < count; i++) merged.members += bodies[i].members;
  for (uint32_t i = 0; i < count; i++) {
    double part = (double)bodies[i].members / (double)merged.members;
    /* Differences from the first: positions far from zero keep their last digits. */
    merged.x += part * (bodies[i].x - bodies[0].x);
    merged.y += part * (bodies[i].y - bodies[0].y);
    z += part * bodies[i].z;
    merged.velocity_x += part * bodies[i].velocity_x;
    merged.velocity_y += part * bodies[i].velocity_y;
    for (uint32_t t = 0; t < totals; t++) merged.totals[t] += bodies[i].totals[t];
  }
  merged.x += bodies[0].x;
  merged.y += bodies[0].y;
  merged.z = z;
  return merged;
}

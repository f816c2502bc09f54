/* What is simulated in a world of herds, and how finely: looked at between timed cycles, in cycles of its own. */
#include "osborne.h"

#include <math.h>

/* A leaf and the player walk on between a look and what it leads to; and siblings wait for each other. */
static const double slack_m = 60, visible_m = 25;

static double distance_of(const osborne_world *it, muster_position place) {
  return hypot(place.x - it->place.x, place.y - it->place.y);
}

/* How far a leaf of a depth may be from the player before it is folded: its zone and the hysteresis. */
static double reach_of(uint32_t depth) {
  muster_herd_type_def def = muster_default_herd_type_def();
  return (OSBORNE_DEPTH - depth + 1) * (double)OSBORNE_ZONES_M * (1 + (double)def.hysteresis);
}

static bool inspect_leaves(const osborne_world *it, muster_herd herd, osborne_inspection *out) {
  muster_agent agents[OSBORNE_MEMBERS];
  uint32_t nodes[OSBORNE_MEMBERS];
  muster_agent_info info = muster_default_agent_info();
  uint32_t count = muster_herd_leaves(it->world, herd, agents, nodes, OSBORNE_MEMBERS);
  for (uint32_t i = 0; i < count; i++) {
    if (muster_agent_read(it->world, agents[i], &info) != MUSTER_OK) return false;
    double distance_m = distance_of(it, info.position);
    uint32_t depth = osborne_depth(nodes[i]);
    out->leaves++;
    out->too_coarse += distance_m < visible_m && depth < OSBORNE_DEPTH;
    out->too_fine += distance_m > reach_of(depth) + slack_m;
    out->individuals += depth == OSBORNE_DEPTH;
  }
  return true;
}

/* Places of all herds, in index order. */
static uint32_t read_places(const osborne_world *it, osborne_place *places) {
  muster_herd_info info = muster_default_herd_info();
  uint32_t count = 0;
  for (muster_herd herd = {0, 0}; count < it->def.herds && (herd = muster_herd_next(it->world, herd)).generation;
       count++)
    if (muster_herd_read(it->world, herd, &info) == MUSTER_OK)
      places[count] = (osborne_place){info.position.x, info.position.y, info.leaves == 0};
  return count;
}

bool osborne_inspect(osborne_world *it, osborne_place *before, osborne_inspection *out) {
  muster_herd_info info = muster_default_herd_info();
  uint32_t count = read_places(it, before);
  if (!osborne_cycle(it) || !osborne_look(it)) return false;
  for (muster_herd herd = {0, 0}; (herd = muster_herd_next(it->world, herd)).generation; before++, count--) {
    if (count == 0 || muster_herd_read(it->world, herd, &info) != MUSTER_OK) return false;
    if (!inspect_leaves(it, herd, out)) return false;
    if (!before->folded || info.leaves > 0) continue;
    out->folded++;
    out->moved += before->x != info.position.x || before->y != info.position.y;
  }
  out->cycles++;
  return count == 0;
}

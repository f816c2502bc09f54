/* A world of herds, and the player that walks among them. */
#include "osborne.h"

#include <math.h>

/* Far above what a frame takes, so that every agent that is due runs. */
static const uint64_t budget_ns = 10000000000;
static const double walk_mps = 1.4, turn_share = 1.0 / 8; /* the player's circle, by the side of the square */

/* What is near the player unfolds. Herds that wander go on changing for ever after, but as many fold as unfold. */
enum { SETTLING_CYCLES = 12, SETTLING_CYCLES_MAX = 1000, SETTLED_MORE = 16 };

/* The paper knows no importance: where agents are simulated, and how finely, follows from the zones alone. */
static const float sight_m = 0.01f;

/* The player walks around the middle. */
static muster_position player_place(const osborne_world *it) {
  double radius_m = it->def.side_m * turn_share;
  double angle = walk_mps * (double)it->cycle * (OSBORNE_CYCLE_NS * 1e-9) / radius_m;
  return (muster_position){radius_m * cos(angle), radius_m * sin(angle), 0};
}

static bool create(osborne_world *it) {
  muster_pool_def pool = muster_pool_def_default();
  muster_world_def world = muster_world_def_default();
  muster_observer_def player = muster_observer_def_default();
  pool.workers = it->workers;
  it->pool = muster_pool_create(&pool);
  if (!it->pool) return false;
  world.pool = it->pool;
  world.limits.agents_max = osborne_agents_max(&it->def);
  world.seed = it->def.seed;
  world.watch.stuck_ns =
      0; /* a worker that the machine keeps from its work is waited for: it is the whole cycle that counts */
  it->world = muster_world_create(&world);
  if (!it->world || osborne_populate(it->world, &it->def, &it->type) != MUSTER_OK) return false;
  player.position = player_place(it);
  player.near_m = 0;
  player.far_m = sight_m;
  it->player = muster_observer_add(it->world, &player);
  return !muster_observer_is_null(it->player);
}

/* The last part of a cycle inspects its result, which is not timed. */
bool osborne_cycle(osborne_world *it) {
  it->cycle++;
  it->place = player_place(it);
  return muster_observer_move(it->world, it->player, it->place) == MUSTER_OK &&
         muster_frame_run(it->world, &(muster_frame){it->cycle * OSBORNE_CYCLE_NS, budget_ns}) == MUSTER_OK;
}

bool osborne_look(osborne_world *it) {
  it->report = muster_frame_report_default();
  return muster_frame_report_read(it->world, &it->report) == MUSTER_OK;
}

static bool settle(osborne_world *it) {
  for (int i = 0; i < SETTLING_CYCLES_MAX; i++) {
    if (!osborne_cycle(it) || !osborne_look(it)) return false;
    bool balanced = it->report.unfolds <= SETTLED_MORE + it->report.folds * 5 / 4;
    if (i >= SETTLING_CYCLES && balanced) break;
  }
  muster_statistics_clear(it->world);
  return true;
}

bool osborne_open(osborne_world *it, const osborne_def *def, uint32_t workers) {
  *it = (osborne_world){.def = *def, .workers = workers};
  return create(it) && settle(it);
}

void osborne_close(osborne_world *it) {
  muster_world_destroy(it->world);
  muster_pool_destroy(it->pool);
  *it = (osborne_world){0};
}

osborne_counts osborne_count(const osborne_world *it) {
  muster_statistics statistics = muster_statistics_default();
  const muster_frame_report *report = &it->report;
  muster_statistics_read(it->world, &statistics);
  osborne_counts counts = {.agents = report->represented,
                           .leaves = report->leaves,
                           .herds = report->herds_folded + report->herds_unfolded,
                           .unfolded = report->herds_unfolded,
                           .bytes = statistics.bytes_used,
                           .bytes_folded = statistics.bytes_folded,
                           .bytes_unfolded = statistics.bytes_unfolded,
                           .folds = statistics.folds,
                           .unfolds = statistics.unfolds,
                           .refused = statistics.unfolds_refused,
                           .changed_in_sight = statistics.changes_in_sight};
  counts.bytes_each_folded = report->herds_folded ? (double)counts.bytes_folded / report->herds_folded : (double)NAN;
  counts.bytes_each_unfolded = counts.unfolded ? (double)counts.bytes_unfolded / counts.unfolded : (double)NAN;
  return counts;
}

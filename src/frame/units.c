/* units.c - see units.h. Looks at each window of frames as a whole: one frame may be short for any reason. */
#include "frame/units.h"

#include "agents/nearby.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/error.h"
#include "world/frame_state.h"
#include "world/world_herds.h"
#include "world/world_observers.h"
#include "world/world_sums.h"

#include <math.h>

enum {
  WINDOW = 128, /* frames */
  /* No server has more than 6,700 frames a second. One with more than 1,400 (100 ns ticks, taken for nanoseconds, at 15
   * frames a second) must have them by the wall, too. */
  STEP_LEAST_NS = 150000,
  STEP_PACED_NS = 700000,
  STANDS_STILL = 20,       /* the wall clock is so many times as fast */
  BUDGET_PARTS = 500,      /* a budget of a smaller part of a frame, */
  BUDGET_LESS_NS = 100000, /* and of less time */
  LOOKED_OBSERVERS = 16,   /* that are looked at, */
  LOOKED_AGENTS = 1024,    /* and agents */
  LOOKED_LEAST = 8,
  LOOKS_MOST = 8,
  CENTIMETRES = 100
};

/* ------------------------------------------------------------------------------------------------------------ time */

/* Whether simulation time moved, but by less than a server's does. */
static bool hardly_moves(const struct muster_world *world, const units_watch *watch) {
  if (!watch->moved_ns || watch->step_most_ns >= STEP_PACED_NS) return false;
  if (watch->step_most_ns < STEP_LEAST_NS) return true;
  return world->timed && watch->wall_ns && clock_now(world->clock) - watch->wall_ns > STANDS_STILL * watch->moved_ns;
}

static void look_at_time(struct muster_world *world, units_watch *watch) {
  watch->hardly_moves = hardly_moves(world, watch);
  if (watch->hardly_moves && !watch->time_told) {
    watch->time_told = true;
    log_write(&world->def.log, MUSTER_LOG_WARNING,
              "frame %llu: simulation time hardly moves: by %llu ns in %d frames, and never by more than %llu ns at "
              "once; sim_now_ns and all times are nanoseconds (a millisecond is 1000000)",
              (unsigned long long)world->frames, (unsigned long long)watch->moved_ns, WINDOW,
              (unsigned long long)watch->step_most_ns);
  }
  if (watch->budgets_small == WINDOW && !watch->budget_told) {
    watch->budget_told = true;
    log_write(&world->def.log, MUSTER_LOG_WARNING,
              "frame %llu: a budget of %llu ns is less than a %dth of a frame (%llu ns); budget_ns is nanoseconds (a "
              "millisecond is 1000000)",
              (unsigned long long)world->frames, (unsigned long long)world->sums->report.budget_ns, BUDGET_PARTS,
              (unsigned long long)world->frame->elapsed_ns);
  }
}

/* ---------------------------------------------------------------------------------------------------------- places */

static bool sees_anybody(const struct muster_world *world, const observer_row *observer) {
  struct neighbour found;
  nearby_looks looks;
  agent_place centre = {0};
  space_place(&world->agents.space, &centre, observer->position);
  centre.partition = observer->partition;
  nearby_query query = {
      .index = NEARBY_NO_AGENT, .type = NEARBY_ALL_TYPES, .radius_m = observer->far_m, .centre = &centre};
  return nearby_find(&world->agents.space, &world->agents.store, &query, &found, 1, &looks) > 0 || looks.cut;
}

/* How far the nearest of some agents is from an observer that sees none. */
static double nearest_m(const struct muster_world *world, const observer_row *observer) {
  double best = INFINITY;
  uint32_t looked = 0;
  for (uint32_t i = 0; looked < LOOKED_AGENTS && store_finds(&world->agents.store, &i); i++, looked++) {
    if (world->agents.store.places[i].partition != observer->partition) continue;
    muster_position at = world_position(world, i);
    double distance_m = hypot(at.x - observer->position.x, at.y - observer->position.y);
    if (distance_m < best) best = distance_m;
  }
  return best;
}

/* Nobody sees anybody, and would if the positions were divided by 100. */
static void look_at_places(struct muster_world *world, units_watch *watch) {
  const observer_table *table = &world->observers->table;
  const observer_row *lonely = NULL;
  uint32_t looked = 0;
  ASSERT(watch->looks <= LOOKS_MOST && table->high <= table->maximum);
  if (world->agents.store.active_count < LOOKED_LEAST || watch->looks == LOOKS_MOST || world->herds->table.count)
    return;
  for (uint32_t i = 0; i < table->high && looked < LOOKED_OBSERVERS; i++) {
    if (!table->rows[i].present) continue;
    looked++;
    lonely = &table->rows[i];
    if (sees_anybody(world, lonely)) {
      watch->looks = LOOKS_MOST; /* not again: somebody is seen */
      return;
    }
  }
  if (!lonely) return;
  watch->looks++;
  double away_m = watch->looks == LOOKS_MOST ? nearest_m(world, lonely) : INFINITY;
  if (away_m > CENTIMETRES * (double)lonely->far_m) return;
  log_write(&world->def.log, MUSTER_LOG_WARNING,
            "frame %llu: no agent is near any observer: the nearest is %.17g m away, and an observer sees as far as "
            "far_m = %g m; positions and far_m are metres (centimetres, divided by 100)",
            (unsigned long long)world->frames, away_m, (double)lonely->far_m);
}

void units_look(struct muster_world *world) {
  units_watch *watch = &world->sums->units;
  uint64_t step_ns = world->frame->elapsed_ns;
  ASSERT(watch->frames < WINDOW && step_ns <= world->frame->now_ns);
  watch->moved_ns += step_ns;
  if (step_ns > watch->step_most_ns) watch->step_most_ns = step_ns;
  uint64_t budget_ns = world->sums->report.budget_ns;
  watch->budgets_small += budget_ns < BUDGET_LESS_NS && budget_ns < step_ns / BUDGET_PARTS;
  if (++watch->frames == WINDOW) {
    look_at_time(world, watch);
    look_at_places(world, watch);
    watch->frames = watch->budgets_small = 0;
    watch->moved_ns = watch->step_most_ns = 0;
    watch->wall_ns = world->timed ? clock_now(world->clock) : 0;
  }
  world->sums->report.time_hardly_moves = watch->hardly_moves;
}

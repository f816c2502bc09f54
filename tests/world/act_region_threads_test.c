/* Actions by region: the agents of one region act one at a time, in agent order, while other regions act beside them.
 * So what the host keeps for a region needs neither locks nor atomics, and a question may be asked before the answer is
 * used: is the seat free? Runs under ThreadSanitizer, too. */
#include "world/fixture.h"

#include <sched.h>
#include <stdatomic.h>

enum { CELLS = 24, AGENTS = 480, FRAMES = 30, PATIENCE = 200000 };

/* What the host keeps for one region: only the region's agents touch it, while no other agent of the region acts. */
struct cell {
  _Alignas(64) uint64_t region;
  uint64_t acts;
  muster_agent inside, seated, first; /* first: of this frame, as the two below */
  uint32_t last, acted;
  uint64_t mixed, out_of_order;
};

static struct town {
  struct cell cells[CELLS];
  uint32_t patience;
  atomic_uint inside, met; /* met: two regions' agents acted at the same time */
} town;

/* Until two regions were seen acting at the same time, agents wait for another one, within bounds. */
static void meet(void) {
  atomic_fetch_add(&town.inside, 1);
  for (uint32_t i = 0; i < town.patience && !atomic_load(&town.met); i++) {
    if (atomic_load(&town.inside) > 1) atomic_store(&town.met, 1);
    sched_yield();
  }
  atomic_fetch_sub(&town.inside, 1);
}

static muster_atom_result visit(muster_update *update) {
  struct cell *cell = &town.cells[(uint32_t)(update->position.x / 10.0)];
  cell->mixed += !muster_agent_is_null(cell->inside);
  cell->mixed += cell->region && cell->region != muster_update_region(update);
  cell->region = muster_update_region(update);
  cell->inside = update->agent;
  bool free = muster_agent_is_null(cell->seated);
  uint64_t acts = cell->acts;
  meet();
  if (muster_agent_index(update->agent) % 7 == 0) sched_yield();
  cell->mixed += !muster_agent_equal(cell->inside, update->agent) || acts != cell->acts;
  cell->acts = acts + 1;
  if (free) cell->seated = update->agent;
  if (cell->acted == 0) cell->first = update->agent;
  cell->out_of_order += cell->acted > 0 && muster_agent_index(update->agent) <= cell->last;
  cell->last = muster_agent_index(update->agent);
  cell->acted++;
  cell->inside = (muster_agent){0};
  return MUSTER_ATOM_NEXT;
}

/* The agents of a region have acted once each at most, in order, and the first of them has the seat. */
static void check(uint32_t region, const struct cell *cell) {
  cr_assert_eq(cell->mixed, 0, "cell %u: two acted in it at the same time", region);
  cr_assert_eq(cell->out_of_order, 0);
  cr_assert_leq(cell->acted, AGENTS / CELLS);
  cr_assert(muster_agent_equal(cell->seated, cell->first), "cell %u: agent %u sat down", region,
            muster_agent_index(cell->seated));
}

/* In each frame in which agents are due all of them act. */
static void check_all(const muster_agent agents[AGENTS]) {
  for (uint32_t i = 0; i < CELLS; i++) {
    uint32_t first = 0;
    while (first * 7 % CELLS != i) first++;
    cr_assert_eq(town.cells[i].acted, AGENTS / CELLS);
    cr_assert(muster_agent_equal(town.cells[i].first, agents[first]));
  }
}

static void run_town(muster_clock clock) {
  muster_agent agents[AGENTS];
  /* Then all workers are called, however little there is to do, and what updates take on a busy machine, which
   * stretches periods, is nothing to the world. */
  bool virtual = clock == MUSTER_CLOCK_VIRTUAL;
  town = (struct town){.patience = virtual ? PATIENCE : 10};
  SCOPED_WORLD little =
      little_world_of(4, WITH(muster_world_def, it.clock.kind = clock, it.cell_m = 10.0f, it.limits.agents_max = 4096));
  add_type(&little, actors_running(visit, 2000, MUSTER_ACT_REGION));
  for (uint32_t i = 0; i < AGENTS; i++) agents[i] = spawn_at(&little, i * 7 % CELLS * 10.0 + i % 9);
  for (uint32_t frame = 0; frame < FRAMES; frame++) {
    muster_frame_report report = run_frame_with(&little, virtual ? 5000000u : 9000000000u);
    if (virtual) cr_assert_eq(report.actions_waiting, 0);
    if (virtual && report.completed > 0) check_all(agents);
    for (uint32_t i = 0; i < CELLS; i++) {
      struct cell *cell = &town.cells[i];
      check(i, cell);
      cell->seated = cell->first = (muster_agent){0};
      cell->acted = 0;
    }
  }
  uint64_t acts = 0;
  for (uint32_t i = 0; i < CELLS; i++) acts += town.cells[i].acts;
  cr_assert_eq(acts, statistics_of(&little).completed);
  cr_assert_geq(acts, virtual ? (FRAMES - 1) * AGENTS : AGENTS);
  cr_assert(!virtual || atomic_load(&town.met), "never did two regions act beside each other");
}

Test(act_region_threads, one_at_a_time_and_in_order_within_a_region_beside_others) {
  run_town(MUSTER_CLOCK_VIRTUAL);
}
Test(act_region_threads, also_on_the_wall_clock) {
  run_town(MUSTER_CLOCK_WALL);
}

/* Hosts that free at the call what their removed agents read, and hosts of planners. */
#include "support/burn.h"
#include "support/planned_world.h"
#include "world/fixture.h"

/* ------------------------------------------------------------------------------------------------- hosts that free */

enum { LIVING = 0x11fe11fe, SOULS = 600 };

/* What an agent's user pointer points at. AddressSanitizer sees who reads it after its end; else it stays and tells. */
struct soul {
  uint32_t lives, number;
  struct soul *next;
};

struct host {
  little_world little;
  muster_type types[3];
  muster_agent agents[SOULS];
  struct soul *souls[SOULS], *dead;
};

static uint32_t dangling; /* updates and plan entries with a dead soul */

static void bury(struct host *host, struct soul *soul) {
  soul->lives = 0;
#if UNDER_SANITIZER && !UNDER_THREAD_SANITIZER
  (void)host;
  free(soul);
#else
  soul->next = host->dead;
  host->dead = soul;
#endif
}

static muster_atom_result live(muster_update *update) {
  const struct soul *soul = update->user;
  __atomic_fetch_add(&dangling, soul->lives != LIVING, __ATOMIC_RELAXED);
  spend(2000);
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result live_and_wake(muster_update *update) {
  muster_neighbour near[2];
  uint32_t count = muster_update_nearby(update, 10.0f, (muster_type){0}, near, 2);
  for (uint32_t i = 0; i < count; i++) muster_update_wake(update, near[i].agent);
  return live(update);
}

/* One type that acts, one of several long atoms, and one with sets. */
static void register_souls(struct host *host) {
  static const muster_atom acting[] = {{live, MUSTER_ROLE_BEHAVIOUR, 4000}, {live, MUSTER_ROLE_ACTION, 4000}};
  const muster_atom then = acting[0], long_ones[] = {{live_and_wake, MUSTER_ROLE_PERCEPTION, 4000}, then, then, then};
  muster_set_def sets[2] = {
      WITH(muster_set_def, it.atoms = long_ones, it.atom_count = 4, it.mode = MUSTER_MODE_SLICEABLE),
      WITH(muster_set_def, it.atoms = acting, it.atom_count = 1, it.period_updates = 3)};
  muster_type_def defs[3] = {type_with(acting, 2), type_with(long_ones, 4),
                             WITH(muster_type_def, it.sets.list = sets, it.sets.count = 2)};
  for (uint32_t i = 0; i < 3; i++) {
    defs[i].period_ns = FRAME_NS;
    host->types[i] = add_type(&host->little, defs[i]);
  }
}

static void bear(struct host *host, uint32_t number) {
  host->souls[number] = malloc(sizeof(struct soul));
  *host->souls[number] = (struct soul){LIVING, number, NULL};
  host->agents[number] = spawn_as(
      &host->little, WITH(muster_agent_def, it.type = host->types[number % 3], it.position.x = number % 25 * 3.0,
                          it.position.y = number / 25.0 * 3.0, it.user = host->souls[number]));
}

/* Frames with too little time, so that agents are carried, held, preempted, woken and wait for their actions. */
static void run_host(muster_clock clock, uint32_t workers, uint32_t frames) {
  SCOPED(free_memory) struct host *host = calloc(1, sizeof *host);
  host->little =
      little_world_of(workers, WITH(muster_world_def, it.clock.kind = clock, it.limits.agents_max = 4 * SOULS));
  register_souls(host);
  for (uint32_t i = 0; i < SOULS; i++) bear(host, i);
  dangling = 0;
  for (uint32_t frame = 0; frame < frames; frame++) {
    run_frame_with(&host->little, 300000);
    for (uint32_t i = frame % 5; i < SOULS; i += 5) {
      if (i % 2) muster_agent_wake(host->little.world, host->agents[i]);
      cr_assert_eq(muster_agent_remove(host->little.world, host->agents[i]), MUSTER_OK);
      bury(host, host->souls[i]);
      bear(host, i);
    }
  }
  muster_statistics sums = statistics_of(&host->little);
  cr_assert(sums.preempted && sums.carried && sums.woken && sums.removed > frames, "%lu preempted, %lu carried",
            sums.preempted, sums.carried);
  cr_assert_eq(dangling, 0);
  little_world_destroy(&host->little);
  for (struct soul *soul = host->dead, *next; soul; soul = next) next = soul->next, free(soul);
  for (uint32_t i = 0; i < SOULS; i++) free(host->souls[i]);
}

Test(removal_hosts, between_frames_lets_a_host_free_at_the_call) {
  run_host(MUSTER_CLOCK_VIRTUAL, 2, 200);
  run_host(MUSTER_CLOCK_WALL, 2, 200);
}

/* ------------------------------------------------------------------------------------------------ hosts of planners */

/* However slow the machine is, all that they lose and get in 60 frames has room: an intake takes 256 at least. */
enum { OF_PLANNERS = 300 };

struct planner {
  planned_world *planned;
  muster_agent agents[OF_PLANNERS];
  bool present[OF_PLANNERS];
  uint32_t dangling, planned_entries;
};

static void plan_spawn(struct planner *planner, uint32_t number) {
  planner->agents[number] = spawn_as(
      &planner->planned->little, WITH(muster_agent_def, it.position.x = number, it.user = (void *)(uintptr_t)number));
  planner->present[number] = true;
}

static void plan_remove(struct planner *planner, uint32_t number) {
  if (!planner->present[number]) return;
  cr_assert_eq(muster_agent_remove(planner->planned->little.world, planner->agents[number]), MUSTER_OK);
  planner->present[number] = false;
}

/* Runs half of the plan, in steps, and removes meanwhile. Entries of removed agents are reported as well. */
static void run_half(struct planner *planner, uint32_t frame) {
  planned_world *planned = planner->planned;
  uint32_t count = plan(planned);
  planner->planned_entries += count;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t number = (uint32_t)planned->entries[i].user;
    bool own = muster_agent_equal(planned->entries[i].agent, planner->agents[number]);
    planner->dangling += !own || !planner->present[number];
  }
  run_entries(planned, count, 3);
  for (uint32_t i = 0; i < count; i++) planned->results[i].moved = 1;
  for (uint32_t i = frame % 7; i < OF_PLANNERS; i += 7) plan_remove(planner, i);
  report(planned, count / 2);
}

static void run_planner(muster_clock clock) {
  struct planner planner = {0};
  muster_world_def def = WITH(muster_world_def, it.clock.kind = clock, it.limits.agents_max = 16 * OF_PLANNERS,
                              it.limits.commands_max = 16);
  muster_type_def type = WITH(muster_type_def, it.parts.count = 3, it.parts.part_ns = 1000, it.period_ns = FRAME_NS);
  planner.planned = planned_world_of(&def, type, 0);
  for (uint32_t i = 0; i < OF_PLANNERS; i++) plan_spawn(&planner, i);
  for (uint32_t frame = 0; frame < 60; frame++) {
    run_half(&planner, frame);
    for (uint32_t i = frame % 3; i < OF_PLANNERS; i += 3) plan_remove(&planner, i);
    for (uint32_t i = 0; i < OF_PLANNERS; i++)
      if (!planner.present[i]) plan_spawn(&planner, i);
  }
  cr_assert_gt(planner.planned_entries, 500, "%u", planner.planned_entries);
  cr_assert_eq(planner.dangling, 0, "of %u entries", planner.planned_entries);
  planned_world_destroy(planner.planned);
}

Test(removal_hosts, is_never_planned_for_again) {
  run_planner(MUSTER_CLOCK_VIRTUAL);
  run_planner(MUSTER_CLOCK_WALL);
}

Test(removal_hosts, of_an_entry_of_the_open_plan_drops_its_result) {
  muster_world_def def = muster_world_def_default();
  muster_type_def type = WITH(muster_type_def, it.parts.count = 1, it.period_ns = FRAME_NS);
  SCOPED(planned_world_end) planned_world *planned = planned_world_of(&def, type, 10);
  while (plan_with(planned, 1000000000u, ENTRIES_MAX) < 10) report(planned, 0);
  run_entries(planned, 10, 1);
  for (uint32_t i = 0; i < 10; i++) planned->results[i].cost_ns = 1000;
  for (uint32_t i = 0; i < 4; i++) muster_agent_remove(planned->little.world, planned->entries[i].agent);
  muster_frame_report told = report(planned, 10);
  cr_assert_eq(told.completed, 6);
  cr_assert_eq(told.update_cpu_ns, 10000, "they took their time");
  muster_agent gone = planned->entries[0].agent;
  plan(planned);
  for (uint32_t i = 0; i < planned->plan.count; i++) cr_assert_not(muster_agent_equal(planned->entries[i].agent, gone));
  cr_assert_eq(report(planned, 0).agents, 6);
}

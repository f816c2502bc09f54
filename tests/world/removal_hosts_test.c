/* Hosts that free at the call what their removed agents read, and hosts of planners. */
#include "support/full_frames.h"
#include "support/planned_world.h"
#include "support/sanitized.h"

#include <muster/sets.h>

#include <stdlib.h>

/* ------------------------------------------------------------------------------------------------- hosts that free */

enum { LIVING = 0x11fe11fe, SOULS = 600 };

/* What an agent's user pointer points at. AddressSanitizer sees who reads it after its end; without it, it stays and
 * tells by itself. */
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

static void spend(uint32_t turns) {
  for (volatile uint32_t i = 0; i < turns; i++) continue;
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
  static const muster_atom long_ones[] = {{live_and_wake, MUSTER_ROLE_PERCEPTION, 4000},
                                          {live, MUSTER_ROLE_BEHAVIOUR, 4000},
                                          {live, MUSTER_ROLE_BEHAVIOUR, 4000},
                                          {live, MUSTER_ROLE_BEHAVIOUR, 4000}};
  muster_set_def sets[2] = {muster_set_def_default(), muster_set_def_default()};
  sets[0].atoms = long_ones;
  sets[0].atom_count = 4;
  sets[0].mode = MUSTER_MODE_SLICEABLE;
  sets[1].atoms = acting;
  sets[1].atom_count = 1;
  sets[1].period_updates = 3;
  muster_type_def defs[3] = {type_with(acting, 2), type_with(long_ones, 4), muster_type_def_default()};
  defs[2].sets.list = sets;
  defs[2].sets.count = 2;
  for (uint32_t i = 0; i < 3; i++) {
    defs[i].period_ns = FRAME_NS;
    host->types[i] = muster_type_register(host->little.world, &defs[i]);
    cr_assert_neq(host->types[i].index, 0, "%s", muster_last_error());
  }
}

static void bear(struct host *host, uint32_t number) {
  muster_agent_def def = muster_agent_def_default();
  host->souls[number] = malloc(sizeof(struct soul));
  *host->souls[number] = (struct soul){LIVING, number, NULL};
  def.type = host->types[number % 3];
  def.position = (muster_position){number % 25 * 3.0, number / 25.0 * 3.0, 0};
  def.user = host->souls[number];
  host->agents[number] = muster_agent_spawn(host->little.world, &def);
  cr_assert_not(muster_agent_is_null(host->agents[number]), "%s", muster_last_error());
}

static void kill_soul(struct host *host, uint32_t number) {
  cr_assert_eq(muster_agent_remove(host->little.world, host->agents[number]), MUSTER_OK);
  bury(host, host->souls[number]);
}

static void end_host(struct host *host) {
  destroy_full(host->little.world);
  if (host->little.pool) muster_pool_destroy(host->little.pool);
  for (struct soul *soul = host->dead, *next; soul; soul = next) next = soul->next, free(soul);
  for (uint32_t i = 0; i < SOULS; i++) free(host->souls[i]);
  free(host);
}

/* Frames with too little time, so that agents are carried, held, preempted, woken and wait for their actions. */
static void run_host(muster_clock clock, uint32_t workers, uint32_t frames) {
  struct host *host = calloc(1, sizeof *host);
  muster_world_def def = muster_world_def_default();
  def.clock.kind = clock;
  def.limits.agents_max = 4 * SOULS;
  host->little = little_world_create(workers, &def);
  register_souls(host);
  for (uint32_t i = 0; i < SOULS; i++) bear(host, i);
  dangling = 0;
  muster_statistics sums = muster_statistics_default();
  for (uint32_t frame = 0; frame < frames; frame++) {
    run_frame_with(&host->little, 300000);
    for (uint32_t i = frame % 5; i < SOULS; i += 5) {
      if (i % 2) muster_agent_wake(host->little.world, host->agents[i]);
      kill_soul(host, i);
      bear(host, i);
    }
  }
  muster_statistics_read(host->little.world, &sums);
  cr_assert(sums.preempted && sums.carried && sums.woken && sums.removed > frames, "%lu preempted, %lu carried",
            (unsigned long)sums.preempted, (unsigned long)sums.carried);
  cr_assert_eq(dangling, 0);
  end_host(host);
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
  muster_agent_def def = muster_agent_def_default();
  def.type = planner->planned->little.type;
  def.position = (muster_position){number, 0, 0};
  def.user = (void *)(uintptr_t)number;
  planner->agents[number] = muster_agent_spawn(planner->planned->little.world, &def);
  cr_assert_not(muster_agent_is_null(planner->agents[number]), "%s", muster_last_error());
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
  uint32_t count = plan(planned), all = (uint32_t)(sizeof planner->agents / sizeof *planner->agents);
  planner->planned_entries += count;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t number = (uint32_t)planned->entries[i].user;
    bool own = muster_agent_equal(planned->entries[i].agent, planner->agents[number]);
    planner->dangling += !own || !planner->present[number];
  }
  for (uint32_t i = 0; i < count; i++) {
    planned->results[i] = result_as_planned(&planned->entries[i], 3);
    planned->results[i].moved = 1;
  }
  for (uint32_t i = frame % 7; i < all; i += 7) plan_remove(planner, i);
  report(planned, count / 2);
}

static void run_planner(muster_clock clock) {
  struct planner planner = {0};
  uint32_t all = (uint32_t)(sizeof planner.agents / sizeof *planner.agents);
  muster_world_def def = muster_world_def_default();
  def.clock.kind = clock;
  def.limits.agents_max = 16 * all;
  def.limits.commands_max = 16;
  planner.planned = planned_world_create(&def);
  muster_type_def type = parts_type(3);
  type.period_ns = FRAME_NS;
  type.parts.part_ns = 1000;
  register_type(&planner.planned->little, &type);
  for (uint32_t i = 0; i < all; i++) plan_spawn(&planner, i);
  for (uint32_t frame = 0; frame < 60; frame++) {
    run_half(&planner, frame);
    for (uint32_t i = frame % 3; i < all; i += 3) plan_remove(&planner, i);
    for (uint32_t i = 0; i < all; i++)
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
  planned_world *planned = planned_world_create(&def);
  muster_type_def type = parts_type(1);
  type.period_ns = FRAME_NS;
  register_type(&planned->little, &type);
  for (uint32_t i = 0; i < 10; i++) spawn_at(&planned->little, i);
  while (plan_with(planned, 1000000000u, ENTRIES_MAX) < 10) report(planned, 0);
  for (uint32_t i = 0; i < 10; i++) planned->results[i] = result_as_planned(&planned->entries[i], 1);
  for (uint32_t i = 0; i < 10; i++) planned->results[i].cost_ns = 1000;
  for (uint32_t i = 0; i < 4; i++) muster_agent_remove(planned->little.world, planned->entries[i].agent);
  muster_frame_report told = report(planned, 10);
  cr_assert_eq(told.completed, 6);
  cr_assert_eq(told.update_cpu_ns, 10000, "they took their time");
  muster_agent gone = planned->entries[0].agent;
  plan(planned);
  for (uint32_t i = 0; i < planned->plan.count; i++) cr_assert_not(muster_agent_equal(planned->entries[i].agent, gone));
  cr_assert_eq(report(planned, 0).agents, 6);
  planned_world_destroy(planned);
}

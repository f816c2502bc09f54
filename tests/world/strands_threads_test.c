/* Strands: agents on one never run at the same time, and run in one order on any number of workers. */
#include "agents/batch.h"
#include "support/burn.h"
#include "world/fixture.h"

#include <stdatomic.h>

enum { AGENTS = 600, STRANDS = 5, FRAMES = 40 };

/* What the agents on one strand share, without a lock. */
typedef struct strand_data {
  atomic_uint inside;
  uint64_t order; /* of all updates so far */
  char apart[48];
} strand_data;

static strand_data strands[STRANDS];
static atomic_uint together;
static uint64_t burnt_ns; /* by an update */

static uint32_t strand_of(muster_agent agent, const void *state, void *user) {
  (void)state, (void)user;
  return muster_agent_index(agent) % 7; /* modulo 5 */
}

static muster_atom_result write_shared(muster_update *update) {
  uint32_t index = muster_agent_index(update->agent);
  strand_data *own = &strands[index % 7 % STRANDS];
  if (atomic_fetch_add(&own->inside, 1) > 0) atomic_fetch_add(&together, 1);
  for (volatile uint32_t i = 0; i < 300; i++) continue;
  if (burnt_ns) burn(burnt_ns);
  own->order = (own->order ^ index ^ update->now_ns) * 0x9e3779b97f4a7c15u;
  ++*(uint64_t *)update->state;
  atomic_fetch_sub(&own->inside, 1);
  return MUSTER_ATOM_NEXT;
}

static muster_type_def on_strands(void) {
  return CHANGED(type_running(write_shared, 20000), it.state_bytes = 8, it.period_ns = it.period_max_ns = 2 * FRAME_NS,
                 it.strands.count = STRANDS, it.strands.of = strand_of);
}

typedef struct strands_outcome {
  uint64_t orders[STRANDS], updates, hash, held;
} strands_outcome;

static strands_outcome run_with(uint32_t workers, muster_clock clock, uint64_t budget_ns) {
  SCOPED_WORLD little = little_world_of(workers, WITH(muster_world_def, it.clock.kind = clock));
  memset(strands, 0, sizeof strands);
  muster_type stranded = add_type(&little, on_strands());
  muster_type other = add_type(&little, type_with(&(muster_atom){.run = nothing}, 1));
  for (uint32_t i = 0; i < AGENTS; i++) spawn_as(&little, WITH(muster_agent_def, it.type = i % 3 ? stranded : other));
  strands_outcome outcome = {0};
  for (uint32_t i = 0; i < FRAMES; i++) {
    run_frame_with(&little, budget_ns);
    outcome.held += little.world->batch->held_count;
  }
  outcome.hash = muster_world_hash(little.world);
  for (uint32_t k = 0; k < STRANDS; k++) outcome.orders[k] = strands[k].order;
  muster_agent_info info = muster_agent_info_default();
  for (muster_agent agent = {0}; !muster_agent_is_null(agent = muster_agent_next(little.world, agent));)
    if (muster_agent_read(little.world, agent, &info) == MUSTER_OK && info.state)
      outcome.updates += *(const uint64_t *)info.state;
  return outcome;
}

static strands_outcome run(uint32_t workers, muster_clock clock) {
  return run_with(workers, clock, 5000000);
}

Test(strands, the_updates_of_one_strand_never_run_together) {
  for (uint32_t workers = 1; workers <= 8; workers *= 2) {
    strands_outcome virtual = run(workers, MUSTER_CLOCK_VIRTUAL), wall = run(workers, MUSTER_CLOCK_WALL);
    cr_assert_gt(virtual.updates, AGENTS);
    cr_assert_gt(wall.updates, 0);
    cr_assert_eq(together, 0, "%u updates met another one on their strand, with %u workers", together, workers);
  }
}

Test(strands, their_order_is_the_same_on_any_number_of_workers) {
  strands_outcome one = run(1, MUSTER_CLOCK_VIRTUAL);
  for (uint32_t workers = 2; workers <= 16; workers *= 2) {
    strands_outcome many = run(workers, MUSTER_CLOCK_VIRTUAL);
    cr_assert_eq(one.hash, many.hash);
    cr_assert_eq(one.updates, many.updates);
    for (uint32_t k = 0; k < STRANDS; k++) cr_assert_eq(one.orders[k], many.orders[k], "strand %u", k);
  }
}

/* A frame has time for a part of the agents: what it did not run leads the next one, beside its planning. How long it
 * has to be for a part is the machine's to say. */
Test(strands, updates_that_were_held_over_do_not_run_together_either) {
  uint64_t held = 0;
  burnt_ns = 200000;
  for (uint64_t budget_ns = 5000000; held == 0 && budget_ns <= 80000000; budget_ns *= 2)
    for (uint32_t workers = 2; workers <= 8; workers *= 2) {
      held += run_with(workers, MUSTER_CLOCK_WALL, budget_ns).held;
      cr_assert_eq(together, 0, "%u updates met another one on their strand, with %u workers", together, workers);
    }
  cr_assert_gt(held, 0);
}

enum { MOTHERS = 300, BEARING = 3 }; /* frames in which they bear */

static muster_atom_result bear_one(muster_update *update) {
  muster_agent_def def = WITH(muster_agent_def, it.type = update->type);
  uint32_t *children = update->state;
  if (update->now_ns <= BEARING * FRAME_NS && !muster_agent_is_null(muster_update_spawn(update, &def))) ++*children;
  return MUSTER_ATOM_NEXT;
}

/* Updates that were gathered by strand spawn in another order than that in which they were ranked. */
Test(strands, newborns_of_updates_are_all_there) {
  for (uint32_t workers = 1; workers <= 4; workers *= 4) {
    SCOPED_WORLD little = little_world_create(workers, NULL);
    add_type(&little, CHANGED(due_every(FRAME_NS, type_running(bear_one, 1000)), it.state_bytes = 8, it.spawns_max = 1,
                              it.strands.count = STRANDS, it.strands.of = strand_of));
    for (uint32_t i = 0; i < MOTHERS; i++) spawn_at(&little, i);
    uint32_t borne = 0, living = 0;
    run_frames(&little, BEARING + 2); /* those of the last frame are let in */
    muster_agent_info info = muster_agent_info_default();
    for (muster_agent agent = {0}; !muster_agent_is_null(agent = muster_agent_next(little.world, agent)); living++)
      if (muster_agent_read(little.world, agent, &info) == MUSTER_OK) borne += *(const uint32_t *)info.state;
    cr_assert_geq(borne, 2 * MOTHERS);
    cr_assert_eq(living, MOTHERS + borne, "%u live, %u were borne", living, borne);
  }
}

Test(strands, impossible_definitions_are_refused) {
  SCOPED_WORLD little = little_world_create(1, NULL);
  const muster_type_def wrong[] = {CHANGED(on_strands(), it.strands.count = MUSTER_STRANDS_MAX + 1),
                                   CHANGED(on_strands(), it.strands.count = 0),
                                   CHANGED(on_strands(), it.act = MUSTER_ACT_REGION)};
  for (uint32_t i = 0; i < COUNT_OF(wrong); i++)
    cr_assert_eq(muster_type_register(little.world, &wrong[i]).index, 0, "%u", i);
}

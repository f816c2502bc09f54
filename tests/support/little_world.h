/* tests/support/little_world.h - a world for tests: one type, a pool, a virtual clock, frames of 10 ms. */
#ifndef LITTLE_WORLD_H
#define LITTLE_WORLD_H

#include "support/full_frames.h"
#include "support/papers_rules.h"

#include <criterion/criterion.h>
#include <string.h>

#define FRAME_NS 10000000u

typedef struct little_world {
  muster_pool *pool;
  muster_world *world;
  muster_type type;
  uint64_t now_ns;
  bool provokes_idle; /* the test lets frames leave budget though agents wait, or estimates be wrong */
} little_world;

static inline little_world little_world_create(uint32_t workers, const muster_world_def *given) {
  little_world little = {0};
  muster_pool_def pool = muster_pool_def_default();
  pool.workers = workers;
  little.pool = muster_pool_create(&pool);
  cr_assert_not_null(little.pool, "%s", muster_last_error());
  muster_world_def def = given ? *given : muster_world_def_default();
  if (!given) def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  def.pool = little.pool;
  little.world = muster_world_create(&def);
  cr_assert_not_null(little.world, "%s", muster_last_error());
  return little;
}

/* By the papers' rules, with the virtual clock. */
static inline little_world papers_world(uint32_t workers) {
  muster_world_def def = papers_world_def();
  def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  return little_world_create(workers, &def);
}

static inline void little_world_destroy(little_world *little) {
  if (!little->provokes_idle) expect_full_frames(little->world);
  muster_world_destroy(little->world);
  muster_pool_destroy(little->pool);
}

/* A type of the default definition that runs these atoms. */
static inline muster_type_def type_with(const muster_atom *atoms, uint32_t count) {
  muster_type_def def = muster_type_def_default();
  def.atoms = atoms;
  def.atom_count = count;
  return def;
}

static inline void register_type(little_world *little, const muster_type_def *def) {
  little->type = muster_type_register(little->world, def);
  cr_assert_neq(little->type.index, 0, "%s", muster_last_error());
}

/* An atom for agents that need not do anything. */
static inline muster_atom_result nothing(muster_update *update) {
  (void)update;
  return MUSTER_ATOM_NEXT;
}

/* Agents that run two atoms, of which the second is an action, in every frame. */
static inline muster_type_def actors_def(const muster_atom atoms[2], muster_act act, void *user) {
  muster_type_def def = type_with(atoms, 2);
  def.period_ns = def.period_max_ns = FRAME_NS;
  def.elasticity = 0;
  def.act = act;
  def.user = user;
  return def;
}

static inline muster_agent spawn_in(const little_world *little, muster_position position, uint32_t partition) {
  muster_agent_def def = muster_agent_def_default();
  def.type = little->type;
  def.position = position;
  def.partition = partition;
  muster_agent agent = muster_agent_spawn(little->world, &def);
  cr_assert(!muster_agent_is_null(agent), "%s", muster_last_error());
  return agent;
}

static inline muster_agent spawn_at(const little_world *little, double x) {
  return spawn_in(little, (muster_position){x, 0, 0}, 0);
}

static inline muster_frame_report run_frame_with(little_world *little, uint64_t budget_ns) {
  muster_frame_report report = muster_frame_report_default();
  little->now_ns += FRAME_NS;
  muster_result result = muster_frame_run(little->world, &(muster_frame){little->now_ns, budget_ns});
  cr_assert_eq(result, MUSTER_OK, "%s", muster_last_error());
  muster_frame_report_read(little->world, &report);
  return report;
}

static inline muster_frame_report run_frame(little_world *little) {
  return run_frame_with(little, 5000000u);
}

static inline void run_frames(little_world *little, uint32_t frames) {
  for (uint32_t i = 0; i < frames; i++) run_frame(little);
}

static inline muster_agent_info info_of(const little_world *little, muster_agent agent) {
  muster_agent_info info = muster_agent_info_default();
  muster_result result = muster_agent_read(little->world, agent, &info);
  cr_assert_eq(result, MUSTER_OK, "%s", muster_last_error());
  return info;
}

#endif

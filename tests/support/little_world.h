/* tests/support/little_world.h - a world for tests: one type, a pool, a virtual clock, frames of 10 ms. */
#ifndef LITTLE_WORLD_H
#define LITTLE_WORLD_H

#include "support/full_frames.h"
#include "support/nothing.h"
#include "support/papers_rules.h"
#include "support/with.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <string.h>

#define FRAME_NS 10000000u

/* A call that is taken. */
#define assert_ok(CALL) cr_assert_eq(CALL, MUSTER_OK, "%s", muster_last_error())

typedef struct little_world {
  muster_pool *pool;
  muster_world *world;
  muster_type type;
  uint64_t now_ns;
  bool provokes_idle; /* the test lets frames leave budget though agents wait, or estimates be wrong */
} little_world;

static inline little_world little_world_create(uint32_t workers, const muster_world_def *given) {
  little_world little = {0};
  const muster_pool_def pool = WITH(muster_pool_def, it.workers = workers);
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
  const muster_world_def def = WITH(papers_world_rules, it.clock.kind = MUSTER_CLOCK_VIRTUAL);
  return little_world_create(workers, &def);
}

static inline void little_world_destroy(little_world *little) {
  if (!little->provokes_idle) expect_full_frames(little->world);
  muster_world_destroy(little->world);
  muster_pool_destroy(little->pool);
}

/* A type of the default definition that runs these atoms. */
static inline muster_type_def type_with(const muster_atom *atoms, uint32_t count) {
  return WITH(muster_type_def, it.atoms = atoms, it.atom_count = count);
}

/* What an atom runs. */
typedef muster_atom_result atom_function(muster_update *);

/* A behaviour for a definition that is registered soon: a world keeps its own copy. */
static inline const muster_atom *atom_of(atom_function *run, uint32_t model_ns) {
  static muster_atom kept[64];
  static uint32_t count;
  muster_atom *atom = &kept[__atomic_fetch_add(&count, 1, __ATOMIC_RELAXED) % 64];
  *atom = (muster_atom){run, MUSTER_ROLE_BEHAVIOUR, model_ns};
  return atom;
}

/* A type of the default definition that runs this alone. */
static inline muster_type_def type_running(atom_function *run, uint32_t model_ns) {
  return type_with(atom_of(run, model_ns), 1);
}

static inline void register_type(little_world *little, const muster_type_def *def) {
  little->type = muster_type_register(little->world, def);
  cr_assert_neq(little->type.index, 0, "%s", muster_last_error());
}

/* A world with one type. */
static inline little_world typed_world(uint32_t workers, muster_world_def world, muster_type_def type) {
  little_world little = little_world_create(workers, &world);
  register_type(&little, &type);
  return little;
}

/* Agents that run two atoms, of which the second is an action, in every frame. */
static inline muster_type_def actors_def(const muster_atom atoms[2], muster_act act, void *user) {
  return WITH(muster_type_def, it.atoms = atoms, it.atom_count = 2, it.period_ns = it.period_max_ns = FRAME_NS,
              it.elasticity = 0, it.act = act, it.user = user);
}

/* The same; they think, and then do this. For a definition that is registered soon. */
static inline muster_type_def actors_running(atom_function *run, uint32_t model_ns, muster_act act) {
  static muster_atom kept[16][2];
  static uint32_t count;
  muster_atom *atoms = kept[count++ % 16];
  atoms[0] = (muster_atom){nothing, MUSTER_ROLE_BEHAVIOUR, 1000};
  atoms[1] = (muster_atom){run, MUSTER_ROLE_ACTION, model_ns};
  return actors_def(atoms, act, NULL);
}

static inline muster_agent spawn_in(const little_world *little, muster_position position, uint32_t partition) {
  const muster_agent_def def =
      WITH(muster_agent_def, it.type = little->type, it.position = position, it.partition = partition);
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
  assert_ok(muster_frame_run(little->world, &(muster_frame){little->now_ns, budget_ns}));
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
  assert_ok(muster_agent_read(little->world, agent, &info));
  return info;
}

#endif

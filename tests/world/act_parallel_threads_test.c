/* Parallel actions run several at a time, each exactly once. Runs under ThreadSanitizer, too. */
#include "support/little_world.h"

#include <sched.h>
#include <stdatomic.h>

enum { AGENTS = 300, FRAMES = 20, PATIENCE = 500000 };

typedef struct crowd {
  atomic_uint acted[AGENTS]; /* by user number */
  atomic_uint inside, met, waited;
} crowd;

static muster_atom_result think(muster_update *update) {
  (void)update;
  return MUSTER_ATOM_NEXT;
}

/* Two of them meet inside, or somebody waited in vain. */
static muster_atom_result meet(muster_update *update) {
  crowd *crowd = update->type_user;
  atomic_fetch_add((atomic_uint *)update->user, 1);
  atomic_fetch_add(&crowd->inside, 1);
  for (uint32_t i = 0; i < PATIENCE && !atomic_load(&crowd->met) && !atomic_load(&crowd->waited); i++) {
    if (atomic_load(&crowd->inside) > 1) atomic_store(&crowd->met, 1);
    if (i + 1 == PATIENCE) atomic_store(&crowd->waited, 1);
    sched_yield();
  }
  atomic_fetch_sub(&crowd->inside, 1);
  return MUSTER_ATOM_NEXT;
}

static void spawn_crowd(little_world *little, crowd *crowd) {
  const muster_atom atoms[] = {{think, MUSTER_ROLE_BEHAVIOUR, 1000}, {meet, MUSTER_ROLE_ACTION, 2000}};
  muster_type_def def = muster_default_type_def();
  def.atoms = atoms;
  def.atom_count = 2;
  def.period_ns = def.period_max_ns = FRAME_NS;
  def.elasticity = 0;
  def.act = MUSTER_ACT_PARALLEL;
  def.user = crowd;
  register_type(little, &def);
  for (uint32_t i = 0; i < AGENTS; i++) {
    muster_agent_def agent = muster_default_agent_def();
    agent.type = little->type;
    agent.user = &crowd->acted[i];
    cr_assert(!muster_agent_is_null(muster_agent_spawn(little->world, &agent)));
  }
}

Test(act_parallel_threads, two_meet_inside_their_actions_and_each_acts_exactly_once) {
  static crowd crowd;
  little_world little = little_world_create(2, NULL);
  spawn_crowd(&little, &crowd);
  uint32_t rounds = 0;
  for (uint32_t frame = 0; frame < FRAMES; frame++) {
    muster_frame_report report = run_frame(&little);
    cr_assert(report.completed == AGENTS || report.completed == 0);
    cr_assert_eq(report.actions_waiting, 0);
    rounds += report.completed == AGENTS;
    for (uint32_t i = 0; i < AGENTS; i++) cr_assert_eq(atomic_load(&crowd.acted[i]), rounds);
  }
  cr_assert_geq(rounds, FRAMES - 1);
  cr_assert(atomic_load(&crowd.met) && !atomic_load(&crowd.waited), "they acted one after the other");
  little_world_destroy(&little);
}

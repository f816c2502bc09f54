/* Parallel actions run several at a time, each exactly once. Runs under ThreadSanitizer, too. */
#include "support/burn.h"
#include "world/fixture.h"

#include <sched.h>
#include <stdatomic.h>

enum { AGENTS = 300, FRAMES = 20, PATIENCE = 500000 };

static struct crowd {
  atomic_uint acted[AGENTS]; /* by order of spawning */
  atomic_uint inside, met, waited;
} crowd;

/* Waits until two agents are inside, or until one has waited in vain. */
static muster_atom_result meet(muster_update *update) {
  atomic_fetch_add((atomic_uint *)update->user, 1);
  atomic_fetch_add(&crowd.inside, 1);
  for (uint32_t i = 0; i < PATIENCE && !atomic_load(&crowd.met) && !atomic_load(&crowd.waited); i++) {
    if (atomic_load(&crowd.inside) > 1) atomic_store(&crowd.met, 1);
    if (i + 1 == PATIENCE) atomic_store(&crowd.waited, 1);
    sched_yield();
  }
  atomic_fetch_sub(&crowd.inside, 1);
  return MUSTER_ATOM_NEXT;
}

Test(act_parallel_threads, two_meet_inside_their_actions_and_each_acts_exactly_once) {
  SCOPED_WORLD little = little_world_create(2, NULL);
  add_type(&little, actors_running(meet, 2000, MUSTER_ACT_PARALLEL));
  for (uint32_t i = 0; i < AGENTS; i++) spawn_as(&little, WITH(muster_agent_def, it.user = &crowd.acted[i]));
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
}

/* ------------------------------------------------------------------------------------------------ on the wall clock */

enum { WORKERS = 2, PEOPLE = 80, LONG_NS = 200000 };

/* Takes twice its type's limit, in CPU time of its own thread. */
static muster_atom_result take_long(muster_update *update) {
  atomic_fetch_add((atomic_uint *)update->user, 1);
  burn(LONG_NS);
  return MUSTER_ATOM_NEXT;
}

/* There is time for a few actions in each frame, or for none: the others wait, but no agent waits for ever, and acts
 * are overruns. */
static void act_too_long(muster_act act, uint64_t budget_ns) {
  SCOPED_WORLD little = little_world_of(WORKERS, muster_world_def_default());
  add_type(&little, CHANGED(actors_running(take_long, 2000, act), it.elasticity = 1.0f, it.limit_ns = LONG_NS / 2,
                            it.overruns.demote = it.overruns.quarantine = 0));
  crowd = (struct crowd){0};
  for (uint32_t i = 0; i < PEOPLE; i++)
    spawn_as(&little, WITH(muster_agent_def, it.position.x = i * 50.0, it.user = &crowd.acted[i]));
  uint32_t least = 0, frames = 0, acts = 0, waited = 0;
  for (; least < 3 && frames < 2000; frames++) {
    waited += run_frame_with(&little, budget_ns).actions_waiting > 0;
    least = UINT32_MAX, acts = 0;
    for (uint32_t i = 0; i < PEOPLE; i++) {
      uint32_t acted = atomic_load(&crowd.acted[i]);
      if (acted < least) least = acted;
      acts += acted;
    }
  }
  cr_assert_geq(least, 3, "somebody acted %u times in %u frames", least, frames);
  cr_assert_gt(waited, 0);
  uint64_t overruns = overrun_counts_of(&little).overruns;
  /* What the kernel took of a worker counts in its favour, so some acts are not noted as overruns. What a host of
   * virtual machines took does not count, so a thought may seem to take too long, too. */
  cr_assert(overruns <= acts + acts / 10 && overruns >= acts / 2, "%lu overruns in %u acts", overruns, acts);
}

Test(act_parallel_threads, nobody_waits_for_ever_and_who_takes_too_long_is_noted) {
  act_too_long(MUSTER_ACT_PARALLEL, 2000000);
  act_too_long(MUSTER_ACT_REGION, 2000000);
}

Test(act_parallel_threads, also_when_one_action_takes_longer_than_a_frame) {
  act_too_long(MUSTER_ACT_PARALLEL, 150000);
  act_too_long(MUSTER_ACT_REGION, 150000);
}

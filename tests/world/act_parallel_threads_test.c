/* Parallel actions run several at a time, each exactly once. Runs under ThreadSanitizer, too. */
#include "support/little_world.h"

#include <muster/overruns.h>

#include <sched.h>
#include <stdatomic.h>
#include <time.h>

enum { AGENTS = 300, FRAMES = 20, PATIENCE = 500000 };

struct crowd {
  atomic_uint acted[AGENTS]; /* by order of spawning */
  atomic_uint inside, met, waited;
};

/* Waits until two agents are inside, or until one has waited in vain. */
static muster_atom_result meet(muster_update *update) {
  struct crowd *crowd = update->type_user;
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

static void spawn_crowd(little_world *little, struct crowd *crowd) {
  const muster_atom atoms[] = {{nothing, MUSTER_ROLE_BEHAVIOUR, 1000}, {meet, MUSTER_ROLE_ACTION, 2000}};
  muster_type_def def = actors_def(atoms, MUSTER_ACT_PARALLEL, crowd);
  register_type(little, &def);
  for (uint32_t i = 0; i < AGENTS; i++) {
    muster_agent_def agent = muster_agent_def_default();
    agent.type = little->type;
    agent.user = &crowd->acted[i];
    cr_assert(!muster_agent_is_null(muster_agent_spawn(little->world, &agent)));
  }
}

Test(act_parallel_threads, two_meet_inside_their_actions_and_each_acts_exactly_once) {
  static struct crowd crowd;
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

/* ------------------------------------------------------------------------------------------------ on the wall clock */

enum { WORKERS = 2, PEOPLE = 80, LONG_NS = 200000 };

static uint64_t own_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Takes twice its type's limit, in CPU time of its own thread. */
static muster_atom_result take_long(muster_update *update) {
  uint64_t end_ns = own_ns() + LONG_NS;
  atomic_fetch_add((atomic_uint *)update->user, 1);
  while (own_ns() < end_ns) continue;
  return MUSTER_ATOM_NEXT;
}

static little_world create_slow(struct crowd *crowd, muster_act act) {
  const muster_atom atoms[] = {{nothing, MUSTER_ROLE_BEHAVIOUR, 1000}, {take_long, MUSTER_ROLE_ACTION, 2000}};
  muster_world_def world = muster_world_def_default();
  little_world little = little_world_create(WORKERS, &world);
  muster_type_def def = type_with(atoms, 2);
  def.period_ns = def.period_max_ns = FRAME_NS;
  def.limit_ns = LONG_NS / 2;
  def.overruns.demote = def.overruns.quarantine = 0;
  def.act = act;
  register_type(&little, &def);
  *crowd = (struct crowd){0};
  for (uint32_t i = 0; i < PEOPLE; i++) {
    muster_agent_def agent = muster_agent_def_default();
    agent.type = little.type;
    agent.position.x = i * 50.0;
    agent.user = &crowd->acted[i];
    cr_assert(!muster_agent_is_null(muster_agent_spawn(little.world, &agent)));
  }
  return little;
}

/* Returns the acts of the agent that acted least; *acts is the sum over all agents. */
static uint32_t count_acts(struct crowd *crowd, uint32_t *acts) {
  uint32_t least = UINT32_MAX;
  *acts = 0;
  for (uint32_t i = 0; i < PEOPLE; i++) {
    uint32_t acted = atomic_load(&crowd->acted[i]);
    if (acted < least) least = acted;
    *acts += acted;
  }
  return least;
}

/* There is time for a few actions in each frame, or for none: the others wait, but no agent waits for ever, and acts
 * are overruns. */
static void act_too_long(muster_act act, uint64_t budget_ns) {
  static struct crowd crowd;
  little_world little = create_slow(&crowd, act);
  uint32_t least = 0, frames = 0, acts = 0, waited = 0;
  for (; least < 3 && frames < 2000; frames++) {
    waited += run_frame_with(&little, budget_ns).actions_waiting > 0;
    least = count_acts(&crowd, &acts);
  }
  cr_assert_geq(least, 3, "somebody acted %u times in %u frames", least, frames);
  cr_assert_gt(waited, 0);
  muster_overrun_counts counts = muster_overrun_counts_default();
  cr_assert_eq(muster_overrun_counts_read(little.world, little.type, &counts), MUSTER_OK);
  /* What the kernel took of a worker counts in its favour, so some acts are not noted as overruns. What a host of
   * virtual machines took does not count, so a thought may seem to take too long, too. */
  cr_assert(counts.overruns <= acts + acts / 10 && counts.overruns >= acts / 2, "%lu overruns in %u acts",
            (unsigned long)counts.overruns, acts);
  little_world_destroy(&little);
}

Test(act_parallel_threads, nobody_waits_for_ever_and_who_takes_too_long_is_noted) {
  act_too_long(MUSTER_ACT_PARALLEL, 2000000);
  act_too_long(MUSTER_ACT_REGION, 2000000);
}

Test(act_parallel_threads, also_when_one_action_takes_longer_than_a_frame) {
  act_too_long(MUSTER_ACT_PARALLEL, 150000);
  act_too_long(MUSTER_ACT_REGION, 150000);
}

/* Workers that are stuck in an atom, and overruns on the wall clock: checked by counts and order only. An atom that is
 * stuck waits for a gate, which the log sink opens when it hears the line that the test expects. On a busy machine a
 * worker that gets no processor is reported, too, so counts are taken per type. */
#include "base/clock.h"
#include "pool/atomics.h"
#include "support/await.h"
#include "support/little_world.h"

#include <muster/overruns.h>

#include <sched.h>
#include <time.h>
#include <unistd.h>

enum { OTHERS = 200, STUCK_NS = 10000000, HANG_SECONDS = 100 };

struct stage {
  little_world little;
  muster_type sticky, other;
  shared_u32 others_done, gate, stuck_lines, back_lines;
  shared_u32 done_when_told; /* other agents that had run when the sink opened the gate */
  uint32_t wanted;           /* other agents that must have run before it opens */
  const char *opens;         /* words of the line that opens it */
  uint32_t sticky_runs;
  uint32_t guilty; /* index of the agent that takes 1 ms of CPU; UINT32_MAX = none */
};

static void hear(muster_log_level level, const char *message, void *user) {
  struct stage *stage = user;
  if (level != MUSTER_LOG_WARNING || strstr(message, "'other'")) return;
  if (strstr(message, "came back")) fetch_add_relaxed_u32(&stage->back_lines, 1);
  if (!strstr(message, "has been stuck")) return;
  fetch_add_relaxed_u32(&stage->stuck_lines, 1);
  if (!strstr(message, stage->opens)) return;
  AWAIT(load_acquire_u32(&stage->others_done) >= stage->wanted);
  store_release_u32(&stage->done_when_told, load_acquire_u32(&stage->others_done));
  store_release_u32(&stage->gate, 1);
}

static muster_atom_result wait_at_gate(muster_update *update) {
  struct stage *stage = update->type_user;
  stage->sticky_runs++;
  AWAIT(load_acquire_u32(&stage->gate));
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result doze_at_gate(muster_update *update) {
  struct stage *stage = update->type_user;
  stage->sticky_runs++;
  AWAIT_WITH(nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL), load_acquire_u32(&stage->gate));
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result run_other(muster_update *update) {
  struct stage *stage = update->type_user;
  uint64_t end_ns = clock_thread_cpu() + 1000000;
  while (muster_agent_index(update->agent) == stage->guilty && clock_thread_cpu() < end_ns) continue;
  fetch_add_relaxed_u32(&stage->others_done, 1);
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result pass(muster_update *update) {
  (void)update;
  return MUSTER_ATOM_NEXT;
}

static void open_stage(struct stage *stage, uint32_t workers, const muster_world_def *given) {
  alarm(HANG_SECONDS);
  muster_world_def def = *given;
  *stage = (struct stage){.guilty = UINT32_MAX, .opens = "computing"};
  def.log = (muster_log_sink){hear, stage};
  stage->little = little_world_create(workers, &def);
}

static muster_world_def watched(void) {
  muster_world_def def = muster_world_def_default();
  def.watch.stuck_ns = STUCK_NS;
  return def;
}

/* The first guess of their cost makes updates long, so that each has a claim of its own. One overrun is enough. */
static muster_type register_as(struct stage *stage, const char *name, const muster_atom *atoms, uint32_t count) {
  muster_type_def type = muster_type_def_default();
  type.name = name;
  type.atoms = atoms;
  type.atom_count = count;
  type.period_ns = type.period_max_ns = FRAME_NS;
  type.limit_ns = 1000000000u;
  type.overruns.quarantine = 1;
  type.user = stage;
  register_type(&stage->little, &type);
  return stage->little.type;
}

/* The agent begins in a frame, and runs in the next. */
static muster_agent spawn_woken(struct stage *stage, muster_type type) {
  stage->little.type = type;
  muster_agent agent = spawn_at(&stage->little, 0);
  cr_assert_eq(muster_agent_wake(stage->little.world, agent), MUSTER_OK);
  return agent;
}

static void let_begin(struct stage *stage) {
  cr_assert_eq(run_frame(&stage->little).completed, 0);
}

static muster_agent set_sticky(struct stage *stage) {
  static const muster_atom atoms[] = {{.run = wait_at_gate, .model_ns = 30000}};
  stage->sticky = register_as(stage, "sticky", atoms, 1);
  return spawn_woken(stage, stage->sticky);
}

static muster_statistics statistics_of(const struct stage *stage) {
  muster_statistics statistics = muster_statistics_default();
  muster_statistics_read(stage->little.world, &statistics);
  return statistics;
}

static uint64_t stuck_of(const struct stage *stage, muster_type type) {
  muster_overrun_counts counts = muster_overrun_counts_default();
  muster_overrun_counts_read(stage->little.world, type, &counts);
  return counts.stuck;
}

/* Returns the latest overrun of an agent. */
static muster_overrun overrun_of(const struct stage *stage, muster_agent agent) {
  muster_overrun overruns[16];
  uint32_t count = muster_overruns_read(stage->little.world, overruns, 16);
  for (uint32_t i = 0; i < count; i++)
    if (muster_agent_index(overruns[i].agent) == muster_agent_index(agent) &&
        muster_agent_generation(overruns[i].agent) == muster_agent_generation(agent))
      return overruns[i];
  cr_assert(false, "agent %u has none of %u", muster_agent_index(agent), count);
  return (muster_overrun){0};
}

/* An agent that plans and acts is in two claims of a frame: a busy machine can hold up its planning as well. Each was
 * told, so no claim is counted twice. */
static void expect_told_for_each_claim(const struct stage *stage, uint64_t stuck) {
  cr_assert_geq(stuck, 1);
  cr_assert_leq(stuck, 2, "one in planning, one in the action");
  cr_assert_leq(stuck, load_relaxed_u32(&stage->stuck_lines));
}

static void await_return(struct stage *stage, uint32_t lines) {
  AWAIT(load_acquire_u32(&stage->back_lines) >= lines);
}

Test(watchdog, the_others_finish_the_frame_while_one_worker_is_stuck) {
  static const muster_atom atoms[] = {{.run = run_other, .model_ns = 30000}};
  struct stage stage;
  muster_world_def def = watched();
  open_stage(&stage, 3, &def);
  stage.wanted = OTHERS;
  muster_agent sticky = set_sticky(&stage);
  stage.other = register_as(&stage, "other", atoms, 1);
  for (uint32_t i = 0; i < OTHERS; i++) spawn_woken(&stage, stage.other);
  let_begin(&stage);
  muster_frame_report report = run_frame_with(&stage.little, 10000000000u);
  cr_assert_eq(load_acquire_u32(&stage.done_when_told), OTHERS, "all of them, before the stuck one was let go");
  cr_assert_eq(report.completed, OTHERS + 1);
  cr_assert_eq(report.agents_quarantined, 1);
  cr_assert(info_of(&stage.little, sticky).quarantined);
  cr_assert_eq(stuck_of(&stage, stage.sticky), 1);
  cr_assert_eq(statistics_of(&stage).stuck, 1 + stuck_of(&stage, stage.other));
  muster_overrun overrun = overrun_of(&stage, sticky);
  cr_assert_eq(overrun.kind, MUSTER_OVERRUN_STUCK);
  cr_assert_eq(overrun.atom, MUSTER_ATOM_UNKNOWN);
  cr_assert_eq(overrun.limit_ns, STUCK_NS);
  await_return(&stage, 1);
  for (uint32_t i = 0; i < 5; i++) run_frame_with(&stage.little, 10000000000u);
  cr_assert_eq(stage.sticky_runs, 1);
  cr_assert_leq(load_relaxed_u32(&stage.stuck_lines), 2, "when it was noticed, and when it was known to compute");
  muster_agent_reinstate(stage.little.world, sticky);
  run_frame_with(&stage.little, 10000000000u);
  cr_assert_eq(stage.sticky_runs, 2);
  little_world_destroy(&stage.little);
}

Test(watchdog, an_action_atom_that_holds_the_frames_own_thread_is_noticed) {
  static const muster_atom atoms[] = {{.run = pass}, {.run = wait_at_gate, .role = MUSTER_ROLE_ACTION}};
  struct stage stage;
  muster_world_def def = watched();
  open_stage(&stage, 2, &def);
  muster_type type = register_as(&stage, "actor", atoms, 2);
  muster_agent actor = spawn_woken(&stage, type);
  let_begin(&stage);
  run_frame_with(&stage.little, 10000000000u);
  expect_told_for_each_claim(&stage, statistics_of(&stage).stuck);
  cr_assert(info_of(&stage.little, actor).quarantined);
  muster_agent_remove(stage.little.world, actor);
  run_frame(&stage.little);
  await_return(&stage, 1);
  little_world_destroy(&stage.little);
}

static muster_type register_parallel(struct stage *stage, const char *name,
                                     muster_atom_result (*act)(muster_update *)) {
  const muster_atom atoms[] = {{.run = pass}, {.run = act, .role = MUSTER_ROLE_ACTION, .model_ns = 30000}};
  muster_type_def type = muster_type_def_default();
  type.name = name;
  type.atoms = atoms;
  type.atom_count = 2;
  type.limit_ns = 1000000000u;
  type.overruns.quarantine = 1;
  type.act = MUSTER_ACT_PARALLEL;
  type.user = stage;
  register_type(&stage->little, &type);
  return stage->little.type;
}

/* The few agents that share a claim with the stuck one must wait for it. */
Test(watchdog, the_others_act_while_one_is_stuck_in_its_action) {
  struct stage stage;
  muster_world_def def = watched();
  open_stage(&stage, 3, &def);
  stage.wanted = OTHERS - 16;
  stage.sticky = register_parallel(&stage, "sticky", wait_at_gate);
  muster_agent sticky = spawn_woken(&stage, stage.sticky);
  stage.other = register_parallel(&stage, "other", run_other);
  for (uint32_t i = 0; i < OTHERS; i++) spawn_woken(&stage, stage.other);
  let_begin(&stage);
  muster_frame_report report = run_frame_with(&stage.little, 10000000000u);
  cr_assert_geq(load_acquire_u32(&stage.done_when_told), OTHERS - 16);
  cr_assert_eq(report.completed, OTHERS + 1);
  expect_told_for_each_claim(&stage, stuck_of(&stage, stage.sticky));
  cr_assert(info_of(&stage.little, sticky).quarantined);
  await_return(&stage, 1);
  little_world_destroy(&stage.little);
}

Test(watchdog, under_the_virtual_clock_nobody_is_penalised) {
  struct stage stage;
  muster_world_def def = watched();
  def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  open_stage(&stage, 2, &def);
  muster_agent sticky = set_sticky(&stage);
  let_begin(&stage);
  run_frame(&stage.little);
  cr_assert_eq(statistics_of(&stage).stuck, 1);
  cr_assert_not(info_of(&stage.little, sticky).quarantined);
  little_world_destroy(&stage.little);
}

/* With the default numbers of overruns. */
Test(watchdog, an_agent_that_computes_for_so_long_goes_down_a_level) {
  static const muster_atom atoms[] = {{.run = wait_at_gate}};
  struct stage stage;
  muster_world_def def = watched();
  open_stage(&stage, 2, &def);
  muster_type_def type = type_with(atoms, 1);
  type.limit_ns = 1000000000u;
  type.levels.count = 2;
  type.levels.importance[0] = 0.0f;
  type.user = &stage;
  register_type(&stage.little, &type);
  muster_agent sticky = spawn_woken(&stage, stage.little.type);
  let_begin(&stage);
  run_frame_with(&stage.little, 10000000000u);
  cr_assert_eq(statistics_of(&stage).stuck, 1);
  cr_assert_eq(info_of(&stage.little, sticky).penalty, 1);
  cr_assert_not(info_of(&stage.little, sticky).quarantined);
  little_world_destroy(&stage.little);
}

/* An atom that waits is reported as well, but no clock says that it computes. */
Test(watchdog, nobody_is_penalised_for_wall_time_alone) {
  static const muster_atom atoms[] = {{.run = doze_at_gate, .model_ns = 30000}};
  struct stage stage;
  muster_world_def def = watched();
  open_stage(&stage, 2, &def);
  stage.opens = "waiting";
  muster_agent dozing = spawn_woken(&stage, register_as(&stage, "dozing", atoms, 1));
  let_begin(&stage);
  run_frame_with(&stage.little, 10000000000u);
  muster_overrun overrun;
  cr_assert_eq(statistics_of(&stage).stuck, 1);
  cr_assert_eq(muster_overruns_read(stage.little.world, &overrun, 1), 1);
  cr_assert_eq(overrun.kind, MUSTER_OVERRUN_STUCK);
  cr_assert_eq(muster_agent_index(overrun.agent), muster_agent_index(dozing));
  cr_assert_not(info_of(&stage.little, dozing).quarantined);
  cr_assert_eq(info_of(&stage.little, dozing).penalty, 0);
  little_world_destroy(&stage.little);
}

/* The watchdog's line opens the gate: without it this test never ends. */
static void expect_told_alone(muster_pool *pool) {
  static const muster_atom atoms[] = {{.run = wait_at_gate, .model_ns = 30000}};
  struct stage stage = {.guilty = UINT32_MAX, .opens = "computing"};
  muster_world_def def = watched();
  alarm(HANG_SECONDS);
  def.pool = pool;
  def.log = (muster_log_sink){hear, &stage};
  stage.little.world = muster_world_create(&def);
  cr_assert_not_null(stage.little.world);
  spawn_woken(&stage, register_as(&stage, "endless", atoms, 1));
  let_begin(&stage);
  run_frame_with(&stage.little, 10000000000u);
  cr_assert_eq(statistics_of(&stage).stuck, 1);
  cr_assert_geq(load_relaxed_u32(&stage.stuck_lines), 1);
  destroy_full(stage.little.world);
}

Test(watchdog, an_endless_loop_is_told_of_in_a_world_without_a_pool) {
  expect_told_alone(NULL);
}

Test(watchdog, an_endless_loop_is_told_of_where_one_thread_does_everything) {
  muster_pool_def def = muster_pool_def_default();
  def.workers = 1;
  muster_pool *pool = muster_pool_create(&def);
  expect_told_alone(pool);
  muster_pool_destroy(pool);
}

static muster_atom_result sleep_a_while(muster_update *update) {
  (void)update;
  usleep(40000);
  return MUSTER_ATOM_NEXT;
}

/* Time that an atom slept is no CPU time of its own, so it is not over its limit. And no watchdog runs here. */
Test(watchdog, a_world_without_one_says_nothing) {
  static const muster_atom atoms[] = {{.run = sleep_a_while, .model_ns = 30000}};
  struct stage stage;
  muster_world_def def = watched();
  def.watch.stuck_ns = 0;
  open_stage(&stage, 2, &def);
  muster_type_def type = type_with(atoms, 1);
  type.limit_ns = 20000000u;
  register_type(&stage.little, &type);
  muster_agent agent = spawn_woken(&stage, stage.little.type);
  let_begin(&stage);
  cr_assert_eq(run_frame_with(&stage.little, 10000000000u).completed, 1);
  cr_assert_eq(statistics_of(&stage).stuck, 0);
  cr_assert_eq(statistics_of(&stage).atoms_over_limit, 0);
  cr_assert_not(info_of(&stage.little, agent).quarantined);
  little_world_destroy(&stage.little);
  cr_assert_eq(load_relaxed_u32(&stage.stuck_lines), 0);
}

Test(watchdog, ends_with_its_world_at_any_time) {
  for (uint32_t i = 0; i < 20; i++) {
    struct stage stage;
    muster_world_def def = watched();
    def.watch.stuck_ns = i % 2 ? STUCK_NS : 3600000000000u;
    open_stage(&stage, 2, &def);
    if (i % 4 >= 2) {
      store_release_u32(&stage.gate, 1);
      set_sticky(&stage);
      let_begin(&stage);
      run_frame(&stage.little);
    }
    little_world_destroy(&stage.little);
  }
}

/* The runaway is one of many short updates, of which few are timed. Its claim takes suspiciously long, so its type is
 * watched from then on, and three overruns later it is quarantined. */
Test(watchdog, a_runaway_among_short_updates_is_found_within_a_few_frames) {
  static const muster_atom atoms[] = {{.run = run_other}};
  struct stage stage;
  muster_world_def def = watched();
  def.watch.stuck_ns = 500000000u;
  open_stage(&stage, 2, &def);
  muster_type_def type = type_with(atoms, 1);
  type.period_ns = type.period_max_ns = FRAME_NS;
  type.overruns.quarantine = 3;
  type.user = &stage;
  register_type(&stage.little, &type);
  muster_agent agents[OTHERS];
  for (uint32_t i = 0; i < OTHERS; i++) agents[i] = spawn_at(&stage.little, i);
  for (uint32_t i = 0; i < 20; i++) run_frame_with(&stage.little, 1000000000u);
  stage.guilty = muster_agent_index(agents[77]);
  for (uint32_t i = 0; i < 7; i++) run_frame_with(&stage.little, 1000000000u);
  cr_assert(info_of(&stage.little, agents[77]).quarantined);
  muster_overrun_counts counts = muster_overrun_counts_default();
  muster_overrun_counts_read(stage.little.world, stage.little.type, &counts);
  cr_assert_eq(counts.agents_quarantined, 1, "nobody else");
  cr_assert_eq(muster_agent_index(counts.worst_agent), muster_agent_index(agents[77]));
  cr_assert_geq(counts.worst_ns, 500000);
  little_world_destroy(&stage.little);
}

/* Workers that are stuck in an atom, and overruns on the wall clock: checked by counts and order only. An atom that is
 * stuck waits for a gate, which the log sink opens when it hears the line that the test expects. On a busy machine a
 * worker that gets no processor is reported, too, so counts are taken per type. */
#include "base/clock.h"
#include "pool/atomics.h"
#include "support/await.h"
#include "world/fixture.h"

#include <time.h>

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
  const struct stage *stage = update->type_user;
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

static void open_stage(struct stage *stage, uint32_t workers, muster_world_def def) {
  alarm(HANG_SECONDS);
  *stage = (struct stage){.guilty = UINT32_MAX, .opens = "computing"};
  def.log = (muster_log_sink){hear, stage};
  stage->little = little_world_create(workers, &def);
}

static void close_stage(struct stage *stage) {
  little_world_destroy(&stage->little);
}

static muster_world_def watched(uint64_t stuck_ns) {
  return WITH(muster_world_def, it.watch.stuck_ns = stuck_ns);
}

/* The first guess of their cost makes updates long, so that each has a claim of its own. One overrun is enough. */
static muster_type register_as(struct stage *stage, const char *name, const muster_atom *atoms, uint32_t count) {
  return add_type(&stage->little, WITH(muster_type_def, it.name = name, it.atoms = atoms, it.atom_count = count,
                                       it.period_ns = it.period_max_ns = FRAME_NS, it.limit_ns = 1000000000u,
                                       it.overruns.quarantine = 1, it.user = stage));
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
  stage->sticky = register_as(stage, "sticky", atom_of(wait_at_gate, 30000), 1);
  return spawn_woken(stage, stage->sticky);
}

static uint64_t all_stuck(const struct stage *stage) {
  return statistics_of(&stage->little).stuck;
}

static uint64_t stuck_of(const struct stage *stage, muster_type type) {
  muster_overrun_counts counts = muster_overrun_counts_default();
  muster_overrun_counts_read(stage->little.world, type, &counts);
  return counts.stuck;
}

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
  SCOPED(close_stage) struct stage stage;
  open_stage(&stage, 3, watched(STUCK_NS));
  stage.wanted = OTHERS;
  muster_agent sticky = set_sticky(&stage);
  stage.other = register_as(&stage, "other", atom_of(run_other, 30000), 1);
  for (uint32_t i = 0; i < OTHERS; i++) spawn_woken(&stage, stage.other);
  let_begin(&stage);
  muster_frame_report report = run_frame_with(&stage.little, 10000000000u);
  cr_assert_eq(load_acquire_u32(&stage.done_when_told), OTHERS, "all of them, before the stuck one was let go");
  cr_assert_eq(report.completed, OTHERS + 1);
  cr_assert_eq(report.agents_quarantined, 1);
  cr_assert(info_of(&stage.little, sticky).quarantined);
  cr_assert_eq(stuck_of(&stage, stage.sticky), 1);
  cr_assert_eq(all_stuck(&stage), 1 + stuck_of(&stage, stage.other));
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
}

Test(watchdog, an_action_atom_that_holds_the_frames_own_thread_is_noticed) {
  static const muster_atom atoms[] = {{.run = nothing}, {.run = wait_at_gate, .role = MUSTER_ROLE_ACTION}};
  SCOPED(close_stage) struct stage stage;
  open_stage(&stage, 2, watched(STUCK_NS));
  muster_agent actor = spawn_woken(&stage, register_as(&stage, "actor", atoms, 2));
  let_begin(&stage);
  run_frame_with(&stage.little, 10000000000u);
  expect_told_for_each_claim(&stage, all_stuck(&stage));
  cr_assert(info_of(&stage.little, actor).quarantined);
  muster_agent_remove(stage.little.world, actor);
  run_frame(&stage.little);
  await_return(&stage, 1);
}

static muster_type register_parallel(struct stage *stage, const char *name,
                                     muster_atom_result (*act)(muster_update *)) {
  const muster_atom atoms[] = {{.run = nothing}, {.run = act, .role = MUSTER_ROLE_ACTION, .model_ns = 30000}};
  return add_type(&stage->little,
                  WITH(muster_type_def, it.name = name, it.atoms = atoms, it.atom_count = 2, it.limit_ns = 1000000000u,
                       it.overruns.quarantine = 1, it.act = MUSTER_ACT_PARALLEL, it.user = stage));
}

/* The few agents that share a claim with the stuck one must wait for it. */
Test(watchdog, the_others_act_while_one_is_stuck_in_its_action) {
  SCOPED(close_stage) struct stage stage;
  open_stage(&stage, 3, watched(STUCK_NS));
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
}

Test(watchdog, under_the_virtual_clock_nobody_is_penalised) {
  SCOPED(close_stage) struct stage stage;
  open_stage(&stage, 2, WITH(virtual_world_def, it.watch.stuck_ns = STUCK_NS));
  muster_agent sticky = set_sticky(&stage);
  let_begin(&stage);
  run_frame(&stage.little);
  cr_assert_eq(all_stuck(&stage), 1);
  cr_assert_not(info_of(&stage.little, sticky).quarantined);
}

/* With the default numbers of overruns. */
Test(watchdog, an_agent_that_computes_for_so_long_goes_down_a_level) {
  SCOPED(close_stage) struct stage stage;
  open_stage(&stage, 2, watched(STUCK_NS));
  add_type(&stage.little, CHANGED(type_running(wait_at_gate, 0), it.limit_ns = 1000000000u, it.levels.count = 2,
                                  it.levels.importance[0] = 0.0f, it.user = &stage));
  muster_agent sticky = spawn_woken(&stage, stage.little.type);
  let_begin(&stage);
  run_frame_with(&stage.little, 10000000000u);
  cr_assert_eq(all_stuck(&stage), 1);
  cr_assert_eq(info_of(&stage.little, sticky).penalty, 1);
  cr_assert_not(info_of(&stage.little, sticky).quarantined);
}

/* An atom that waits is reported as well, but no clock says that it computes. */
Test(watchdog, nobody_is_penalised_for_wall_time_alone) {
  SCOPED(close_stage) struct stage stage;
  open_stage(&stage, 2, watched(STUCK_NS));
  stage.opens = "waiting";
  muster_agent dozing = spawn_woken(&stage, register_as(&stage, "dozing", atom_of(doze_at_gate, 30000), 1));
  let_begin(&stage);
  run_frame_with(&stage.little, 10000000000u);
  muster_overrun overrun;
  cr_assert_eq(all_stuck(&stage), 1);
  cr_assert_eq(muster_overruns_read(stage.little.world, &overrun, 1), 1);
  cr_assert_eq(overrun.kind, MUSTER_OVERRUN_STUCK);
  cr_assert_eq(muster_agent_index(overrun.agent), muster_agent_index(dozing));
  cr_assert_not(info_of(&stage.little, dozing).quarantined);
  cr_assert_eq(info_of(&stage.little, dozing).penalty, 0);
}

/* The watchdog's line opens the gate: without it this test never ends. */
static void expect_told_alone(muster_pool *pool) {
  struct stage stage = {.guilty = UINT32_MAX, .opens = "computing"};
  muster_world_def def =
      WITH(muster_world_def, it.watch.stuck_ns = STUCK_NS, it.pool = pool, it.log = (muster_log_sink){hear, &stage});
  alarm(HANG_SECONDS);
  stage.little.world = muster_world_create(&def);
  cr_assert_not_null(stage.little.world);
  spawn_woken(&stage, register_as(&stage, "endless", atom_of(wait_at_gate, 30000), 1));
  let_begin(&stage);
  run_frame_with(&stage.little, 10000000000u);
  cr_assert_eq(all_stuck(&stage), 1);
  cr_assert_geq(load_relaxed_u32(&stage.stuck_lines), 1);
  destroy_full(stage.little.world);
}

Test(watchdog, an_endless_loop_is_told_of_in_a_world_without_a_pool) {
  expect_told_alone(NULL);
}

Test(watchdog, an_endless_loop_is_told_of_where_one_thread_does_everything) {
  muster_pool_def def = WITH(muster_pool_def, it.workers = 1);
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
  struct stage stage;
  open_stage(&stage, 2, watched(0));
  add_type(&stage.little, CHANGED(type_running(sleep_a_while, 30000), it.limit_ns = 20000000u));
  muster_agent agent = spawn_woken(&stage, stage.little.type);
  let_begin(&stage);
  cr_assert_eq(run_frame_with(&stage.little, 10000000000u).completed, 1);
  cr_assert_eq(all_stuck(&stage), 0);
  cr_assert_eq(statistics_of(&stage.little).atoms_over_limit, 0);
  cr_assert_not(info_of(&stage.little, agent).quarantined);
  little_world_destroy(&stage.little);
  cr_assert_eq(load_relaxed_u32(&stage.stuck_lines), 0);
}

Test(watchdog, ends_with_its_world_at_any_time) {
  for (uint32_t i = 0; i < 20; i++) {
    SCOPED(close_stage) struct stage stage;
    open_stage(&stage, 2, watched(i % 2 ? STUCK_NS : 3600000000000u));
    if (i % 4 >= 2) {
      store_release_u32(&stage.gate, 1);
      set_sticky(&stage);
      let_begin(&stage);
      run_frame(&stage.little);
    }
  }
}

/* The runaway is one of many short updates, of which few are timed. Its claim takes suspiciously long, so its type is
 * watched from then on, and three overruns later it is quarantined. */
Test(watchdog, a_runaway_among_short_updates_is_found_within_a_few_frames) {
  SCOPED(close_stage) struct stage stage;
  open_stage(&stage, 2, watched(500000000u));
  add_type(&stage.little, CHANGED(type_running(run_other, 0), it.period_ns = it.period_max_ns = FRAME_NS,
                                  it.overruns.quarantine = 3, it.user = &stage));
  muster_agent agents[OTHERS];
  for (uint32_t i = 0; i < OTHERS; i++) agents[i] = spawn_at(&stage.little, i);
  for (uint32_t i = 0; i < 20; i++) run_frame_with(&stage.little, 1000000000u);
  stage.guilty = muster_agent_index(agents[77]);
  for (uint32_t i = 0; i < 7; i++) run_frame_with(&stage.little, 1000000000u);
  cr_assert(info_of(&stage.little, agents[77]).quarantined);
  muster_overrun_counts counts = overrun_counts_of(&stage.little);
  cr_assert_eq(counts.agents_quarantined, 1, "nobody else");
  cr_assert_eq(muster_agent_index(counts.worst_agent), muster_agent_index(agents[77]));
  cr_assert_geq(counts.worst_ns, 500000);
}

/* A frame goes on while there is time and agents wait: where updates cost less than was believed, more are ranked into
 * the same batch. The clock is told the time, so that what a frame does follows from costs alone. */
#include "world/told_clock.h"

enum { AGENTS = 4000, BUDGET_NS = 2000000, GUESS_NS = 200000, COST_NS = 40000 };

typedef struct creature {
  uint64_t frame; /* in which it ran last */
  uint32_t runs, twice;
} creature;

static struct scene {
  uint64_t cost_ns;
  uint32_t wakes_every; /* each so many updates wake another agent; 0 = none do */
  uint32_t updates;
  uint32_t removes; /* while the next update runs, so many agents are removed, from the first on */
  muster_world *world;
  muster_agent agents[AGENTS];
} scene;

/* On a thread of its own, as a host does it while a frame runs. */
static void *remove_some(void *unused) {
  for (; scene.removes > 0; scene.removes--) muster_agent_remove(scene.world, scene.agents[scene.removes - 1]);
  return unused;
}

static muster_atom_result live(muster_update *update) {
  pthread_t thread;
  creature *self = update->state;
  self->twice += self->frame == update->now_ns;
  self->frame = update->now_ns;
  self->runs++;
  spend(scene.cost_ns);
  scene.updates++;
  uint64_t other = muster_update_random(update) % AGENTS;
  if (scene.removes && !pthread_create(&thread, NULL, remove_some, NULL)) pthread_join(thread, NULL);
  if (scene.wakes_every && scene.updates % scene.wakes_every == 0) muster_update_wake(update, scene.agents[other]);
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result live_short(muster_update *update) {
  spend(COST_NS);
  ((creature *)update->state)->runs++;
  return MUSTER_ATOM_NEXT;
}

static little_world scene_create_in(muster_world_def def, uint64_t cost_ns, uint32_t agents) {
  little_world little = told_world(def);
  scene = (struct scene){.cost_ns = cost_ns, .world = little.world};
  add_type(&little, CHANGED(spending_type(atom_of(live, GUESS_NS)), it.state_bytes = sizeof(creature)));
  for (uint32_t i = 0; i < agents; i++) scene.agents[i] = spawn_at(&little, i);
  return little;
}

static little_world scene_create(uint64_t cost_ns, uint32_t agents) {
  return scene_create_in(muster_world_def_default(), cost_ns, agents);
}

static uint32_t ran_twice(const little_world *little) {
  uint32_t twice = 0;
  for (uint32_t i = 0; i < AGENTS; i++) twice += ((const creature *)info_of(little, scene.agents[i]).state)->twice;
  return twice;
}

/* How many of the next frames end with agents that wait, and how many updates all of them append. */
struct full {
  uint32_t frames, appended;
};

static struct full run_full(little_world *little, uint32_t frames) {
  struct full full = {0};
  for (uint32_t i = 0; i < frames; i++) {
    muster_frame_report report = run_frame_with(little, BUDGET_NS);
    full.appended += report.appended;
    if (!report.carried) continue;
    cr_assert_geq(report.update_cpu_ns + report.repaid_ns, BUDGET_NS * 9 / 10, "frame %u", i);
    cr_assert_leq(report.wall_ns, BUDGET_NS + scene.cost_ns);
    full.frames++;
  }
  return full;
}

Test(append, a_frame_goes_on_until_its_time_is_over_whatever_updates_were_believed_to_cost) {
  SCOPED(told_world_destroy) little_world little = scene_create(COST_NS, AGENTS);
  struct full full = run_full(&little, 100);
  cr_assert_gt(full.frames, 50);
  scene.cost_ns = COST_NS / 4; /* as if a cache were warm now: the estimate is far too high */
  full = run_full(&little, 4);
  cr_assert_gt(full.frames, 0);
  cr_assert_geq(full.appended, 40);
  run_full(&little, 100);
  cr_assert_eq(ran_twice(&little), 0);
  muster_statistics sums = statistics_of(&little);
  for (uint32_t i = 0; i < MUSTER_IDLES; i++) cr_assert_eq(sums.idle_frames[i], 0, "reason %u", i);
}

/* An agent that was woken runs at once, and is not named by what is ranked afterwards. */
Test(append, nobody_runs_twice_in_a_frame_where_agents_wake_each_other) {
  SCOPED(told_world_destroy) little_world little = scene_create(COST_NS, AGENTS);
  scene.wakes_every = 3;
  uint64_t appended = 0, woken = 0;
  uint32_t before = 0; /* the last frame */
  for (uint32_t i = 0; i < 100; i++) {
    before = scene.updates;
    muster_frame_report report = run_frame_with(&little, BUDGET_NS);
    appended += report.appended;
    woken += report.woken;
  }
  cr_assert_gt(appended, 0);
  cr_assert_gt(woken, 0);
  cr_assert_eq(muster_world_settle(little.world), MUSTER_OK);
  muster_statistics sums = statistics_of(&little);
  /* A commit that is late leaves its own to the next frame. */
  cr_assert(sums.completed == scene.updates || sums.completed == before, "%lu and %u", sums.completed, scene.updates);
  cr_assert_eq(ran_twice(&little), 0);
}

/* Nearly all agents that wait are removed while the frame runs, so that rounds have none but these. */
Test(append, it_does_not_end_with_a_round_of_agents_that_were_removed) {
  enum { LEFT = 40 };
  SCOPED(told_world_destroy) little_world little = scene_create(COST_NS, AGENTS);
  for (uint32_t i = 0; i < 60; i++) run_frame_with(&little, BUDGET_NS);
  scene.removes = AGENTS - LEFT;
  cr_assert_gt(run_frame_with(&little, BUDGET_NS).rankings, 2);
  cr_assert_eq(statistics_of(&little).idle_frames[MUSTER_IDLE_FAULT], 0);
  cr_assert_eq(statistics_of(&little).idle_frames[MUSTER_IDLE_LONG], 0);
}

Test(append, it_ends_at_x) {
  SCOPED(told_world_destroy)
  little_world little = scene_create_in(WITH(muster_world_def, it.updates_per_frame = 50), COST_NS / 8, AGENTS);
  uint32_t most = 0;
  for (uint32_t i = 0; i < 100; i++) {
    uint32_t completed = run_frame_with(&little, BUDGET_NS).completed;
    if (completed > most) most = completed;
  }
  cr_assert_eq(most, 50);
  muster_statistics sums = statistics_of(&little);
  cr_assert_gt(sums.idle_frames[MUSTER_IDLE_X], 0, "and says why time was left");
  cr_assert_eq(sums.idle_frames[MUSTER_IDLE_FAULT] + sums.idle_frames[MUSTER_IDLE_LONG], 0);
}

/* Updates of 1.5 ms: after one of them the next does not fit, however often it is ranked. */
Test(append, it_does_not_rank_again_and_again_what_does_not_fit) {
  SCOPED(told_world_destroy) little_world little = scene_create(BUDGET_NS * 3 / 4, 200);
  for (uint32_t i = 0; i < 100; i++) run_frame_with(&little, BUDGET_NS);
  for (uint32_t i = 0; i < 50; i++) {
    muster_frame_report report = run_frame_with(&little, BUDGET_NS);
    cr_assert_leq(report.rankings, 3, "%u rankings", report.rankings);
    cr_assert_leq(report.completed, 2);
  }
  muster_statistics sums = statistics_of(&little);
  cr_assert_gt(sums.idle_ns[MUSTER_IDLE_LONG], 0);
  cr_assert_eq(sums.idle_frames[MUSTER_IDLE_FAULT] + sums.idle_frames[MUSTER_IDLE_X], 0);
}

/* Long updates that do not fit any more wait, and short ones behind them run in what is left. */
Test(append, short_updates_fill_what_long_ones_leave) {
  SCOPED(told_world_destroy) little_world little = scene_create(BUDGET_NS * 3 / 4, 4);
  add_type(&little, CHANGED(type_running(live_short, COST_NS), it.state_bytes = sizeof(creature)));
  for (uint32_t i = 0; i < 1000; i++) spawn_at(&little, 1000.0 + i);
  for (uint32_t i = 0; i < 100; i++) run_frame_with(&little, BUDGET_NS);
  uint64_t faults = statistics_of(&little).idle_frames[MUSTER_IDLE_FAULT], took_ns = 0, left_ns = 0;
  for (uint32_t i = 0; i < 100; i++) {
    muster_frame_report report = run_frame_with(&little, BUDGET_NS);
    took_ns += report.update_cpu_ns + report.repaid_ns;
    left_ns += report.carried > 0 ? BUDGET_NS : 0;
  }
  cr_assert_gt(left_ns, 50 * (uint64_t)BUDGET_NS);
  cr_assert_geq(took_ns, left_ns * 9 / 10, "%lu of %lu", took_ns, left_ns);
  cr_assert_eq(statistics_of(&little).idle_frames[MUSTER_IDLE_FAULT], faults);
}

/* What ranking costs beyond what runs: in the mean at most a quarter is ranked and not started. */
Test(append, little_is_ranked_that_does_not_run) {
  SCOPED(told_world_destroy) little_world little = scene_create(COST_NS, AGENTS);
  uint64_t ranked = 0, completed = 0;
  for (uint32_t i = 0; i < 200; i++) {
    muster_frame_report report = run_frame_with(&little, BUDGET_NS);
    if (!report.carried) continue;
    completed += report.completed;
    ranked += little.world->batch->count;
  }
  cr_assert_gt(completed, 0);
  cr_assert_leq(ranked - completed, completed / 4, "%lu ranked, %lu ran", ranked, completed);
}

Test(append, a_record_says_what_was_appended_and_a_replay_does_the_same) {
  SCOPED(recorded_forget) struct recorded run;
  little_world little = scene_create(COST_NS, AGENTS);
  for (uint32_t i = 0; i < 3; i++) run_frame_with(&little, BUDGET_NS);
  told_world_destroy(&little);
  little = scene_create(COST_NS, 0);
  recorded_begin(&run, little.world);
  scene.wakes_every = 5;
  for (uint32_t i = 0; i < AGENTS; i++) scene.agents[i] = spawn_at(&little, i);
  for (uint32_t i = 0; i < 40; i++) recorded_note(&run, &little, run_frame_with(&little, BUDGET_NS));
  uint64_t appended = 0;
  for (uint32_t i = 0; i < run.frames; i++) appended += run.reports[i].appended;
  cr_assert_gt(appended, 0);
  recorded_end(&run, little.world);
  told_world_destroy(&little);
  little = scene_create(COST_NS, 0);
  scene.wakes_every = 5;
  recorded_replay(&run, little.world);
  replay_alike(&run, &little);
  told_world_destroy(&little);
}

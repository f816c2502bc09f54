/* An agent that is woken runs in that frame or the next, by whatever path the wake comes and whatever the load, as long
 * as the woken agents fit a frame; and a gap between wakes keeps their runs apart without losing one. */
#include "base/clock.h"
#include "pool/atomics.h"
#include "world/fixture.h"

enum { CROWD = 400, SENTRIES = 30, GAP = 5 };

struct sentry {
  uint64_t woken_ns; /* when the wake that is not answered yet was sent; 0 = none */
  uint64_t ran_ns;
  uint64_t runs, wakes, worst_ns, least_gap_ns;
};

struct fort {
  struct sentry sentries[SENTRIES];
  muster_agent agents[SENTRIES];
  uint64_t calls; /* number of updates of the crowd that called a sentry */
  bool sends;     /* calls by message instead of by wake */
};

static void note_wake(struct sentry *sentry, uint64_t now_ns) {
  sentry->wakes++;
  if (!sentry->woken_ns) sentry->woken_ns = now_ns;
}

/* The sentry's period is far longer than the test, so only wakes make it run. */
static muster_atom_result answer(muster_update *update) {
  struct sentry *own = update->user;
  cr_assert_neq(own->woken_ns, 0, "it ran and nobody had woken it");
  uint64_t waited_ns = update->now_ns - own->woken_ns, gap_ns = update->now_ns - own->ran_ns;
  if (waited_ns > own->worst_ns) own->worst_ns = waited_ns;
  if (own->runs && (own->least_gap_ns == 0 || gap_ns < own->least_gap_ns)) own->least_gap_ns = gap_ns;
  own->ran_ns = update->now_ns;
  own->woken_ns = 0;
  own->runs++;
  return MUSTER_ATOM_NEXT;
}

/* In one of sixteen updates one calls a sentry. An action atom: so one worker at a time writes the test's notes. */
static muster_atom_result call(muster_update *update) {
  struct fort *fort = update->type_user;
  uint64_t random = muster_update_random(update);
  if (random % 16) return MUSTER_ATOM_NEXT;
  uint32_t number = (uint32_t)(random >> 32) % SENTRIES;
  note_wake(&fort->sentries[number], update->now_ns);
  fort->calls++;
  if (fort->sends)
    cr_assert_eq(muster_update_send(update, fort->agents[number], NULL, 0), MUSTER_OK);
  else
    cr_assert_eq(muster_update_wake(update, fort->agents[number]), MUSTER_OK);
  return MUSTER_ATOM_NEXT;
}

static const muster_atom crowd_atoms[] = {{.run = nothing, .model_ns = 50000},
                                          {.run = call, .role = MUSTER_ROLE_ACTION, .model_ns = 100}};

/* The 400 agents of the crowd want 20 ms in each frame of 10 ms: twice the budget. */
static little_world build(struct fort *fort, uint32_t workers, uint64_t gap_ns) {
  little_world little = little_world_create(workers, NULL);
  add_type(&little, WITH(muster_type_def, it.atoms = crowd_atoms, it.atom_count = 2, it.period_ns = FRAME_NS,
                         it.messages.sends_max = 1, it.user = fort));
  for (uint32_t i = 0; i < CROWD; i++) spawn_at(&little, i);
  add_type(&little, CHANGED(type_running(answer, 100000), it.period_ns = it.period_max_ns = 86400000000000u,
                            it.messages.waiting_max = 8, it.messages.wake = true, it.wake_gap_ns = gap_ns));
  for (uint32_t i = 0; i < SENTRIES; i++)
    fort->agents[i] = spawn_as(&little, WITH(muster_agent_def, it.user = &fort->sentries[i]));
  run_frame(&little);
  return little;
}

static uint64_t sum_of_runs(const struct fort *fort) {
  uint64_t runs = 0;
  for (uint32_t i = 0; i < SENTRIES; i++) runs += fort->sentries[i].runs;
  return runs;
}

/* The host also wakes some sentries in each frame, each of them twice. */
static void run_with_wakes(little_world *little, struct fort *fort, uint32_t frames) {
  for (uint32_t frame = 0; frame < frames; frame++) {
    for (uint32_t i = frame % 7; i < SENTRIES; i += 7) {
      note_wake(&fort->sentries[i], little->now_ns + FRAME_NS);
      cr_assert_eq(muster_agent_wake(little->world, fort->agents[i]), MUSTER_OK);
      cr_assert_eq(muster_agent_wake(little->world, fort->agents[i]), MUSTER_OK);
    }
    muster_frame_report report = run_frame_with(little, 10000000);
    if (frame > 50) cr_assert_gt(report.utilisation_nominal, 1.5f * report.utilisation_desired);
  }
}

Test(wake_gap, who_is_woken_runs_in_that_frame_or_the_next) {
  for (uint32_t sends = 0; sends < 2; sends++) {
    struct fort fort = {.sends = sends};
    SCOPED_WORLD little = build(&fort, 2, 0);
    run_with_wakes(&little, &fort, 500);
    run_frames(&little, 1);
    cr_assert_gt(fort.calls, 1000);
    for (uint32_t i = 0; i < SENTRIES; i++) {
      const struct sentry *own = &fort.sentries[i];
      cr_assert_gt(own->runs, 80);
      cr_assert_leq(own->worst_ns, FRAME_NS, "sentry %u waited %lu ns", i, own->worst_ns);
    }
    cr_assert_eq(statistics_of(&little).wakes_delayed, 0);
  }
}

Test(wake_gap, a_gap_keeps_runs_apart_and_no_wake_is_lost) {
  for (uint32_t sends = 0; sends < 2; sends++) {
    struct fort fort = {.sends = sends};
    SCOPED_WORLD little = build(&fort, 2, GAP * FRAME_NS - 1);
    run_with_wakes(&little, &fort, 500);
    uint64_t wakes = 0;
    for (uint32_t i = 0; i < SENTRIES; i++) {
      const struct sentry *own = &fort.sentries[i];
      wakes += own->wakes;
      cr_assert_gt(own->runs, 50);
      cr_assert_leq(own->runs, 500 / GAP + 1);
      cr_assert_geq(own->least_gap_ns, GAP * FRAME_NS);
      /* Answered at the latest when the gap has passed; a wake from an update, a frame later. */
      cr_assert_leq(own->worst_ns, (GAP + 1) * (uint64_t)FRAME_NS);
    }
    uint64_t delayed = statistics_of(&little).wakes_delayed;
    cr_assert(delayed > 500 && delayed <= wakes, "%lu of %lu were delayed", delayed, wakes);
    for (muster_agent none = {0}; !muster_agent_is_null(none = muster_agent_next(little.world, none));)
      if (muster_agent_index(none) < CROWD) muster_agent_remove(little.world, none);
    run_frames(&little, GAP + 2);
    for (uint32_t i = 0; i < SENTRIES; i++) cr_assert_eq(fort.sentries[i].woken_ns, 0, "a wake of %u was lost", i);
    uint64_t runs = sum_of_runs(&fort);
    run_frames(&little, 100);
    cr_assert_eq(sum_of_runs(&fort), runs); /* and each wake was one run */
  }
}

static muster_atom_result note_time(muster_update *update) {
  uint64_t *times_ns = update->state;
  times_ns[1 + times_ns[0]++ % 15] = update->now_ns;
  return MUSTER_ATOM_NEXT;
}

static little_world build_alone(muster_clock clock, uint64_t gap_frames, muster_agent *agent, uint32_t period_frames) {
  little_world little = little_world_of(1, WITH(muster_world_def, it.clock.kind = clock));
  add_type(&little, CHANGED(due_every(period_frames * (uint64_t)FRAME_NS, type_running(note_time, 1000)),
                            it.state_bytes = 16 * sizeof(uint64_t), it.wake_gap_ns = gap_frames * FRAME_NS));
  *agent = spawn_at(&little, 0);
  run_frame(&little);
  return little;
}

Test(wake_gap, a_time_that_was_asked_for_heeds_no_gap_and_begins_none) {
  muster_agent agent;
  SCOPED_WORLD little = build_alone(MUSTER_CLOCK_VIRTUAL, 20, &agent, 1000000);
  muster_agent_wake(little.world, agent);
  run_frame(&little);
  muster_agent_wake_at(little.world, agent, little.now_ns + 5 * FRAME_NS);
  muster_agent_wake(little.world, agent);
  run_frames(&little, 50);
  const uint64_t *times_ns = info_of(&little, agent).state;
  /* The run at the time that was asked for comes after the delayed wake, and answers it. */
  cr_assert_eq(times_ns[0], 2);
  cr_assert_eq(times_ns[1], 2 * FRAME_NS);
  cr_assert_eq(times_ns[2], 7 * FRAME_NS);
  muster_agent_wake(little.world, agent);
  run_frames(&little, 1);
  cr_assert_eq(times_ns[0], 3);
  muster_agent_wake_at(little.world, agent, 0);
  run_frames(&little, 30);
  muster_agent_wake_at(little.world, agent, 0);
  run_frames(&little, 1);
  cr_assert_eq(times_ns[0], 5);
  muster_agent_wake(little.world, agent);
  run_frames(&little, 1);
  cr_assert_eq(times_ns[0], 6);
}

Test(wake_gap, a_run_by_period_answers_a_wake_that_waits) {
  muster_agent agent;
  SCOPED_WORLD little = build_alone(MUSTER_CLOCK_VIRTUAL, 40, &agent, 10);
  run_frames(&little, 20);
  const uint64_t *times_ns = info_of(&little, agent).state;
  cr_assert_eq(times_ns[0], 2);
  muster_agent_wake(little.world, agent); /* runs at once; the next wake counts only forty frames later */
  run_frames(&little, 1);
  uint64_t before = times_ns[0];
  muster_agent_wake(little.world, agent);
  run_frames(&little, 100);
  cr_assert_eq(times_ns[0], before + 10);
  cr_assert_eq(statistics_of(&little).wakes_delayed, 1);
}

/* On the wall clock workers take wakes between two atoms: that path keeps the gap, too. */
struct caller {
  muster_agent sleeper;
  shared_u32 calls;
};

static muster_atom_result wake_sleeper(muster_update *update) {
  struct caller *caller = update->type_user;
  fetch_add_relaxed_u32(&caller->calls, 1);
  cr_assert_eq(muster_update_wake(update, caller->sleeper), MUSTER_OK);
  return MUSTER_ATOM_NEXT;
}

static const muster_atom callers_atoms[] = {{.run = wake_sleeper}, {.run = wake_sleeper}, {.run = nothing}};

static uint64_t runs_on_the_wall_clock(uint64_t gap_frames, uint64_t *delayed) {
  struct caller caller = {0};
  SCOPED_WORLD little = build_alone(MUSTER_CLOCK_WALL, gap_frames, &caller.sleeper, 1000000);
  add_type(&little, WITH(muster_type_def, it.atoms = callers_atoms, it.atom_count = 3,
                         it.period_ns = it.period_max_ns = FRAME_NS, it.user = &caller));
  spawn_at(&little, 0);
  run_frame_with(&little, 10000000000u);
  for (uint32_t i = 0; i < 61; i++) run_frame_with(&little, 10000000000u);
  const uint64_t *times_ns = info_of(&little, caller.sleeper).state;
  for (uint64_t i = 2; gap_frames && i <= times_ns[0] && i < 15; i++)
    cr_assert_geq(times_ns[i] - times_ns[i - 1], gap_frames * FRAME_NS);
  *delayed = statistics_of(&little).wakes_delayed;
  cr_assert_gt(load_relaxed_u32(&caller.calls), 100);
  return times_ns[0];
}

Test(wake_gap, workers_that_take_wakes_keep_the_gap) {
  uint64_t delayed;
  cr_assert_gt(runs_on_the_wall_clock(0, &delayed), 60);
  cr_assert_eq(delayed, 0);
  uint64_t runs = runs_on_the_wall_clock(6, &delayed);
  cr_assert(runs == 10 || runs == 11, "%lu runs in 61 frames", runs);
  cr_assert_geq(delayed, 9);
}

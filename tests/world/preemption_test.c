/* What is more urgent than an update goes first between two of its atoms, and the update goes on where it stopped; an
 * agent that is woken while a frame runs is run in that frame. On the wall clock, judged by order and counts only. */
#include "base/clock.h"
#include "pool/atomics.h"
#include "support/await.h"
#include "world/fixture.h"

enum { ATOMS = 3, AGENTS = 8 };

struct stage {
  muster_pool *pool;
  muster_agent agents[AGENTS];
  char course[64]; /* what ran, in order; only one worker at a time writes */
  shared_u32 length, next_atom_ran, urgent_ran, woken_runs;
  uint32_t priority;   /* of the job that atom 0 submits */
  uint32_t submits;    /* how many times atom 0 submits it */
  bool waits_for_atom; /* the job ends only when the next atom ran on another worker */
  uint64_t job_ns, randoms[ATOMS];
  uint32_t wakes; /* index in agents of the one to wake */
  bool waits_for_guard;
  shared_u32 guard_began, urgent_began;
};

static void note(struct stage *stage, char what) {
  uint32_t at = fetch_add_relaxed_u32(&stage->length, 1);
  if (at < sizeof stage->course - 1) stage->course[at] = what;
}

static void urgent_job(void *argument, uint32_t worker) {
  struct stage *stage = argument;
  (void)worker;
  note(stage, 'u');
  store_release_u32(&stage->urgent_began, 1);
  for (uint64_t end_ns = clock_system() + stage->job_ns; clock_system() < end_ns;) pause_processor();
  if (stage->waits_for_atom) AWAIT(load_acquire_u32(&stage->next_atom_ran));
  store_release_u32(&stage->urgent_ran, 1);
}

static struct stage *note_atom(muster_update *update, uint32_t number) {
  struct stage *stage = update->type_user;
  stage->randoms[number] = muster_update_random(update);
  note(stage, (char)('0' + number));
  return stage;
}

static muster_atom_result first_atom(muster_update *update) {
  struct stage *stage = note_atom(update, 0);
  if (stage->waits_for_guard) AWAIT(load_acquire_u32(&stage->guard_began));
  if (stage->submits) {
    stage->submits--;
    muster_job_submit(stage->pool, stage->priority, urgent_job, stage, NULL);
  }
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result second_atom(muster_update *update) {
  store_release_u32(&note_atom(update, 1)->next_atom_ran, 1);
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result third_atom(muster_update *update) {
  note_atom(update, 2);
  return MUSTER_ATOM_FINISH;
}

static const muster_atom atoms[ATOMS] = {
    {.run = first_atom, .model_ns = 1000000}, {.run = second_atom}, {.run = third_atom}};

static muster_type_def staged_type(struct stage *stage, const char *name, const muster_atom *of, uint32_t count) {
  return WITH(muster_type_def, it.name = name, it.atoms = of, it.atom_count = count,
              it.period_ns = it.period_max_ns = FRAME_NS, it.limit_ns = 100000000u, it.user = stage);
}

static little_world stage_world(struct stage *stage, uint32_t workers) {
  little_world little = little_world_of(workers, muster_world_def_default());
  stage->pool = little.pool;
  add_type(&little, staged_type(stage, "staged", atoms, ATOMS));
  stage->agents[0] = spawn_at(&little, 0);
  return little;
}

/* Runs frames until the agent has begun an update; its first period begins at a random phase. */
static muster_frame_report run_until_update(little_world *little, struct stage *stage) {
  muster_frame_report report = run_frame_with(little, 10000000000u);
  AWAIT_WITH(report = run_frame_with(little, 10000000000u), load_relaxed_u32(&stage->length) != 0);
  return report;
}

Test(preemption, an_urgent_job_runs_between_two_atoms_and_the_update_goes_on_in_the_same_frame) {
  struct stage stage = {.priority = MUSTER_URGENCY_URGENT, .submits = 1};
  SCOPED_WORLD little = stage_world(&stage, 1);
  muster_frame_report report = run_until_update(&little, &stage);
  cr_assert_str_eq(stage.course, "0u12");
  cr_assert_eq(report.completed, 1);
  cr_assert_eq(report.preempted, 0);
  cr_assert_eq(statistics_of(&little).interrupted, 1);
}

Test(preemption, a_job_that_is_no_more_urgent_than_a_frame_waits) {
  for (uint32_t priority = MUSTER_URGENCY_FRAME; priority < MUSTER_URGENCIES; priority++) {
    struct stage stage = {.priority = priority, .submits = 1};
    SCOPED_WORLD little = stage_world(&stage, 1);
    run_until_update(&little, &stage);
    cr_assert_str_eq(stage.course, "012");
    cr_assert_eq(statistics_of(&little).interrupted, 0);
  }
}

Test(preemption, an_interrupted_update_draws_the_numbers_that_it_would_have_drawn) {
  struct stage calm = {0}, interrupted_stage = {.submits = 1};
  SCOPED_WORLD first = stage_world(&calm, 1), second = stage_world(&interrupted_stage, 1);
  run_until_update(&first, &calm);
  run_until_update(&second, &interrupted_stage);
  cr_assert_str_eq(calm.course, "012");
  cr_assert_str_eq(interrupted_stage.course, "0u12");
  for (uint32_t i = 0; i < ATOMS; i++) cr_assert_eq(calm.randoms[i], interrupted_stage.randoms[i], "atom %u", i);
  cr_assert_neq(calm.randoms[0], calm.randoms[1]);
}

/* Keeps the other worker busy until the job has begun. */
static muster_atom_result guard(muster_update *update) {
  struct stage *stage = update->type_user;
  store_release_u32(&stage->guard_began, 1);
  AWAIT(load_acquire_u32(&stage->urgent_began));
  return MUSTER_ATOM_FINISH;
}

/* The job runs on the worker of the update, since the other worker is busy, and does not end before the next atom ran.
 * So that atom runs on the other worker. */
Test(preemption, another_worker_goes_on_with_an_interrupted_update) {
  for (uint32_t run = 0; run < 50; run++) {
    struct stage stage = {.submits = 1, .waits_for_atom = true, .waits_for_guard = true};
    SCOPED_WORLD little = stage_world(&stage, 2);
    add_type(&little, staged_type(&stage, "guard", atom_of(guard, 1000000), 1));
    stage.agents[1] = spawn_at(&little, 0);
    for (uint32_t i = 0; i < 2; i++) cr_assert_eq(muster_agent_wake(little.world, stage.agents[i]), MUSTER_OK);
    run_frame(&little); /* they begin */
    /* Enough time for the other worker to come, however busy the machine is. */
    cr_assert_eq(run_frame_with(&little, 10000000000u).completed, 2);
    cr_assert_str_eq(stage.course, "0u12");
  }
}

Test(preemption, an_update_whose_time_ran_out_meanwhile_goes_on_in_the_next_frame) {
  struct stage stage = {.submits = 1, .job_ns = 20000000u};
  SCOPED_WORLD little = stage_world(&stage, 1);
  muster_frame_report report = run_frame_with(&little, 10000000u);
  AWAIT_WITH(report = run_frame_with(&little, 10000000u), load_relaxed_u32(&stage.length) != 0);
  /* Interrupted by the job or, on a slow machine, by lack of time before it. */
  cr_assert(!strcmp(stage.course, "0u") || !strcmp(stage.course, "0"), "%s", stage.course);
  cr_assert_eq(report.preempted, 1);
  cr_assert_eq(report.completed, 0);
  report = run_frame_with(&little, 10000000000u);
  cr_assert_eq(report.completed, 1);
  cr_assert_str_eq(stage.course, "0u12");
}

/* ------------------------------------------------------------------------------------------------ woken in a frame */

static muster_atom_result wake_another(muster_update *update) {
  struct stage *stage = update->type_user;
  note(stage, 'w');
  muster_update_wake(update, stage->agents[stage->wakes]);
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result sleepy_atom(muster_update *update) {
  struct stage *stage = update->type_user;
  note(stage, 's');
  if (stage->submits) {
    stage->submits--;
    muster_update_wake(update, update->agent);
  }
  return MUSTER_ATOM_FINISH;
}

static const muster_atom waking[] = {{.run = wake_another}, {.run = third_atom}};

/* Its agents have a period of a minute. */
static muster_type_def sleepy_type(struct stage *stage, uint32_t spawns_max) {
  return CHANGED(staged_type(stage, "staged", atom_of(sleepy_atom, 0), 1), it.spawns_max = spawns_max,
                 it.period_ns = it.period_max_ns = 60000000000u);
}

/* A world of such agents, which the agents of add_waker() wake in every frame. */
static little_world waking_world(struct stage *stage, uint32_t workers, muster_clock clock, uint32_t spawns_max) {
  little_world little = little_world_of(workers, WITH(muster_world_def, it.clock.kind = clock));
  add_type(&little, sleepy_type(stage, spawns_max));
  for (uint32_t i = 1; i < AGENTS; i++) stage->agents[i] = spawn_at(&little, i);
  return little;
}

static void add_waker(little_world *little, struct stage *stage) {
  add_type(little, staged_type(stage, "waker", waking, 2));
  stage->agents[0] = spawn_at(little, 0);
}

Test(preemption, who_is_woken_by_an_update_runs_between_its_atoms) {
  struct stage stage = {.wakes = 3};
  SCOPED_WORLD little = waking_world(&stage, 1, MUSTER_CLOCK_WALL, 0);
  add_waker(&little, &stage);
  muster_frame_report report = run_until_update(&little, &stage);
  cr_assert_str_eq(stage.course, "ws2");
  cr_assert_eq(report.completed, 2);
  cr_assert_eq(report.woken, 1);
  cr_assert_eq(info_of(&little, stage.agents[3]).last_update_ns, little.now_ns);
  run_frame_with(&little, 10000000000u);
  cr_assert_str_eq(stage.course, "ws2ws2");
}

Test(preemption, under_the_virtual_clock_who_is_woken_waits_for_the_next_intake) {
  struct stage stage = {.wakes = 3};
  SCOPED_WORLD little = waking_world(&stage, 1, MUSTER_CLOCK_VIRTUAL, 0);
  add_waker(&little, &stage);
  run_until_update(&little, &stage);
  cr_assert_str_eq(stage.course, "w2");
}

Test(preemption, an_agent_whose_type_spawns_is_run_in_the_next_frame) {
  struct stage stage = {.wakes = 3};
  SCOPED_WORLD little = waking_world(&stage, 1, MUSTER_CLOCK_WALL, 1);
  add_waker(&little, &stage);
  run_until_update(&little, &stage);
  cr_assert_str_eq(stage.course, "w2");
  stage.wakes = 0;
  run_frame_with(&little, 10000000000u);
  cr_assert_not_null(strchr(stage.course, 's'));
}

Test(preemption, who_wakes_itself_runs_in_every_frame_once) {
  struct stage stage = {.submits = 10};
  SCOPED_WORLD little = waking_world(&stage, 2, MUSTER_CLOCK_WALL, 0);
  run_frame_with(&little, 10000000000u);
  uint32_t before = load_relaxed_u32(&stage.length);
  stage.submits = 10;
  muster_agent_wake(little.world, stage.agents[2]);
  for (uint32_t i = 1; i <= 11; i++) {
    cr_assert_eq(run_frame_with(&little, 10000000000u).completed, 1);
    cr_assert_eq(load_relaxed_u32(&stage.length), before + i);
  }
  cr_assert_eq(run_frame_with(&little, 10000000000u).completed, 0);
}

/* ------------------------------------------------------------------------------------------ wakes of other threads */

typedef struct alarm_clock {
  muster_world *world;
  const muster_agent *agents;
  shared_u32 over;
  uint64_t rung;
} alarm_clock;

static void *ring_all(void *argument) {
  alarm_clock *alarm = argument;
  while (!load_acquire_u32(&alarm->over))
    for (uint32_t i = 1; i < AGENTS; i++) alarm->rung += muster_agent_wake(alarm->world, alarm->agents[i]) == MUSTER_OK;
  return NULL;
}

/* After the last wake every agent runs once more; no agent runs twice in a frame or on two workers. (Such an update
 * would see no time elapsed, but count as completed in the report, so the sums tell.) */
Test(preemption, wakes_of_other_threads_are_all_followed_by_a_run) {
  struct stage stage = {0};
  SCOPED_WORLD little = waking_world(&stage, 2, MUSTER_CLOCK_WALL, 0);
  run_frame_with(&little, 1000000u);
  for (uint32_t round = 0; round < 20; round++) {
    alarm_clock alarm = {.world = little.world, .agents = stage.agents};
    pthread_t thread;
    cr_assert_eq(pthread_create(&thread, NULL, ring_all, &alarm), 0);
    for (uint32_t i = 0; i < 20; i++) cr_assert_leq(run_frame_with(&little, 10000000000u).completed, AGENTS - 1u);
    store_release_u32(&alarm.over, 1);
    pthread_join(thread, NULL);
    for (uint32_t i = 1; i < AGENTS; i++) cr_assert_eq(muster_agent_wake(little.world, stage.agents[i]), MUSTER_OK);
    uint64_t before_ns = little.now_ns;
    run_frame_with(&little, 10000000000u);
    for (uint32_t i = 1; i < AGENTS; i++)
      cr_assert_gt(info_of(&little, stage.agents[i]).last_update_ns, before_ns, "round %u, agent %u", round, i);
    run_frame_with(&little, 10000000000u);
  }
}

Test(preemption, a_wake_of_an_agent_that_is_removed_and_of_the_one_after_it_are_two_things) {
  struct stage stage = {0};
  SCOPED_WORLD little = waking_world(&stage, 1, MUSTER_CLOCK_WALL, 0);
  run_frame_with(&little, 10000000000u);
  for (uint32_t round = 0; round < 100; round++) {
    muster_agent_wake(little.world, stage.agents[1]);
    muster_agent_remove(little.world, stage.agents[1]);
    run_frame_with(&little, 10000000000u);
    cr_assert_eq(muster_agent_wake(little.world, stage.agents[1]), MUSTER_E_STALE);
    stage.agents[1] = spawn_at(&little, 1);
    cr_assert_eq(muster_agent_wake(little.world, stage.agents[1]), MUSTER_OK);
    run_frame_with(&little, 10000000000u);
    cr_assert_eq(info_of(&little, stage.agents[1]).last_update_ns, little.now_ns, "round %u", round);
  }
}

Test(preemption, too_many_wakes_are_refused_and_none_that_was_taken_is_lost) {
  struct stage stage = {0};
  SCOPED_WORLD little = typed_world(1, WITH(muster_world_def, it.limits.commands_max = 16), sleepy_type(&stage, 0));
  muster_agent agents[32];
  for (uint32_t i = 0; i < 32; i++) agents[i] = spawn_at(&little, i);
  run_frame_with(&little, 10000000000u);
  uint32_t taken = 0;
  for (uint32_t i = 0; i < 32; i++) {
    muster_result result = muster_agent_wake(little.world, agents[i]);
    cr_assert(result == MUSTER_OK || result == MUSTER_E_FULL);
    taken += result == MUSTER_OK;
  }
  cr_assert_eq(taken, 16);
  cr_assert_eq(run_frame_with(&little, 10000000000u).completed, 16);
  cr_assert_eq(muster_agent_wake(little.world, agents[31]), MUSTER_OK);
  cr_assert_eq(run_frame_with(&little, 10000000000u).completed, 1);
}

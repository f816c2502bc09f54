/* Periods that change while the world runs, of types and of single agents: what has passed of a period counts, and
 * records, snapshots and zones carry them. */
#include "support/zones.h"
#include "world/fixture.h"

/* When an agent ran. */
typedef struct runs {
  uint64_t count, last_ns, told_ns;
} runs;

static muster_atom_result note_run(muster_update *update) {
  runs *self = update->state;
  self->count++;
  self->last_ns = update->now_ns;
  self->told_ns += update->elapsed_ns;
  return MUSTER_ATOM_NEXT;
}

static muster_type_def running(uint64_t period_frames) {
  return CHANGED(type_running(note_run, 1000), it.name = "runner", it.state_bytes = sizeof(runs),
                 it.period_ns = it.period_max_ns = period_frames * FRAME_NS);
}

static const runs *runs_of(const little_world *little, muster_agent agent) {
  return info_of(little, agent).state;
}

/* ------------------------------------------------------------------------------------------------ what is refused */

typedef struct refusal {
  uint64_t period_ns, period_max_ns;
  const char *says; /* of agents and types */
} refusal;

static const refusal refusals[] = {{99999, 0, "period_ns"},
                                   {86400000000001u, 0, "period_ns"},
                                   {1000000, 86400000000001u, "period_max_ns"},
                                   {2000000, 1000000, "period_max_ns 1000000 must be period_ns (2000000)"},
                                   {0, 1000000, "needs a period_ns"}};

Test(retime, refuses_what_a_registration_refuses_with_the_same_words) {
  SCOPED_WORLD little = world_of(running(10));
  muster_agent agent = spawn_and_run(&little, 0, 1);
  for (uint32_t i = 0; i < COUNT_OF(refusals); i++) {
    const refusal *wrong = &refusals[i];
    cr_assert_eq(muster_agent_set_periods(little.world, agent, wrong->period_ns, wrong->period_max_ns),
                 MUSTER_E_ARGUMENT, "case %u", i);
    expect_error(wrong->says);
    cr_assert_eq(muster_type_set_periods(little.world, little.type, wrong->period_ns, wrong->period_max_ns),
                 MUSTER_E_ARGUMENT, "case %u", i);
    expect_error(wrong->says);
  }
  uint64_t period_ns, period_max_ns;
  cr_assert_eq(muster_type_set_periods(little.world, (muster_type){7}, 1000000, 0), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_type_periods_read(little.world, (muster_type){7}, &period_ns, &period_max_ns), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_type_periods_read(little.world, little.type, NULL, &period_max_ns), MUSTER_E_ARGUMENT);
  muster_agent_remove(little.world, agent);
  run_frame(&little);
  cr_assert_eq(muster_agent_set_periods(little.world, agent, 1000000, 0), MUSTER_E_STALE);
}

Test(retime, keeps_within_what_bounded_steps_allow) {
  SCOPED_WORLD little = world_of(CHANGED(running(4), it.elapsed.contract = MUSTER_ELAPSED_STEPS,
                                         it.elapsed.step_ns = FRAME_NS, it.elapsed.steps_max = 8));
  muster_agent agent = spawn_and_run(&little, 0, 1);
  cr_assert_eq(muster_type_set_periods(little.world, little.type, FRAME_NS / 2, 0), MUSTER_E_ARGUMENT);
  expect_error("bounded steps");
  cr_assert_eq(muster_type_set_periods(little.world, little.type, 8 * FRAME_NS, 0), MUSTER_E_ARGUMENT);
  muster_agent_set_periods(little.world, agent, 100 * FRAME_NS, 0);
  run_frame(&little);
  cr_assert_eq(explain(&little, agent).nominal_ns, 7 * FRAME_NS);
  cr_assert_eq(explain(&little, agent).longest_ns, 8 * FRAME_NS);
  muster_agent_set_periods(little.world, agent, FRAME_NS / 4, 0);
  run_frames(&little, 20);
  cr_assert_eq(explain(&little, agent).nominal_ns, FRAME_NS);
  uint64_t told_ns = runs_of(&little, agent)->told_ns;
  run_frames(&little, 20);
  cr_assert_geq(runs_of(&little, agent)->told_ns, told_ns + 18 * FRAME_NS);
}

/* ------------------------------------------------------------------------------------------- what has passed counts */

enum { PERIOD = 40 };

/* A world whose agent has run in this frame. */
static little_world fresh_run(uint32_t delay, muster_agent *agent) {
  little_world little = typed_world(1, WITH(virtual_world_def, it.activation_delay = delay), running(PERIOD));
  *agent = spawn_at(&little, 0);
  run_frame(&little);
  while (runs_of(&little, *agent)->count < 2) run_frame(&little);
  return little;
}

/* In how many frames from now it runs. */
static uint32_t frames_to_run(little_world *little, muster_agent agent) {
  uint64_t count = runs_of(little, agent)->count;
  uint32_t frames = 0;
  while (runs_of(little, agent)->count == count) {
    run_frame(little);
    cr_assert_lt(++frames, 1000);
  }
  return frames;
}

typedef void set_periods(const little_world *little, muster_agent agent, uint64_t period_ns);

static void set_of_agent(const little_world *little, muster_agent agent, uint64_t period_ns) {
  assert_ok(muster_agent_set_periods(little->world, agent, period_ns, 0));
}

static void set_of_type(const little_world *little, muster_agent agent, uint64_t period_ns) {
  (void)agent;
  assert_ok(muster_type_set_periods(little->world, little->type, period_ns, 0));
}

Test(retime, an_agent_runs_after_the_part_that_was_left_of_its_period) {
  static set_periods *const sets[] = {set_of_agent, set_of_type};
  for (uint32_t i = 0; i < 4; i++) {
    set_periods *set = sets[i % 2];
    muster_agent agent;
    SCOPED_WORLD little = fresh_run(i / 2 ? 1 : 0, &agent);
    uint32_t late = i / 2;
    run_frames(&little, PERIOD / 2);
    set(&little, agent, PERIOD / 2 * FRAME_NS);
    uint32_t frames = frames_to_run(&little, agent);
    cr_assert(frames == PERIOD / 4 || (late && frames == PERIOD / 4 + 1), "half of its period passed: %u", frames);
    frames = frames_to_run(&little, agent);
    cr_assert(frames + late >= PERIOD / 2 && frames <= PERIOD / 2 + late, "%u", frames);
    run_frames(&little, PERIOD / 4);
    set(&little, agent, 2 * PERIOD * FRAME_NS);
    frames = frames_to_run(&little, agent);
    cr_assert(frames + 4 * late >= PERIOD && frames <= PERIOD + 4 * late, "half of the long one is left: %u", frames);
    set(&little, agent, 0);
    run_frame(&little);
    cr_assert_eq(info_of(&little, agent).period_ns, PERIOD * FRAME_NS, "back to what it was");
    frames = frames_to_run(&little, agent);
    cr_assert(frames + 2 * late + 1 >= PERIOD - 1 && frames <= PERIOD + 2 * late, "%u", frames);
  }
}

Test(retime, an_agent_with_a_period_of_its_own_does_not_follow_its_type) {
  muster_agent own;
  SCOPED_WORLD little = fresh_run(0, &own);
  muster_agent other = spawn_at(&little, 5);
  set_of_agent(&little, own, 10 * FRAME_NS);
  set_of_agent(&little, other, 20 * FRAME_NS); /* it is not active yet */
  run_frames(&little, 2);
  set_of_type(&little, own, 5 * FRAME_NS);
  muster_agent born = spawn_and_run(&little, 9, 3);
  uint64_t period_ns, period_max_ns;
  cr_assert_eq(muster_type_periods_read(little.world, little.type, &period_ns, &period_max_ns), MUSTER_OK);
  cr_assert_eq(period_ns, 5 * FRAME_NS);
  cr_assert_eq(period_max_ns, PERIOD * FRAME_NS);
  cr_assert_eq(info_of(&little, own).period_ns, 10 * FRAME_NS);
  cr_assert_eq(info_of(&little, other).period_ns, 20 * FRAME_NS);
  cr_assert_eq(info_of(&little, born).period_ns, 5 * FRAME_NS);
  muster_agent_explanation explanation = explain(&little, own);
  cr_assert(explanation.reasons & MUSTER_REASON_OWN_PERIOD);
  cr_assert_eq(explanation.nominal_ns, 10 * FRAME_NS);
  expect_explained(&explanation, "runs every 100 ms, a period of its own");
  cr_assert_not(explain(&little, born).reasons & MUSTER_REASON_OWN_PERIOD);
  /* It moves to another class, and takes its period along. */
  tune_agent(&little, own, WITH(muster_agent_tuning, it.elasticity = 3.0f));
  run_frames(&little, 2);
  cr_assert_eq(info_of(&little, own).period_ns, 10 * FRAME_NS);
  set_of_agent(&little, own, 0);
  run_frames(&little, 2);
  cr_assert_eq(info_of(&little, own).period_ns, 5 * FRAME_NS, "as its type");
}

/* An update changes its own agent's period, and then its type's. */
static muster_atom_result set_from_inside(muster_update *update) {
  runs *self = update->state;
  self->count++;
  muster_agent gone = muster_agent_make(muster_agent_index(update->agent), 77);
  cr_assert_eq(muster_update_set_periods(update, gone, FRAME_NS, 0), MUSTER_E_STALE);
  cr_assert_eq(muster_update_set_periods(update, update->agent, 1, 0), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_update_set_type_periods(update, update->type, 1, 0), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_update_set_type_periods(update, (muster_type){9}, FRAME_NS, 0), MUSTER_E_ARGUMENT);
  if (self->count == 1) cr_assert_eq(muster_update_set_periods(update, update->agent, 5 * FRAME_NS, 0), MUSTER_OK);
  if (self->count != 2) return MUSTER_ATOM_NEXT;
  cr_assert_eq(muster_update_set_periods(update, update->agent, 0, 0), MUSTER_OK);
  cr_assert_eq(muster_update_set_type_periods(update, update->type, 3 * FRAME_NS, 0), MUSTER_OK);
  return MUSTER_ATOM_NEXT;
}

Test(retime, an_update_changes_periods_from_the_next_intake_on) {
  SCOPED_WORLD little = world_of(CHANGED(running(20), it.atoms = atom_of(set_from_inside, 1000)));
  muster_agent agent = spawn_and_run(&little, 0, 1);
  frames_to_run(&little, agent);
  cr_assert_eq(frames_to_run(&little, agent), 5);
  cr_assert_eq(frames_to_run(&little, agent), 3);
  cr_assert_eq(info_of(&little, agent).period_ns, 3 * FRAME_NS);
}

/* ----------------------------------------------------------------------------------- crowds, records and snapshots */

enum { CROWD = 600, CROWD_FRAMES = 120, CROWD_CHANGES = 7 };

static little_world crowd_world(uint32_t workers) {
  return typed_world(workers, WITH(virtual_world_def, it.limits.agents_max = 1000, it.activation_delay = 2),
                     CHANGED(running(8), it.period_max_ns = 30 * FRAME_NS, it.levels.count = 2));
}

static void populate(const little_world *little, muster_agent agents[CROWD]) {
  for (uint32_t i = 0; i < CROWD; i++) agents[i] = spawn_at(little, i);
}

/* What the host asks for before a frame. */
static void change_periods(const little_world *little, const muster_agent agents[CROWD], uint32_t frame) {
  for (uint32_t i = 0; i < CROWD_CHANGES; i++) {
    uint32_t number = (frame * 131 + i * 37) % CROWD;
    set_of_agent(little, agents[number], (frame + i) % 5 ? (3 + (frame * i) % 11) * FRAME_NS : 0);
  }
  if (frame % 25 == 10) set_of_type(little, agents[0], (4 + frame % 9) * FRAME_NS);
  if (frame % 50 == 40) set_of_type(little, agents[0], 0);
}

static muster_frame_report crowd_frame(little_world *little, const muster_agent agents[CROWD], uint32_t frame) {
  change_periods(little, agents, frame);
  return run_frame_with(little, 90000); /* of 60 to 200 us wanted */
}

Test(retime, is_the_same_on_any_number_of_workers) {
  static const uint32_t workers[] = {1, 2, 4};
  static uint64_t hashes[CROWD_FRAMES];
  muster_agent agents[CROWD];
  for (uint32_t w = 0; w < 3; w++) {
    SCOPED_WORLD little = crowd_world(workers[w]);
    populate(&little, agents);
    for (uint32_t frame = 0; frame < CROWD_FRAMES; frame++) {
      crowd_frame(&little, agents, frame);
      uint64_t hash = muster_world_hash(little.world);
      if (w == 0) hashes[frame] = hash;
      cr_assert_eq(hash, hashes[frame], "frame %u on %u workers", frame, workers[w]);
    }
    for (uint32_t i = 0; i < CROWD; i++) {
      const runs *self = runs_of(&little, agents[i]);
      cr_assert(self->count > 2 && self->told_ns <= CROWD_FRAMES * (uint64_t)FRAME_NS, "agent %u", i);
      cr_assert_eq(info_of(&little, agents[i]).last_update_ns, self->last_ns);
    }
  }
}

Test(retime, a_record_of_it_replays) {
  SCOPED(recorded_forget) struct recorded run = {0};
  muster_agent agents[CROWD];
  SCOPED_WORLD little = crowd_world(2), again = crowd_world(1);
  recorded_begin(&run, little.world);
  populate(&little, agents);
  for (uint32_t frame = 0; frame < CROWD_FRAMES; frame++)
    recorded_note(&run, &little, crowd_frame(&little, agents, frame));
  recorded_end(&run, little.world);
  recorded_replay(&run, again.world);
  replay_alike(&run, &again);
}

/* The snapshot is taken when changes wait, types and agents have periods of their own, and some were removed since. */
Test(retime, a_snapshot_restores_it) {
  muster_agent agents[CROWD];
  SCOPED_WORLD little = crowd_world(2), other = crowd_world(1);
  populate(&little, agents);
  for (uint32_t frame = 0; frame < 38; frame++) crowd_frame(&little, agents, frame);
  change_periods(&little, agents, 38);
  copy_world(&little, &other);
  uint64_t period_ns[2], longest_ns[2];
  muster_type_periods_read(little.world, little.type, &period_ns[0], &longest_ns[0]);
  muster_type_periods_read(other.world, other.type, &period_ns[1], &longest_ns[1]);
  cr_assert_eq(period_ns[0], period_ns[1]);
  cr_assert_neq(period_ns[1], 8 * FRAME_NS, "it was tuned");
  cr_assert_eq(longest_ns[0], longest_ns[1]);
  cr_assert_eq(muster_world_hash(little.world), muster_world_hash(other.world));
  for (uint32_t frame = 39; frame < CROWD_FRAMES; frame++) {
    crowd_frame(&little, agents, frame);
    crowd_frame(&other, agents, frame);
    cr_assert_eq(muster_world_hash(little.world), muster_world_hash(other.world), "frame %u", frame);
  }
}

/* One agent crosses back and forth, one stays in a world of its own. */
Test(retime, an_agent_takes_its_period_from_zone_to_zone) {
  SCOPED(zones_destroy) little_world zones[2] = {zone_world(1), zone_world(2)};
  SCOPED_WORLD whole = zone_world(1);
  muster_agent agent = spawn_at(&zones[0], 10), same = spawn_at(&whole, 10);
  uint32_t at = 0;
  run_both(&zones[0], &zones[1], 1);
  run_frame(&whole);
  set_of_agent(&zones[0], agent, 130000000u);
  set_of_agent(&whole, same, 130000000u);
  for (uint32_t frame = 0; frame < 200; frame++) {
    run_both(&zones[0], &zones[1], 1);
    run_frame(&whole);
    cr_assert_eq(info_of(&zones[at], agent).period_ns, 130000000u, "frame %u", frame);
    cr_assert_eq(info_of(&zones[at], agent).last_update_ns, info_of(&whole, same).last_update_ns, "frame %u", frame);
    if (frame % 7 != 2) continue;
    cross(&zones[at], &zones[!at], agent);
    at = !at;
  }
  cr_assert_gt(mind_of(&whole, same)->updates, 12);
}

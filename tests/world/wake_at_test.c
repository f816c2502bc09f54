/* A time that was asked for is kept to the frame, whatever the load: from the host, from updates and from other
 * threads; until it is taken back, or the agent is gone. */
#include "world/fixture.h"

enum { TOLD_MAX = 64, CROWD = 200 };

typedef struct sleeper {
  uint64_t now_ns[TOLD_MAX], wake_at_ns[TOLD_MAX], elapsed_ns[TOLD_MAX];
  uint32_t runs;
} sleeper;

static muster_atom_result note_run(muster_update *update) {
  sleeper *own = update->state;
  if (own->runs < TOLD_MAX) {
    own->now_ns[own->runs] = update->now_ns;
    own->wake_at_ns[own->runs] = update->wake_at_ns;
    own->elapsed_ns[own->runs] = update->elapsed_ns;
  }
  own->runs++;
  return MUSTER_ATOM_NEXT;
}

static const muster_atom note_only[] = {{.run = note_run, .model_ns = 1000}};

static muster_type_def sleeper_type(const muster_atom *atoms, uint32_t count) {
  /* No agent is quarantined. */
  return WITH(muster_type_def, it.name = "sleeper", it.limit_ns = 1000000000u, it.atoms = atoms, it.atom_count = count,
              it.state_bytes = sizeof(sleeper), it.elapsed.contract = MUSTER_ELAPSED_EVENTS);
}

static little_world sleepers_on(uint32_t workers, muster_type_def type) {
  return typed_world(workers, virtual_world_def_default(), type);
}

static const sleeper *state_of(const little_world *little, muster_agent agent) {
  return info_of(little, agent).state;
}

/* What it noted up to so many frames from now. */
static const sleeper *after(uint32_t frames, little_world *little, muster_agent agent) {
  run_frames(little, frames);
  return state_of(little, agent);
}

static void ask(const little_world *little, muster_agent agent, uint64_t at_ns) {
  assert_ok(muster_agent_wake_at(little->world, agent, at_ns));
}

/* --------------------------------------------------------------------------------------------------------- overload */

static const muster_atom hard_work[] = {{.run = nothing, .model_ns = 500000}};

/* A crowd that wants twenty times the 5 ms of a frame. */
static void add_crowd(little_world *little) {
  muster_type sleepers = little->type;
  add_type(little, WITH(muster_type_def, it.name = "crowd", it.atoms = hard_work, it.atom_count = 1,
                        it.period_ns = FRAME_NS, it.period_max_ns = 2 * FRAME_NS));
  for (uint32_t i = 0; i < CROWD; i++) spawn_at(little, i);
  little->type = sleepers;
}

enum { SLEEPERS = 200, TIMES = 20, APART_NS = 13000001 };

/* After each run, asks for the next one soon: unlike the crowd, these agents have never waited for long. */
static muster_atom_result ask_again(muster_update *update) {
  const sleeper *own = update->state;
  note_run(update);
  if (own->runs < TIMES) muster_update_wake_at(update, update->agent, update->now_ns + APART_NS);
  return MUSTER_ATOM_NEXT;
}

Test(wake_at, a_time_is_kept_to_the_frame_under_twenty_times_the_load) {
  SCOPED_WORLD little = sleepers_on(2, sleeper_type(atom_of(ask_again, 1000), 1));
  add_crowd(&little);
  muster_agent agents[SLEEPERS];
  for (uint32_t i = 0; i < SLEEPERS; i++) agents[i] = spawn_at(&little, i);
  run_frames(&little, 100);
  for (uint32_t i = 0; i < SLEEPERS; i++) ask(&little, agents[i], little.now_ns + 7000001ull * (i * 37 % 199 + 3));
  float pressure = 0;
  for (uint32_t frame = 0; frame < 250; frame++) pressure = run_frame(&little).pressure;
  cr_assert_gt(pressure, 9.0f, "%g", (double)pressure); /* ten times too much even at their longest periods */
  for (uint32_t i = 0; i < SLEEPERS; i++) {
    const sleeper *own = state_of(&little, agents[i]);
    cr_assert_eq(own->runs, TIMES);
    for (uint32_t run = 0; run < TIMES; run++) {
      if (run) cr_assert_eq(own->wake_at_ns[run], own->now_ns[run - 1] + APART_NS);
      cr_assert(own->now_ns[run] >= own->wake_at_ns[run] && own->now_ns[run] - own->wake_at_ns[run] < FRAME_NS);
    }
  }
  cr_assert_eq(statistics_of(&little).wakes_timed, SLEEPERS * TIMES);
}

Test(wake_at, an_agent_with_a_period_keeps_its_times_too) {
  SCOPED_WORLD little = world_of(CHANGED(sleeper_type(note_only, 1), it.elapsed.contract = MUSTER_ELAPSED_DELTA,
                                         it.period_ns = it.period_max_ns = 1000000000));
  muster_agent agent = spawn_and_run(&little, 0, 1);
  ask(&little, agent, little.now_ns + 1500000001);
  const sleeper *own = after(400, &little, agent);
  cr_assert_eq(own->runs, 5); /* four by period, one by time */
  uint32_t timed = 0;
  uint64_t first_ns = own->now_ns[0];
  for (uint32_t i = 0; i < own->runs; i++) {
    if (own->wake_at_ns[i]) {
      cr_assert_eq(own->now_ns[i], FRAME_NS + 1510000000u);
      timed++;
    } else {
      cr_assert_eq((own->now_ns[i] - first_ns) % 1000000000u, 0); /* the phase stays */
    }
    if (i) cr_assert_eq(own->elapsed_ns[i], own->now_ns[i] - own->now_ns[i - 1]);
  }
  cr_assert_eq(timed, 1);
}

/* ------------------------------------------------------------------------------------------------------------ rules */

Test(wake_at, an_agent_without_a_period_runs_when_it_is_asked_and_never_else) {
  SCOPED_WORLD little = world_of(sleeper_type(note_only, 1));
  muster_agent agent = spawn_at(&little, 0);
  cr_assert_eq(after(300, &little, agent)->runs, 0);
  cr_assert_eq(info_of(&little, agent).period_ns, 0);
  cr_assert_eq(muster_agent_wake(little.world, agent), MUSTER_OK);
  cr_assert_eq(after(300, &little, agent)->runs, 1);
  cr_assert_eq(state_of(&little, agent)->wake_at_ns[0], 0);
  cr_assert_eq(state_of(&little, agent)->elapsed_ns[0], 300ull * FRAME_NS);
}

Test(wake_at, the_earliest_time_stands_until_it_is_taken_back) {
  SCOPED_WORLD little = world_of(sleeper_type(note_only, 1));
  muster_agent agent = spawn_and_run(&little, 0, 1);
  ask(&little, agent, 20 * FRAME_NS);
  ask(&little, agent, 10 * FRAME_NS);
  ask(&little, agent, 30 * FRAME_NS);
  run_frames(&little, 1);
  cr_assert_eq(info_of(&little, agent).wake_at_ns, 10 * FRAME_NS);
  run_frames(&little, 5);
  cr_assert_eq(muster_agent_wake(little.world, agent), MUSTER_OK); /* a run by a wake leaves the time as it is */
  cr_assert_eq(after(40, &little, agent)->runs, 2);
  cr_assert_eq(state_of(&little, agent)->now_ns[1], 10 * FRAME_NS);
  cr_assert_eq(state_of(&little, agent)->wake_at_ns[1], 10 * FRAME_NS);
  uint64_t later_ns = little.now_ns + 10 * FRAME_NS;
  ask(&little, agent, little.now_ns + 5 * FRAME_NS);
  run_frames(&little, 2);
  ask(&little, agent, MUSTER_WAKE_NEVER);
  ask(&little, agent, later_ns);
  cr_assert_eq(after(20, &little, agent)->runs, 3);
  cr_assert_eq(state_of(&little, agent)->now_ns[2], later_ns);
  ask(&little, agent, little.now_ns + 5 * FRAME_NS);
  ask(&little, agent, MUSTER_WAKE_NEVER);
  cr_assert_eq(after(20, &little, agent)->runs, 3);
  cr_assert_eq(info_of(&little, agent).wake_at_ns, 0);
}

static muster_atom_result ask_for_a_later_time(muster_update *update) {
  cr_assert_eq(muster_update_wake_at(update, update->agent, update->now_ns + 60 * (uint64_t)FRAME_NS), MUSTER_OK);
  return note_run(update);
}

/* The agent runs before the time that was asked for it, and asks for a later one itself. */
Test(wake_at, an_agents_own_later_time_takes_no_earlier_one_back) {
  SCOPED_WORLD little = world_of(sleeper_type(atom_of(ask_for_a_later_time, 1000), 1));
  muster_agent agent = spawn_and_run(&little, 0, 2);
  uint32_t before = state_of(&little, agent)->runs;
  ask(&little, agent, 20 * FRAME_NS);
  run_frames(&little, 3);
  cr_assert_eq(muster_agent_wake(little.world, agent), MUSTER_OK);
  cr_assert_eq(after(2, &little, agent)->runs, before + 1);
  cr_assert_eq(info_of(&little, agent).wake_at_ns, 20 * FRAME_NS);
  cr_assert_eq(after(20, &little, agent)->runs, before + 2);
  cr_assert_eq(state_of(&little, agent)->now_ns[before + 1], 20 * FRAME_NS);
}

Test(wake_at, a_time_that_is_past_is_the_next_frame) {
  SCOPED_WORLD little = world_of(sleeper_type(note_only, 1));
  muster_agent agent = spawn_and_run(&little, 0, 10);
  ask(&little, agent, 0);
  cr_assert_eq(after(1, &little, agent)->runs, 1);
  cr_assert_eq(state_of(&little, agent)->wake_at_ns[0], 1);
  ask(&little, agent, 3 * FRAME_NS);
  cr_assert_eq(after(1, &little, agent)->runs, 2);
  cr_assert_eq(state_of(&little, agent)->wake_at_ns[1], 3 * FRAME_NS);
  ask(&little, agent, little.now_ns + FRAME_NS); /* exactly the next frame */
  cr_assert_eq(after(1, &little, agent)->runs, 3);
}

Test(wake_at, an_agent_that_is_gone_or_a_time_that_never_comes_is_refused) {
  SCOPED_WORLD little = world_of(sleeper_type(note_only, 1));
  muster_agent agent = spawn_at(&little, 0);
  assert_refused(muster_agent_wake_at(little.world, agent, (uint64_t)INT64_MAX), MUSTER_E_ARGUMENT, "at_ns");
  cr_assert_eq(muster_agent_wake_at(little.world, (muster_agent){0}, 5), MUSTER_E_STALE);
  cr_assert_eq(muster_agent_wake_at(little.world, muster_agent_make(7, 3), 5), MUSTER_E_STALE);
  ask(&little, agent, 5 * FRAME_NS); /* before it is active */
  run_frames(&little, 2);
  muster_agent_remove(little.world, agent);
  run_frames(&little, 1);
  cr_assert_eq(muster_agent_wake_at(little.world, agent, 50 * FRAME_NS), MUSTER_E_STALE);
  muster_agent next = spawn_at(&little, 0); /* it has the same index, but none of the times of the old agent */
  cr_assert_eq(muster_agent_index(next), muster_agent_index(agent));
  cr_assert_eq(after(20, &little, next)->runs, 0);
  cr_assert_eq(statistics_of(&little).wakes_timed, 0);
}

Test(wake_at, a_removed_agent_is_not_run_by_what_was_asked_in_the_same_frame) {
  SCOPED_WORLD little = world_of(sleeper_type(note_only, 1));
  muster_agent agent = spawn_at(&little, 0), other = spawn_at(&little, 0);
  run_frames(&little, 2);
  ask(&little, agent, 3 * FRAME_NS);
  ask(&little, other, 3 * FRAME_NS);
  muster_agent_remove(little.world, agent);
  run_frames(&little, 5);
  cr_assert_not(muster_agent_exists(little.world, agent));
  cr_assert_eq(state_of(&little, other)->runs, 1);
  cr_assert_eq(statistics_of(&little).wakes_timed, 1);
}

/* ----------------------------------------------------------------------------------------- from updates and threads */

enum { RING = 50 };

struct relay {
  muster_agent agents[RING];
  uint64_t passed_ns; /* the time that was asked for last */
  uint32_t passes;
};

static muster_atom_result pass_on(muster_update *update) {
  struct relay *relay = update->type_user;
  note_run(update);
  if (relay->passes) cr_assert_eq(update->wake_at_ns, relay->passed_ns);
  relay->passed_ns = update->now_ns + 25000000;
  relay->passes++;
  muster_agent next = relay->agents[relay->passes % RING];
  cr_assert_eq(muster_update_wake_at(update, next, relay->passed_ns), MUSTER_OK);
  cr_assert_eq(muster_update_wake_at(update, muster_agent_make(4000, 1), 1), MUSTER_E_STALE);
  cr_assert_eq(muster_update_wake_at(update, next, UINT64_MAX - 1), MUSTER_E_ARGUMENT);
  return MUSTER_ATOM_NEXT;
}

static void run_relay(muster_role role, uint32_t workers) {
  struct relay relay = {0};
  const muster_atom atoms[] = {{.run = nothing, .model_ns = 1000}, {.run = pass_on, .role = role, .model_ns = 1000}};
  SCOPED_WORLD little = sleepers_on(workers, CHANGED(sleeper_type(atoms, 2), it.user = &relay));
  for (uint32_t i = 0; i < RING; i++) relay.agents[i] = spawn_at(&little, i);
  run_frames(&little, 1);
  cr_assert_eq(muster_agent_wake(little.world, relay.agents[0]), MUSTER_OK);
  run_frames(&little, 1 + 30 * 100);
  cr_assert_eq(relay.passes, 1001); /* 25 ms are three frames */
}

Test(wake_at, updates_ask_for_others) {
  run_relay(MUSTER_ROLE_BEHAVIOUR, 1);
  run_relay(MUSTER_ROLE_BEHAVIOUR, 2);
}

Test(wake_at, action_atoms_ask_for_others) {
  run_relay(MUSTER_ROLE_ACTION, 2);
}

/* Asks for a later time, an earlier one, and another later one at the end; in odd runs it takes the others back. */
static muster_atom_result ask_oneself(muster_update *update) {
  note_run(update);
  const sleeper *own = update->state;
  muster_update_wake_at(update, update->agent, update->now_ns + 9 * FRAME_NS);
  muster_update_wake_at(update, update->agent, update->now_ns + 4 * FRAME_NS);
  if (own->runs % 2) muster_update_wake_at(update, update->agent, MUSTER_WAKE_NEVER);
  muster_update_wake_at(update, update->agent, update->now_ns + 7 * FRAME_NS);
  return MUSTER_ATOM_NEXT;
}

Test(wake_at, more_agents_than_a_log_holds_ask_for_themselves) {
  SCOPED_WORLD little = sleepers_on(2, sleeper_type(atom_of(ask_oneself, 10), 1));
  for (uint32_t i = 0; i < 10000; i++) ask(&little, spawn_at(&little, i), 10 * FRAME_NS);
  run_frames(&little, 10 + 22);
  for (muster_agent agent = {0}; !muster_agent_is_null(agent = muster_agent_next(little.world, agent));) {
    const sleeper *own = state_of(&little, agent);
    cr_assert_eq(own->runs, 5); /* in frame 10 or 11; then 7, 4, 7 and 4 frames later */
    for (uint32_t i = 1; i < own->runs; i++)
      cr_assert_leq(own->now_ns[i] - own->now_ns[i - 1] - (i % 2 ? 7 : 4) * FRAME_NS, FRAME_NS);
  }
  cr_assert_eq(statistics_of(&little).commands_dropped, 0);
}

struct asking {
  muster_world *world;
  const muster_agent *agents;
  uint32_t count;
};

static void *ask_from_elsewhere(void *argument) {
  const struct asking *asking = argument;
  for (uint32_t i = 0; i < asking->count; i++)
    cr_assert_eq(muster_agent_wake_at(asking->world, asking->agents[i], (300 + i) * (uint64_t)FRAME_NS), MUSTER_OK);
  return NULL;
}

Test(wake_at, other_threads_ask_while_frames_run) {
  enum { AGENTS = 100 };
  SCOPED_WORLD little = sleepers_on(2, sleeper_type(note_only, 1));
  muster_agent agents[AGENTS];
  for (uint32_t i = 0; i < AGENTS; i++) agents[i] = spawn_at(&little, i);
  run_frames(&little, 1);
  struct asking asking = {little.world, agents, AGENTS};
  pthread_t thread;
  cr_assert_eq(pthread_create(&thread, NULL, ask_from_elsewhere, &asking), 0);
  run_frames(&little, 100);
  pthread_join(thread, NULL);
  run_frames(&little, 400);
  for (uint32_t i = 0; i < AGENTS; i++) {
    cr_assert_eq(state_of(&little, agents[i])->runs, 1);
    cr_assert_eq(state_of(&little, agents[i])->now_ns[0], (300 + i) * (uint64_t)FRAME_NS);
  }
}

/* ----------------------------------------------------------------------------------------- updates in several parts */

static const muster_atom long_atoms[] = {{.run = note_run, .model_ns = 4000000},
                                         {.run = nothing, .model_ns = 4000000},
                                         {.run = nothing, .model_ns = 4000000}};

Test(wake_at, a_time_that_comes_during_an_update_is_answered_by_the_next) {
  SCOPED_WORLD little = world_of(sleeper_type(long_atoms, 3));
  muster_agent agent = spawn_and_run(&little, 0, 1);
  ask(&little, agent, 10 * FRAME_NS);
  run_frames(&little, 9);
  cr_assert_eq(info_of(&little, agent).atoms_done, 1); /* 12 ms at 5 ms a frame: three frames */
  ask(&little, agent, 11 * FRAME_NS);
  const sleeper *own = after(10, &little, agent);
  cr_assert_eq(own->runs, 2);
  cr_assert_eq(own->now_ns[0], 10 * FRAME_NS);
  cr_assert_eq(own->now_ns[1], 13 * FRAME_NS);
  cr_assert_eq(own->wake_at_ns[1], 11 * FRAME_NS);
}

static muster_atom_result come_again(muster_update *update) {
  note_run(update);
  muster_update_wake_at(update, update->agent, update->now_ns + 2 * FRAME_NS);
  return MUSTER_ATOM_NEXT;
}

Test(wake_at, periods_make_room_for_those_who_have_none) {
  SCOPED_WORLD little = world_of(sleeper_type(atom_of(come_again, 100000), 1));
  for (uint32_t i = 0; i < 60; i++)
    ask(&little, spawn_at(&little, i), (1 + i % 2) * FRAME_NS); /* 3 ms of 5 in a frame */
  add_type(&little, type_with(hard_work, 1));
  for (uint32_t i = 0; i < 70; i++) spawn_at(&little, i); /* 3.5 ms a frame, if no period is stretched */
  run_frames(&little, 200);
  for (uint32_t i = 0; i < 200; i++) {
    muster_frame_report report = run_frame(&little);
    cr_assert_gt(report.utilisation_nominal, 1.2f * report.utilisation_desired);
    cr_assert_float_eq(report.utilisation_fitted, report.utilisation_desired, 0.05f * report.utilisation_desired);
    cr_assert_leq(report.longest_wait_ns, 20 * FRAME_NS); /* one period: periods make the room, not the queue */
  }
}

static muster_atom_result wander_in_time(muster_update *update) {
  struct relay *relay = update->type_user;
  note_run(update);
  uint64_t ahead_ns = muster_update_random(update) % (20ull * FRAME_NS);
  muster_update_wake_at(update, update->agent, update->now_ns + ahead_ns);
  muster_agent other = relay->agents[muster_update_random(update) % RING];
  muster_update_wake_at(update, other, update->now_ns + ahead_ns / 2);
  if (ahead_ns % 7 == 0) muster_update_wake_at(update, other, MUSTER_WAKE_NEVER);
  return MUSTER_ATOM_NEXT;
}

static uint64_t hash_on(uint32_t workers, uint64_t last_asked_ns) {
  struct relay relay = {0};
  muster_type_def type =
      CHANGED(sleeper_type(atom_of(wander_in_time, 300000), 1), it.user = &relay, it.wake_gap_ns = 3 * FRAME_NS);
  SCOPED_WORLD little = sleepers_on(workers, type);
  add_crowd(&little);
  for (uint32_t i = 0; i < RING; i++) ask(&little, relay.agents[i] = spawn_at(&little, i), i * 1000000);
  for (uint32_t i = 0; i < 500; i++) {
    muster_agent_wake(little.world, relay.agents[i % RING]);
    run_frame(&little);
  }
  ask(&little, relay.agents[0], MUSTER_WAKE_NEVER);
  ask(&little, relay.agents[0], last_asked_ns);
  run_frame(&little);
  return muster_world_hash(little.world);
}

Test(wake_at, times_are_the_same_on_any_number_of_workers_and_part_of_the_hash) {
  uint64_t hash = hash_on(1, 1000ull * FRAME_NS);
  cr_assert_eq(hash_on(2, 1000ull * FRAME_NS), hash);
  cr_assert_eq(hash_on(4, 1000ull * FRAME_NS), hash);
  cr_assert_neq(hash_on(1, 1001ull * FRAME_NS), hash);
}

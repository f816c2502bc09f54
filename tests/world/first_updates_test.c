/* No update is told that no time has passed, but for a further cycle of one: an agent that is at the time of the frame
 * already, since it began or ran then, waits until time has passed. */
#include "support/planned_world.h"
#include "world/fixture.h"

enum { CROWD = 2000, PERIOD_FRAMES = 8 };

typedef struct life {
  uint64_t first_ns; /* how long after its spawn its first update came; 0 = none came */
  uint32_t runs, of_none;
} life;

static muster_atom_result live(muster_update *update) {
  life *self = update->state;
  if (self->runs++ == 0) self->first_ns = update->elapsed_ns;
  self->of_none += update->elapsed_ns == 0;
  return MUSTER_ATOM_NEXT;
}

static muster_type_def living(void) {
  return CHANGED(type_running(live, 100), it.state_bytes = sizeof(life),
                 it.period_ns = it.period_max_ns = PERIOD_FRAMES * FRAME_NS);
}

static const life *life_of(const little_world *little, muster_agent agent) {
  return info_of(little, agent).state;
}

/* Frames of half a period: of agents that enter in a later frame than the first, half would be due at once, if the
 * random part of their period were counted from the frame before. */
Test(first_updates, come_a_random_part_of_the_period_after_an_intake_that_was_put_off) {
  static const uint32_t workers[] = {1, 2, 4};
  uint64_t hashes[3];
  for (uint32_t w = 0; w < 3; w++) {
    SCOPED_WORLD little = little_world_create(workers[w], NULL);
    add_type(&little, CHANGED(living(), it.period_ns = it.period_max_ns = 2 * FRAME_NS));
    SCOPED(free_memory) muster_agent *agents = calloc(CROWD, sizeof *agents);
    for (uint32_t i = 0; i < CROWD; i++) agents[i] = spawn_at(&little, i);
    uint32_t put_off = 0;
    for (uint32_t frame = 0; frame < 30; frame++) put_off += run_frame_with(&little, 1000000u).spawns_waiting > 0;
    cr_assert_geq(put_off, 1, "intake must be put off");
    uint32_t first_half = 0;
    for (uint32_t i = 0; i < CROWD; i++) {
      const life *self = life_of(&little, agents[i]);
      cr_assert_eq(self->of_none, 0, "agent %u ran with elapsed 0", i);
      cr_assert(self->first_ns == FRAME_NS || self->first_ns == 2 * FRAME_NS, "agent %u: %lu", i, self->first_ns);
      first_half += self->first_ns == FRAME_NS;
    }
    cr_assert(first_half > CROWD * 45 / 100 && first_half < CROWD * 55 / 100, "%u of %u", first_half, CROWD);
    hashes[w] = muster_world_hash(little.world);
    cr_assert_eq(hashes[w], hashes[0], "on %u workers", workers[w]);
  }
}

/* -------------------------------------------------------------------------------------- woken where no time passed */

static void ask_for_now(muster_update *update) {
  cr_assert_eq(muster_update_wake_at(update, update->agent, update->now_ns), MUSTER_OK);
}

static void ask_to_react(muster_update *update) {
  cr_assert_eq(muster_update_react_by(update, update->now_ns), MUSTER_OK);
}

static void wake_itself(muster_update *update) {
  cr_assert_eq(muster_update_wake(update, update->agent), MUSTER_OK);
}

static void wake_it(const little_world *little, muster_agent agent) {
  cr_assert_eq(muster_agent_wake(little->world, agent), MUSTER_OK);
}

static void wake_it_in_the_past(const little_world *little, muster_agent agent) {
  cr_assert_eq(muster_agent_wake_at(little->world, agent, 1), MUSTER_OK);
}

static void send_to_it(const little_world *little, muster_agent agent) {
  cr_assert_eq(muster_agent_send(little->world, agent, "", 0), MUSTER_OK);
}

/* Ways to ask for an update: the agent's own when it begins, and the host's. */
typedef struct wish {
  const char *name;
  void (*on_spawned)(muster_update *update);
  void (*call)(const little_world *little, muster_agent agent);
  uint64_t gap_ns;
} wish;

static const wish ways[] = {{.name = "wakes itself", .on_spawned = wake_itself},
                            {.name = "asks for a time", .on_spawned = ask_for_now},
                            {.name = "must react", .on_spawned = ask_to_react},
                            {.name = "is woken", .call = wake_it},
                            {.name = "is woken, with a gap", .call = wake_it, .gap_ns = FRAME_NS / 2},
                            {.name = "is woken at a time", .call = wake_it_in_the_past},
                            {.name = "gets a message", .call = send_to_it}};
enum { WAYS = COUNT_OF(ways) };

static void run_again(little_world *little) {
  little->now_ns -= FRAME_NS;
  run_frame(little);
}

/* The agent begins in a frame, another comes at the same time, and time passes with the third. */
static void expect_run_when_time_has_passed(const wish *way, muster_elapsed contract) {
  SCOPED_WORLD little =
      world_of(CHANGED(living(), it.period_ns = it.period_max_ns = 1000ull * FRAME_NS, it.elapsed.contract = contract,
                       it.on_spawned = way->on_spawned, it.wake_gap_ns = way->gap_ns, it.messages.waiting_max = 4,
                       it.messages.wake = true));
  run_frames(&little, 2);
  muster_agent agent = spawn_at(&little, 0);
  if (way->call) way->call(&little, agent);
  run_frame(&little);
  const life *self = life_of(&little, agent);
  cr_assert_eq(self->runs, 0, "%s: it ran in the frame of its spawn", way->name);
  run_again(&little);
  cr_assert_eq(self->runs, 0, "%s: it ran at the time of its spawn", way->name);
  run_frame(&little);
  cr_assert_eq(self->runs, 1, "%s: it was forgotten", way->name);
  cr_assert_eq(self->first_ns, FRAME_NS, "%s", way->name);
  if (way->call) { /* at the time of its last update */
    way->call(&little, agent);
    run_again(&little);
    cr_assert_eq(self->runs, 1, "%s: it ran twice at one time", way->name);
    run_frame(&little);
    cr_assert_eq(self->runs, 2, "%s: it was forgotten after its update", way->name);
  }
  run_frames(&little, 5);
  cr_assert_eq(self->runs, way->call ? 2 : 1, "%s: once is enough", way->name);
  cr_assert_eq(self->of_none, 0);
}

Test(first_updates, of_agents_that_are_asked_to_run_wait_until_time_has_passed) {
  for (uint32_t i = 0; i < WAYS; i++) {
    expect_run_when_time_has_passed(&ways[i], MUSTER_ELAPSED_DELTA);
    expect_run_when_time_has_passed(&ways[i], MUSTER_ELAPSED_EVENTS);
  }
}

/* ---------------------------------------------------------------------------------------- several frames at a time */

/* Agents are late by more than a period, and by less than two: so they are due again at once, as far as clocks know. */
Test(first_updates, no_agent_runs_twice_when_a_frame_is_planned_again_at_the_same_time) {
  enum { AGENTS = 500, STEP_NS = 250000000 };
  SCOPED(planned_world_end)
  planned_world *planned =
      planned_world_of(NULL, CHANGED(parts_type(1), it.period_ns = it.period_max_ns = 100000000u), AGENTS);
  for (uint32_t step = 0; step < 8; step++) {
    planned->little.now_ns += STEP_NS - FRAME_NS;
    for (uint32_t again = 0; again < 4; again++) {
      plan(planned);
      for (uint32_t i = 0; i < planned->plan.count; i++) {
        cr_assert_gt(planned->entries[i].elapsed_ns, 0, "step %u, plan %u", step, again);
        planned->results[i] = result_as_planned(&planned->entries[i], 1);
      }
      report(planned, planned->plan.count);
      planned->little.now_ns -= FRAME_NS;
    }
    planned->little.now_ns += FRAME_NS;
  }
}

/* On the wall clock workers take agents that are woken while the frame runs, those among them that began in it. */
static muster_atom_result wake_all(muster_update *update) {
  const muster_agent *agents = update->type_user;
  for (uint32_t i = 0; i < 64; i++) muster_update_wake(update, agents[i]);
  return MUSTER_ATOM_NEXT;
}

Test(first_updates, no_worker_takes_an_agent_that_is_at_the_time_of_the_frame) {
  enum { AGENTS = 64 };
  static muster_agent agents[AGENTS];
  SCOPED_WORLD little = peopled(
      typed_world(2, muster_world_def_default(),
                  CHANGED(type_running(wake_all, 1000), it.period_ns = it.period_max_ns = FRAME_NS, it.user = agents)),
      8);
  add_type(&little, living());
  for (uint32_t i = 0; i < AGENTS; i++) agents[i] = spawn_at(&little, i);
  run_frames(&little, 3);
  for (uint32_t round = 0; round < 20; round++) {
    for (uint32_t i = 0; i < AGENTS; i++) {
      cr_assert_eq(life_of(&little, agents[i])->of_none, 0, "agent %u, round %u", i, round);
      muster_agent_remove(little.world, agents[i]);
      agents[i] = spawn_at(&little, i);
    }
    for (uint32_t i = 0; i < 3; i++) run_frame_with(&little, 1000000000u);
    run_again(&little);
    for (uint32_t i = 0; i < AGENTS; i++) cr_assert_geq(life_of(&little, agents[i])->runs, 1);
  }
}

/* What cannot be saved, and what is not loaded: it is refused with the reason, and the world does not change. */
#include "support/busy_worlds.h"
#include "world/fixture.h"

/* Saves a small world with a bit of everything. */
static saved_world save_small(uint32_t frames) {
  const busy_kind *kind = &busy_kinds[1];
  SCOPED_WORLD little = busy_world(kind, 1);
  for (uint32_t i = 0; i < 12; i++) busy_spawn(&little, i, 0);
  observe_at(&little, 0);
  for (uint32_t i = 0; i < frames; i++) run_frame_with(&little, kind->budget_ns);
  busy_spawn(&little, 1, 1);
  return save_world(little.world);
}

static void expect_refused(little_world *little, const void *bytes, size_t count, const char *why) {
  muster_result result = load_world(little->world, bytes, count);
  cr_assert_eq(result, MUSTER_E_INPUT, "%s: %s", why, muster_result_name(result));
  cr_assert(strncmp(muster_last_error(), "snapshot: ", 10) == 0, "%s: %s", why, muster_last_error());
  cr_assert_eq(muster_world_hash(little->world), 0);
  cr_assert(muster_agent_is_null(muster_agent_next(little->world, (muster_agent){0})));
}

/* A world that refused a snapshot goes on as a new one: it still loads the whole snapshot. */
static void expect_loaded(little_world *little, const saved_world *saved) {
  assert_ok(load_world(little->world, saved->bytes, saved->count));
  cr_assert_eq(muster_world_hash(little->world), look_at(saved).hash);
  little->now_ns = look_at(saved).sim_now_ns;
  run_frames(little, 10);
}

Test(snapshot_refusals, every_truncation) {
  SCOPED(saved_world_forget) saved_world saved = save_small(20);
  SCOPED_WORLD little = busy_world(&busy_kinds[1], 1);
  for (size_t count = 0; count < saved.count; count++) {
    unsigned char *cut = malloc(count + 1); /* a copy of its own, so that a sanitizer sees reads beyond it */
    memcpy(cut, saved.bytes, count);
    expect_refused(&little, cut, count, "cut");
    free(cut);
  }
  expect_loaded(&little, &saved);
}

Test(snapshot_refusals, ten_thousand_flips_of_a_bit) {
  SCOPED(saved_world_forget) saved_world saved = save_small(20);
  SCOPED_WORLD little = busy_world(&busy_kinds[1], 1);
  uint64_t random = 88172645463325252u;
  for (int i = 0; i < 10000; i++) {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    size_t bit = random % (saved.count * 8);
    saved.bytes[bit / 8] ^= (unsigned char)(1u << (bit % 8));
    expect_refused(&little, saved.bytes, saved.count, "flipped");
    saved.bytes[bit / 8] ^= (unsigned char)(1u << (bit % 8));
  }
  expect_loaded(&little, &saved);
}

Test(snapshot_refusals, what_comes_behind_the_end) {
  SCOPED(saved_world_forget) saved_world saved = save_small(3), longer = {0};
  SCOPED_WORLD little = busy_world(&busy_kinds[1], 1);
  unsigned char zero[32] = {0};
  saved_world_write(saved.bytes, saved.count, &longer);
  saved_world_write(zero, sizeof zero, &longer);
  expect_refused(&little, longer.bytes, longer.count, "longer");
  expect_error("32 bytes behind the end");
  expect_refused(&little, "MUSTAPE\n and so on", 18, "a record");
  expect_error("offset 0");
}

/* A world of another definition is told what differs. */
static void expect_differs(const saved_world *saved, muster_world_def def, const char *what) {
  SCOPED_WORLD little = little_world_of(1, def);
  expect_refused(&little, saved->bytes, saved->count, what);
  expect_error(what);
}

/* So is one of another type. */
static void expect_type_differs(const saved_world *saved, muster_type_def type, const char *what) {
  SCOPED_WORLD little = world_of(type);
  expect_refused(&little, saved->bytes, saved->count, what);
  expect_error(what);
}

Test(snapshot_refusals, worlds_that_differ) {
  SCOPED(saved_world_forget) saved_world saved = save_small(3);
  const muster_world_def def = CHANGED(papers_world_def(), it.clock.kind = MUSTER_CLOCK_VIRTUAL);
  expect_differs(&saved, papers_world_def(), "clock");
  expect_differs(&saved, def, "0 types are registered, in the snapshot there were 4");
  expect_differs(&saved, CHANGED(def, it.seed = 2), "seed is 2, that of the snapshot was 1");
  expect_differs(&saved, CHANGED(def, it.cell_m = 16), "cell_m is 16");
  expect_differs(&saved, CHANGED(def, it.activation_delay = 3), "activation_delay");
}

static muster_type_def idle_type(const char *name, uint32_t state_bytes) {
  return CHANGED(type_running(nothing, 0), it.name = name, it.state_bytes = state_bytes);
}

static little_world small_world(uint32_t agents_max) {
  return typed_world(1, WITH(virtual_world_def, it.limits.agents_max = agents_max), idle_type("hen", 8));
}

Test(snapshot_refusals, types_that_differ_and_worlds_that_are_too_small) {
  SCOPED_WORLD little = peopled(world_of(idle_type("hen", 8)), 100);
  run_frames(&little, 3);
  SCOPED(saved_world_forget) saved_world saved = save_world(little.world);
  expect_type_differs(&saved, idle_type("cock", 8), "type 1 is 'cock', in the snapshot it was 'hen'");
  expect_type_differs(&saved, idle_type("hen", 16), "state_bytes is 16, in the snapshot it was 8");
  SCOPED_WORLD too_small = small_world(99), smaller = small_world(200);
  expect_refused(&too_small, saved.bytes, saved.count, "room");
  expect_error("there is room for 99");
  expect_loaded(&smaller, &saved); /* another size that suffices is accepted */
}

static muster_type_def in_steps(muster_type_def type) {
  return CHANGED(type, it.elapsed.contract = MUSTER_ELAPSED_STEPS, it.elapsed.step_ns = FRAME_NS,
                 it.elapsed.steps_max = 200);
}

/* Expects that another step is named. */
static void expect_step_named(muster_type_def type) {
  SCOPED_WORLD little = world_of(type);
  SCOPED(saved_world_forget) saved_world saved = save_world(little.world);
  expect_type_differs(&saved, CHANGED(type, it.elapsed.step_ns = FRAME_NS / 2),
                      "step_ns is 5000000, in the snapshot it was 10000000");
}

/* Each rule of a type without which its agents could not go on is compared and named. */
Test(snapshot_refusals, types_whose_rules_differ) {
  muster_type_def type =
      CHANGED(type_running(nothing, 0), it.name = "hen", it.messages.waiting_max = 4, it.messages.bytes_max = 16);
  SCOPED_WORLD little = world_of(type), same = world_of(type);
  spawn_and_run(&little, 0, 3);
  SCOPED(saved_world_forget) saved_world saved = save_world(little.world);
  expect_type_differs(&saved, CHANGED(type, it.published_bytes = 8), "published_bytes");
  expect_type_differs(&saved, CHANGED(type, it.period_ns *= 2), "period_ns");
  expect_type_differs(&saved, CHANGED(type, it.period_max_ns *= 2), "period_max_ns");
  expect_type_differs(&saved, CHANGED(type, it.levels.count = 2), "level_count");
  expect_type_differs(&saved, in_steps(type), "elapsed");
  expect_type_differs(&saved, CHANGED(type, it.messages.waiting_max = 5), "messages_max");
  expect_type_differs(&saved, CHANGED(type, it.messages.bytes_max = 24), "message_bytes");
  expect_loaded(&same, &saved);
  expect_step_named(in_steps(type));
}

static bool refuse(const void *bytes, size_t count, void *user) {
  (void)bytes, (void)count;
  return --*(int *)user >= 0;
}

static muster_result save_somewhere(muster_world *world, int writes) {
  muster_save_def def = WITH(muster_save_def, it.write = refuse, it.user = &writes);
  return muster_world_save(world, &def);
}

static muster_result inside_result;

static muster_atom_result save_inside(muster_update *update) {
  inside_result = save_somewhere(update->world, 1);
  return MUSTER_ATOM_NEXT;
}

Test(snapshot_refusals, states_in_which_a_world_is_not_saved_or_loaded) {
  SCOPED_WORLD little = world_of(type_running(save_inside, 0));
  muster_agent_wake(little.world, spawn_at(&little, 0));
  cr_assert_eq(save_somewhere(little.world, 0), MUSTER_E_SYSTEM, "the first write is refused");
  cr_assert_eq(save_somewhere(little.world, 2), MUSTER_E_SYSTEM, "the third is");
  run_frames(&little, 2);
  cr_assert_eq(inside_result, MUSTER_E_STATE);
  SCOPED(saved_world_forget) saved_world saved = save_world(little.world);
  assert_refused(load_world(little.world, saved.bytes, saved.count), MUSTER_E_STATE, "new world");
  cr_assert_eq(muster_world_save(little.world, &(muster_save_def){0}), MUSTER_E_NOT_INITIALISED);
  cr_assert_eq(muster_world_load(little.world, &(muster_load_def){0}), MUSTER_E_NOT_INITIALISED);
  SCOPED_WORLD planned = little_world_of(1, WITH(muster_world_def, it.planner_workers = 1));
  cr_assert_eq(save_somewhere(planned.world, 100), MUSTER_E_STATE);
  cr_assert_eq(load_world(planned.world, saved.bytes, saved.count), MUSTER_E_STATE);
}

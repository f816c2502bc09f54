/* What cannot be saved, and what is not loaded: it is refused with the reason, and the world does not change. */
#include "support/busy_worlds.h"
#include "support/papers_rules.h"
#include "support/snapshots.h"

#include <muster/snapshot.h>

/* Saves a small world with a bit of everything. */
static saved_world save_small(uint32_t frames) {
  const busy_kind *kind = &busy_kinds[1];
  little_world little = busy_world(kind, 1);
  for (uint32_t i = 0; i < 12; i++) busy_spawn(&little, i, 0);
  muster_observer_def observer = muster_observer_def_default();
  muster_observer_add(little.world, &observer);
  for (uint32_t i = 0; i < frames; i++) run_frame_with(&little, kind->budget_ns);
  busy_spawn(&little, 1, 1);
  saved_world saved = save_world(little.world);
  little_world_destroy(&little);
  return saved;
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
  cr_assert_eq(load_world(little->world, saved->bytes, saved->count), MUSTER_OK, "%s", muster_last_error());
  cr_assert_eq(muster_world_hash(little->world), look_at(saved).hash);
  little->now_ns = look_at(saved).sim_now_ns;
  run_frames(little, 10);
}

Test(snapshot_refusals, every_truncation) {
  saved_world saved = save_small(20);
  little_world little = busy_world(&busy_kinds[1], 1);
  for (size_t count = 0; count < saved.count; count++) {
    unsigned char *cut = malloc(count + 1); /* a copy of its own, so that a sanitizer sees reads beyond it */
    memcpy(cut, saved.bytes, count);
    expect_refused(&little, cut, count, "cut");
    free(cut);
  }
  expect_loaded(&little, &saved);
  little_world_destroy(&little);
  free(saved.bytes);
}

Test(snapshot_refusals, ten_thousand_flips_of_a_bit) {
  saved_world saved = save_small(20);
  little_world little = busy_world(&busy_kinds[1], 1);
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
  little_world_destroy(&little);
  free(saved.bytes);
}

Test(snapshot_refusals, what_comes_behind_the_end) {
  saved_world saved = save_small(3);
  little_world little = busy_world(&busy_kinds[1], 1);
  unsigned char zero[32] = {0};
  saved_world longer = {0};
  saved_world_write(saved.bytes, saved.count, &longer);
  saved_world_write(zero, sizeof zero, &longer);
  expect_refused(&little, longer.bytes, longer.count, "longer");
  cr_assert_not_null(strstr(muster_last_error(), "32 bytes behind the end"), "%s", muster_last_error());
  expect_refused(&little, "MUSTAPE\n and so on", 18, "a record");
  cr_assert_not_null(strstr(muster_last_error(), "offset 0"), "%s", muster_last_error());
  little_world_destroy(&little);
  free(longer.bytes);
  free(saved.bytes);
}

/* Expects that a world of another definition is told what differs. */
static void expect_differs(const saved_world *saved, const muster_world_def *def, const char *what) {
  little_world little = little_world_create(1, def);
  expect_refused(&little, saved->bytes, saved->count, what);
  cr_assert_not_null(strstr(muster_last_error(), what), "%s: %s", what, muster_last_error());
  little_world_destroy(&little);
}

Test(snapshot_refusals, worlds_that_differ) {
  saved_world saved = save_small(3);
  muster_world_def def = papers_world_def();
  expect_differs(&saved, &def, "clock");
  def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  expect_differs(&saved, &def, "0 types are registered, in the snapshot there were 4");
  def.seed = 2;
  expect_differs(&saved, &def, "seed is 2, that of the snapshot was 1");
  def.seed = 1;
  def.cell_m = 16;
  expect_differs(&saved, &def, "cell_m is 16");
  def.cell_m = 32;
  def.activation_delay = 3;
  expect_differs(&saved, &def, "activation_delay");
  free(saved.bytes);
}

static const muster_atom idle[] = {{nothing, MUSTER_ROLE_BEHAVIOUR, 0}};

static little_world idle_world(const muster_world_def *given, const char *name, uint32_t state_bytes) {
  little_world little = little_world_create(1, given);
  muster_type_def type = muster_type_def_default();
  type.name = name;
  type.atoms = idle;
  type.atom_count = 1;
  type.state_bytes = state_bytes;
  register_type(&little, &type);
  return little;
}

Test(snapshot_refusals, types_that_differ_and_worlds_that_are_too_small) {
  little_world little = idle_world(NULL, "hen", 8);
  for (int i = 0; i < 100; i++) spawn_at(&little, i);
  run_frames(&little, 3);
  saved_world saved = save_world(little.world);
  little_world other = idle_world(NULL, "cock", 8);
  expect_refused(&other, saved.bytes, saved.count, "name");
  cr_assert_not_null(strstr(muster_last_error(), "type 1 is 'cock', in the snapshot it was 'hen'"), "%s",
                     muster_last_error());
  little_world_destroy(&other);
  other = idle_world(NULL, "hen", 16);
  expect_refused(&other, saved.bytes, saved.count, "size");
  cr_assert_not_null(strstr(muster_last_error(), "state_bytes is 16, in the snapshot it was 8"), "%s",
                     muster_last_error());
  little_world_destroy(&other);
  muster_world_def def = muster_world_def_default();
  def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  def.limits.agents_max = 99;
  other = idle_world(&def, "hen", 8);
  expect_refused(&other, saved.bytes, saved.count, "room");
  cr_assert_not_null(strstr(muster_last_error(), "there is room for 99"), "%s", muster_last_error());
  little_world_destroy(&other);
  def.limits.agents_max = 200; /* another size that suffices is accepted */
  other = idle_world(&def, "hen", 8);
  expect_loaded(&other, &saved);
  little_world_destroy(&other);
  little_world_destroy(&little);
  free(saved.bytes);
}

static little_world ruled_world(const muster_type_def *type) {
  little_world little = little_world_create(1, NULL);
  register_type(&little, type);
  return little;
}

/* Expects that another step is named, for a type with bounded steps. */
static void expect_step_named(muster_type_def type) {
  type.elapsed.contract = MUSTER_ELAPSED_STEPS;
  type.elapsed.step_ns = FRAME_NS;
  type.elapsed.steps_max = 200;
  little_world little = ruled_world(&type);
  saved_world saved = save_world(little.world);
  little_world_destroy(&little);
  type.elapsed.step_ns = FRAME_NS / 2;
  little = ruled_world(&type);
  expect_refused(&little, saved.bytes, saved.count, "step_ns");
  cr_assert_not_null(strstr(muster_last_error(), "step_ns is 5000000, in the snapshot it was 10000000"), "%s",
                     muster_last_error());
  little_world_destroy(&little);
  free(saved.bytes);
}

/* Each rule of a type without which its agents could not go on is compared and named. */
Test(snapshot_refusals, types_whose_rules_differ) {
  muster_type_def type = muster_type_def_default();
  type.name = "hen";
  type.atoms = idle;
  type.atom_count = 1;
  type.messages.waiting_max = 4;
  type.messages.bytes_max = 16;
  little_world little = ruled_world(&type);
  spawn_at(&little, 0);
  run_frames(&little, 3);
  saved_world saved = save_world(little.world);
  little_world_destroy(&little);
  muster_type_def others[] = {type, type, type, type, type, type, type};
  static const char *const named[] = {"published_bytes", "period_ns",    "period_max_ns", "level_count",
                                      "elapsed",         "messages_max", "message_bytes"};
  others[0].published_bytes = 8;
  others[1].period_ns *= 2;
  others[2].period_max_ns *= 2;
  others[3].levels.count = 2;
  others[4].elapsed.contract = MUSTER_ELAPSED_STEPS;
  others[4].elapsed.step_ns = FRAME_NS;
  others[4].elapsed.steps_max = 200;
  others[5].messages.waiting_max = 5;
  others[6].messages.bytes_max = 24;
  for (uint32_t i = 0; i < sizeof named / sizeof *named; i++) {
    little = ruled_world(&others[i]);
    expect_refused(&little, saved.bytes, saved.count, named[i]);
    cr_assert_not_null(strstr(muster_last_error(), named[i]), "%s: %s", named[i], muster_last_error());
    little_world_destroy(&little);
  }
  little = ruled_world(&type);
  expect_loaded(&little, &saved);
  little_world_destroy(&little);
  free(saved.bytes);
  expect_step_named(type);
}

static bool refuse(const void *bytes, size_t count, void *user) {
  (void)bytes, (void)count;
  return --*(int *)user >= 0;
}

static muster_result save_somewhere(muster_world *world, int writes) {
  muster_save_def def = muster_save_def_default();
  def.write = refuse;
  def.user = &writes;
  return muster_world_save(world, &def);
}

static muster_result inside_result;

static muster_atom_result save_inside(muster_update *update) {
  inside_result = save_somewhere(update->world, 1);
  return MUSTER_ATOM_NEXT;
}

Test(snapshot_refusals, states_in_which_a_world_is_not_saved_or_loaded) {
  static const muster_atom atoms[] = {{save_inside, MUSTER_ROLE_BEHAVIOUR, 0}};
  little_world little = little_world_create(1, NULL);
  muster_type_def type = type_with(atoms, 1);
  register_type(&little, &type);
  muster_agent_wake(little.world, spawn_at(&little, 0));
  cr_assert_eq(save_somewhere(little.world, 0), MUSTER_E_SYSTEM, "the first write is refused");
  cr_assert_eq(save_somewhere(little.world, 2), MUSTER_E_SYSTEM, "the third is");
  run_frames(&little, 2);
  cr_assert_eq(inside_result, MUSTER_E_STATE);
  saved_world saved = save_world(little.world);
  cr_assert_eq(load_world(little.world, saved.bytes, saved.count), MUSTER_E_STATE);
  cr_assert_not_null(strstr(muster_last_error(), "new world"), "%s", muster_last_error());
  cr_assert_eq(muster_world_save(little.world, &(muster_save_def){0}), MUSTER_E_NOT_INITIALISED);
  cr_assert_eq(muster_world_load(little.world, &(muster_load_def){0}), MUSTER_E_NOT_INITIALISED);
  little_world_destroy(&little);
  muster_world_def planned = muster_world_def_default();
  planned.planner_workers = 1;
  little = little_world_create(1, &planned);
  cr_assert_eq(save_somewhere(little.world, 100), MUSTER_E_STATE);
  cr_assert_eq(load_world(little.world, saved.bytes, saved.count), MUSTER_E_STATE);
  little_world_destroy(&little);
  free(saved.bytes);
}

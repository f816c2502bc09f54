/* Records that begin in the middle of a world's life: when one can begin, what it then holds, and what is refused. */
#include "support/counted_memory.h"
#include "support/forged_record.h"
#include "support/herd_world.h"
#include "support/late_frame.h"
#include "world/fixture.h"

enum { AGENTS = 60, BEFORE = 5, FRAMES = 12 };

static muster_atom_result run_on(muster_update *update) {
  uint64_t *self = update->state;
  const uint64_t *counted = update->user;
  muster_position to = update->position;
  *self = *self * 31 + muster_update_random(update) % 7 + (counted ? *counted : 0);
  to.x += 1;
  muster_update_move(update, to);
  return MUSTER_ATOM_NEXT;
}

static muster_type_def type_def(void) {
  return CHANGED(type_running(run_on, 20000), it.state_bytes = sizeof(uint64_t));
}

static little_world new_world(muster_clock clock) {
  return little_world_of(1, WITH(muster_world_def, it.clock.kind = clock, it.limits.agents_max = 300));
}

static little_world old_world(muster_clock clock, void *user) {
  little_world little = new_world(clock);
  add_type(&little, type_def());
  for (int i = 0; i < AGENTS; i++) spawn_as(&little, WITH(muster_agent_def, it.position.x = i, it.user = user));
  observe_at(&little, 0);
  run_frames(&little, BEFORE);
  return little;
}

static void record_rest(struct recorded *run, muster_clock clock, void *user) {
  SCOPED_WORLD little = old_world(clock, user);
  recorded_begin(run, little.world);
  for (uint32_t i = 0; i < FRAMES; i++) {
    spawn_at(&little, i);
    recorded_note(run, &little, run_frame_with(&little, 600000));
  }
  recorded_end(run, little.world);
}

static void *user_of(muster_agent agent, uint64_t name, void *user) {
  (void)agent;
  return name ? user : NULL;
}

/* Returns how a replay ends; MUSTER_E_STATE is the proper end. */
static muster_result outcome_of(const struct recorded *run, size_t count, muster_clock clock, void *user) {
  SCOPED_WORLD little = new_world(clock);
  uint32_t frames = 0;
  muster_result result = replay_with(little.world, WITH(muster_replay_def, it.bytes = run->bytes, it.count = count,
                                                        it.user_of = user ? user_of : NULL, it.user = user));
  if (result == MUSTER_OK) add_type(&little, type_def());
  while (result == MUSTER_OK && (result = muster_replay_frame(little.world)) == MUSTER_OK)
    cr_assert_eq(muster_world_hash(little.world), run->hashes[frames++]);
  if (result == MUSTER_E_STATE) cr_assert_eq(frames, FRAMES);
  return result;
}

Test(record_begin, a_record_says_how_many_frames_the_world_had_run) {
  for (muster_clock clock = MUSTER_CLOCK_WALL; clock <= MUSTER_CLOCK_VIRTUAL; clock++) {
    SCOPED(recorded_forget) struct recorded run = {0};
    record_rest(&run, clock, NULL);
    muster_record_info info = record_look(run.bytes, run.count);
    cr_assert_eq(info.frames, FRAMES);
    cr_assert_eq(info.frames_before, BEFORE);
    cr_assert_eq(outcome_of(&run, run.count, clock, NULL), MUSTER_E_STATE, "%s", muster_last_error());
  }
}

static muster_atom_result outlast(muster_update *update) {
  (void)update;
  late_wait();
  return MUSTER_ATOM_NEXT;
}

static little_world crowd(void) {
  little_world little = new_world(MUSTER_CLOCK_WALL);
  add_type(&little, CHANGED(type_running(outlast, 0), it.period_ns = it.period_max_ns = FRAME_NS, it.elasticity = 0));
  return little;
}

Test(record_begin, updates_that_the_frame_before_left_over_are_reported_in_a_replay_too) {
  SCOPED(recorded_forget) struct recorded run = {0};
  little_world little = peopled(crowd(), 200);
  run_frames(&little, BEFORE);
  run_late_frame(&little);
  recorded_begin(&run, little.world);
  muster_statistics_clear(little.world); /* which forgets no update that no report has counted yet */
  for (int i = 0; i < FRAMES; i++) recorded_note(&run, &little, run_frame(&little));
  recorded_end(&run, little.world);
  little_world_destroy(&little);
  little = crowd();
  recorded_replay(&run, little.world);
  replay_alike(&run, &little);
  little_world_destroy(&little);
}

Test(record_begin, user_pointers_of_the_snapshot_are_asked_for) {
  SCOPED(recorded_forget) struct recorded run = {0};
  uint64_t counted = 3;
  record_rest(&run, MUSTER_CLOCK_VIRTUAL, &counted);
  cr_assert_eq(outcome_of(&run, run.count, MUSTER_CLOCK_VIRTUAL, &counted), MUSTER_E_STATE, "%s", muster_last_error());
  assert_refused(outcome_of(&run, run.count, MUSTER_CLOCK_VIRTUAL, NULL), MUSTER_E_INPUT, "user pointer: give user_of");
}

Test(record_begin, a_record_that_is_damaged_or_cut_anywhere_is_refused) {
  SCOPED(recorded_forget) struct recorded run = {0};
  record_rest(&run, MUSTER_CLOCK_VIRTUAL, NULL);
  for (size_t at = 0; at < run.count; at += 61) {
    cr_assert_eq(outcome_of(&run, at, MUSTER_CLOCK_VIRTUAL, NULL), MUSTER_E_INPUT, "cut at %zu", at);
    run.bytes[at] ^= (unsigned char)(1 + at % 255);
    cr_assert_eq(outcome_of(&run, run.count, MUSTER_CLOCK_VIRTUAL, NULL), MUSTER_E_INPUT, "byte %zu", at);
    run.bytes[at] ^= (unsigned char)(1 + at % 255);
  }
}

/* The version of a file stands behind the eight bytes that tell its kind. */
Test(record_begin, files_of_the_formats_before_are_refused_by_name) {
  static const char version[] = "version 12; this program reads version 13";
  SCOPED(recorded_forget) struct recorded run = {0};
  muster_record_info info = muster_record_info_default();
  muster_snapshot_info snapshot = muster_snapshot_info_default();
  SCOPED_WORLD little = old_world(MUSTER_CLOCK_VIRTUAL, NULL);
  SCOPED(saved_world_forget) saved_world saved = save_world(little.world);
  record_rest(&run, MUSTER_CLOCK_VIRTUAL, NULL);
  run.bytes[8]--;
  cr_assert_eq(muster_record_look(run.bytes, run.count, &info, NULL), MUSTER_E_INPUT);
  expect_error(version);
  saved.bytes[8]--;
  cr_assert_eq(muster_snapshot_look(saved.bytes, saved.count, &snapshot), MUSTER_E_INPUT);
  expect_error(version);
}

Test(record_begin, a_snapshot_that_does_not_fit_ends_nothing_but_the_recording) {
  SCOPED(recorded_forget) struct recorded run = {0};
  muster_record_def def = WITH(muster_record_def, it.write = recorded_write, it.user = &run, it.buffer_bytes = 65536);
  SCOPED_WORLD little = new_world(MUSTER_CLOCK_WALL);
  add_type(&little, CHANGED(type_def(), it.state_bytes = 4096));
  for (int i = 0; i < 100; i++) spawn_at(&little, i);
  assert_refused(muster_record_begin(little.world, &def), MUSTER_E_MEMORY, "buffer_bytes = 65536");
  run_frame(&little);
}

Test(record_begin, a_replay_needs_the_types_that_there_were) {
  SCOPED(recorded_forget) struct recorded run = {0};
  record_rest(&run, MUSTER_CLOCK_WALL, NULL);
  SCOPED_WORLD little = new_world(MUSTER_CLOCK_WALL);
  recorded_replay(&run, little.world);
  cr_assert_eq(muster_replay_frame(little.world), MUSTER_E_INPUT);
  expect_error("0 types are registered, in the snapshot there were 1");
}

Test(record_begin, a_world_records_into_one_place_at_a_time_and_only_a_new_one_replays) {
  SCOPED(recorded_forget) struct recorded run = {0}, again = {0};
  muster_record_def record = WITH(muster_record_def, it.write = recorded_write, it.user = &again);
  SCOPED_WORLD little = old_world(MUSTER_CLOCK_VIRTUAL, NULL);
  cr_assert_eq(muster_record_end(little.world), MUSTER_E_STATE);
  recorded_begin(&run, little.world);
  cr_assert_eq(muster_record_begin(little.world, &record), MUSTER_E_STATE);
  recorded_end(&run, little.world);
  assert_ok(muster_record_begin(little.world, &record));
  cr_assert_eq(muster_replay_frame(little.world), MUSTER_E_STATE);
  cr_assert_eq(muster_record_end(little.world), MUSTER_OK);
  SCOPED_WORLD old = old_world(MUSTER_CLOCK_VIRTUAL, NULL);
  assert_refused(replay_with(old.world, replay_of(&run)), MUSTER_E_STATE, "only in a new world");
}

/* ------------------------------------------------------------------------------------------- attempts that fail */

typedef struct sink {
  struct recorded run;
  uint32_t writes;
  bool refuses;
} sink;

static bool sink_write(const void *bytes, size_t count, void *user) {
  sink *into = user;
  into->writes++;
  return !into->refuses && recorded_write(bytes, count, &into->run);
}

static uint64_t name_by_index(muster_agent agent, void *agent_user, void *user) {
  (void)agent_user, (void)user;
  return muster_agent_index(agent); /* 0 for the first agent */
}

Test(record_begin, an_attempt_that_fails_writes_nothing_and_the_next_one_is_whole) {
  static sink into;
  uint64_t counted = 3;
  SCOPED_WORLD little = old_world(MUSTER_CLOCK_VIRTUAL, &counted);
  muster_record_def record =
      WITH(muster_record_def, it.write = sink_write, it.user = &into, it.name_user = name_by_index);
  cr_assert_eq(muster_record_begin(little.world, &record), MUSTER_E_ARGUMENT);
  expect_error("the user pointer of agent 0 the name 0");
  cr_assert_eq(into.writes, 0);
  record.name_user = NULL;
  into.refuses = true;
  cr_assert_eq(muster_record_begin(little.world, &record), MUSTER_E_SYSTEM);
  cr_assert_eq(into.writes, 1);
  into.refuses = false;
  assert_ok(muster_record_begin(little.world, &record));
  cr_assert_eq(into.writes, 2);
  for (uint32_t i = 0; i < FRAMES; i++) {
    spawn_at(&little, i);
    recorded_note(&into.run, &little, run_frame_with(&little, 600000));
  }
  recorded_end(&into.run, little.world);
  cr_assert_eq(outcome_of(&into.run, into.run.count, MUSTER_CLOCK_VIRTUAL, &counted), MUSTER_E_STATE, "%s",
               muster_last_error());
  recorded_forget(&into.run);
}

Test(record_begin, attempts_that_fail_share_their_memory) {
  static sink into = {.refuses = true};
  static counted_memory counted;
  muster_record_def record = WITH(muster_record_def, it.write = sink_write, it.user = &into, it.buffer_bytes = 65536);
  little_world little = little_world_of(
      1, WITH(muster_world_def, it.allocator = counted_allocator(&counted), it.limits.agents_max = 300));
  counted.limited = true;
  for (uint32_t i = 0; i < 3; i++) { /* the recorder, its buffer, its list of spawns */
    counted.left = i ? 1 : 0;
    record.buffer_bytes = i ? 65536 : (size_t)1 << 40; /* the most that is allowed */
    cr_assert_eq(muster_record_begin(little.world, &record), MUSTER_E_MEMORY, "%u", i);
  }
  counted.limited = false;
  uint64_t before = counted.allocations;
  cr_assert_eq(muster_record_begin(little.world, &record), MUSTER_E_SYSTEM);
  cr_assert_eq(counted.allocations, before + 1);
  into.refuses = false;
  assert_ok(muster_record_begin(little.world, &record));
  cr_assert_eq(counted.allocations, before + 1);
  add_type(&little, type_def());
  spawn_at(&little, 1);
  recorded_note(&into.run, &little, run_frame(&little));
  recorded_end(&into.run, little.world);
  little_world_destroy(&little);
  cr_assert_eq(counted.allocations, counted.releases);
  little = new_world(MUSTER_CLOCK_WALL);
  recorded_replay(&into.run, little.world);
  add_type(&little, type_def());
  assert_ok(muster_replay_frame(little.world));
  cr_assert_eq(muster_world_hash(little.world), into.run.hashes[0]);
  little_world_destroy(&little);
  recorded_forget(&into.run);
}

/* Whatever it is for that there is no memory; and the world may still do anything else. */
Test(record_begin, a_replay_that_has_no_memory_begins_nothing_and_the_next_one_is_whole) {
  static counted_memory counted;
  static sink into;
  muster_type_def type = type_def();
  little_world little = new_world(MUSTER_CLOCK_VIRTUAL);
  recorded_begin(&into.run, little.world);
  register_type(&little, &type);
  spawn_at(&little, 1);
  recorded_note(&into.run, &little, run_frame(&little));
  recorded_end(&into.run, little.world);
  little_world_destroy(&little);
  muster_world_def def = muster_world_def_default();
  def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  def.limits.agents_max = 300;
  def.allocator = counted_allocator(&counted);
  little = little_world_create(1, &def);
  muster_replay_def replay = muster_replay_def_default();
  replay.bytes = into.run.bytes;
  replay.count = into.run.count;
  muster_result result = MUSTER_E_MEMORY;
  uint32_t left = 0;
  for (counted.limited = true; result == MUSTER_E_MEMORY; left++) {
    counted.left = left;
    result = muster_replay_begin(little.world, &replay);
    cr_expect_eq(muster_world_is_replaying(little.world), result == MUSTER_OK, "%u allocations", left);
  }
  counted.limited = false;
  cr_assert_eq(result, MUSTER_OK, "%s", muster_last_error());
  cr_expect_geq(left, 5, "%u allocations", left);
  register_type(&little, &type);
  cr_assert_eq(muster_replay_frame(little.world), MUSTER_OK, "%s", muster_last_error());
  cr_assert_eq(muster_world_hash(little.world), into.run.hashes[0]);
  little_world_destroy(&little);
  cr_expect_eq(counted.allocations, counted.releases);
  recorded_forget(&into.run);
}

/* ------------------------------------------------------------------------------------------------------- frames */

Test(record_begin, what_diverges_is_named_by_the_frame_of_the_world) {
  SCOPED(recorded_forget) struct recorded run = {0};
  record_rest(&run, MUSTER_CLOCK_VIRTUAL, NULL);
  SCOPED_WORLD little = new_world(MUSTER_CLOCK_VIRTUAL);
  recorded_replay(&run, little.world);
  add_type(&little, CHANGED(type_def(), it.atoms = atom_of(count_in_state, 20000)));
  assert_refused(muster_replay_frame(little.world), MUSTER_E_INPUT, "replay: frame 6: ");
}

/* Forges the number of frames in the head, behind which two other numbers stand, and expects the refusal `why`. */
static void expect_forged_frames(const struct recorded *run, const char *why) {
  uint64_t head_bytes;
  muster_record_info info = muster_record_info_default();
  SCOPED(free_memory) unsigned char *forged = malloc(run->count);
  memcpy(&head_bytes, run->bytes + TAPE_HEADER_BYTES + 16, sizeof head_bytes);
  size_t count = forge(run->bytes, run->count, (forgery){.byte = head_bytes - 2 - sizeof(uint64_t), .bits = 2}, forged);
  cr_assert_eq(muster_record_look(forged, count, &info, NULL), MUSTER_E_INPUT);
  expect_error(why);
}

Test(record_begin, frames_before_that_the_snapshot_does_not_know_are_refused) {
  SCOPED(recorded_forget) struct recorded run = {0};
  record_rest(&run, MUSTER_CLOCK_VIRTUAL, NULL);
  expect_forged_frames(&run, "it begins after frame 7, its snapshot after 5");
  recorded_forget(&run);
  SCOPED_WORLD little = new_world(MUSTER_CLOCK_VIRTUAL);
  recorded_begin(&run, little.world);
  recorded_note(&run, &little, run_frame(&little));
  recorded_end(&run, little.world);
  expect_forged_frames(&run, "it begins after frame 2, but it has no snapshot");
}

/* In a world that replays, the types are registered after the replay began. */
static herd_world herds_of(const struct recorded *replayed) {
  herd_world herds = {.little = little_world_of(1, WITH(virtual_world_def, it.limits.commands_max = 16))};
  if (replayed) recorded_replay(replayed, herds.little.world);
  add_type(&herds.little, deer_def(atom_of(stand_still, 1000)));
  muster_herd_type_def herd = WITH(muster_herd_type_def, it.totals = 1, it.member = herds.little.type);
  herds.type = muster_herd_type_register(herds.little.world, &herd);
  cr_assert_neq(herds.type.index, 0, "%s", muster_last_error());
  return herds;
}

Test(record_begin, what_a_host_asks_of_herds_and_types_changes_no_replay) {
  SCOPED(recorded_forget) struct recorded run = {0};
  SCOPED(herd_world_destroy) herd_world herds = herds_of(NULL);
  muster_herd herd = add_herd(&herds, 5, 5, 32);
  run_frames(&herds.little, BEFORE);
  recorded_begin(&run, herds.little.world);
  for (uint32_t i = 0; i < 3; i++) recorded_note(&run, &herds.little, run_frame(&herds.little));
  recorded_end(&run, herds.little.world);
  SCOPED(herd_world_destroy) herd_world replayed = herds_of(&run);
  muster_world *world = replayed.little.world;
  for (uint32_t i = 0; i < 3; i++) {
    for (uint32_t k = 0; k < 20; k++) { /* more than there is room for */
      assert_ok(muster_herd_wake(world, herd, k));
      assert_ok(muster_type_quarantine(world, replayed.little.type));
      assert_ok(muster_agent_reinstate(world, muster_agent_make(k, 1)));
    }
    assert_ok(muster_herd_remove(world, herd));
    recorded_follow(&run, world, i);
  }
}

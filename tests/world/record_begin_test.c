/* Records that begin in the middle of a world's life: when that can be, what the record holds then, and what is
 * refused.
 */
#include "support/recording.h"
#include "support/snapshots.h"

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
  static const muster_atom atoms[] = {{run_on, MUSTER_ROLE_BEHAVIOUR, 20000}};
  muster_type_def def = muster_default_type_def();
  def.atoms = atoms;
  def.atom_count = 1;
  def.state_bytes = sizeof(uint64_t);
  return def;
}

static little_world new_world(muster_clock clock) {
  muster_world_def def = muster_default_world_def();
  def.clock = clock;
  def.agents_max = 300;
  return little_world_create(1, &def);
}

static little_world old_world(muster_clock clock, void *user) {
  muster_type_def type = type_def();
  muster_observer_def watcher = muster_default_observer_def();
  muster_agent_def agent = muster_default_agent_def();
  little_world little = new_world(clock);
  register_type(&little, &type);
  agent.type = little.type;
  agent.user = user;
  for (int i = 0; i < AGENTS; i++) {
    agent.position.x = i;
    cr_assert(!muster_agent_is_null(muster_agent_spawn(little.world, &agent)));
  }
  muster_observer_add(little.world, &watcher);
  run_frames(&little, BEFORE);
  return little;
}

static void record_rest(struct recorded *run, muster_clock clock, void *user) {
  little_world little = old_world(clock, user);
  recorded_begin(run, little.world);
  for (uint32_t i = 0; i < FRAMES; i++) {
    spawn_at(&little, i);
    recorded_note(run, &little, run_frame_with(&little, 600000));
  }
  recorded_end(run, little.world);
  little_world_destroy(&little);
}

static void *user_of(muster_agent agent, uint64_t name, void *user) {
  (void)agent;
  return name ? user : NULL;
}

/* How a replay ends: MUSTER_E_STATE is its proper end. */
static muster_result outcome_of(const struct recorded *run, size_t count, muster_clock clock, void *user) {
  muster_replay_def replay = muster_default_replay_def();
  muster_type_def type = type_def();
  little_world little = new_world(clock);
  uint32_t frames = 0;
  replay.bytes = run->bytes;
  replay.count = count;
  if (user) replay.user_of = user_of;
  replay.user = user;
  muster_result result = muster_replay_begin(little.world, &replay);
  if (result == MUSTER_OK) register_type(&little, &type);
  while (result == MUSTER_OK && (result = muster_replay_frame(little.world)) == MUSTER_OK)
    cr_assert_eq(muster_world_hash(little.world), run->hashes[frames++]);
  if (result == MUSTER_E_STATE) cr_assert_eq(frames, FRAMES);
  little_world_destroy(&little);
  return result;
}

Test(record_begin, a_record_says_how_many_frames_the_world_had_run) {
  for (muster_clock clock = MUSTER_CLOCK_WALL; clock <= MUSTER_CLOCK_VIRTUAL; clock++) {
    static struct recorded run;
    muster_record_info info = muster_default_record_info();
    record_rest(&run, clock, NULL);
    cr_assert_eq(muster_record_look(run.bytes, run.count, &info, NULL), MUSTER_OK, "%s", muster_last_error());
    cr_assert_eq(info.frames, FRAMES);
    cr_assert_eq(info.frames_before, BEFORE);
    cr_assert_eq(outcome_of(&run, run.count, clock, NULL), MUSTER_E_STATE, "%s", muster_last_error());
    recorded_forget(&run);
  }
}

Test(record_begin, user_pointers_of_the_snapshot_are_asked_for) {
  static struct recorded run;
  uint64_t counted = 3;
  record_rest(&run, MUSTER_CLOCK_VIRTUAL, &counted);
  cr_assert_eq(outcome_of(&run, run.count, MUSTER_CLOCK_VIRTUAL, &counted), MUSTER_E_STATE, "%s", muster_last_error());
  cr_assert_eq(outcome_of(&run, run.count, MUSTER_CLOCK_VIRTUAL, NULL), MUSTER_E_INPUT);
  cr_assert_not_null(strstr(muster_last_error(), "user pointer: give user_of"), "%s", muster_last_error());
  recorded_forget(&run);
}

Test(record_begin, a_record_that_is_damaged_or_cut_anywhere_is_refused) {
  static struct recorded run;
  record_rest(&run, MUSTER_CLOCK_VIRTUAL, NULL);
  for (size_t at = 0; at < run.count; at += 61) {
    cr_assert_eq(outcome_of(&run, at, MUSTER_CLOCK_VIRTUAL, NULL), MUSTER_E_INPUT, "cut at %zu", at);
    run.bytes[at] ^= (unsigned char)(1 + at % 255);
    cr_assert_eq(outcome_of(&run, run.count, MUSTER_CLOCK_VIRTUAL, NULL), MUSTER_E_INPUT, "byte %zu", at);
    run.bytes[at] ^= (unsigned char)(1 + at % 255);
  }
  recorded_forget(&run);
}

/* Their version stands behind the eight bytes that say what they are. */
Test(record_begin, files_of_the_formats_before_are_refused_by_name) {
  static struct recorded run;
  muster_record_info info = muster_default_record_info();
  muster_snapshot_info snapshot = muster_default_snapshot_info();
  little_world little = old_world(MUSTER_CLOCK_VIRTUAL, NULL);
  saved_world saved = save_world(little.world);
  little_world_destroy(&little);
  record_rest(&run, MUSTER_CLOCK_VIRTUAL, NULL);
  run.bytes[8]--;
  cr_assert_eq(muster_record_look(run.bytes, run.count, &info, NULL), MUSTER_E_INPUT);
  cr_assert_not_null(strstr(muster_last_error(), "version 4; this program reads version 5"), "%s", muster_last_error());
  saved.bytes[8]--;
  cr_assert_eq(muster_snapshot_look(saved.bytes, saved.count, &snapshot), MUSTER_E_INPUT);
  cr_assert_not_null(strstr(muster_last_error(), "version 5; this program reads version 6"), "%s", muster_last_error());
  free(saved.bytes);
  recorded_forget(&run);
}

Test(record_begin, a_snapshot_that_does_not_fit_ends_nothing_but_the_recording) {
  static struct recorded run;
  muster_record_def record = muster_default_record_def();
  muster_type_def type = type_def();
  little_world little = new_world(MUSTER_CLOCK_WALL);
  record.write = recorded_write;
  record.user = &run;
  record.buffer_bytes = 65536;
  type.state_bytes = 4096;
  register_type(&little, &type);
  for (int i = 0; i < 100; i++) spawn_at(&little, i);
  cr_assert_eq(muster_record_begin(little.world, &record), MUSTER_E_MEMORY);
  cr_assert_not_null(strstr(muster_last_error(), "buffer_bytes = 65536"), "%s", muster_last_error());
  run_frame(&little);
  little_world_destroy(&little);
  recorded_forget(&run);
}

Test(record_begin, a_replay_needs_the_types_that_there_were) {
  static struct recorded run;
  record_rest(&run, MUSTER_CLOCK_WALL, NULL);
  little_world little = new_world(MUSTER_CLOCK_WALL);
  recorded_replay(&run, little.world);
  cr_assert_eq(muster_replay_frame(little.world), MUSTER_E_INPUT);
  cr_assert_not_null(strstr(muster_last_error(), "0 types are registered, in the snapshot there were 1"), "%s",
                     muster_last_error());
  little_world_destroy(&little);
  recorded_forget(&run);
}

Test(record_begin, a_world_records_once_and_only_a_new_one_replays) {
  static struct recorded run, again;
  muster_record_def record = muster_default_record_def();
  muster_replay_def replay = muster_default_replay_def();
  little_world little = old_world(MUSTER_CLOCK_VIRTUAL, NULL);
  record.write = recorded_write;
  record.user = &again;
  cr_assert_eq(muster_record_end(little.world), MUSTER_E_STATE);
  recorded_begin(&run, little.world);
  cr_assert_eq(muster_record_begin(little.world, &record), MUSTER_E_STATE);
  recorded_end(&run, little.world);
  cr_assert_eq(muster_record_begin(little.world, &record), MUSTER_E_STATE);
  cr_assert_eq(muster_replay_frame(little.world), MUSTER_E_STATE);
  little_world_destroy(&little);
  little = old_world(MUSTER_CLOCK_VIRTUAL, NULL);
  replay.bytes = run.bytes;
  replay.count = run.count;
  cr_assert_eq(muster_replay_begin(little.world, &replay), MUSTER_E_STATE);
  cr_assert_not_null(strstr(muster_last_error(), "only in a new world"), "%s", muster_last_error());
  little_world_destroy(&little);
  recorded_forget(&run);
}

/* What is done with a record that is damaged, forged, or of another world: an error tells what is wrong and where;
 * never a crash, and never a replay that is silently wrong. */
#include "run/intake_queues.h"
#include "support/forged_record.h"
#include "world/fixture.h"

enum { NEXT = UNDER_SANITIZER ? 5 : 1 }; /* of so many places one is tried */
enum { AGENTS = 60, FRAMES = 12 };

typedef struct live {
  uint64_t runs, heard;
} live;

static muster_atom_result run_alive(muster_update *update) {
  live *self = update->state;
  muster_neighbour near[2];
  muster_position to = update->position;
  uint64_t *counted = update->user;
  self->runs += 1 + muster_update_random(update) % 3;
  self->heard += muster_update_messages(update, NULL, 0);
  to.x += 1;
  muster_update_move(update, to);
  if (muster_update_nearby(update, 30, (muster_type){0}, near, 2)) {
    muster_update_send(update, near[0].agent, &self->runs, 4);
    muster_update_wake(update, near[0].agent);
  }
  if (counted) self->runs += *counted;
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result breed(muster_update *update) {
  live *self = update->state;
  muster_agent_def child = WITH(muster_agent_def, it.type = update->type);
  if (self->runs % 5 == 0) muster_update_spawn(update, &child);
  if (self->runs % 7 == 0) muster_update_remove(update, update->agent);
  return MUSTER_ATOM_NEXT;
}

static muster_type_def type_def(void) {
  static const muster_atom atoms[] = {{run_alive, MUSTER_ROLE_BEHAVIOUR, 20000}, {breed, MUSTER_ROLE_ACTION, 1000}};
  return WITH(muster_type_def, it.name = "beetle", it.atoms = atoms, it.atom_count = 2, it.state_bytes = sizeof(live),
              it.period_ns = FRAME_NS, it.spawns_max = 1, it.messages.sends_max = 1, it.messages.waiting_max = 2,
              it.messages.bytes_max = 8);
}

static muster_world_def world_def(muster_clock clock) {
  return WITH(muster_world_def, it.clock.kind = clock, it.limits.agents_max = 300, it.limits.commands_max = 512);
}

static void silence(muster_log_level level, const char *message, void *user) {
  (void)level, (void)message;
  ++*(uint32_t *)user;
}

/* Runs some frames with a bit of everything between them. */
static void drive(little_world *little, struct recorded *run, uint32_t frames) {
  muster_agent agents[AGENTS];
  muster_position places[AGENTS];
  muster_observer observer = observe_at(little, 0);
  for (int i = 0; i < AGENTS; i++) {
    agents[i] = spawn_at(little, i);
    places[i] = (muster_position){i, 3, 0};
  }
  for (uint32_t i = 0; i < frames; i++) {
    muster_agent_wake(little->world, agents[i]);
    muster_agent_send(little->world, agents[i + 1], &i, sizeof i);
    muster_observer_move(little->world, observer, places[i]);
    if (i % 3 == 1) muster_agents_move(little->world, agents, places, AGENTS);
    recorded_note(run, little, run_frame_with(little, 600000));
  }
}

static struct recorded record_little(muster_clock clock) {
  struct recorded run;
  SCOPED_WORLD little = little_world_of(1, world_def(clock));
  recorded_begin(&run, little.world);
  add_type(&little, type_def());
  drive(&little, &run, FRAMES);
  recorded_end(&run, little.world);
  return run;
}

/* One pool for all worlds, since a new pool measures the clock first. */
static muster_pool *shared_pool(void) {
  static muster_pool *pool;
  muster_pool_def def = WITH(muster_pool_def, it.workers = 1);
  if (!pool) pool = muster_pool_create(&def);
  cr_assert_not_null(pool, "%s", muster_last_error());
  return pool;
}

static uint32_t frames; /* that the last replay had */

/* Returns how a replay of these bytes ends; MUSTER_E_STATE is the proper end. */
static muster_result outcome_of(const void *bytes, size_t count, muster_clock clock, bool accept_cut) {
  muster_world_def def = CHANGED(world_def(clock), it.pool = shared_pool());
  muster_type_def type = type_def();
  muster_replay_def replay = WITH(muster_replay_def, it.bytes = bytes, it.count = count, it.accept_cut = accept_cut);
  frames = 0;
  muster_world *world = muster_world_create(&def);
  cr_assert_not_null(world, "%s", muster_last_error());
  muster_result result = muster_replay_begin(world, &replay);
  if (result == MUSTER_OK) muster_type_register(world, &type);
  while (result == MUSTER_OK && (result = muster_replay_frame(world)) == MUSTER_OK) frames++;
  muster_world_destroy(world);
  return result;
}

Test(record_refusals, a_byte_changed_anywhere_is_refused_with_its_place) {
  SCOPED(recorded_forget) struct recorded run = record_little(MUSTER_CLOCK_VIRTUAL);
  cr_assert_eq(outcome_of(run.bytes, run.count, MUSTER_CLOCK_VIRTUAL, false), MUSTER_E_STATE);
  cr_assert_eq(frames, FRAMES);
  for (size_t at = 0; at < run.count; at += at < 400 ? NEXT : 61 * NEXT) {
    muster_record_info info = muster_record_info_default();
    run.bytes[at] ^= (unsigned char)(1 + at % 255);
    cr_assert(!(muster_record_look(run.bytes, run.count, &info, NULL) == MUSTER_OK && !info.cut), "byte %zu", at);
    cr_assert_eq(outcome_of(run.bytes, run.count, MUSTER_CLOCK_VIRTUAL, false), MUSTER_E_INPUT, "byte %zu", at);
    cr_assert_not_null(strstr(muster_last_error(), "record: offset "), "byte %zu: %s", at, muster_last_error());
    run.bytes[at] ^= (unsigned char)(1 + at % 255);
  }
}

static void check_forged(muster_clock clock) {
  SCOPED(recorded_forget) struct recorded run = record_little(clock);
  uint32_t diverged = 0;
  SCOPED(free_memory) unsigned char *forged = malloc(run.count);
  for (size_t which = 0; which < run.count; which += which < 600 ? 3 : 41 * NEXT) {
    size_t count =
        forge(run.bytes, run.count, (forgery){.byte = which, .bits = (unsigned char)(1u << which % 8)}, forged);
    muster_result result = outcome_of(forged, count, clock, false);
    cr_assert(result == MUSTER_E_STATE || result == MUSTER_E_INPUT, "byte %zu: %s", which, muster_last_error());
    diverged += result == MUSTER_E_INPUT;
  }
  cr_assert_gt(diverged, 50);
}

Test(record_refusals, a_forged_record_diverges_or_makes_no_difference) {
  check_forged(MUSTER_CLOCK_VIRTUAL);
}

Test(record_refusals, so_does_one_of_the_wall_clock) {
  check_forged(MUSTER_CLOCK_WALL);
}

/* Returns where the index of an added observer stands, as forge() counts bytes. */
static size_t find_added(const struct recorded *run, uint32_t index) {
  uint32_t layout;
  struct tape from;
  struct chunk section;
  size_t seen = 0;
  memcpy(&layout, run->bytes + 12, sizeof layout);
  cr_assert_eq(tape_read_from(&from, run->bytes, run->count, layout), MUSTER_OK);
  for (; tape_next(&from, &section) == MUSTER_OK; seen += section.bytes)
    for (size_t i = 0; i + sizeof(struct command) <= section.bytes; i++) {
      struct command command;
      memcpy(&command, run->bytes + section.at + i, sizeof command);
      if (command.kind == COMMAND_OBSERVER_ADD && command.index == index && command.generation == 1)
        return seen + i + offsetof(struct command, index);
    }
  cr_assert_fail("no observer %u was added", index);
  return 0;
}

Test(record_refusals, an_observer_gets_an_index_that_was_given_back_but_none_that_is_held) {
  SCOPED(recorded_forget) struct recorded run = {0};
  muster_observer_def watcher = muster_observer_def_default();
  SCOPED_WORLD little = little_world_of(1, world_def(MUSTER_CLOCK_VIRTUAL));
  recorded_begin(&run, little.world);
  add_type(&little, type_def());
  muster_observer first = muster_observer_add(little.world, &watcher);
  recorded_note(&run, &little, run_frame_with(&little, 600000));
  muster_observer_add(little.world, &watcher);
  recorded_note(&run, &little, run_frame_with(&little, 600000));
  muster_observer_remove(little.world, first);
  recorded_note(&run, &little, run_frame_with(&little, 600000));
  cr_assert_eq(muster_observer_index(muster_observer_add(little.world, &watcher)), muster_observer_index(first));
  recorded_note(&run, &little, run_frame_with(&little, 600000));
  recorded_end(&run, little.world);
  cr_assert_eq(outcome_of(run.bytes, run.count, MUSTER_CLOCK_VIRTUAL, false), MUSTER_E_STATE);
  cr_assert_eq(frames, 4, "%s", muster_last_error());
  SCOPED(free_memory) unsigned char *forged = malloc(run.count);
  size_t count = forge(run.bytes, run.count, (forgery){.byte = find_added(&run, 1), .bits = 1},
                       forged); /* index 0, at which the first observer is */
  cr_assert_eq(outcome_of(forged, count, MUSTER_CLOCK_VIRTUAL, false), MUSTER_E_INPUT);
  cr_assert_eq(frames, 1);
  expect_error("which cannot be");
}

Test(record_refusals, a_record_that_was_cut_is_refused_or_replayed_as_far_as_it_goes) {
  SCOPED(recorded_forget) struct recorded run = record_little(MUSTER_CLOCK_WALL);
  uint32_t most = 0;
  for (size_t count = 0; count < run.count; count += 97) {
    cr_assert_eq(outcome_of(run.bytes, count, MUSTER_CLOCK_WALL, false), MUSTER_E_INPUT, "%zu bytes", count);
    muster_result result = outcome_of(run.bytes, count, MUSTER_CLOCK_WALL, true);
    cr_assert(result == MUSTER_E_STATE || result == MUSTER_E_INPUT);
    cr_assert_geq(frames, most);
    most = frames;
  }
  cr_assert_geq(most, FRAMES - 1);
}

Test(record_refusals, what_is_no_record_is_refused) {
  static const char text[] = "scenario,agents\nfixed,10\nand so on, for more than a few bytes";
  cr_assert_eq(outcome_of(text, sizeof text, MUSTER_CLOCK_WALL, false), MUSTER_E_INPUT);
  expect_error("offset 0: this is no record");
}

static void expect_replay_refused(const struct recorded *run, const muster_type_def *type, const char *says) {
  SCOPED_WORLD little = little_world_of(1, world_def(MUSTER_CLOCK_VIRTUAL));
  recorded_replay(run, little.world);
  if (type) register_type(&little, type);
  muster_result result = MUSTER_OK;
  for (uint32_t i = 0; i < FRAMES && result == MUSTER_OK; i++) result = muster_replay_frame(little.world);
  cr_assert_eq(result, MUSTER_E_INPUT);
  expect_error(says);
  cr_assert_eq(muster_replay_frame(little.world), MUSTER_E_INPUT, "what diverged stays so");
}

Test(record_refusals, another_type_is_named_with_its_field) {
  SCOPED(recorded_forget) struct recorded run = record_little(MUSTER_CLOCK_VIRTUAL);
  muster_type_def larger = CHANGED(type_def(), it.state_bytes += 8), slower = CHANGED(type_def(), it.period_ns *= 2);
  muster_type_def ant = CHANGED(type_def(), it.name = "ant");
  expect_replay_refused(&run, NULL, "type 1 is not registered");
  expect_replay_refused(&run, &larger, "'beetle': its state_bytes");
  expect_replay_refused(&run, &slower, "'beetle': its period_ns");
  expect_replay_refused(&run, &ant, "'ant': its name");
}

Test(record_refusals, another_world_is_named_with_its_field) {
  SCOPED(recorded_forget) struct recorded run = record_little(MUSTER_CLOCK_VIRTUAL);
  muster_world_def def = world_def(MUSTER_CLOCK_VIRTUAL), read = muster_world_def_default();
  muster_record_info info = muster_record_info_default();
  cr_assert_eq(muster_record_look(run.bytes, run.count, &info, &read), MUSTER_OK);
  cr_assert_eq(info.frames, FRAMES);
  cr_assert_eq(read.limits.agents_max, def.limits.agents_max);
  cr_assert_eq(read.clock.kind, def.clock.kind);
  def.seed = 9;
  SCOPED_WORLD little = little_world_create(1, &def);
  assert_refused(replay_with(little.world, replay_of(&run)), MUSTER_E_INPUT, "seed");
}

/* An update that does something else than in the record is noticed by the hash of its frame. */
Test(record_refusals, an_update_that_does_something_else_diverges_in_its_frame) {
  SCOPED(recorded_forget) struct recorded run = record_little(MUSTER_CLOCK_VIRTUAL);
  const muster_atom lazy[] = {{breed, MUSTER_ROLE_BEHAVIOUR, 20000}, {breed, MUSTER_ROLE_ACTION, 1000}};
  muster_type_def type = CHANGED(type_def(), it.atoms = lazy);
  expect_replay_refused(&run, &type, "frame 2: it"); /* the first that runs an update */
}

Test(record_refusals, a_world_that_replays_takes_no_frame_and_ignores_its_host) {
  SCOPED(recorded_forget) struct recorded run = record_little(MUSTER_CLOCK_VIRTUAL);
  SCOPED_WORLD little = little_world_of(1, world_def(MUSTER_CLOCK_VIRTUAL));
  recorded_replay(&run, little.world);
  add_type(&little, type_def());
  cr_assert_eq(muster_frame_run(little.world, &(muster_frame){1, 1000000}), MUSTER_E_STATE);
  for (uint32_t i = 0; i < FRAMES; i++) {
    muster_agent agent = spawn_at(&little, 3);
    cr_assert_eq(muster_agent_index(agent), i);
    cr_assert_eq(muster_agent_remove(little.world, agent), MUSTER_OK);
    cr_assert_eq(muster_agent_wake(little.world, agent), MUSTER_OK);
    cr_assert_eq(muster_agent_send(little.world, muster_agent_make(250, 7), &i, sizeof i), MUSTER_OK, "to nobody");
    cr_assert_eq(muster_agents_move(little.world, &agent, &(muster_position){9, 9, 0}, 1), 1);
    recorded_follow(&run, little.world, i);
  }
}

static void expect_no_replay(const little_world *little, const char *of) {
  uint64_t hash = muster_world_hash(little->world);
  cr_expect_eq(muster_replay_frame(little->world), MUSTER_E_STATE, "%s", of);
  cr_expect_str_eq(muster_last_error(), "replay: this world does not replay", "%s", of);
  cr_expect_not(muster_world_is_replaying(little->world));
  cr_expect_eq(muster_world_hash(little->world), hash, "%s", of);
}

/* Of any other world there is none, and it goes on: before its recording, in it and after it. */
Test(record_refusals, a_frame_of_a_record_is_run_in_a_world_that_replays_alone) {
  SCOPED(recorded_forget) struct recorded run = {0};
  SCOPED_WORLD little = little_world_of(1, world_def(MUSTER_CLOCK_VIRTUAL));
  expect_no_replay(&little, "new");
  recorded_begin(&run, little.world);
  add_type(&little, type_def());
  for (uint32_t i = 0; i < 4; i++) {
    spawn_at(&little, i);
    expect_no_replay(&little, "that records");
    record_frames(&run, &little, 1, 600000);
  }
  recorded_end(&run, little.world);
  expect_no_replay(&little, "that has recorded");
  run_frame_with(&little, 600000);
  cr_expect_eq(outcome_of(run.bytes, run.count, MUSTER_CLOCK_VIRTUAL, false), MUSTER_E_STATE);
  cr_expect_eq(frames, 4, "%s", muster_last_error());
}

/* The first frames fit into the buffer, one that moves too many agents does not. */
Test(record_refusals, a_full_buffer_ends_the_recording_and_what_was_written_is_whole) {
  enum { WHOLE = 4, MANY = 4000 };
  SCOPED(recorded_forget) struct recorded run = {0};
  static muster_agent agents[MANY];
  static muster_position places[MANY];
  uint32_t lines = 0;
  muster_world_def def = CHANGED(world_def(MUSTER_CLOCK_VIRTUAL), it.log = (muster_log_sink){silence, &lines});
  muster_record_status status = muster_record_status_default();
  SCOPED_WORLD little = little_world_create(1, &def);
  lines = 0;
  assert_ok(record_with(little.world,
                        WITH(muster_record_def, it.write = recorded_write, it.user = &run, it.buffer_bytes = 65536)));
  add_type(&little, type_def());
  drive(&little, &run, WHOLE);
  muster_agents_move(little.world, agents, places, MANY);
  run_frames(&little, 3);
  muster_record_status_read(little.world, &status);
  cr_assert_eq(status.records, false);
  cr_assert_eq(status.frames, WHOLE);
  cr_assert_eq(status.lost, 3);
  cr_assert_eq(status.bytes, run.count);
  cr_assert_not_null(strstr(status.ended_by, "buffer of 65536 bytes was full"), "%s", status.ended_by);
  cr_assert_eq(lines, 1);
  cr_assert_eq(outcome_of(run.bytes, run.count, MUSTER_CLOCK_VIRTUAL, false), MUSTER_E_STATE, "%s",
               muster_last_error());
  cr_assert_eq(frames, WHOLE);
}

static uint64_t name_user(muster_agent agent, void *agent_user, void *user) {
  (void)agent, (void)user;
  return *(uint64_t *)agent_user;
}

static void *user_of(muster_agent agent, uint64_t name, void *user) {
  (void)agent;
  uint64_t *values = user;
  return &values[name];
}

Test(record_refusals, user_pointers_come_back_by_their_names) {
  SCOPED(recorded_forget) struct recorded run = {0};
  uint64_t values[] = {0, 1, 2, 3}, copies[] = {0, 1, 2, 3};
  muster_type_def type = type_def();
  SCOPED_WORLD little = little_world_of(1, world_def(MUSTER_CLOCK_VIRTUAL));
  assert_ok(record_with(little.world, CHANGED(record_into(&run), it.name_user = name_user)));
  register_type(&little, &type);
  for (uint32_t i = 0; i < 4; i++) spawn_as(&little, WITH(muster_agent_def, it.user = i ? &values[i] : NULL));
  for (int i = 0; i < 5; i++) recorded_note(&run, &little, run_frame(&little));
  recorded_end(&run, little.world);
  expect_replay_refused(&run, &type, "user pointer");
  SCOPED_WORLD again = little_world_of(1, world_def(MUSTER_CLOCK_VIRTUAL));
  assert_ok(replay_with(again.world, CHANGED(replay_of(&run), it.user_of = user_of, it.user = copies)));
  register_type(&again, &type);
  for (int i = 0; i < 5; i++) assert_ok(muster_replay_frame(again.world));
}

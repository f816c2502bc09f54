/* Recordings one after another in the same world, however the one before ended; what definitions are refused, and that
 * a refusal changes nothing; arrays, user pointers and observers, compared in a replay one by one. */
#include "support/planned_world.h"
#include "support/recording.h"

#include <muster/bulk.h>
#include <muster/herd.h>
#include <muster/record.h>
#include <muster/sets.h>
#include <muster/tune.h>

enum { AGENTS = 40, MANY = 700, WATCHERS = 300, FRAMES = 4 };

static muster_atom_result add_user(muster_update *update) {
  uint64_t *self = update->state;
  const uint64_t *of_host = update->user;
  *self = *self * 31 + update->elapsed_ns + (of_host ? *of_host : 0);
  return MUSTER_ATOM_NEXT;
}

static muster_type_def type_def(const char *name) {
  static const muster_atom atom = {add_user, MUSTER_ROLE_BEHAVIOUR, 1000};
  muster_type_def def = type_with(&atom, 1);
  def.name = name;
  def.state_bytes = sizeof(uint64_t);
  def.period_ns = def.period_max_ns = FRAME_NS;
  return def;
}

static muster_world_def world_def(void) {
  muster_world_def def = muster_world_def_default();
  def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  def.limits.agents_max = 2 * MANY;
  return def;
}

static muster_record_status status_of(const muster_world *world) {
  muster_record_status status = muster_record_status_default();
  cr_assert_eq(muster_record_status_read(world, &status), MUSTER_OK);
  return status;
}

static void expect_status(const muster_world *world, bool records, uint64_t frames, uint64_t bytes, uint64_t lost,
                          const char *ended_by) {
  muster_record_status status = status_of(world);
  cr_expect_eq(status.records, records);
  cr_expect_eq(status.frames, frames, "%lu frames, and not %lu", status.frames, frames);
  cr_expect_eq(status.bytes, bytes, "%lu bytes, and not %lu", status.bytes, bytes);
  cr_expect_eq(status.lost, lost, "%lu lost, and not %lu", status.lost, lost);
  cr_expect(*ended_by ? strstr(status.ended_by, ended_by) != NULL : !*status.ended_by, "%s", status.ended_by);
}

/* ------------------------------------------------------------------------------------------- one after another */

typedef struct sink {
  struct recorded run;
  uint32_t taken; /* parts that are taken before the others are refused */
  uint32_t offered;
} sink;

static bool sink_write(const void *bytes, size_t count, void *user) {
  sink *into = user;
  into->offered++;
  if (into->offered > into->taken) return false;
  return recorded_write(bytes, count, &into->run);
}

static void begin_into(sink *into, muster_world *world, size_t buffer_bytes) {
  muster_record_def def = muster_record_def_default();
  def.write = sink_write;
  def.user = into;
  def.buffer_bytes = buffer_bytes;
  def.hash_every = 1;
  cr_assert_eq(muster_record_begin(world, &def), MUSTER_OK, "%s", muster_last_error());
}

static void silent(muster_log_level level, const char *message, void *user) {
  (void)level, (void)message, (void)user;
}

/* Replays what a sink took, to its last frame; types are those that the recorded world has by then. */
static void expect_replayed(const sink *from, uint32_t types_before, uint32_t types, bool cut) {
  static const char *const names[] = {"ant", "bee", "cat", "dog", "eel", "fly", "gnu", "hen"};
  muster_world_def def = world_def();
  muster_replay_def replay = muster_replay_def_default();
  little_world little = little_world_create(1, &def);
  replay.bytes = from->run.bytes;
  replay.count = from->run.count;
  replay.accept_cut = cut;
  cr_assert_eq(muster_replay_begin(little.world, &replay), MUSTER_OK, "%s", muster_last_error());
  for (uint32_t i = 0; i < types_before; i++) {
    muster_type_def type = type_def(names[i]);
    register_type(&little, &type);
  }
  for (uint32_t i = 0; i < from->run.frames; i++) {
    if (i == 1)
      for (uint32_t k = types_before; k < types; k++) {
        muster_type_def type = type_def(names[k]);
        register_type(&little, &type);
      }
    cr_assert_eq(muster_replay_frame(little.world), MUSTER_OK, "frame %u: %s", i, muster_last_error());
    cr_assert_eq(muster_world_hash(little.world), from->run.hashes[i], "frame %u", i);
    cr_assert_eq(status_of(little.world).frames, i + 1);
    cr_assert(muster_world_is_replaying(little.world));
  }
  cr_assert_eq(muster_replay_frame(little.world), MUSTER_E_STATE);
  little.provokes_idle = true;
  little_world_destroy(&little);
}

/* Records frames with spawns, in which a type is added, and more moves at once than fit where the end is to be a full
 * buffer. Returns how many frames are recorded. */
static void run_recorded(sink *into, little_world *little, const char *new_type) {
  recorded_note(&into->run, little, run_frame(little));
  muster_type_def type = type_def(new_type);
  register_type(little, &type);
  for (uint32_t i = 1; i < FRAMES; i++) {
    for (uint32_t k = 0; k < 3; k++) spawn_at(little, i * 10 + k);
    recorded_note(&into->run, little, run_frame(little));
  }
}

enum ending { ENDS_PROPERLY, ENDS_FULL, ENDS_REFUSED, ENDS_REFUSED_AT_LAST };

Test(record_again, each_is_whole_however_the_one_before_ended) {
  static const char *const names[] = {"ant", "bee", "cat", "dog", "eel", "fly", "gnu", "hen"};
  static const enum ending endings[] = {ENDS_FULL,     ENDS_PROPERLY, ENDS_REFUSED, ENDS_PROPERLY, ENDS_REFUSED_AT_LAST,
                                        ENDS_PROPERLY, ENDS_FULL,     ENDS_PROPERLY};
  static muster_agent agents[4000];
  static muster_position places[4000];
  static sink into;
  muster_world_def def = world_def();
  def.log.write = silent;
  little_world little = little_world_create(1, &def);
  expect_status(little.world, false, 0, 0, 0, "");
  for (uint32_t i = 0; i < sizeof endings / sizeof *endings; i++) {
    enum ending ending = endings[i];
    into = (sink){.taken = UINT32_MAX};
    begin_into(&into, little.world, i % 2 ? 65536u << i : 65536u);
    expect_status(little.world, true, 0, into.run.count, 0, "");
    cr_expect_gt(into.run.count, 0);
    run_recorded(&into, &little, names[i]);
    expect_status(little.world, true, FRAMES, into.run.count, 0, "");
    if (i % 2) { /* what does not fit the buffer before fits this one */
      muster_agents_move(little.world, agents, places, 3500);
      recorded_note(&into.run, &little, run_frame(&little));
    }
    if (ending == ENDS_FULL) {
      muster_agents_move(little.world, agents, places, 4000);
      run_frames(&little, 3);
      expect_status(little.world, false, FRAMES, into.run.count, 3, "buffer of 65536 bytes was full");
    }
    if (ending == ENDS_REFUSED) {
      into.taken = into.offered;
      run_frames(&little, 2);
      cr_expect_eq(into.offered, into.taken + 1, "nothing more is written where a part is missing");
      expect_status(little.world, false, FRAMES, into.run.count, 2, "refused");
    }
    if (ending == ENDS_REFUSED_AT_LAST) into.taken = into.offered;
    if (ending == ENDS_PROPERLY || ending == ENDS_REFUSED_AT_LAST) {
      cr_expect_eq(muster_record_end(little.world), ending == ENDS_PROPERLY ? MUSTER_OK : MUSTER_E_SYSTEM);
      cr_expect_eq(status_of(little.world).records, false);
    }
    cr_expect_eq(muster_record_end(little.world), MUSTER_E_STATE, "it has ended");
    spawn_at(&little, 7); /* is in no record */
    run_frame(&little);
    if (ending == ENDS_PROPERLY) expect_status(little.world, false, into.run.frames, into.run.count, 0, "");
    expect_replayed(&into, i, i + 1, ending == ENDS_REFUSED || ending == ENDS_REFUSED_AT_LAST);
    recorded_forget(&into.run);
  }
  little.provokes_idle = true;
  little_world_destroy(&little);
}

/* ---------------------------------------------------------------------------------------------------- refusals */

static bool count_write(const void *bytes, size_t count, void *user) {
  (void)bytes, (void)count;
  ++*(uint32_t *)user;
  return true;
}

typedef struct definition {
  bool write;
  size_t buffer_bytes;
  uint32_t note_bytes;
  bool note;
  const char *refused; /* null: it is taken */
} definition;

Test(record_again, limits_of_a_definition_are_where_they_are_and_a_refusal_changes_nothing) {
  static const definition definitions[] = {{false, 65536, 0, false, "write must be given"},
                                           {true, 65535, 0, false, "buffer_bytes 65535"},
                                           {true, ((size_t)1 << 40) + 1, 0, false, "buffer_bytes"},
                                           {true, 65536, 32769, true, "note_bytes 32769"},
                                           {true, 65536, 1, false, "note_bytes 1"},
                                           {true, 65536, 32768, true, NULL},
                                           {true, 65536, 0, true, NULL},
                                           {true, 65536, 0, false, NULL}};
  static const char note[32769] = "note";
  muster_world_def world = world_def();
  little_world little = little_world_create(1, &world);
  muster_type_def type = type_def("ant");
  register_type(&little, &type);
  for (size_t i = 0; i < sizeof definitions / sizeof *definitions; i++) {
    uint32_t writes = 0;
    muster_record_def def = muster_record_def_default();
    muster_record_status before = status_of(little.world);
    def.user = &writes;
    if (definitions[i].write) def.write = count_write;
    def.buffer_bytes = definitions[i].buffer_bytes;
    def.note_bytes = definitions[i].note_bytes;
    if (definitions[i].note) def.note = note;
    muster_result result = muster_record_begin(little.world, &def);
    muster_record_status after = status_of(little.world);
    if (definitions[i].refused) {
      cr_expect_eq(result, MUSTER_E_ARGUMENT, "case %zu", i);
      cr_expect_not_null(strstr(muster_last_error(), definitions[i].refused), "case %zu: %s", i, muster_last_error());
      cr_expect_eq(writes, 0, "case %zu", i);
      cr_expect_eq(memcmp(&before, &after, sizeof after), 0, "case %zu", i);
      cr_expect_eq(muster_record_end(little.world), MUSTER_E_STATE, "case %zu", i);
      continue;
    }
    cr_expect_eq(result, MUSTER_OK, "case %zu: %s", i, muster_last_error());
    cr_expect(after.records && writes == 1, "case %zu", i);
    cr_expect_eq(muster_record_begin(little.world, &def), MUSTER_E_STATE, "case %zu: it records", i);
    cr_expect(status_of(little.world).records && writes == 1, "case %zu", i);
    cr_expect_eq(muster_record_end(little.world), MUSTER_OK, "case %zu", i);
  }
  little_world_destroy(&little);
}

Test(record_again, a_planner_world_records_nothing_and_replays_nothing) {
  static struct recorded run;
  uint32_t writes = 0;
  muster_world_def world = world_def();
  little_world little = little_world_create(1, &world);
  recorded_begin(&run, little.world);
  recorded_note(&run, &little, run_frame(&little));
  recorded_end(&run, little.world);
  little_world_destroy(&little);
  planned_world *planned = planned_world_create(&world);
  muster_record_def def = muster_record_def_default();
  muster_replay_def replay = muster_replay_def_default();
  def.write = count_write;
  def.user = &writes;
  replay.bytes = run.bytes;
  replay.count = run.count;
  cr_expect_eq(muster_record_begin(planned->little.world, &def), MUSTER_E_STATE);
  cr_expect_not_null(strstr(muster_last_error(), "planner_workers"), "%s", muster_last_error());
  cr_expect_eq(muster_replay_begin(planned->little.world, &replay), MUSTER_E_STATE);
  cr_expect_not_null(strstr(muster_last_error(), "planner_workers"), "%s", muster_last_error());
  cr_expect(!writes && !muster_world_is_replaying(planned->little.world));
  planned_world_destroy(planned);
  recorded_forget(&run);
}

/* -------------------------------------------------------------------------------------------------------- looks */

Test(record_again, a_look_tells_all_of_it_whole_or_cut_and_nothing_of_one_with_more_behind) {
  static const char note[] = "--seed 7";
  static struct recorded run;
  muster_world_def def = world_def();
  muster_record_def record = muster_record_def_default();
  def.seed = 77;
  def.cell_m = 12.5f;
  little_world little = little_world_create(2, &def);
  muster_type_def type = type_def("ant");
  register_type(&little, &type);
  for (uint32_t i = 0; i < AGENTS; i++) spawn_at(&little, i);
  run_frames(&little, 3);
  run = (struct recorded){0};
  record.write = recorded_write;
  record.user = &run;
  record.note = note;
  record.note_bytes = sizeof note;
  cr_assert_eq(muster_record_begin(little.world, &record), MUSTER_OK, "%s", muster_last_error());
  size_t head = run.count, whole[FRAMES];
  for (uint32_t i = 0; i < FRAMES; i++) {
    run_frame(&little);
    whole[i] = run.count;
  }
  cr_assert_eq(muster_record_end(little.world), MUSTER_OK);
  little_world_destroy(&little);
  size_t counts[] = {run.count, run.count - 1, whole[FRAMES - 1], whole[FRAMES - 1] - 1, whole[0], head};
  static const uint64_t frames[] = {FRAMES, FRAMES, FRAMES, FRAMES - 1, 1, 0};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    muster_record_info info = muster_record_info_default();
    muster_world_def read = muster_world_def_default();
    cr_assert_eq(muster_record_look(run.bytes, counts[i], &info, &read), MUSTER_OK, "%s", muster_last_error());
    cr_expect_eq(info.frames, frames[i], "%zu", i);
    cr_expect_eq(info.cut, i > 0, "%zu", i);
    cr_expect_eq(info.workers, 2);
    cr_expect_eq(info.frames_before, 3);
    cr_expect_eq(info.note_bytes, sizeof note);
    cr_expect(info.note >= (const void *)run.bytes && !memcmp(info.note, note, sizeof note));
    cr_expect(read.seed == 77 && read.cell_m == 12.5f && read.limits.agents_max == def.limits.agents_max);
  }
  cr_expect_eq(muster_record_look(run.bytes, run.count, NULL, NULL), MUSTER_E_NOT_INITIALISED);
  run.bytes = realloc(run.bytes, run.count + 1);
  run.bytes[run.count] = 0;
  muster_record_info info = muster_record_info_default(), none = info;
  cr_expect_eq(muster_record_look(run.bytes, run.count + 1, &info, NULL), MUSTER_E_INPUT);
  cr_expect_not_null(strstr(muster_last_error(), "1 bytes behind the end"), "%s", muster_last_error());
  cr_expect_eq(memcmp(&info, &none, sizeof info), 0, "a refusal tells nothing");
  recorded_forget(&run);
}

/* ---------------------------------------------------------------------------------- what a host does to many at once
 */

/* Between frames: arrays longer than are taken together, of each kind, and empty ones. */
static void do_to_many(muster_world *world, const muster_agent *agents, const muster_observer *watchers,
                       uint32_t frame) {
  static muster_position places[MANY];
  static float values[MANY];
  for (uint32_t i = 0; i < MANY; i++) {
    places[i] = (muster_position){i * 2.0 + frame, i % 17, frame};
    values[i] = (float)((i * 7 + frame * 3) % 101) / 100.0f;
  }
  muster_agents_move(world, agents, places, frame ? MANY : 0);
  muster_observers_move(world, watchers, places, frame ? WATCHERS : 0);
  muster_agents_set_factor(world, (muster_factor)(frame % MUSTER_FACTORS), agents, values, frame ? MANY : 0);
}

typedef struct watched_run {
  muster_agent agents[MANY];
  muster_observer watchers[WATCHERS];
  muster_agent_info infos[MUSTER_FACTORS * 2 + 1][MANY];
  muster_observer_def eyes[MUSTER_FACTORS * 2 + 1][WATCHERS];
} watched_run;

static void read_all(const little_world *little, watched_run *run, uint32_t frame) {
  for (uint32_t i = 0; i < MANY; i++) run->infos[frame][i] = info_of(little, run->agents[i]);
  for (uint32_t i = 0; i < WATCHERS; i++) {
    run->eyes[frame][i] = muster_observer_def_default();
    cr_assert_eq(muster_observer_read(little->world, run->watchers[i], &run->eyes[frame][i]), MUSTER_OK);
  }
}

Test(record_again, each_of_many_is_where_and_as_it_was) {
  static struct recorded run;
  static watched_run recorded, replayed;
  enum { ROUNDS = MUSTER_FACTORS * 2 + 1 };
  muster_world_def def = world_def();
  muster_type_def type = type_def("ant");
  muster_observer_def eyes = muster_observer_def_default();
  def.limits.observers_max = 512;
  little_world little = little_world_create(1, &def);
  recorded_begin(&run, little.world);
  register_type(&little, &type);
  for (uint32_t i = 0; i < MANY; i++) recorded.agents[i] = spawn_at(&little, i);
  eyes.near_m = 3;
  eyes.far_m = 1500;
  for (uint32_t i = 0; i < WATCHERS; i++) recorded.watchers[i] = muster_observer_add(little.world, &eyes);
  for (uint32_t i = 0; i < ROUNDS; i++) {
    do_to_many(little.world, recorded.agents, recorded.watchers, i);
    recorded_note(&run, &little, run_frame_with(&little, 100000000));
    read_all(&little, &recorded, i);
  }
  recorded_end(&run, little.world);
  little.provokes_idle = true;
  little_world_destroy(&little);
  little = little_world_create(1, &def);
  recorded_replay(&run, little.world);
  register_type(&little, &type);
  memcpy(replayed.agents, recorded.agents, sizeof recorded.agents);
  memcpy(replayed.watchers, recorded.watchers, sizeof recorded.watchers);
  for (uint32_t i = 0; i < ROUNDS; i++) {
    cr_assert_eq(muster_replay_frame(little.world), MUSTER_OK, "frame %u: %s", i, muster_last_error());
    read_all(&little, &replayed, i);
    for (uint32_t k = 0; k < MANY; k++) {
      muster_agent_info *is = &replayed.infos[i][k], *was = &recorded.infos[i][k];
      cr_assert_eq(memcmp(&is->position, &was->position, sizeof is->position), 0, "agent %u, frame %u", k, i);
      cr_assert(is->importance == was->importance && is->period_ns == was->period_ns, "agent %u, frame %u", k, i);
    }
    cr_assert_eq(memcmp(replayed.eyes[i], recorded.eyes[i], sizeof recorded.eyes[i]), 0, "frame %u", i);
    cr_assert_eq(muster_world_hash(little.world), run.hashes[i], "frame %u", i);
  }
  little.provokes_idle = true;
  little_world_destroy(&little);
  recorded_forget(&run);
}

/* ------------------------------------------------------------------------------------------------ user pointers */

/* What a recording with user pointers is handed: the run first, as recorded_write() takes it. */
typedef struct named_run {
  struct recorded run;
  uint64_t values[AGENTS];
} named_run;

static uint64_t name_user(muster_agent agent, void *agent_user, void *user) {
  const named_run *of = user;
  uint64_t number = (uint64_t)((const uint64_t *)agent_user - of->values);
  cr_expect_eq(number, muster_agent_index(agent));
  return number + 1; /* 0 is the name of none */
}

typedef struct answers {
  uint64_t values[AGENTS];
  uint32_t asked;
} answers;

static void *user_of(muster_agent agent, uint64_t name, void *user) {
  answers *of = user;
  cr_expect_eq(name, muster_agent_index(agent) + 1, "agent %u", muster_agent_index(agent));
  of->asked++;
  return &of->values[muster_agent_index(agent)];
}

/* Agents that are spawned before the recording begins, or after. */
static void record_users(named_run *of, bool before) {
  muster_world_def def = world_def();
  muster_type_def type = type_def("ant");
  muster_agent_def agent = muster_agent_def_default();
  muster_record_def record = muster_record_def_default();
  little_world little = little_world_create(1, &def);
  record.write = recorded_write;
  record.user = of;
  record.name_user = name_user;
  record.hash_every = 1;
  register_type(&little, &type);
  if (!before) cr_assert_eq(muster_record_begin(little.world, &record), MUSTER_OK, "%s", muster_last_error());
  agent.type = little.type;
  for (uint32_t i = 0; i < AGENTS; i++) {
    agent.user = &of->values[i];
    cr_assert(!muster_agent_is_null(muster_agent_spawn(little.world, &agent)));
  }
  if (before) {
    run_frames(&little, 2);
    cr_assert_eq(muster_record_begin(little.world, &record), MUSTER_OK, "%s", muster_last_error());
  }
  for (uint32_t i = 0; i < FRAMES; i++) recorded_note(&of->run, &little, run_frame(&little));
  recorded_end(&of->run, little.world);
  little_world_destroy(&little);
}

Test(record_again, each_agent_has_its_own_user_pointer) {
  for (uint32_t before = 0; before < 2; before++) {
    static named_run of;
    static answers copies;
    muster_world_def def = world_def();
    muster_type_def type = type_def("ant");
    muster_replay_def replay = muster_replay_def_default();
    copies.asked = 0;
    for (uint64_t i = 0; i < AGENTS; i++) of.values[i] = copies.values[i] = i * i + 3;
    of.run = (struct recorded){0};
    record_users(&of, before);
    little_world little = little_world_create(1, &def);
    replay.bytes = of.run.bytes;
    replay.count = of.run.count;
    replay.user_of = user_of;
    replay.user = &copies;
    cr_assert_eq(muster_replay_begin(little.world, &replay), MUSTER_OK, "%s", muster_last_error());
    register_type(&little, &type);
    for (uint32_t i = 0; i < of.run.frames; i++) {
      cr_assert_eq(muster_replay_frame(little.world), MUSTER_OK, "%s", muster_last_error());
      cr_assert_eq(muster_world_hash(little.world), of.run.hashes[i], "frame %u", i);
      for (uint32_t k = 0; k < AGENTS; k++)
        cr_expect_eq(info_of(&little, muster_agent_make(k, 1)).user, &copies.values[k], "agent %u", k);
    }
    cr_expect_eq(copies.asked, AGENTS, "each is asked for once");
    little_world_destroy(&little);
    recorded_forget(&of.run);
  }
}

/* ------------------------------------------------------------------------------------- what a record begins with */

/* A type more than there was when the frame ran. */
Test(record_again, a_type_too_many_is_told) {
  static struct recorded run;
  muster_world_def def = world_def();
  muster_type_def type = type_def("ant"), other = type_def("bee");
  little_world little = little_world_create(1, &def);
  recorded_begin(&run, little.world);
  register_type(&little, &type);
  for (uint32_t i = 0; i < FRAMES; i++) recorded_note(&run, &little, run_frame(&little));
  recorded_end(&run, little.world);
  little_world_destroy(&little);
  little = little_world_create(1, &def);
  recorded_replay(&run, little.world);
  register_type(&little, &type);
  cr_assert_eq(muster_replay_frame(little.world), MUSTER_OK, "%s", muster_last_error());
  register_type(&little, &other);
  for (uint32_t i = 0; i < 3; i++) {
    cr_expect_eq(muster_replay_frame(little.world), MUSTER_E_INPUT);
    cr_expect_not_null(strstr(muster_last_error(), "frame 2: 2 types are registered, in the recorded run there were 1"),
                       "%s", muster_last_error());
    cr_expect_eq(status_of(little.world).frames, 1);
  }
  little_world_destroy(&little);
  recorded_forget(&run);
}

/* Nothing but an observer: it is in the snapshot. */
Test(record_again, an_observer_alone_makes_a_world_no_new_one) {
  static struct recorded run;
  muster_world_def def = world_def();
  muster_type_def type = type_def("ant");
  muster_observer_def eyes = muster_observer_def_default();
  for (uint32_t frames = 0; frames < 2; frames++) {
    little_world little = little_world_create(1, &def);
    register_type(&little, &type);
    eyes.position.x = 30;
    muster_observer observer = muster_observer_add(little.world, &eyes);
    run_frames(&little, frames);
    recorded_begin(&run, little.world);
    spawn_at(&little, 31);
    for (uint32_t i = 0; i < FRAMES; i++) recorded_note(&run, &little, run_frame(&little));
    recorded_end(&run, little.world);
    little_world_destroy(&little);
    little = little_world_create(1, &def);
    recorded_replay(&run, little.world);
    register_type(&little, &type);
    for (uint32_t i = 0; i < FRAMES; i++) {
      muster_observer_def read = muster_observer_def_default();
      cr_assert_eq(muster_replay_frame(little.world), MUSTER_OK, "%s", muster_last_error());
      cr_assert_eq(muster_world_hash(little.world), run.hashes[i]);
      cr_assert_eq(muster_observer_read(little.world, observer, &read), MUSTER_OK, "%s", muster_last_error());
      cr_expect_eq(memcmp(&read, &eyes, sizeof read), 0);
    }
    little_world_destroy(&little);
    muster_replay_def replay = muster_replay_def_default();
    little = little_world_create(1, &def);
    muster_observer_add(little.world, &eyes);
    replay.bytes = run.bytes;
    replay.count = run.count;
    cr_expect_eq(muster_replay_begin(little.world, &replay), MUSTER_E_STATE, "this world is not new");
    cr_expect_not(muster_world_is_replaying(little.world));
    little_world_destroy(&little);
    recorded_forget(&run);
  }
}

/* Worlds in which nothing was spawned are no new ones either: they have run, or know herds, or were tuned since. */
enum past { PAST_FRAMES = 0, PAST_HERDS, PAST_TUNING, PASTS };

static void live_so_far(little_world *little, enum past past, bool again) {
  muster_type_def type = type_def("ant");
  type.published_bytes = 64;
  register_type(little, &type);
  muster_herd_type_def herd = muster_herd_type_def_default();
  herd.member = little->type;
  if (past == PAST_HERDS) cr_assert_neq(muster_herd_type_register(little->world, &herd).index, 0);
  if (again) return;
  muster_world_tuning tuning = muster_world_tuning_default();
  tuning.priority.runs = 0.4f;
  if (past == PAST_TUNING)
    cr_assert_eq(muster_world_tune(little->world, &tuning), MUSTER_OK, "%s", muster_last_error());
  if (past != PAST_HERDS) run_frames(little, 3);
}

Test(record_again, a_world_that_ran_or_has_herds_or_was_tuned_is_no_new_one) {
  for (enum past past = 0; past < PASTS; past++) {
    static struct recorded run;
    muster_world_def def = world_def();
    muster_record_info info = muster_record_info_default();
    little_world little = little_world_create(1, &def);
    live_so_far(&little, past, false);
    recorded_begin(&run, little.world);
    for (uint32_t i = 0; i < FRAMES; i++) {
      spawn_at(&little, i);
      recorded_note(&run, &little, run_frame(&little));
    }
    recorded_end(&run, little.world);
    little_world_destroy(&little);
    cr_assert_eq(muster_record_look(run.bytes, run.count, &info, NULL), MUSTER_OK, "%d: %s", (int)past,
                 muster_last_error());
    cr_expect_eq(info.frames_before, past == PAST_HERDS ? 0 : 3);
    cr_expect_eq(info.frames, FRAMES);
    little = little_world_create(1, &def);
    recorded_replay(&run, little.world);
    live_so_far(&little, past, true);
    for (uint32_t i = 0; i < FRAMES; i++) {
      muster_frame_report report = muster_frame_report_default();
      cr_assert_eq(muster_replay_frame(little.world), MUSTER_OK, "%d: %s", (int)past, muster_last_error());
      cr_assert_eq(muster_world_hash(little.world), run.hashes[i], "%d", (int)past);
      muster_frame_report_read(little.world, &report);
      cr_expect_eq(memcmp(&report, &run.reports[i], sizeof report), 0, "%d", (int)past);
    }
    little.provokes_idle = true;
    little_world_destroy(&little);
    recorded_forget(&run);
  }
}

static uint64_t name_few(muster_agent agent, void *agent_user, void *user) {
  (void)agent_user, (void)user;
  return muster_agent_index(agent) % 3 == 2 ? 0 : 5;
}

/* A type with sets by the wall clock, wherever it stands among the others; and the first of those without a name. */
Test(record_again, refusals_name_the_type_and_the_agent) {
  static const muster_atom atom = {nothing, MUSTER_ROLE_BEHAVIOUR, 1000};
  muster_set_def set = muster_set_def_default();
  set.atoms = &atom;
  set.atom_count = 1;
  for (uint32_t virtual = 0; virtual < 2; virtual ++) {
    muster_world_def def = world_def();
    uint32_t writes = 0;
    muster_record_def record = muster_record_def_default();
    def.clock.kind = virtual ? MUSTER_CLOCK_VIRTUAL : MUSTER_CLOCK_WALL;
    record.write = count_write;
    record.user = &writes;
    little_world little = little_world_create(1, &def);
    muster_type_def type = type_def("ant"), setter = muster_type_def_default();
    setter.name = "setter";
    setter.sets.list = &set;
    setter.sets.count = 1;
    register_type(&little, &type);
    register_type(&little, &setter);
    cr_expect_eq(muster_record_begin(little.world, &record), virtual ? MUSTER_OK : MUSTER_E_STATE);
    if (!virtual) cr_expect_not_null(strstr(muster_last_error(), "type 'setter' has sets"), "%s", muster_last_error());
    cr_expect_eq(writes, virtual);
    little_world_destroy(&little);
  }
  muster_world_def def = world_def();
  little_world little = little_world_create(1, &def);
  muster_type_def type = type_def("ant");
  uint32_t writes = 0;
  uint64_t of_host = 3;
  muster_agent_def agent = muster_agent_def_default();
  muster_record_def record = muster_record_def_default();
  register_type(&little, &type);
  agent.type = little.type;
  agent.user = &of_host;
  for (uint32_t i = 0; i < 9; i++) muster_agent_spawn(little.world, &agent);
  run_frame(&little);
  record.write = count_write;
  record.user = &writes;
  record.name_user = name_few;
  for (uint32_t i = 0; i < 2; i++) {
    cr_expect_eq(muster_record_begin(little.world, &record), MUSTER_E_ARGUMENT);
    cr_expect_not_null(strstr(muster_last_error(), "the user pointer of agent 2 the name 0"), "%s",
                       muster_last_error());
    cr_expect(!writes && !status_of(little.world).records);
    run_frame(&little);
  }
  little_world_destroy(&little);
}

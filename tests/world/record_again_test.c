/* Recordings one after another in the same world, however the one before ended; what definitions are refused, and that
 * a refusal changes nothing; arrays, user pointers and observers, compared in a replay one by one. */
#include "support/planned_world.h"
#include "world/fixture.h"

enum { AGENTS = 40, MANY = 700, WATCHERS = 300, FRAMES = 4 };

static muster_atom_result add_user(muster_update *update) {
  uint64_t *self = update->state;
  const uint64_t *of_host = update->user;
  *self = *self * 31 + update->elapsed_ns + (of_host ? *of_host : 0);
  return MUSTER_ATOM_NEXT;
}

static muster_type_def type_def(const char *name) {
  return CHANGED(due_every(FRAME_NS, type_running(add_user, 1000)), it.name = name, it.state_bytes = sizeof(uint64_t));
}

static muster_world_def world_def(void) {
  return WITH(virtual_world_def, it.limits.agents_max = 2 * MANY);
}

static little_world new_world(void) {
  return little_world_of(1, world_def());
}

static void expect_status(const muster_world *world, bool records, uint64_t frames, uint64_t bytes, uint64_t lost,
                          const char *ended_by) {
  muster_record_status status = record_status_of(world);
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

static const char *const names[] = {"ant", "bee", "cat", "dog", "eel", "fly", "gnu", "hen"};

/* Replays what a sink took, to its last frame; types are those that the recorded world has by then. */
static void expect_replayed(const sink *from, uint32_t types_before, uint32_t types, bool cut) {
  SCOPED_WORLD little = careless(new_world());
  assert_ok(replay_with(little.world, CHANGED(replay_of(&from->run), it.accept_cut = cut)));
  for (uint32_t i = 0; i < types_before; i++) add_type(&little, type_def(names[i]));
  for (uint32_t i = 0; i < from->run.frames; i++) {
    for (uint32_t k = types_before; i == 1 && k < types; k++) add_type(&little, type_def(names[k]));
    recorded_follow(&from->run, little.world, i);
    cr_assert_eq(record_status_of(little.world).frames, i + 1);
    cr_assert(muster_world_is_replaying(little.world));
  }
  cr_assert_eq(muster_replay_frame(little.world), MUSTER_E_STATE);
}

/* Records frames with spawns, in which a type is added, and more moves at once than fit where the end is to be a full
 * buffer. Returns how many frames are recorded. */
static void run_recorded(sink *into, little_world *little, const char *new_type) {
  recorded_note(&into->run, little, run_frame(little));
  add_type(little, type_def(new_type));
  for (uint32_t i = 1; i < FRAMES; i++) {
    for (uint32_t k = 0; k < 3; k++) spawn_at(little, i * 10 + k);
    recorded_note(&into->run, little, run_frame(little));
  }
}

enum ending { ENDS_PROPERLY, ENDS_FULL, ENDS_REFUSED, ENDS_REFUSED_AT_LAST };

Test(record_again, each_is_whole_however_the_one_before_ended) {
  static const enum ending endings[] = {ENDS_FULL,     ENDS_PROPERLY, ENDS_REFUSED, ENDS_PROPERLY, ENDS_REFUSED_AT_LAST,
                                        ENDS_PROPERLY, ENDS_FULL,     ENDS_PROPERLY};
  static muster_agent agents[4000];
  static muster_position places[4000];
  static sink into;
  SCOPED_WORLD little = careless(little_world_of(1, CHANGED(world_def(), it.log.write = say_nothing)));
  expect_status(little.world, false, 0, 0, 0, "");
  for (uint32_t i = 0; i < COUNT_OF(endings); i++) {
    enum ending ending = endings[i];
    into = (sink){.taken = UINT32_MAX};
    assert_ok(record_with(little.world, CHANGED(record_into(&into.run), it.write = sink_write, it.user = &into,
                                                it.buffer_bytes = i % 2 ? 65536u << i : 65536u)));
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
      cr_expect_eq(record_status_of(little.world).records, false);
    }
    cr_expect_eq(muster_record_end(little.world), MUSTER_E_STATE, "it has ended");
    spawn_at(&little, 7); /* is in no record */
    run_frame(&little);
    if (ending == ENDS_PROPERLY) expect_status(little.world, false, into.run.frames, into.run.count, 0, "");
    expect_replayed(&into, i, i + 1, ending == ENDS_REFUSED || ending == ENDS_REFUSED_AT_LAST);
    recorded_forget(&into.run);
  }
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
  SCOPED_WORLD little = new_world();
  add_type(&little, type_def("ant"));
  for (size_t i = 0; i < COUNT_OF(definitions); i++) {
    uint32_t writes = 0;
    muster_record_status before = record_status_of(little.world);
    muster_record_def def =
        WITH(muster_record_def, it.user = &writes, it.write = definitions[i].write ? count_write : NULL,
             it.buffer_bytes = definitions[i].buffer_bytes, it.note_bytes = definitions[i].note_bytes,
             it.note = definitions[i].note ? note : NULL);
    muster_result result = muster_record_begin(little.world, &def);
    muster_record_status after = record_status_of(little.world);
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
    cr_expect(record_status_of(little.world).records && writes == 1, "case %zu", i);
    cr_expect_eq(muster_record_end(little.world), MUSTER_OK, "case %zu", i);
  }
}

Test(record_again, a_planner_world_records_nothing_and_replays_nothing) {
  SCOPED(recorded_forget) struct recorded run = {0};
  uint32_t writes = 0;
  muster_world_def world = world_def();
  SCOPED_WORLD little = new_world();
  recorded_begin(&run, little.world);
  recorded_note(&run, &little, run_frame(&little));
  recorded_end(&run, little.world);
  SCOPED(planned_world_end) planned_world *planned = planned_world_create(&world);
  muster_record_def record = WITH(muster_record_def, it.write = count_write, it.user = &writes);
  cr_expect_eq(record_with(planned->little.world, record), MUSTER_E_STATE);
  expect_error("planner_workers");
  cr_expect_eq(replay_with(planned->little.world, replay_of(&run)), MUSTER_E_STATE);
  expect_error("planner_workers");
  cr_expect(!writes && !muster_world_is_replaying(planned->little.world));
}

Test(record_again, a_look_tells_all_of_it_whole_or_cut_and_nothing_of_one_with_more_behind) {
  static const char note[] = "--seed 7";
  SCOPED(recorded_forget) struct recorded run = {0};
  muster_world_def def = CHANGED(world_def(), it.seed = 77, it.cell_m = 12.5f);
  little_world little = peopled(typed_world(2, def, type_def("ant")), AGENTS);
  run_frames(&little, 3);
  assert_ok(record_with(little.world, WITH(muster_record_def, it.write = recorded_write, it.user = &run, it.note = note,
                                           it.note_bytes = sizeof note)));
  size_t head = run.count, whole[FRAMES];
  for (uint32_t i = 0; i < FRAMES; i++) {
    run_frame(&little);
    whole[i] = run.count;
  }
  cr_assert_eq(muster_record_end(little.world), MUSTER_OK);
  little_world_destroy(&little);
  size_t counts[] = {run.count, run.count - 1, whole[FRAMES - 1], whole[FRAMES - 1] - 1, whole[0], head};
  static const uint64_t frames[] = {FRAMES, FRAMES, FRAMES, FRAMES - 1, 1, 0};
  for (size_t i = 0; i < COUNT_OF(counts); i++) {
    muster_record_info info = muster_record_info_default();
    muster_world_def read = muster_world_def_default();
    assert_ok(muster_record_look(run.bytes, counts[i], &info, &read));
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
  expect_error("1 bytes behind the end");
  cr_expect_eq(memcmp(&info, &none, sizeof info), 0, "a refusal tells nothing");
}

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
  SCOPED(recorded_forget) struct recorded run = {0};
  static watched_run recorded, replayed;
  enum { ROUNDS = MUSTER_FACTORS * 2 + 1 };
  muster_world_def def = CHANGED(world_def(), it.limits.observers_max = 512);
  SCOPED_WORLD little = careless(little_world_create(1, &def)), again = careless(little_world_create(1, &def));
  recorded_begin(&run, little.world);
  add_type(&little, type_def("ant"));
  for (uint32_t i = 0; i < MANY; i++) recorded.agents[i] = spawn_at(&little, i);
  for (uint32_t i = 0; i < WATCHERS; i++)
    recorded.watchers[i] = observe_as(&little, WITH(muster_observer_def, it.near_m = 3, it.far_m = 1500));
  for (uint32_t i = 0; i < ROUNDS; i++) {
    do_to_many(little.world, recorded.agents, recorded.watchers, i);
    recorded_note(&run, &little, run_frame_with(&little, 100000000));
    read_all(&little, &recorded, i);
  }
  recorded_end(&run, little.world);
  recorded_replay(&run, again.world);
  add_type(&again, type_def("ant"));
  memcpy(replayed.agents, recorded.agents, sizeof recorded.agents);
  memcpy(replayed.watchers, recorded.watchers, sizeof recorded.watchers);
  for (uint32_t i = 0; i < ROUNDS; i++) {
    recorded_follow(&run, again.world, i);
    read_all(&again, &replayed, i);
    for (uint32_t k = 0; k < MANY; k++) {
      muster_agent_info *is = &replayed.infos[i][k], *was = &recorded.infos[i][k];
      cr_assert_eq(memcmp(&is->position, &was->position, sizeof is->position), 0, "agent %u, frame %u", k, i);
      cr_assert(is->importance == was->importance && is->period_ns == was->period_ns, "agent %u, frame %u", k, i);
    }
    cr_assert_eq(memcmp(replayed.eyes[i], recorded.eyes[i], sizeof recorded.eyes[i]), 0, "frame %u", i);
  }
}

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
  muster_record_def record = CHANGED(record_into(&of->run), it.user = of, it.name_user = name_user);
  SCOPED_WORLD little = new_world();
  add_type(&little, type_def("ant"));
  if (!before) assert_ok(record_with(little.world, record));
  for (uint32_t i = 0; i < AGENTS; i++) spawn_as(&little, WITH(muster_agent_def, it.user = &of->values[i]));
  if (before) run_frames(&little, 2);
  if (before) assert_ok(record_with(little.world, record));
  record_frames(&of->run, &little, FRAMES, 5000000u);
  recorded_end(&of->run, little.world);
}

Test(record_again, each_agent_has_its_own_user_pointer) {
  for (uint32_t before = 0; before < 2; before++) {
    static named_run of;
    static answers copies;
    copies.asked = 0;
    for (uint64_t i = 0; i < AGENTS; i++) of.values[i] = copies.values[i] = i * i + 3;
    of.run = (struct recorded){0};
    record_users(&of, before);
    SCOPED_WORLD little = new_world();
    assert_ok(replay_with(little.world, CHANGED(replay_of(&of.run), it.user_of = user_of, it.user = &copies)));
    add_type(&little, type_def("ant"));
    for (uint32_t i = 0; i < of.run.frames; i++) {
      recorded_follow(&of.run, little.world, i);
      for (uint32_t k = 0; k < AGENTS; k++)
        cr_expect_eq(info_of(&little, muster_agent_make(k, 1)).user, &copies.values[k], "agent %u", k);
    }
    cr_expect_eq(copies.asked, AGENTS, "each is asked for once");
    recorded_forget(&of.run);
  }
}

/* ------------------------------------------------------------------------------------- what a record begins with */

/* A type more than there was when the frame ran. */
Test(record_again, a_type_too_many_is_told) {
  SCOPED(recorded_forget) struct recorded run = {0};
  SCOPED_WORLD little = new_world(), again = new_world();
  recorded_begin(&run, little.world);
  add_type(&little, type_def("ant"));
  record_frames(&run, &little, FRAMES, 5000000u);
  recorded_end(&run, little.world);
  recorded_replay(&run, again.world);
  add_type(&again, type_def("ant"));
  assert_ok(muster_replay_frame(again.world));
  add_type(&again, type_def("bee"));
  for (uint32_t i = 0; i < 3; i++) {
    cr_expect_eq(muster_replay_frame(again.world), MUSTER_E_INPUT);
    expect_error("frame 2: 2 types are registered, in the recorded run there were 1");
    cr_expect_eq(record_status_of(again.world).frames, 1);
  }
}

/* Nothing but an observer: it is in the snapshot. */
Test(record_again, an_observer_alone_makes_a_world_no_new_one) {
  muster_observer_def eyes = muster_observer_def_default(); /* compared byte by byte below */
  eyes.position.x = 30;
  for (uint32_t frames = 0; frames < 2; frames++) {
    SCOPED(recorded_forget) struct recorded run = {0};
    SCOPED_WORLD little = new_world(), again = new_world(), old = new_world();
    add_type(&little, type_def("ant"));
    muster_observer observer = observe_as(&little, eyes);
    run_frames(&little, frames);
    recorded_begin(&run, little.world);
    spawn_at(&little, 31);
    record_frames(&run, &little, FRAMES, 5000000u);
    recorded_end(&run, little.world);
    recorded_replay(&run, again.world);
    add_type(&again, type_def("ant"));
    for (uint32_t i = 0; i < FRAMES; i++) {
      muster_observer_def read = muster_observer_def_default();
      recorded_follow(&run, again.world, i);
      assert_ok(muster_observer_read(again.world, observer, &read));
      cr_expect_eq(memcmp(&read, &eyes, sizeof read), 0);
    }
    observe_as(&old, eyes);
    cr_expect_eq(replay_with(old.world, replay_of(&run)), MUSTER_E_STATE, "this world is not new");
    cr_expect_not(muster_world_is_replaying(old.world));
  }
}

/* Worlds in which nothing was spawned are no new ones either: they have run, or know herds, or were tuned since. */
enum past { PAST_FRAMES = 0, PAST_HERDS, PAST_TUNING, PASTS };

static void live_so_far(little_world *little, enum past past, bool again) {
  add_type(little, CHANGED(type_def("ant"), it.published_bytes = 64));
  muster_herd_type_def herd = WITH(muster_herd_type_def, it.member = little->type);
  if (past == PAST_HERDS) cr_assert_neq(muster_herd_type_register(little->world, &herd).index, 0);
  if (again) return;
  if (past == PAST_TUNING) assert_ok(tune_world(little, WITH(muster_world_tuning, it.priority.runs = 0.4f)));
  if (past != PAST_HERDS) run_frames(little, 3);
}

Test(record_again, a_world_that_ran_or_has_herds_or_was_tuned_is_no_new_one) {
  for (enum past past = 0; past < PASTS; past++) {
    SCOPED(recorded_forget) struct recorded run = {0};
    SCOPED_WORLD little = new_world(), again = careless(new_world());
    live_so_far(&little, past, false);
    recorded_begin(&run, little.world);
    for (uint32_t i = 0; i < FRAMES; i++) {
      spawn_at(&little, i);
      recorded_note(&run, &little, run_frame(&little));
    }
    recorded_end(&run, little.world);
    muster_record_info info = record_look(run.bytes, run.count);
    cr_expect_eq(info.frames_before, past == PAST_HERDS ? 0 : 3);
    cr_expect_eq(info.frames, FRAMES);
    recorded_replay(&run, again.world);
    live_so_far(&again, past, true);
    for (uint32_t i = 0; i < FRAMES; i++) {
      muster_frame_report report = recorded_follow(&run, again.world, i);
      cr_expect_eq(memcmp(&report, &run.reports[i], sizeof report), 0, "%d", (int)past);
    }
  }
}

static uint64_t name_few(muster_agent agent, void *agent_user, void *user) {
  (void)agent_user, (void)user;
  return muster_agent_index(agent) % 3 == 2 ? 0 : 5;
}

/* A type with sets by the wall clock, wherever it stands among the others; and the first of those without a name. */
Test(record_again, refusals_name_the_type_and_the_agent) {
  const muster_set_def set = set_with(atom_of(nothing, 1000), 1);
  uint32_t writes = 0;
  uint64_t of_host = 3;
  muster_record_def record = WITH(muster_record_def, it.write = count_write, it.user = &writes);
  for (uint32_t virtual = 0; virtual < 2; virtual ++) {
    muster_clock clock = virtual ? MUSTER_CLOCK_VIRTUAL : MUSTER_CLOCK_WALL;
    SCOPED_WORLD little = typed_world(1, CHANGED(world_def(), it.clock.kind = clock), type_def("ant"));
    add_type(&little, WITH(muster_type_def, it.name = "setter", it.sets.list = &set, it.sets.count = 1));
    cr_expect_eq(record_with(little.world, record), virtual ? MUSTER_OK : MUSTER_E_STATE);
    if (!virtual) expect_error("type 'setter' has sets");
    cr_expect_eq(writes, virtual);
  }
  writes = 0;
  SCOPED_WORLD little = new_world();
  add_type(&little, type_def("ant"));
  for (uint32_t i = 0; i < 9; i++) spawn_as(&little, WITH(muster_agent_def, it.user = &of_host));
  run_frame(&little);
  record.name_user = name_few;
  for (uint32_t i = 0; i < 2; i++) {
    cr_expect_eq(record_with(little.world, record), MUSTER_E_ARGUMENT);
    expect_error("the user pointer of agent 2 the name 0");
    cr_expect(!writes && !record_status_of(little.world).records);
    run_frame(&little);
  }
}

/* What a replay checks for itself, each thing alone: how updates ended, which spawn its snapshot has already, what
 * waits at its end, and the notes of a journal's frame. */
#include "agents/batch.h"
#include "replay/records.h"
#include "replay/replay.h"
#include "world/fixture.h"
#include "world/world_record.h"

enum { FRAMES = 3, RECORD_BYTES = 1 << 16 };

static void replay_frames(const little_world *little, uint32_t frames) {
  for (uint32_t i = 0; i < frames; i++) assert_ok(muster_replay_frame(little->world));
}

static void expect_trouble(const char *trouble, const char *says, size_t which) {
  cr_expect(*says ? strstr(trouble, says) != NULL : !*trouble, "case %zu: \"%s\", and not \"%s\"", which, trouble,
            says);
}

/* ------------------------------------------------------------------------------------------------ how updates ended */

enum { RANKED = 4, SLEEPER = RANKED, BUDGET_NS = 1000000000, NUMBERS_MAX = 12 };

static muster_atom_result end_early(muster_update *update) {
  (void)update;
  return MUSTER_ATOM_FINISH;
}

/* The second of three atoms is the last one that runs. */
static void register_enders(little_world *little, bool sliced) {
  static const muster_atom atoms[] = {{nothing, MUSTER_ROLE_BEHAVIOUR, 1000},
                                      {end_early, MUSTER_ROLE_BEHAVIOUR, 1000},
                                      {nothing, MUSTER_ROLE_BEHAVIOUR, 1000}};
  add_type(little, due_every(DAY_NS, type_with(atoms, 3)));
  add_type(little, CHANGED(due_every(FRAME_NS, type_with(atoms, 3)), it.slices.slice_ns = sliced ? 100000 : 0));
}

static struct recorded record_enders(bool sliced) {
  struct recorded run;
  SCOPED_WORLD little = careless(little_world_of(1, muster_world_def_default()));
  recorded_begin(&run, little.world);
  register_enders(&little, sliced);
  for (uint32_t i = 0; i <= RANKED; i++)
    spawn_as(&little, WITH(muster_agent_def, it.type.index = i == SLEEPER ? 1 : 2, it.position.x = i));
  record_frames(&run, &little, FRAMES, BUDGET_NS);
  recorded_end(&run, little.world);
  return run;
}

/* What the record says in place of its own item, of a world in which the first of those ranked has begun. */
typedef struct ending {
  const char *says;
  bool sliced;
  uint32_t begun;
  uint64_t numbers[NUMBERS_MAX]; /* the item without its tag; how many are ranked comes first */
} ending;

static const ending *now;
static char trouble[128];

static void run_as_said(struct muster_world *world) {
  unsigned char room[512];
  struct tape *tape = &world->recorder->tape, kept = *tape;
  agent_row *first = &world->agents.store.rows[world->batch->entries[0].agent];
  cr_assert_eq(world->batch->count, RANKED);
  tape_write_to(tape, room, sizeof room, 0);
  size_t begin = tape->count;
  tape_put_number(tape, TAG_LIST_END); /* nothing is appended */
  tape_put_number(tape, TAG_OUTCOMES);
  for (uint32_t i = 0; i < NUMBERS_MAX; i++) tape_put_number(tape, now->numbers[i]);
  *tape = (struct tape){.file = room, .file_bytes = tape->count, .at = begin, .end = tape->count};
  first->atom_next = now->begun & 1;
  replay_run(world);
  first->atom_next = 0;
  *tape = kept;
  snprintf(trouble, sizeof trouble, "%s", world->recorder->trouble);
}

static const char unsaid[] = "its record does not say how entry",
                  ended[] = "its update ended, in its record it was cut",
                  sleeper_unsaid[] = "its record does not say how agent 4 ended";

Test(record_own, an_update_ended_in_a_way_that_can_be) {
  static const ending endings[] = {
      {"", false, 0, {4, 1, 4, 0}},
      {"", false, 0, {4, 0, 2, 1, 2, 0}},
      {"", false, 0, {4, 3, 0, 3, 0}},
      {"it ranked 4 agents, its record 3", false, 0, {3, 1, 3, 0}},
      {unsaid, false, 0, {4, 1, 0}},
      {unsaid, false, 0, {4, 0, 5, 0}},
      {unsaid, false, 0, {4, 0, 1, 0, 4, 0}},
      {unsaid, false, 0, {4, 2, 0, 3, 0}},
      {unsaid, false, 0, {4, 5, 0, 3, 0}},
      {unsaid, false, 1, {4, 3, 0, 3, 0}},
      {ended, false, 0, {4, 4, 0, 3, 0}},
      {ended, false, 0, {4, 1, 1, 0, 1, 4, 0, 1, 0}},
      {"", false, 0, {4, 1, 4, 1, SLEEPER, 1}},
      {"", false, 0, {4, 1, 4, 1, SLEEPER, 3}},
      {sleeper_unsaid, false, 0, {4, 1, 4, 1, SLEEPER, 2}},
      {sleeper_unsaid, false, 0, {4, 1, 4, 2, SLEEPER, 5, SLEEPER, 1}},
      {"its record wakes agent 99, which cannot be", false, 0, {4, 1, 4, 1, 99, 1}},
      {"its record wakes agent 0, which cannot be", false, 0, {4, 1, 4, 1, 0, 1}},
      {"", true, 0, {4, 3, 0, 0, 3, 0}},
      {unsaid, true, 0, {4, 2, 0, 0, 3, 0}},
      {unsaid, true, 0, {4, 2, 1, 0, 3, 0}},
      {unsaid, true, 0, {4, 5, 1, 0, 3, 0}},
      {unsaid, true, 1, {4, 3, 0, 0, 3, 0}},
      {unsaid, true, 1, {4, 2, 1, 0, 3, 0}},
      {unsaid, true, 0, {4, 3, (uint64_t)UINT32_MAX + 1, 0, 3, 0}},
      {ended, true, 0, {4, 3, UINT32_MAX, 0, 3, 0}},
      {ended, true, 0, {4, 3, 1, 0, 3, 0}},
      {ended, true, 1, {4, 3, 1, 0, 3, 0}},
      {ended, true, 0, {4, 4, 1, 0, 3, 0}},
  };
  SCOPED(recorded_forget) struct recorded plain = record_enders(false), sliced = record_enders(true);
  SCOPED_WORLD first = little_world_create(1, NULL); /* whose pool all have: a new one measures the clock first */
  const muster_world_def def = WITH(muster_world_def, it.pool = first.pool);
  for (size_t i = 0; i < COUNT_OF(endings); i++) {
    now = &endings[i];
    SCOPED_WORLD little = {.world = muster_world_create(&def), .provokes_idle = true};
    recorded_replay(now->sliced ? &sliced : &plain, little.world);
    register_enders(&little, now->sliced);
    replay_frames(&little, FRAMES - 1);
    little.world->run_stage = run_as_said;
    cr_expect_eq(muster_replay_frame(little.world), MUSTER_E_INPUT, "what follows is another item");
    expect_trouble(trouble, now->says, i);
  }
}

/* --------------------------------------------------------------------------------------- what a snapshot has already
 */

enum { SPAWNED = 3, STATE = 8, PUBLISHED = 4 };

static little_world new_replay(const struct recorded *run) {
  const muster_type_def type =
      CHANGED(type_running(nothing, 1000), it.state_bytes = STATE, it.published_bytes = PUBLISHED);
  little_world little = careless(little_world_of(1, WITH(virtual_world_def, it.limits.agents_max = 64)));
  if (run) recorded_replay(run, little.world);
  for (uint32_t i = 0; i < 2; i++) add_type(&little, type);
  return little;
}

static struct recorded record_nobody(void) {
  struct recorded run = {0};
  SCOPED_WORLD little = new_replay(NULL);
  recorded_begin(&run, little.world);
  record_frames(&run, &little, FRAMES, 5000000);
  recorded_end(&run, little.world);
  return run;
}

/* Takes a logged spawn with such a state from a record, all of it. */
static void take_spawn(struct muster_world *world, struct logged_spawn spawn, uint64_t state) {
  static const char published[PUBLISHED] = "pub";
  unsigned char room[1024];
  struct tape *tape = &world->recorder->tape;
  tape_write_to(tape, room, sizeof room, 0);
  size_t begin = tape->count;
  world_record_spawned(world, &spawn);
  tape_put(tape, &state, sizeof state);
  tape_put(tape, published, sizeof published);
  *tape = (struct tape){.file = room, .file_bytes = tape->count, .at = begin, .end = tape->count};
  replay_logged_spawn(world);
  if (!world->recorder->trouble[0]) cr_expect(tape->at == tape->end && !tape->failed);
}

Test(record_own, a_spawn_that_the_snapshot_has_is_passed_over_and_no_other) {
  static const char taken[] = "to a new agent, which is taken", cannot[] = "which cannot be";
  static const struct {
    const char *says;
    bool journal, waits;
    uint64_t index, generation, type;
  } spawns[] = {{"", true, false, SPAWNED, 3, 0},
                {"", true, false, SPAWNED + 1, 3, 0},
                {"", true, false, SPAWNED + 1, UINT32_MAX, 0},
                {taken, false, false, SPAWNED, 3, 0},
                {taken, true, false, SPAWNED, 1, 0},
                {taken, true, false, SPAWNED, 5, 0},
                {taken, true, false, SPAWNED, 3, 1},
                {taken, true, true, SPAWNED, 3, 0},
                {taken, true, false, 64, 3, 0},
                {cannot, true, false, SPAWNED, 2, 0},
                {cannot, true, false, SPAWNED, 3, 2},
                {cannot, true, false, SPAWNED + 1, (uint64_t)UINT32_MAX + 2, 0}};
  SCOPED(recorded_forget) struct recorded run = record_nobody();
  for (size_t i = 0; i < COUNT_OF(spawns); i++) {
    SCOPED_WORLD little = new_replay(&run);
    struct recorder *recorder = little.world->recorder;
    agent_row *row = &little.world->agents.store.rows[SPAWNED];
    struct tape kept = recorder->tape;
    take_spawn(little.world, (struct logged_spawn){.index = SPAWNED, .generation = 3}, 7);
    cr_assert(!recorder->trouble[0] && row->status == AGENT_PENDING, "case %zu: %s", i, recorder->trouble);
    recorder->journal.on = spawns[i].journal;
    if (spawns[i].waits) row->status = AGENT_WAITING;
    take_spawn(
        little.world,
        (struct logged_spawn){.index = spawns[i].index, .generation = spawns[i].generation, .type = spawns[i].type}, 8);
    expect_trouble(recorder->trouble, spawns[i].says, i);
    cr_expect_eq(*(const uint64_t *)type_state(&little.world->agents.types.types[0], row->state_slot), 7, "case %zu",
                 i);
    row->status = AGENT_PENDING;
    recorder->journal.on = false;
    recorder->tape = kept;
  }
}

/* ------------------------------------------------------------------------------------------- beginnings and the end */

/* Nothing waits that cannot have; and the world goes on by itself only then. */
Test(record_own, what_waits_at_the_end_can_have) {
  SCOPED(recorded_forget) struct recorded run = record_nobody();
  const uint32_t nobody = 9;
  for (uint32_t wakes = 0; wakes < 2; wakes++) {
    SCOPED_WORLD little = new_replay(&run);
    replay_frames(&little, FRAMES);
    struct recorder *recorder = little.world->recorder;
    cr_expect_eq(recorder->mode, RECORDER_REPLAYS);
    recorder->waiting = (recorder_waiting){.wakes = wakes, .bytes = (const unsigned char *)&nobody};
    cr_expect_eq(replays_finish(little.world), wakes ? MUSTER_E_INPUT : MUSTER_OK);
    if (wakes) expect_error("replay: frame 4: agent 9 waits to be woken, which does not exist");
    cr_expect_eq(muster_world_is_replaying(little.world), wakes > 0);
    cr_expect_eq(recorder->mode, wakes ? RECORDER_REPLAYS : RECORDER_ENDED);
    recorder->waiting.bytes = NULL;
    little.now_ns = FRAMES * FRAME_NS;
    if (!wakes) run_frame(&little);
  }
}

Test(record_own, a_world_that_has_run_recovers_nothing) {
  SCOPED(recorded_forget) struct recorded run = record_nobody(), other = {0};
  SCOPED_WORLD little = new_replay(NULL);
  const muster_replay_def replay = replay_of(&run);
  assert_refused(replays_begin(little.world, &replay, NULL, 0), MUSTER_E_INPUT, "it is none of a journal");
  run_frame(&little);
  assert_refused(replays_begin(little.world, &replay, NULL, 0), MUSTER_E_STATE, "recover: only in a new world");
  recorded_begin(&other, little.world);
  assert_refused(replays_begin(little.world, &replay, NULL, 0), MUSTER_E_STATE, "records or replays already");
  recorded_end(&other, little.world);
}

/* A section that did not fit is not handed over, and is counted nowhere. */
Test(record_own, what_does_not_fit_is_not_written_out) {
  static unsigned char room[4096];
  struct recorded run = {0};
  struct recorder recorder = {.mode = RECORDER_RECORDS, .def = record_into(&run)};
  tape_write_to(&recorder.tape, room, sizeof room, 0);
  cr_assert(recorder_write_out(&recorder, TAPE_FRAME, 1) && recorder.bytes == run.count && run.count);
  tape_put(&recorder.tape, NULL, sizeof room);
  cr_expect_not(recorder_write_out(&recorder, TAPE_FRAME, 2));
  cr_expect(recorder.bytes == run.count && !recorder.refused);
  recorded_forget(&run);
}

/* ------------------------------------------------------------------------------------------------------------ notes */

static unsigned char journal[RECORD_BYTES];
static size_t journal_bytes;

static bool append(const void *bytes, size_t count, void *user) {
  (void)user;
  cr_assert_leq(journal_bytes + count, sizeof journal);
  memcpy(journal + journal_bytes, bytes, count);
  journal_bytes += count;
  return true;
}

/* The record of a journal with one frame, which has these bytes. */
static void write_journal(const char *frame, size_t count, uint64_t length) {
  const muster_record_def def = WITH(muster_record_def, it.write = append);
  const recorder_journal of = {.on = true, .notes_max = 64};
  SCOPED_WORLD little = new_replay(NULL);
  journal_bytes = 0;
  assert_ok(records_begin(little.world, &def, &of));
  struct recorder *recorder = little.world->recorder;
  tape_put(&recorder->tape, frame, count);
  tape_put(&recorder->tape, &length, sizeof length);
  cr_assert(recorder_write_out(recorder, TAPE_FRAME, 1));
  assert_ok(records_end(little.world));
}

static bool take_note(const void *bytes, size_t count, uint64_t frame, void *user) {
  char *notes = user;
  cr_expect_eq(frame, 1);
  snprintf(notes + strlen(notes), 64 - strlen(notes), "%.*s,", (int)count, (const char *)bytes);
  return !count || *(const char *)bytes != 'z' || notes[0] != 'z';
}

Test(record_own, notes_are_those_of_their_frame_alone) {
  static const struct {
    const char *frame, *notes; /* null: a note is refused */
    size_t count;
    uint64_t length;
  } frames[] = {{"\3abc\1y", "abc,y,", 6, 6},
                {"\3abc\1y", "y,", 6, 2},
                {"\3abc\1y", "", 6, 0},
                {"\3abc\1y", "", 6, 7},
                {"\3abc\1y", "", 6, 8},
                {"\3abc\1y", "", 6, 60},
                {"\3abc\1y", "", 6, 200},
                {"\3abc\1y", "", 6, UINT64_MAX},
                {"", "", 0, 0},
                {"", "", 0, 1},
                {"\4abc", NULL, 4, 4},
                {"\1z", NULL, 2, 2}};
  for (size_t i = 0; i < COUNT_OF(frames); i++) {
    char notes[64] = "";
    record_extent extent;
    write_journal(frames[i].frame, frames[i].count, frames[i].length);
    muster_result result = records_look(journal, journal_bytes, &extent, take_note, notes);
    cr_expect_eq(result, frames[i].notes ? MUSTER_OK : MUSTER_E_INPUT, "case %zu: %s", i, muster_last_error());
    if (frames[i].notes) cr_expect_str_eq(notes, frames[i].notes, "case %zu", i);
    if (frames[i].notes) cr_expect(extent.frames == 1 && extent.ended && !*extent.damage, "case %zu", i);
  }
}

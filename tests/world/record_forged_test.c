/* Each thing that a replay refuses, made by hand with all checksums right: sections that are left out, twice or in
 * another order, a head that none has, and items that no recording writes. */
#include "base/tape.h"
#include "record/recorder.h"
#include "world/fixture.h"

enum { AGENTS = 6, FRAMES = 6, BUDGET_NS = 600000, SECTIONS_MAX = 32, RECORD_BYTES = 1 << 20, SECTION_BYTES = 1 << 18 };

static muster_type_def type_def(void) {
  return CHANGED(type_running(nothing, 1000), it.name = "beetle", it.period_ns = FRAME_NS);
}

static little_world new_world(void) {
  return little_world_of(1, WITH(virtual_world_def, it.limits.agents_max = 64));
}

static struct recorded record_few(void) {
  struct recorded run;
  SCOPED_WORLD little = new_world();
  recorded_begin(&run, little.world);
  add_type(&little, type_def());
  for (uint32_t i = 0; i < AGENTS; i++) spawn_at(&little, i);
  for (uint32_t i = 0; i < FRAMES; i++) recorded_note(&run, &little, run_frame_with(&little, BUDGET_NS));
  recorded_end(&run, little.world);
  return run;
}

/* ----------------------------------------------------------------------------------------------- another record */

typedef struct forged_section {
  tape_kind kind;
  uint64_t number;
  unsigned char *bytes;
  size_t count;
} forged_section;

typedef struct forged {
  uint32_t layout, count;
  forged_section sections[SECTIONS_MAX]; /* [0] is the head, [1 .. FRAMES] the frames, the last one the end */
} forged;

static forged forged_open(const struct recorded *run) {
  forged of = {0};
  struct tape from;
  struct chunk section;
  memcpy(&of.layout, run->bytes + 12, sizeof of.layout);
  cr_assert_eq(tape_read_from(&from, run->bytes, run->count, of.layout), MUSTER_OK);
  while (tape_next(&from, &section) == MUSTER_OK) {
    forged_section *to = &of.sections[of.count++];
    *to = (forged_section){section.kind, section.number, malloc(SECTION_BYTES), section.bytes};
    memcpy(to->bytes, tape_take_place(&from, section.bytes), section.bytes);
    if (section.kind == TAPE_END) break;
  }
  cr_assert_eq(of.count, FRAMES + 2);
  return of;
}

static void forged_close(forged *of) {
  for (uint32_t i = 0; i < of->count; i++) free(of->sections[i].bytes);
}

static const uint32_t all[] = {0, 1, 2, 3, 4, 5, 6, 7};

/* The record that was written last. */
static unsigned char written[RECORD_BYTES];

/* All sections in the order that is given. Returns how many bytes they are. */
static size_t forged_write(const forged *of, const uint32_t *order, uint32_t sections) {
  static unsigned char room[SECTION_BYTES + 4096];
  struct tape to;
  size_t length = 0, count;
  tape_write_to(&to, room, sizeof room, of->layout);
  for (uint32_t i = 0; i < sections; i++) {
    const forged_section *section = &of->sections[order[i]];
    tape_put(&to, section->bytes, section->count);
    const void *bytes = tape_close(&to, section->kind, section->number, &count);
    cr_assert(length + count <= RECORD_BYTES);
    memcpy(written + length, bytes, count);
    length += count;
  }
  return length;
}

static void forged_replace(forged_section *section, size_t at, size_t count, const void *by, size_t by_count) {
  cr_assert(at + count <= section->count && section->count + by_count <= SECTION_BYTES);
  memmove(section->bytes + at + by_count, section->bytes + at + count, section->count - at - count);
  if (by_count) memcpy(section->bytes + at, by, by_count);
  section->count += by_count - count;
}

/* What the last call said, and how many frames the last replay had. */
static char said[256];
static uint32_t frames;

static muster_result hear(muster_result result) {
  snprintf(said, sizeof said, "%s", muster_last_error());
  return result;
}

/* How a replay of such bytes ends. MUSTER_E_STATE is the proper end. */
static muster_result replayed(const void *bytes, size_t count, bool accept_cut, uint32_t types) {
  muster_replay_def replay = WITH(muster_replay_def, it.bytes = bytes, it.count = count, it.accept_cut = accept_cut);
  SCOPED_WORLD little = careless(new_world());
  frames = 0;
  muster_result result = muster_replay_begin(little.world, &replay);
  for (uint32_t i = 0; result == MUSTER_OK && i < types; i++) add_type(&little, type_def());
  while (result == MUSTER_OK && (result = muster_replay_frame(little.world)) == MUSTER_OK) frames++;
  return hear(result);
}

/* How it ends for those who only look. */
static muster_result looked_at(const void *bytes, size_t count) {
  muster_record_info info = muster_record_info_default();
  return hear(muster_record_look(bytes, count, &info, NULL));
}

static void expect_said(const char *says, const char *what) {
  cr_expect_not_null(strstr(said, says), "%s: \"%s\" is not in: %s", what, says, said);
}

static void expect_replay_refused(const void *bytes, size_t count, bool accept_cut, uint32_t types, const char *says) {
  cr_expect_eq(replayed(bytes, count, accept_cut, types), MUSTER_E_INPUT, "it should say: %s", says);
  expect_said(says, "replay");
}

/* The record in this order of its sections is refused so, before anything is replayed; by those who only look, too. */
static void expect_order(const struct recorded *run, const uint32_t *order, uint32_t sections, const char *says) {
  SCOPED(forged_close) forged of = forged_open(run);
  size_t count = forged_write(&of, order, sections);
  for (uint32_t accept_cut = 0; accept_cut < 2; accept_cut++) {
    expect_replay_refused(written, count, accept_cut, 1, says);
    cr_expect_eq(frames, 0);
  }
  cr_expect_eq(looked_at(written, count), MUSTER_E_INPUT, "it should say: %s", says);
  expect_said(says, "look");
}

/* The whole record, forged so far, is refused so after that many frames. */
static void expect_refused(const forged *of, uint32_t after, const char *says) {
  expect_replay_refused(written, forged_write(of, all, FRAMES + 2), false, 1, says);
  cr_expect_eq(frames, after, "it should say: %s", says);
}

#define ORDER(says, ...)                                                                                               \
  expect_order(&run, (const uint32_t[]){__VA_ARGS__}, COUNT_OF(((const uint32_t[]){__VA_ARGS__})), says)

Test(record_forged, sections_stand_in_their_order_each_once) {
  SCOPED(recorded_forget) struct recorded run = record_few();
  SCOPED(forged_close) forged of = forged_open(&run);
  size_t count = forged_write(&of, all, FRAMES + 2);
  cr_assert_eq(replayed(written, count, false, 1), MUSTER_E_STATE, "as it was: %s", said);
  cr_assert_eq(frames, FRAMES);
  ORDER("where frame 3 belongs", 0, 1, 2, 4, 5, 6, 7);
  ORDER("where frame 3 belongs", 0, 1, 2, 2, 3, 4, 5, 6, 7);
  ORDER("where frame 2 belongs", 0, 1, 3, 2, 4, 5, 6, 7);
  ORDER("where frame 2 belongs", 0, 1, 0, 2, 3, 4, 5, 6, 7);
  ORDER("the head of the record is missing", 1, 2, 3, 4, 5, 6, 7);
  ORDER("bytes behind the end", 0, 1, 2, 3, 7, 4, 5, 6);
  ORDER("bytes behind the end", 0, 1, 2, 3, 4, 5, 6, 7, 7);
}

Test(record_forged, nothing_stands_behind_the_end) {
  SCOPED(recorded_forget) struct recorded run = record_few();
  for (size_t more = 1; more <= 300; more += 23) {
    SCOPED(free_memory) unsigned char *longer = malloc(run.count + more);
    memcpy(longer, run.bytes, run.count);
    memset(longer + run.count, more % 2 ? 0 : 0x5a, more);
    for (uint32_t accept_cut = 0; accept_cut < 2; accept_cut++)
      expect_replay_refused(longer, run.count + more, accept_cut, 1, "bytes behind the end");
    cr_expect_eq(looked_at(longer, run.count + more), MUSTER_E_INPUT, "%zu bytes", more);
  }
}

Test(record_forged, without_an_end_it_is_cut) {
  SCOPED(recorded_forget) struct recorded run = record_few();
  SCOPED(forged_close) forged of = forged_open(&run);
  muster_record_info info = muster_record_info_default();
  size_t count = forged_write(&of, all, FRAMES + 1);
  cr_expect_eq(replayed(written, count, false, 1), MUSTER_E_INPUT);
  cr_expect_eq(replayed(written, count, true, 1), MUSTER_E_STATE, "%s", said);
  cr_expect_eq(frames, FRAMES);
  cr_expect_eq(muster_record_look(written, count, &info, NULL), MUSTER_OK);
  cr_expect(info.cut);
  cr_expect_eq(info.frames, FRAMES);
}

/* The head with some bytes replaced is refused. It begins with the number of workers, and that of states. */
static void expect_head(const struct recorded *run, size_t at, size_t count, const void *by, size_t by_count,
                        const char *says) {
  SCOPED(forged_close) forged of = forged_open(run);
  forged_replace(&of.sections[0], at, count, by, by_count);
  expect_refused(&of, 0, says);
}

Test(record_forged, a_head_is_one_that_can_be) {
  static const char missing[] = "the head of the record is missing";
  SCOPED(recorded_forget) struct recorded run = record_few();
  SCOPED(forged_close) forged of = forged_open(&run);
  size_t count = of.sections[0].count, behind = count - 8 - 3; /* snapshot?, frames before, first frame, chain */
  cr_assert_eq(of.sections[0].bytes[0], 1, "one worker");
  for (size_t i = behind; i < count; i++) cr_assert_eq(of.sections[0].bytes[i], 0, "byte %zu", i);
  expect_head(&run, 0, 1, (unsigned char[]){0}, 1, missing);
  expect_head(&run, 0, 1, (unsigned char[]){100}, 1, missing);                    /* more workers than states */
  expect_head(&run, 0, 2, (unsigned char[]){0xff, 0x7f, 0xff, 0x7f}, 4, missing); /* more than there can be */
  expect_head(&run, 1, 1, (unsigned char[]){0xff, 0xff, 0x7f}, 3, missing);
  expect_head(&run, behind, 1, (unsigned char[]){3}, 1, missing);
  expect_head(&run, behind, 1, (unsigned char[]){2}, 1, "this is part of a journal");
  expect_head(&run, behind, 1, (unsigned char[]){1}, 1, "the snapshot of the world is missing");
  expect_head(&run, behind + 1, 1, (unsigned char[]){5}, 1, "but it has no snapshot");
  expect_head(&run, count - 1, 1, NULL, 0, missing);
}

/* ----------------------------------------------------------------------------------------------------------- items */

enum { FORGED_FRAME = 4 }; /* which of the frames is changed */

static size_t put_number(unsigned char *to, uint64_t number) {
  size_t count = 0;
  for (; number > 127; number >>= 7) to[count++] = (unsigned char)(number | 128);
  to[count++] = (unsigned char)number;
  return count;
}

/* As a frame's item begins: how many types there are, its time and its budget. */
static size_t put_frame(unsigned char *to, uint64_t types, uint64_t sim_now_ns, uint64_t budget_ns) {
  size_t count = 0;
  to[count++] = TAG_FRAME;
  count += put_number(to + count, types);
  count += put_number(to + count, sim_now_ns);
  return count + put_number(to + count, budget_ns);
}

/* Where it stands in its section. */
static size_t find_frame(const forged_section *section, size_t *count) {
  unsigned char wanted[32];
  *count = put_frame(wanted, 1, FORGED_FRAME * FRAME_NS, BUDGET_NS);
  for (size_t at = 0; at + *count <= section->count; at++)
    if (memcmp(section->bytes + at, wanted, *count) == 0) return at;
  cr_assert_fail("there is no frame %d in its section", FORGED_FRAME);
  return 0;
}

/* A frame's item is another one, or has something before it: its replay diverges there, and says so. */
static void expect_item(const struct recorded *run, bool before, const void *by, size_t by_count, const char *says) {
  char frame[32];
  size_t count;
  SCOPED(forged_close) forged of = forged_open(run);
  size_t at = find_frame(&of.sections[FORGED_FRAME], &count);
  forged_replace(&of.sections[FORGED_FRAME], at, before ? 0 : count, by, by_count);
  expect_refused(&of, FORGED_FRAME - 1, says);
  snprintf(frame, sizeof frame, "frame %d: ", FORGED_FRAME);
  expect_said(frame, says);
}

static void expect_frame(const struct recorded *run, uint64_t types, uint64_t sim_now_ns, uint64_t budget_ns,
                         const char *says) {
  unsigned char by[32];
  expect_item(run, false, by, put_frame(by, types, sim_now_ns, budget_ns), says);
}

Test(record_forged, a_frame_is_one_that_can_be) {
  SCOPED(recorded_forget) struct recorded run = record_few();
  expect_frame(&run, 1, (FORGED_FRAME - 2) * FRAME_NS, BUDGET_NS, "its record has a frame at ");
  expect_frame(&run, 1, (uint64_t)INT64_MAX, BUDGET_NS, "its record has a frame at ");
  expect_frame(&run, 1, FORGED_FRAME * FRAME_NS, 0, "its record has a frame at ");
  expect_frame(&run, 1, FORGED_FRAME * FRAME_NS, UINT64_MAX / 4, "its record has a frame at ");
  expect_frame(&run, 2, FORGED_FRAME * FRAME_NS, BUDGET_NS, "1 types are registered, in the recorded run there were 2");
  expect_frame(&run, 1, FORGED_FRAME * FRAME_NS, BUDGET_NS / 2, "its record has a budget of");
}

Test(record_forged, nothing_is_between_two_frames_that_no_host_does) {
  SCOPED(recorded_forget) struct recorded run = record_few();
  expect_item(&run, true, (unsigned char[]){TAG_REPORT}, 1, "between two frames");
  expect_item(&run, true, (unsigned char[]){TAG_WORKERS, 0}, 2, "its record has 0 workers");
  expect_item(&run, true, (unsigned char[]){TAG_WORKERS, 0xff, 0x7f}, 3, "its record has 16383 workers");
  expect_item(&run, true, (unsigned char[]){TAG_MOVES, 99, 0}, 3, "for factor 99");
  expect_item(&run, true, (unsigned char[]){TAG_FACTORS, 0, 0xff, 0xff, 0xff, 0xff, 0x7f}, 7, "an array of");
  expect_item(&run, true, (unsigned char[]){TAG_MOVES, 0, 0xff, 0xff, 0x7f}, 5, "ends before it");
  expect_item(&run, true, (unsigned char[]){TAG_ZONE}, 1, "that cannot be");
  expect_item(&run, true, (unsigned char[]){TAG_TYPES}, 1, "type 2 is not registered");
  expect_item(&run, true, (unsigned char[]){TAG_SPAWN_LOG, 3, 1, 7, 0, 0}, 6, "");
}

/* Nor is anything behind what a frame has. */
Test(record_forged, a_frame_ends_where_it_ends) {
  SCOPED(recorded_forget) struct recorded run = record_few();
  SCOPED(forged_close) forged of = forged_open(&run);
  forged_section *section = &of.sections[FORGED_FRAME];
  forged_replace(section, section->count, 0, "x", 1);
  expect_replay_refused(written, forged_write(&of, all, FRAMES + 2), false, 1, "goes on behind its end");
  forged_replace(section, section->count / 2, section->count - section->count / 2, NULL, 0);
  expect_replay_refused(written, forged_write(&of, all, FRAMES + 2), false, 1, "its record ");
}

/* A host that registers more, or less, than there was. */
Test(record_forged, types_are_as_many_as_there_were) {
  SCOPED(recorded_forget) struct recorded run = record_few();
  expect_replay_refused(run.bytes, run.count, false, 2, "2 types are registered, in the recorded run there were 1");
  cr_expect_eq(frames, 0);
  expect_replay_refused(run.bytes, run.count, false, 0, "type 1 is not registered");
}

/* A recording that lost frames says nothing of the next one. */
Test(record_forged, what_one_recording_lost_is_no_loss_of_the_next) {
  enum { MANY = 4000 };
  SCOPED(recorded_forget) struct recorded run = {0};
  static muster_agent agents[MANY];
  static muster_position places[MANY];
  muster_record_def def = WITH(muster_record_def, it.write = recorded_write, it.user = &run, it.buffer_bytes = 65536);
  SCOPED_WORLD little = new_world();
  cr_assert_eq(muster_record_begin(little.world, &def), MUSTER_OK);
  add_type(&little, type_def());
  spawn_and_run(&little, 0, 1);
  muster_agents_move(little.world, agents, places, MANY);
  run_frames(&little, 3);
  muster_record_status status = record_status_of(little.world);
  cr_expect(!status.records && *status.ended_by);
  cr_expect_eq(status.frames, 1);
  cr_expect_eq(status.lost, 3);
  recorded_forget(&run);
  recorded_begin(&run, little.world);
  recorded_note(&run, &little, run_frame(&little));
  status = record_status_of(little.world);
  cr_expect(status.records && !*status.ended_by, "%s", status.ended_by);
  cr_expect_eq(status.frames, 1);
  cr_expect_eq(status.lost, 0);
  cr_expect_eq(status.bytes, run.count);
  recorded_end(&run, little.world);
}

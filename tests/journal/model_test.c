/* A journal against a small model of it, over some hundred random steps: frames, notes, turns, snapshots that succeed,
 * fail or die, ends and begins. After each step all of the status is compared; and at times a copy of the files is
 * looked at and recovered from, as after a crash at that moment. */
#include "support/journal_town.h"

enum { STEPS = 160, FRAMES_MOST = STEPS + 40, NUMBERS_MOST = 512 };

typedef enum save_way { SAVES = 0, REFUSES, DIES, WAYS } save_way;

typedef struct model {
  journal_place place, copy;
  little_world little;
  muster_journal *journal;
  muster_journal_status was; /* of the step before */
  pid_t frames_process;
  save_way way, way_next; /* of a process that is forked now, and of the one under way */
  bool asked, beside;     /* `beside`: its first snapshot is not complete */
  uint64_t changes, changes_next, asked_frames;
  uint64_t frames, snapshot_frames, next_frames; /* of the world, and when the snapshots were taken */
  uint64_t before_frames;                        /* what a crash brings back while it begins beside; 0 = nothing */
  uint64_t bytes, sizes[NUMBERS_MOST];           /* of the records */
  uint32_t notes[FRAMES_MOST + 1], noted;        /* of each frame; so far of the next */
  uint64_t random;
} model;

static uint64_t model_draw(model *of, uint64_t below) {
  return (xorshift(&of->random) >> 13) % below;
}

/* ----------------------------------------------------------------------------------------------------------- files */

typedef struct model_sizes {
  uint64_t newest, now[NUMBERS_MOST];
} model_sizes;

static void model_size(const char *path, void *user) {
  model_sizes *sizes = user;
  struct stat status;
  uint64_t number = strtoull(strrchr(path, '-') + 1, NULL, 10);
  if (strcmp(strchr(strrchr(path, '-'), '.'), ".journal") != 0 || stat(path, &status)) return;
  cr_assert_lt(number, NUMBERS_MOST);
  sizes->now[number] = (uint64_t)status.st_size;
  if (number > sizes->newest) sizes->newest = number;
}

/* What the newest record has grown by, or is where it begins, and the one before until then: each frame is counted
 * once, and the head of each file. */
static void count_growth(model *of, bool begun) {
  model_sizes sizes = {.newest = 0};
  place_each(&of->place, "world-", "", model_size, &sizes);
  uint64_t newest = sizes.newest, before = newest - 1;
  if (begun) of->bytes += sizes.now[newest] + sizes.now[before] - of->sizes[before];
  if (!begun) of->bytes += sizes.now[newest] - of->sizes[newest];
  memcpy(of->sizes, sizes.now, sizeof of->sizes);
}

/* A file may go meanwhile. */
static void copy_file(const char *path, void *user) {
  model *of = user;
  char name[PLACE_BYTES];
  int from = open(path, O_RDONLY | O_CLOEXEC);
  struct stat status;
  if (from < 0 || fstat(from, &status)) return;
  unsigned char *bytes = malloc((size_t)status.st_size + 1);
  ssize_t count = pread(from, bytes, (size_t)status.st_size, 0);
  snprintf(name, sizeof name, "%s/%s", of->copy.folder, strrchr(path, '/') + 1);
  file_write(name, bytes, count > 0 ? (size_t)count : 0);
  free(bytes);
  close(from);
}

/* ------------------------------------------------------------------------------------------------------------ host */

static bool model_save(muster_journal_put put, void *put_user, void *user) {
  const model *of = user;
  if (getpid() != of->frames_process && of->way == REFUSES) return false;
  if (getpid() != of->frames_process && of->way == DIES) die();
  return put(&of->frames, sizeof of->frames, put_user);
}

typedef struct model_heard {
  uint64_t host, notes[FRAMES_MOST + 1];
} model_heard;

static bool hear_host(const void *bytes, size_t count, void *user) {
  model_heard *heard = user;
  cr_assert_eq(count, sizeof heard->host);
  memcpy(&heard->host, bytes, count);
  return true;
}

static bool hear_note(const void *bytes, size_t count, uint64_t frame, void *user) {
  model_heard *heard = user;
  cr_assert(count == sizeof frame && memcmp(bytes, &frame, count) == 0, "a note of frame %lu", frame);
  heard->notes[frame]++;
  return true;
}

/* ------------------------------------------------------------------------------------------------------------ steps */

static void expect_frames(const model *of, const muster_journal_info *info, const model_heard *heard) {
  cr_expect(info->snapshot_frames == of->snapshot_frames ||
                (of->was.writes && info->snapshot_frames == of->next_frames),
            "the snapshot is of frame %lu, not of %lu", info->snapshot_frames, of->snapshot_frames);
  cr_expect_eq(heard->host, info->snapshot_frames, "what the host kept is of frame %lu", heard->host);
  for (uint64_t frame = 1; frame <= of->frames; frame++)
    cr_expect_eq(heard->notes[frame], frame > info->snapshot_frames ? of->notes[frame] : 0, "frame %lu", frame);
}

/* As after a crash now. */
static void crash(model *of) {
  static model_heard heard;
  const muster_journal_look_def look = WITH(muster_journal_look_def, it.path = of->copy.path, it.take_host = hear_host,
                                            it.take_notes = hear_note, it.user = &heard);
  muster_journal_info info = muster_journal_info_default();
  heard = (model_heard){.host = 0};
  place_each(&of->place, "world-", "", copy_file, of);
  muster_result result = muster_journal_look(&look, &info, NULL);
  bool begins = of->beside && info.frames != of->frames;
  cr_assert_eq(result, begins && !of->before_frames ? MUSTER_E_STALE : MUSTER_OK, "%s", muster_last_error());
  if (result == MUSTER_OK) {
    SCOPED(little_world_destroy) little_world again = town();
    cr_expect_eq(info.frames, begins ? of->before_frames : of->frames, "frame %lu of %lu", info.frames, of->frames);
    cr_expect_eq(info.clean, begins);
    cr_expect(info.lost_bytes == 0 && info.lost_frames == 0 && !*info.damage && !info.tried);
    if (!begins) expect_frames(of, &info, &heard);
    cr_assert_eq(journal_recover(&again, of->copy.path, &info), MUSTER_OK, "%s", muster_last_error());
    if (!begins) cr_expect_eq(muster_world_hash(again.world), muster_world_hash(of->little.world), "another world");
  }
  place_each(&of->copy, "", "", place_unlink, NULL);
}

static void frame(model *of) {
  if (of->frames == FRAMES_MOST) return;
  uint64_t next = of->frames + 1;
  for (uint64_t i = model_draw(of, 3); i > 0; i--, of->noted++)
    cr_assert_eq(muster_journal_note(of->journal, &next, sizeof next), MUSTER_OK);
  town_frame(&of->little, (uint32_t)of->frames);
  of->frames = next;
  of->notes[next] = of->noted;
  of->noted = 0;
}

static void ask(model *of) {
  of->way = (save_way)(of->beside ? SAVES : model_draw(of, WAYS));
  of->asked = true;
  of->changes++;
  cr_assert_eq(muster_journal_snapshot(of->journal), MUSTER_OK);
}

static void begin(model *of) {
  /* None begins by itself. */
  const muster_journal_def def = WITH(muster_journal_def, it.save_host = model_save, it.user = of,
                                      it.recovery_max_ns = 3600000000000u, it.begins_beside = model_draw(of, 2));
  of->way = of->way_next = SAVES;
  of->asked = false;
  of->changes = of->changes_next = 0;
  of->beside = def.begins_beside;
  of->snapshot_frames = of->next_frames = of->frames;
  of->bytes = 0;
  memset(of->sizes, 0, sizeof of->sizes);
  of->journal = journal_begin_as(&of->little, def, of->place.path);
  muster_journal_status status = journal_status(of->journal);
  cr_expect_eq(status.snapshots, !of->beside);
  cr_expect_eq(status.forked, of->beside);
  cr_expect_eq(status.pause_ns > 0, of->beside);
  cr_expect_eq(status.writes, of->beside);
  of->was = status;
}

static void end(model *of) {
  bool remove = model_draw(of, 2);
  of->way = SAVES;
  cr_expect_eq(muster_journal_end(of->journal, remove), MUSTER_OK, "%s", muster_last_error());
  muster_journal_info info;
  cr_expect_eq(journal_look(of->place.path, &info), remove ? MUSTER_E_STALE : MUSTER_OK);
  if (!remove) cr_expect(info.clean && info.frames == of->frames && info.snapshot_frames == of->frames);
  cr_expect_eq(place_count(&of->place, "", ""), remove ? 0 : 2);
  of->before_frames = remove ? 0 : of->frames;
  if (of->noted) of->noted = 0; /* of no frame */
}

/* ---------------------------------------------------------------------------------------------------------- status */

/* One that was under way is over. */
static void model_finish(model *of, const muster_journal_status *status) {
  bool good = of->way_next == SAVES;
  cr_expect(of->was.writes, "none was under way");
  cr_expect_eq(status->snapshots - of->was.snapshots, good);
  cr_expect_eq(status->snapshots_failed - of->was.snapshots_failed, !good);
  if (good) of->snapshot_frames = of->next_frames;
  if (good) of->beside = false;
  cr_expect_eq(status->changes_safe, good ? of->changes_next : of->was.changes_safe);
}

/* Another one begins: it has all that was asked for so far. */
static void model_open(model *of) {
  cr_expect(of->asked, "nobody has asked");
  of->asked = false;
  of->changes_next = of->changes;
  of->next_frames = of->frames;
  of->way_next = of->way;
}

static void expect_status(model *of, uint64_t step) {
  muster_journal_status status = journal_status(of->journal), was = of->was;
  bool done = status.snapshots + status.snapshots_failed != was.snapshots + was.snapshots_failed;
  bool begun = done ? status.writes : status.writes && !was.writes;
  count_growth(of, begun);
  if (done)
    model_finish(of, &status);
  else
    cr_expect_eq(status.changes_safe, was.changes_safe, "step %lu", step);
  if (begun) model_open(of);
  cr_expect_leq(status.forked - was.forked, begun, "step %lu", step);
  cr_expect(status.runs && status.holds && !*status.ended_by, "step %lu: %s", step, status.ended_by);
  cr_expect_eq(status.frames_written, of->frames, "step %lu", step);
  if (!of->beside) cr_expect_eq(status.frames_safe, of->frames, "step %lu: %lu", step, status.frames_safe);
  if (of->beside) cr_expect_eq(status.frames_safe, of->snapshot_frames, "step %lu: %lu", step, status.frames_safe);
  cr_expect_eq(status.bytes, of->bytes, "step %lu: %lu bytes, not %lu", step, status.bytes, of->bytes);
  cr_expect_eq(status.sync_ns, 0);
  cr_expect_geq(status.recovery_ns, muster_journal_def_default().start_ns);
  if (begun && status.forked > was.forked) cr_expect_gt(status.pause_ns, 0);
  if (!done && !begun) cr_expect_eq(status.pause_ns, was.pause_ns);
  if (!done && !begun) cr_expect_eq(status.snapshot_bytes, was.snapshot_bytes);
  of->was = status;
}

static void step(model *of, uint64_t number) {
  uint64_t kind = model_draw(of, 12);
  if (kind < 5) frame(of);
  if (kind == 5) muster_journal_turn(of->journal, 0);
  if (kind == 6) muster_journal_turn(of->journal, 1000000000u);
  if (kind == 7 || kind == 8) ask(of);
  if (kind == 9) muster_journal_hold(of->journal, model_draw(of, 2));
  expect_status(of, number);
  if (kind == 10)
    for (time_t began = time(NULL); of->was.writes || of->asked; await_look(began, __FILE__, __LINE__, "a snapshot")) {
      muster_journal_turn(of->journal, 0);
      expect_status(of, number);
    }
  if (kind == 11 && !of->asked) {
    frame(of);
    expect_status(of, number);
    crash(of);
  }
}

static void expect_model(uint64_t seed) {
  static model of;
  of = (model){place_make(), place_make(), peopled_town(), .random = seed, .frames_process = getpid()};
  begin(&of);
  for (uint64_t i = 0; i < STEPS; i++) {
    step(&of, i);
    if (i % 40 != 39) continue;
    end(&of);
    begin(&of);
  }
  of.way = SAVES;
  cr_expect_eq(muster_journal_end(of.journal, true), MUSTER_OK);
  little_world_destroy(&of.little);
  place_remove(&of.place);
  place_remove(&of.copy);
}

Test(journal_model, a_journal_does_what_its_model_does) {
  expect_model(88172645463325252u);
}

Test(journal_model, and_so_it_does_in_another_order) {
  expect_model(1234567891011u);
}

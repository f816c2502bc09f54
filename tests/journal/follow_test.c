/* A journal whose record still grows is followed: the world that comes of it is the one that runs, frame by frame, and
 * goes on where the record ends. And a journal that begins beside the frames, and one that is held. */
#include "support/journal_town.h"

#include <muster/snapshot.h>

#include <glob.h>

enum { FOLLOWED_FRAMES = 60, LATER_FRAMES = 5, PIECES = 7 };

/* ---------------------------------------------------------------------------------------------------------- follow */

/* A copy of a journal that gets the record piece by piece. */
typedef struct follower {
  told_frames *told;
  file_bytes record;
  size_t there, turn; /* bytes in its file; pieces so far */
  uint64_t seen;      /* the last frame that was looked at */
  uint64_t noted;     /* of the last note */
  uint32_t late;
  int file;
  little_world *little;
} follower;

static void note_frame(muster_journal *journal, void *user) {
  uint64_t *frame = user;
  ++*frame;
  must(muster_journal_note(journal, frame, sizeof *frame) == MUSTER_OK, "a note of frame %lu", *frame);
}

/* Some pieces end inside of a section, some have several frames, and some none. */
static void grow(follower *copy) {
  static const size_t pieces[PIECES] = {1, 900, 40, 6000, 333, 17, 2500};
  size_t piece = pieces[copy->turn % PIECES], left = copy->record.count - copy->there;
  if (piece > left) piece = left;
  cr_assert_eq(pwrite(copy->file, copy->record.bytes + copy->there, piece, (off_t)copy->there), (ssize_t)piece);
  copy->there += piece;
  copy->turn++;
}

/* At times it says less than was known. */
static uint64_t give_more(muster_world *world, uint64_t frame, void *user) {
  follower *copy = user;
  cr_assert_geq(frame, copy->seen);
  cr_assert_eq(muster_world_hash(world), copy->told->hashes[frame], "frame %lu is another", frame);
  copy->seen = frame;
  if (copy->turn % 3 == 1 && copy->late++ % 2 == 0) return copy->there / 2;
  if (copy->there == copy->record.count) return 0;
  grow(copy);
  return copy->there;
}

static bool take_note(const void *bytes, size_t count, uint64_t frame, void *user) {
  follower *copy = user;
  uint64_t number;
  cr_assert_eq(count, sizeof number);
  memcpy(&number, bytes, sizeof number);
  cr_assert_eq(number, frame);
  cr_assert_gt(frame, copy->seen, "it comes before its frame is run");
  cr_assert_eq(frame, copy->noted + 1);
  copy->noted = frame;
  return true;
}

/* The snapshot, and a first part of the record. */
static follower begin_follower(const journal_place *from, const journal_place *to, told_frames *told, size_t part) {
  char name[PLACE_BYTES];
  file_bytes snapshot = file_read(place_find(from, ".snapshot").path);
  follower copy = {.told = told, .record = file_read(place_find(from, ".journal").path)};
  snprintf(name, sizeof name, "%s-1.snapshot", to->path);
  file_write(name, snapshot.bytes, snapshot.count);
  free(snapshot.bytes);
  snprintf(name, sizeof name, "%s-1.journal", to->path);
  copy.there = copy.record.count / part;
  file_write(name, copy.record.bytes, copy.there);
  copy.file = open(name, O_WRONLY | O_CLOEXEC);
  cr_assert_geq(copy.file, 0);
  return copy;
}

static muster_result follow(little_world *little, const char *path, follower *copy, muster_journal_info *info) {
  const muster_journal_recover_def def =
      WITH(muster_journal_recover_def, it.path = path, it.more = give_more, it.take_notes = take_note, it.user = copy);
  *info = muster_journal_info_default();
  muster_result result = muster_journal_recover(little->world, &def, info);
  little->now_ns = info->sim_now_ns;
  return result;
}

static void end_follower(follower *copy) {
  close(copy->file);
  free(copy->record.bytes);
}

/* A life whose snapshot and record are followed. */
typedef struct followed {
  journal_place place, other;
  told_frames *told;
  muster_clock clock;
} followed;

static void followed_live(void *user) {
  const followed *life = user;
  little_world little = peopled(town_of(2, life->clock, town_type()));
  uint64_t frame = 0;
  journal_begin_as(&little, WITH(muster_journal_def, it.end_frame = note_frame, it.user = &frame), life->place.path);
  told_frame(life->told, &little, 0);
  for (uint32_t i = 0; i < FOLLOWED_FRAMES; i++) {
    town_frame(&little, i);
    told_frame(life->told, &little, i + 1);
    if (i % 7 == 3) must(muster_world_settle(little.world) == MUSTER_OK, "it does not settle");
  }
}

static followed begin_followed(muster_clock clock) {
  followed life = {.place = place_make(), .other = place_make(), .told = told_create(), .clock = clock};
  live_until_death(followed_live, &life);
  return life;
}

static void end_followed(followed *life) {
  told_destroy(life->told);
  place_remove(&life->place);
  place_remove(&life->other);
}

static void expect_followed(muster_clock clock, size_t part) {
  SCOPED(end_followed) followed life = begin_followed(clock);
  muster_journal_info info;
  SCOPED(little_world_destroy)
  little_world whole = town_of(1, clock, town_type()), little = town_of(2, clock, town_type());
  SCOPED(end_follower) follower copy = begin_follower(&life.place, &life.other, life.told, part);
  cr_assert_eq(follow(&little, life.other.path, &copy, &info), MUSTER_OK, "%s", muster_last_error());
  cr_assert_eq(info.frames, FOLLOWED_FRAMES);
  cr_assert_eq(copy.seen, FOLLOWED_FRAMES);
  cr_assert_eq(copy.noted, FOLLOWED_FRAMES);
  cr_assert_eq(place_count(&life.other, "world-", ".replaying"), 0);
  journal_back(&whole, life.place.path);
  for (uint32_t i = 0; i < LATER_FRAMES && clock == MUSTER_CLOCK_VIRTUAL; i++) {
    town_frame(&little, FOLLOWED_FRAMES + i);
    town_frame(&whole, FOLLOWED_FRAMES + i);
    cr_assert_eq(muster_world_hash(little.world), muster_world_hash(whole.world), "frame %u behind the end", i);
  }
}

Test(journal_follow, a_record_that_grows_brings_each_frame_as_it_was) {
  expect_followed(MUSTER_CLOCK_VIRTUAL, 9);
}

Test(journal_follow, so_does_one_of_a_world_on_the_wall_clock) {
  expect_followed(MUSTER_CLOCK_WALL, 9);
}

Test(journal_follow, it_may_be_whole_already) {
  expect_followed(MUSTER_CLOCK_VIRTUAL, 1);
}

Test(journal_follow, damage_that_comes_is_found) {
  SCOPED(end_followed) followed life = begin_followed(MUSTER_CLOCK_VIRTUAL);
  muster_journal_info info;
  SCOPED(little_world_destroy) little_world little = town();
  SCOPED(end_follower) follower copy = begin_follower(&life.place, &life.other, life.told, 9);
  copy.record.bytes[copy.record.count / 2] ^= 4;
  cr_assert_eq(follow(&little, life.other.path, &copy, &info), MUSTER_E_INPUT);
  cr_assert(strstr(muster_last_error(), "record: offset"), "%s", muster_last_error());
  cr_assert_lt(copy.seen, FOLLOWED_FRAMES);
}

/* A record of many bytes, of which a part comes later; and how much of it was in memory each time that the host was
 * asked for more. */
typedef struct long_record {
  char name[PLACE_BYTES];
  file_bytes whole;
  uint32_t asked;
  size_t held[3];
} long_record;

enum { LONG_FRAMES = 9, LONG_NOTE = 400000 };

/* Of this process, in bytes. */
static size_t held_of(const char *name) {
  char line[4096];
  bool within = false;
  size_t held = 0, kilobytes, from, to;
  FILE *maps = fopen("/proc/self/smaps", "re");
  cr_assert_not_null(maps);
  while (fgets(line, sizeof line, maps)) {
    if (sscanf(line, "%zx-%zx ", &from, &to) == 2) within = strstr(line, name) != NULL;
    if (within && sscanf(line, "Rss: %zu", &kilobytes) == 1) held += kilobytes * 1024;
  }
  fclose(maps);
  return held;
}

static uint64_t give_rest(muster_world *world, uint64_t frame, void *user) {
  long_record *record = user;
  (void)world, (void)frame;
  record->held[record->asked++] = held_of(record->name);
  if (record->asked == 2) return 0;
  const size_t there = record->whole.count / 4 * 3;
  file_change(record->name, there, record->whole.bytes + there, record->whole.count - there);
  return record->whole.count;
}

static void note_much(muster_journal *journal, void *user) {
  static char bytes[LONG_NOTE];
  (void)user;
  memset(bytes, 'n', sizeof bytes);
  must(muster_journal_note(journal, bytes, sizeof bytes) == MUSTER_OK, "a long note");
}

/* What was run is let go of. */
Test(journal_follow, a_record_that_grows_takes_memory_for_what_comes_and_not_for_what_was) {
  long_record record = {0};
  muster_journal_info info = muster_journal_info_default();
  SCOPED(town_life_end) town_life life = town_life_of(LONG_FRAMES, NULL);
  life.def.end_frame = note_much;
  live_until_death(town_live, &life);
  snprintf(record.name, sizeof record.name, "%s", place_find(&life.place, ".journal").path);
  record.whole = file_read(record.name);
  cr_assert_eq(truncate(record.name, (off_t)record.whole.count / 4 * 3), 0);
  SCOPED(little_world_destroy) little_world little = town();
  const muster_journal_recover_def def =
      WITH(muster_journal_recover_def, it.path = life.place.path, it.more = give_rest, it.user = &record);
  cr_assert_eq(muster_journal_recover(little.world, &def, &info), MUSTER_OK, "%s", muster_last_error());
  cr_expect_eq(info.frames, LONG_FRAMES);
  cr_expect_eq(record.asked, 2);
  cr_expect_eq(muster_world_hash(little.world), life.told->hashes[LONG_FRAMES]);
  cr_expect_geq(record.held[0], 6 * LONG_NOTE, "%zu bytes", record.held[0]);
  cr_expect_leq(record.held[1], 5 * LONG_NOTE, "%zu bytes", record.held[1]);
  free(record.whole.bytes);
}

/* ---------------------------------------------------------------------------------------------------------- beside */

/* What the process that writes the first snapshot does: it waits, and goes on or dies. */
typedef enum writer_order { WRITER_WAITS = 0, WRITER_WRITES, WRITER_DIES } writer_order;

typedef struct beside_life {
  const char *path;
  told_frames *told;
  _Atomic uint32_t order; /* writer_order */
  pid_t frames_process;
  void (*live)(struct beside_life *life, muster_journal *journal, little_world *little);
} beside_life;

static bool save_as_ordered(muster_journal_put put, void *put_user, void *user) {
  beside_life *life = user;
  if (getpid() != life->frames_process) AWAIT_WITH(usleep(200), atomic_load(&life->order) != WRITER_WAITS);
  if (getpid() != life->frames_process && atomic_load(&life->order) == WRITER_DIES) die();
  return put("host", 4, put_user);
}

static void beside_frame(beside_life *life, little_world *little, uint32_t frame) {
  town_frame(little, frame);
  told_frame(life->told, little, frame + 1);
}

/* Ten frames with a journal that ends in the way of a crash; then one that begins beside the frames, behind them. */
static void beside_live(void *user) {
  beside_life *life = user;
  little_world little = town();
  muster_journal_info info;
  muster_journal_def def = WITH(muster_journal_def, it.save_host = save_as_ordered, it.user = life);
  life->frames_process = getpid();
  if (journal_look(life->path, &info) == MUSTER_E_STALE) {
    peopled(little);
    journal_begin_as(&little, def, life->path);
    for (uint32_t i = 0; i < 10; i++) beside_frame(life, &little, i);
    return;
  }
  must(journal_recover(&little, life->path, &info) == MUSTER_OK && info.frames == 10, "it is not back");
  def.begins_beside = true;
  muster_journal *journal = journal_begin_as(&little, def, life->path);
  for (uint32_t i = 10; i < 20; i++) {
    beside_frame(life, &little, i);
    muster_journal_turn(journal, 0);
    muster_journal_status status = journal_status(journal);
    must(status.runs && status.snapshots == 0, "it has a snapshot: %s", status.ended_by);
    must(status.frames_written == i + 1 && status.frames_safe == 10, "frame %lu is safe without one",
         status.frames_safe);
  }
  life->live(life, journal, &little);
}

static void expect_beside(void (*live)(beside_life *life, muster_journal *journal, little_world *little),
                          uint64_t frames, uint32_t files) {
  SCOPED(town_life_end) town_life lived = town_life_of(0, NULL);
  beside_life *life = shared_memory(sizeof *life);
  life->path = lived.place.path;
  life->told = lived.told;
  life->live = live;
  live_until_death(beside_live, life);
  live_until_death(beside_live, life);
  SCOPED(little_world_destroy) little_world little = town_back(&lived, frames);
  cr_assert_eq(place_count(&lived.place, "world-", ".snapshot"), files);
  atomic_store(&life->order, WRITER_DIES); /* one that waits still */
  munmap(life, sizeof *life);
}

static void end_here(beside_life *life, muster_journal *journal, little_world *little) {
  (void)life, (void)journal, (void)little;
}

Test(journal_follow, one_that_begins_beside_the_frames_leaves_what_was_there_until_its_snapshot_is_complete) {
  expect_beside(end_here, 10, 1);
}

/* Another thread removes what is over. */
static void await_one_snapshot(const beside_life *life) {
  char pattern[256];
  glob_t found;
  size_t count = 0;
  snprintf(pattern, sizeof pattern, "%s-*.snapshot", life->path);
  while (count != 1) {
    usleep(200);
    must(glob(pattern, 0, NULL, &found) == 0, "there is no snapshot");
    count = found.gl_pathc;
    globfree(&found);
  }
}

static void go_on_whole(beside_life *life, muster_journal *journal, little_world *little) {
  atomic_store(&life->order, WRITER_WRITES);
  while (journal_status(journal).snapshots == 0) muster_journal_turn(journal, 0);
  must(journal_status(journal).snapshots == 1 && journal_status(journal).forked == 1, "another snapshot");
  for (uint32_t i = 20; i < 25; i++) {
    beside_frame(life, little, i);
    muster_journal_turn(journal, 0);
  }
  must(journal_status(journal).frames_safe == 25, "frame %lu is safe", journal_status(journal).frames_safe);
  must(muster_journal_snapshot(journal) == MUSTER_OK, "no second snapshot");
  while (journal_status(journal).snapshots < 2) muster_journal_turn(journal, 0);
  await_one_snapshot(life);
  beside_frame(life, little, 25);
}

Test(journal_follow, behind_that_it_is_as_any_other) {
  expect_beside(go_on_whole, 26, 1);
}

static void go_on_without(beside_life *life, muster_journal *journal, little_world *little) {
  atomic_store(&life->order, WRITER_DIES);
  while (journal_status(journal).runs) muster_journal_turn(journal, 0);
  must(strstr(journal_status(journal).ended_by, "its first snapshot failed"), "%s", journal_status(journal).ended_by);
  must(journal_status(journal).frames_safe == UINT64_MAX, "somebody waits for what never comes");
  beside_frame(life, little, 20);
  muster_journal_turn(journal, 0);
}

Test(journal_follow, without_its_first_snapshot_it_ends_and_what_was_there_stays) {
  expect_beside(go_on_without, 10, 1);
}

static void end_in_order(beside_life *life, muster_journal *journal, little_world *little) {
  (void)little;
  atomic_store(&life->order, WRITER_WRITES);
  must(muster_journal_end(journal, false) == MUSTER_OK, "it does not end");
}

Test(journal_follow, it_may_end_before_its_snapshot_is_complete) {
  expect_beside(end_in_order, 20, 1);
}

/* ------------------------------------------------------------------------------------------------------------ held */

/* A snapshot is always due, as far as the cost allows: the first keeps the next one away for no longer than 50 times
 * what this process has used (its cost, in rotation.c). */
static void hold_and_let_go(muster_journal *journal, little_world *little, uint32_t frame) {
  static uint64_t each_us;
  (void)little;
  if (frame == 1) muster_journal_hold(journal, true);
  if (frame == 1) each_us = 50 * used_us() / 30;
  if (frame < 40) {
    usleep((useconds_t)each_us);
    muster_journal_turn(journal, 1000000000u);
    const muster_journal_status status = journal_status(journal);
    must(status.snapshots == 1 && !status.writes, "a snapshot began by itself while it was held");
  } else if (frame == 40) {
    must(muster_journal_snapshot(journal) == MUSTER_OK, "none is taken that is asked for");
    while (journal_status(journal).snapshots == 1) muster_journal_turn(journal, 1000000000u);
    muster_journal_hold(journal, false);
  } else if (frame == 41) {
    while (journal_status(journal).snapshots == 2) muster_journal_turn(journal, 1000000000u);
  }
}

Test(journal_follow, one_that_is_held_begins_no_snapshot_by_itself) {
  SCOPED(town_life_end) town_life life = town_life_of(42, hold_and_let_go);
  life.def.recovery_max_ns = life.def.start_ns = 10000000;
  live_until_death(town_live, &life);
}

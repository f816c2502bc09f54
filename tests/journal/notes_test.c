/* What a host keeps comes back: its bytes of the snapshot, and the notes of complete frames, in order. */
#include "support/journal_town.h"

enum { NOTED_FRAMES = 30, NOTES_PER_FRAME = 3, NOTE_WORDS = 8 };

/* What a host counts. */
typedef struct noting_host {
  const char *path;
  uint64_t frame;
  uint64_t snapshot_at; /* before which frame it asks for a snapshot; 0 = not */
} noting_host;

typedef struct noted {
  uint64_t frame, number, filling[NOTE_WORDS];
} noted;

static noted note_of(uint64_t frame, uint64_t number) {
  noted note = {.frame = frame, .number = number};
  for (uint32_t i = 0; i < NOTE_WORDS; i++) note.filling[i] = frame * 1000 + number * 10 + i;
  return note;
}

static bool noting_save(muster_journal_put put, void *put_user, void *user) {
  const noting_host *host = user;
  return put(&host->frame, sizeof host->frame, put_user) && put("behind it", 9, put_user);
}

static void noting_end_frame(muster_journal *journal, void *user) {
  noting_host *host = user;
  noted note = note_of(host->frame + 1, NOTES_PER_FRAME - 1);
  must(muster_journal_note(journal, &note, sizeof note - host->frame % 8) == MUSTER_OK, "a note of end_frame");
}

static void noting_live(void *user) {
  noting_host *host = user;
  little_world little = peopled_town();
  const muster_journal_def def = WITH(muster_journal_def, it.note = "port=4711", it.note_bytes = 9,
                                      it.save_host = noting_save, it.end_frame = noting_end_frame, it.user = host);
  muster_journal *journal = journal_begin_as(&little, def, host->path);
  for (; host->frame < NOTED_FRAMES; host->frame++) {
    if (host->frame == host->snapshot_at && host->frame) {
      must(muster_journal_snapshot(journal) == MUSTER_OK, "no snapshot");
      while (journal_status(journal).changes_safe == 0) muster_journal_turn(journal, 0);
    }
    for (uint64_t i = 0; i + 1 < NOTES_PER_FRAME; i++) {
      noted note = note_of(host->frame + 1, i);
      must(muster_journal_note(journal, &note, sizeof note) == MUSTER_OK, "a note between frames");
    }
    town_frame(&little, (uint32_t)host->frame);
  }
  must(muster_journal_note(journal, "of no complete frame", 20) == MUSTER_OK, "the last note");
}

/* What comes back. */
typedef struct heard_host {
  uint64_t host_frame, notes, before; /* the snapshot's frame; notes so far */
  bool note_seen, refuses;
} heard_host;

static bool hear_note(const void *bytes, uint32_t count, void *user) {
  heard_host *heard = user;
  cr_assert(count == 9 && memcmp(bytes, "port=4711", 9) == 0);
  heard->note_seen = true;
  return true;
}

static bool hear_host(const void *bytes, size_t count, void *user) {
  heard_host *heard = user;
  cr_assert_eq(count, 8 + 9, "%zu bytes of the host", count);
  memcpy(&heard->host_frame, bytes, 8);
  cr_assert(memcmp((const char *)bytes + 8, "behind it", 9) == 0);
  return !heard->refuses;
}

static bool hear_notes(const void *bytes, size_t count, uint64_t frame, void *user) {
  heard_host *heard = user;
  uint64_t expected = heard->before + heard->notes / NOTES_PER_FRAME + 1, number = heard->notes % NOTES_PER_FRAME;
  noted note = note_of(expected, number);
  cr_assert_eq(frame, expected);
  cr_assert_eq(count, sizeof note - (number + 1 == NOTES_PER_FRAME ? (expected - 1) % 8 : 0));
  cr_assert(memcmp(bytes, &note, count) == 0, "note %lu of frame %lu", number, frame);
  heard->notes++;
  return true;
}

static muster_result hear(const char *path, heard_host *heard, muster_journal_info *info) {
  const muster_journal_look_def look = WITH(muster_journal_look_def, it.path = path, it.take_note = hear_note,
                                            it.take_host = hear_host, it.take_notes = hear_notes, it.user = heard);
  *info = muster_journal_info_default();
  return muster_journal_look(&look, info, NULL);
}

static void expect_heard(uint64_t snapshot_at) {
  SCOPED(place_remove) journal_place place = place_make();
  noting_host host = {.path = place.path, .snapshot_at = snapshot_at};
  heard_host heard = {.before = snapshot_at};
  muster_journal_info info;
  live_until_death(noting_live, &host);
  cr_assert_eq(hear(place.path, &heard, &info), MUSTER_OK, "%s", muster_last_error());
  cr_assert_eq(info.snapshot_frames, snapshot_at);
  cr_assert_eq(info.frames, NOTED_FRAMES);
  cr_assert(heard.note_seen);
  cr_assert_eq(heard.host_frame, snapshot_at, "the host's bytes are of frame %lu", heard.host_frame);
  cr_assert_eq(heard.notes, (NOTED_FRAMES - snapshot_at) * NOTES_PER_FRAME);
  heard.notes = 0;
  heard.refuses = true;
  cr_assert_eq(hear(place.path, &heard, &info), MUSTER_E_INPUT, "a callback refused");
}

Test(journal_notes, come_back_with_their_frames_and_no_other) {
  expect_heard(0);
}

Test(journal_notes, begin_behind_the_newest_snapshot) {
  expect_heard(20);
}

static void too_much(void *user) {
  const char *path = user;
  static char bytes[1 << 20];
  little_world little = town();
  muster_journal *journal = journal_begin(&little, path);
  run_frame(&little);
  for (uint32_t i = 0; i < 16; i++)
    must(muster_journal_note(journal, bytes, sizeof bytes - 64) == MUSTER_OK, "MiB %u", i);
  must(muster_journal_note(journal, bytes, sizeof bytes) == MUSTER_E_FULL, "more than 16 MiB");
  must(muster_journal_note(journal, bytes, 1) == MUSTER_E_FULL, "a short one behind it, which would leave a gap");
  run_frame(&little); /* nobody calls for a turn: that it has ended is told all the same */
  must(!journal_status(journal).runs && *journal_status(journal).ended_by, "it goes on without a note");
  must(muster_journal_note(journal, bytes, 1) == MUSTER_E_STATE, "a note when it has ended");
  run_frame(&little);
}

Test(journal_notes, that_are_too_long_end_the_journal_and_leave_what_was_safe) {
  SCOPED(place_remove) journal_place place = place_make();
  live_until_death(too_much, place.path);
  cr_expect_leq(journal_seen(place.path).frames, 1, "frame 2 had no room");
}

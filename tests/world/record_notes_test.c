/* Notes of a journal's frame: what fits is kept as it is given, and behind one that did not fit none is. */
#include "record/recorder.h"

#include <criterion/criterion.h>
#include <string.h>

enum { ROOM = 1000, GUARD = 64, MARK = 0xa5, LENGTH_MOST = 10 };

static struct recorder recorder;
static unsigned char notes[ROOM + GUARD];

static void begin(size_t room) {
  memset(notes, MARK, sizeof notes);
  recorder = (struct recorder){.mode = RECORDER_RECORDS};
  recorder.journal = (recorder_journal){.on = true, .notes = notes, .notes_max = room};
}

static void expect_guard(size_t from) {
  for (size_t i = from; i < sizeof notes; i++) cr_assert_eq(notes[i], MARK, "byte %zu was written", i);
}

/* Reads a note behind `at`, as its length in groups of seven bits and its bytes. */
static size_t expect_note(size_t at, const unsigned char *bytes, size_t count) {
  size_t length = 0;
  for (uint32_t shift = 0;; shift += 7) {
    length |= (size_t)(notes[at] & 127) << shift;
    if (!(notes[at++] & 128)) break;
  }
  cr_assert_eq(length, count);
  cr_assert_eq(memcmp(notes + at, bytes, count), 0);
  return at + count;
}

Test(record_notes, are_kept_one_behind_another_whatever_their_length) {
  static const size_t lengths[] = {0, 1, 126, 127, 128, 129, 0, 255, 3};
  unsigned char bytes[512];
  for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)(i * 7 + 1);
  begin(ROOM);
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
    cr_assert(recorder_note(&recorder, lengths[i] ? bytes + i : NULL, lengths[i]), "note %zu", i);
  size_t at = 0;
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) at = expect_note(at, bytes + i, lengths[i]);
  cr_expect_eq(recorder.journal.notes_bytes, at);
  expect_guard(at);
}

/* Of each length, as often as there is room, in rooms of each size. */
Test(record_notes, end_where_the_room_does) {
  static const unsigned char bytes[ROOM] = {1, 2, 3};
  for (size_t room = LENGTH_MOST; room < 300; room += 7)
    for (size_t count = 0; count < 320; count += 1 + count / 4) {
      size_t taken = 0, most = room / (count + 1) + 2;
      begin(room);
      while (taken < most && recorder_note(&recorder, bytes, count)) taken++;
      cr_assert_lt(taken, most, "room %zu, notes of %zu", room, count);
      cr_assert_leq(recorder.journal.notes_bytes, room);
      expect_guard(room);
      cr_assert(taken > 0 || count > room - LENGTH_MOST, "room %zu, a note of %zu", room, count);
      cr_assert(recorder.journal.full);
      size_t before = recorder.journal.notes_bytes;
      cr_assert_not(recorder_note(&recorder, bytes, 0), "one of nothing is no better");
      cr_assert_eq(recorder.journal.notes_bytes, before);
    }
}

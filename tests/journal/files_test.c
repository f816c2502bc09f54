/* Which files are a journal's, and which of several pairs a world comes back from. */
#include "support/journal_town.h"

#include <errno.h>

static const char *files_name(const journal_place *place, const char *ending, char path[PLACE_BYTES]) {
  snprintf(path, PLACE_BYTES, "%s%s", place->path, ending);
  return path;
}

static void files_put(const journal_place *place, const char *ending, const void *bytes, size_t count) {
  char path[PLACE_BYTES];
  file_write(files_name(place, ending, path), bytes, count);
}

static bool files_has(const journal_place *place, const char *ending) {
  char path[PLACE_BYTES];
  return access(files_name(place, ending, path), F_OK) == 0;
}

static void files_live(const journal_place *place, uint32_t frames) {
  town_life life = {.place = *place, .told = told_create(), .frames = frames, .def = muster_journal_def_default()};
  live_until_death(town_live, &life);
  told_destroy(life.told);
}

/* A look that must be refused. */
static void expect_no_pair(const journal_place *place, const char *says, const char *what) {
  muster_journal_info info;
  cr_expect_eq(journal_look(place->path, &info), MUSTER_E_INPUT, "%s", what);
  cr_expect_not_null(strstr(muster_last_error(), says), "%s", muster_last_error());
}

/* Names that are one character away from those of a journal. */
static const char *const strangers[] = {/* other numbers */
                                        "-x7.snapshot", "-7x.snapshot", "-07.journal", "-.journal",
                                        "-77777777777777777777777.journal",
                                        /* other endings */
                                        "-7.snapshots", "-7.snapshot.newer", "-7.journal.old", "-7",
                                        /* other beginnings */
                                        "7.journal", "+7.journal", "s-7.journal", "-incident-7.snapshot.new",
                                        "-incidents-7.journal"};

Test(journal_files, of_others_are_left_alone_and_count_for_nothing) {
  SCOPED(place_remove) journal_place place = place_make();
  char other[PLACE_BYTES];
  for (size_t i = 0; i < COUNT_OF(strangers); i++) files_put(&place, strangers[i], "not yours", 9);
  snprintf(other, sizeof other, "%s/wurld-9.journal", place.folder);
  file_write(other, "not yours", 9);
  for (uint64_t life = 1; life <= 3; life++) {
    files_live(&place, 4);
    uint64_t number = journal_seen(place.path).number;
    cr_expect_eq(number, life, "its files have the number %lu", number);
  }
  for (size_t i = 0; i < COUNT_OF(strangers); i++)
    cr_expect(files_has(&place, strangers[i]), "world%s is gone", strangers[i]);
  cr_expect_eq(access(other, F_OK), 0);
}

/* Each file that a death may leave, without the others. */
Test(journal_files, that_a_death_has_left_are_not_written_over) {
  static const char *const left[] = {"-9.journal", "-9.snapshot.new", "-9.snapshot"};
  for (size_t i = 0; i < COUNT_OF(left); i++) {
    SCOPED(place_remove) journal_place place = place_make();
    files_put(&place, left[i], "half", 4);
    files_live(&place, 4);
    uint64_t number = journal_seen(place.path).number;
    cr_expect_eq(number, 10, "behind world%s it has the number %lu", left[i], number);
    cr_expect_not(files_has(&place, left[i]), "world%s is not needed any more", left[i]);
  }
}

/* A pair of files, kept and put back. */
typedef struct kept_pair {
  file_bytes snapshot, journal;
} kept_pair;

static kept_pair pair_keep(const journal_place *place) {
  return (kept_pair){file_read(place_find(place, ".snapshot").path), file_read(place_find(place, ".journal").path)};
}

static void pair_put_back(const journal_place *place, const kept_pair *pair, uint64_t number) {
  char ending[64];
  snprintf(ending, sizeof ending, "-%lu.snapshot", number);
  files_put(place, ending, pair->snapshot.bytes, pair->snapshot.count);
  snprintf(ending, sizeof ending, "-%lu.journal", number);
  files_put(place, ending, pair->journal.bytes, pair->journal.count);
}

static void pair_forget(kept_pair *pair) {
  free(pair->snapshot.bytes);
  free(pair->journal.bytes);
}

/* Both pairs are whole: that of more frames is the one, whatever its number; of as many the newer. */
Test(journal_files, of_two_pairs_the_one_with_more_frames_is_found) {
  for (uint32_t older = 3; older <= 11; older += 4) {
    SCOPED(place_remove) journal_place place = place_make();
    files_live(&place, older);
    SCOPED(pair_forget) kept_pair one = pair_keep(&place);
    files_live(&place, 7);
    pair_put_back(&place, &one, 1);
    muster_journal_info info = journal_seen(place.path);
    cr_expect_eq(info.frames, older > 7 ? older : 7);
    cr_expect_eq(info.number, older > 7 ? 1 : 2);
  }
}

/* The disk refuses to tell of a file: of the n-th that is asked for. */
static uint32_t refused_file;

int fstat(int descriptor, struct stat *status) {
  if (refused_file != 1) {
    refused_file -= refused_file > 0;
    return fstatat(descriptor, "", status, AT_EMPTY_PATH);
  }
  refused_file = 0;
  errno = EIO;
  return -1;
}

/* The older of two pairs stands for the newer where that is damaged, and not where it cannot be read for the moment. */
Test(journal_files, one_that_cannot_be_read_for_now_is_not_taken_for_damaged) {
  enum { MANY = 30 };
  SCOPED(place_remove) journal_place place = place_make();
  uint32_t refused = 0;
  muster_journal_info info;
  files_live(&place, 4);
  SCOPED(pair_forget) kept_pair one = pair_keep(&place);
  files_live(&place, 7);
  pair_put_back(&place, &one, 1);
  for (uint32_t nth = 0; nth < 2 * MANY; nth++) {
    if (nth == MANY) files_put(&place, "-2.journal", "half", 4); /* from here on the newer one is damaged */
    refused_file = 1 + nth % MANY;
    muster_result result = journal_look(place.path, &info);
    bool was = refused_file == 0;
    refused_file = 0;
    cr_expect_eq(result, was ? MUSTER_E_SYSTEM : MUSTER_OK, "of file %u: %s", nth, muster_last_error());
    if (was) cr_expect_not_null(strstr(muster_last_error(), strerror(EIO)), "%s", muster_last_error());
    if (!was) cr_expect_eq(info.frames, nth < MANY ? 7 : 4);
    refused += was;
  }
  cr_expect(refused >= 8 && refused < MANY, "%u files", refused);
}

/* A record stands for the snapshot whose mark it has, and for no other: each part of the mark alone. */
Test(journal_files, a_record_belongs_to_its_own_snapshot) {
  SCOPED(place_remove) journal_place place = place_make(), other = place_make();
  muster_journal_info info;
  files_live(&place, 5);
  files_live(&other, 5);
  SCOPED(pair_forget) kept_pair one = pair_keep(&place), two = pair_keep(&other);
  const kept_pair mixed = {one.snapshot, two.journal}; /* the same number, and another id */
  pair_put_back(&place, &mixed, 1);
  expect_no_pair(&place, "does not belong to the snapshot", "another's record");
  pair_put_back(&place, &one, 1);
  cr_expect_eq(journal_look(place.path, &info), MUSTER_OK, "%s", muster_last_error());
  pair_put_back(&place, &one, 4); /* the same id, and another number */
  cr_expect_eq(journal_look(place.path, &info), MUSTER_OK, "number 1 is there: %s", muster_last_error());
  cr_expect_eq(info.number, 1);
  place_each(&place, "world-1.", "", place_unlink, NULL);
  expect_no_pair(&place, "it is the snapshot 1 of a journal", "another number");
}

/* Files of one journal that rotates: the record of the second snapshot is none of the first one. */
static const journal_place *rotating_place;

static void keep_both(muster_journal *journal, little_world *little, uint32_t frame) {
  (void)little;
  if (frame != 3) return;
  kept_pair first = pair_keep(rotating_place);
  must(muster_journal_snapshot(journal) == MUSTER_OK, "no snapshot");
  AWAIT_WITH(journal_turn(journal), journal_status(journal).changes_safe > 0);
  char path[PLACE_BYTES];
  snprintf(path, sizeof path, "%s/first", rotating_place->folder);
  file_write(path, first.journal.bytes, first.journal.count);
  pair_forget(&first);
}

Test(journal_files, so_does_the_record_of_another_number_of_the_same_journal) {
  char path[PLACE_BYTES];
  SCOPED(town_life_end) town_life life = town_life_of(6, keep_both);
  rotating_place = &life.place;
  live_until_death(town_live, &life);
  cr_assert_eq(journal_seen(life.place.path).number, 2);
  snprintf(path, sizeof path, "%s/first", life.place.folder);
  file_bytes first = file_read(path);
  files_put(&life.place, "-2.journal", first.bytes, first.count);
  place_each(&life.place, "world-1.", "", place_unlink, NULL); /* it may have died before they were removed */
  expect_no_pair(&life.place, "does not belong to the snapshot", "the record of snapshot 1 is taken for that of 2");
  free(first.bytes);
}

/* What a clean end leaves has lost nothing. */
Test(journal_files, of_one_that_has_ended_nothing_is_lost) {
  SCOPED(kept_world_end) kept_world kept = kept_town();
  town_frames(&kept.little, 5);
  cr_assert_eq(kept_world_close(&kept), MUSTER_OK);
  muster_journal_info info = journal_seen(kept.place.path);
  cr_expect(info.clean);
  cr_expect_eq(info.frames, 5);
  cr_expect_eq(info.snapshot_frames, 5);
  cr_expect_eq(info.lost_bytes, 0);
  cr_expect_eq(info.lost_frames, 0);
  cr_expect_eq(*info.damage, 0);
  FILE *more = fopen(place_find(&kept.place, ".journal").path, "a"); /* something behind its end */
  cr_assert_geq(fputs("behind", more), 0);
  fclose(more);
  info = journal_seen(kept.place.path);
  cr_expect_not(info.clean, "its end is not where its file ends");
  cr_expect_gt(info.lost_bytes, 0);
  cr_expect_not_null(strstr(info.damage, "6 bytes behind the end"), "%s", info.damage);
}

/* As they are made: for nobody else, empty, and never through a link, by which they would be another's. */
Test(journal_files, are_made_for_their_owner_alone) {
  SCOPED(place_remove) journal_place place = place_make();
  char victim[PLACE_BYTES], name[PLACE_BYTES], link_name[PLACE_BYTES];
  struct stat status;
  muster_journal_info info;
  files_put(&place, "-1.journal.old", "another's", 9);
  files_name(&place, "-1.journal.old", victim);
  files_live(&place, 3);
  for (uint32_t i = 0; i < 2; i++) {
    cr_assert_eq(lstat(files_name(&place, i ? "-1.snapshot" : "-1.journal", name), &status), 0);
    cr_expect_eq(status.st_mode, (mode_t)(S_IFREG | 0600), "%s: %o", name, status.st_mode);
  }
  kept_pair pair = pair_keep(&place);
  place_each(&place, "world-1.", "", place_unlink, NULL);
  pair_put_back(&place, &pair, 1);
  cr_assert_eq(rename(place_find(&place, ".snapshot").path, files_name(&place, "-1.moved", name)), 0);
  cr_assert_eq(symlink(name, files_name(&place, "-1.snapshot", link_name)), 0);
  cr_expect_neq(journal_look(place.path, &info), MUSTER_OK, "through a link");
  pair_forget(&pair);
  place_each(&place, "world-1.", "", place_unlink, NULL);
  files_put(&place, "-1.journal.old", "another's", 9);
  SCOPED(little_world_destroy) little_world little = town();
  muster_journal *journal = journal_begin(&little, place.path);
  cr_assert_eq(symlink(victim, files_name(&place, "-2.journal", name)), 0);
  cr_expect_eq(muster_journal_end(journal, false), MUSTER_E_SYSTEM, "its next record would be another's file");
  file_bytes bytes = file_read(victim);
  cr_expect(bytes.count == 9 && memcmp(bytes.bytes, "another's", 9) == 0);
  free(bytes.bytes);
  unlink(name);
  journal = journal_begin(&little, place.path);
  static const char rest[] = "a long text that was left behind by somebody, and is no part of the record at all";
  files_put(&place, "-3.journal", rest, sizeof rest);
  cr_expect_eq(muster_journal_end(journal, false), MUSTER_OK, "%s", muster_last_error());
  cr_expect(journal_seen(place.path).clean, "it begins with what was there");
}

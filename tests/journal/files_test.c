/* Which files are a journal's, and which of several pairs a world comes back from. */
#include "support/journal_town.h"

#include <errno.h>

static void files_name(const journal_place *place, const char *ending, char path[PLACE_BYTES]) {
  snprintf(path, PLACE_BYTES, "%s%s", place->path, ending);
}

static void files_put(const journal_place *place, const char *ending, const char *bytes) {
  char path[PLACE_BYTES];
  files_name(place, ending, path);
  file_write(path, bytes, strlen(bytes));
}

static bool files_has(const journal_place *place, const char *ending) {
  char path[PLACE_BYTES];
  files_name(place, ending, path);
  return access(path, F_OK) == 0;
}

static void files_live(const journal_place *place, uint32_t frames) {
  town_life life = {.path = place->path, .told = told_create(), .frames = frames, .def = muster_journal_def_default()};
  live_until_death(town_live, &life);
  told_destroy(life.told);
}

static muster_journal_info files_look(const journal_place *place) {
  muster_journal_info info;
  cr_assert_eq(journal_look(place->path, &info), MUSTER_OK, "%s", muster_last_error());
  return info;
}

/* Names that are one character away from those of a journal. */
static const char *const strangers[] = {"-x7.snapshot",
                                        "-7x.snapshot",
                                        "-7.snapshots",
                                        "-7.snapshot.newer",
                                        "-07.journal",
                                        "-.journal",
                                        "7.journal",
                                        "+7.journal",
                                        "-7.journal.old",
                                        "-7",
                                        "s-7.journal",
                                        "-incident-7.snapshot.new",
                                        "-incidents-7.journal",
                                        "-77777777777777777777777.journal"};

Test(journal_files, of_others_are_left_alone_and_count_for_nothing) {
  journal_place place = place_make();
  char other[PLACE_BYTES];
  for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++) files_put(&place, strangers[i], "not yours");
  snprintf(other, sizeof other, "%s/wurld-9.journal", place.folder);
  file_write(other, "not yours", 9);
  for (uint64_t life = 1; life <= 3; life++) {
    files_live(&place, 4);
    cr_expect_eq(files_look(&place).number, life, "its files have the number %llu",
                 (unsigned long long)files_look(&place).number);
  }
  for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++)
    cr_expect(files_has(&place, strangers[i]), "world%s is gone", strangers[i]);
  cr_expect_eq(access(other, F_OK), 0);
  place_remove(&place);
}

/* Each file that a death may leave, without the others. */
Test(journal_files, that_a_death_has_left_are_not_written_over) {
  static const char *const left[] = {"-9.journal", "-9.snapshot.new", "-9.snapshot"};
  for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
    journal_place place = place_make();
    files_put(&place, left[i], "half");
    files_live(&place, 4);
    cr_expect_eq(files_look(&place).number, 10, "behind world%s it has the number %llu", left[i],
                 (unsigned long long)files_look(&place).number);
    cr_expect_not(files_has(&place, left[i]), "world%s is not needed any more", left[i]);
    place_remove(&place);
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
  char path[PLACE_BYTES];
  snprintf(path, sizeof path, "%s-%llu.snapshot", place->path, (unsigned long long)number);
  file_write(path, pair->snapshot.bytes, pair->snapshot.count);
  snprintf(path, sizeof path, "%s-%llu.journal", place->path, (unsigned long long)number);
  file_write(path, pair->journal.bytes, pair->journal.count);
}

static void pair_forget(kept_pair *pair) {
  free(pair->snapshot.bytes);
  free(pair->journal.bytes);
}

/* Both pairs are whole: that of more frames is the one, whatever its number; of as many the newer. */
Test(journal_files, of_two_pairs_the_one_with_more_frames_is_found) {
  for (uint32_t older = 3; older <= 11; older += 4) {
    journal_place place = place_make();
    files_live(&place, older);
    kept_pair one = pair_keep(&place);
    files_live(&place, 7);
    pair_put_back(&place, &one, 1);
    muster_journal_info info = files_look(&place);
    cr_expect_eq(info.frames, older > 7 ? older : 7);
    cr_expect_eq(info.number, older > 7 ? 1 : 2);
    pair_forget(&one);
    place_remove(&place);
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
  journal_place place = place_make();
  uint32_t refused = 0;
  muster_journal_info info;
  files_live(&place, 4);
  kept_pair one = pair_keep(&place);
  files_live(&place, 7);
  pair_put_back(&place, &one, 1);
  for (uint32_t nth = 0; nth < 2 * MANY; nth++) {
    if (nth == MANY) files_put(&place, "-2.journal", "half"); /* from here on the newer one is damaged */
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
  pair_forget(&one);
  place_remove(&place);
}

/* A record stands for the snapshot whose mark it has, and for no other: each part of the mark alone. */
Test(journal_files, a_record_belongs_to_its_own_snapshot) {
  journal_place place = place_make(), other = place_make();
  muster_journal_info info;
  files_live(&place, 5);
  files_live(&other, 5);
  kept_pair one = pair_keep(&place), two = pair_keep(&other);
  file_bytes journal = one.journal;
  one.journal = two.journal; /* the same number, and another id */
  pair_put_back(&place, &one, 1);
  cr_expect_eq(journal_look(place.path, &info), MUSTER_E_INPUT);
  cr_expect_not_null(strstr(muster_last_error(), "does not belong to the snapshot"), "%s", muster_last_error());
  one.journal = journal;
  pair_put_back(&place, &one, 1);
  cr_expect_eq(journal_look(place.path, &info), MUSTER_OK, "%s", muster_last_error());
  pair_put_back(&place, &one, 4); /* the same id, and another number */
  cr_expect_eq(journal_look(place.path, &info), MUSTER_OK, "number 1 is there: %s", muster_last_error());
  cr_expect_eq(info.number, 1);
  place_each(&place, "world-1.", "", place_unlink, NULL);
  cr_expect_eq(journal_look(place.path, &info), MUSTER_E_INPUT);
  cr_expect_not_null(strstr(muster_last_error(), "it is the snapshot 1 of a journal"), "%s", muster_last_error());
  pair_forget(&one);
  pair_forget(&two);
  place_remove(&place);
  place_remove(&other);
}

/* Files of one journal that rotates: the record of the second snapshot is none of the first one. */
static const journal_place *rotating_place;

static void keep_both(muster_journal *journal, little_world *little, uint32_t frame) {
  (void)little;
  if (frame != 3) return;
  kept_pair first = pair_keep(rotating_place);
  must(muster_journal_snapshot(journal) == MUSTER_OK, "no snapshot");
  for (uint32_t waited = 0; journal_status(journal).changes_safe == 0; usleep(1000)) {
    muster_journal_turn(journal, 0);
    must(++waited < 60000, "it is never complete");
  }
  char path[PLACE_BYTES];
  snprintf(path, sizeof path, "%s/first", rotating_place->folder);
  file_write(path, first.journal.bytes, first.journal.count);
  pair_forget(&first);
}

Test(journal_files, so_does_the_record_of_another_number_of_the_same_journal) {
  journal_place place = place_make();
  muster_journal_info info;
  char path[PLACE_BYTES];
  town_life life = {
      .path = place.path, .told = told_create(), .frames = 6, .def = muster_journal_def_default(), .after = keep_both};
  rotating_place = &place;
  live_until_death(town_live, &life);
  cr_assert_eq(journal_look(place.path, &info), MUSTER_OK, "%s", muster_last_error());
  cr_assert_eq(info.number, 2);
  snprintf(path, sizeof path, "%s/first", place.folder);
  file_bytes first = file_read(path);
  snprintf(path, sizeof path, "%s-2.journal", place.path);
  file_write(path, first.bytes, first.count);
  place_each(&place, "world-1.", "", place_unlink, NULL); /* it may have died before they were removed */
  cr_expect_eq(journal_look(place.path, &info), MUSTER_E_INPUT, "the record of snapshot 1 is taken for that of 2");
  cr_expect_not_null(strstr(muster_last_error(), "does not belong to the snapshot"), "%s", muster_last_error());
  free(first.bytes);
  told_destroy(life.told);
  place_remove(&place);
}

/* What a clean end leaves has lost nothing. */
Test(journal_files, of_one_that_has_ended_nothing_is_lost) {
  journal_place place = place_make();
  little_world little = town();
  town_populate(&little);
  muster_journal *journal = journal_begin(&little, place.path);
  for (uint32_t frame = 0; frame < 5; frame++) town_frame(&little, frame);
  cr_assert_eq(muster_journal_end(journal, false), MUSTER_OK);
  muster_journal_info info = files_look(&place);
  cr_expect(info.clean);
  cr_expect_eq(info.frames, 5);
  cr_expect_eq(info.snapshot_frames, 5);
  cr_expect_eq(info.lost_bytes, 0);
  cr_expect_eq(info.lost_frames, 0);
  cr_expect_eq(*info.damage, 0);
  FILE *more = fopen(place_find(&place, ".journal").path, "a"); /* something behind its end */
  cr_assert_geq(fputs("behind", more), 0);
  fclose(more);
  info = files_look(&place);
  cr_expect_not(info.clean, "its end is not where its file ends");
  cr_expect_gt(info.lost_bytes, 0);
  cr_expect_not_null(strstr(info.damage, "6 bytes behind the end"), "%s", info.damage);
  little_world_destroy(&little);
  place_remove(&place);
}

/* As they are made: for nobody else, empty, and never through a link, by which they would be another's. */
Test(journal_files, are_made_for_their_owner_alone) {
  journal_place place = place_make();
  char victim[PLACE_BYTES], name[PLACE_BYTES];
  struct stat status;
  muster_journal_info info;
  files_put(&place, "-1.journal.old", "another's");
  files_name(&place, "-1.journal.old", victim);
  files_live(&place, 3);
  for (uint32_t i = 0; i < 2; i++) {
    files_name(&place, i ? "-1.snapshot" : "-1.journal", name);
    cr_assert_eq(lstat(name, &status), 0);
    cr_expect_eq(status.st_mode, (mode_t)(S_IFREG | 0600), "%s: %o", name, status.st_mode);
  }
  kept_pair pair = pair_keep(&place);
  place_each(&place, "world-1.", "", place_unlink, NULL);
  pair_put_back(&place, &pair, 1);
  files_name(&place, "-1.moved", name);
  cr_assert_eq(rename(place_find(&place, ".snapshot").path, name), 0);
  char link_name[PLACE_BYTES];
  files_name(&place, "-1.snapshot", link_name);
  cr_assert_eq(symlink(name, link_name), 0);
  cr_expect_neq(journal_look(place.path, &info), MUSTER_OK, "through a link");
  pair_forget(&pair);
  place_each(&place, "world-1.", "", place_unlink, NULL);
  files_put(&place, "-1.journal.old", "another's");
  little_world little = town();
  muster_journal *journal = journal_begin(&little, place.path);
  files_name(&place, "-2.journal", name);
  cr_assert_eq(symlink(victim, name), 0);
  cr_expect_eq(muster_journal_end(journal, false), MUSTER_E_SYSTEM, "its next record would be another's file");
  file_bytes bytes = file_read(victim);
  cr_expect(bytes.count == 9 && memcmp(bytes.bytes, "another's", 9) == 0);
  free(bytes.bytes);
  unlink(name);
  journal = journal_begin(&little, place.path);
  files_put(&place, "-3.journal", "a long text that was left behind by somebody, and is no part of the record at all");
  cr_expect_eq(muster_journal_end(journal, false), MUSTER_OK, "%s", muster_last_error());
  cr_expect(files_look(&place).clean, "it begins with what was there");
  little_world_destroy(&little);
  place_remove(&place);
}

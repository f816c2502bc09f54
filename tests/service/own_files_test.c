/* Which files of a world's folder are Muster's own, and which of these go first. */
#include "room.h"
#include "service/supervise/bounds.h"
#include "service/supervise/own_files.h"

#include <dirent.h>

enum { FEW = 3, KIB = 1024 };

static const own_names names = {"worlds", "worlds.main", "flight"};
static char folder[32];
static uint32_t age; /* files that were made earlier are older, whatever the clock's steps */

static void make_folder(void) {
  snprintf(folder, sizeof folder, "/tmp/muster-own-XXXXXX");
  cr_assert_not_null(mkdtemp(folder));
}

static void remove_folder(void) {
  DIR *entries = opendir(folder);
  for (const struct dirent *entry; (entry = readdir(entries)) != NULL;) unlinkat(dirfd(entries), entry->d_name, 0);
  closedir(entries);
  cr_assert_eq(rmdir(folder), 0);
}

TestSuite(own_files, .init = make_folder, .fini = remove_folder);

static const char *path_of(const char *name) {
  return formed("%s/%s", folder, name);
}

static void make(const char *name, uint32_t kib) {
  static char bytes[KIB];
  int file = open(path_of(name), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  for (uint32_t i = 0; i < kib; i++) cr_assert_eq(write(file, memset(bytes, 1, sizeof bytes), sizeof bytes), KIB);
  age++;
  const struct timespec times[] = {{1000 + age, 0}, {1000 + age, 0}};
  cr_assert(futimens(file, times) == 0 && close(file) == 0);
}

static bool is_there(const char *name) {
  return access(path_of(name), F_OK) == 0;
}

static own_use use_now(void) {
  own_use use;
  own_files_read(folder, &names, FOLDER_FILES_MAX, &use);
  return use;
}

static own_use use_with(const char *one_more) {
  make(one_more, 4);
  return use_now();
}

Test(own_files, are_told_by_their_names) {
  static const char *const needed[] = {/* of snapshots */
                                       "worlds", "worlds.previous", "worlds.new", "worlds.lock",
                                       /* of the journal, and the recorder's */
                                       "worlds.main-7.snapshot", "worlds.main-7.journal", "flight", "worlds.main.epoch",
                                       "worlds.main-8.snapshot.new", "worlds.main.lost"};
  static const char *const kept[] = {/* of incidents */
                                     "worlds.main-incident-3.journal", "worlds.main-incident-3.snapshot",
                                     /* put aside */
                                     "worlds.damaged-1", "worlds.left-out-2", "flight.damaged",
                                     "worlds.main-7.journal.other-12"};
  static const char *const others[] = {/* of other names */
                                       "worlds2", "aworlds", "notes",
                                       /* nearly of these */
                                       "worlds.main-x.journal", "worlds.main-7.journal.txt",
                                       "worlds.main-incident-.journal", "worlds.other-7.journal", "worlds.-1",
                                       "flights", "worlds.damaged-1x"};
  own_use before = use_now(), now;
  cr_expect_eq(before.files, 0);
  for (size_t i = 0; i < COUNT_OF(needed); i++, before = now) {
    now = use_with(needed[i]);
    cr_expect(now.needed_bytes > before.needed_bytes && now.files == before.files + 1, "%s", needed[i]);
  }
  for (size_t i = 0; i < COUNT_OF(kept); i++, before = now) {
    now = use_with(kept[i]);
    cr_expect(now.kept_bytes > before.kept_bytes && now.needed_bytes == before.needed_bytes, "%s", kept[i]);
  }
  for (size_t i = 0; i < COUNT_OF(others); i++, before = now) {
    now = use_with(others[i]);
    cr_expect(now.other_bytes > before.other_bytes && now.kept_bytes == before.kept_bytes, "%s", others[i]);
  }
}

Test(own_files, of_a_journal_the_newest_numbers_count_and_older_ones_are_the_modules) {
  static const uint32_t order[] = {5, 2, 9, 1, 7, 3, 8, 4, 6, 10};
  for (size_t i = 0; i < COUNT_OF(order); i++) make(formed("worlds.main-%u.journal", order[i]), 4 * order[i]);
  own_use use = use_now();
  cr_expect(use.needed_bytes >= (7 + 8 + 9 + 10) * 4 * KIB && use.needed_bytes < 2 * (7 + 8 + 9 + 10) * 4 * KIB);
  cr_expect_geq(use.other_bytes, (1 + 2 + 3 + 4 + 5 + 6) * 4 * KIB);
  make("worlds.main-10.snapshot", 40);
  cr_expect_geq(use_now().needed_bytes, use.needed_bytes + 40 * KIB, "it is of a number that counts");
}

Test(own_files, the_oldest_of_those_for_people_goes_first_with_its_other_half) {
  char removed[OWN_NAME_BYTES];
  make("worlds.main-incident-2.snapshot", 4);
  make("worlds.main-incident-2.journal", 4);
  make("worlds.damaged-1", 4);
  make("worlds.main-incident-1.journal", 4); /* of a number that began anew */
  make("worlds", 4);
  make("notes", 4);
  cr_assert(own_files_remove_oldest(folder, &names, removed));
  cr_expect_str_eq(removed, "worlds.main-incident-2.snapshot");
  cr_expect(!is_there("worlds.main-incident-2.journal") && is_there("worlds.main-incident-1.journal"));
  cr_assert(own_files_remove_oldest(folder, &names, removed));
  cr_expect_str_eq(removed, "worlds.damaged-1");
  cr_assert(own_files_remove_oldest(folder, &names, removed));
  cr_expect_not(own_files_remove_oldest(folder, &names, removed));
  cr_expect(is_there("worlds") && is_there("notes"));
  cr_expect_eq(use_now().files, 2);
}

/* So fast follows one crash on another. */
Test(own_files, the_older_half_of_one_second_goes_first_and_takes_the_other_half_along) {
  static const char *const oldest_first[] = {"worlds.main-incident-3.journal", "worlds.main-incident-3.snapshot",
                                             "worlds.damaged-2", "worlds.damaged-1"};
  char removed[OWN_NAME_BYTES];
  for (size_t order = 0; order < 2; order++) {
    for (size_t i = 0; i < 4; i++) {
      size_t k = order ? 3 - i : i;
      make(oldest_first[k], 4);
      const struct timespec times[] = {{5000, (long)k + 1}, {5000, (long)k + 1}};
      cr_assert_eq(utimensat(AT_FDCWD, path_of(oldest_first[k]), times, 0), 0);
    }
    cr_assert(own_files_remove_oldest(folder, &names, removed));
    cr_expect_str_eq(removed, oldest_first[0]);
    cr_expect(!is_there(oldest_first[1]), "the snapshot of that crash");
    cr_assert(own_files_remove_oldest(folder, &names, removed));
    cr_expect_str_eq(removed, oldest_first[2]);
    cr_assert(own_files_remove_oldest(folder, &names, removed));
    cr_expect_not(own_files_remove_oldest(folder, &names, removed));
  }
}

Test(own_files, have_no_names_where_nothing_is_saved) {
  char removed[OWN_NAME_BYTES];
  const own_names none = {"", "", "flight"};
  own_use use;
  make("-incident-1.journal", 4);
  make(".damaged-1", 4);
  own_files_read(folder, &none, FOLDER_FILES_MAX, &use);
  cr_expect(!use.needed_bytes && !use.kept_bytes && use.other_bytes);
  cr_expect_not(own_files_remove_oldest(folder, &none, removed));
}

Test(own_files, a_folder_is_counted_up_to_a_number_of_files) {
  own_use use;
  for (int i = 0; i < FEW; i++) make(formed("%d", i), KIB);
  cr_expect_eq(use_now().files, FEW);
  cr_expect_geq(use_now().other_bytes, FEW * (uint64_t)KIB * KIB);
  own_files_read(folder, &names, 1, &use);
  cr_expect_eq(use.files, 2);
  own_files_read("/nowhere/at/all", &names, FEW, &use);
  cr_expect(use.other_bytes == 0 && use.files == 0);
}

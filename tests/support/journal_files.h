/* tests/support/journal_files.h - the files of a journal of a test, in a folder of their own. */
#ifndef JOURNAL_FILES_H
#define JOURNAL_FILES_H

#include <criterion/criterion.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PLACE_BYTES = 512 };

typedef struct journal_place {
  char folder[64];
  char path[96]; /* as in muster_journal_def */
} journal_place;

static inline journal_place place_make(void) {
  journal_place place = {.folder = "/tmp/muster-test-journal-XXXXXX"};
  cr_assert_not_null(mkdtemp(place.folder));
  snprintf(place.path, sizeof place.path, "%s/world", place.folder);
  return place;
}

/* Calls it for each file whose name has both texts in it. */
static inline void place_each(const journal_place *place, const char *with, const char *ending,
                              void (*found)(const char *path, void *user), void *user) {
  char path[PLACE_BYTES];
  DIR *folder = opendir(place->folder);
  cr_assert_not_null(folder);
  for (struct dirent *entry; (entry = readdir(folder));) {
    size_t length = strlen(entry->d_name), end = strlen(ending);
    if (entry->d_name[0] == '.' || !strstr(entry->d_name, with)) continue;
    if (length < end || strcmp(entry->d_name + length - end, ending) != 0) continue;
    snprintf(path, sizeof path, "%s/%s", place->folder, entry->d_name);
    found(path, user);
  }
  closedir(folder);
}

static inline void place_unlink(const char *path, void *user) {
  (void)user;
  unlink(path);
}

static inline void place_remove(const journal_place *place) {
  place_each(place, "", "", place_unlink, NULL);
  rmdir(place->folder);
}

static inline void place_count_one(const char *path, void *user) {
  (void)path;
  ++*(uint32_t *)user;
}

static inline uint32_t place_count(const journal_place *place, const char *with, const char *ending) {
  uint32_t count = 0;
  place_each(place, with, ending, place_count_one, &count);
  return count;
}

typedef struct place_newest {
  const char *prefix, *ending;
  unsigned long long number;
  char path[PLACE_BYTES];
} place_newest;

static inline void place_compare(const char *path, void *user) {
  place_newest *newest = user;
  char *end = NULL;
  unsigned long long number = strtoull(path + strlen(newest->prefix) + 1, &end, 10);
  if (strcmp(end, newest->ending) != 0 || number < newest->number) return;
  newest->number = number;
  snprintf(newest->path, sizeof newest->path, "%s", path);
}

/* The path of the newest file of a journal: ".journal" or ".snapshot"; "" when there is none. */
static inline place_newest place_find(const journal_place *place, const char *ending) {
  place_newest newest = {.prefix = place->path, .ending = ending};
  place_each(place, "world-", ending, place_compare, &newest);
  return newest;
}

/* A whole file in memory. */
typedef struct file_bytes {
  unsigned char *bytes;
  size_t count;
} file_bytes;

static inline file_bytes file_read(const char *path) {
  struct stat status;
  int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  cr_assert(descriptor >= 0 && fstat(descriptor, &status) == 0, "cannot read '%s'", path);
  file_bytes file = {.bytes = malloc((size_t)status.st_size + 1), .count = (size_t)status.st_size};
  for (size_t done = 0; done < file.count;) {
    ssize_t some = pread(descriptor, file.bytes + done, file.count - done, (off_t)done);
    cr_assert_gt(some, 0);
    done += (size_t)some;
  }
  close(descriptor);
  return file;
}

static inline void file_write(const char *path, const void *bytes, size_t count) {
  int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  cr_assert_geq(descriptor, 0, "cannot write '%s'", path);
  for (size_t done = 0; done < count;) {
    ssize_t some = write(descriptor, (const char *)bytes + done, count - done);
    cr_assert_gt(some, 0);
    done += (size_t)some;
  }
  close(descriptor);
}

/* Changes bytes of a file where they stand. */
static inline void file_change(const char *path, size_t at, const void *bytes, size_t count) {
  int descriptor = open(path, O_WRONLY | O_CLOEXEC);
  cr_assert_geq(descriptor, 0);
  cr_assert_eq(pwrite(descriptor, bytes, count, (off_t)at), (ssize_t)count);
  close(descriptor);
}

#endif

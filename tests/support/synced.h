/* tests/support/synced.h - sees what the processes of a test bring to the disk, and cuts files to that, as a power
 * failure may. The test is linked with --wrap for the calls below.
 *
 * Of a file there stays what stood in it when it was last synced, and the file itself only when its folder was synced
 * after it got the name that it has. What is removed is gone at once: the worst that a disk may do. So two things are
 * looked at whenever they happen, as a failure in the next moment would show them: a snapshot that gets its name has
 * all of its bytes on the disk; and when a file goes with which a world could be brought back, another pair of a
 * snapshot and its record is on the disk, by name and content. */
#ifndef SYNCED_H
#define SYNCED_H

#include "support/journal_files.h"

#include <glob.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>

enum { SYNCED_FILES = 256 };

typedef struct synced_file {
  _Atomic uint64_t inode; /* 0 = not in use */
  _Atomic uint64_t bytes; /* that a sync had brought to the disk */
  _Atomic bool named;     /* and its name was there when its folder was synced */
} synced_file;

/* Shared by all processes of the test. */
typedef struct synced_state {
  synced_file files[SYNCED_FILES];
  _Atomic uint32_t wrongs; /* of the two things above */
  char wrong[1024];        /* the first */
} synced_state;

static synced_state *synced;

int __real_fdatasync(int descriptor);
int __real_fsync(int descriptor);
int __real_renameat(int old_folder, const char *old, int new_folder, const char *new);
int __real_unlinkat(int folder, const char *path, int flags);
int __wrap_fdatasync(int descriptor);
int __wrap_fsync(int descriptor);
int __wrap_renameat(int old_folder, const char *old, int new_folder, const char *new);
int __wrap_unlinkat(int folder, const char *path, int flags);

static inline synced_file *synced_find(uint64_t inode) {
  for (uint32_t i = 0; i < SYNCED_FILES; i++) {
    uint64_t none = 0;
    if (atomic_load(&synced->files[i].inode) == inode) return &synced->files[i];
    if (atomic_compare_exchange_strong(&synced->files[i].inode, &none, inode) || none == inode)
      return &synced->files[i];
  }
  return NULL;
}

static inline void synced_complain(const char *what, const char *path) {
  if (atomic_fetch_add(&synced->wrongs, 1) == 0)
    snprintf(synced->wrong, sizeof synced->wrong, "%s: %.512s", what, path);
}

static inline void synced_folder(int descriptor) {
  int own = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *folder = own >= 0 ? fdopendir(own) : NULL;
  for (struct dirent *entry; folder && (entry = readdir(folder));) {
    synced_file *file = synced_find(entry->d_ino);
    if (file) atomic_store(&file->named, true);
  }
  if (folder) closedir(folder);
}

static inline void synced_note(int descriptor, const struct stat *before) {
  if (!synced) return;
  if (S_ISDIR(before->st_mode)) {
    synced_folder(descriptor);
    return;
  }
  synced_file *file = synced_find(before->st_ino);
  uint64_t bytes = (uint64_t)before->st_size;
  if (file && atomic_load(&file->bytes) < bytes) atomic_store(&file->bytes, bytes);
}

/* What stood in the file before the call is on the disk after it; the disk is slow. */
int __wrap_fdatasync(int descriptor) {
  struct stat before = {0};
  fstat(descriptor, &before);
  usleep(3000);
  int result = __real_fdatasync(descriptor);
  if (result == 0) synced_note(descriptor, &before);
  return result;
}

int __wrap_fsync(int descriptor) {
  struct stat before = {0};
  fstat(descriptor, &before);
  int result = __real_fsync(descriptor);
  if (result == 0) synced_note(descriptor, &before);
  return result;
}

/* --------------------------------------------------------------------------------------------------------- names */

static inline bool synced_ends(const char *path, const char *ending) {
  size_t length = strlen(path), end = strlen(ending);
  return length >= end && strcmp(path + length - end, ending) == 0;
}

/* Whether a file is there after a power failure; `whole`: with all of its bytes, else with some. */
static inline bool synced_stays(const char *path, bool whole) {
  struct stat status;
  if (stat(path, &status)) return false;
  const synced_file *file = synced_find(status.st_ino);
  return file && atomic_load(&file->named) && atomic_load(&file->bytes) >= (whole ? (uint64_t)status.st_size : 1);
}

/* Whether a snapshot and its record are. */
static inline bool synced_is_pair(const char *snapshot) {
  char record[PLACE_BYTES];
  snprintf(record, sizeof record, "%.*s.journal", (int)(strlen(snapshot) - strlen(".snapshot")), snapshot);
  return synced_stays(snapshot, true) && synced_stays(record, false);
}

/* A file goes: what the pair would be that it is of; "" = it is of none. */
static inline void synced_pair_of(const char *path, char snapshot[PLACE_BYTES]) {
  *snapshot = '\0';
  if (strstr(path, "-incident-") || !(synced_ends(path, ".snapshot") || synced_ends(path, ".journal"))) return;
  snprintf(snapshot, PLACE_BYTES, "%.*s.snapshot", (int)(strrchr(path, '.') - path), path);
}

/* Another pair than that. */
static inline bool synced_has_other(const char *snapshot) {
  char pattern[PLACE_BYTES + 32];
  glob_t found = {0};
  bool any = false;
  snprintf(pattern, sizeof pattern, "%.*s-[0-9]*.snapshot", (int)(strrchr(snapshot, '-') - snapshot), snapshot);
  if (glob(pattern, 0, NULL, &found) == 0)
    for (size_t i = 0; i < found.gl_pathc && !any; i++)
      any = strcmp(found.gl_pathv[i], snapshot) != 0 && synced_is_pair(found.gl_pathv[i]);
  globfree(&found);
  return any;
}

static inline void synced_goes(const char *path) {
  char snapshot[PLACE_BYTES];
  synced_pair_of(path, snapshot);
  if (*snapshot && synced_is_pair(snapshot) && !synced_has_other(snapshot))
    synced_complain("it goes, and nothing else is on the disk", path);
}

/* Nothing is known of the next file that the system gives the same number. */
static inline void synced_forget(const char *path) {
  struct stat status;
  if (stat(path, &status)) return;
  synced_file *file = synced_find(status.st_ino);
  if (file) atomic_store(&file->bytes, 0);
  if (file) atomic_store(&file->named, false);
}

int __wrap_unlinkat(int folder, const char *path, int flags) {
  if (synced) synced_goes(path);
  if (synced) synced_forget(path);
  return __real_unlinkat(folder, path, flags);
}

int __wrap_renameat(int old_folder, const char *old, int new_folder, const char *new) {
  struct stat status;
  if (synced) synced_goes(old);
  bool known = synced && stat(old, &status) == 0;
  synced_file *file = known ? synced_find(status.st_ino) : NULL;
  if (file && synced_ends(new, ".snapshot") && atomic_load(&file->bytes) < (uint64_t)status.st_size)
    synced_complain("it gets its name before its bytes are on the disk", new);
  if (file) atomic_store(&file->named, false);
  return __real_renameat(old_folder, old, new_folder, new);
}

/* -------------------------------------------------------------------------------------------------------- failures */

/* Begins to watch, for this process and those that it forks. */
static inline void synced_begin(void) {
  if (!synced) synced = mmap(NULL, sizeof *synced, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  cr_assert_neq((void *)synced, MAP_FAILED);
  memset((void *)synced, 0, sizeof *synced);
}

static inline void synced_cut_one(const char *path, void *user) {
  struct stat status;
  (void)user;
  cr_assert_eq(stat(path, &status), 0);
  const synced_file *file = synced_find(status.st_ino);
  cr_assert_not_null(file);
  if (!file->named)
    unlink(path);
  else
    cr_assert_eq(truncate(path, (off_t)file->bytes), 0);
}

/* The power fails. */
static inline void synced_cut(const journal_place *place) {
  cr_expect_eq(synced->wrongs, 0, "%u times; first: %s", synced->wrongs, synced->wrong);
  place_each(place, "", "", synced_cut_one, NULL);
}

#endif

/* tests/support/synced.h - sees what the processes of a test bring to the disk, and cuts files to that. The test is
 * linked with --wrap for the calls below. A file that was renamed or made stays only when its folder was synced after.
 */
#ifndef SYNCED_H
#define SYNCED_H

#include "support/journal_files.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>

enum { SYNCED_FILES = 256 };

typedef struct synced_file {
  _Atomic uint64_t inode; /* 0 = not in use */
  _Atomic uint64_t bytes; /* that a sync had brought to the disk */
  _Atomic bool named;     /* and its name was there when its folder was synced */
} synced_file;

static synced_file *synced_files;

int __real_fdatasync(int descriptor);
int __real_fsync(int descriptor);
int __wrap_fdatasync(int descriptor);
int __wrap_fsync(int descriptor);

static inline synced_file *synced_find(uint64_t inode) {
  for (uint32_t i = 0; i < SYNCED_FILES; i++) {
    uint64_t none = 0;
    if (atomic_load(&synced_files[i].inode) == inode) return &synced_files[i];
    if (atomic_compare_exchange_strong(&synced_files[i].inode, &none, inode) || none == inode) return &synced_files[i];
  }
  return NULL;
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
  if (!synced_files) return;
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

/* Begins to watch, for this process and those that it forks. */
static inline void synced_begin(void) {
  size_t bytes = SYNCED_FILES * sizeof *synced_files;
  if (!synced_files) synced_files = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  cr_assert_neq((void *)synced_files, MAP_FAILED);
  memset((void *)synced_files, 0, bytes);
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
  place_each(place, "", "", synced_cut_one, NULL);
}

#endif

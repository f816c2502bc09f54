/* files.c - the names of a journal's files, and what is done to them. */
#include "base/error.h"
#include "journal/journal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

const char *journal_file_name(const char *path, const char *what, uint64_t number, const char *ending,
                              journal_name name) {
  snprintf(name, JOURNAL_NAME_BYTES, "%s-%s%" PRIu64 "%s", path, what, number, ending);
  return name;
}

/* The number in BASE-what-NUMBER.ending; 0 = the name is another. */
static uint64_t files_number_in(const char *name, const char *base, const char *what, const char *ending) {
  size_t before = strlen(base);
  char *end;
  if (strncmp(name, base, before) || name[before] != '-' || strncmp(name + before + 1, what, strlen(what))) return 0;
  const char *digits = name + before + 1 + strlen(what);
  if (*digits < '1' || *digits > '9') return 0;
  errno = 0;
  uint64_t number = strtoull(digits, &end, 10);
  return errno || strcmp(end, ending) ? 0 : number;
}

/* Keeps the greatest, in descending order. */
static void add_number(journal_numbers *numbers, uint64_t number) {
  enum { MOST = sizeof numbers->numbers / sizeof *numbers->numbers };
  uint32_t at = numbers->count < MOST ? numbers->count++ : MOST;
  for (; at > 0 && numbers->numbers[at - 1] < number; at--)
    if (at < MOST) numbers->numbers[at] = numbers->numbers[at - 1];
  if (at < MOST) numbers->numbers[at] = number;
}

muster_result journal_files_list(const char *path, const char *what, const char *ending, journal_numbers *numbers) {
  char folder[JOURNAL_PATH_BYTES], base[JOURNAL_PATH_BYTES];
  snprintf(folder, sizeof folder, "%s", path);
  snprintf(base, sizeof base, "%s", path);
  numbers->count = 0;
  const char *name = basename(base);
  int descriptor = files_open_folder(dirname(folder)); /* as a confined process may, too */
  DIR *entries = descriptor >= 0 ? fdopendir(descriptor) : NULL;
  if (!entries && descriptor >= 0) close(descriptor);
  if (!entries) return error_set(errno == ENOENT ? MUSTER_E_STALE : MUSTER_E_SYSTEM, "%s: %s", path, strerror(errno));
  for (struct dirent *entry; (entry = readdir(entries));) {
    uint64_t number = files_number_in(entry->d_name, name, what, ending);
    if (number) add_number(numbers, number);
  }
  closedir(entries);
  return numbers->count ? MUSTER_OK : error_set(MUSTER_E_STALE, "%s: there is no journal", path);
}

muster_result journal_file_map(const char *name, journal_bytes *bytes) {
  struct stat about;
  *bytes = (journal_bytes){.count = 0};
  int descriptor = files_open_regular(AT_FDCWD, name, O_RDONLY | O_NOFOLLOW, 0);
  if (descriptor < 0)
    return error_set(errno == ENOENT ? MUSTER_E_STALE : muster_last_result(), "%s: %s", name, muster_last_error());
  void *place = MAP_FAILED;
  bool looked = fstat(descriptor, &about) == 0;
  if (looked && about.st_size > 0)
    place = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, descriptor, 0);
  else if (looked)
    errno = ENODATA;
  muster_result result = MUSTER_OK;
  if (place == MAP_FAILED && errno == ENODATA)
    result = error_set(MUSTER_E_INPUT, "%s: it is empty", name);
  else if (place == MAP_FAILED)
    result = error_set(MUSTER_E_SYSTEM, "%s: %s", name, strerror(errno));
  if (!result) *bytes = (journal_bytes){place, (size_t)about.st_size};
  close(descriptor);
  return result;
}

/* There is more address space than any record grows to. */
static const size_t growing_bytes = (size_t)1 << 36;

muster_result journal_file_map_growing(const char *name, journal_bytes *bytes) {
  struct stat about = {0};
  *bytes = (journal_bytes){.count = 0};
  int descriptor = files_open_regular(AT_FDCWD, name, O_RDONLY | O_NOFOLLOW, 0);
  if (descriptor < 0)
    return error_set(errno == ENOENT ? MUSTER_E_STALE : muster_last_result(), "%s: %s", name, muster_last_error());
  void *place =
      fstat(descriptor, &about) ? MAP_FAILED : mmap(NULL, growing_bytes, PROT_READ, MAP_SHARED, descriptor, 0);
  muster_result result = place == MAP_FAILED ? error_set(MUSTER_E_SYSTEM, "%s: %s", name, strerror(errno)) : MUSTER_OK;
  if (!result) *bytes = (journal_bytes){place, (size_t)about.st_size};
  close(descriptor);
  return result;
}

void journal_file_forget(const journal_bytes *bytes, size_t before) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  madvise((void *)(uintptr_t)bytes->bytes, before / page * page, MADV_DONTNEED);
}

void journal_file_unmap_growing(journal_bytes *bytes) {
  if (bytes->bytes) munmap((void *)(uintptr_t)bytes->bytes, growing_bytes);
  *bytes = (journal_bytes){.count = 0};
}

void journal_file_unmap(journal_bytes *bytes) {
  if (bytes->count) munmap((void *)(uintptr_t)bytes->bytes, bytes->count);
  *bytes = (journal_bytes){.count = 0};
}

int journal_file_create(const char *name) {
  int descriptor = files_open_regular(AT_FDCWD, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
  if (descriptor < 0) {
    char reason[160];
    snprintf(reason, sizeof reason, "%s", muster_last_error());
    error_set(MUSTER_E_SYSTEM, "%s: %s", name, reason);
  }
  return descriptor;
}

bool journal_file_write(int descriptor, const void *bytes, size_t count) {
  const unsigned char *from = bytes;
  while (count) {
    ssize_t written = write(descriptor, from, count);
    if (written < 0 && errno == EINTR) continue;
    if (written == 0) errno = EIO;
    if (written <= 0) return false;
    from += written;
    count -= (size_t)written;
  }
  return true;
}

/* By the younger calls, as base/files.c opens: a confined process may make them when its supervisor has died. */
static void remove_file(const char *name) {
  unlinkat(AT_FDCWD, name, 0);
}

void journal_files_remove(const char *path, uint64_t number) {
  static const char *const endings[] = {".snapshot", ".snapshot.new", ".journal", ".replaying"};
  journal_name name;
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
    remove_file(journal_file_name(path, "", number, endings[i], name));
}

/* -------------------------------------------------------------------------------------------------------- incidents */

static bool is_of_crash(const char *path, uint64_t number) {
  journal_name name;
  journal_bytes file;
  record_extent extent;
  if (journal_file_map(journal_file_name(path, "", number, ".journal", name), &file)) return false;
  bool crashed = records_look(file.bytes, file.count, &extent, NULL, NULL) || !extent.ended;
  journal_file_unmap(&file);
  return crashed && access(journal_file_name(path, "", number, ".snapshot", name), F_OK) == 0;
}

static void keep_incident(const char *path, uint64_t number, uint32_t incidents_max) {
  static const char *const endings[] = {".snapshot", ".journal"};
  journal_numbers kept;
  journal_name from, to;
  uint64_t next = journal_files_list(path, "incident-", ".journal", &kept) ? 1 : kept.numbers[0] + 1;
  for (size_t i = 0; i < 2; i++)
    renameat(AT_FDCWD, journal_file_name(path, "", number, endings[i], from), AT_FDCWD,
             journal_file_name(path, "incident-", next, endings[i], to));
  for (uint32_t k = incidents_max ? incidents_max - 1 : 0; k < kept.count; k++)
    for (size_t i = 0; i < 2; i++) remove_file(journal_file_name(path, "incident-", kept.numbers[k], endings[i], to));
}

void journal_files_retire(const char *path, uint64_t below, uint32_t incidents_max) {
  static const char *const endings[] = {".snapshot", ".snapshot.new", ".journal"};
  bool kept = false;
  for (size_t e = 0; e < sizeof endings / sizeof *endings; e++) {
    journal_numbers numbers;
    if (journal_files_list(path, "", endings[e], &numbers)) continue;
    for (uint32_t i = 0; i < numbers.count; i++) {
      if (numbers.numbers[i] >= below) continue;
      if (incidents_max && !kept && is_of_crash(path, numbers.numbers[i])) {
        keep_incident(path, numbers.numbers[i], incidents_max);
        kept = true;
      }
      journal_files_remove(path, numbers.numbers[i]);
    }
  }
}

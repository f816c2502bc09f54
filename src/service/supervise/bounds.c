#include "service/supervise/bounds.h"

#include "base/cgroups.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { PROC_PATH_BYTES = 320, BLOCK_BYTES = 512, KIB = 1024 };

static DIR *open_proc(pid_t process, const char *part) {
  char path[PROC_PATH_BYTES];
  snprintf(path, sizeof path, "/proc/%d/%s", (int)process, part);
  return opendir(path);
}

static FILE *open_proc_file(pid_t process, const char *part) {
  char path[PROC_PATH_BYTES];
  snprintf(path, sizeof path, "/proc/%d/%s", (int)process, part);
  return fopen(path, "re");
}

/* ---------------------------------------------------------------------------------------------------------- threads */

/* Calls `take` for each child of the process, by whichever thread it was made. */
static void each_copy(pid_t process, void (*take)(pid_t copy, void *user), void *user) {
  DIR *threads = open_proc(process, "task");
  for (const struct dirent *thread; threads && (thread = readdir(threads)) != NULL;) {
    char name[PROC_PATH_BYTES - 32];
    int copy;
    if (*thread->d_name == '.') continue;
    snprintf(name, sizeof name, "task/%s/children", thread->d_name);
    FILE *file = open_proc_file(process, name);
    while (file && fscanf(file, "%d", &copy) == 1) take((pid_t)copy, user);
    if (file) fclose(file);
  }
  if (threads) closedir(threads);
}

static void count_one(pid_t copy, void *user) {
  (void)copy;
  ++*(uint32_t *)user;
}

uint32_t bounds_count_copies(pid_t process) {
  uint32_t count = 0;
  each_copy(process, count_one, &count);
  return count;
}

bool bounds_has_thread(pid_t process, pid_t thread) {
  char path[PROC_PATH_BYTES];
  snprintf(path, sizeof path, "/proc/%d/task/%d", (int)process, (int)thread);
  return access(path, F_OK) == 0;
}

/* ----------------------------------------------------------------------------------------------------------- memory */

/* The line `name` of /proc/PID/status, in kB or a count; 0 = it has none, as a process that ended has. */
static uint64_t bounds_read_line(FILE *file, const char *name) {
  char line[256];
  size_t length = strlen(name);
  rewind(file);
  while (fgets(line, sizeof line, file))
    if (strncmp(line, name, length) == 0) return strtoull(line + length, NULL, 10);
  return 0;
}

uint32_t bounds_count_threads(pid_t process) {
  FILE *file = open_proc_file(process, "status");
  if (!file) return 0;
  uint32_t threads = (uint32_t)bounds_read_line(file, "Threads:");
  fclose(file);
  return threads;
}

/* Files that have no name: what lies in memory counts as memory, the rest as disk. They are as many as the limit of
 * open files lets be. */
static void add_nameless(pid_t process, bounds_use *use) {
  DIR *descriptors = open_proc(process, "fd");
  struct stat status;
  for (const struct dirent *entry; descriptors && (entry = readdir(descriptors)) != NULL;) {
    char link[64] = "";
    if (*entry->d_name == '.' || fstatat(dirfd(descriptors), entry->d_name, &status, 0) || !S_ISREG(status.st_mode) ||
        status.st_nlink > 0)
      continue;
    ssize_t length = readlinkat(dirfd(descriptors), entry->d_name, link, sizeof link - 1);
    bool memory = length > 0 && strncmp(link, "/memfd:", 7) == 0;
    *(memory ? &use->memory_bytes : &use->hidden_bytes) += (uint64_t)status.st_blocks * BLOCK_BYTES;
  }
  if (descriptors) closedir(descriptors);
}

static bool add_process(pid_t process, bounds_use *use) {
  FILE *file = open_proc_file(process, "status");
  if (!file) return false;
  use->memory_bytes +=
      KIB * (bounds_read_line(file, "VmRSS:") + bounds_read_line(file, "VmSwap:") + bounds_read_line(file, "VmPTE:"));
  use->threads += (uint32_t)bounds_read_line(file, "Threads:");
  fclose(file);
  add_nameless(process, use);
  return true;
}

/* What a copy still shares with its world: all that neither has written since. */
static uint64_t shared_bytes(pid_t copy) {
  FILE *file = open_proc_file(copy, "smaps_rollup");
  if (!file) return 0;
  uint64_t shared = KIB * (bounds_read_line(file, "Shared_Clean:") + bounds_read_line(file, "Shared_Dirty:"));
  fclose(file);
  return shared;
}

static void add_copy(pid_t copy, void *user) {
  bounds_use *use = user;
  if (use->copies++ <= COPIES_MAX) add_process(copy, use);
}

static void take_shared(pid_t copy, void *user) {
  bounds_use *use = user;
  uint64_t shared = shared_bytes(copy);
  use->memory_bytes -= shared < use->memory_bytes ? shared : use->memory_bytes;
}

bool bounds_read(pid_t process, uint64_t memory_most, bounds_use *use) {
  *use = (bounds_use){0};
  if (!add_process(process, use)) return false;
  each_copy(process, add_copy, use);
  if (use->memory_bytes > memory_most && use->copies && use->copies <= COPIES_MAX) each_copy(process, take_shared, use);
  return true;
}

/* ----------------------------------------------------------------------------------------------------------- usual */

uint64_t bounds_usual_memory(void) {
  uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE), group = cgroups_memory("");
  return (machine < group ? machine : group) / 4 * 3;
}

uint64_t bounds_usual_disk(const char *folder) {
  struct statvfs status;
  return statvfs(folder, &status) ? 0 : (uint64_t)status.f_blocks * status.f_frsize / 4;
}

/* journals_files.c - the names of a journal's files. */
#include "service/journals_pieces.h"

#include "service/log.h"
#include "service/supervise/orders.h"

#include "base/error.h"
#include "base/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ASIDE_MAX = 1000, ASIDE_BYTES = 32 };

muster_result journals_check_folder(const char *folder) {
  struct stat status;
  if (!*folder) return MUSTER_OK;
  if (stat(folder, &status)) return error_set(MUSTER_E_INPUT, "%s: %s", folder, strerror(errno));
  if (S_ISDIR(status.st_mode)) return MUSTER_OK;
  return error_set(MUSTER_E_INPUT, "%s: it is no folder", folder);
}

static const char *name_in(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

bool journals_path(const struct settings *settings, const char *world, char path[JOURNALS_PATH_BYTES]) {
  if (!*settings->snapshot_file) return false;
  if (*settings->journal_folder)
    snprintf(path, JOURNALS_PATH_BYTES, "%s/%s.%s", settings->journal_folder, name_in(settings->snapshot_file), world);
  else
    snprintf(path, JOURNALS_PATH_BYTES, "%s.%s", settings->snapshot_file, world);
  return true;
}

/* ---------------------------------------------------------------------------------------------------- in the folder */

/* The folder of `path`, open to be read; -1 when there is none. */
static DIR *open_folder_of(const char *path) {
  char folder[JOURNALS_PATH_BYTES];
  int length = (int)(name_in(path) - path);
  snprintf(folder, sizeof folder, "%.*s", length ? length : 1, length ? path : ".");
  int descriptor = files_open_folder(folder);
  DIR *opened = descriptor >= 0 ? fdopendir(descriptor) : NULL;
  if (!opened && descriptor >= 0) close(descriptor);
  return opened;
}

/* The end of a file's name behind `name`, a dash and what else comes before the number; null when it is another's. */
static const char *ending_of(const char *file, const char *name, const char *before) {
  size_t length = strlen(name), more = strlen(before);
  if (strncmp(file, name, length) != 0 || strncmp(file + length, before, more) != 0) return NULL;
  const char *number = file + length + more, *end = number + strspn(number, "0123456789");
  return end > number ? end : NULL;
}

static bool is_of_journal(const char *file, const char *name, bool *replaying) {
  const char *end = ending_of(file, name, "-");
  *replaying = end && strcmp(end, ".replaying") == 0;
  return end && (*replaying || strcmp(end, ".snapshot") == 0 || strcmp(end, ".journal") == 0);
}

uint32_t journals_count_incidents(const char *path, uint64_t *newest) {
  static const char before[] = "-incident-";
  uint32_t count = 0;
  *newest = 0;
  DIR *folder = open_folder_of(path);
  for (const struct dirent *entry; folder && (entry = readdir(folder)) != NULL;) {
    const char *end = ending_of(entry->d_name, name_in(path), before);
    if (!end || strcmp(end, ".journal") != 0) continue;
    uint64_t number = strtoul(entry->d_name + strlen(name_in(path)) + strlen(before), NULL, 10);
    if (number > *newest) *newest = number;
    count++;
  }
  if (folder) closedir(folder);
  return count;
}

static void put_file_aside(int folder, const char *file, const char *what) {
  char aside[NAME_MAX + ASIDE_BYTES];
  int problem = EEXIST;
  for (int i = 1; i <= ASIDE_MAX && problem == EEXIST; i++) {
    snprintf(aside, sizeof aside, "%s.%s-%d", file, what, i);
    problem = renameat2(folder, file, folder, aside, RENAME_NOREPLACE) ? errno : 0;
  }
  if (problem)
    log_line(MUSTER_LOG_ERROR, "%s cannot be kept aside: %s", file, strerror(problem));
  else
    log_line(MUSTER_LOG_WARNING, "%s is kept as %s", file, aside);
}

/* Removes what says that a journal's frames are being run again; with `what` puts its other files aside. Names that are
 * made meanwhile may be found, too: they are none of the journal's. */
static bool clear(const char *path, const char *what) {
  bool any = false, replaying;
  DIR *folder = open_folder_of(path);
  for (const struct dirent *entry; folder && (entry = readdir(folder)) != NULL;) {
    char file[NAME_MAX + 1];
    if (!is_of_journal(entry->d_name, name_in(path), &replaying)) continue;
    snprintf(file, sizeof file, "%s", entry->d_name);
    if (replaying) unlinkat(dirfd(folder), file, 0);
    if (!replaying && what) put_file_aside(dirfd(folder), file, what);
    any = true;
  }
  if (folder) closedir(folder);
  return any;
}

bool journals_put_aside(const char *path, const char *what) {
  return clear(path, what);
}

void journals_cut_short(const struct settings *settings) {
  char path[JOURNALS_PATH_BYTES];
  for (uint32_t i = 0; i < settings->world_count; i++)
    if (journals_path(settings, settings->worlds[i].name, path)) clear(path, NULL);
}

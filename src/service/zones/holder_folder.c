/* holder_folder.c - which files of a zone this node has, and what is noted beside them. */
#include "service/log.h"
#include "service/zones/holder_parts.h"

#include "base/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int stored_create_file(const char *name) {
  return files_open_regular(AT_FDCWD, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
}

/* Calls back for each file of the zone's journal: the name behind the path, such as "-7.snapshot". */
static void each_file(const char *path, void (*each)(const char *name, const char *rest, void *user), void *user) {
  char folder[JOURNALS_PATH_BYTES], base[JOURNALS_PATH_BYTES], name[JOURNALS_PATH_BYTES + 256];
  snprintf(folder, sizeof folder, "%s", path);
  snprintf(base, sizeof base, "%s", path);
  const char *own = basename(base), *in = dirname(folder);
  size_t length = strlen(own);
  DIR *entries = opendir(in);
  if (!entries) return;
  for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
    if (strncmp(entry->d_name, own, length) != 0 || entry->d_name[length] != '-') continue;
    snprintf(name, sizeof name, "%s/%s", in, entry->d_name);
    each(name, entry->d_name + length, user);
  }
  closedir(entries);
}

static void take_file_number(const char *name, const char *rest, void *user) {
  uint64_t *newest = user, number;
  char ending[32];
  (void)name;
  if (sscanf(rest, "-%" SCNu64 "%31s", &number, ending) == 2 && strcmp(ending, ".snapshot") == 0 && number > *newest)
    *newest = number;
}

bool stored_newest(const struct holding *holding, uint64_t *number) {
  *number = 0;
  each_file(holding->path, take_file_number, number);
  return *number > 0;
}

/* Incidents stay, for people. */
static void remove_past(const char *name, const char *rest, void *user) {
  (void)user;
  if (rest[1] >= '0' && rest[1] <= '9') unlink(name);
}

void stored_remove(const struct holding *holding) {
  each_file(holding->path, remove_past, NULL);
}

/* ---------------------------------------------------------------------------------------------------------- partial */

static const char *partial_name(const struct holding *holding, char name[JOURNALS_PATH_BYTES + 64]) {
  snprintf(name, JOURNALS_PATH_BYTES + 64, "%s.partial", holding->path);
  return name;
}

/* Files that are being brought lack what was safe: until they are whole, a file beside them says so. */
bool stored_note_partial(const struct holding *holding) {
  char name[JOURNALS_PATH_BYTES + 64];
  int file = stored_create_file(partial_name(holding, name));
  if (file < 0) log_line(MUSTER_LOG_ERROR, "world %s: %s: %s", holding->process->name, name, strerror(errno));
  if (file >= 0) close(file);
  return file >= 0;
}

bool stored_are_partial(const struct holding *holding) {
  char name[JOURNALS_PATH_BYTES + 64];
  return access(partial_name(holding, name), F_OK) == 0;
}

void stored_are_whole(const struct holding *holding) {
  char name[JOURNALS_PATH_BYTES + 64];
  unlink(partial_name(holding, name));
}

static void find_replaying(const char *name, const char *rest, void *user) {
  bool *found = user;
  const char *ending = strrchr(name, '.');
  (void)rest;
  *found = *found || (ending && strcmp(ending, ".replaying") == 0);
}

bool stored_are_replaying(const struct holding *holding) {
  bool found = false;
  each_file(holding->path, find_replaying, &found);
  return found;
}

/* ------------------------------------------------------------------------------------------------------------ epoch */

void stored_read_boot(char boot[LAND_BOOT_BYTES]) {
  int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  ssize_t count = file >= 0 ? read(file, boot, LAND_BOOT_BYTES - 1) : 0;
  if (file >= 0) close(file);
  boot[count > 0 ? count : 0] = '\0';
  boot[strcspn(boot, "\n")] = '\0';
}

/* The epoch in which this node had the zone last, as it noted beside the files; 0 = never. And whether that was since
 * the machine was started. */
uint64_t stored_read_epoch(const struct holding *holding, bool *this_boot) {
  char name[JOURNALS_PATH_BYTES + 64], text[LAND_BOOT_BYTES + 32] = "", boot[LAND_BOOT_BYTES],
                                                              noted[LAND_BOOT_BYTES] = "";
  uint64_t epoch = 0;
  *this_boot = false;
  snprintf(name, sizeof name, "%s.epoch", holding->path);
  int file = files_open_regular(AT_FDCWD, name, O_RDONLY | O_NOFOLLOW, 0);
  if (file < 0) return 0;
  ssize_t count = read(file, text, sizeof text - 1);
  close(file);
  stored_read_boot(boot);
  if (count > 0) sscanf(text, "%" SCNu64 " %39s", &epoch, noted);
  *this_boot = *boot && strcmp(boot, noted) == 0;
  return epoch;
}

void stored_write_epoch(const struct holding *holding) {
  char name[JOURNALS_PATH_BYTES + 64], text[LAND_BOOT_BYTES + 32], boot[LAND_BOOT_BYTES];
  stored_read_boot(boot);
  snprintf(name, sizeof name, "%s.epoch", holding->path);
  int length = snprintf(text, sizeof text, "%" PRIu64 " %s\n", holding->lease.epoch, boot),
      file = stored_create_file(name);
  if (file < 0 || write(file, text, (size_t)length) != length)
    log_line(MUSTER_LOG_WARNING, "world %s: %s: %s", holding->process->name, name, strerror(errno));
  if (file >= 0) close(file);
}

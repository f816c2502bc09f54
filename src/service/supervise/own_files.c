#include "service/supervise/own_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NUMBERS = 4, BLOCK_BYTES = 512 };

typedef enum own_kind { OWN_OTHER = 0, OWN_NEEDED, OWN_JOURNAL, OWN_KEPT } own_kind;

/* ------------------------------------------------------------------------------------------------------------ names */

static void own_base(const char *path, char name[OWN_NAME_BYTES]) {
  const char *slash = strrchr(path, '/');
  snprintf(name, OWN_NAME_BYTES, "%.200s", slash ? slash + 1 : path);
}

void own_files_name(const struct settings *settings, const char *world, own_names *names) {
  own_base(settings->snapshot_file, names->snapshot);
  own_base(*settings->flight_file ? settings->flight_file : "flight", names->flight);
  names->journal[0] = '\0';
  if (*names->snapshot) snprintf(names->journal, OWN_NAME_BYTES, "%.200s.%s", names->snapshot, world);
}

/* What stands behind `name`; null when the file's is another, or there is none such. */
static const char *own_rest(const char *file, const char *name) {
  size_t length = strlen(name);
  return length && strncmp(file, name, length) == 0 ? file + length : NULL;
}

static bool is_one_of(const char *text, const char *const *texts) {
  for (; *texts; texts++)
    if (strcmp(text, *texts) == 0) return true;
  return false;
}

/* ".damaged-1": one word and a number. */
static bool is_aside(const char *ending) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyz-";
  size_t word = *ending == '.' ? strspn(ending + 1, letters) : 0;
  const char *number = ending + 1 + word;
  return word > 1 && number[-1] == '-' && *number && !number[strspn(number, "0123456789")];
}

/* Behind the journal's name. */
static own_kind kind_of_journal(const char *rest, uint64_t *number) {
  static const char *const notes[] = {".partial", ".epoch", ".lost", NULL}, *const files[] = {
                                                                                ".snapshot", ".snapshot.new",
                                                                                ".journal", ".replaying", NULL};
  char *ending;
  if (is_one_of(rest, notes)) return OWN_NEEDED;
  const char *digits = own_rest(rest, "-incident-");
  bool incident = digits != NULL;
  if (!incident) digits = own_rest(rest, "-");
  if (!digits || *digits < '0' || *digits > '9') return OWN_OTHER;
  *number = strtoull(digits, &ending, 10);
  if (is_one_of(ending, files)) return incident ? OWN_KEPT : OWN_JOURNAL;
  const char *aside = own_rest(ending, ".snapshot");
  if (!aside) aside = own_rest(ending, ".journal");
  return aside && is_aside(aside) ? OWN_KEPT : OWN_OTHER;
}

static own_kind own_kind_of(const char *file, const own_names *names, uint64_t *number) {
  static const char *const snapshots[] = {"", ".previous", ".new", ".linked", ".lock", NULL}, *const recorders[] = {
                                                                                                  "", ".new", NULL};
  const char *rest = own_rest(file, names->journal);
  own_kind kind = rest ? kind_of_journal(rest, number) : OWN_OTHER;
  if (kind) return kind;
  if ((rest = own_rest(file, names->snapshot)) && is_one_of(rest, snapshots)) return OWN_NEEDED;
  if (rest && is_aside(rest)) return OWN_KEPT;
  if ((rest = own_rest(file, names->flight)) && is_one_of(rest, recorders)) return OWN_NEEDED;
  return rest && strcmp(rest, ".damaged") == 0 ? OWN_KEPT : OWN_OTHER;
}

/* ------------------------------------------------------------------------------------------------------------- read */

/* What the newest numbers of a journal have; one that falls out of these is the module's. */
typedef struct own_journals {
  uint64_t numbers[NUMBERS], bytes[NUMBERS]; /* the greatest first; 0 bytes = no more */
} own_journals;

static void add_journal(own_journals *journals, own_use *use, uint64_t number, uint64_t bytes) {
  uint32_t at = 0;
  while (at < NUMBERS && journals->bytes[at] && journals->numbers[at] > number) at++;
  if (at == NUMBERS) {
    use->other_bytes += bytes;
    return;
  }
  if (!journals->bytes[at] || journals->numbers[at] != number) {
    use->other_bytes += journals->bytes[NUMBERS - 1];
    for (uint32_t i = NUMBERS - 1; i > at; i--) {
      journals->numbers[i] = journals->numbers[i - 1];
      journals->bytes[i] = journals->bytes[i - 1];
    }
    journals->numbers[at] = number;
    journals->bytes[at] = 0;
  }
  journals->bytes[at] += bytes;
}

void own_files_read(const char *folder, const own_names *names, uint32_t most, own_use *use) {
  own_journals journals = {0};
  DIR *entries = opendir(folder);
  struct stat status;
  *use = (own_use){0};
  for (const struct dirent *entry; entries && use->files <= most && (entry = readdir(entries)) != NULL;) {
    uint64_t number = 0;
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    use->files++;
    if (fstatat(dirfd(entries), entry->d_name, &status, AT_SYMLINK_NOFOLLOW)) continue;
    uint64_t bytes = (uint64_t)status.st_blocks * BLOCK_BYTES;
    own_kind kind = own_kind_of(entry->d_name, names, &number);
    if (kind == OWN_JOURNAL)
      add_journal(&journals, use, number, bytes);
    else
      *(kind == OWN_KEPT ? &use->kept_bytes : kind ? &use->needed_bytes : &use->other_bytes) += bytes;
  }
  if (entries) closedir(entries);
  for (uint32_t i = 0; i < NUMBERS; i++) use->needed_bytes += journals.bytes[i];
}

/* ----------------------------------------------------------------------------------------------------------- remove */

static bool is_before(const struct timespec *a, const struct timespec *b) {
  return a->tv_sec < b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec < b->tv_nsec);
}

/* A crash has left a snapshot and the record since. */
static void remove_other_half(int folder, const char *file) {
  char other[OWN_NAME_BYTES + 16];
  size_t length = strlen(file);
  bool snapshot = length > 9 && strcmp(file + length - 9, ".snapshot") == 0;
  if (!snapshot && (length <= 8 || strcmp(file + length - 8, ".journal") != 0)) return;
  snprintf(other, sizeof other, "%.*s%s", (int)(length - (snapshot ? 9 : 8)), file,
           snapshot ? ".journal" : ".snapshot");
  unlinkat(folder, other, 0);
}

bool own_files_remove_oldest(const char *folder, const own_names *names, char removed[OWN_NAME_BYTES]) {
  DIR *entries = opendir(folder);
  struct timespec oldest = {0};
  struct stat status;
  uint64_t number;
  bool found = false;
  for (const struct dirent *entry; entries && (entry = readdir(entries)) != NULL;) {
    if (own_kind_of(entry->d_name, names, &number) != OWN_KEPT || strlen(entry->d_name) >= OWN_NAME_BYTES) continue;
    if (fstatat(dirfd(entries), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) || S_ISDIR(status.st_mode)) continue;
    if (found && !is_before(&status.st_mtim, &oldest)) continue;
    found = true;
    oldest = status.st_mtim;
    snprintf(removed, OWN_NAME_BYTES, "%s", entry->d_name);
  }
  bool gone = found && unlinkat(dirfd(entries), removed, 0) == 0;
  if (gone) remove_other_half(dirfd(entries), removed);
  if (entries) closedir(entries);
  return gone;
}

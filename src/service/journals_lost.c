/* journals_lost.c - what a world has lost of its journals: kept in a file beside them, PATH.lost, until a person
 * acknowledges it. A restart, another journal and a snapshot change nothing about a loss. */
#include "service/journals_pieces.h"

#include "service/log.h"
#include "service/service.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LOST_BYTES = JOURNAL_REASON_BYTES + 128 };

static void lost_path(const hosted_world *world, char path[JOURNALS_PATH_BYTES + 8]) {
  snprintf(path, JOURNALS_PATH_BYTES + 8, "%s.lost", world->kept.path);
}

/* Takes over what the file says, or nothing. */
static void lost_parse(journal_lost *lost, const char *text) {
  journal_lost read = {0};
  int begin = 0;
  if (sscanf(text, "losses=%" SCNu64 " frames=%" SCNu64 " at_s=%" SCNu64 "\n%n", &read.losses, &read.frames, &read.at_s,
             &begin) < 3 ||
      !begin || !read.losses)
    return;
  snprintf(read.words, sizeof read.words, "%.*s", (int)strcspn(text + begin, "\n"), text + begin);
  *lost = read;
}

void journals_find_lost(const struct settings *settings, hosted_world *world) {
  char path[JOURNALS_PATH_BYTES + 8], text[LOST_BYTES + 1];
  if (!journals_path(settings, world->name, world->kept.path)) return;
  lost_path(world, path);
  int file = files_open_regular(AT_FDCWD, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC, 0);
  if (file < 0 && errno != ENOENT) log_line(MUSTER_LOG_WARNING, "%s: %s", path, muster_last_error());
  if (file < 0) return;
  ssize_t count = read(file, text, LOST_BYTES);
  close(file);
  text[count > 0 ? count : 0] = '\0';
  lost_parse(&world->kept.lost, text);
}

/* On the disk before the world answers anybody: who is told that all is well must not be told it by a crash. */
static bool lost_write(const char *path, const journal_lost *lost) {
  char text[LOST_BYTES];
  int length = snprintf(text, sizeof text, "losses=%" PRIu64 " frames=%" PRIu64 " at_s=%" PRIu64 "\n%s\n", lost->losses,
                        lost->frames, lost->at_s, lost->words);
  int file = files_open_regular(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) return false;
  bool good = write(file, text, (size_t)length) == length && fsync(file) == 0 && files_sync_folder_of(path);
  if (!good) error_set(MUSTER_E_SYSTEM, "%s", strerror(errno));
  close(file);
  return good;
}

/* A world may be opened several times at a start, and a start may end in a crash: the same loss counts once. */
void journals_lose(hosted_world *world, uint64_t frames, const char *format, ...) {
  journal_lost *lost = &world->kept.lost;
  char words[JOURNAL_REASON_BYTES], path[JOURNALS_PATH_BYTES + 8];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(words, sizeof words, format, arguments);
  va_end(arguments);
  for (char *at = words; *at; at++)
    if (*at == '\n') *at = ' ';
  if (strcmp(lost->words, words) == 0) return;
  memcpy(lost->words, words, sizeof words);
  lost->losses++;
  lost->frames += frames;
  lost->at_s = clock_real() / 1000000000u;
  log_line(MUSTER_LOG_ERROR, "world %s: %s. `muster ctl --world %s acknowledge` when that is known", world->name, words,
           world->name);
  lost_path(world, path);
  if (!lost_write(path, lost))
    log_line(MUSTER_LOG_ERROR, "world %s: the next start will not know of that loss: %s: %s", world->name, path,
             muster_last_error());
}

muster_result journals_acknowledge(hosted_world *world) {
  char path[JOURNALS_PATH_BYTES + 8];
  if (!world->kept.lost.losses) return MUSTER_OK;
  lost_path(world, path);
  if ((unlinkat(AT_FDCWD, path, 0) && errno != ENOENT) || !files_sync_folder_of(path))
    return error_set(MUSTER_E_SYSTEM, "%s cannot be removed for good: %s", path, strerror(errno));
  log_line(MUSTER_LOG_INFO, "world %s: it is known that %s", world->name, world->kept.lost.words);
  world->kept.lost = (journal_lost){0};
  return MUSTER_OK;
}

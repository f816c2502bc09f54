/* population_file.c - brings a file of NPC spawns into memory, whole. */
#include "scenarios/population_csv.h"

#include <errno.h>
#include <fcntl.h>
#include <muster/module.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static muster_result fail(const char *path, const char *reason) {
  return muster_module_fail(MUSTER_E_INPUT, "%s: %s", path, reason);
}

static muster_result fail_too_large(const char *path) {
  return muster_module_fail(MUSTER_E_INPUT, "%s: larger than %llu bytes", path,
                            (unsigned long long)POPULATION_FILE_MAX_BYTES);
}

/* Refuses early a file that cannot be read. */
static muster_result population_file_look(const char *path, int file) {
  struct stat status;
  if (fstat(file, &status)) return fail(path, strerror(errno));
  if (S_ISDIR(status.st_mode)) return fail(path, "is a directory; a CSV file of spawns is needed");
  if (!S_ISREG(status.st_mode) && !S_ISFIFO(status.st_mode)) return fail(path, "is neither a file nor a pipe");
  if ((uint64_t)status.st_size > POPULATION_FILE_MAX_BYTES) return fail_too_large(path);
  return MUSTER_OK;
}

static muster_result read_all(const char *path, int file, char **text, size_t *bytes) {
  size_t capacity = 0;
  for (ssize_t got = 1; got;) {
    if (*bytes == capacity) {
      capacity = capacity ? capacity * 2 : 65536;
      char *grown = realloc(*text, capacity);
      if (!grown) return muster_module_fail(MUSTER_E_MEMORY, "%s: out of memory", path);
      *text = grown;
    }
    got = read(file, *text + *bytes, capacity - *bytes);
    if (got < 0 && errno != EINTR) return fail(path, strerror(errno));
    if (got > 0) *bytes += (size_t)got;
    if (*bytes > POPULATION_FILE_MAX_BYTES) return fail_too_large(path);
  }
  return MUSTER_OK;
}

muster_result population_file_read(const char *path, char up_axis, population_rows *rows) {
  *rows = (population_rows){0};
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return fail(path, strerror(errno));
  char *text = NULL;
  size_t bytes = 0;
  muster_result result = population_file_look(path, file);
  if (!result) result = read_all(path, file, &text, &bytes);
  close(file);
  if (!result) result = population_csv_parse(path, text, bytes, up_axis, POPULATION_ROWS_MAX, rows);
  free(text);
  return result;
}

#include "scenarios/population_file.h"

#include <errno.h>
#include <fcntl.h>
#include <muster/module.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct file_text {
  char *text;
  size_t bytes, capacity;
} file_text;

static muster_result fail(const char *path, const char *reason) {
  return muster_module_fail(MUSTER_E_INPUT, "%s: %s", path, reason);
}

static muster_result fail_too_large(const char *path) {
  return muster_module_fail(MUSTER_E_INPUT, "%s: larger than %llu bytes", path,
                            (unsigned long long)POPULATION_FILE_MAX_BYTES);
}

/* Refuses early a file that cannot be read, and guesses the size of one that can. */
static muster_result population_file_look(const char *path, int file, size_t *guess_bytes) {
  struct stat status;
  if (fstat(file, &status)) return fail(path, strerror(errno));
  if (S_ISDIR(status.st_mode)) return fail(path, "is a directory; a CSV file of spawns is needed");
  if (!S_ISREG(status.st_mode) && !S_ISFIFO(status.st_mode)) return fail(path, "is neither a file nor a pipe");
  if ((uint64_t)status.st_size > POPULATION_FILE_MAX_BYTES) return fail_too_large(path);
  *guess_bytes = (size_t)status.st_size;
  return MUSTER_OK;
}

/* Room for one more byte than the file has, so that its end is seen without another allocation. */
static bool population_file_make_room(file_text *text, size_t guess_bytes) {
  if (text->bytes < text->capacity) return true;
  size_t capacity = text->capacity ? text->capacity * 2 : guess_bytes + 1;
  if (capacity < 4096) capacity = 4096;
  char *grown = realloc(text->text, capacity);
  if (!grown) return false;
  text->text = grown;
  text->capacity = capacity;
  return true;
}

static muster_result read_all(const char *path, int file, size_t guess_bytes, file_text *text) {
  for (;;) {
    if (!population_file_make_room(text, guess_bytes))
      return muster_module_fail(MUSTER_E_MEMORY, "%s: out of memory", path);
    ssize_t got = read(file, text->text + text->bytes, text->capacity - text->bytes);
    if (got == 0) return MUSTER_OK;
    if (got < 0 && errno != EINTR) return fail(path, strerror(errno));
    if (got > 0) text->bytes += (size_t)got;
    if (text->bytes > POPULATION_FILE_MAX_BYTES) return fail_too_large(path);
  }
}

muster_result population_file_read(const char *path, char up_axis, population_rows *rows) {
  *rows = (population_rows){0};
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return fail(path, strerror(errno));
  file_text text = {0};
  size_t guess_bytes = 0;
  muster_result result = population_file_look(path, file, &guess_bytes);
  if (!result) result = read_all(path, file, guess_bytes, &text);
  close(file);
  if (!result) result = population_csv_parse(path, text.text, text.bytes, up_axis, POPULATION_ROWS_MAX, rows);
  free(text.text);
  return result;
}

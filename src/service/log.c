#include "service/log.h"

#include "base/assert.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

enum { LINE_BYTES = 1024 };

static struct {
  uv_once_t once;
  uv_mutex_t mutex; /* guards: */
  muster_log_level level;
  bool journal; /* the journal reads standard error and takes a level before each line */
} log_state = {.once = UV_ONCE_INIT};

static void prepare(void) {
  uv_mutex_init(&log_state.mutex);
  log_state.journal = getenv("JOURNAL_STREAM") != NULL;
}

static bool wants(muster_log_level level) {
  uv_once(&log_state.once, prepare);
  uv_mutex_lock(&log_state.mutex);
  bool wanted = level >= log_state.level;
  uv_mutex_unlock(&log_state.mutex);
  return wanted;
}

void log_set_level(muster_log_level level) {
  ASSERT(level <= MUSTER_LOG_ERROR);
  uv_once(&log_state.once, prepare);
  uv_mutex_lock(&log_state.mutex);
  log_state.level = level;
  uv_mutex_unlock(&log_state.mutex);
}

static size_t begin_line(char line[LINE_BYTES], muster_log_level level) {
  static const char *const journal[] = {"<6>", "<4>", "<3>"}, *const words[] = {"", "warning: ", "error: "};
  int length = log_state.journal ? snprintf(line, LINE_BYTES, "%s", journal[level])
                                 : snprintf(line, LINE_BYTES, "musterd: %s", words[level]);
  return (size_t)length;
}

void log_line(muster_log_level level, const char *format, ...) {
  char line[LINE_BYTES];
  va_list arguments;
  if (!wants(level)) return;
  size_t begin = begin_line(line, level);
  va_start(arguments, format);
  vsnprintf(line + begin, sizeof line - begin - 1, format, arguments);
  va_end(arguments);
  size_t length = strlen(line);
  for (size_t i = begin; i < length; i++)
    if (line[i] == '\n' || line[i] == '\r') line[i] = ' ';
  line[length++] = '\n';
  if (write(STDERR_FILENO, line, length) < 0) return; /* there is no other place to report this */
}

static void write_named(muster_log_level level, const char *message, void *user) {
  if (user)
    log_line(level, "world %s: %s", (const char *)user, message);
  else
    log_line(level, "%s", message);
}

muster_log_sink log_sink_of(const char *name) {
  return (muster_log_sink){.write = write_named, .user = (void *)name};
}

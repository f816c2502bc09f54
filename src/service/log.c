#include "service/log.h"

#include "service/supervise/orders.h"

#include "base/assert.h"
#include "base/json.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

enum { LINE_BYTES = 1024, WHO_BYTES = 128, ESCAPED = 4 /* bytes that one becomes at most */ };

/* Who takes the lines. */
typedef enum log_form {
  LOG_TERMINAL,  /* or a file: each has its time */
  LOG_JOURNAL,   /* it has times itself, and takes a level before each line */
  LOG_SUPERVISOR /* of the process of a world: log_of_world() */
} log_form;

static struct {
  uv_once_t once;
  uv_mutex_t mutex; /* guards: */
  muster_log_level level;
  log_form form;
} log_state = {.once = UV_ONCE_INIT};

static void prepare(void) {
  uv_mutex_init(&log_state.mutex);
  log_state.form = orders_world() ? LOG_SUPERVISOR : getenv("JOURNAL_STREAM") ? LOG_JOURNAL : LOG_TERMINAL;
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

/* ------------------------------------------------------------------------------------------------------------ lines */

static const char *const marks[] = {"<6>", "<4>", "<3>"};

/* Whether a character of `count` bytes is shown as it is: one that moves the cursor, or turns the direction of what
 * follows, could make a line look like another one. */
static bool is_shown(const unsigned char *text, size_t count) {
  static const unsigned char hidden[][2][3] = {
      {{0xe2, 0x80, 0x8e}, {0xe2, 0x80, 0x8f}}, /* direction marks */
      {{0xe2, 0x80, 0xa8}, {0xe2, 0x80, 0xae}}, /* separators of lines, and embeddings */
      {{0xe2, 0x81, 0xa6}, {0xe2, 0x81, 0xa9}}, /* isolates */
  };
  if (count == 1) return *text == '\t' || (*text >= ' ' && *text != 0x7f);
  if (count == 2) return !(text[0] == 0xc2 && text[1] < 0xa0) && !(text[0] == 0xd8 && text[1] == 0x9c);
  for (size_t i = 0; count == 3 && i < sizeof hidden / sizeof *hidden; i++)
    if (memcmp(text, hidden[i][0], 3) >= 0 && memcmp(text, hidden[i][1], 3) <= 0) return false;
  return count > 0;
}

/* Writes what is not shown, and what is no UTF-8, as \xNN for each byte. `out` has ESCAPED times the length, and one.
 * Returns its length. */
static size_t log_escape(char *out, const char *text) {
  char *end = out;
  for (const unsigned char *at = (const unsigned char *)text; *at;) {
    size_t count = json_utf8_length(at);
    if (is_shown(at, count)) {
      memcpy(end, at, count);
      end += count;
      at += count;
      continue;
    }
    for (size_t left = count ? count : 1; left > 0; left--) end += sprintf(end, "\\x%02x", *at++);
  }
  *end = '\0';
  return (size_t)(end - out);
}

/* What stands before the text; `world` is null in lines of this process. */
static size_t begin_line(char line[WHO_BYTES], muster_log_level level, const char *world) {
  static const char *const words[] = {"", "warning: ", "error: "};
  uv_timeval64_t now = {0};
  struct tm utc;
  uv_once(&log_state.once, prepare);
  if (log_state.form != LOG_TERMINAL)
    return (size_t)snprintf(line, WHO_BYTES, world ? "%s[%s] " : "%s", marks[level], world);
  uv_gettimeofday(&now);
  gmtime_r(&(time_t){now.tv_sec}, &utc);
  size_t length = strftime(line, WHO_BYTES, "%Y-%m-%dT%H:%M:%S", &utc);
  return length + (size_t)snprintf(line + length, WHO_BYTES - length,
                                   world ? ".%03dZ musterd[%s]: %s" : ".%03dZ musterd: %s%s", now.tv_usec / 1000,
                                   world ? world : words[level], world ? words[level] : "");
}

/* There is no other place to report that this fails. */
static void log_put_line(char *line, size_t length) {
  line[length++] = '\n';
  for (ssize_t written; length > 0; line += written, length -= (size_t)written) {
    written = write(STDERR_FILENO, line, length);
    if (written < 0 && errno != EINTR) return;
    if (written < 0) written = 0;
  }
}

void log_line(muster_log_level level, const char *format, ...) {
  char text[LINE_BYTES], line[WHO_BYTES + ESCAPED * LINE_BYTES + 1];
  va_list arguments;
  if (!wants(level)) return;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  for (char *at = text; *at; at++)
    if (*at == '\n' || *at == '\r') *at = ' ';
  size_t begin = begin_line(line, level, NULL);
  log_put_line(line, begin + log_escape(line + begin, text));
}

void log_of_world(const char *world, const char *text) {
  char line[WHO_BYTES + ESCAPED * LOG_WORLD_BYTES + 1];
  muster_log_level level = MUSTER_LOG_INFO;
  ASSERT(strlen(text) <= LOG_WORLD_BYTES);
  for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
    if (strncmp(text, marks[i], strlen(marks[i])) == 0) {
      level = (muster_log_level)i;
      text += strlen(marks[i]);
      break;
    }
  size_t begin = begin_line(line, level, world);
  log_put_line(line, begin + log_escape(line + begin, text));
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

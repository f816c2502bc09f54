#include "progress.h"

#include "base/clock.h"
#include "base/columns.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static const uint64_t terminal_interval_ns = 100000000, other_interval_ns = 5000000000;

struct progress progress_begin(void) {
  struct progress progress = {.terminal = isatty(STDERR_FILENO)};
  progress.interval_ns = progress.terminal ? terminal_interval_ns : other_interval_ns;
  progress.next_ns = clock_system() + progress.interval_ns;
  return progress;
}

bool progress_is_due(struct progress *progress) {
  uint64_t now = clock_system();
  if (now < progress->next_ns) return false;
  progress->next_ns = now + progress->interval_ns;
  return true;
}

/* A line that is wider than the terminal would leave a part of itself behind whenever it is rewritten. */
static void put(struct progress *progress, const char *format, va_list arguments) {
  char line[256];
  vsnprintf(line, sizeof line, format, arguments);
  if (progress->terminal)
    fprintf(stderr, "\r%.*s\033[K", columns_of(STDERR_FILENO) - 1, line);
  else
    fprintf(stderr, "%s\n", line);
  progress->shown = true;
}

void progress_put(struct progress *progress, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  put(progress, format, arguments);
  va_end(arguments);
}

void progress_step(struct progress *progress, const char *format, ...) {
  va_list arguments;
  if (!progress->terminal && !progress_is_due(progress)) return;
  va_start(arguments, format);
  put(progress, format, arguments);
  va_end(arguments);
}

void progress_end(struct progress *progress) {
  if (progress->terminal && progress->shown) fprintf(stderr, "\r\033[K");
  progress->shown = false;
}

#include "base/fatal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void fatal(const char *format, ...) {
  enum { LINE_BYTES = 512 };
  char line[LINE_BYTES] = "muster: ";
  va_list arguments;
  size_t length = strlen(line);
  va_start(arguments, format);
  vsnprintf(line + length, sizeof line - 1 - length, format, arguments);
  va_end(arguments);
  length = strlen(line);
  line[length++] = '\n';
  for (size_t written = 0; written < length;) {
    ssize_t more = write(STDERR_FILENO, line + written, length - written);
    if (more <= 0) break;
    written += (size_t)more;
  }
  abort();
}

/* support/log_lines.h - what this process logs meanwhile, as text. */
#ifndef SUPPORT_LOG_LINES_H
#define SUPPORT_LOG_LINES_H

#include <criterion/criterion.h>
#include <sys/mman.h>
#include <unistd.h>

/* From now on it goes into memory. Returns where it went before. */
static inline int log_lines_begin(void) {
  int before = dup(STDERR_FILENO), file = memfd_create("log", MFD_CLOEXEC);
  cr_assert(before >= 0 && file >= 0 && dup2(file, STDERR_FILENO) == STDERR_FILENO);
  close(file);
  return before;
}

/* All that was logged since; it goes where it went before again. */
static inline const char *log_lines_end(int before) {
  static char lines[65536];
  ssize_t count = pread(STDERR_FILENO, lines, sizeof lines - 1, 0);
  dup2(before, STDERR_FILENO);
  close(before);
  cr_assert_geq(count, 0);
  lines[count] = '\0';
  return lines;
}

#endif

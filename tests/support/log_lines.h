/* support/log_lines.h - what this process writes on standard error meanwhile, such as its log, as text. */
#ifndef SUPPORT_LOG_LINES_H
#define SUPPORT_LOG_LINES_H

#include <criterion/criterion.h>
#include <sys/mman.h>
#include <unistd.h>

/* What is written from the one on goes into memory, which the other one reads. */
static int errors_before;

static inline void errors_begin(void) {
  int file = memfd_create("errors", MFD_CLOEXEC);
  errors_before = dup(STDERR_FILENO);
  cr_assert(errors_before >= 0 && file >= 0 && dup2(file, STDERR_FILENO) == STDERR_FILENO);
  close(file);
}

static inline const char *errors_end(void) {
  static char text[65536];
  ssize_t count = pread(STDERR_FILENO, text, sizeof text - 1, 0);
  dup2(errors_before, STDERR_FILENO);
  close(errors_before);
  cr_assert_gt(count, 0, "nothing was written");
  text[count] = '\0';
  return text;
}

#endif

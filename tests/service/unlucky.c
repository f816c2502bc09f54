/* unlucky.c - a part of musterd_unlucky, whose calls of the system fail while the file that MUSTER_TEST_TROUBLE names
 * says so: by lines such as "fork 11" and "posix_fallocate 28", a call with the number of its error. "fork" and
 * "pidfd_open" are of the supervisor; "write" is of worlds, to regular files; "fsync" is of regular files, and
 * "fsync_folder" of folders; "open:WORD" is of Muster's own files with
 * WORD in their path, or at its end with "open:WORD$". */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#define FAILS __attribute__((visibility("default")))

/* Whether the word is in the path, or ends it where a dollar sign ends the word. */
static bool is_meant(const char *word, const char *path) {
  size_t length = strlen(word), bytes = strlen(path);
  if (!length || word[length - 1] != '$') return strstr(path, word) != NULL;
  return bytes >= length - 1 && strncmp(path + bytes - (length - 1), word, length - 1) == 0;
}

/* The number of the error that a call has now; 0 = none. `path` is what it opens, or null. */
static int trouble_of(const char *call, const char *path) {
  char word[32];
  int number, found = 0;
  size_t length = strlen(call);
  const char *from = getenv("MUSTER_TEST_TROUBLE");
  FILE *file = from ? fopen(from, "re") : NULL;
  while (file && fscanf(file, "%31s %d", word, &number) == 2) {
    bool same = path ? strncmp(word, call, length) == 0 && is_meant(word + length, path) : strcmp(word, call) == 0;
    if (same) found = number;
  }
  if (file) fclose(file);
  return found;
}

static bool is_of_world(void) {
  return getenv("MUSTERD_WORLD") != NULL;
}

FAILS int posix_fallocate(int file, off_t offset, off_t length); /* without the header, which may rename it */

/* Of the library: what is defined here stands before it. */
#define REAL(call)                                                                                                     \
  __extension__({                                                                                                      \
    __typeof__(&call) real;                                                                                            \
    void *found = dlsym(RTLD_NEXT, #call);                                                                             \
    memcpy(&real, &found, sizeof real);                                                                                \
    real;                                                                                                              \
  })

static int refused(int trouble) {
  errno = trouble;
  return -1;
}

FAILS pid_t fork(void) {
  int trouble = is_of_world() ? 0 : trouble_of("fork", NULL);
  return trouble ? refused(trouble) : REAL(fork)();
}

FAILS int execvp(const char *file, char *const arguments[]) {
  int trouble = trouble_of("execvp", NULL);
  return trouble ? refused(trouble) : REAL(execvp)(file, arguments);
}

FAILS int posix_fallocate(int file, off_t offset, off_t length) {
  int trouble = trouble_of("posix_fallocate", NULL);
  return trouble ? trouble : REAL(posix_fallocate)(file, offset, length);
}

FAILS ssize_t write(int file, const void *bytes, size_t count) {
  struct stat status;
  bool regular = is_of_world() && fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  int trouble = regular ? trouble_of("write", NULL) : 0;
  return trouble ? refused(trouble) : REAL(write)(file, bytes, count);
}

FAILS int fsync(int file) {
  struct stat status;
  bool folder = fstat(file, &status) == 0 && S_ISDIR(status.st_mode);
  int trouble = trouble_of(folder ? "fsync_folder" : "fsync", NULL);
  return trouble ? refused(trouble) : REAL(fsync)(file);
}

FAILS int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*begin)(void *), void *argument) {
  int trouble = trouble_of("pthread_create", NULL);
  return trouble ? trouble : REAL(pthread_create)(thread, attributes, begin, argument);
}

/* Muster's files are opened by a call for which the library has no name. */
FAILS long syscall(long number, ...) {
  long given[6];
  va_list arguments;
  va_start(arguments, number);
  for (int i = 0; i < 6; i++) given[i] = va_arg(arguments, long);
  va_end(arguments);
  int trouble = 0;
  if (number == SYS_openat2) trouble = trouble_of("open:", (const char *)given[1]);
  if (number == SYS_pidfd_open && !is_of_world()) trouble = trouble_of("pidfd_open", NULL);
  if (trouble) return refused(trouble);
  return REAL(syscall)(number, given[0], given[1], given[2], given[3], given[4], given[5]);
}

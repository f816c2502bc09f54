/* unlucky.c - a part of musterd_unlucky, whose calls of the system fail while the file that MUSTER_TEST_TROUBLE names
 * says so: by lines such as "fork 11" and "posix_fallocate 28", a call with the number of its error. */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#define FAILS __attribute__((visibility("default")))

/* The number of the error that a call has now; 0 = none. */
static int trouble_of(const char *call) {
  char word[32];
  int number, found = 0;
  const char *path = getenv("MUSTER_TEST_TROUBLE");
  FILE *file = path ? fopen(path, "re") : NULL;
  while (file && fscanf(file, "%31s %d", word, &number) == 2)
    if (strcmp(word, call) == 0) found = number;
  if (file) fclose(file);
  return found;
}

FAILS pid_t fork(void);
FAILS int execvp(const char *file, char *const arguments[]);
FAILS int posix_fallocate(int file, off_t offset, off_t length);

/* Of the library: what is defined here stands before it. */
static void find_real(const char *name, void *function) {
  void *found = dlsym(RTLD_NEXT, name);
  memcpy(function, &found, sizeof found);
}

FAILS pid_t fork(void) {
  pid_t (*real)(void);
  int trouble = getenv("MUSTERD_WORLD") ? 0 : trouble_of("fork");
  find_real("fork", &real);
  if (!trouble) return real();
  errno = trouble;
  return -1;
}

FAILS int execvp(const char *file, char *const arguments[]) {
  int (*real)(const char *, char *const *);
  int trouble = trouble_of("execvp");
  find_real("execvp", &real);
  if (!trouble) return real(file, arguments);
  errno = trouble;
  return -1;
}

FAILS int posix_fallocate(int file, off_t offset, off_t length) {
  int (*real)(int, off_t, off_t);
  int trouble = trouble_of("posix_fallocate");
  find_real("posix_fallocate", &real);
  return trouble ? trouble : real(file, offset, length);
}

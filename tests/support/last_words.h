/* tests/support/last_words.h - runs what must end its process, in a child, and gives what that said. */
#ifndef LAST_WORDS_H
#define LAST_WORDS_H

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

struct last_words {
  char text[4096];
  bool aborted; /* by SIGABRT; else it ended in another way, which the text tells behind what was said */
};

static inline void last_words_child(int out, void (*misuse)(void)) {
  const struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  signal(SIGABRT, SIG_DFL);
  dup2(out, STDERR_FILENO);
  alarm(60); /* a hang is told from an abort */
  misuse();
  _exit(0);
}

/* Whatever the misuse needs it creates itself: threads do not follow into the child. */
static inline struct last_words last_words_of(void (*misuse)(void)) {
  struct last_words words = {0};
  int pipes[2], status = 0;
  cr_assert_eq(pipe(pipes), 0);
  fflush(NULL);
  pid_t child = fork();
  cr_assert_geq(child, 0);
  if (child == 0) last_words_child(pipes[1], misuse);
  close(pipes[1]);
  size_t length = 0;
  for (ssize_t more = 1; more > 0 && length<sizeof words.text - 1; length += more> 0 ? (size_t)more : 0)
    more = read(pipes[0], words.text + length, sizeof words.text - 1 - length);
  close(pipes[0]);
  waitpid(child, &status, 0);
  words.aborted = WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
  if (!words.aborted) snprintf(words.text + length, sizeof words.text - length, " [status %x]", (unsigned)status);
  return words;
}

/* Whether the misuse aborted with a line of Muster's that contains the text. */
#define assert_aborts(MISUSE, TEXT)                                                                                    \
  do {                                                                                                                 \
    struct last_words words_ = last_words_of(MISUSE);                                                                  \
    cr_assert(words_.aborted, "it did not abort, but said: %s", words_.text);                                          \
    cr_assert_not_null(strstr(words_.text, "muster: "), "it said: %s", words_.text);                                   \
    cr_assert_not_null(strstr(words_.text, TEXT), "it said: %s", words_.text);                                         \
  } while (0)

#endif

/* terminal.h - the program with a terminal as its standard error, which is read until something stands there. */
#ifndef TERMINAL_H
#define TERMINAL_H

#include "program.h"

#include <pty.h>
#include <signal.h>

typedef struct terminal {
  pid_t process;
  int descriptor;
  char seen[65536]; /* on it */
} terminal;

/* Starts `muster LINE`, on a terminal of so many columns (0: of no known size), and waits for what is `awaited`. */
static inline terminal *terminal_start(const char *line, unsigned short columns, const char *output,
                                       const char *awaited) {
  char words[4096], *arguments[PROGRAM_ARGUMENTS_MAX];
  struct winsize size = {.ws_row = 24, .ws_col = columns};
  int other;
  posix_spawn_file_actions_t actions;
  terminal *on = calloc(1, sizeof *on);
  cr_assert_not_null(on);
  snprintf(words, sizeof words, "%s", line);
  program_split(words, arguments);
  cr_assert_eq(openpty(&on->descriptor, &other, NULL, NULL, columns ? &size : NULL), 0);
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, other, STDERR_FILENO);
  cr_assert_eq(posix_spawn(&on->process, program_path(), &actions, NULL, arguments, environ), 0);
  posix_spawn_file_actions_destroy(&actions);
  close(other);
  for (size_t length = 0; !strstr(on->seen, awaited) && length < sizeof on->seen - 1;) {
    ssize_t got = read(on->descriptor, on->seen + length, sizeof on->seen - 1 - length);
    cr_assert_gt(got, 0, "the program ended without '%s': %s", awaited, on->seen);
    length += (size_t)got;
    on->seen[length] = '\0';
  }
  return on;
}

/* Ends it by a signal; the status as waitpid gives it. */
static inline int terminal_end(terminal *on, int signal) {
  int ended;
  cr_assert_eq(kill(on->process, signal), 0);
  cr_assert_eq(waitpid(on->process, &ended, 0), on->process);
  close(on->descriptor);
  free(on);
  return ended;
}

/* Ends it by a signal that it takes itself: then its status tells of which. */
static inline void terminal_interrupt(terminal *on, int signal) {
  int ended = terminal_end(on, signal);
  cr_assert(WIFEXITED(ended) && WEXITSTATUS(ended) == 128 + signal, "status %x", ended);
}

#endif

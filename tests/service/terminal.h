/* terminal.h - a program on a terminal of the test's own, and what stands on its screen: as much of an xterm as ncurses
 * makes use of. */
#ifndef TERMINAL_H
#define TERMINAL_H

#include <stdbool.h>
#include <sys/types.h>

enum { TERMINAL_LINES_MAX = 60, TERMINAL_COLUMNS_MAX = 200 };

struct terminal {
  int descriptor;
  pid_t process;
  int lines, columns;
  int line, column;
  char cells[TERMINAL_LINES_MAX][TERMINAL_COLUMNS_MAX + 1]; /* a character outside ASCII is one '@' */
  char escape[64];                                          /* what has come of a sequence */
  int escape_length;
  char last; /* character that was put */
};

/* Starts a program, whose arguments end with null, with TERM=xterm and a locale of UTF-8, or of ASCII. */
void terminal_start(struct terminal *terminal, const char *program, char *const *arguments, int lines, int columns,
                    bool unicode);

/* Reads on until a text stands somewhere on the screen; fails the test when the program ends instead. */
void terminal_await(struct terminal *terminal, const char *text);

/* Waits for something that the program writes, whatever it is; fails the test when it ends instead. */
void terminal_read(struct terminal *terminal);

/* Types keys. */
void terminal_type(const struct terminal *terminal, const char *keys);

/* Another size of the window; the program is told. */
void terminal_resize(struct terminal *terminal, int lines, int columns);

/* The first line with a text; null when there is none. */
const char *terminal_line(const struct terminal *terminal, const char *text);

/* Waits for the end of the program; its exit status, or minus the signal. */
int terminal_wait(struct terminal *terminal);

#endif

#include "terminal.h"

#include "room.h"

#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <termios.h>

enum { PATIENCE_MS = 60000 };

static void wipe(struct terminal *terminal, int line, int from, int to) {
  for (int column = from; column < to; column++) terminal->cells[line][column] = ' ';
  terminal->cells[line][terminal->columns] = '\0';
}

static void wipe_all(struct terminal *terminal) {
  for (int line = 0; line < terminal->lines; line++) wipe(terminal, line, 0, terminal->columns);
}

static void put(struct terminal *terminal, char character) {
  if (terminal->column < terminal->columns && terminal->line < terminal->lines)
    terminal->cells[terminal->line][terminal->column] = character;
  terminal->column++;
  terminal->last = character;
}

/* ------------------------------------------------------------------------------------------------------ sequences */

static void move_cells(struct terminal *terminal, int by) {
  char *line = terminal->cells[terminal->line];
  int columns = terminal->columns, column = terminal->column, count = by < 0 ? -by : by;
  if (column >= columns) return;
  if (count > columns - column) count = columns - column;
  size_t kept = (size_t)(columns - column - count);
  if (by < 0) { /* deletes */
    memmove(line + column, line + column + count, kept);
    wipe(terminal, terminal->line, columns - count, columns);
  } else {
    memmove(line + column + count, line + column, kept);
    wipe(terminal, terminal->line, column, column + count);
  }
}

static void erase_some(struct terminal *terminal, int count) {
  int end = terminal->column + count;
  wipe(terminal, terminal->line, terminal->column, end < terminal->columns ? end : terminal->columns);
}

/* What moves the cursor or changes text; colours and modes change neither. */
static void obey(struct terminal *terminal, char final, int first, int second) {
  int count = first > 0 ? first : 1;
  if (final == 'H') {
    terminal->line = count - 1;
    terminal->column = (second > 0 ? second : 1) - 1;
  }
  if (final == 'd') terminal->line = count - 1;
  if (final == 'G') terminal->column = count - 1;
  if (final == 'A') terminal->line -= count;
  if (final == 'B') terminal->line += count;
  if (final == 'C') terminal->column += count;
  if (final == 'D') terminal->column -= count;
  if (final == 'J' && first == 2) wipe_all(terminal);
  if (final == 'J' && first != 2) erase_some(terminal, terminal->columns);
  for (int line = terminal->line + 1; final == 'J' && first != 2 && line < terminal->lines; line++)
    wipe(terminal, line, 0, terminal->columns);
  if (final == 'K' && first == 1) wipe(terminal, terminal->line, 0, terminal->column + 1);
  if (final == 'K' && first != 1) erase_some(terminal, terminal->columns);
  if (final == 'X') erase_some(terminal, count);
  if (final == 'P') move_cells(terminal, -count);
  if (final == '@') move_cells(terminal, count);
  for (int i = 0; final == 'b' && i < count; i++) put(terminal, terminal->last);
  if (terminal->line < 0) terminal->line = 0;
  if (terminal->column < 0) terminal->column = 0;
  if (terminal->line >= terminal->lines) terminal->line = terminal->lines - 1;
}

/* True when the sequence is complete. */
static bool take_escape(struct terminal *terminal, char character) {
  int first = 0, second = 0;
  cr_assert_lt(terminal->escape_length, (int)sizeof terminal->escape - 1);
  terminal->escape[terminal->escape_length++] = character;
  terminal->escape[terminal->escape_length] = '\0';
  char kind = terminal->escape[0];
  if (kind == '(' || kind == ')') return terminal->escape_length == 2;
  if (kind != '[') return true;
  if (terminal->escape_length == 1 || character < '@' || character > '~') return false;
  if (terminal->escape[1] != '?' && terminal->escape[1] != '>') {
    sscanf(terminal->escape + 1, "%d;%d", &first, &second);
    obey(terminal, character, first, second);
  }
  return true;
}

static void take(struct terminal *terminal, char character) {
  unsigned char byte = (unsigned char)character;
  if (terminal->escape_length >= 0) {
    if (take_escape(terminal, character)) terminal->escape_length = -1;
    return;
  }
  if (character == 27)
    terminal->escape_length = 0;
  else if (character == '\r')
    terminal->column = 0;
  else if (character == '\t')
    terminal->column = (terminal->column / 8 + 1) * 8;
  else if (character == '\n')
    terminal->line += terminal->line < terminal->lines - 1;
  else if (character == '\b')
    terminal->column -= terminal->column > 0;
  else if (byte >= 0xc0)
    put(terminal, '@');
  else if (byte >= 32 && byte < 127)
    put(terminal, character);
}

/* -------------------------------------------------------------------------------------------------------- the whole */

void terminal_start(struct terminal *terminal, const char *program, char *const *arguments, int lines, int columns,
                    bool unicode) {
  struct winsize size = {.ws_row = (unsigned short)lines, .ws_col = (unsigned short)columns};
  cr_assert(lines <= TERMINAL_LINES_MAX && columns <= TERMINAL_COLUMNS_MAX);
  *terminal = (struct terminal){.lines = lines, .columns = columns, .escape_length = -1};
  wipe_all(terminal);
  terminal->process = forkpty(&terminal->descriptor, NULL, NULL, &size);
  cr_assert_geq(terminal->process, 0);
  if (terminal->process > 0) return;
  setenv("TERM", "xterm", 1);
  setenv("LC_ALL", unicode ? "C.UTF-8" : "C", 1);
  execv(program, arguments);
  _exit(127);
}

/* False: the program has ended. */
static bool read_some(struct terminal *terminal) {
  char bytes[4096];
  struct pollfd ready = {.fd = terminal->descriptor, .events = POLLIN};
  cr_assert(poll(&ready, 1, PATIENCE_MS) > 0, "the program writes nothing more");
  ssize_t length = read(terminal->descriptor, bytes, sizeof bytes);
  for (ssize_t i = 0; i < length; i++) take(terminal, bytes[i]);
  return length > 0;
}

const char *terminal_line(const struct terminal *terminal, const char *text) {
  for (int line = 0; line < terminal->lines; line++)
    if (strstr(terminal->cells[line], text)) return terminal->cells[line];
  return NULL;
}

void terminal_await(struct terminal *terminal, const char *text) {
  while (!terminal_line(terminal, text)) cr_assert(read_some(terminal), "it ended without showing '%s'", text);
}

void terminal_read(struct terminal *terminal) {
  cr_assert(read_some(terminal), "it ended");
}

void terminal_type(const struct terminal *terminal, const char *keys) {
  cr_assert_eq(write(terminal->descriptor, keys, strlen(keys)), (ssize_t)strlen(keys));
}

void terminal_resize(struct terminal *terminal, int lines, int columns) {
  struct winsize size = {.ws_row = (unsigned short)lines, .ws_col = (unsigned short)columns};
  terminal->lines = lines;
  terminal->columns = columns;
  wipe_all(terminal);
  cr_assert_eq(ioctl(terminal->descriptor, TIOCSWINSZ, &size), 0);
}

int terminal_wait(struct terminal *terminal) {
  int status;
  while (read_some(terminal)) continue;
  cr_assert_eq(waitpid(terminal->process, &status, 0), terminal->process);
  close(terminal->descriptor);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

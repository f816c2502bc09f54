#include "base/columns.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { COLUMN_LEAST = 8 }; /* what is indented less is a paragraph */

int columns_known(int descriptor) {
  struct winsize size = {0};
  const char *text = getenv("COLUMNS");
  int columns = text ? atoi(text) : 0;
  if (columns <= 0 && ioctl(descriptor, TIOCGWINSZ, &size) == 0) columns = size.ws_col;
  return columns > 0 ? columns : 0;
}

int columns_of(int descriptor) {
  int columns = columns_known(descriptor);
  if (columns == 0 || columns > COLUMNS_USUAL) return COLUMNS_USUAL;
  return columns < COLUMNS_LEAST ? COLUMNS_LEAST : columns;
}

/* The terminal cells that bytes of UTF-8 take, taking every character to be one cell wide. */
static int cells_of(const char *text, size_t bytes) {
  int cells = 0;
  for (size_t i = 0; i < bytes; i++) cells += (text[i] & 0xC0) != 0x80;
  return cells;
}

/* Where the rest of a line begins: below its last column, as long as half of the line is left for it; else two further
 * than the line, when that is indented, or below it where the line stands in a column itself, under a long option. */
static int indent_of(const char *line, size_t length, int columns) {
  size_t first = strspn(line, " ");
  int indent = (int)first + (first && first < COLUMN_LEAST ? 2 : 0);
  for (size_t i = first; i + 2 < length; i++)
    if (line[i] == ' ' && line[i + 1] == ' ' && line[i + 2] != ' ') {
      int column = cells_of(line, i + 2);
      if (column <= columns / 2) indent = column;
    }
  return indent;
}

/* How many bytes of the line fit into `cells`: up to a blank, or the whole first word if that is longer. */
static size_t bytes_that_fit(const char *line, size_t length, int cells) {
  size_t begin = strspn(line, " "), fit = 0;
  if (cells_of(line, length) <= cells) return length;
  for (size_t i = begin; i <= length; i++) {
    if (i < length && line[i] != ' ') continue;
    if (fit && cells_of(line, i) > cells) break;
    fit = i;
  }
  return fit;
}

static void print_line(FILE *stream, const char *line, size_t length, int columns) {
  int indent = indent_of(line, length, columns), room = columns;
  while (length > 0) {
    size_t fit = bytes_that_fit(line, length, room);
    size_t shown = fit;
    while (shown > 0 && line[shown - 1] == ' ') shown--;
    fprintf(stream, "%*s%.*s\n", columns - room, "", (int)shown, line);
    while (fit < length && line[fit] == ' ') fit++;
    line += fit;
    length -= fit;
    room = columns - indent;
  }
}

void columns_print(FILE *stream, const char *text, int columns) {
  while (*text) {
    size_t length = strcspn(text, "\n");
    if (length)
      print_line(stream, text, length, columns);
    else
      fputc('\n', stream);
    text += length + (text[length] == '\n');
  }
}

bool columns_print_all(void (*write)(FILE *stream, const void *user), const void *user) {
  char *text = NULL;
  size_t bytes;
  FILE *stream = open_memstream(&text, &bytes);
  if (!stream) return false;
  write(stream, user);
  bool whole = fclose(stream) == 0;
  if (whole) columns_print(stdout, text, columns_of(STDOUT_FILENO));
  free(text);
  return whole;
}

struct help {
  void (*show)(FILE *stream);
};

static void write_help(FILE *stream, const void *user) {
  ((const struct help *)user)->show(stream);
}

void columns_print_help(void (*show_help)(FILE *stream)) {
  struct help help = {show_help};
  if (!columns_print_all(write_help, &help)) show_help(stdout);
}

#include "tidy.h"

#include <string.h>

/* The scan depends on balanced braces: #if branches must not leave one open. */
static void check_braces(tidy_run *tidy, const tidy_source *source) {
  size_t open = 0;
  for (size_t i = 0; i < source->length; i++) {
    open += source->code[i] == '{';
    if (source->code[i] != '}') continue;
    if (open == 0) tidy_report(tidy, source, source_line_at(source, i), "length", "this brace closes nothing");
    open -= open > 0;
  }
  if (open > 0)
    tidy_report(tidy, source, source->line_count - 1, "length",
                "%zu braces stay open: let no preprocessor branch open a brace that another one closes", open);
}

void rule_length(tidy_run *tidy) {
  enum { FILE_LINES_MAX = 1000, FUNCTION_LINES_MAX = 70 };
  for (const tidy_source *source = tidy->sources; source->path; source++) {
    if (source->line_count > FILE_LINES_MAX)
      tidy_report(tidy, source, source->line_count - 1, "length", "the file has %zu lines, more than %d: split it",
                  source->line_count, FILE_LINES_MAX);
    check_braces(tidy, source);
  }
  for (const tidy_function *at = tidy->functions; at->source; at++) {
    if (at->lines > FUNCTION_LINES_MAX)
      tidy_report(tidy, at->source, source_line_at(at->source, at->name.offset), "length",
                  "%.*s has %zu lines, more than %d: cut it into steps that have a name", (int)at->name.length,
                  at->name.start, at->lines, FUNCTION_LINES_MAX);
  }
}

/* Columns of a line in UTF-8: continuation bytes take none. */
static size_t columns(const char *line, size_t length) {
  size_t count = 0;
  for (size_t i = 0; i < length; i++) count += ((unsigned char)line[i] & 0xC0) != 0x80;
  return count;
}

static void check_line(tidy_run *tidy, const tidy_source *source, size_t line) {
  enum { COLUMNS_MAX = 120 };
  const char *start = source->text + source->lines[line];
  size_t length = source->lines[line + 1] - source->lines[line];
  if (length > 0 && start[length - 1] == '\n') length--;
  if (memchr(start, '\t', length)) tidy_report(tidy, source, line, "blanks", "indent with spaces, not tabs");
  if (length > 0 && (start[length - 1] == ' ' || start[length - 1] == '\t' || start[length - 1] == '\r'))
    tidy_report(tidy, source, line, "blanks", "cut the blanks at the end of the line");
  if (columns(start, length) > COLUMNS_MAX)
    tidy_report(tidy, source, line, "blanks", "the line has %zu columns, more than %d: break it",
                columns(start, length), COLUMNS_MAX);
}

void rule_blanks(tidy_run *tidy) {
  for (const tidy_source *source = tidy->sources; source->path; source++)
    for (size_t line = 0; line < source->line_count; line++) check_line(tidy, source, line);
}

#include "tidy.h"

static void check_function(tidy_run *tidy, const tidy_source *source, const tidy_declaration *function) {
  enum { LINES_MAX = 70 };
  size_t first = source_line_at(source, function->body_open);
  size_t lines = source_line_at(source, function->body_end - 1) - first + 1;
  if (lines > LINES_MAX)
    tidy_report(tidy, source, source_line_at(source, function->name.offset), "length",
                "%.*s has %zu lines, more than %d: cut it into steps that have a name", (int)function->name.length,
                source->code + function->name.offset, lines, LINES_MAX);
}

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
  enum { LINES_MAX = 500 };
  for (size_t i = 0; i < tidy->source_count; i++) {
    const tidy_source *source = &tidy->sources[i];
    if (source->line_count > LINES_MAX)
      tidy_report(tidy, source, source->line_count - 1, "length", "the file has %zu lines, more than %d: split it",
                  source->line_count, LINES_MAX);
    check_braces(tidy, source);
    tidy_declaration declaration;
    for (size_t at = 0; source_next_declaration(source, at, &declaration); at = declaration.end)
      if (declaration.kind == DECLARATION_FUNCTION) check_function(tidy, source, &declaration);
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
  bool tab = false;
  for (size_t i = 0; i < length; i++) tab = tab || start[i] == '\t';
  if (tab) tidy_report(tidy, source, line, "blanks", "indent with spaces, not tabs");
  if (length > 0 && (start[length - 1] == ' ' || start[length - 1] == '\t' || start[length - 1] == '\r'))
    tidy_report(tidy, source, line, "blanks", "cut the blanks at the end of the line");
  if (columns(start, length) > COLUMNS_MAX)
    tidy_report(tidy, source, line, "blanks", "the line has %zu columns, more than %d: break it",
                columns(start, length), COLUMNS_MAX);
}

void rule_blanks(tidy_run *tidy) {
  for (size_t i = 0; i < tidy->source_count; i++)
    for (size_t line = 0; line < tidy->sources[i].line_count; line++) check_line(tidy, &tidy->sources[i], line);
}

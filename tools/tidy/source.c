#include "tidy.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Up to the first zero byte, which a text has behind its end alone; null when it cannot be read. */
static char *read_all(const char *path, size_t *length) {
  FILE *file = fopen(path, "rb");
  char *text = NULL;
  size_t capacity = 0;
  if (!file) return NULL;
  ssize_t count = getdelim(&text, &capacity, '\0', file);
  bool failed = ferror(file);
  fclose(file);
  *length = count > 0 ? (size_t)count : 0;
  text = tidy_must(realloc(text, *length + 1));
  text[*length] = '\0';
  if (!failed) return text;
  free(text);
  return NULL;
}

/* Blanks text[from..to) but for its line ends. */
static void blank(char *text, size_t from, size_t to) {
  for (size_t i = from; i < to; i++)
    if (text[i] != '\n') text[i] = ' ';
}

static size_t end_of_comment(const char *text, size_t start) {
  if (text[start + 1] == '/') return start + strcspn(text + start, "\n");
  const char *end = strstr(text + start + 2, "*/");
  return end ? (size_t)(end - text) + 2 : start + strlen(text + start);
}

/* One past the closing quote of a literal; an unclosed one ends with its line. */
static size_t end_of_literal(const char *text, size_t start) {
  size_t i = start + 1;
  while (text[i] && text[i] != '\n' && text[i] != text[start]) i += text[i] == '\\' && text[i + 1] ? 2 : 1;
  return text[i] == text[start] ? i + 1 : i;
}

/* Comments must be found either way, as a quote in one begins no literal. */
static void blank_literals(char *text, bool comments_too) {
  size_t i = 0;
  while (text[i]) {
    size_t end = i + 1;
    if (text[i] == '/' && (text[i + 1] == '/' || text[i + 1] == '*')) {
      end = end_of_comment(text, i);
      if (comments_too) blank(text, i, end);
    } else if (text[i] == '"' || text[i] == '\'') {
      end = end_of_literal(text, i);
      blank(text, i, end);
    }
    i = end;
  }
}

/* A preprocessor line goes on behind a backslash at its end. */
static void blank_preprocessor(char *code) {
  size_t i = 0;
  while (code[i]) {
    size_t start = i + strspn(code + i, " \t");
    bool directive = code[start] == '#';
    size_t end = i + strcspn(code + i, "\n");
    while (directive && code[end] && end > i && code[end - 1] == '\\') end += 1 + strcspn(code + end + 1, "\n");
    if (directive) blank(code, i, end);
    i = code[end] ? end + 1 : end;
  }
}

static void find_lines(tidy_source *source) {
  size_t count = 1;
  for (size_t i = 0; i < source->length; i++) count += source->text[i] == '\n';
  source->lines = tidy_must(calloc(count + 1, sizeof *source->lines));
  source->line_count = 0;
  for (size_t i = 0; i < source->length; i += 1 + strcspn(source->text + i, "\n"))
    source->lines[source->line_count++] = i;
  source->lines[source->line_count] = source->length;
}

bool source_read(tidy_source *source, const char *path) {
  source->text = read_all(path, &source->length);
  if (!source->text || strlen(source->text) != source->length) return false;
  source->path = tidy_must(strdup(path));
  source->prose = tidy_must(strdup(source->text));
  blank_literals(source->prose, false);
  source->words = tidy_must(strdup(source->text));
  blank_literals(source->words, true);
  source->code = tidy_must(strdup(source->words));
  blank_preprocessor(source->code);
  find_lines(source);
  return true;
}

void source_free(tidy_source *source) {
  free(source->path);
  free(source->text);
  free(source->prose);
  free(source->words);
  free(source->code);
  free(source->lines);
}

size_t source_line_at(const tidy_source *source, size_t offset) {
  size_t low = 0, high = source->line_count;
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    if (source->lines[middle] <= offset)
      low = middle;
    else
      high = middle;
  }
  return low;
}

const char *source_name(const tidy_source *source) {
  return strrchr(source->path, '/') + 1;
}

bool source_in(const tidy_source *source, const char *folder) {
  return strncmp(source->path, folder, strlen(folder)) == 0;
}

bool source_in_any(const tidy_source *source, const char *const *folders) {
  while (*folders && !source_in(source, *folders)) folders++;
  return *folders;
}

bool source_ends(const tidy_source *source, const char *ending) {
  return word_ends((tidy_word){.start = source->path, .length = strlen(source->path)}, ending);
}

/* Reads the line as an #include; `words` tells that the line is no comment, `text` has the path. */
static bool read_include(const tidy_source *source, size_t line, tidy_include *found) {
  const char *word = source->words + source->lines[line];
  word += strspn(word, " \t");
  if (*word != '#') return false;
  word += 1 + strspn(word + 1, " \t");
  if (strncmp(word, "include", 7) != 0) return false;
  const char *open = source->text + (word - source->words) + 7;
  open += strspn(open, " \t");
  bool quoted = *open == '<' || *open == '"';
  const char *path = open + quoted, *ends = !quoted ? " \t\n" : *open == '<' ? ">\n" : "\"\n";
  *found = (tidy_include){line, line + 1, quoted ? *open : '\0', {.start = path, .length = strcspn(path, ends)}};
  return true;
}

bool source_next_include(const tidy_source *source, tidy_include *found) {
  for (size_t line = found->next; line < source->line_count; line++)
    if (read_include(source, line, found)) return true;
  return false;
}

bool source_includes(const tidy_source *source, const char *path) {
  for (tidy_include include = {0}; source_next_include(source, &include);)
    if (include.open == '"' && word_is(include.path, path)) return true;
  return false;
}

/* ----------------------------------------------------------------------------------------------------------- words */

bool word_is(tidy_word word, const char *wanted) {
  return word.length == strlen(wanted) && word_begins(word, wanted);
}

bool word_begins(tidy_word word, const char *prefix) {
  size_t length = strlen(prefix);
  return word.length >= length && strncmp(word.start, prefix, length) == 0;
}

bool word_ends(tidy_word word, const char *ending) {
  size_t length = strlen(ending);
  return word.length >= length && strncmp(word.start + word.length - length, ending, length) == 0;
}

bool word_is_any(tidy_word word, const char *const *list) {
  while (*list && !word_is(word, *list)) list++;
  return *list;
}

tidy_word word_at(const char *form, size_t offset) {
  size_t end = offset;
  while (isalnum((unsigned char)form[end]) || form[end] == '_') end++;
  return (tidy_word){form + offset, end - offset, offset};
}

bool word_next(const char *form, size_t end, tidy_word *word) {
  size_t at = word->offset + word->length;
  while (at < end) {
    tidy_word next = word_at(form, at);
    at += next.length ? next.length : 1;
    if (!next.length || isdigit((unsigned char)*next.start)) continue;
    *word = next;
    return true;
  }
  return false;
}

#include "tidy.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *must(void *memory) {
  if (memory) return memory;
  fputs("tidy: out of memory\n", stderr);
  exit(2);
}

static char *read_all(const char *path, size_t *length) {
  FILE *file = fopen(path, "rb");
  if (!file) return NULL;
  char *text = NULL;
  size_t capacity = 0;
  *length = 0;
  do {
    capacity = capacity ? capacity * 2 : 16384;
    text = must(realloc(text, capacity + 1));
    *length += fread(text + *length, 1, capacity - *length, file);
  } while (*length == capacity);
  text[*length] = '\0';
  bool failed = ferror(file);
  fclose(file);
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
  source->lines = must(calloc(count + 1, sizeof *source->lines));
  source->line_count = 0;
  for (size_t i = 0; i < source->length; i += 1 + strcspn(source->text + i, "\n"))
    source->lines[source->line_count++] = i;
  source->lines[source->line_count] = source->length;
}

bool source_read(tidy_source *source, const char *root, const char *path) {
  char full[4096];
  if ((size_t)snprintf(full, sizeof full, "%s/%s", root, path) >= sizeof full) return false;
  source->text = read_all(full, &source->length);
  if (!source->text || strlen(source->text) != source->length) return false;
  source->path = must(strdup(path));
  source->prose = must(strdup(source->text));
  blank_literals(source->prose, false);
  source->words = must(strdup(source->text));
  blank_literals(source->words, true);
  source->code = must(strdup(source->words));
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

bool source_in(const tidy_source *source, const char *folder) {
  return strncmp(source->path, folder, strlen(folder)) == 0;
}

bool source_ends(const tidy_source *source, const char *ending) {
  size_t length = strlen(source->path), wanted = strlen(ending);
  return length >= wanted && strcmp(source->path + length - wanted, ending) == 0;
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
  *found = (tidy_include){.line = line, .start = open};
  if (*open != '<' && *open != '"') {
    found->length = strcspn(open, " \t\n");
    return true;
  }
  found->open = *open;
  found->start = open + 1;
  found->length = strcspn(open + 1, *open == '<' ? ">\n" : "\"\n");
  return true;
}

bool source_next_include(const tidy_source *source, size_t from_line, tidy_include *found) {
  for (size_t line = from_line; line < source->line_count; line++)
    if (read_include(source, line, found)) return true;
  return false;
}

bool include_begins(const tidy_include *include, const char *prefix) {
  size_t length = strlen(prefix);
  return include->length >= length && strncmp(include->start, prefix, length) == 0;
}

bool include_is(const tidy_include *include, const char *path) {
  return include->length == strlen(path) && include_begins(include, path);
}

static bool is_word(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

bool source_next_identifier(const char *form, size_t length, size_t from, tidy_identifier *found) {
  size_t i = from;
  while (i < length) {
    size_t end = i;
    while (end < length && is_word(form[end])) end++;
    if (end == i) {
      i++;
    } else if (isdigit((unsigned char)form[i])) {
      i = end;
    } else {
      *found = (tidy_identifier){.offset = i, .length = end - i};
      return true;
    }
  }
  return false;
}

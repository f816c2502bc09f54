/* How large the functions and files of a room are, and how much of it checks and explains. */
#include "tidy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is counted of a room of src. */
typedef struct room_sizes {
  size_t lines, comment_lines, assertions;
  size_t *functions; /* lines of each */
  size_t function_count;
  const tidy_source *first, *longest_file;
  const tidy_source *of_longest; /* where the longest function stands, */
  tidy_identifier longest;       /* and its name */
  size_t longest_lines;
} room_sizes;

static bool stands_in(const tidy_source *source, const char *room) {
  char folder[64];
  snprintf(folder, sizeof folder, "src/%s/", room);
  return source_in(source, folder);
}

/* ----------------------------------------------------------------------------------------------------------- counting
 */

static void add_function(room_sizes *sizes, const tidy_source *source, const tidy_declaration *function) {
  enum { STEP = 256 };
  size_t first = source_line_at(source, function->body_open);
  size_t lines = source_line_at(source, function->body_end - 1) - first + 1;
  if (sizes->function_count % STEP == 0)
    sizes->functions = realloc(sizes->functions, (sizes->function_count + STEP) * sizeof *sizes->functions);
  if (!sizes->functions) {
    fputs("tidy: out of memory\n", stderr);
    exit(2);
  }
  sizes->functions[sizes->function_count++] = lines;
  if (lines <= sizes->longest_lines) return;
  sizes->longest_lines = lines;
  sizes->longest = function->name;
  sizes->of_longest = source;
}

/* A line with a comment differs from the same line with its comments blanked. */
static size_t count_comment_lines(const tidy_source *source) {
  size_t count = 0;
  for (size_t i = 0; i < source->line_count; i++) {
    size_t start = source->lines[i], length = source->lines[i + 1] - start;
    count += memcmp(source->prose + start, source->words + start, length) != 0;
  }
  return count;
}

static size_t count_assertions(const tidy_source *source) {
  static const char name[] = "ASSERT";
  tidy_identifier word = {0};
  size_t count = 0;
  for (size_t at = 0; source_next_identifier(source->code, source->length, at, &word); at = word.offset + word.length)
    count += word.length == sizeof name - 1 && memcmp(source->code + word.offset, name, word.length) == 0 &&
             source->code[word.offset + word.length] == '(';
  return count;
}

static int compare_sizes(const void *one, const void *other) {
  size_t a = *(const size_t *)one, b = *(const size_t *)other;
  return (a > b) - (a < b);
}

/* What it points at is the caller's to free. */
static room_sizes count_room(const tidy_run *tidy, const char *room) {
  room_sizes sizes = {0};
  for (size_t i = 0; i < tidy->source_count; i++) {
    const tidy_source *source = &tidy->sources[i];
    if (!stands_in(source, room)) continue;
    if (!sizes.first) sizes.first = source;
    if (!sizes.longest_file || source->line_count > sizes.longest_file->line_count) sizes.longest_file = source;
    sizes.lines += source->line_count;
    sizes.comment_lines += count_comment_lines(source);
    sizes.assertions += count_assertions(source);
    tidy_declaration declaration;
    for (size_t at = 0; source_next_declaration(source, at, &declaration); at = declaration.end)
      if (declaration.kind == DECLARATION_FUNCTION) add_function(&sizes, source, &declaration);
  }
  if (sizes.function_count) qsort(sizes.functions, sizes.function_count, sizeof *sizes.functions, compare_sizes);
  return sizes;
}

/* ------------------------------------------------------------------------------------------------------------- telling
 */

/* The least size that so many of a hundred functions do not exceed. */
static size_t quantile(const room_sizes *sizes, size_t percent) {
  size_t rank = (sizes->function_count * percent + 99) / 100;
  return sizes->functions[rank ? rank - 1 : 0];
}

static const char *file_of(const tidy_source *source) {
  const char *slash = strrchr(source->path, '/');
  return slash ? slash + 1 : source->path;
}

void tidy_print_sizes(const tidy_run *tidy, const char *room) {
  room_sizes sizes = count_room(tidy, room);
  if (sizes.function_count)
    printf("  functions: median %zu lines, p90 %zu, longest %zu (%.*s, %s)\n", quantile(&sizes, 50),
           quantile(&sizes, 90), sizes.longest_lines, (int)sizes.longest.length,
           sizes.of_longest->code + sizes.longest.offset, file_of(sizes.of_longest));
  if (sizes.lines)
    printf("  longest file %zu lines (%s), %.1f assertions per 100 lines, comments on %zu %% of the lines\n",
           sizes.longest_file->line_count, file_of(sizes.longest_file),
           100.0 * (double)sizes.assertions / (double)sizes.lines, 100 * sizes.comment_lines / sizes.lines);
  free(sizes.functions);
}

void rule_assertions(tidy_run *tidy) {
  enum { LINES_EACH = 60 };
  static const char *const rooms[] = {"frame", "world", "herds", "snapshot", "record"};
  for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
    room_sizes sizes = count_room(tidy, rooms[i]);
    size_t wanted = sizes.lines / LINES_EACH;
    if (sizes.assertions < wanted)
      tidy_report(tidy, sizes.first, 0, "assertions",
                  "%s has %zu assertions in %zu lines, fewer than %zu: say what its functions rely on", rooms[i],
                  sizes.assertions, sizes.lines, wanted);
    free(sizes.functions);
  }
}

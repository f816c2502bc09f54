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
  const tidy_function *longest;
} room_sizes;

/* --------------------------------------------------------------------------------------------------------- counting */

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
  size_t count = 0;
  for (tidy_word word = {0}; word_next(source->code, source->length, &word);)
    count += word_is(word, "ASSERT") && word.start[word.length] == '(';
  return count;
}

static int compare_sizes(const void *one, const void *other) {
  size_t a = *(const size_t *)one, b = *(const size_t *)other;
  return (a > b) - (a < b);
}

/* What it points at is the caller's to free. */
static room_sizes count_room(const tidy_run *tidy, int room) {
  room_sizes sizes = {.functions = tidy_must(calloc(tidy->function_count + 1, sizeof *sizes.functions))};
  for (const tidy_source *source = tidy->sources; source->path; source++) {
    if (tidy_room_of(source) != room) continue;
    if (!sizes.first) sizes.first = source;
    if (!sizes.longest_file || source->line_count > sizes.longest_file->line_count) sizes.longest_file = source;
    sizes.lines += source->line_count;
    sizes.comment_lines += count_comment_lines(source);
    sizes.assertions += count_assertions(source);
  }
  for (const tidy_function *at = tidy->functions; at->source; at++) {
    if (at->room != room) continue;
    sizes.functions[sizes.function_count++] = at->lines;
    if (!sizes.longest || at->lines > sizes.longest->lines) sizes.longest = at;
  }
  qsort(sizes.functions, sizes.function_count, sizeof *sizes.functions, compare_sizes);
  return sizes;
}

/* ---------------------------------------------------------------------------------------------------------- telling */

/* The least size that so many of a hundred functions do not exceed. */
static size_t quantile(const room_sizes *sizes, size_t percent) {
  size_t rank = (sizes->function_count * percent + 99) / 100;
  return sizes->functions[rank ? rank - 1 : 0];
}

void tidy_print_sizes(const tidy_run *tidy, int room) {
  room_sizes sizes = count_room(tidy, room);
  if (sizes.function_count)
    printf("  functions: median %zu lines, p90 %zu, longest %zu (%.*s, %s)\n", quantile(&sizes, 50),
           quantile(&sizes, 90), sizes.longest->lines, (int)sizes.longest->name.length, sizes.longest->name.start,
           source_name(sizes.longest->source));
  if (sizes.lines)
    printf("  longest file %zu lines (%s), %.1f assertions per 100 lines, comments on %zu %% of the lines\n",
           sizes.longest_file->line_count, source_name(sizes.longest_file),
           100.0 * (double)sizes.assertions / (double)sizes.lines, 100 * sizes.comment_lines / sizes.lines);
  free(sizes.functions);
}

void rule_assertions(tidy_run *tidy) {
  enum { LINES_EACH = 60 };
  static const char *const rooms[] = {"frame", "world", "herds", "snapshot", "record", NULL};
  for (int room = 0; tidy_room_name(room); room++) {
    const char *name = tidy_room_name(room);
    if (!word_is_any((tidy_word){.start = name, .length = strlen(name)}, rooms)) continue;
    room_sizes sizes = count_room(tidy, room);
    size_t wanted = sizes.lines / LINES_EACH;
    if (sizes.assertions < wanted)
      tidy_report(tidy, sizes.first, 0, "assertions",
                  "%s has %zu assertions in %zu lines, fewer than %zu: say what its functions rely on", name,
                  sizes.assertions, sizes.lines, wanted);
    free(sizes.functions);
  }
}

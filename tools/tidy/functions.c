/* The functions that the sources define, sorted by name, so that a call can be traced to its file. */
#include "tidy.h"

#include <stdlib.h>
#include <string.h>

static int compare(const void *one, const void *other) {
  const tidy_function *a = one, *b = other;
  size_t shorter = a->name.length < b->name.length ? a->name.length : b->name.length;
  int order = strncmp(a->name.start, b->name.start, shorter);
  if (!order) order = (a->name.length > b->name.length) - (a->name.length < b->name.length);
  return order ? order : (a->source > b->source) - (a->source < b->source);
}

/* In a source, static functions are for that file alone; in a header, every function is for all files that include
 * it. */
static void add(tidy_run *tidy, const tidy_source *source, const tidy_declaration *declaration) {
  static const char *const own[] = {"static", "INLINE", "PREFETCH_FUNCTION", NULL};
  tidy_function added = {.name = declaration->name,
                         .room = tidy_room_of(source),
                         .shared = true,
                         .source = source,
                         .body_open = declaration->body_open,
                         .body_end = declaration->body_end};
  added.lines = source_line_at(source, added.body_end - 1) - source_line_at(source, added.body_open) + 1;
  added.is_static = word_is(word_at(source->code, declaration->start), "static");
  for (tidy_word word = {.offset = declaration->start}; word_next(source->code, added.name.offset, &word);)
    if (!source_ends(source, ".h") && word_is_any(word, own)) added.shared = false;
  tidy->functions[tidy->function_count++] = added;
  tidy->functions = tidy_must(realloc(tidy->functions, (tidy->function_count + 1) * sizeof added));
  tidy->functions[tidy->function_count] = (tidy_function){0};
}

void functions_list(tidy_run *tidy) {
  tidy->functions = tidy_must(calloc(1, sizeof *tidy->functions));
  for (const tidy_source *source = tidy->sources; source->path; source++)
    for (tidy_declaration declaration = {0}; source_next_declaration(source, &declaration);)
      if (declaration.kind == DECLARATION_FUNCTION) add(tidy, source, &declaration);
  qsort(tidy->functions, tidy->function_count, sizeof *tidy->functions, compare);
}

static bool same_name(tidy_word one, tidy_word other) {
  return one.length == other.length && strncmp(one.start, other.start, one.length) == 0;
}

tidy_function *functions_find(const tidy_run *tidy, tidy_word name) {
  tidy_function wanted = {.name = name};
  size_t low = 0, high = tidy->function_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (compare(&tidy->functions[middle], &wanted) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  tidy_function *found = &tidy->functions[low];
  return found->source && same_name(found->name, name) ? found : NULL;
}

tidy_function *functions_next(tidy_function *function) {
  return function[1].source && same_name(function[1].name, function->name) ? function + 1 : NULL;
}

bool word_is_member(tidy_word word) {
  if (word.offset > 0 && word.start[-1] == '.') return true;
  return word.offset > 1 && word.start[-1] == '>' && word.start[-2] == '-';
}

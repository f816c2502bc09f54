/* The functions that the sources define, sorted by name, so that a call can be traced to its file. */
#include "tidy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In a source, static functions are for that file alone; in a header, every function is for all files that include
 * it. */
static bool is_shared(const tidy_source *source, const tidy_declaration *declaration) {
  static const char *const own[] = {"static", "INLINE", "PREFETCH_FUNCTION"};
  if (source_ends(source, ".h")) return true;
  tidy_identifier word = {0};
  for (size_t at = declaration->start; source_next_identifier(source->code, declaration->name.offset, at, &word);
       at = word.offset + word.length)
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
      if (strlen(own[i]) == word.length && strncmp(source->code + word.offset, own[i], word.length) == 0) return false;
  return true;
}

static int compare(const void *one, const void *other) {
  const tidy_function *a = one, *b = other;
  int order = strncmp(a->name, b->name, a->length < b->length ? a->length : b->length);
  if (!order) order = (a->length > b->length) - (a->length < b->length);
  return order ? order : (a->source > b->source) - (a->source < b->source);
}

static void add(tidy_functions *list, const tidy_function *added) {
  enum { STEP = 256 };
  if (list->count % STEP == 0) list->items = realloc(list->items, (list->count + STEP) * sizeof *list->items);
  if (!list->items) {
    fputs("tidy: out of memory\n", stderr);
    exit(2);
  }
  list->items[list->count++] = *added;
}

void functions_list(tidy_functions *list, const tidy_run *tidy) {
  *list = (tidy_functions){0};
  for (size_t i = 0; i < tidy->source_count; i++) {
    const tidy_source *source = &tidy->sources[i];
    int room = tidy_room_of(source);
    if (room < 0) continue;
    tidy_declaration declaration;
    for (size_t at = 0; source_next_declaration(source, at, &declaration); at = declaration.end)
      if (declaration.kind == DECLARATION_FUNCTION)
        add(list, &(tidy_function){.name = source->code + declaration.name.offset,
                                   .length = declaration.name.length,
                                   .room = room,
                                   .shared = is_shared(source, &declaration),
                                   .source = i});
  }
  if (list->count) qsort(list->items, list->count, sizeof *list->items, compare);
}

bool function_is_named(const tidy_function *function, const char *name, size_t length) {
  return function->length == length && strncmp(function->name, name, length) == 0;
}

tidy_function *functions_find(const tidy_functions *list, const char *name, size_t length) {
  tidy_function wanted = {.name = name, .length = length};
  size_t low = 0, high = list->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (compare(&list->items[middle], &wanted) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low < list->count && function_is_named(&list->items[low], name, length) ? &list->items[low] : NULL;
}

bool source_is_member(const char *code, size_t offset) {
  if (offset > 0 && code[offset - 1] == '.') return true;
  return offset > 1 && code[offset - 1] == '>' && code[offset - 2] == '-';
}

#include "tidy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A static function of a .c file in src. */
typedef struct static_function {
  const tidy_source *source;
  tidy_identifier name;
  size_t lines; /* of its body, the braces included */
} static_function;

typedef struct function_list {
  static_function *functions;
  size_t count;
} function_list;

static bool is_static(const tidy_source *source, const tidy_declaration *function) {
  tidy_identifier first;
  return source_next_identifier(source->code, source->length, function->start, &first) && first.length == 6 &&
         strncmp(source->code + first.offset, "static", 6) == 0;
}

static void add_function(function_list *list, const tidy_source *source, const tidy_declaration *function) {
  list->functions = realloc(list->functions, (list->count + 1) * sizeof *list->functions);
  if (!list->functions) {
    fputs("tidy: out of memory\n", stderr);
    exit(2);
  }
  size_t first = source_line_at(source, function->body_open), last = source_line_at(source, function->body_end - 1);
  list->functions[list->count++] = (static_function){source, function->name, last - first + 1};
}

static int compare_names(const static_function *one, const static_function *other) {
  size_t shorter = one->name.length < other->name.length ? one->name.length : other->name.length;
  int order = strncmp(one->source->code + one->name.offset, other->source->code + other->name.offset, shorter);
  return order ? order : (one->name.length > other->name.length) - (one->name.length < other->name.length);
}

static int compare(const void *one, const void *other) {
  int order = compare_names(one, other);
  return order ? order
               : strcmp(((const static_function *)one)->source->path, ((const static_function *)other)->source->path);
}

/* Reports the long ones among functions of one name, when they stand in several files. */
static void check_namesakes(tidy_run *tidy, const static_function *functions, size_t count) {
  enum { FEW_LINES = 5 };
  if (functions[0].source == functions[count - 1].source) return; /* sorted by file */
  for (size_t i = 0; i < count; i++) {
    const static_function *function = &functions[i];
    const tidy_source *other = functions[function->source == functions[0].source ? count - 1 : 0].source;
    if (function->lines > FEW_LINES)
      tidy_report(tidy, function->source, source_line_at(function->source, function->name.offset), "names",
                  "%s has a %.*s, too: give it a word of its file, so that a search finds one place", other->path,
                  (int)function->name.length, function->source->code + function->name.offset);
  }
}

void rule_names(tidy_run *tidy) {
  function_list list = {0};
  for (size_t i = 0; i < tidy->source_count; i++) {
    const tidy_source *source = &tidy->sources[i];
    if (!source_in(source, "src/") || !source_ends(source, ".c")) continue;
    tidy_declaration declaration;
    for (size_t at = 0; source_next_declaration(source, at, &declaration); at = declaration.end)
      if (declaration.kind == DECLARATION_FUNCTION && is_static(source, &declaration))
        add_function(&list, source, &declaration);
  }
  if (list.count) qsort(list.functions, list.count, sizeof *list.functions, compare);
  for (size_t begin = 0, end; begin < list.count; begin = end) {
    for (end = begin + 1; end < list.count && compare_names(&list.functions[begin], &list.functions[end]) == 0;) end++;
    check_namesakes(tidy, &list.functions[begin], end - begin);
  }
  free(list.functions);
}

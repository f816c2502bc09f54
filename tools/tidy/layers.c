#include "tidy.h"

#include <string.h>

/* What the files of a folder outside the rooms (rooms.c) may include by quoted path, as prefixes from src; "" stands
 * for a file of the same folder, named without one. */
typedef struct layer_row {
  const char *folder;
  const char *below[4];
} layer_row;

static const layer_row layers[] = {
    {"include/muster/", {NULL}},
    {"tools/", {"base/", "scenarios/scenarios.h", ""}},
};

static const layer_row *layer_of(const tidy_source *source) {
  for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
    if (source_in(source, layers[i].folder)) return &layers[i];
  return NULL;
}

static bool allows(const layer_row *layer, const tidy_include *include) {
  for (const char *const *below = layer->below; *below; below++) {
    bool own = **below == '\0' && !memchr(include->path.start, '/', include->path.length);
    if (own || (**below && word_begins(include->path, *below))) return true;
  }
  return false;
}

static void check_quoted(tidy_run *tidy, const tidy_source *source, const layer_row *layer,
                         const tidy_include *include) {
  if (allows(layer, include)) return;
  tidy_report(
      tidy, source, include->line, "layers",
      "%.*s may not include \"%.*s\"; includes go down the layers, by path from src, so move what is needed down",
      (int)strlen(layer->folder) - 1, layer->folder, (int)include->path.length, include->path.start);
}

static void check_system(tidy_run *tidy, const tidy_source *source, const tidy_include *include) {
  static const char *const plain[] = {"stdbool.h", "stddef.h", "stdint.h", NULL};
  static const char *const timed[] = {"time.h", "sys/time.h", "pthread.h", "threads.h", NULL};
  static const char *const timeless[] = {"src/base/", "src/agents/", "src/plan/", NULL};
  tidy_word path = include->path;
  if (source_in(source, "include/") && !word_is_any(path, plain) && !word_begins(path, "muster/"))
    tidy_report(tidy, source, include->line, "layers",
                "a public header may include <muster/...>, <stdbool.h>, <stddef.h> and <stdint.h>, not <%.*s>",
                (int)path.length, path.start);
  if (source_in_any(source, timeless) && strcmp(source->path, "src/base/clock.c") != 0 && word_is_any(path, timed))
    tidy_report(
        tidy, source, include->line, "layers",
        "base, agents and plan know neither clock nor threads: be told the time as an argument instead of <%.*s>",
        (int)path.length, path.start);
}

/* For files in rooms, rooms.c checks the quoted paths. */
static void check_source(tidy_run *tidy, const tidy_source *source, const layer_row *layer) {
  for (tidy_include include = {0}; source_next_include(source, &include);) {
    if (include.open == '"' && layer)
      check_quoted(tidy, source, layer, &include);
    else if (include.open == '<')
      check_system(tidy, source, &include);
    else if (!include.open)
      tidy_report(tidy, source, include.line, "layers", "include a path, not the macro %.*s", (int)include.path.length,
                  include.path.start);
  }
}

void rule_layers(tidy_run *tidy) {
  for (size_t i = 0; i < tidy->source_count; i++) {
    const tidy_source *source = &tidy->sources[i];
    const layer_row *layer = layer_of(source);
    if (layer || source_in(source, "src/")) check_source(tidy, source, layer);
    if (!layer && source_in(source, "include/"))
      tidy_report(tidy, source, 0, "layers", "public headers stand in include/muster");
  }
}

static bool includes(const tidy_source *source, const char *header) {
  for (tidy_include include = {0}; source_next_include(source, &include);)
    if (include.open == '"' && word_is(include.path, header)) return true;
  return false;
}

void rule_god_header(tidy_run *tidy) {
  enum { LIMIT_PERCENT = 40 };
  for (size_t h = 0; h < tidy->source_count; h++) {
    const tidy_source *header = &tidy->sources[h];
    if (!source_in(header, "src/") || !source_ends(header, ".h")) continue;
    const char *path = header->path + strlen("src/");
    if (strcmp(path, "base/assert.h") == 0 || strcmp(path, "base/error.h") == 0) continue;
    size_t files = 0, users = 0;
    for (size_t i = 0; i < tidy->source_count; i++) {
      if (!source_in(&tidy->sources[i], "src/")) continue;
      files++;
      users += includes(&tidy->sources[i], path);
    }
    if (users * 100 > files * LIMIT_PERCENT)
      tidy_report(tidy, header, 0, "god-header", "%zu of %zu files of src include it, more than %d percent: split it",
                  users, files, LIMIT_PERCENT);
  }
}

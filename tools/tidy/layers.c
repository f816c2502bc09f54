#include "tidy.h"

#include <string.h>

/* Outside the rooms (rooms.c): public headers quote nothing, and tools what is below them, by path from src, the worlds
 * among the examples, and files beside them, named without a folder. */
static void check_quoted(tidy_run *tidy, const tidy_source *source, const tidy_include *include) {
  tidy_word path = include->path;
  bool tool = source_in(source, "tools/"), own = !memchr(path.start, '/', path.length);
  if (tool && (own || word_begins(path, "base/") || word_is(path, "scenarios/scenarios.h") ||
               word_is(path, "lua/lua_module.h") || word_is(path, "worlds/worlds.h")))
    return;
  tidy_report(tidy, source, include->line, "layers",
              "%s may not include \"%.*s\"; includes go down the layers, by path from src, so move what is needed down",
              tool ? "tools" : "include/muster", (int)path.length, path.start);
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
static void check_source(tidy_run *tidy, const tidy_source *source) {
  for (tidy_include include = {0}; source_next_include(source, &include);) {
    if (include.open == '"' && !source_in(source, "src/"))
      check_quoted(tidy, source, &include);
    else if (include.open == '<')
      check_system(tidy, source, &include);
    else if (!include.open)
      tidy_report(tidy, source, include.line, "layers", "include a path, not the macro %.*s", (int)include.path.length,
                  include.path.start);
  }
}

void rule_layers(tidy_run *tidy) {
  static const char *const folders[] = {"include/muster/", "src/", "tools/", NULL};
  for (const tidy_source *source = tidy->sources; source->path; source++) {
    if (source_in_any(source, folders))
      check_source(tidy, source);
    else if (source_in(source, "include/"))
      tidy_report(tidy, source, 0, "layers", "public headers stand in include/muster");
  }
}

void rule_god_header(tidy_run *tidy) {
  enum { LIMIT_PERCENT = 40 };
  for (const tidy_source *header = tidy->sources; header->path; header++) {
    if (!source_in(header, "src/") || !source_ends(header, ".h")) continue;
    const char *path = header->path + strlen("src/");
    if (strcmp(path, "base/assert.h") == 0 || strcmp(path, "base/error.h") == 0) continue;
    size_t files = 0, users = 0;
    for (const tidy_source *source = tidy->sources; source->path; source++) {
      if (!source_in(source, "src/")) continue;
      files++;
      users += source_includes(source, path);
    }
    if (users * 100 > files * LIMIT_PERCENT)
      tidy_report(tidy, header, 0, "god-header", "%zu of %zu files of src include it, more than %d percent: split it",
                  users, files, LIMIT_PERCENT);
  }
}

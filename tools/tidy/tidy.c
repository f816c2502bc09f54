/* tidy [--rooms] ROOT - see tidy.h. Exits with 0 when every rule holds, 1 when one is broken, 2 when it could not look.
 */
#include "tidy.h"

#include <errno.h>
#include <fts.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void tidy_report(tidy_run *tidy, const tidy_source *source, size_t line, const char *rule, const char *format, ...) {
  tidy->findings++;
  printf("%s:%zu: %s: ", source->path, line + 1, rule);
  va_list arguments;
  va_start(arguments, format);
  vprintf(format, arguments);
  va_end(arguments);
  putchar('\n');
}

void *tidy_must(void *memory) {
  if (memory) return memory;
  fputs("tidy: out of memory\n", stderr);
  exit(2);
}

static void fail(const char *what, const char *path) {
  fprintf(stderr, "tidy: %s %s\n", what, path);
  exit(2);
}

static void add_source(tidy_run *tidy, const char *path) {
  if (!source_read(&tidy->sources[tidy->source_count], path)) fail("cannot read as text:", path);
  tidy->sources = tidy_must(realloc(tidy->sources, (++tidy->source_count + 1) * sizeof *tidy->sources));
  tidy->sources[tidy->source_count] = (tidy_source){0};
}

static int compare_names(const FTSENT **one, const FTSENT **other) {
  return strcmp((*one)->fts_name, (*other)->fts_name);
}

/* Adds the C files below the current folder in the order of their paths. */
static void add_sources(tidy_run *tidy) {
  char *folders[] = {"include", "src", "tools", "bench", "tests", NULL};
  FTS *tree = fts_open(folders, FTS_LOGICAL | FTS_NOCHDIR, compare_names);
  if (!tree) fail("cannot read", "the folders");
  for (FTSENT *entry; (entry = fts_read(tree)) != NULL;) {
    const char *end = strrchr(entry->fts_name, '.');
    if (entry->fts_info == FTS_NS || entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR)
      fail("cannot read the folder", entry->fts_path);
    if (*entry->fts_name == '.')
      fts_set(tree, entry, FTS_SKIP);
    else if (entry->fts_info == FTS_F && end && (strcmp(end, ".c") == 0 || strcmp(end, ".h") == 0))
      add_source(tidy, entry->fts_path);
  }
  if (errno) fail("cannot read", "all folders");
  fts_close(tree);
}

int main(int count, char **arguments) {
  static void (*const rules[])(tidy_run *) = {rule_rooms, rule_circles,    rule_layers, rule_god_header,
                                              rule_words, rule_prefetch,   rule_length, rule_blanks,
                                              rule_names, rule_documented, rule_stages, rule_assertions};
  bool print = count == 3 && strcmp(arguments[1], "--rooms") == 0;
  if (count != 2 && !print) {
    fputs("usage: tidy [--rooms] ROOT\n"
          "Checks the house rules on the C files under ROOT, or prints which rooms of its src know which others,\n"
          "and how large they are.\n",
          stderr);
    return 2;
  }
  tidy_run tidy = {.sources = tidy_must(calloc(1, sizeof *tidy.sources))};
  if (chdir(arguments[count - 1]) != 0) fail("cannot read the folder", arguments[count - 1]);
  add_sources(&tidy);
  functions_list(&tidy);
  if (print) {
    tidy_print_rooms(&tidy);
    tidy_print_circles(&tidy);
    tidy_print_visible(&tidy);
  }
  for (size_t i = 0; i < sizeof rules / sizeof *rules && !print; i++) rules[i](&tidy);
  size_t findings = tidy.findings;
  printf("tidy: %zu files, %zu findings\n", tidy.source_count, findings);
  for (size_t i = 0; i < tidy.source_count; i++) source_free(&tidy.sources[i]);
  free(tidy.sources);
  free(tidy.functions);
  return findings > 0;
}

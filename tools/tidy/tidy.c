/* tidy [--rooms] ROOT - see tidy.h. Exits with 0 when every rule holds, 1 when one is broken, 2 when it could not look.
 */
#include "tidy.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_BYTES = 4096 };

void tidy_report(tidy_run *tidy, const tidy_source *source, size_t line, const char *rule, const char *format, ...) {
  tidy->findings++;
  printf("%s:%zu: %s: ", source->path, line + 1, rule);
  va_list arguments;
  va_start(arguments, format);
  vprintf(format, arguments);
  va_end(arguments);
  putchar('\n');
}

static void fail(const char *what, const char *path) {
  fprintf(stderr, "tidy: %s %s\n", what, path);
  exit(2);
}

static void add_source(tidy_run *tidy, const char *path) {
  tidy->sources = realloc(tidy->sources, (tidy->source_count + 1) * sizeof *tidy->sources);
  if (!tidy->sources) fail("out of memory at", path);
  if (!source_read(&tidy->sources[tidy->source_count], tidy->root, path)) fail("cannot read as text:", path);
  tidy->source_count++;
}

static bool is_c(const char *name) {
  size_t length = strlen(name);
  return length > 2 && name[length - 2] == '.' && (name[length - 1] == 'c' || name[length - 1] == 'h');
}

/* Adds the C files under a folder in the order of their names. */
static void add_folder(tidy_run *tidy, const char *folder) {
  char full[PATH_BYTES];
  if (snprintf(full, sizeof full, "%s/%s", tidy->root, folder) >= PATH_BYTES) fail("path too long:", folder);
  struct dirent **entries;
  int count = scandir(full, &entries, NULL, alphasort);
  if (count < 0) fail("cannot read the folder", full);
  for (int i = 0; i < count; i++) {
    const char *name = entries[i]->d_name;
    char path[PATH_BYTES];
    struct stat status;
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= PATH_BYTES ||
        snprintf(full, sizeof full, "%s/%s", tidy->root, path) >= PATH_BYTES)
      fail("path too long:", name);
    if (name[0] != '.' && stat(full, &status) == 0) {
      if (S_ISDIR(status.st_mode)) add_folder(tidy, path);
      if (S_ISREG(status.st_mode) && is_c(name)) add_source(tidy, path);
    }
    free(entries[i]);
  }
  free(entries);
}

int main(int count, char **arguments) {
  static const char *const folders[] = {"include", "src", "tools", "bench", "tests"};
  static void (*const rules[])(tidy_run *) = {rule_rooms,        rule_circles,  rule_layers,    rule_god_header,
                                              rule_atomics,      rule_prefetch, rule_clock,     rule_vocabulary,
                                              rule_no_leftovers, rule_length,   rule_blanks,    rule_names,
                                              rule_documented,   rule_stages,   rule_assertions};
  bool print = count == 3 && strcmp(arguments[1], "--rooms") == 0;
  if (count != 2 && !print) {
    fputs("usage: tidy [--rooms] ROOT\n"
          "Checks the house rules on the C files under ROOT, or prints which rooms of its src know which others,\n"
          "and how large they are.\n",
          stderr);
    return 2;
  }
  tidy_run tidy = {.root = arguments[count - 1]};
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) add_folder(&tidy, folders[i]);
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
  return findings > 0;
}

/* Visible members: how much of other rooms' structs a file can see.
 *
 * For each .c file of a room, the members of every struct and union that is defined in a file which it includes, also
 * by way of others, and which stands in another room. Each definition counts once for a file, with the members of the
 * structs and unions that are defined inside of it. Counted are declarators: `int a, b;` is two members, a member of a
 * struct's type is one (what that struct has counts where it is defined). Both branches of an #if count. */
#include "tidy.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOMS_SEEN_MAX = 32 };

/* What a file sees. */
typedef struct visible_file {
  const tidy_source *source;
  size_t members;
  size_t by_room[ROOMS_SEEN_MAX];
} visible_file;

/* --------------------------------------------------------------------------------------------------------- members */

/* Behind an attribute, an alignment or an assertion that stands here, or where it was. */
static size_t skip_attribute(const char *code, size_t at) {
  tidy_word word = word_at(code, at);
  if (!word_takes_parentheses(word)) return at;
  size_t open = code_skip_blanks(code, at + word.length);
  return code[open] == '(' ? code_skip_brackets(code, open) : open;
}

/* The brace that opens the body of the struct, union or enum with this keyword; 0 when it has none here. */
static size_t find_body(const char *code, tidy_word keyword) {
  size_t at = code_skip_blanks(code, keyword.offset + keyword.length);
  for (size_t next; (next = skip_attribute(code, at)) != at;) at = code_skip_blanks(code, next);
  at = code_skip_blanks(code, at + word_at(code, at).length); /* its name */
  return code[at] == '{' ? at : 0;
}

static bool is_struct(tidy_word word) {
  return word_is(word, "struct") || word_is(word, "union");
}

/* One declaration of a body, as far as it was read. */
typedef struct member_scan {
  size_t at;
  size_t members;
  bool declares; /* words stand there since the last member, and no body alone */
} member_scan;

static size_t count_body(const char *code, size_t open, size_t *end);

static void take_word(const char *code, member_scan *scan) {
  size_t behind = skip_attribute(code, scan->at);
  if (behind != scan->at) {
    scan->at = behind;
    return;
  }
  tidy_word word = word_at(code, scan->at);
  size_t open = is_struct(word) || word_is(word, "enum") ? find_body(code, word) : 0;
  if (open && is_struct(word))
    scan->members += count_body(code, open, &scan->at);
  else
    scan->at = open ? code_skip_brackets(code, open) : scan->at + word.length;
  scan->declares = !open;
}

/* Counts the members of the body at `open`; *end is one past its closing brace. */
static size_t count_body(const char *code, size_t open, size_t *end) {
  member_scan scan = {.at = open + 1};
  while (code[scan.at] && code[scan.at] != '}') {
    char c = code[scan.at];
    if (isalpha((unsigned char)c) || c == '_') {
      take_word(code, &scan);
      continue;
    }
    if (c == ';' || c == ',') {
      scan.members += scan.declares;
      scan.declares = false;
    }
    if (c == '(') scan.declares = true; /* of a pointer to a function */
    scan.at = c == '(' || c == '[' || c == '{' ? code_skip_brackets(code, scan.at) : scan.at + 1;
  }
  *end = scan.at + (code[scan.at] == '}');
  return scan.members;
}

/* The members of all structs and unions that a file defines. */
static size_t count_members(const tidy_source *source) {
  size_t members = 0;
  for (tidy_word word = {0}; word_next(source->code, source->length, &word);) {
    size_t open = is_struct(word) ? find_body(source->code, word) : 0, end;
    if (!open) continue;
    members += count_body(source->code, open, &end);
    word = (tidy_word){.offset = end};
  }
  return members;
}

/* -------------------------------------------------------------------------------------------------------- includes */

/* The file of a path, whose first part may be given apart; null when there is none. */
static tidy_source *find_source(const tidy_run *tidy, const char *folder, size_t folder_length, tidy_word path) {
  for (tidy_source *source = tidy->sources; source->path; source++)
    if (strncmp(source->path, folder, folder_length) == 0 && word_is(path, source->path + folder_length)) return source;
  return NULL;
}

/* As the compiler does: beside the file that includes it, else from src. */
static tidy_source *find_included(const tidy_run *tidy, const tidy_source *source, tidy_word path) {
  tidy_source *found = find_source(tidy, source->path, (size_t)(source_name(source) - source->path), path);
  return found ? found : find_source(tidy, "src/", strlen("src/"), path);
}

static void reach(const tidy_run *tidy, tidy_source *source, const tidy_source *from) {
  source->seen_from = from;
  for (tidy_include include = {0}; source_next_include(source, &include);) {
    tidy_source *found = include.open == '"' ? find_included(tidy, source, include.path) : NULL;
    if (found && found->seen_from != from) reach(tidy, found, from);
  }
}

/* ------------------------------------------------------------------------------------------------------------ print */

static visible_file look_from(const tidy_run *tidy, tidy_source *from) {
  visible_file file = {.source = from};
  reach(tidy, from, from);
  for (const tidy_source *source = tidy->sources; source->path; source++) {
    int room = source->seen_from == from ? tidy_room_of(source) : -1;
    if (room < 0 || room == tidy_room_of(from)) continue;
    file.members += source->members;
    file.by_room[room] += source->members;
  }
  return file;
}

/* The most first, then in the order of their paths. */
static int compare_files(const void *one, const void *other) {
  const visible_file *a = one, *b = other;
  if (a->members != b->members) return a->members < b->members ? 1 : -1;
  return (a->source > b->source) - (a->source < b->source);
}

static void print_file(const visible_file *file) {
  printf("%6zu %-36s", file->members, file->source->path);
  for (int room = 0; tidy_room_name(room); room++)
    if (file->by_room[room]) printf(" %s %zu", tidy_room_name(room), file->by_room[room]);
  putchar('\n');
}

void tidy_print_visible(tidy_run *tidy) {
  visible_file *files = tidy_must(calloc(tidy->source_count + 1, sizeof *files));
  size_t count = 0, sum = 0, seeing = 0;
  for (tidy_source *source = tidy->sources; source->path; source++) source->members = count_members(source);
  for (tidy_source *source = tidy->sources; source->path; source++) {
    if (tidy_room_of(source) < 0 || !source_ends(source, ".c")) continue;
    files[count] = look_from(tidy, source);
    sum += files[count].members;
    seeing += files[count].members > 0;
    count++;
  }
  qsort(files, count, sizeof *files, compare_files);
  printf("members of other rooms' structs that a file sees:\n");
  for (size_t i = 0; i < seeing; i++) print_file(&files[i]);
  printf("%6zu members in all, seen by %zu of %zu files\n", sum, seeing, count);
  free(files);
}

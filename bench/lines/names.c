#include "names.h"

#include "lines.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANGES_MAX = 4096 };

typedef struct named_range {
  uintptr_t first, end;
  uint32_t name;
} named_range;

/* What a line of code reserved, and the function that had it do so; empty where that is not known. */
typedef struct names_name {
  char what[LINES_NAME_BYTES], caller[LINES_NAME_BYTES];
  bool ambiguous; /* the same line did so for other functions, too */
} names_name;

static struct {
  named_range ranges[RANGES_MAX];
  uint32_t range_count, name_count;
  names_name known[LINES_STRUCTURES_MAX];
  bool sorted;
} names;

void names_forget(void) {
  names.range_count = 0;
  names.name_count = 1;
  names.known[0] = (names_name){.what = "(not of an arena)"};
}

void names_write(uint32_t number, char text[LINES_NAME_BYTES]) {
  const names_name *name = &names.known[number];
  int room = LINES_NAME_BYTES / 2 - 2; /* for either */
  if (name->ambiguous && *name->caller)
    snprintf(text, LINES_NAME_BYTES, "%.*s, %.*s", room, name->what, room, name->caller);
  else
    snprintf(text, LINES_NAME_BYTES, "%s", name->what);
}

uint32_t names_count(void) {
  return names.name_count;
}

static int names_in_order(const void *one, const void *other) {
  const named_range *a = one, *b = other;
  return (a->first > b->first) - (a->first < b->first);
}

uint32_t names_at(uintptr_t line) {
  if (!names.sorted) qsort(names.ranges, names.range_count, sizeof *names.ranges, names_in_order);
  names.sorted = true;
  uint32_t low = 0, high = names.range_count;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (names.ranges[middle].end <= line)
      low = middle + 1;
    else
      high = middle;
  }
  return low < names.range_count && names.ranges[low].first < line + LINES_BYTES ? names.ranges[low].name : 0;
}

/* The number of a name, new or not; 0, that of memory without one, where there are too many. */
static uint32_t names_number_of(const names_name *name) {
  bool ambiguous = false;
  for (uint32_t i = 1; i < names.name_count; i++) {
    names_name *other = &names.known[i];
    if (strcmp(other->what, name->what) != 0) continue;
    if (strcmp(other->caller, name->caller) == 0) return i;
    other->ambiguous = ambiguous = true;
  }
  if (names.name_count == LINES_STRUCTURES_MAX) return 0;
  names.known[names.name_count] = *name;
  names.known[names.name_count].ambiguous = ambiguous;
  return names.name_count++;
}

/* The last name in the size of an element: "rows" of "sizeof *(store->rows)". */
static const char *names_last_word(const char *what, int *length) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  const char *word = what;
  *length = 0;
  for (const char *next = what; *next;) {
    int letters_long = (int)strspn(next, letters);
    if (letters_long > 0) {
      word = next;
      *length = letters_long;
    }
    next += letters_long > 0 ? letters_long : 1;
  }
  return word;
}

/* A cache of compiled files may have made the path a relative one, which is then not shortened. */
static const char *names_short(const char *file) {
  if (strncmp(file, "../", 3) != 0) return file;
  while (strncmp(file, "../", 3) == 0) file += 3;
  const char *slash = strchr(file, '/');
  return slash ? slash + 1 : file;
}

/* "agents/lists.c blocks" for "classes_create": the function that called the one which reserves. Functions of one file
 * alone have no name here. */
static void names_make(names_name *name, const char *what, const char *file, const void *caller) {
  Dl_info found = {0};
  int length;
  const char *word = names_last_word(what, &length);
  bool known = dladdr(caller, &found) && found.dli_sname;
  *name = (names_name){0};
  snprintf(name->what, sizeof name->what, "%s %.*s", names_short(file), length, word);
  snprintf(name->caller, sizeof name->caller, "%s", known ? found.dli_sname : "");
}

static void *names_keep(void *memory, size_t bytes, const char *what, const char *file, const void *caller) {
  names_name name;
  if (!memory || names.range_count == RANGES_MAX) return memory;
  names_make(&name, what, file, caller);
  uintptr_t first = (uintptr_t)memory;
  names.ranges[names.range_count++] = (named_range){first, first + bytes, names_number_of(&name)};
  names.sorted = false;
  return memory;
}

/* All that is instrumented keeps frame pointers. */
#define CALLER ((const char *)__builtin_return_address(1) - 1)

void *names_reserve(struct arena *arena, size_t count, size_t each, const char *what, const char *file) {
  return names_keep(arena_reserve(arena, count, each), count * each, what, file, CALLER);
}

void *names_reserve_for_frames(struct arena *arena, size_t count, size_t each, const char *what, const char *file) {
  return names_keep(arena_reserve_for_frames(arena, count, each), count * each, what, file, CALLER);
}

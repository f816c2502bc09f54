/* Circles inside a room: files whose functions call each other's, directly or by way of others.
 *
 * A file is an .h or a .c by itself: an inline function of a header stands below what is declared beside it. A
 * circle of a header and its own source alone is none. Only a call counts, a name with its parenthesis inside a
 * function's body: code that is handed a function pointer does not know the function's file. */
#include "tidy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The files of one room, and which of them call which. */
typedef struct circle_room {
  tidy_run *tidy;
  int room;
  size_t count;
  const tidy_source **sources;
  const tidy_function **one; /* count x count: a function that the row's file calls of the column's; null: none */
  bool *reach;               /* count x count: directly or by way of others */
} circle_room;

/* The file's place in the room; `count` when it is in none. */
static size_t place_of(const circle_room *circle, const tidy_source *source) {
  size_t place = 0;
  while (place < circle->count && circle->sources[place] != source) place++;
  return place;
}

/* The function of the room that a name means in a file; null when there is none. The file's own goes first. */
static const tidy_function *find_in_room(const circle_room *circle, tidy_word name, const tidy_source *source) {
  const tidy_function *found = NULL;
  for (tidy_function *at = functions_find(circle->tidy, name); at; at = functions_next(at)) {
    if (at->source == source) return at;
    if (at->shared && at->room == circle->room) found = at;
  }
  return found;
}

static void note_calls(circle_room *circle, const tidy_function *function) {
  const char *code = function->source->code;
  size_t row = place_of(circle, function->source) * circle->count;
  for (tidy_word word = {.offset = function->body_open}; word_next(code, function->body_end, &word);) {
    if (word.start[word.length] != '(' || word_is_member(word)) continue;
    const tidy_function *used = find_in_room(circle, word, function->source);
    if (!used || used->source == function->source) continue;
    size_t index = row + place_of(circle, used->source);
    circle->one[index] = used;
    circle->reach[index] = true;
  }
}

static void open_room(circle_room *circle) {
  const tidy_run *tidy = circle->tidy;
  circle->sources = tidy_must(calloc(tidy->source_count + 1, sizeof *circle->sources));
  for (const tidy_source *source = tidy->sources; source->path; source++)
    if (tidy_room_of(source) == circle->room) circle->sources[circle->count++] = source;
  size_t count = circle->count;
  circle->one = tidy_must(calloc(count * count + 1, sizeof *circle->one));
  circle->reach = tidy_must(calloc(count * count + 1, sizeof *circle->reach));
  for (const tidy_function *at = tidy->functions; at->source; at++)
    if (at->room == circle->room) note_calls(circle, at);
  for (size_t via = 0; via < count; via++)
    for (size_t from = 0; from < count; from++)
      for (size_t to = 0; to < count; to++)
        circle->reach[from * count + to] |= circle->reach[from * count + via] && circle->reach[via * count + to];
}

static void close_room(circle_room *circle) {
  free(circle->sources);
  free(circle->one);
  free(circle->reach);
}

/* Whether two files are in one circle. */
static bool together(const circle_room *circle, size_t one, size_t other) {
  return circle->reach[one * circle->count + other] && circle->reach[other * circle->count + one];
}

static const char *file_name(const circle_room *circle, size_t place) {
  return source_name(circle->sources[place]);
}

/* Whether two files are a header and its source. */
static bool are_one(const circle_room *circle, size_t one, size_t other) {
  const char *a = file_name(circle, one), *b = file_name(circle, other);
  size_t length = (size_t)(strrchr(a, '.') - a);
  return strncmp(a, b, length) == 0 && b[length] == '.' && !strchr(b + length + 1, '.');
}

/* Whether a file is in a circle with others than its own header, and no file before it is in the same one: the circle
 * is reported at the first.
 */
static bool is_first(const circle_room *circle, size_t place) {
  bool others = false;
  for (size_t i = 0; i < circle->count; i++) {
    if (!together(circle, i, place)) continue;
    if (i < place) return false;
    others |= !are_one(circle, i, place);
  }
  return others;
}

static void report_circle(const circle_room *circle, size_t first) {
  char names[1024] = "";
  for (size_t i = first + 1; i < circle->count; i++) {
    size_t length = strlen(names);
    if (together(circle, first, i)) snprintf(names + length, sizeof names - length, " %s", file_name(circle, i));
  }
  tidy_report(circle->tidy, circle->sources[first], 0, "circles",
              "it calls, and is called by way of,%s: move what both need to a file below them", names);
}

static void print_circle(const circle_room *circle, size_t first) {
  printf("circle in %s:\n", tidy_room_name(circle->room));
  for (size_t from = 0; from < circle->count; from++)
    for (size_t to = 0; to < circle->count; to++) {
      const tidy_function *one = circle->one[from * circle->count + to];
      if (!one || !together(circle, first, from) || !together(circle, first, to)) continue;
      printf("  %-24s -> %-24s %.*s\n", file_name(circle, from), file_name(circle, to), (int)one->name.length,
             one->name.start);
    }
}

static void each_circle(tidy_run *tidy, bool outside, void (*tell)(const circle_room *circle, size_t first)) {
  for (int room = 0; tidy_room_name(room); room++) {
    circle_room circle = {.tidy = tidy, .room = room};
    if (!outside && tidy_room_is_outside(room)) continue;
    open_room(&circle);
    for (size_t i = 0; i < circle.count; i++)
      if (is_first(&circle, i)) tell(&circle, i);
    close_room(&circle);
  }
}

void rule_circles(tidy_run *tidy) {
  each_circle(tidy, false, report_circle);
}

void tidy_print_circles(tidy_run *tidy) {
  each_circle(tidy, true, print_circle);
}

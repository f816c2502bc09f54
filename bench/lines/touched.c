#include "touched.h"

#include "lines.h"

#include <pthread.h>
#include <stdlib.h>

enum { PLACES_FIRST = 1 << 21, RECENT = 64 };

typedef struct touched_line {
  uintptr_t number; /* 0 = none */
  uint32_t parts;
} touched_line;

/* A table with open addressing, at most half full. `recent` is a small cache before it: lines that were found last. */
static struct {
  bool on, failed;
  uint32_t part;
  uintptr_t stack_end;
  touched_line *lines;
  uint32_t *used; /* places in the table */
  uint32_t places, count;
  uintptr_t recent[RECENT];
} touched;

static touched_line *touched_place_of(touched_line *lines, uint32_t places, uintptr_t number) {
  uint32_t place = (uint32_t)((uint64_t)number * 0x9e3779b97f4a7c15u >> 32) & (places - 1);
  while (lines[place].number && lines[place].number != number) place = (place + 1) & (places - 1);
  return &lines[place];
}

/* Makes the table so large, with the lines that are in it. */
static bool touched_make(uint32_t places) {
  touched_line *lines = calloc(places, sizeof *lines);
  uint32_t *used = calloc(places / 2, sizeof *used);
  if (!lines || !used) {
    free(lines);
    free(used);
    return false;
  }
  for (uint32_t i = 0; i < touched.count; i++) {
    const touched_line *line = &touched.lines[touched.used[i]];
    touched_line *place = touched_place_of(lines, places, line->number);
    *place = *line;
    used[i] = (uint32_t)(place - lines);
  }
  free(touched.lines);
  free(touched.used);
  touched.lines = lines;
  touched.used = used;
  touched.places = places;
  return true;
}

static void touched_forget_recent(void) {
  for (uint32_t i = 0; i < RECENT; i++) touched.recent[i] = 0;
}

static uintptr_t touched_end_of_stack(void) {
  pthread_attr_t attributes;
  void *stack = NULL;
  size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
  pthread_attr_getstack(&attributes, &stack, &bytes);
  pthread_attr_destroy(&attributes);
  return (uintptr_t)stack + bytes;
}

bool touched_begin(uint32_t part) {
  if (!touched.lines && !touched_make(PLACES_FIRST)) return false;
  for (uint32_t i = 0; i < touched.count; i++) touched.lines[touched.used[i]] = (touched_line){0};
  touched.count = 0;
  touched.failed = false;
  if (!touched.stack_end) touched.stack_end = touched_end_of_stack();
  touched_turn(part);
  touched.on = true;
  return touched.stack_end != 0;
}

void touched_turn(uint32_t part) {
  touched.part = part;
  touched_forget_recent();
}

bool touched_end(void) {
  touched.on = false;
  return !touched.failed;
}

static void touched_add(uintptr_t number) {
  touched_line *line = touched_place_of(touched.lines, touched.places, number);
  if (!line->number) {
    if (touched.count == touched.places / 2) {
      touched.failed |= touched.places > UINT32_MAX / 4 || !touched_make(touched.places * 2);
      if (touched.failed) return;
      line = touched_place_of(touched.lines, touched.places, number);
    }
    line->number = number;
    touched.used[touched.count++] = (uint32_t)(line - touched.lines);
  }
  line->parts |= 1u << touched.part;
}

void touched_note(const volatile void *address, size_t bytes) {
  if (!touched.on || bytes == 0) return;
  uintptr_t first = (uintptr_t)address, last = first + bytes - 1;
  if (first >= (uintptr_t)__builtin_frame_address(0) && first < touched.stack_end) return;
  for (uintptr_t number = first / LINES_BYTES; number <= last / LINES_BYTES; number++) {
    uintptr_t *recent = &touched.recent[number % RECENT];
    if (*recent == number) continue;
    *recent = number;
    touched_add(number);
  }
}

void touched_visit(void (*show)(uintptr_t line, uint32_t parts, void *user), void *user) {
  for (uint32_t i = 0; i < touched.count; i++) {
    const touched_line *line = &touched.lines[touched.used[i]];
    show(line->number * LINES_BYTES, line->parts, user);
  }
}

/* tests/support/trace_text.h - a trace as a text, in which every event is a line of its own, and what events say. */
#ifndef TRACE_TEXT_H
#define TRACE_TEXT_H

#include "support/little_world.h"

#include <muster/trace.h>

#include <stdio.h>
#include <stdlib.h>

struct text {
  char *bytes;
  size_t length, capacity, longest_part;
  uint32_t parts, parts_taken; /* parts given so far; parts that are taken before one is refused */
};

static inline bool take(const char *part, size_t length, void *user) {
  struct text *text = user;
  if (++text->parts > text->parts_taken) return false;
  if (length > text->longest_part) text->longest_part = length;
  while (text->length + length >= text->capacity) {
    text->capacity = text->capacity ? text->capacity * 2 : 65536;
    text->bytes = realloc(text->bytes, text->capacity);
  }
  cr_assert_not_null(text->bytes);
  memcpy(text->bytes + text->length, part, length);
  text->length += length;
  text->bytes[text->length] = '\0';
  return true;
}

static inline void text_forget(struct text *text) {
  free(text->bytes);
}

static inline struct text write_trace(const little_world *little) {
  struct text text = {.parts_taken = UINT32_MAX};
  cr_assert_eq(muster_trace_write(little->world, take, &text), MUSTER_OK, "%s", muster_last_error());
  cr_assert_eq(strlen(text.bytes), text.length);
  return text;
}

static inline uint32_t count_of(const char *text, const char *what) {
  uint32_t count = 0;
  for (const char *next = text; (next = strstr(next, what)); next++) count++;
  return count;
}

/* The line behind this one that begins so; null at the end. Looks at beginnings of lines only: a sanitizer's strstr()
 * measures all of the rest of the text each time. */
static inline const char *next_line(const char *from, const char *begins) {
  for (size_t length = strlen(begins);;) {
    while (*from && *from != '\n') from++;
    if (!*from) return NULL;
    if (strncmp(++from, begins, length) == 0) return from;
  }
}

/* The next event of this phase and category. */
static inline const char *next_event(const char *from, const char *phase, const char *category) {
  char begins[64];
  snprintf(begins, sizeof begins, "{\"ph\":\"%s\",\"cat\":\"%s\"", phase, category);
  const char *event = next_line(from, begins);
  if (event) cr_assert_not_null(strchr(event, '\n'), "%s: its line has no end", begins);
  return event;
}

/* Where these words begin in the line of an event; null where they are not in it. */
static inline const char *said_in(const char *event, const char *words) {
  return memmem(event, strcspn(event, "\n"), words, strlen(words));
}

/* What stands behind `"name":`. */
static inline const char *behind(const char *event, const char *name) {
  char key[64];
  size_t length = (size_t)snprintf(key, sizeof key, "\"%s\":", name);
  const char *found = said_in(event, key);
  cr_assert_not_null(found, "no %s in %.300s", name, event);
  return found + length;
}

static inline double real_in(const char *event, const char *name) {
  return strtod(behind(event, name), NULL);
}

static inline uint64_t number_in(const char *event, const char *name) {
  return strtoull(behind(event, name), NULL, 10);
}

/* Of microseconds with three digits behind the point: nanoseconds. */
static inline uint64_t time_in(const char *event, const char *name) {
  char *end;
  uint64_t whole = strtoull(behind(event, name), &end, 10);
  cr_assert_eq(*end, '.');
  return whole * 1000 + strtoull(end + 1, NULL, 10);
}

static inline bool is_called(const char *event, const char *name) {
  char key[64];
  snprintf(key, sizeof key, "\"name\":\"%s\"", name);
  return said_in(event, key) != NULL;
}

#endif

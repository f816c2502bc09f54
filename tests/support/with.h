/* support/with.h - what tests write most often, in one line each. */
#ifndef MUSTER_TESTS_WITH_H
#define MUSTER_TESTS_WITH_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A definition, or whatever else has a function of its default, that differs from it in some fields:
 *
 *   muster_type_def type = WITH(muster_type_def, it.period_ns = 5 * MS, it.elasticity = 0);
 */
#define WITH(TYPE, ...)                                                                                                \
  __extension__({                                                                                                      \
    TYPE it = TYPE##_default();                                                                                        \
    __VA_ARGS__;                                                                                                       \
    it;                                                                                                                \
  })

/* As WITH(), but beginning with a value of the same type:
 *
 *   add_type(&little, CHANGED(type, it.elasticity = 0)); */
#define CHANGED(VALUE, ...)                                                                                            \
  __extension__({                                                                                                      \
    __auto_type it = VALUE;                                                                                            \
    __VA_ARGS__;                                                                                                       \
    it;                                                                                                                \
  })

/* A variable that is given back when its block ends, by a function that takes its address:
 *
 *   SCOPED(little_world_destroy) little_world little = papers_world(1);
 *
 * A failed assertion ends the process without it. */
#define SCOPED(GIVE_BACK) __attribute__((cleanup(GIVE_BACK), unused))

/* SCOPED(free_memory), of what malloc() gave. */
static inline void free_memory(void *variable) {
  void *memory;
  memcpy(&memory, variable, sizeof memory);
  free(memory);
}

/* A text in printf's manner, for as long as the process lives, as each test's does; for its own thread. */
static inline __attribute__((format(printf, 1, 2))) const char *formed(const char *format, ...) {
  struct formed_text {
    struct formed_text *last;
    char text[];
  };
  static struct formed_text *texts; /* so that none of them is lost */
  va_list values;
  va_start(values, format);
  int length = vsnprintf(NULL, 0, format, values);
  va_end(values);
  struct formed_text *made = length < 0 ? NULL : malloc(sizeof *made + (size_t)length + 1);
  if (!made) abort();
  va_start(values, format);
  vsnprintf(made->text, (size_t)length + 1, format, values);
  va_end(values);
  made->last = texts;
  texts = made;
  return made->text;
}

/* For qsort(), of 64-bit numbers. */
static inline int compare_numbers(const void *a, const void *b) {
  uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
  return left < right ? -1 : left > right;
}

/* How many elements an array has. */
#define COUNT_OF(ARRAY) (sizeof(ARRAY) / sizeof *(ARRAY))

#endif

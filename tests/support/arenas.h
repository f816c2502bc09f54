/* tests/support/arenas.h - memory of a test, given back when its block ends. */
#ifndef SUPPORT_ARENAS_H
#define SUPPORT_ARENAS_H

#include "base/arena.h"
#include "base/random.h"
#include "support/with.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An arena on the operating system's memory: SCOPED(arena_destroy). */
static inline struct arena begin_arena(void) {
  struct arena arena;
  cr_assert_eq(arena_create(&arena, &(muster_allocator){0}), MUSTER_OK);
  return arena;
}

/* A fixture is a struct that begins with an arena. One on the heap, zeroed: SCOPED(free_fixture), of a variable that
 * points to it. */
static inline void *new_fixture(size_t bytes) {
  struct arena *fixture = calloc(1, bytes);
  cr_assert_not_null(fixture);
  *fixture = begin_arena();
  return fixture;
}

static inline void free_fixture(void *pointer) {
  void *fixture = *(void **)pointer;
  arena_destroy(fixture);
  free(fixture);
}

/* SCOPED(end_fixture), of one that is a variable. */
static inline void end_fixture(void *fixture) {
  arena_destroy(fixture);
}

#endif

/* tests/support/await.h - a wait for what other threads or processes do. It ends with words when that does not come. */
#ifndef AWAIT_H
#define AWAIT_H

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Takes turns with `turn` until the condition holds; ends the program after two minutes. On any thread. */
#define AWAIT_WITH(turn, condition)                                                                                    \
  for (time_t await_began = time(NULL); !(condition); await_look(await_began, __FILE__, __LINE__, #condition)) turn

/* The same, and other threads run meanwhile. */
#define AWAIT(condition) AWAIT_WITH(sched_yield(), condition)

static inline void await_look(time_t began, const char *file, int line, const char *condition) {
  enum { PATIENCE_S = 120 };
  if (time(NULL) - began < PATIENCE_S) return;
  fprintf(stderr, "%s:%d: waited %d s for: %s\n", file, line, PATIENCE_S, condition);
  abort();
}

#endif

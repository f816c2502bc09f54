/* misuse/throwing.h - exceptions of a C++ compiler, where there is one. */
#ifndef MISUSE_THROWING_H
#define MISUSE_THROWING_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef MISUSE_HAS_CXX
/* Throws a std::runtime_error. */
void throw_something(void);

/* Calls a function and catches whatever it throws. */
void catching_run(void (*run)(void));
#else
static inline void throw_something(void) {}
static inline void catching_run(void (*run)(void)) {
  (void)run;
}
#endif

static inline bool throwing_is_built(void) {
#ifdef MISUSE_HAS_CXX
  return true;
#else
  return false;
#endif
}

#ifdef __cplusplus
}
#endif

#endif

/* pool/crowds.h - what tests share in which many threads use one thing at once. */
#ifndef POOL_CROWDS_H
#define POOL_CROWDS_H

#include "pool/atomics.h"
#include "support/arenas.h"
#include "support/await.h"

#include <pthread.h>

static inline pthread_t start_thread(void *(*run)(void *), void *argument) {
  pthread_t thread;
  cr_assert_eq(pthread_create(&thread, NULL, run, argument), 0);
  return thread;
}

/* Each has an argument of its own, so many bytes behind that of the one before; 0: all have the same. */
static inline void start_threads(pthread_t *threads, uint32_t count, void *(*run)(void *), void *arguments,
                                 size_t each) {
  for (uint32_t i = 0; i < count; i++) threads[i] = start_thread(run, (char *)arguments + i * each);
}

static inline void join_threads(const pthread_t *threads, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) cr_assert_eq(pthread_join(threads[i], NULL), 0);
}

#endif

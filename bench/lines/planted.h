/* planted.h - accesses of which it is known how many lines they touch: they are compiled as the library is, and show
 * that nothing is missed and nothing counted twice. */
#ifndef BENCH_PLANTED_H
#define BENCH_PLANTED_H

#include "base/arena.h"

#include <stdint.h>

#define PLANTED_NAME "lines/planted.c numbers"

enum { PLANTED_LINES = 64 };

/* How many lines each touches. */
enum {
  PLANTED_READS = 40,
  PLANTED_WRITES = 20,
  PLANTED_ACROSS = 2, /* by one number that lies in two */
  PLANTED_COPY = 10,  /* five are copied to five others */
  PLANTED_CLEARED = 3,
  PLANTED_ATOMIC = 4
};

typedef struct planted_line {
  _Alignas(64) uint64_t numbers[8];
} planted_line;

planted_line *planted_reserve(struct arena *arena);

/* Each begins at `lines` and touches so many as its name says above. */
uint64_t planted_read(const planted_line *lines);
void planted_write(planted_line *lines);
uint64_t planted_read_across(const planted_line *lines);
void planted_copy(planted_line *lines);                     /* as a struct */
void planted_copy_bytes(planted_line *lines, size_t bytes); /* by the C library: 5 lines of `bytes` */
void planted_clear(planted_line *lines, size_t bytes);
void planted_count(planted_line *lines); /* atomically */

/* What is on the stack does not count. */
uint64_t planted_on_stack(uint64_t seed);

#endif

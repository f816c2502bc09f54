/* lines.h - how many distinct cache lines each stage of a frame touches for a completed update, and of which data
 * structures they are.
 *
 * The library is compiled a second time with the instrumentation of ThreadSanitizer, but without its run time: each
 * read and each write calls a function of hooks.c, and touched.c notes the line. Arrays are named by the calls by which
 * the library reserves them (renamed.h, names.c). All of this is one module, bench/lines.so beside the program, so that
 * no other bench is slowed. LINES_ENTRY is what the program calls of it.
 *
 * gcc does not instrument structs that are passed by value to a function which is not inlined, or that such a function
 * returns into memory. Those of the library are a few per frame, and where an update moves its agent, the place in its
 * result. Worlds in which updates do nothing have none of the latter. */
#ifndef BENCH_LINES_H
#define BENCH_LINES_H

#include <muster/muster.h>

#include <stdbool.h>
#include <stdint.h>

#define LINES_ENTRY "lines_measure"

enum {
  LINES_BYTES = 64,
  LINES_ROWS = 4, /* the first of `bench stages` */
  LINES_STRUCTURES_MAX = 256,
  LINES_NAME_BYTES = 96
};

/* Columns: the stages by muster_stage, and these. */
enum {
  LINES_AROUND = MUSTER_STAGES, /* of a frame, before its first stage and behind its last */
  LINES_PARTS,
  LINES_SUM = LINES_PARTS, /* in any of these but run: a line that several touch counts once */
  LINES_COLUMNS
};

typedef struct lines_structure {
  char name[LINES_NAME_BYTES];
  double lines[LINES_COLUMNS]; /* per completed update */
} lines_structure;

typedef struct lines_row {
  const char *name;
  uint32_t agents;
  bool measured; /* it was wanted */
  double updates_per_frame, carried_per_frame, pressure, budget_ns;
  uint32_t frames;
  double lines[LINES_COLUMNS]; /* per completed update, of all structures */
  uint32_t count;              /* structures that were touched, those with most lines first */
  lines_structure structures[LINES_STRUCTURES_MAX];
} lines_row;

typedef struct lines_setup {
  size_t size;     /* of a lines_row: the module and the program are of one build */
  uint32_t agents; /* of the large worlds */
  uint32_t wanted; /* a bit for each row to be measured */
  bool quick;      /* a few frames, to see that it works */
  void (*show)(const char *row, const char *doing, void *user); /* called before each step */
  void *user;
} lines_setup;

/* Counts known accesses first, and then those of the wanted rows. Null, or what went wrong (valid until the next
 * call). */
typedef const char *lines_measure_function(const lines_setup *setup, lines_row rows[LINES_ROWS]);

lines_measure_function lines_measure __attribute__((visibility("default")));

#endif

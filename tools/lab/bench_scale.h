/* bench_scale.h - what `muster bench scale` was asked for, and what it found. */
#ifndef TOOLS_BENCH_SCALE_H
#define TOOLS_BENCH_SCALE_H

#include "benches.h"
#include "scale.h"

enum { SCALE_LIST_MAX = 64, SCALE_NOTE_BYTES = 256, SCALE_WRONG_BYTES = 1024 };

typedef struct scale_list {
  uint32_t values[SCALE_LIST_MAX];
  uint32_t count;
} scale_list;

typedef struct scale_work {
  bench_work common;
  const char *agents_given, *observers_given, *workers_given; /* lists with commas; null = the default */
  scale_list agents, observers, workers;
  /* Address space, of which few pages are used; rows without agents end both. */
  scale_row rows[SCALE_LIST_MAX * SCALE_LIST_MAX * SCALE_LIST_MAX + 1];
  scale_spawning spawnings[SCALE_LIST_MAX + 1]; /* one for each number of workers */
  uint32_t row_count, spawning_count;
  char notes[SCALE_LIST_MAX][SCALE_NOTE_BYTES]; /* what was left out, and why */
  uint32_t note_count;
  char wrong[SCALE_WRONG_BYTES]; /* what ended it, and in which row */
} scale_work;

/* The tables, the document, and a figure of the overhead against the number of agents, as a bench has them. */
void scale_print(const void *user);
void scale_write(const void *user, json_writer *writer);
bool scale_plot(const void *user, const char *folder);

#endif

/* parts.h - the lines of frames, by data structure and part of the frame. */
#ifndef BENCH_PARTS_H
#define BENCH_PARTS_H

#include "lines.h"

/* Sums over frames. */
typedef struct parts_tally {
  uint64_t lines[LINES_STRUCTURES_MAX][LINES_COLUMNS]; /* by the number of a name */
  uint64_t all[LINES_COLUMNS];
  uint64_t updates, carried, frames;
  double pressure;
} parts_tally;

/* Adds what was touched since touched_begin(). */
void parts_take(parts_tally *tally);

/* Whether no line was missed in all frames up to now. */
bool parts_are_whole(void);

/* Makes the row's structures of it. False: no update was completed. */
bool parts_conclude(const parts_tally *tally, lines_row *row);

#endif

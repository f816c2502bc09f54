/* progress.h - a sign of life on standard error: one line that is rewritten on a terminal, elsewhere a line every few
 * seconds. */
#ifndef TOOLS_PROGRESS_H
#define TOOLS_PROGRESS_H

#include <muster/muster.h>

#include <stdbool.h>

typedef struct progress {
  bool terminal;
  bool shown;           /* something stands on the terminal's line */
  uint64_t interval_ns; /* between two lines */
  uint64_t next_ns;     /* when the next is due */
} progress;

/* Finds out where standard error leads. */
progress progress_begin(void);

/* Whether it is time for a line; the next is due an interval later. */
bool progress_is_due(progress *progress);

/* Shows where the run is, when it is time to. `of` is the number of frames to run, 0 while warming up. */
void progress_show(progress *progress, uint64_t frame, uint64_t of, const muster_frame_report *report);

/* Clears the terminal's line. */
void progress_end(progress *progress);

#endif

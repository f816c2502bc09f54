/* progress.h - a sign of life on standard error: one line that is rewritten on a terminal, elsewhere a line every few
 * seconds. */
#ifndef TOOLS_PROGRESS_H
#define TOOLS_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
  bool terminal;
  bool shown;           /* something stands on the terminal's line */
  uint64_t interval_ns; /* between two lines */
  uint64_t next_ns;     /* when the next is due */
};

/* Finds out where standard error leads. */
struct progress progress_begin(void);

/* Whether it is time for a line; the next is due an interval later. */
bool progress_is_due(struct progress *progress);

/* Shows a line at once: on a terminal in the place of the one before, cut where the terminal ends. */
void progress_put(struct progress *progress, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same for steps that take long: on a terminal at once, elsewhere when it is time to. */
void progress_step(struct progress *progress, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Clears the terminal's line. */
void progress_end(struct progress *progress);

#endif

/* noise.h - how quiet the machine was during a run or a bench: the processor time that other programs took. */
#ifndef TOOLS_NOISE_H
#define TOOLS_NOISE_H

#include <stdbool.h>
#include <stdint.h>

struct noise {
  bool known;
  double seconds;      /* of all processors together: */
  double busy, stolen; /* by all processes, and by the host of this virtual machine */
  double own;          /* of this process and its children that have ended */
};

/* Reads /proc/stat; `known` is false where there is none. */
struct noise noise_begin(void);

/* The shares of all processors that other processes, and the host, have taken since then. False with zeros when that is
 * not known, or it is so short ago that the kernel's counts, in hundredths of a second, say nothing. */
bool noise_end(const struct noise *begin, double *others_share, double *stolen_share);

/* Whether shares are so large that they affected what was measured meanwhile. */
bool noise_is_loud(double others_share, double stolen_share);

/* Prints a line about it: a busy machine also measures the other programs. */
void noise_print(double others_share, double stolen_share);

#endif

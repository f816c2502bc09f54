/* service/zones/incarnation.h - which run of which state folder a daemon is. Two daemons may be given one name; they do
 * not have one state folder, since its lock has one owner, and its number was drawn when it was made. Pure.
 *
 *     9f3c07d2a4b81e65.12    the folder's number, and how often a daemon has begun in it
 *
 * A run follows all of its folder that began before: these have ended. One with a higher number than its own has been
 * started in a copy of the folder, or the folder is an older state of itself (a backup). */
#ifndef SERVICE_ZONES_INCARNATION_H
#define SERVICE_ZONES_INCARNATION_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

enum { INCARNATION_BYTES = 28 };

typedef struct incarnation {
  uint64_t folder; /* 0 = none: of a lease that was given to whoever has the name */
  uint32_t run;    /* from 1 */
} incarnation;

static inline void incarnation_write(incarnation of, char text[INCARNATION_BYTES]) {
  snprintf(text, INCARNATION_BYTES, "%016" PRIx64 ".%" PRIu32, of.folder, of.run);
}

static inline bool incarnation_read(const char *text, incarnation *of) {
  char rest;
  return sscanf(text, "%16" SCNx64 ".%10" SCNu32 "%c", &of->folder, &of->run, &rest) == 2 && of->folder && of->run;
}

static inline bool incarnation_equal(incarnation left, incarnation right) {
  return left.folder == right.folder && left.run == right.run;
}

/* Whether an earlier run of the same folder has ended with it. */
static inline bool incarnation_follows(incarnation own, incarnation earlier) {
  return own.folder && own.folder == earlier.folder && earlier.run < own.run;
}

#endif

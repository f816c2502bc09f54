/* nomads.h - the state of an animal of nomads.c, which it publishes. */
#ifndef NOMADS_H
#define NOMADS_H

#include <stdint.h>

enum { NOMAD_MESSAGES = 32 /* that may wait for one */ };

typedef struct nomad {
  uint64_t name, mother;            /* the mother's id; 0 = it was there from the beginning */
  uint64_t born_ns, at_ns;          /* simulation time of its birth and of its last update */
  uint64_t lived_ns;                /* all time that its updates were told */
  uint64_t twice_ns, missed_ns;     /* of these told once more, and left out */
  uint64_t told, heard;             /* the last number told to the mother; heard of the child */
  uint64_t repeated, skipped, late; /* numbers of the child that came again, did not come, came behind a higher one */
  uint64_t gap, gap_ns;             /* the last number behind which some did not come, and when it came */
  uint64_t heard_bits;              /* which of the 64 up to the highest came; the lowest bit is the highest number */
  uint64_t lost;                    /* of its own messages, as it was told */
  uint64_t unknown;                 /* times when nobody knew where the mother was */
  uint32_t leg, children;
} nomad;

#endif

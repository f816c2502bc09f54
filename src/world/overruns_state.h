/* overruns_state.h - what is known of overruns of atoms. One per world. */
#ifndef OVERRUNS_STATE_H
#define OVERRUNS_STATE_H

#include "plan/overrun_table.h"

#include <muster/overruns.h>

enum { OVERRUNS_LINES_PER_SECOND = 8 }; /* in the log */

/* The counts, the last overruns, and what the penalties come to. */
typedef struct overruns_state {
  struct overrun_table table;
  muster_overrun kept[MUSTER_OVERRUNS_KEPT]; /* a ring */
  uint64_t kept_count;
  uint32_t types_watched, types_quarantined;
  uint32_t agents_demoted, agents_quarantined;
  uint32_t regrade_next, regrade_left; /* indices yet to note for the score: a type's floor changed */
  uint64_t log_begin_ns;               /* start of the second in which lines are counted */
  uint32_t log_lines, log_left_out;
} overruns_state;

#endif

/* conduct_state.h - what is known of runaways. One per world. */
#ifndef CONDUCT_STATE_H
#define CONDUCT_STATE_H

#include "plan/offenders.h"

#include <muster/conduct.h>

/* What is known of runaways. */
typedef struct conduct_state {
  struct offenders offenders;
  muster_offence kept[MUSTER_OFFENCES_KEPT]; /* a ring */
  uint64_t kept_count;
  uint32_t types_watched, types_quarantined;
  uint32_t agents_demoted, agents_quarantined;
  uint32_t regrade_next, regrade_left; /* indices yet to note for the score: a type's floor changed */
  uint64_t log_begin_ns;               /* start of the second in which lines are counted */
  uint32_t log_lines, log_left_out;
} conduct_state;

#endif

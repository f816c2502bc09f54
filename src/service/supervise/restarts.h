/* service/supervise/restarts.h - when a world that ended is started again, by the rules of Erlang/OTP's supervisors: at
 * once, then after growing pauses, and after too many ends within a window not at all, until a person says so.
 *
 *     runs --ends--> waits (0, then pause_first, doubled up to pause_most) --its time--> runs
 *       ^              |
 *       |              | more than `most` ends within the window
 *       |              v
 *       +---reset--- failed
 *
 * Ends that lie further back than the window are forgotten, and with them their pauses. Nothing here looks at a clock
 * or starts a process: what is decided follows from the times that it is given. */
#ifndef SERVICE_RESTARTS_H
#define SERVICE_RESTARTS_H

#include <stdbool.h>
#include <stdint.h>

enum { RESTARTS_KEPT = 64 };

typedef struct restart_rules {
  uint32_t most; /* ends within the window after which it still starts again, up to RESTARTS_KEPT; 0 = any number */
  uint64_t window_ns; /* how long an end counts */
  uint64_t pause_first_ns, pause_most_ns;
} restart_rules;

typedef struct restart_record {
  uint32_t count; /* ends that still count, the oldest first */
  uint64_t ended_ns[RESTARTS_KEPT];
  bool failed; /* it is not started again by itself */
} restart_record;

/* Notes an end. Returns when the world is to be started again, now or later; UINT64_MAX: it has failed. `now_ns` never
 * goes back. */
uint64_t restarts_ended(restart_record *restarts, const restart_rules *rules, uint64_t now_ns);

/* The ends that count now; of one that has failed those that made it fail. */
uint32_t restarts_count(const restart_record *restarts, uint64_t window_ns, uint64_t now_ns);

/* A person wants it to run: everything is forgotten. */
void restarts_reset(restart_record *restarts);

#endif

/* service/supervise/restarts.h - when a world that ended is started again, by the rules of Erlang/OTP's supervisors: at
 * once, then after growing pauses. Ends that its own code brought about, as crashes, make it fail: after too many of
 * them within a window it is not started at all, until a person says so. Troubles of the machine pass: ends by these
 * are no reason to give up, however many.
 *
 *     runs --ends--> waits (0, then pause_first, doubled up to pause_most) --its time--> runs
 *       ^              |
 *       |              | more than `most` ends by its code within the window
 *       |              v
 *       +---reset--- failed
 *
 * Ends that lie further back than the window are forgotten, and with them the pauses of those by its code. Pauses of
 * troubles grow for as long as these follow each other: until it has run for longer than `pause_most`. Up to a quarter
 * of a pause is left out by chance, so that what ended together does not start together. Nothing here looks at a clock
 * or starts a process: what is decided follows from what it is given. */
#ifndef SERVICE_RESTARTS_H
#define SERVICE_RESTARTS_H

#include <stdbool.h>
#include <stdint.h>

enum { RESTARTS_KEPT = 64 };

typedef struct restart_rules {
  uint32_t most;      /* ends by its code after which it still starts again, up to RESTARTS_KEPT; 0 = any number */
  uint64_t window_ns; /* how long an end counts */
  uint64_t pause_first_ns, pause_most_ns;
} restart_rules;

typedef struct restart_end {
  uint64_t at_ns, ran_ns; /* when it ended, and how long it had run then: without its start */
  bool by_code;
} restart_end;

typedef struct restart_record {
  uint32_t count; /* ends that still count, the oldest first; where they are too many, troubles are forgotten first */
  restart_end ends[RESTARTS_KEPT];
  uint32_t troubles; /* in a row */
  bool failed;       /* it is not started again by itself */
} restart_record;

/* Notes an end, no earlier than the last one. Returns when the world is to be started again, then or later; UINT64_MAX:
 * it has failed. Of `chance` all values are equally likely. */
uint64_t restarts_ended(restart_record *restarts, const restart_rules *rules, restart_end end, uint64_t chance);

/* The ends that count now; of one that has failed those that made it fail. */
uint32_t restarts_count(const restart_record *restarts, uint64_t window_ns, uint64_t now_ns);

/* A person wants it to run: everything is forgotten. */
void restarts_reset(restart_record *restarts);

#endif

/* service/history.h - the last ten minutes of a world, second by second, for people who look after something happened.
 *
 *     GET /v1/worlds/W/history?after=N          JSON
 *
 * {"world", "now_ns", "kept_s", columns}: `now_ns` is CLOCK_MONOTONIC of the daemon's machine. Every column is an array
 * with one value for each second that has frames, the oldest first; `second` numbers the seconds of that clock. A
 * second without a frame is in no column: the world was paused, stuck or not there. Only whole seconds after number N
 * are given (default 0: all that are kept), so that a page asks for each of them once.
 *
 * The columns are: second; of its frames frames, late (begun more than a period behind their time), judged (with audit)
 * and broken (of these, frames that did not keep the promise: muster_frame_kept); wall_p50_ns, wall_p99_ns (both to
 * within 3 percent), wall_max_ns, overrun_max_ns (wall time past the budget), updates_cpu_ns, released, completed,
 * preempted; idle_fault_ns, idle_x_ns, idle_long_ns (what frames left though agents waited, by the reason:
 * muster_idle), idle_faults (frames that left some for no known reason) and mended (estimates_mended); as the second's
 * last frame has them, frame, budget_ns, carried, agents, beyond_wish, quarantined, level_0 .. level_3, pressure,
 * important_load, wants and has (processors: utilisation_nominal and _desired); and got_ns_0 .. got_ns_4, the interval
 * between updates that agents of each band of importance got (0 = none was updated).
 *
 * The ring lies inside the hosted world: 600 seconds of 240 bytes, and one histogram of 15 KB, 160 KB together. Nothing
 * is allocated, and a frame only adds to sums: quantiles are taken once a second. */
#ifndef SERVICE_HISTORY_H
#define SERVICE_HISTORY_H

#include "base/histogram.h"

#include <muster/report.h>

enum { HISTORY_SECONDS = 600 };

/* One second; all zero = none. */
typedef struct history_second {
  uint64_t second; /* CLOCK_MONOTONIC / 1 s */
  uint32_t frames, late, judged, broken;
  uint64_t wall_p50_ns, wall_p99_ns, wall_max_ns, overrun_max_ns, updates_cpu_ns;
  uint64_t released, completed, preempted;
  uint64_t idle_ns[MUSTER_IDLES]; /* by the reason: muster_idle */
  uint32_t idle_faults, mended;   /* frames that left some for no known reason; estimates that were mended */
  uint64_t frame, budget_ns;
  uint32_t carried, agents, beyond_wish, quarantined;
  uint32_t levels[MUSTER_LEVELS];
  float pressure, important_load, wants, has;
  uint32_t band_completed[MUSTER_BANDS]; /* updates since the last second that was closed, by importance; */
  float band_agent_s[MUSTER_BANDS];      /* and agents x time */
} history_second;

struct history {
  uint64_t second;                       /* the number of the one that is open; 0 = none */
  history_second open;                   /* what is known of it */
  struct histogram walls;                /* of its frames */
  uint64_t band_completed[MUSTER_BANDS]; /* the world's sums when the last second was closed */
  double band_agent_ns[MUSTER_BANDS];
  uint64_t sums_completed[MUSTER_BANDS]; /* and now */
  double sums_agent_ns[MUSTER_BANDS];
  uint64_t mended, sums_mended; /* likewise */
  uint32_t count;               /* seconds in the ring */
  uint32_t next;                /* the place of the next one */
  history_second ring[HISTORY_SECONDS];
};

_Static_assert(sizeof(history_second) <= 240, "as the comment above says");

/* What a frame adds to its second. */
typedef struct history_frame {
  uint64_t end_ns; /* CLOCK_MONOTONIC */
  bool late, audited;
  const muster_frame_report *report;
  const muster_statistics *statistics; /* the newest */
} history_frame;

/* Adds a frame; frames come in the order of their ends. */
void history_add(struct history *history, const history_frame *frame);

/* Closes the open second if it is over at `now_ns`. */
void history_close_second(struct history *history, uint64_t now_ns);

/* What agents of a band got in seconds: agents x time / updates, in nanoseconds; 0 when none was updated. */
uint64_t history_interval_ns(const history_second *seconds, uint32_t count, uint32_t band);

/* Copies closed seconds after number `after`, the oldest first; those that are older than ten minutes at `now_ns` are
 * left out. Returns how many; HISTORY_SECONDS at most. */
uint32_t history_read(const struct history *history, uint64_t after, uint64_t now_ns, history_second *out);

#endif

/* bench_journal.h - what a journal costs: one world, whose frames are run in turns without a journal and with one of
 * each kind, and what a recovery takes. */
#ifndef TOOLS_BENCH_JOURNAL_H
#define TOOLS_BENCH_JOURNAL_H

#include "benches.h"

enum { JOURNAL_ROUNDS_MOST = 64, JOURNAL_PAUSES_MOST = 4096 };

/* How frames are run. */
typedef enum journal_way { WAY_WITHOUT = 0, WAY_NONE, WAY_SECOND, WAY_FRAME, JOURNAL_WAYS } journal_way;

/* Of one way. */
typedef struct journal_row {
  const char *name;
  double updates[JOURNAL_ROUNDS_MOST]; /* completed in a frame, by rounds */
  double cpu_ns[JOURNAL_ROUNDS_MOST];  /* of all threads, and of the processes that wrote snapshots, for an update */
  double ratios[JOURNAL_ROUNDS_MOST];  /* to those without a journal in the same round */
  double pauses_ns[JOURNAL_PAUSES_MOST];
  uint32_t pause_count;
  uint64_t frames, bytes, snapshots, snapshot_bytes, snapshot_ns, sync_ns; /* sums; of the last */
  bool holds;                                                              /* in all rounds */
  double median, ratio, lowest, highest, pause_ns, pause_max_ns;           /* at the end: updates, of the ratios */
  double cpu_median_ns, cpu_ratio;                                         /* updates for the same CPU */
} journal_row;

/* Of one round. */
typedef struct journal_recovery {
  double predicted_ns, took_ns, call_ns, frames; /* call_ns: of took_ns, muster_journal_recover() */
} journal_recovery;

typedef struct journal_work {
  bench_work common;
  const char *folder; /* where the files go */
  uint32_t agents, workers;
  uint64_t budget_ns, rate, frames; /* of a turn */
  uint64_t recovery_max_ns;
  char path[512];
  journal_row rows[JOURNAL_WAYS];
  journal_recovery recoveries[JOURNAL_ROUNDS_MOST], recovery; /* and the medians */
} journal_work;

/* Measures. Null, or what went wrong. */
const char *journal_measure(void *user);

#endif

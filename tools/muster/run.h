/* run.h - a population that is run for its frames, and the report at the end. */
#ifndef TOOLS_RUN_H
#define TOOLS_RUN_H

#include "host.h"
#include "journaling.h"
#include "noise.h"
#include "output.h"
#include "pacing.h"
#include "progress.h"
#include "record.h"
#include "recording.h"

#include "machine.h"

struct run {
  run_options options;
  host_setup setup;
  struct host host;
  struct output json, trace;
  struct pacing pacing;
  struct progress progress;
  run_record record;
  struct recording recording;
  struct journaling journaling;
  struct journal_found found; /* goes on from it; without a state there is none */
  struct noise noise;         /* as the counted frames began */
  machine_crew *machine;      /* watches between the frames; null = not used */
  machine_report seen;        /* by them */
  sigset_t stop_signals;
  int signal;     /* that ended it early; 0 = none */
  uint64_t frame; /* frames run so far, warm-up included */
  uint64_t first; /* of a replay: frames that the world had run when the recording began */
  uint64_t last;  /* the run ends after this one */
  bool whole;     /* what is replayed is replayed to its end */
};

/* Runs what `run->options` ask for, and then tells of it: `report` returns the exit status and may use the host, which
 * still has its population. Writes the trace and the recording, when they were asked for. Returns the exit status: that
 * of a shell for a signal, 128 more than its number, when one ended the run early. */
int run_and_report(struct run *run, int (*report)(struct run *run));

/* Replays a run up to frame `last` on so many workers and reports it. Returns the exit status. */
int run_replayed(struct replaying *replaying, uint32_t workers, uint64_t last);

/* Replays a journal from its snapshot to its last complete frame and reports it. Returns the exit status. */
int run_journal_replayed(const char *path, const char *json, uint32_t workers);

#endif

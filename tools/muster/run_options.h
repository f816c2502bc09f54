/* run_options.h - what `muster run` was asked for. */
#ifndef TOOLS_RUN_OPTIONS_H
#define TOOLS_RUN_OPTIONS_H

#include "base/module_tables.h"

#include <muster/journal.h>
#include <stdio.h>

typedef struct run_options {
  const char *scenario;        /* as typed */
  const muster_module *module; /* that it names */
  const char *path;            /* of the population; null = the scenario needs none */
  const char *json;            /* where the machine's report goes; null = nowhere, "-" = standard output */
  const char *trace;           /* the same for the trace of the last frames */
  const char *agent;           /* which one to explain, as typed */
  const char *record;          /* where the run is recorded; null = nowhere, "-" = standard output */
  const char *journal;         /* what its files are called; null = none is kept */
  const char *watch;           /* the name of the agent to watch; null = none */
  uint32_t given_count;        /* settings of the module, checked */
  module_given given[MODULE_VALUES_MAX];
  bool help_settings;  /* shows which there are */
  bool recover;        /* goes on from the journal, when there is one */
  bool scenario_given; /* on the command line */
  muster_journal_sync journal_sync;
  uint32_t agents, observers; /* 0 = the scenario's own */
  uint32_t workers;
  uint32_t shards; /* 0 = by the number of agents */
  uint64_t budget_ns, capacity_ns;
  uint64_t cost_ns; /* of an update; 0 = the scenario's own */
  uint64_t rate;    /* frames per 1000 seconds */
  uint64_t frames, warm_up;
  uint64_t record_from; /* the first frame that is recorded, warm-up included */
  uint64_t seed;
  muster_elastic elastic; /* how periods give way */
  uint32_t activation_delay;
  bool virtual_clock, no_pace;
  bool audit;            /* measures the promise */
  bool machine;          /* between the frames, measures how often the machine alone makes one late */
  uint32_t trace_frames; /* how many of them it keeps */
  char up_axis;
} run_options;

/* The purpose of the frames: `muster run` or `muster explain`, which has the options of `run` and --agent. */
typedef enum run_purpose { RUN_TO_REPORT = 0, RUN_TO_EXPLAIN } run_purpose;

/* Reads the command line. True: go on and run. False: `status` is the exit status, and what there is to say has been
 * said (help, or a complaint). */
bool run_options_read(run_options *options, run_purpose purpose, int count, char **arguments, int *status);

/* Whether the result for machines, the trace or the record has standard output for itself. */
bool run_options_take_output(const run_options *options);

/* What `muster explain --help` says. */
void run_explain_help(FILE *stream);

#endif

/* summary.h - a run in numbers: what both the report for people and the one for machines show. */
#ifndef TOOLS_SUMMARY_H
#define TOOLS_SUMMARY_H

#include "record.h"
#include "run_options.h"
#include "runaways.h"

/* Exact, of a value per frame. */
typedef struct frame_quantiles {
  double mean;
  uint64_t p50, p99, p999, max;
} frame_quantiles;

typedef struct run_summary {
  const run_options *options;
  const run_record *record;
  const char *scenario;
  uint64_t frame_period_ns;
  double simulated_ns; /* by all of them */
  uint32_t observers;
  bool interrupted;
  int signal;       /* that interrupted it; 0 = none, or it is a replay of one that was */
  bool noise_known; /* what other processes, and the host, took of the processors: */
  double others_share, stolen_share;
  bool own_known; /* own time was measured (audit) or is known exactly (virtual) */
  frame_quantiles wall_ns, overrun_wall_ns, overrun_own_ns;
  double kept_share; /* frames within the promise */
  double
      machine_kept_share; /* what threads that only read the clocks kept, in so many frames; 0 = they did not watch */
  uint64_t machine_frames, machine_missed; /* and how often one of them came too late for it */
  double budget_used_share; /* of the CPU given in frames with work waiting at the end; NaN without any */
  double capacity_share;    /* CPU used of workers x budget (virtual: of the capacity), all frames */
  muster_statistics statistics;
  struct runaways runaways;
  double overhead_per_update_ns, overhead_per_frame_ns, overhead_share;
  double serial_per_frame_ns, serial_share; /* as muster_statistics.serial_share, of the counted frames; or NaN */
  double acts_serial_per_frame_ns, acts_serial_share; /* of actions one after another; 0 = no type acts so, or NaN */
  double period_deviation_ns;
  double utilisation_desired, utilisation_achieved;
  double pressure_mean;
  double important_load_mean;                       /* in parts of the capacity */
  double important_over_load, important_over_share; /* where it is above 1, and in what part of the frames; or 0 */
  double wait_bound_ns; /* as muster_frame_report.turn_longest_ns says; NaN when nothing ran */
  bool wait_within;     /* no agent waited longer from release to start */
  double stage_ns[MUSTER_STAGES];
  double commit_kept_ns, commit_took_ns; /* of commits that ended in their frames; NaN where none did */
  double bytes_per_agent, scheduling_bytes_per_agent;
  uint64_t world_hash;
  host_figures figures;
} run_summary;

/* Sums a run up. Sorts the record's values, which are out of order afterwards; the summary points at the record. At
 * least one frame must have been counted. */
void summarise(run_summary *summary, const run_options *options, const struct host *host, run_record *record);

#endif

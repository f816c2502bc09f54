#include "summary.h"

#include <math.h>
#include <stdlib.h>

static int compare(const void *a, const void *b) {
  uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
  return (left > right) - (left < right);
}

/* The smallest value that `per_thousand` of the sorted values do not exceed. */
static uint64_t ranked(const uint64_t *sorted, uint64_t count, uint64_t per_thousand) {
  uint64_t rank = (count * per_thousand + 999) / 1000;
  return sorted[rank ? rank - 1 : 0];
}

static frame_quantiles quantiles_of(uint64_t *values, uint64_t count) {
  double sum = 0;
  for (uint64_t i = 0; i < count; i++) sum += (double)values[i];
  qsort(values, count, sizeof *values, compare);
  return (frame_quantiles){.mean = sum / (double)count,
                           .p50 = ranked(values, count, 500),
                           .p99 = ranked(values, count, 990),
                           .p999 = ranked(values, count, 999),
                           .max = values[count - 1]};
}

static double ratio(double part, double whole) {
  return whole > 0 ? part / whole : (double)NAN;
}

/* What the frames could have used: of all workers, or of the one virtual processor. */
static double capacity_of(const run_options *options, const run_record *record) {
  if (!options->virtual_clock) return (double)record->budget_ns * options->workers;
  return options->capacity_ns ? (double)options->capacity_ns * (double)record->frames : (double)record->budget_ns;
}

static void sum_up_promise(run_summary *summary, const run_options *options, const run_record *record) {
  summary->own_known = options->audit || options->virtual_clock;
  summary->kept_share = (double)record->kept / (double)record->frames;
  summary->budget_used_share = ratio((double)record->waiting_used_ns, (double)record->waiting_given_ns);
  summary->capacity_share = ratio((double)record->used_ns, capacity_of(options, record));
}

/* The guarantee: until its turn comes an agent may wait, and then only for the agents that had their turn before it, x
 * in each frame: updates that no wake caused, in the slowest block of frames. Scenarios may let time pass between
 * frames, so the longest counts. This bounds the time from release to start; from one update to the next it is the
 * longest period more, which shows as the maximum of the staleness. */
static double wait_bound_ns(const run_summary *summary, const run_record *record) {
  double per_frame = (double)summary->statistics.completed / (double)record->frames;
  if (per_frame <= 0) return (double)NAN;
  per_frame = fmax(fmin(per_frame, record->turns_least), 1.0);
  return (double)record->turn_longest_ns +
         (ceil(record->late_max / per_frame) + 1) * (double)record->frame_period_max_ns;
}

static void sum_up_work(run_summary *summary, const run_options *options, const run_record *record) {
  double frames = (double)record->frames;
  summary->overhead_per_update_ns = ratio((double)record->overhead_ns, (double)summary->statistics.completed);
  summary->overhead_per_frame_ns = (double)record->overhead_ns / frames;
  summary->overhead_share = ratio((double)record->overhead_ns, capacity_of(options, record));
  summary->serial_per_frame_ns = (double)record->serial_ns / frames;
  summary->serial_share = ratio((double)record->serial_ns, (double)record->work_ns);
  summary->acts_serial_per_frame_ns = (double)record->acts_serial_ns / frames;
  summary->acts_serial_share = ratio((double)record->acts_serial_ns, (double)record->work_ns);
  summary->period_deviation_ns = record->deviation_ns / frames;
  summary->utilisation_desired = record->desired / frames;
  summary->utilisation_achieved = ratio((double)record->update_ns, (double)record->sim_ns);
  summary->pressure_mean = record->pressure / frames;
  summary->important_load_mean = record->desired > 0 ? record->important / record->desired : record->important_load_max;
  summary->important_over_load =
      record->desired_over > 0 ? record->important_over / record->desired_over : record->important_load_max;
  summary->important_over_share = (double)record->frames_over / frames;
  for (uint32_t i = 0; i < MUSTER_STAGES; i++) summary->stage_ns[i] = (double)record->stage_ns[i] / frames;
  summary->commit_kept_ns = ratio((double)record->commit_kept_ns, (double)record->commits);
  summary->commit_took_ns = ratio((double)record->commit_took_ns, (double)record->commits);
}

void summarise(run_summary *summary, const run_options *options, const struct host *host, run_record *record) {
  *summary = (run_summary){.options = options,
                           .scenario = options->path ? options->path : options->module->name,
                           .record = record,
                           .simulated_ns = (double)record->sim_ns,
                           .frame_period_ns = 1000000000000u / options->rate,
                           .observers = host->needs.observers,
                           .world_hash = muster_world_hash(host->world)};
  summary->statistics = muster_statistics_default();
  muster_statistics_read(host->world, &summary->statistics);
  summary->runaways = runaways_of(host, &summary->statistics, &record->last);
  summary->wall_ns = quantiles_of(record->wall_ns, record->frames);
  summary->overrun_wall_ns = quantiles_of(record->overrun_wall_ns, record->frames);
  summary->overrun_own_ns = quantiles_of(record->overrun_own_ns, record->frames);
  sum_up_promise(summary, options, record);
  sum_up_work(summary, options, record);
  summary->wait_bound_ns = wait_bound_ns(summary, record);
  summary->bytes_per_agent = ratio((double)summary->statistics.bytes_used, record->last.agents);
  summary->scheduling_bytes_per_agent = ratio((double)summary->statistics.bytes_scheduling, record->last.agents);
  summary->wait_within =
      summary->statistics.longest_wait_ns == 0 || (double)summary->statistics.longest_wait_ns <= summary->wait_bound_ns;
  host_read_figures(host, &summary->figures);
}

/* The frames of a step, summed up. */
#include "stress.h"

#include <math.h>
#include <stdlib.h>

void stress_add(stress_sums *sums, const muster_frame_report *report, bool stolen) {
  bool kept = muster_frame_kept(report);
  sums->wall_ns[sums->frames] = report->wall_ns;
  sums->overrun_own_ns[sums->frames] = report->overrun_own_ns;
  sums->frames++;
  sums->kept += kept;
  sums->excused += !kept && stolen;
  sums->completed += report->completed;
  sums->carried += report->carried;
  sums->used_ns += report->used_cpu_ns;
  sums->given_ns += report->given_cpu_ns;
  if (report->carried + report->preempted > 0) {
    sums->waiting_frames++;
    sums->waiting_used_ns += report->used_cpu_ns;
    sums->waiting_given_ns += report->given_cpu_ns;
  }
  sums->overhead_ns += report->overhead_ns;
  sums->serial_ns += report->serial_ns;
  sums->work_ns += report->work_ns;
  if (report->longest_atom_ns > sums->longest_atom_ns) sums->longest_atom_ns = report->longest_atom_ns;
  if (isfinite(report->pressure)) sums->pressure += (double)report->pressure;
  sums->pressure_max = fmax(sums->pressure_max, (double)report->pressure);
  if (isfinite(report->important_load)) sums->important_load += (double)report->important_load;
  sums->waiting = report->spawns_waiting + report->commands_waiting;
}

static int compare_times(const void *one, const void *other) {
  uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
  return (a > b) - (a < b);
}

/* The smallest value that so many of a hundred sorted ones do not exceed. */
static uint64_t ranked(const uint64_t *sorted, uint64_t count, uint64_t percent) {
  uint64_t rank = (count * percent + 99) / 100;
  return sorted[rank ? rank - 1 : 0];
}

static double part(uint64_t some, uint64_t all) {
  return all ? (double)some / (double)all : 0;
}

static void take_times(const stress_sums *sums, stress_figures *figures) {
  uint64_t count = sums->frames;
  qsort(sums->wall_ns, count, sizeof *sums->wall_ns, compare_times);
  qsort(sums->overrun_own_ns, count, sizeof *sums->overrun_own_ns, compare_times);
  figures->wall_p50_ns = ranked(sums->wall_ns, count, 50);
  figures->wall_p99_ns = ranked(sums->wall_ns, count, 99);
  figures->wall_max_ns = sums->wall_ns[count - 1];
  figures->overrun_own_p99_ns = ranked(sums->overrun_own_ns, count, 99);
}

static void take_important(const muster_statistics *statistics, stress_figures *figures) {
  const muster_band *band = &statistics->bands[MUSTER_BANDS - 1];
  figures->important_agents = band->agents;
  if (band->agents == 0 || band->agent_time_ns <= 0) return;
  figures->important_wanted_ns = (double)band->wanted_ns;
  /* Where none was updated, each waited for all of the time that was measured, at least. */
  double turns = band->completed ? (double)band->completed : band->agents;
  figures->important_interval_ns = band->agent_time_ns / turns;
}

void stress_sum_up(stress_sums *sums, const muster_statistics *statistics, stress_figures *figures) {
  double frames = (double)sums->frames;
  take_times(sums, figures);
  take_important(statistics, figures);
  figures->frames = sums->frames;
  figures->kept = sums->kept;
  figures->excused = sums->excused;
  figures->budget_used_share = part(sums->used_ns, sums->given_ns);
  figures->waiting_used_share = part(sums->waiting_used_ns, sums->waiting_given_ns);
  figures->waiting_share = part(sums->waiting_frames, sums->frames);
  figures->updates_per_frame = (double)sums->completed / frames;
  figures->carried_per_frame = (double)sums->carried / frames;
  figures->pressure = sums->pressure / frames;
  figures->pressure_max = sums->pressure_max;
  figures->important_load = sums->important_load / frames;
  figures->overhead_per_update_ns = part(sums->overhead_ns, sums->completed);
  figures->serial_share = part(sums->serial_ns, sums->work_ns);
  figures->serial_per_frame_ns = (double)sums->serial_ns / frames;
  figures->longest_atom_ns = sums->longest_atom_ns;
  figures->waiting = sums->waiting;
  figures->bytes = statistics->bytes_used;
  figures->longest_wait_ns = statistics->longest_wait_ns;
  figures->messages_sent = statistics->messages_sent;
  figures->messages_refused = statistics->messages_refused;
  figures->messages_dropped = statistics->messages_dropped;
  figures->spawns_refused += statistics->spawns_refused;
  figures->commands_refused += statistics->commands_dropped;
  figures->queries_cut = statistics->nearby_cut;
  figures->crowd_rounds = statistics->score_rounds;
}

#include "report_json.h"
#include "text.h"

#include "base/bands_json.h"

#include <math.h>
#include <stdio.h>

/* Null for what was not measured. */
static double known(bool measured, double value) {
  return measured ? value : (double)NAN;
}

static void write_quantiles(json_writer *writer, const char *name, const frame_quantiles *quantiles, bool mean) {
  json_begin_object(writer, name);
  if (mean) json_number(writer, "mean", quantiles->mean);
  json_print(writer, "p50=%lu p99=%lu p999=%lu max=%lu }", quantiles->p50, quantiles->p99, quantiles->p999,
             quantiles->max);
}

static void write_frame_times(json_writer *writer, const run_summary *summary) {
  const run_record *record = summary->record;
  bool own = summary->own_known, noise = summary->noise_known;
  write_quantiles(writer, "wall_ns", &summary->wall_ns, true);
  write_quantiles(writer, "overrun_wall_ns", &summary->overrun_wall_ns, false);
  if (own)
    write_quantiles(writer, "overrun_own_ns", &summary->overrun_own_ns, false);
  else
    json_null(writer, "overrun_own_ns");
  json_print(writer,
             "longest_atom_ns=%g longest_claim_ns=%g promise{ frames=%lu kept_share=%g machine_kept_share=%g "
             "machine_frames=%lu machine_missed=%lu budget_used_share=%g cpu_share_of_capacity=%g } "
             "others_cpu_share=%g stolen_cpu_share=%g",
             known(own, (double)record->longest_atom_ns), known(own, (double)record->longest_claim_ns), record->frames,
             known(own, summary->kept_share), known(summary->machine_frames > 0, summary->machine_kept_share),
             summary->machine_frames, summary->machine_missed, known(own, summary->budget_used_share),
             known(own, summary->capacity_share), known(noise, summary->others_share),
             known(noise, summary->stolen_share));
}

static void write_work(json_writer *writer, const run_summary *summary) {
  const muster_statistics *statistics = &summary->statistics;
  json_print(
      writer,
      "updates{ released=%lu completed=%lu carried=%lu preempted=%lu nearby_cut=%lu } overhead{ ns_per_update=%g "
      "ns_per_frame=%g budget_share=%g } serial{ ns_per_frame=%g share=%g actions{ ns_per_frame=%g share=%g "
      "speedup_max=%g } } period{ mean_deviation_ns=%g }",
      statistics->released, statistics->completed, statistics->carried, statistics->preempted, statistics->nearby_cut,
      summary->overhead_per_update_ns, summary->overhead_per_frame_ns, summary->overhead_share,
      summary->serial_per_frame_ns, summary->serial_share, summary->acts_serial_per_frame_ns,
      summary->acts_serial_share, known(summary->acts_serial_share > 0, 1 / summary->acts_serial_share),
      summary->period_deviation_ns);
  json_print(writer, "idle{ fault_ns=%lu fault_frames=%lu at_x_ns=%lu long_ns=%lu estimates_mended=%lu }",
             statistics->idle_ns[MUSTER_IDLE_FAULT], statistics->idle_frames[MUSTER_IDLE_FAULT],
             statistics->idle_ns[MUSTER_IDLE_X], statistics->idle_ns[MUSTER_IDLE_LONG], statistics->estimates_mended);
  bands_json(writer, statistics);
  json_print(writer, "wait{ longest_ns=%lu bound_ns=%g within=%d }", statistics->longest_wait_ns,
             summary->wait_bound_ns, summary->wait_within);
  runaways_json(writer, &summary->runaways);
}

static void write_load(json_writer *writer, const run_summary *summary) {
  const run_record *record = summary->record;
  json_print(writer,
             "utilisation{ desired=%g achieved=%g } pressure{ mean=%g max=%g } important_load{ mean=%g max=%g "
             "above_one_share=%g } levels[",
             summary->utilisation_desired, summary->utilisation_achieved, summary->pressure_mean, record->pressure_max,
             summary->important_load_mean, record->important_load_max, summary->important_over_share);
  for (uint32_t i = 0; i < MUSTER_LEVELS; i++) json_uint(writer, NULL, record->last.levels[i]);
  json_print(writer, "] memory{ bytes_per_agent=%g total_bytes=%lu scheduling_bytes_per_agent=%g } stages_ns{",
             summary->bytes_per_agent, summary->statistics.bytes_used, summary->scheduling_bytes_per_agent);
  for (uint32_t i = 0; i < MUSTER_STAGES; i++) json_number(writer, text_stage((muster_stage)i), summary->stage_ns[i]);
  json_print(writer, "} commits{ count=%lu kept_ns=%g took_ns=%g", summary->record->commits, summary->commit_kept_ns,
             summary->commit_took_ns);
}

void report_json(json_writer *writer, const run_summary *summary) {
  const run_options *options = summary->options;
  char hash[24];
  snprintf(hash, sizeof hash, "%016lx", summary->world_hash);
  json_print(writer,
             "{ scenario=%s agents=%u workers=%u seed=%lu frames=%lu interrupted=%d budget_ns=%lu frame_period_ns=%lu",
             summary->scenario, summary->record->last.agents, options->workers, options->seed, summary->record->frames,
             summary->interrupted, options->budget_ns, summary->frame_period_ns);
  write_frame_times(writer, summary);
  write_work(writer, summary);
  write_load(writer, summary);
  json_print(writer, "} world{");
  for (uint32_t i = 0; i < summary->figures.count; i++)
    json_number(writer, summary->figures.names[i], summary->figures.values[i]);
  json_print(writer, "} world_hash=%s }", hash);
}

#include "report_json.h"

#include "base/bands_json.h"

#include <stdio.h>

/* Null for what was not measured. */
static void number_if(json_writer *writer, const char *name, bool known, double value) {
  if (known)
    json_number(writer, name, value);
  else
    json_null(writer, name);
}

static void write_quantiles(json_writer *writer, const char *name, const frame_quantiles *quantiles, bool mean) {
  json_begin_object(writer, name);
  if (mean) json_number(writer, "mean", quantiles->mean);
  json_print(writer, "p50=%lu p99=%lu p999=%lu max=%lu }", quantiles->p50, quantiles->p99, quantiles->p999,
             quantiles->max);
}

static void write_run(json_writer *writer, const run_summary *summary) {
  const run_options *options = summary->options;
  json_print(writer,
             "scenario=%s agents=%u workers=%u seed=%lu frames=%lu interrupted=%d budget_ns=%lu frame_period_ns=%lu",
             summary->scenario, summary->agents, options->workers, options->seed, summary->frames, summary->interrupted,
             options->budget_ns, summary->frame_period_ns);
}

static void write_promise(json_writer *writer, const run_summary *summary) {
  json_print(writer, "promise{ frames=%lu", summary->frames);
  number_if(writer, "kept_share", summary->own_known, summary->kept_share);
  number_if(writer, "machine_kept_share", summary->machine_frames > 0, summary->machine_kept_share);
  json_print(writer, "machine_frames=%lu machine_missed=%lu", summary->machine_frames, summary->machine_missed);
  number_if(writer, "budget_used_share", summary->own_known, summary->budget_used_share);
  number_if(writer, "cpu_share_of_capacity", summary->own_known, summary->capacity_share);
  json_end_object(writer);
}

static void write_frame_times(json_writer *writer, const run_summary *summary) {
  write_quantiles(writer, "wall_ns", &summary->wall_ns, true);
  write_quantiles(writer, "overrun_wall_ns", &summary->overrun_wall_ns, false);
  if (summary->own_known) {
    write_quantiles(writer, "overrun_own_ns", &summary->overrun_own_ns, false);
    json_print(writer, "longest_atom_ns=%lu longest_claim_ns=%lu", summary->longest_atom_ns, summary->longest_claim_ns);
  } else {
    json_null(writer, "overrun_own_ns");
    json_null(writer, "longest_atom_ns");
    json_null(writer, "longest_claim_ns");
  }
  write_promise(writer, summary);
  number_if(writer, "others_cpu_share", summary->noise_known, summary->others_share);
  number_if(writer, "stolen_cpu_share", summary->noise_known, summary->stolen_share);
}

static void write_work(json_writer *writer, const run_summary *summary) {
  const muster_statistics *statistics = &summary->statistics;
  json_print(
      writer,
      "updates{ released=%lu completed=%lu carried=%lu preempted=%lu nearby_cut=%lu } overhead{ ns_per_update=%g "
      "ns_per_frame=%g budget_share=%g } period{ mean_deviation_ns=%g }",
      statistics->released, statistics->completed, statistics->carried, statistics->preempted, statistics->nearby_cut,
      summary->overhead_per_update_ns, summary->overhead_per_frame_ns, summary->overhead_share,
      summary->period_deviation_ns);
}

static void write_wait(json_writer *writer, const run_summary *summary) {
  json_print(writer, "wait{ longest_ns=%lu bound_ns=%g within=%d }", summary->statistics.longest_wait_ns,
             summary->wait_bound_ns, summary->wait_within);
}

static void write_load(json_writer *writer, const run_summary *summary) {
  json_print(writer,
             "utilisation{ desired=%g achieved=%g } pressure{ mean=%g max=%g } important_load{ mean=%g max=%g "
             "above_one_share=%g } levels[",
             summary->utilisation_desired, summary->utilisation_achieved, summary->pressure_mean, summary->pressure_max,
             summary->important_load_mean, summary->important_load_max, summary->important_over_share);
  for (uint32_t i = 0; i < MUSTER_LEVELS; i++) json_uint(writer, NULL, summary->levels[i]);
  json_print(writer, "] memory{ bytes_per_agent=%g total_bytes=%lu scheduling_bytes_per_agent=%g }",
             summary->bytes_per_agent, summary->statistics.bytes_used, summary->scheduling_bytes_per_agent);
}

static void write_world(json_writer *writer, const run_summary *summary) {
  char hash[24];
  json_begin_object(writer, "stages_ns");
  for (uint32_t i = 0; i < MUSTER_STAGES; i++) json_number(writer, stage_name((muster_stage)i), summary->stage_ns[i]);
  json_print(writer, "} world{");
  for (uint32_t i = 0; i < summary->figures.count; i++)
    json_number(writer, summary->figures.names[i], summary->figures.values[i]);
  json_end_object(writer);
  snprintf(hash, sizeof hash, "%016lx", summary->world_hash);
  json_string(writer, "world_hash", hash);
}

void report_json(json_writer *writer, const run_summary *summary) {
  json_begin_object(writer, NULL);
  write_run(writer, summary);
  write_frame_times(writer, summary);
  write_work(writer, summary);
  bands_json(writer, &summary->statistics);
  write_wait(writer, summary);
  runaways_json(writer, &summary->runaways);
  write_load(writer, summary);
  write_world(writer, summary);
  json_end_object(writer);
}

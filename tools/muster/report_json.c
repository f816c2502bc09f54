#include "report_json.h"

#include "base/bands_json.h"

#include <inttypes.h>
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
  json_uint(writer, "p50", quantiles->p50);
  json_uint(writer, "p99", quantiles->p99);
  json_uint(writer, "p999", quantiles->p999);
  json_uint(writer, "max", quantiles->max);
  json_end_object(writer);
}

static void write_run(json_writer *writer, const run_summary *summary) {
  const run_options *options = summary->options;
  json_string(writer, "scenario", summary->scenario);
  json_uint(writer, "agents", summary->agents);
  json_uint(writer, "workers", options->workers);
  json_uint(writer, "seed", options->seed);
  json_uint(writer, "frames", summary->frames);
  json_bool(writer, "interrupted", summary->interrupted);
  json_uint(writer, "budget_ns", options->budget_ns);
  json_uint(writer, "frame_period_ns", summary->frame_period_ns);
}

static void write_promise(json_writer *writer, const run_summary *summary) {
  json_begin_object(writer, "promise");
  json_uint(writer, "frames", summary->frames);
  number_if(writer, "kept_share", summary->own_known, summary->kept_share);
  number_if(writer, "machine_kept_share", summary->machine_frames > 0, summary->machine_kept_share);
  json_uint(writer, "machine_frames", summary->machine_frames);
  json_uint(writer, "machine_missed", summary->machine_missed);
  number_if(writer, "budget_used_share", summary->own_known, summary->budget_used_share);
  number_if(writer, "cpu_share_of_capacity", summary->own_known, summary->capacity_share);
  json_end_object(writer);
}

static void write_frame_times(json_writer *writer, const run_summary *summary) {
  write_quantiles(writer, "wall_ns", &summary->wall_ns, true);
  write_quantiles(writer, "overrun_wall_ns", &summary->overrun_wall_ns, false);
  if (summary->own_known) {
    write_quantiles(writer, "overrun_own_ns", &summary->overrun_own_ns, false);
    json_uint(writer, "longest_atom_ns", summary->longest_atom_ns);
    json_uint(writer, "longest_claim_ns", summary->longest_claim_ns);
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
  json_begin_object(writer, "updates");
  json_uint(writer, "released", statistics->released);
  json_uint(writer, "completed", statistics->completed);
  json_uint(writer, "carried", statistics->carried);
  json_uint(writer, "preempted", statistics->preempted);
  json_uint(writer, "nearby_cut", statistics->nearby_cut);
  json_end_object(writer);
  json_begin_object(writer, "overhead");
  json_number(writer, "ns_per_update", summary->overhead_per_update_ns);
  json_number(writer, "ns_per_frame", summary->overhead_per_frame_ns);
  json_number(writer, "budget_share", summary->overhead_share);
  json_end_object(writer);
  json_begin_object(writer, "period");
  json_number(writer, "mean_deviation_ns", summary->period_deviation_ns);
  json_end_object(writer);
}

static void write_wait(json_writer *writer, const run_summary *summary) {
  json_begin_object(writer, "wait");
  json_uint(writer, "longest_ns", summary->statistics.longest_wait_ns);
  json_number(writer, "bound_ns", summary->wait_bound_ns);
  json_bool(writer, "within", summary->wait_within);
  json_end_object(writer);
}

static void write_load(json_writer *writer, const run_summary *summary) {
  json_begin_object(writer, "utilisation");
  json_number(writer, "desired", summary->utilisation_desired);
  json_number(writer, "achieved", summary->utilisation_achieved);
  json_end_object(writer);
  json_begin_object(writer, "pressure");
  json_number(writer, "mean", summary->pressure_mean);
  json_number(writer, "max", summary->pressure_max);
  json_end_object(writer);
  json_begin_object(writer, "important_load");
  json_number(writer, "mean", summary->important_load_mean);
  json_number(writer, "max", summary->important_load_max);
  json_number(writer, "above_one_share", summary->important_over_share);
  json_end_object(writer);
  json_begin_array(writer, "levels");
  for (uint32_t i = 0; i < MUSTER_LEVELS; i++) json_uint(writer, NULL, summary->levels[i]);
  json_end_array(writer);
  json_begin_object(writer, "memory");
  json_number(writer, "bytes_per_agent", summary->bytes_per_agent);
  json_uint(writer, "total_bytes", summary->statistics.bytes_used);
  json_number(writer, "scheduling_bytes_per_agent", summary->scheduling_bytes_per_agent);
  json_end_object(writer);
}

static void write_world(json_writer *writer, const run_summary *summary) {
  char hash[24];
  json_begin_object(writer, "stages_ns");
  for (uint32_t i = 0; i < MUSTER_STAGES; i++) json_number(writer, stage_name((muster_stage)i), summary->stage_ns[i]);
  json_end_object(writer);
  json_begin_object(writer, "world");
  for (uint32_t i = 0; i < summary->figures.count; i++)
    json_number(writer, summary->figures.names[i], summary->figures.values[i]);
  json_end_object(writer);
  snprintf(hash, sizeof hash, "%016" PRIx64, summary->world_hash);
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

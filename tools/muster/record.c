#include "record.h"

#include <math.h>
#include <stdlib.h>

bool record_create(run_record *record, uint64_t capacity) {
  *record = (run_record){.capacity = capacity, .turns_least = (double)INFINITY};
  record->wall_ns = calloc(capacity, 3 * sizeof *record->wall_ns);
  if (!record->wall_ns) return false;
  record->overrun_wall_ns = record->wall_ns + capacity;
  record->overrun_own_ns = record->overrun_wall_ns + capacity;
  return true;
}

void record_destroy(run_record *record) {
  free(record->wall_ns);
  *record = (run_record){0};
}

static void add_finite(double *sum, double value) {
  if (isfinite(value)) *sum += value;
}

static void add_to_promise(run_record *record, const muster_frame_report *report) {
  record->kept += muster_frame_kept(report);
  if (report->longest_atom_ns > record->longest_atom_ns) record->longest_atom_ns = report->longest_atom_ns;
  if (report->longest_claim_ns > record->longest_claim_ns) record->longest_claim_ns = report->longest_claim_ns;
  record->used_ns += report->used_cpu_ns;
  if (report->carried + report->preempted == 0) return;
  record->waiting_frames++;
  record->waiting_used_ns += report->used_cpu_ns;
  record->waiting_given_ns += report->given_cpu_ns;
}

/* A woken agent's runs do not shorten the line of waiting agents, however often it runs. */
static void add_to_block(run_record *record, const muster_frame_report *report) {
  if (report->carried == 0) {
    record->block_frames = record->block_turns = 0;
    return;
  }
  record->block_turns += report->completed > report->woken ? report->completed - report->woken : 0;
  if (++record->block_frames < RECORD_BLOCK_FRAMES) return;
  record->turns_least = fmin(record->turns_least, (double)record->block_turns / RECORD_BLOCK_FRAMES);
  record->block_frames = record->block_turns = 0;
}

/* Frames count by their capacity, so that one of next to none is not all that the run shows. */
static void add_to_important(run_record *record, const muster_frame_report *report) {
  double load = (double)report->important_load, desired = (double)report->utilisation_desired;
  if (!isfinite(desired)) return; /* the first frame */
  record->important += load * desired;
  record->important_load_max = fmax(record->important_load_max, load);
  if (load <= 1.0) return;
  record->important_over += load * desired;
  record->desired_over += desired;
  record->frames_over++;
}

void record_add(run_record *record, const muster_frame_report *report) {
  if (record->frames == record->capacity) return;
  record->wall_ns[record->frames] = report->wall_ns;
  record->overrun_wall_ns[record->frames] = report->overrun_wall_ns;
  record->overrun_own_ns[record->frames] = report->overrun_own_ns;
  record->frames++;
  add_to_promise(record, report);
  add_to_block(record, report);
  record->update_ns += report->update_cpu_ns;
  record->overhead_ns += report->overhead_ns;
  record->serial_ns += report->serial_ns;
  record->acts_serial_ns += report->acts_serial_ns;
  record->work_ns += report->work_ns;
  record->sim_ns += report->frame_period_ns;
  if (report->frame_period_ns > record->frame_period_max_ns) record->frame_period_max_ns = report->frame_period_ns;
  record->budget_ns += report->budget_ns;
  for (uint32_t i = 0; i < MUSTER_STAGES; i++) record->stage_ns[i] += report->stage_ns[i];
  if (report->commit_kept_ns) {
    record->commits++;
    record->commit_kept_ns += report->commit_kept_ns;
    record->commit_took_ns += report->stage_ns[MUSTER_STAGE_COMMIT];
  }
  add_finite(&record->deviation_ns, report->period_deviation_ns);
  add_finite(&record->desired, (double)report->utilisation_desired);
  add_finite(&record->pressure, (double)report->pressure);
  if ((double)report->pressure > record->pressure_max) record->pressure_max = (double)report->pressure;
  if (report->agents_late > record->late_max) record->late_max = report->agents_late;
  if (report->turn_longest_ns > record->turn_longest_ns) record->turn_longest_ns = report->turn_longest_ns;
  add_to_important(record, report);
  record->last = *report;
}

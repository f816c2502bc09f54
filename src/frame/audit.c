#include "frame/audit.h"

#include "run/runner.h"
#include "run/timeline.h"
#include "world/frame_state.h"
#include "world/serial.h"
#include "world/world_sums.h"

void audit_begin(struct muster_world *world) {
  frame_state *frame = world->frame;
  if (world_is_virtual(world)) return;
  frame->begin_ns = frame->stage_ns = frame->mark_ns = clock_now(world->clock);
  frame->deadline_ns = frame->begin_ns + frame->budget_ns;
  world->runner->promised_ns = frame->deadline_ns + world->sums->report.repaid_ns;
  if (!world->timed) frame->deadline_ns = UINT64_MAX / 2; /* nothing is decided by the clock */
  frame->begin_own_ns = clock_thread_cpu();
  frame->mark_own_ns = world->def.audit ? frame->begin_own_ns : frame->mark_ns;
  timeline_begin_frame(world->runner->timeline);
}

void audit_planned(struct muster_world *world) {
  frame_state *frame = world->frame;
  if (world_is_virtual(world)) return;
  uint64_t wall_ns = frame->stage_ns - frame->begin_ns, own_ns = clock_thread_cpu() - frame->begin_own_ns;
  frame->planning_taken_ns = wall_ns > own_ns ? wall_ns - own_ns : 0;
}

uint64_t audit_blocked(struct muster_world *world) {
  uint64_t blocked_ns = runner_take_blocked(world->runner);
  if (blocked_ns == 0 || !world->timed) return 0;
  world->frame->deadline_ns += blocked_ns;
  world->runner->promised_ns += blocked_ns;
  world->sums->report.blocked_ns += blocked_ns;
  if (!serial_is_audited(world)) return blocked_ns;
  uint64_t now_ns = clock_now(world->clock), mark_ns = world->frame->mark_ns + blocked_ns;
  world->frame->mark_ns = mark_ns < now_ns ? mark_ns : now_ns;
  return blocked_ns;
}

/* The caller waited for the last worker to leave the batch. CPU time that it burnt for that after the promised end is
 * own overrun, but none of it was useful. */
static void take_wait(struct muster_world *world, uint64_t now_ns) {
  uint64_t wall_ns;
  if (serial_is_audited(world)) {
    world->frame->mark_ns = runner_caller(world->runner)->audit.end_ns;
    world->frame->mark_own_ns = runner_caller(world->runner)->audit.end_cpu_ns;
  }
  serial_take_interval(world, now_ns, &wall_ns);
}

/* Time of the workers that was neither inside atoms nor idle. Inside claims only samples can tell the two apart. */
static uint64_t worker_overhead(struct muster_world *world) {
  uint64_t loop_ns = 0, sampled_ns = 0, sampled = 0, updates = 0;
  for (uint32_t i = 0; i < world->runner->state_count; i++) {
    const worker_state *state = &world->runner->states[i];
    uint64_t reads_ns = state->audit.reads * world->clock->thread_cpu_ns;
    loop_ns += state->loop_ns > reads_ns ? state->loop_ns - reads_ns : 0;
    sampled_ns += state->sampled_overhead_ns;
    sampled += state->sampled_updates;
    updates += state->updates;
  }
  return loop_ns + (sampled ? sampled_ns * updates / sampled : 0);
}

static void sum_up_own(struct muster_world *world) {
  const frame_state *frame = world->frame;
  muster_frame_report *report = &world->sums->report;
  uint64_t worst_ns = 0, stolen_ns = frame->stolen_ns;
  report->used_cpu_ns = frame->serial_ns;
  for (uint32_t i = 0; i < world->runner->state_count; i++) {
    const worker_audit *audit = &world->runner->states[i].audit;
    if (audit->overrun_ns > worst_ns) worst_ns = audit->overrun_ns;
    if (audit->longest_claim_ns > report->longest_claim_ns) report->longest_claim_ns = audit->longest_claim_ns;
    if (audit->longest_atom_ns > report->longest_atom_ns) report->longest_atom_ns = audit->longest_atom_ns;
    report->used_cpu_ns += audit->cpu_ns;
    stolen_ns += audit->stolen_ns;
  }
  report->overrun_own_ns = worst_ns + frame->late_cpu_ns;
  /* Of the same budget as lateness: what a frame repays is given to it, but not used. */
  uint64_t capacity_ns = (frame->budget_ns + report->repaid_ns) * world->runner->workers;
  report->given_cpu_ns = capacity_ns > stolen_ns ? capacity_ns - stolen_ns : 0;
  if (report->given_cpu_ns < report->used_cpu_ns) report->given_cpu_ns = report->used_cpu_ns;
}

static void end_virtual(struct muster_world *world) {
  const frame_state *frame = world->frame;
  muster_frame_report *report = &world->sums->report;
  report->wall_ns = report->used_cpu_ns = report->update_cpu_ns = report->work_ns = frame->spent_ns;
  report->stage_ns[MUSTER_STAGE_RUN] = frame->spent_ns - frame->act_ns;
  report->stage_ns[MUSTER_STAGE_COMMIT] = frame->act_ns;
  uint64_t promised_ns = frame->capacity_ns + report->repaid_ns;
  report->given_cpu_ns = promised_ns > frame->spent_ns ? promised_ns : frame->spent_ns;
  for (uint32_t i = 0; i < world->runner->state_count; i++) {
    uint64_t action_ns = world->runner->states[i].audit.longest_atom_ns;
    if (action_ns > report->longest_atom_ns) report->longest_atom_ns = action_ns;
  }
  report->overrun_own_ns = frame->spent_ns > promised_ns ? frame->spent_ns - promised_ns : 0;
  report->overrun_wall_ns = report->overrun_own_ns;
}

/* What all workers spent on the frame: CPU time where it is known, else wall time. */
static uint64_t work_of_all(const struct muster_world *world) {
  if (world->def.audit) return world->sums->report.used_cpu_ns;
  uint64_t work_ns = world->frame->serial_ns;
  for (uint32_t i = 0; i < world->runner->state_count; i++)
    work_ns += world->runner->states[i].claim_ns + world->runner->states[i].loop_ns;
  return work_ns;
}

/* Sums up what the frame took until now. */
static void sum_up(struct muster_world *world) {
  muster_frame_report *report = &world->sums->report;
  uint64_t now_ns = clock_now(world->clock);
  serial_mark_at(world, now_ns);
  report->wall_ns = now_ns - world->frame->begin_ns;
  report->overrun_wall_ns = report->wall_ns > report->budget_ns ? report->wall_ns - report->budget_ns : 0;
  if (world->def.audit) sum_up_own(world);
  report->serial_ns = serial_alone_ns(world);
  report->work_ns = work_of_all(world);
}

/* The stages are over. */
static void close_stages(struct muster_world *world) {
  muster_frame_report *report = &world->sums->report;
  sum_up(world);
  uint64_t serial_ns = 0;
  for (uint32_t stage = 0; stage < MUSTER_STAGES; stage++)
    if (stage != MUSTER_STAGE_RUN) serial_ns += report->stage_ns[stage];
  report->overhead_ns = serial_ns - world->frame->act_ns + worker_overhead(world);
  for (uint32_t i = 0; i < world->runner->state_count; i++) report->update_cpu_ns += world->runner->states[i].claim_ns;
}

void audit_stage(struct muster_world *world, muster_stage stage) {
  if (world_is_virtual(world)) {
    if (stage == MUSTER_STAGE_COMMIT) end_virtual(world);
    return;
  }
  uint64_t now_ns = clock_now(world->clock);
  world->sums->report.stage_ns[stage] += now_ns - world->frame->stage_ns; /* a frame may rank again while it runs */
  world->frame->stage_ns = now_ns;
  if (stage == MUSTER_STAGE_RUN)
    take_wait(world, now_ns);
  else
    serial_mark_at(world, now_ns);
  if (stage == MUSTER_STAGE_COMMIT) close_stages(world);
  timeline_end_stage(world->runner->timeline, stage);
}

void audit_end(struct muster_world *world) {
  if (world->timed) sum_up(world);
  timeline_end_frame(world->runner->timeline);
}

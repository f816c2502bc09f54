/* frame.c - START HERE: a frame is eight stages in this order, one file each.
 *
 * Planning (stages 1 to 6) decides who runs, when and how well; running (stage 7) does it on the workers; the commit
 * (stage 8) makes it true. The data is described in agents/store.h. */
#include "frame.h"
#include "audit.h"
#include "base/error.h"
#include "exec/threads.h"
#include "recorder.h"

#include <math.h>
#include <string.h>

/* More is admitted than predictions say will fit, so that workers do not run dry when they err, and so that some can be
 * held for the next frame. */
static const double over_admission = 1.05;
/* Kept free at the end of the budget for what no prediction covers: closing the crew, the report. */
static const uint64_t closing_ns = 8000;

/* Reported when there is no budget left at all. */
static const double pressure_max = 1e6;

/* Of a budget, what ranking may take at the most, and what an entry is taken to cost before any frame has shown it. */
static const double ranking_most = 0.2, rank_guess_ns = 200.0;
/* An entry that seems to take longer was interrupted: the first frames have no mean yet to tell by. */
static const double rank_most_ns = 1000.0, settle_most_ns = 5000.0;
enum { ENTRIES_TO_LEARN_FROM = 64, ENTRIES_LEAST = 256 };

static double predicted_settle_ns(const struct muster_world *world) {
  const cost_estimate *settle = &world->experience.settle;
  return 0.75 * settle->mean_ns + 0.25 * settle->high_ns;
}

uint64_t predicted_commit_ns(const struct muster_world *world, uint32_t entries) {
  double commit_ns = predicted_settle_ns(world) * entries + world->experience.act.high_ns + (double)closing_ns;
  double most_ns = (double)world->frame.budget_ns * 0.5;
  return (uint64_t)fmin(commit_ns, most_ns);
}

/* To be ranked and settled costs an entry so much of the frame, in which no worker runs anything. */
static double predicted_entry_ns(const struct muster_world *world) {
  return fmin(world->experience.rank.mean_ns, rank_most_ns) + fmin(predicted_settle_ns(world), settle_most_ns);
}

static double predicted_rank_ns(const struct muster_world *world) {
  const cost_estimate *rank = &world->experience.rank;
  return rank->samples ? fmin(fmax(rank->mean_ns, 1.0), rank_most_ns) : rank_guess_ns;
}

/* So many entries can be ranked in the time that ranking may take. */
static uint32_t predicted_entries_most(const struct muster_world *world) {
  double entries = (double)world->frame.budget_ns * ranking_most / predicted_rank_ns(world);
  return (uint32_t)fmin(fmax(entries, ENTRIES_LEAST), (double)(UINT32_MAX / 2));
}

/* What updates can have of this frame, all workers: what is left of the budget by as many entries as it can hold. */
static double predicted_offer(const struct muster_world *world) {
  const frame_state *frame = &world->frame;
  const frame_experience *experience = &world->experience;
  if (world->runner.virtual) return (double)frame->capacity_ns - experience->act.mean_ns;
  double fixed_ns = experience->prepare.mean_ns + (double)predicted_commit_ns(world, 0);
  double left_ns = fmax((double)frame->budget_ns - fixed_ns, 0.0), run_ns = experience->each_ns / world_workers(world);
  if (run_ns <= 0.0) return left_ns * world_workers(world);
  double entries = fmin(left_ns / (run_ns + predicted_entry_ns(world)), predicted_entries_most(world));
  return entries * experience->each_ns;
}

/* U_d: what the workers can run, as a share of simulation time. Infinite before the first frame period is known. */
static double desired_utilisation(const struct muster_world *world) {
  const frame_state *frame = &world->frame;
  if (!frame->elapsed_ns) return INFINITY;
  return controller_plan(&world->experience.controller, predicted_offer(world)) / (double)frame->elapsed_ns;
}

static rank_limits admission_limits(const struct muster_world *world) {
  const frame_state *frame = &world->frame;
  uint64_t act_ns = (uint64_t)world->experience.act.high_ns;
  rank_limits limits = {.now_ns = frame->now_ns,
                        .updates_max = world->def.updates_per_frame ? world->def.updates_per_frame : UINT32_MAX,
                        .spawn_ids = world->spawn_id_count,
                        .virtual = world->runner.virtual,
                        .planned = world_is_planned(world),
                        .seed = world->def.seed};
  if (limits.planned && world->planner.capacity < limits.updates_max) limits.updates_max = world->planner.capacity;
  if (limits.virtual) {
    limits.capacity_ns = frame->capacity_ns > act_ns ? frame->capacity_ns - act_ns : 0;
  } else {
    uint64_t now_ns = clock_now(&world->runner.clock);
    uint64_t end_ns = frame->deadline_ns - predicted_commit_ns(world, 0);
    uint32_t entries_most = predicted_entries_most(world);
    double left_ns = end_ns > now_ns ? (double)(end_ns - now_ns) : 0.0;
    limits.entry_ns = (uint64_t)(predicted_entry_ns(world) * world_workers(world));
    if (entries_most < limits.updates_max) limits.updates_max = entries_most;
    double over_ns = left_ns * world_workers(world) * over_admission + predicted_planning_gap(world);
    limits.capacity_ns = (uint64_t)(limits.planned ? left_ns * world_workers(world) : over_ns);
  }
  return limits;
}

/* 1 intake: what changed since the last frame? */
static void stage_intake(struct muster_world *world) {
  intake_run(world);
}

/* 2 score: who matters, and at which level? */
static void stage_score(struct muster_world *world) {
  rescore_run(world);
}

/* 3 fold: which herds are one agent, which are many? */
static void stage_fold(struct muster_world *world) {
  fold_membrane(&world->store);
}

/* 4 fit: how far must periods stretch to fit the budget? */
static void stage_fit(struct muster_world *world) {
  double desired = desired_utilisation(world);
  if (world->recorder) recorder_exchange(world, TAG_DESIRED, &desired, sizeof desired);
  if (!(desired >= 0.0)) desired = 0.0; /* also when a record was made up */
  fit_result fit =
      periods_fit(&world->periods, &world->classes, &world->costs, desired, &world->report.period_deviation_ns);
  world->report.utilisation_desired = (float)desired;
  world->report.utilisation_nominal = (float)fit.nominal_sum;
  world->report.utilisation_fitted = (float)fit.fitted_sum;
  world->report.pressure = (float)fmin(fit.pressure, pressure_max);
}

/* 5 release: whose period has elapsed? */
static void stage_release(struct muster_world *world) {
  const frame_state *frame = &world->frame;
  ready_advance(&world->ready, &world->store, frame->now_ns);
  world->report.released =
      periods_release(&world->periods, &world->classes, &world->store, &world->ready, frame->elapsed_ns,
                      periods_most(frame->budget_ns), frame->now_ns, frame->number);
}

/* While somebody waits longer than S, woken agents have half of the frame: those of the batch, and those to come. */
static void ration_woken(struct muster_world *world, const rank_limits *limits, const rank_result *result) {
  double part = limits->capacity_ns ? fmin((double)result->woken_ns / (double)limits->capacity_ns, 0.5) : 0.5;
  world->runner.rations_woken = result->guarded;
  world->runner.woken_part = 1.0 - 2.0 * part;
}

/* 6 rank: in which order, and who is admitted? */
static void stage_rank(struct muster_world *world) {
  rank_limits limits = admission_limits(world);
  if (world->recorder) recorder_exchange(world, TAG_CAPACITY, &limits.capacity_ns, sizeof limits.capacity_ns);
  limits.classes = &world->classes;
  rank_result result =
      rank_fill(&world->ready, &world->store, &world->types, &world->costs, &limits, world->held, &world->batch);
  world->admitted_ns = result.predicted_ns;
  ration_woken(world, &limits, &result);
  if (world->batch.count > world->batch_high) world->batch_high = world->batch.count;
  if (!limits.virtual) return;
  world->frame.spent_ns = result.predicted_ns;
  world->report.longest_claim_ns = result.longest_ns;
}

static crew_orders orders_for(struct muster_world *world, crew_work work) {
  runner *runner = &world->runner;
  return (crew_orders){.work = work,
                       .argument = runner,
                       .patience_ns = runner->virtual ? UINT64_MAX : runner->deadline_ns,
                       .before_sleep = runner->audit ? runner_before_sleep : NULL};
}

/* While the caller plans, the other workers begin with what the last frame held back for them. */
static void open_early(struct muster_world *world) {
  runner *runner = &world->runner;
  rank_limits limits = admission_limits(world);
  world->held = rank_held(&world->store, &world->types, &world->costs, &limits, &world->batch);
  runner->deadline_ns = world->frame.deadline_ns;
  runner->stop_ns = world->frame.deadline_ns - predicted_commit_ns(world, world->experience.entries);
  runner_open_early(runner);
  crew_orders orders = orders_for(world, runner_work_early);
  world->early_open = world->batch.early_claims > 0 && !recorder_replays(world);
  if (world->early_open) crew_open(&world->early_crew, world->seat, &orders, CREW_ALL);
}

uint32_t world_helpers_for(const struct muster_world *world, uint64_t work_ns) {
  enum { WORTH_CALLING_NS = 500000 };
  uint32_t most = world->pool->workers - 1;
  if (world->runner.virtual || recorder_replays(world)) return most;
  uint64_t now_ns = clock_now(&world->runner.clock), end_ns = world->frame.deadline_ns;
  uint64_t left_ns = end_ns > now_ns ? end_ns - now_ns : 1;
  uint64_t helpers = work_ns / WORTH_CALLING_NS, needed = work_ns * 2 / left_ns; /* half of the time left must do */
  if (needed > helpers) helpers = needed;
  return helpers < most ? (uint32_t)helpers : most;
}

/* 7 run: workers take updates from the dispatch queue, atom by atom, until the deadline. */
static void stage_run(struct muster_world *world) {
  if (recorder_replays(world) && !world->runner.virtual) {
    recorder_run(world);
    return;
  }
  crew_orders orders = orders_for(world, runner_work);
  if (!world->early_open) /* else workers may be reading it */
    world->runner.stop_ns = world->frame.deadline_ns - predicted_commit_ns(world, world->batch.count);
  runner_open(&world->runner);
  if (world->early_open) crew_close(&world->early_crew, world->seat);
  audit_mark(world);
  world->helpers = world->batch.claim_count > 1 ? world_helpers_for(world, world->admitted_ns) : 0;
  crew_run(&world->run_crew, world->seat, &orders, world->helpers);
  if (world->early_open) crew_wait(&world->early_crew, world->seat);
  runner_close(&world->runner);
  if (recorder_records(world) && !world->runner.virtual) recorder_keep_outcomes(world);
}

/* 8 commit: action sets, measured costs, next releases, carried, statistics. */
static void stage_commit(struct muster_world *world) {
  commit_run(world);
}

void frame_plan(struct muster_world *world) {
  stage_intake(world);
  audit_stage(world, MUSTER_STAGE_INTAKE);
  open_early(world);
  stage_score(world);
  audit_stage(world, MUSTER_STAGE_SCORE);
  stage_fold(world);
  audit_stage(world, MUSTER_STAGE_FOLD);
  stage_fit(world);
  audit_stage(world, MUSTER_STAGE_FIT);
  stage_release(world);
  audit_stage(world, MUSTER_STAGE_RELEASE);
  stage_rank(world);
  audit_stage(world, MUSTER_STAGE_RANK);
}

static void frame_run(struct muster_world *world) {
  stage_run(world);
  trace_run(world);
  audit_stage(world, MUSTER_STAGE_RUN);
  audit_wait(world);
}

void frame_commit(struct muster_world *world) {
  stage_commit(world);
  audit_stage(world, MUSTER_STAGE_COMMIT);
}

/* What an entry of the batch was predicted to cost. */
static double each_ns_of(const struct muster_world *world) {
  return world->batch.count ? (double)world->admitted_ns / world->batch.count : 0.0;
}

/* What this frame shows of how much updates can use. */
static controller_sample sample_frame(const struct muster_world *world, uint64_t plan_ns) {
  const muster_frame_report *report = &world->report;
  const frame_state *frame = &world->frame;
  controller_sample sample = {.backlog_ns = each_ns_of(world) * (world->ready.count + world->batch.held_count),
                              .budget_ns = report->budget_ns,
                              .waited = report->carried + report->preempted > 0};
  if (world->runner.virtual) {
    sample.used_ns = (double)frame->spent_ns - (double)frame->act_ns;
    sample.offered_ns = (double)frame->capacity_ns - (double)frame->act_ns;
    sample.overrun_ns = report->overrun_own_ns;
    sample.budget_ns = frame->capacity_ns + report->repaid_ns;
    return sample;
  }
  uint64_t serial_ns = plan_ns + predicted_commit_ns(world, world->batch.count);
  sample.used_ns = (double)report->update_cpu_ns;
  sample.offered_ns = ((double)frame->budget_ns - (double)serial_ns) * world_workers(world);
  sample.overrun_ns = report->wall_ns > frame->budget_ns ? report->wall_ns - frame->budget_ns : 0;
  return sample;
}

/* What this frame teaches about the next. */
static void gain_experience(struct muster_world *world) {
  uint64_t plan_ns = 0;
  for (uint32_t stage = 0; stage < MUSTER_STAGE_RUN; stage++) plan_ns += world->report.stage_ns[stage];
  controller_sample sample = sample_frame(world, plan_ns);
  uint32_t entries = world->batch.count;
  controller_learn(&world->experience.controller, &sample);
  world->report.debt_ns = world->experience.controller.debt_ns;
  world->report.share = (float)world->experience.controller.share;
  costs_turn(&world->costs, world->types.count);
  world->experience.entries = entries;
  if (world->runner.virtual) return;
  uint64_t rank_ns = world->report.stage_ns[MUSTER_STAGE_RANK];
  estimate_add_clipped(&world->experience.plan, (double)plan_ns, 1e5);
  estimate_add_clipped(&world->experience.prepare, (double)(plan_ns - rank_ns), 1e5);
  if (entries) world->experience.each_ns = each_ns_of(world);
  if (entries < ENTRIES_TO_LEARN_FROM) return;
  /* Those that were released and not admitted are dealt with, too. */
  uint32_t ranked = world->report.released > entries ? world->report.released : entries;
  estimate_add_clipped(&world->experience.rank, (double)rank_ns / ranked, 100.0);
}

muster_result frame_check(const struct muster_world *world, const muster_frame *frame) {
  if (!world || !frame) return error_set(MUSTER_E_ARGUMENT, "frame: the world and the frame must be given");
  if (world->in_frame) return error_set(MUSTER_E_STATE, "frame: this world runs a frame already");
  if (recorder_replays(world)) return error_set(MUSTER_E_STATE, "frame: this world replays: muster_replay_frame()");
  if (frame->budget_ns < 10000u || frame->budget_ns > 10000000000u)
    return error_set(MUSTER_E_ARGUMENT, "frame: budget_ns %llu must be 10 us .. 10 s",
                     (unsigned long long)frame->budget_ns);
  if (frame->sim_now_ns < world->last_now_ns)
    return error_set(MUSTER_E_TIME, "frame: sim_now_ns %llu is before the last frame's %llu",
                     (unsigned long long)frame->sim_now_ns, (unsigned long long)world->last_now_ns);
  if (frame->sim_now_ns > (uint64_t)INT64_MAX / 2)
    return error_set(MUSTER_E_TIME, "frame: sim_now_ns %llu is beyond 146 years",
                     (unsigned long long)frame->sim_now_ns);
  return MUSTER_OK;
}

/* What calls between the frames took for this one, at most half of its budget; and what earlier frames overran. */
static void take_prepaid(struct muster_world *world) {
  frame_state *frame = &world->frame;
  uint64_t *whole_ns = world->runner.virtual ? &frame->capacity_ns : &frame->budget_ns, most_ns = frame->budget_ns / 2;
  world->report.repaid_ns = controller_repay(&world->experience.controller, *whole_ns);
  *whole_ns -= world->report.repaid_ns;
  frame->budget_ns -= world->prepaid_ns < most_ns ? world->prepaid_ns : most_ns;
  world->prepaid_ns = 0;
}

void frame_enter(struct muster_world *world) {
  world->seat = visit_begin(&world->visit, world->pool);
  world->runner.caller = world->seat->index;
}

void frame_leave(struct muster_world *world) {
  visit_end(&world->visit);
}

void frame_begin(struct muster_world *world, const muster_frame *frame) {
  if (recorder_records(world)) recorder_begin_frame(world, frame);
  world->in_frame = true;
  world->frames++;
  world->frame = (frame_state){.number = world->frames,
                               .now_ns = frame->sim_now_ns,
                               .elapsed_ns = world->frames > 1 ? frame->sim_now_ns - world->last_now_ns : 0,
                               .budget_ns = frame->budget_ns,
                               .capacity_ns = world->def.capacity_ns ? world->def.capacity_ns : frame->budget_ns};
  world->report = muster_default_frame_report();
  world->report.frame = world->frames;
  world->report.sim_now_ns = frame->sim_now_ns;
  world->report.frame_period_ns = world->frame.elapsed_ns;
  world->report.budget_ns = frame->budget_ns;
  take_prepaid(world);
  if (world->recorder) recorder_exchange(world, TAG_BUDGET, &world->frame.budget_ns, sizeof world->frame.budget_ns);
  if (recorder_replays(world)) replay_check_budget(world, frame->budget_ns);
  world->runner.now_ns = frame->sim_now_ns;
  frame_enter(world);
  audit_begin(world);
  if (recorder_replays(world)) world->frame.deadline_ns = UINT64_MAX / 2; /* nothing is decided by the clock */
  trace_begin(world);
  threads_keep_all_apart(world->pool);
  if (world->batch.held_count) crew_wake(world->pool);
}

void frame_end(struct muster_world *world) {
  muster_statistics *sums = &world->statistics;
  muster_frame_report *report = &world->report;
  audit_end(world);
  gain_experience(world);
  report->agents = world->store.active_count;
  report->agents_demoted = world->conduct.agents_demoted;
  report->agents_quarantined = world->conduct.agents_quarantined;
  report->types_quarantined = world->conduct.types_quarantined;
  memcpy(report->levels, world->store.level_counts, sizeof report->levels);
  sums->frames++;
  sums->released += report->released;
  sums->completed += report->completed;
  sums->carried += report->carried;
  sums->preempted += report->preempted;
  sums->woken += report->woken;
  if (report->longest_wait_ns > sums->longest_wait_ns) sums->longest_wait_ns = report->longest_wait_ns;
  world->last_now_ns = world->frame.now_ns;
  trace_end(world);
  if (world->recorder) recorder_end_frame(world);
  frame_leave(world);
  world->in_frame = false;
}

void world_run_frame(struct muster_world *world, const muster_frame *frame) {
  frame_begin(world, frame);
  frame_plan(world);
  frame_run(world);
  frame_commit(world);
  frame_end(world);
}

/* A planner world has the same frame, but for stage 7: see planner.c. */
muster_result muster_frame_run(muster_world *world, const muster_frame *frame) {
  muster_result result = frame_check(world, frame);
  if (result == MUSTER_OK && world_is_planned(world))
    result = error_set(MUSTER_E_STATE, "frame: a world with planner_workers is run by muster_plan and muster_report");
  if (result == MUSTER_OK) world_run_frame(world, frame);
  return result;
}

/* frame.c - START HERE: a frame is eight stages in this order, one file each.
 *
 * Planning (stages 1 to 6) decides who runs, when and how well; running (stage 7) does it on the workers; the commit
 * (stage 8) makes it true. The data is described in agents/store.h.
 *
 * Who waits for an update, goes on with one, was woken, must react or acts, waits by its deadline (plan/ready.h,
 * act.c). Other queues do not ask for importance, and this is why they may be first in, first out:
 *
 *   1  commands, and what updates asked of others   their order is their meaning; each takes nanoseconds
 *   1  spawns, by index      nobody knows importance before one is placed; a share of each frame is theirs, and the
 *                            report says how many wait
 *   2  looks of the score    what they find is importance itself; where observers walk comes before the rounds over
 *                            everybody, and both are bounded in each frame
 *   3  changes of herds      by distance to the observer, unfolding first: the distance is the importance
 *   7  held updates          the end of a batch that was admitted by deadline; workers run it while the next is planned
 *   8  settling, messages    all of them in the commit of their frame, or first of all in the next */
#include "frame/frame.h"
#include "base/assert.h"
#include "base/error.h"
#include "frame/audit.h"
#include "frame/foresight.h"
#include "frame/frame_record.h"
#include "frame/stages.h"
#include "herds/herds.h"
#include "pool/threads.h"
#include "run/callback.h"
#include "world/guard.h"
#include "world/world_record.h"
#include "world/world_sound.h"

#include <math.h>
#include <string.h>

/* Reported when there is no budget left at all. */
static const double pressure_max = 1e6;

/* 0: what the last commit left over. Agents that hosts have spawned until now come to be in a record before it. */
static void settle_rest(struct muster_world *world) {
  recorder_newborns(world);
  frame_settle(world);
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
  herds_look(world);
}

/* 4 fit: how far must periods stretch to fit the budget? */
static void stage_fit(struct muster_world *world) {
  double desired = foresee_utilisation(world);
  recorder_exchange(world->recorder, TAG_DESIRED, &desired, sizeof desired);
  if (!(desired >= 0.0)) desired = 0.0; /* also when a record was made up */
  periods_told told = periods_fit(&world->periods, &world->classes, &world->costs, desired);
  world->report.utilisation_desired = (float)desired;
  world->report.utilisation_nominal = (float)told.fit.nominal_sum;
  world->report.utilisation_fitted = (float)told.fit.fitted_sum;
  world->report.pressure = (float)fmin(told.fit.pressure, pressure_max);
  world->report.period_deviation_ns = told.deviation_ns;
  world->report.agents_beyond_wish = told.beyond_wish;
  world->frame.everybody_ns = told.everybody_ns;
  world->report.turn_longest_ns = ready_turn_longest(&world->ready, told.longest_ns);
  world->report.important_load = (float)fmin(told.important_load, pressure_max);
  world->report.held_load = (float)fmin(told.wishes.held, pressure_max);
  bool wishes = world->def.elastic == MUSTER_ELASTIC_IMPORTANCE; /* by other rules nobody goes beyond them */
  ease_note(&world->ease, fmin(told.fit.pressure, pressure_max), told.beyond_wish > 0 || !wishes);
  ready_follow_periods(&world->ready, &world->store, told.fit.lambda);
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
  rank_limits limits = foresee_limits(world);
  recorder_exchange(world->recorder, TAG_CAPACITY, &limits.capacity_ns, sizeof limits.capacity_ns);
  limits.classes = &world->classes;
  world->report.updates_max = foresee_x(world, &limits);
  if (world->report.updates_max && world->report.updates_max < limits.updates_max)
    limits.updates_max = world->report.updates_max;
  rank_result result =
      rank_fill(&world->ready, &world->store, &world->types, &world->costs, &limits, world->held, &world->batch);
  world->admitted_ns = result.predicted_ns;
  ASSERT(world->batch.count <= world->store.active_count && world->batch.claim_count <= world->batch.count);
  ration_woken(world, &limits, &result);
  if (world->batch.count > world->batch_high) world->batch_high = world->batch.count;
  if (!limits.virtual) return;
  world->frame.spent_ns = result.predicted_ns;
  world->report.longest_claim_ns = result.longest_ns;
  world->report.longest_atom_ns = result.atom_ns;
}

/* 7 run: updates are run, atom by atom, until the deadline: by the workers, or as in a record. */
static void stage_run(struct muster_world *world) {
  world->run_stage(world);
}

/* 8 commit: action sets, measured costs, next releases, carried, statistics. */
static void stage_commit(struct muster_world *world) {
  commit_run(world);
  bands_end_frame(&world->bands, &world->classes, &world->store, world->frame.now_ns, world->frame.number);
}

void frame_plan(struct muster_world *world) {
  settle_rest(world);
  ASSERT(!world->commit.open);
  stage_intake(world);
  audit_stage(world, MUSTER_STAGE_INTAKE);
  run_early(world);
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
  if (world->runner.virtual) world_check(world, WORLD_RANKED); /* on the wall clock that would take of the budget */
}

static void frame_run(struct muster_world *world) {
  stage_run(world);
  trace_run(world);
  audit_stage(world, MUSTER_STAGE_RUN);
  audit_wait(world);
}

void frame_commit(struct muster_world *world) {
  ASSERT(world_is_in_frame(world));
  stage_commit(world);
  audit_stage(world, MUSTER_STAGE_COMMIT);
}

muster_result frame_check(struct muster_world *world, const muster_frame *frame) {
  muster_result result = guard_frame(world, __builtin_frame_address(0), "frame");
  if (result) return result;
  if (!frame) return error_missing("frame", "frame");
  if (recorder_replays(world->recorder))
    return error_set(MUSTER_E_STATE, "frame: this world replays: muster_replay_frame()");
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
  ASSERT(world->report.repaid_ns <= *whole_ns);
  *whole_ns -= world->report.repaid_ns;
  frame->budget_ns -= world->prepaid_ns < most_ns ? world->prepaid_ns : most_ns;
  world->prepaid_ns = 0;
}

/* What a record says is left of a budget is possible as take_prepaid() would have left it. */
static void exchange_budget(struct muster_world *world, uint64_t given_ns) {
  uint64_t *budget_ns = &world->frame.budget_ns;
  recorder_exchange(world->recorder, TAG_BUDGET, budget_ns, sizeof *budget_ns);
  if (!recorder_replays(world->recorder) || (*budget_ns <= given_ns && *budget_ns >= given_ns / 8)) return;
  recorder_diverges(world->recorder, "its record has a budget of %llu ns", (unsigned long long)*budget_ns);
  *budget_ns = given_ns;
}

/* The calling thread has the world in its hands, and enters the pool. */
static void enter(struct muster_world *world) {
  occupancy_set(&world->occupancy, OCCUPIED_BY_FRAME);
  world->seat = visit_begin(&world->visit, world->pool);
  world->runner.caller = world->seat->index;
  world->outer = callback_begin(&runner_caller(&world->runner)->context);
}

void frame_resume(struct muster_world *world) {
  enter(world);
  audit_stage(world, MUSTER_STAGE_RUN);
}

void frame_leave(struct muster_world *world, occupation next) {
  callback_end(world->outer);
  visit_end(&world->visit);
  occupancy_set(&world->occupancy, next);
}

void frame_begin(struct muster_world *world, const muster_frame *frame) {
  ASSERT(!world_is_in_frame(world) && frame->sim_now_ns >= world->last_now_ns);
  if (recorder_records(world->recorder)) recorder_begin_frame(world, frame);
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
  bands_begin_frame(&world->bands, &world->classes, &world->store, world->frame.elapsed_ns, world->frames);
  take_prepaid(world);
  exchange_budget(world, frame->budget_ns);
  world->runner.now_ns = frame->sim_now_ns;
  world->runner.frame = world->frames;
  enter(world);
  watch_begin(runner_caller(&world->runner)->post);
  watchdog_frame_begins(world->watchdog);
  audit_begin(world);
  if (recorder_replays(world->recorder))
    world->frame.deadline_ns = UINT64_MAX / 2; /* nothing is decided by the clock */
  trace_begin(world);
  threads_keep_all_apart(world->pool);
  if (world->batch.held_count) crew_wake(world->pool);
}

void frame_end(struct muster_world *world) {
  muster_statistics *sums = &world->statistics;
  muster_frame_report *report = &world->report;
  ASSERT(world_is_in_frame(world) && report->frame == world->frames);
  audit_close(world);
  foresight_learn(world);
  report->agents = world->store.active_count;
  report->agents_demoted = world->conduct.agents_demoted;
  report->agents_quarantined = world->conduct.agents_quarantined;
  report->types_quarantined = world->conduct.types_quarantined;
  report->agents_eased = world->ease.eased;
  memcpy(report->levels, world->store.level_counts, sizeof report->levels);
  herds_report(world);
  sums->frames++;
  sums->released += report->released;
  sums->completed += report->completed;
  sums->carried += report->carried;
  sums->preempted += report->preempted;
  sums->woken += report->woken;
  sums->cycles += report->cycles;
  if (report->longest_wait_ns > sums->longest_wait_ns) sums->longest_wait_ns = report->longest_wait_ns;
  world->last_now_ns = world->frame.now_ns;
  if (world->recorder) recorder_end_frame(world);
  watchdog_frame_ends(world->watchdog);
  audit_end(world); /* only what keeps its result comes afterwards */
  if (world->recorder) recorder_exchange_times(world);
  trace_end(world);
  world_check(world, WORLD_RESTS);
  frame_leave(world, OCCUPIED_NOT);
}

CALLS_OUT void frame_run_checked(struct muster_world *world, const muster_frame *frame) {
  MUST_RETURN(leaving_update);
  frame_begin(world, frame);
  frame_plan(world);
  frame_run(world);
  frame_commit(world);
  frame_end(world);
  HAS_RETURNED();
}

/* A planner world has the same frame, but for stage 7: see planner.c. */
muster_result muster_frame_run(muster_world *world, const muster_frame *frame) {
  muster_result result = frame_check(world, frame);
  if (result == MUSTER_OK && world_is_planned(world))
    result = error_set(MUSTER_E_STATE, "frame: a world with planner_workers is run by muster_plan and muster_report");
  if (result == MUSTER_OK) frame_run_checked(world, frame);
  return result;
}

/* frame.c - START HERE. What a frame is, which stage hands what to which, and where each thing is decided.
 *
 * The host asks for a frame by muster_frame_run(), with a time of the simulation and a budget. It is eight stages in a
 * fixed order, on the thread that asked; stages 2, 3, 5, 7 and 8 call workers of the pool to help. Planning (1 to 6)
 * decides which agents run, when and how well. Stage 7 runs the updates. The commit (8) makes them true: where an
 * update moved its agent, what it published and what it asked for takes effect there. What other threads ask for waits
 * in queues for the next stage 1. agents/store.h describes the data.
 *
 *   stage      file               takes                                    hands on
 *   0 rest     commit.c           entries that the last commit left        settled agents
 *   1 intake   intake.c           queued commands, spawns, messages;       agents that are new, moved, woken or gone
 *                                 timers; herds that stage 3 listed        (world/lifecycle.c does it to each)
 *   -          forecast.c         what earlier frames took                 world->frame->forecast, for all below
 *   -          run.c (early)      agents held from the last batch          workers begin with them
 *   2 score    rescore.c          agents and observers that moved          importance, level, class (plan/score.c)
 *   3 fold     herds/herds.c      herds, observers                         the list of herds to change (plan/fold.c)
 *   4 fit      here               classes, their costs, the forecast       a period for each class (plan/periods.c)
 *   5 release  here               the clocks of the classes (plan/due.h)   agents that are due (plan/ready.c)
 *   6 rank     here               the ready set, what fits                 the batch: entries, claims (plan/rank.c);
 *              run.c (beside)     claims as they are cut                   workers go on with them while it ranks
 *   7 run      run.c              the batch                                outcomes, results, logs (run/runner.c)
 *              append.c           time that is left, ready set             more of the batch
 *              idle.c             what is left all the same                report.idle_ns, by reason
 *   8 commit   commit.c           these                                    agents that wait anew; what was learnt:
 *              settle.c             each entry's outcome                   ready set, due times
 *              complete.h           an update that is complete             all that follows from it, line by line
 *              act.c                agents with waiting actions            results, logs (run/acts.c)
 *              act_settle.c         these                                  complete updates
 *              runaways.c           atoms that took too long               agents to demote, or put into quarantine
 *
 * Around them: audit.c measures; frame_record.c writes down what a frame cannot know by itself, or reads it instead in
 * a replay. frame.h is for other folders: replay/, and api/planner.c, where the host stands in for stage 7. stages.h
 * and settle.h are for this one.
 *
 * When does it end? audit.c sets the deadline by the budget. forecast.c says how long the commit will take and what is
 * kept free behind it. Each worker asks before it begins something (run/taking.c) and between atoms (run/runner.c)
 * whether there is time before the commit; the commit asks every few entries (settle.c), and each action does (act.c).
 * What finds no time keeps its turn.
 *
 * An agent that waits for an update, goes on with one, was woken, must react or acts, waits by its deadline
 * (plan/ready.h, act.c). Other queues do not ask for importance, and this is why they may be first in, first out:
 *
 *   1  commands, and what updates asked of others   their order is their meaning; each takes nanoseconds
 *   1  removals, by index    a removed agent is gone already: none may wait, and the host knows that they take time
 *   1  spawns, by index      an agent has no importance before it is placed; spawns have a share of each frame, and
 *                            the report says how many wait
 *   2  looks of the score    what they find is importance itself; places where observers walk come before the rounds
 *                            over all agents, and both are bounded in each frame
 *   3  changes of herds      by distance to the observer, unfolding first: the distance is the importance
 *   7  claims at risk        they may overrun the end, so all others go before them; there are 64 at most
 *   7  held updates          the end of a batch that was admitted by deadline; workers run it while the next is planned
 *   8  settling, messages    all of them in the commit of their frame, or first of all in the next
 *
 * A new stage is a line of frame_plan(), a function in a file of its own that stages.h names, and a name in
 * muster_stage, by which its time is reported. */
#include "frame/frame.h"
#include "agents/batch.h"
#include "base/assert.h"
#include "base/error.h"
#include "base/fields.h"
#include "frame/audit.h"
#include "frame/forecast.h"
#include "frame/frame_record.h"
#include "frame/stages.h"
#include "frame/units.h"
#include "herds/herds.h"
#include "record/recorder.h"
#include "run/callback.h"
#include "run/watchdog.h"
#include "world/frame_state.h"
#include "world/guard.h"
#include "world/overruns_state.h"
#include "world/section.h"
#include "world/trace.h"
#include "world/workers.h"
#include "world/world_learnt.h"
#include "world/world_plan.h"
#include "world/world_queues.h"
#include "world/world_score.h"
#include "world/world_sound.h"
#include "world/world_sums.h"
#include "world/world_teams.h"

#include <math.h>
#include <string.h>

/* Reported when there is no budget left at all. */
static const double pressure_max = 1e6;

/* 1 intake: what changed since the last frame? */
static void stage_intake(struct muster_world *world) {
  intake_run(world);
}

/* 2 score: how important is each agent, and at which level does it run? */
static void stage_score(struct muster_world *world) {
  rescore_run(world);
}

/* 3 fold: which herds are one agent, which are many? */
static void stage_fold(struct muster_world *world) {
  herds_look(world);
}

/* 4 fit: how far must periods stretch to fit the budget? */
static void stage_fit(struct muster_world *world) {
  muster_frame_report *report = &world->sums->report;
  double desired = world->frame->forecast.utilisation;
  recorder_exchange(world->recorder, TAG_DESIRED, &desired, sizeof desired);
  if (!(desired >= 0.0)) desired = 0.0; /* also NaN, when a record was made up */
  periods_told told = periods_fit(&world->plan->periods, &world->queues->classes, &world->learnt->costs, desired,
                                  world->frame->elapsed_ns);
  report->utilisation_desired = (float)desired;
  report->utilisation_nominal = (float)told.fit.nominal_sum;
  report->utilisation_fitted = (float)told.fit.fitted_sum;
  report->pressure = (float)fmin(told.fit.pressure, pressure_max);
  report->period_deviation_ns = told.deviation_ns;
  report->agents_beyond_wish = told.beyond_wish;
  world->frame->everybody_ns = told.everybody_ns;
  world->frame->longest_ns = told.longest_ns;
  report->turn_longest_ns = ready_turn_longest(&world->queues->ready, told.longest_ns);
  report->important_load = (float)fmin(told.important_load, pressure_max);
  report->held_load = (float)fmin(told.wishes.held, pressure_max);
  report->elapsed_load = told.elapsed_load > 0.0 ? (float)fmin(told.elapsed_load / desired, pressure_max) : 0.0f;
  report->elapsed_type = (muster_type){told.elapsed_type};
  report->agents_put_off = told.put_off;
  bool wishes = world->def.elastic == MUSTER_ELASTIC_IMPORTANCE; /* by other rules no period goes beyond them */
  shedding_note(&world->score->shedding, fmin(told.fit.pressure, pressure_max), told.beyond_wish > 0 || !wishes);
  ready_follow_periods(&world->queues->ready, &world->agents.store, told.fit.lambda);
}

/* 5 release: which agents' periods have elapsed? */
static void stage_release(struct muster_world *world) {
  const frame_state *frame = world->frame;
  ready_advance(&world->queues->ready, &world->agents.store, frame->now_ns);
  release_frame release = {frame->now_ns, frame->elapsed_ns, frame->number, periods_most(frame->budget_ns)};
  struct parts parts = section_parts(world);
  world->sums->report.released = periods_release(&world->plan->periods, &world->queues->classes, &world->agents.store,
                                                 &world->queues->ready, &release, &parts);
}

/* While an agent waits longer than S, woken agents have half of the frame: those of the batch, and those to come. */
static void ration_woken(struct muster_world *world, const rank_limits *limits, const rank_result *result) {
  double part = limits->capacity_ns ? fmin((double)result->woken_ns / (double)limits->capacity_ns, 0.5) : 0.5;
  world->runner->rations_woken = result->guarded;
  world->runner->woken_part = 1.0 - 2.0 * part;
}

/* 6 rank: in which order, and which agents are admitted? */
static void stage_rank(struct muster_world *world) {
  muster_frame_report *report = &world->sums->report;
  rank_limits limits = forecast_limits(world);
  struct parts parts = section_parts(world);
  limits.parts = &parts;
  recorder_exchange(world->recorder, TAG_CAPACITY, &limits.capacity_ns, sizeof limits.capacity_ns);
  report->updates_max = forecast_x(world, &limits);
  if (report->updates_max && report->updates_max < limits.updates_max) limits.updates_max = report->updates_max;
  run_beside_ranking(world, &limits);
  rank_result result = rank_fill(&world->queues->ready, &world->agents.store, &world->agents.types,
                                 &world->learnt->costs, &limits, world->plan->held, world->batch);
  world->plan->ranked = result;
  world->frame->updates_max = report->updates_max ? report->updates_max : UINT32_MAX;
  world->sums->admitted_ns = result.predicted_ns;
  world->sums->admitted = world->batch->count;
  report->rankings = 1;
  world->frame->commit_ns = forecast_commit_ns(&world->frame->forecast, world->batch->count);
  ASSERT(world->batch->count <= world->agents.store.active_count && world->batch->claim_count <= world->batch->count);
  ration_woken(world, &limits, &result);
  if (world->batch->count > world->sums->batch_high) world->sums->batch_high = world->batch->count;
  if (!limits.virtual) return;
  world->frame->spent_ns = result.predicted_ns;
  report->longest_claim_ns = result.longest_ns;
  report->longest_atom_ns = result.atom_ns;
}

/* 7 run: updates are run, atom by atom, until the deadline: by the workers, or as in a record. */
static void stage_run(struct muster_world *world) {
  world->run_stage(world);
  frame_record_sum(world);
}

/* 8 commit: action sets, measured costs, next releases, carried, changes for hosts, statistics. */
static void stage_commit(struct muster_world *world) {
  commit_run(world);
  struct parts parts = section_parts(world);
  changes_end_frame(&world->agents.store.changes, &world->agents.store, &parts);
  bands_end_frame(&world->plan->bands, &world->queues->classes, &world->agents.store, world->frame->now_ns,
                  world->frame->number);
}

void frame_plan(struct muster_world *world) {
  frame_settle(world); /* 0: what the last commit left over */
  ASSERT(!world->commit->open);
  stage_intake(world);
  audit_stage(world, MUSTER_STAGE_INTAKE);
  forecast_frame(world);
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
  audit_planned(world);
  if (world_is_virtual(world)) world_check(world, WORLD_RANKED); /* on the wall clock it would take budget */
}

static void frame_run(struct muster_world *world) {
  stage_run(world);
  if (world_is_virtual(world)) trace_run(world->trace, &world->agents.store, world->batch);
  audit_stage(world, MUSTER_STAGE_RUN);
}

void frame_commit(struct muster_world *world) {
  ASSERT(world_is_in_frame(world));
  stage_commit(world);
  if (world->timed && !world->commit->open) world->sums->report.commit_kept_ns = world->frame->commit_ns;
  audit_stage(world, MUSTER_STAGE_COMMIT);
}

muster_result frame_check(struct muster_world *world, const muster_frame *frame) {
  muster_result result = guard_frame(world, __builtin_frame_address(0), "frame");
  if (result) return result;
  if (!frame) return error_missing("frame", "frame");
  if (recorder_replays(world->recorder))
    return error_set(MUSTER_E_STATE, "frame: this world replays: muster_replay_frame()");
  if ((result = fields_check(fields_frame, "frame", NULL, frame, 0)) != MUSTER_OK) return result;
  if (frame->sim_now_ns < world->last_now_ns)
    return error_set(MUSTER_E_TIME, "frame: sim_now_ns %llu is before the last frame's %llu",
                     (unsigned long long)frame->sim_now_ns, (unsigned long long)world->last_now_ns);
  if (frame->sim_now_ns > (uint64_t)INT64_MAX / 2)
    return error_set(MUSTER_E_TIME, "frame: sim_now_ns %llu is beyond 146 years: is it negative, or in another unit?",
                     (unsigned long long)frame->sim_now_ns);
  occupancy_take_frames(&world->occupancy);
  return MUSTER_OK;
}

/* Subtracts what calls between the frames took for this one, at most half of its budget; what earlier frames overran;
 * and a load that the host has announced, of which an eighth of the budget is left. */
static void take_prepaid(struct muster_world *world) {
  frame_state *frame = world->frame;
  uint64_t *whole_ns = world_is_virtual(world) ? &frame->capacity_ns : &frame->budget_ns,
           most_ns = frame->budget_ns / 2;
  world->sums->report.repaid_ns = controller_repay(&world->learnt->experience.controller, *whole_ns);
  ASSERT(world->sums->report.repaid_ns <= *whole_ns);
  *whole_ns -= world->sums->report.repaid_ns;
  frame->budget_ns -= world->sums->prepaid_ns < most_ns ? world->sums->prepaid_ns : most_ns;
  world->sums->prepaid_ns = 0;
  uint64_t least_ns = world->sums->report.budget_ns / 8, load_ns = forecast_load_now_ns(world);
  uint64_t free_ns = *whole_ns > least_ns ? *whole_ns - least_ns : 0;
  world->sums->report.announced_ns = load_ns < free_ns ? load_ns : free_ns;
  *whole_ns -= world->sums->report.announced_ns;
}

/* The calling thread takes the world, and enters the pool. */
static void frame_enter(struct muster_world *world) {
  occupancy_set(&world->occupancy, OCCUPIED_BY_FRAME);
  world->teams->slot = pool_enter(&world->teams->entered, world->pool);
  world->runner->caller = pool_index_of(world->teams->slot);
  world->teams->outer = callback_begin(&runner_caller(world->runner)->context);
}

void frame_resume(struct muster_world *world) {
  frame_enter(world);
  audit_stage(world, MUSTER_STAGE_RUN);
}

void frame_leave(struct muster_world *world, enum occupation next) {
  callback_end(world->teams->outer);
  pool_leave(&world->teams->entered);
  occupancy_set(&world->occupancy, next);
}

void frame_begin(struct muster_world *world, const muster_frame *frame) {
  muster_frame_report *report = &world->sums->report;
  ASSERT(!world_is_in_frame(world) && frame->sim_now_ns >= world->last_now_ns);
  world->frames++;
  *world->frame =
      (frame_state){.number = world->frames,
                    .now_ns = frame->sim_now_ns,
                    .elapsed_ns = world->frames > 1 ? frame->sim_now_ns - world->last_now_ns : 0,
                    .budget_ns = frame->budget_ns,
                    .capacity_ns = world->def.clock.capacity_ns ? world->def.clock.capacity_ns : frame->budget_ns};
  *report = muster_frame_report_default();
  report->frame = world->frames;
  report->sim_now_ns = frame->sim_now_ns;
  report->frame_period_ns = world->frame->elapsed_ns;
  report->budget_ns = frame->budget_ns;
  bands_begin_frame(&world->plan->bands, &world->queues->classes, &world->agents.store, world->frame->elapsed_ns,
                    world->frames);
  take_prepaid(world);
  world_take_workers(world);
  frame_record_begin(world, frame);
  world->runner->now_ns = frame->sim_now_ns;
  world->runner->frame = world->frames;
  units_look(world);
  frame_enter(world);
  watch_begin(runner_caller(world->runner)->heartbeat);
  watchdog_frame_begins(world->watchdog);
  audit_begin(world);
  trace_begin(world->trace, world->frame, world_is_virtual(world));
  threads_keep_all_apart(world->pool);
  if (world->batch->held_count) team_wake(world->pool);
}

void frame_end(struct muster_world *world) {
  muster_statistics *sums = &world->sums->statistics;
  muster_frame_report *report = &world->sums->report;
  ASSERT(world_is_in_frame(world) && report->frame == world->frames);
  forecast_learn(world);
  report->agents = world->agents.store.active_count;
  report->agents_demoted = world->overruns->agents_demoted;
  report->agents_quarantined = world->overruns->agents_quarantined;
  report->types_quarantined = world->overruns->types_quarantined;
  report->agents_shed = world->score->shedding.shed;
  memcpy(report->levels, world->agents.store.level_counts, sizeof report->levels);
  herds_report(world);
  sums->frames++;
  sums->released += report->released;
  sums->completed += report->completed;
  sums->carried += report->carried;
  sums->preempted += report->preempted;
  sums->woken += report->woken;
  sums->cycles += report->cycles;
  for (uint32_t i = 0; i < MUSTER_IDLES; i++) {
    sums->idle_ns[i] += report->idle_ns[i];
    sums->idle_frames[i] += report->idle_ns[i] > 0;
  }
  if (report->longest_wait_ns > sums->longest_wait_ns) sums->longest_wait_ns = report->longest_wait_ns;
  world->last_now_ns = world->frame->now_ns;
  frame_record_end(world);
  watchdog_frame_ends(world->watchdog);
  audit_end(world); /* only what keeps its result comes afterwards */
  frame_record_times(world);
  run_note_frame(world);
  sums->serial_ns += report->serial_ns;
  sums->work_ns += report->work_ns;
  trace_end(world->trace, &world->sums->report, world_is_virtual(world));
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
    result =
        error_set(MUSTER_E_STATE, "frame: a world with planner_workers is run by muster_plan and muster_plan_report");
  if (result == MUSTER_OK) frame_run_checked(world, frame);
  return result;
}

#include "frame/forecast.h"

#include "agents/batch.h"
#include "base/assert.h"
#include "base/error.h"
#include "plan/periods.h"
#include "plan/rank.h"
#include "run/runner.h"
#include "world/cost_learning.h"
#include "world/frame_state.h"
#include "world/planner_state.h"
#include "world/workers.h"
#include "world/world_commands.h"
#include "world/world_learnt.h"
#include "world/world_queues.h"
#include "world/world_sums.h"

#include <math.h>

/* By how many standard deviations of the sum of their costs more updates are admitted than predictions say will fit. A
 * host has no more than it was given when updates cost less; a frame of workers ranks more then (append.c). */
static const float over_planned = 3.0f, over_ranked = 1.0f;
/* The share of a budget that ranking may take at the most, and what an entry is taken to cost before any frame has
 * shown it. */
static const double ranking_most = 0.2, rank_guess_ns = 200.0;
/* An entry that seems to take longer was interrupted: in the first frames there is no mean yet to tell by. */
static const double rank_most_ns = 1000.0, settle_most_ns = 5000.0;
/* A queue is as it should be up to this part of what one update of every agent takes: then no agent is much later than
 * that part of its period. */
static const double queue_part = 0.25;
enum { ENTRIES_TO_LEARN_FROM = 64, ENTRIES_LEAST = 256 };
/* A host that stops by the clock gets so many entries, whatever they are believed to cost: when that is wrong, these
 * show it. */
enum { LISTED_LEAST = 64 };

static double predicted_settle_ns(const struct muster_world *world) {
  const cost_estimate *settle = &world->learnt->experience.settle;
  return 0.75 * settle->mean_ns + 0.25 * settle->high_ns;
}

/* Actions of this frame. In the order of deadlines, actions that found no time before go before updates that have not
 * begun, with half of the frame at most: they are the rest of updates with an earlier turn. */
static double predicted_act_ns(const struct muster_world *world) {
  const frame_experience *experience = &world->learnt->experience;
  double frame_ns = (double)(world_is_virtual(world) ? world->frame->capacity_ns : world->frame->budget_ns);
  double waiting_ns = experience->acts_left_ns > 0.0 ? experience->acts_left_ns + experience->act.mean_ns : 0.0;
  if (!ready_by_deadline(&world->queues->ready)) return experience->act.high_ns;
  return fmax(experience->act.high_ns, fmin(waiting_ns, 0.5 * frame_ns));
}

uint64_t forecast_commit_ns(const frame_forecast *forecast, uint32_t entries) {
  double commit_ns = forecast->settle_ns * entries + forecast->act_ns + (double)forecast->reserve_ns;
  return (uint64_t)fmin(commit_ns, forecast->commit_most_ns);
}

/* The parts of the commit's time. */
static frame_forecast predicted_commit(const struct muster_world *world) {
  return (frame_forecast){.settle_ns = predicted_settle_ns(world),
                          .act_ns = predicted_act_ns(world),
                          .commit_most_ns = (double)world->frame->budget_ns * 0.5,
                          .reserve_ns =
                              frame_reserve_ns(world->learnt->experience.reserve_ns, world->frame->budget_ns)};
}

static double predicted_rank_ns(const struct muster_world *world) {
  const cost_estimate *rank = &world->learnt->experience.rank;
  return rank->samples ? fmin(fmax(rank->mean_ns, 1.0), rank_most_ns) : rank_guess_ns;
}

/* How many entries can be ranked in the time that ranking may take. */
static uint32_t predicted_entries_most(const struct muster_world *world) {
  double entries = (double)world->frame->budget_ns * ranking_most / predicted_rank_ns(world);
  return (uint32_t)fmin(fmax(entries, ENTRIES_LEAST), (double)(UINT32_MAX / 2));
}

/* What other workers run of held entries until the caller ranks: time that the caller's own part does not count. */
static double predicted_early_ns(const struct muster_world *world) {
  if (world->costs_told) return 0.0; /* no agent is held */
  return world->learnt->experience.prepare.mean_ns * (world_workers(world) - 1) * world->learnt->experience.holding;
}

/* How many workers run updates while the caller ranks, with itself. */
static double workers_beside_ranking(const struct muster_world *world) {
  return world_is_virtual(world) || world_is_planned(world) ? 1.0 : (double)world_workers(world);
}

/* What updates can have of this frame, on all workers: what the rest of the budget runs, with as many entries as it can
 * hold. Updates are offered something however long planning and actions take: with no offer, periods would stretch
 * without end, and no agent would be due in a frame that has time for one atom in any case. */
static double predicted_offer(const struct muster_world *world, const frame_forecast *forecast) {
  static const double least = 1.0 / 16.0;
  const frame_state *frame = world->frame;
  const frame_experience *experience = &world->learnt->experience;
  double capacity_ns = (double)frame->capacity_ns;
  if (world_is_virtual(world)) return fmax(capacity_ns - experience->act.mean_ns, least * capacity_ns);
  double fixed_ns = experience->prepare.mean_ns + (double)forecast_commit_ns(forecast, 0);
  double left_ns = fmax((double)frame->budget_ns - fixed_ns, least * (double)frame->budget_ns);
  double run_ns = experience->each_ns / world_workers(world);
  if (run_ns <= 0.0) return left_ns * world_workers(world);
  double entries = fmin(left_ns / (run_ns + forecast->entry_ns), forecast->entries_most);
  return entries * experience->each_ns + predicted_early_ns(world);
}

/* Actions are planned with updates where the rule is the law of importance; by other rules they take what they take,
 * and updates have the rest. On the wall clock, what one thread does alone costs the time of all workers. */
static double predicted_actions(struct muster_world *world) {
  double alone = world_is_virtual(world) ? 1.0 : (double)world_workers(world);
  for (uint32_t i = 0; i < world->agents.types.count; i++) {
    const agent_type *type = world_type(world, i);
    cost_actions *actions = &world->learnt->costs.actions[i];
    double each_ns = world->learnt->experience.act_each[type->def.act].mean_ns * actions->per_update;
    actions->each_ns = type->def.act == MUSTER_ACT_SERIAL ? each_ns * alone : each_ns;
    if (type->atom_count == type->parallel_atoms) actions->each_ns = 0.0;
  }
  return world->learnt->experience.act.mean_ns * alone;
}

/* Time of the other workers until the caller ranks, and a little more, so that they do not run dry. */
double forecast_gap_ns(const struct muster_world *world) {
  return 1.3 * world->learnt->experience.prepare.mean_ns * (world_own_workers(world) - 1);
}

/* What is missing in the queue that keeps workers, or a host, busy until a frame ends, and while the next is planned.
 * Under the virtual clock no prediction errs; by the papers' rules queues are long whenever periods stretch. */
static double lacking_ns(const struct muster_world *world, double offered_ns) {
  const ready_set *ready = &world->queues->ready;
  if (world_is_virtual(world) || !ready_by_deadline(ready)) return 0.0;
  const frame_experience *experience = &world->learnt->experience;
  double queue_ns = experience->each_ns * (ready->begun + world->batch->held_count);
  queue_ns += ready_waiting_ns(ready, &world->learnt->costs);
  double wanted_ns = controller_queue(&experience->controller, offered_ns);
  ASSERT(queue_ns >= 0.0 && wanted_ns >= 0.0);
  if (experience->each_ns > 0.0)
    wanted_ns = fmin(wanted_ns, queue_part * experience->each_ns * (double)world->queues->classes.all);
  return fmax(wanted_ns + forecast_gap_ns(world) - queue_ns, 0.0);
}

uint64_t forecast_load_now_ns(const struct muster_world *world) {
  const muster_load *load = &world->def.load;
  uint64_t now_ns = world->frame->now_ns;
  return now_ns >= load->from_ns && now_ns < load->until_ns ? load->frame_ns : 0;
}

/* What is planned for beforehand of a load that comes within half a second: more and more, until it is there and is
 * taken from the budget. */
static double load_to_come_ns(const struct muster_world *world) {
  static const double lead_ns = 5e8;
  const muster_load *load = &world->def.load;
  uint64_t now_ns = world->frame->now_ns;
  if (!load->frame_ns || load->until_ns <= load->from_ns || now_ns >= load->from_ns) return 0.0;
  double part = 1.0 - (double)(load->from_ns - now_ns) / lead_ns;
  return part > 0.0 ? part * (double)load->frame_ns : 0.0;
}

/* What the workers can run; also sets what the actions of updates will be taken to cost. */
static double predicted_utilisation(struct muster_world *world, const frame_forecast *forecast) {
  const frame_state *frame = world->frame;
  if (!frame->elapsed_ns) return INFINITY;
  double offered_ns = predicted_offer(world, forecast);
  double workers = world_is_virtual(world) ? 1.0 : (double)world_workers(world);
  offered_ns = fmax(offered_ns - load_to_come_ns(world) * workers, offered_ns / 16.0);
  double updates_ns = controller_plan(&world->learnt->experience.controller, offered_ns, lacking_ns(world, offered_ns));
  if (world->def.elastic == MUSTER_ELASTIC_IMPORTANCE) updates_ns += predicted_actions(world);
  return updates_ns / (double)frame->elapsed_ns;
}

void forecast_frame(struct muster_world *world) {
  double *mend_costs = &world->learnt->experience.mend_costs;
  if (*mend_costs > 0.0) costs_scale(&world->learnt->costs, world->agents.types.count, *mend_costs);
  *mend_costs = 0.0;
  frame_forecast forecast = predicted_commit(world);
  /* In this time no worker runs anything: while one ranks, the others do. */
  forecast.entry_ns = fmin(world->learnt->experience.rank.mean_ns, rank_most_ns) / workers_beside_ranking(world) +
                      fmin(forecast.settle_ns, settle_most_ns);
  forecast.entries_most = predicted_entries_most(world);
  forecast.gap_ns = forecast_gap_ns(world);
  forecast.utilisation = predicted_utilisation(world, &forecast);
  world->frame->forecast = forecast;
}

/* What an update costs: the mean over all agents, each weighted by how often it runs. */
static double mean_update_ns(const struct muster_world *world) {
  double sum_ns = 0.0, updates = 0.0;
  for (uint32_t i = 0; i < world->queues->classes.active_count; i++) {
    const agent_class *class = &world->queues->classes.classes[world->queues->classes.active[i]];
    double each = class->events_per_ns;
    if (class->elapsed != MUSTER_ELAPSED_EVENTS)
      each += (double)class->members * class->rate / (double)class->nominal_ns;
    sum_ns += each * periods_cost_ns(class, &world->learnt->costs);
    updates += each;
  }
  return updates > 0.0 ? sum_ns / updates : 0.0;
}

uint32_t forecast_x(const struct muster_world *world, const rank_limits *limits) {
  if (world->def.updates_per_frame != MUSTER_UPDATES_DERIVED) return world->def.updates_per_frame;
  double x = (double)limits->capacity_ns / fmax(mean_update_ns(world) + (double)limits->entry_ns, 1.0);
  return (uint32_t)fmin(fmax(x, 1.0), (double)(UINT32_MAX / 2));
}

/* What is worth admitting only to be held while the next frame is planned: the share that can be held of what the other
 * workers can run then. The rest would be ranked and put back for nothing. */
static double worth_holding_ns(const struct muster_world *world) {
  return world->frame->forecast.gap_ns * world->learnt->experience.holding;
}

uint64_t forecast_left_ns(const struct muster_world *world, uint32_t entries) {
  uint64_t now_ns = clock_now(world->clock);
  uint64_t end_ns = world->frame->deadline_ns - forecast_commit_ns(&world->frame->forecast, entries);
  return end_ns > now_ns ? end_ns - now_ns : 0;
}

rank_limits forecast_limits(struct muster_world *world) {
  const frame_state *frame = world->frame;
  const frame_forecast *forecast = &frame->forecast;
  uint64_t act_ns = (uint64_t)forecast->act_ns;
  rank_limits limits = {.now_ns = frame->now_ns,
                        .updates_max = UINT32_MAX,
                        .spawn_ids = world->commands->spawn_id_count,
                        .virtual = world_is_virtual(world),
                        .planned = world_is_planned(world),
                        .seed = world->def.seed,
                        .cycles_max = world->def.levels.cycles_max,
                        .cycles_from = world->def.levels.cycles_importance,
                        .classes = &world->queues->classes};
  if (limits.planned && world->planner->capacity < limits.updates_max) limits.updates_max = world->planner->capacity;
  if (limits.virtual) {
    limits.capacity_ns = frame->capacity_ns > act_ns ? frame->capacity_ns - act_ns : 0;
  } else {
    double left_ns = (double)forecast_left_ns(world, 0);
    limits.entry_ns = (uint64_t)(forecast->entry_ns * world_workers(world));
    if (forecast->entries_most < limits.updates_max) limits.updates_max = forecast->entries_most;
    double worth_ns = limits.planned ? 0.0 : worth_holding_ns(world);
    limits.capacity_ns = (uint64_t)(left_ns * world_workers(world) + worth_ns);
    limits.deviations = !limits.planned ? over_ranked : world->def.planner.by_clock ? over_planned : 0.0f;
    limits.entries_least = limits.planned && world->def.planner.by_clock && limits.capacity_ns ? LISTED_LEAST : 0;
  }
  return limits;
}

/* What an entry of the batch was predicted to cost. */
static double each_ns_of(const struct muster_world *world) {
  return world->sums->admitted ? (double)world->sums->admitted_ns / world->sums->admitted : 0.0;
}

/* Work that waits and should not. In the order of deadlines a queue of agents before their turn is as it should be. */
static double backlog_ns(const struct muster_world *world) {
  double each_ns = each_ns_of(world), held = world->batch->held_count,
         all_ns = each_ns * (world->queues->ready.count + held);
  if (!ready_by_deadline(&world->queues->ready)) return all_ns;
  all_ns += world->learnt->experience.acts_left_ns;
  uint32_t late = world->sums->report.agents_late - world->frame->acts_late;
  return fmax(each_ns * (late + held) + world->frame->acts_late_ns, all_ns - queue_part * world->frame->everybody_ns);
}

/* No plan can make up for what atoms waited for, or for what the kernel took while updates ran: of workers that were
 * late their own clocks tell that; of a host, what it says that its updates took. */
static uint64_t taken_ns(const struct muster_world *world) {
  uint64_t waited_ns = world->sums->report.stage_ns[MUSTER_STAGE_RUN];
  if (!world_is_planned(world)) return world->sums->report.blocked_ns + runner_taken_ns(world->runner);
  uint64_t own_ns = world->frame->own_ns / world_workers(world);
  return waited_ns > own_ns ? waited_ns - own_ns : 0;
}

/* How far the frame went beyond its budget by own time: without what the kernel took, of planning as well. */
static uint64_t own_overrun_ns(const struct muster_world *world) {
  const muster_frame_report *report = &world->sums->report;
  uint64_t end_ns = world->frame->budget_ns + world->frame->planning_taken_ns + taken_ns(world);
  return report->wall_ns > end_ns ? report->wall_ns - end_ns : 0;
}

/* What this frame shows of how much updates can use. */
static controller_sample sample_frame(const struct muster_world *world, uint64_t plan_ns) {
  const muster_frame_report *report = &world->sums->report;
  const frame_state *frame = world->frame;
  controller_sample sample = {.backlog_ns = backlog_ns(world),
                              .budget_ns = report->budget_ns,
                              .waited = report->carried + report->preempted > 0 || world->commit->open};
  if (world_is_virtual(world)) {
    sample.used_ns = (double)frame->spent_ns - (double)frame->act_ns;
    sample.offered_ns = (double)frame->capacity_ns - (double)frame->act_ns;
    sample.overrun_ns = frame->spent_ns > frame->capacity_ns ? frame->spent_ns - frame->capacity_ns : 0;
    sample.budget_ns = frame->capacity_ns + report->repaid_ns;
    return sample;
  }
  frame_forecast known = predicted_commit(world); /* includes what the commit has shown by now */
  uint64_t serial_ns = plan_ns + forecast_commit_ns(&known, world->batch->count);
  sample.used_ns = (double)(world_is_planned(world) ? frame->believed_ns : runner_believed_ns(world->runner));
  sample.used_ns += (double)report->idle_ns[MUSTER_IDLE_LONG]; /* says nothing about what is believed */
  sample.offered_ns = ((double)frame->budget_ns - (double)serial_ns) * world_workers(world) +
                      predicted_early_ns(world) +
                      (double)report->stage_ns[MUSTER_STAGE_RANK] * (workers_beside_ranking(world) - 1.0);
  if (report->pressure > 1.0f) sample.lacks_ns = lacking_ns(world, sample.offered_ns);
  sample.overrun_ns = own_overrun_ns(world);
  return sample;
}

/* Warns of a budget that planning alone uses up: it leaves one atom to each frame. */
static void tell_of_planning(struct muster_world *world, uint64_t plan_ns) {
  enum { FRAMES_IN_A_ROW = 64, FRAMES_BETWEEN_LINES = 8192 };
  frame_experience *experience = &world->learnt->experience;
  experience->planned_only = plan_ns > world->sums->report.budget_ns ? experience->planned_only + 1 : 0;
  if (experience->planned_only % FRAMES_BETWEEN_LINES != FRAMES_IN_A_ROW) return;
  log_write(&world->def.log, MUSTER_LOG_WARNING,
            "frame %llu: for %d frames planning alone took longer than the budget (now %llu of %llu us), which leaves "
            "one atom to a frame: give frames more time, or have fewer agents",
            (unsigned long long)world->frames, FRAMES_IN_A_ROW, (unsigned long long)plan_ns / 1000,
            (unsigned long long)world->sums->report.budget_ns / 1000);
}

/* Members of herds are never held: they count as what could not be held. */
void forecast_learn_holding(struct muster_world *world) {
  double held_ns = (double)world->batch->held_ns, unheld_ns = (double)world->commit->unheld_ns;
  double *holding = &world->learnt->experience.holding;
  if (held_ns + unheld_ns > 0.0) *holding += 0.25 * (held_ns / (held_ns + unheld_ns) - *holding);
}

/* A frame that planning alone made late says nothing of its end, but what the kernel took of planning was gone when the
 * rest of the frame was fitted into what was left: it excuses the debt alone. Nor does what a claim took beyond the
 * time to stop say anything: the promise leaves it to the frame's longest atom, the debt repays it, and time kept free
 * for it would be lost in every frame. */
static void learn_reserve(struct muster_world *world, const controller_sample *sample, uint64_t plan_ns) {
  uint64_t budget_ns = world->frame->budget_ns, repaid_ns = world->sums->report.repaid_ns;
  uint64_t beyond_ns = world_is_planned(world) ? world->sums->report.longest_claim_ns : runner_beyond_ns(world->runner);
  uint64_t end_ns = budget_ns + taken_ns(world) + repaid_ns + beyond_ns;
  uint64_t late_ns = world->sums->report.wall_ns > end_ns ? world->sums->report.wall_ns - end_ns : 0;
  double *learnt_ns = &world->learnt->experience.reserve_ns;
  if (sample->waited && plan_ns < budget_ns) *learnt_ns = frame_reserve_learn(*learnt_ns, budget_ns, late_ns);
}

/* Time that was left when no update ran any more, and that the commit did not use either. What was planned to be left,
 * for a load that comes, does not count. */
static double idle_time_ns(const struct muster_world *world, const controller_sample *sample) {
  double workers = world_workers(world), now_ns = (double)clock_now(world->clock);
  double end_ns = fmax((double)world->frame->deadline_ns - now_ns, 0.0) * workers;
  double left_ns = world_is_planned(world) ? sample->offered_ns - (double)world->sums->report.update_cpu_ns
                                           : (double)runner_left_ns(world->runner);
  return fmax(fmin(left_ns, end_ns) - load_to_come_ns(world) * workers, 0.0);
}

/* Whether something else than estimates kept updates and actions from running. */
static bool is_idle_excused(const struct muster_world *world) {
  const muster_frame_report *report = &world->sums->report;
  bool excused = world_is_planned(world) && !world->def.planner.by_clock; /* such a host runs what it is given */
  for (uint32_t i = MUSTER_IDLE_FAULT + 1; i < MUSTER_IDLES; i++) excused |= report->idle_ns[i] > 0;
  return excused || report->blocked_ns || report->actions_waiting; /* these are longer than what was left */
}

/* Mends estimates that let periods stretch while the budget is idle: those of costs when the next frame begins, which
 * is what a record says. */
static void mend_estimates(struct muster_world *world, const controller_sample *sample) {
  frame_experience *experience = &world->learnt->experience;
  const muster_frame_report *report = &world->sums->report;
  usage_sample used = {.now_ns = world->frame->now_ns,
                       .longest_ns = (uint64_t)fmin(world->frame->longest_ns, 0x1p62),
                       .updates = report->completed + report->preempted,
                       .offered_ns = sample->offered_ns,
                       .left_ns = idle_time_ns(world, sample),
                       .took_ns = (double)report->update_cpu_ns,
                       .believed_ns = sample->used_ns,
                       .stretched = report->utilisation_fitted < 0.98f * report->utilisation_nominal,
                       .excused = is_idle_excused(world)};
  usage_verdict verdict = usage_add(&experience->usage, &used);
  if (!verdict.contradicts) return;
  world->sums->statistics.estimates_mended++;
  if (verdict.costs < 1.0) experience->mend_costs = verdict.costs;
  controller_raise(&experience->controller, verdict.plan);
}

void forecast_learn(struct muster_world *world) {
  frame_experience *experience = &world->learnt->experience;
  muster_frame_report *report = &world->sums->report;
  uint64_t plan_ns = 0;
  for (uint32_t stage = 0; stage < MUSTER_STAGE_RUN; stage++) plan_ns += report->stage_ns[stage];
  bool by_deadline = ready_by_deadline(&world->queues->ready);
  report->agents_late = by_deadline ? ready_count_late(&world->queues->ready) + world->frame->acts_late
                                    : world->agents.store.active_count;
  controller_sample sample = sample_frame(world, plan_ns);
  uint32_t entries = world->batch->count + world->batch->woken_count;
  controller_learn(&experience->controller, &sample);
  report->debt_ns = experience->controller.debt_ns;
  report->share = (float)experience->controller.share;
  cost_learning_end_frame(world);
  for (uint32_t i = 0; i < world->agents.types.count; i++) {
    costs_learn_actions(&world->learnt->costs.actions[i], world->queues->ready.released_of[i]);
    world->queues->ready.released_of[i] = 0;
  }
  experience->entries = entries;
  forecast_learn_holding(world);
  if (world_is_virtual(world)) return;
  mend_estimates(world, &sample);
  tell_of_planning(world, plan_ns);
  learn_reserve(world, &sample, plan_ns);
  uint64_t rank_ns = report->stage_ns[MUSTER_STAGE_RANK];
  estimate_add_clipped(&experience->plan, (double)plan_ns, 1e5);
  estimate_add_clipped(&experience->prepare, (double)(plan_ns - rank_ns), 1e5);
  if (entries) experience->each_ns = each_ns_of(world);
  if (entries < ENTRIES_TO_LEARN_FROM) return;
  /* Agents that were released and not admitted cost ranking time, too. */
  uint32_t ranked = report->released > entries ? report->released : entries;
  estimate_add_clipped(&experience->rank, (double)rank_ns / ranked, 100.0);
}

/* run.c - stage 7: the batch goes to the workers. What they do with it is in run/runner.h. */
#include "agents/batch.h"
#include "base/assert.h"
#include "frame/audit.h"
#include "frame/forecast.h"
#include "frame/frame.h"
#include "frame/frame_record.h"
#include "frame/settle.h"
#include "frame/stages.h"
#include "run/runner.h"
#include "run/timeline.h"
#include "world/frame_state.h"
#include "world/serial.h"
#include "world/workers.h"
#include "world/world_commands.h"
#include "world/world_learnt.h"
#include "world/world_plan.h"
#include "world/world_queues.h"
#include "world/world_sums.h"
#include "world/world_teams.h"

/* Updates that are worth calling a worker for. */
static uint64_t worth_calling_ns(const struct muster_world *world) {
  return calling_worth_ns(&world->teams->calling, CALLING_RUN_NS);
}

static team_orders orders_for(struct muster_world *world, team_work work) {
  struct runner *runner = world->runner;
  return (team_orders){.work = work,
                       .argument = runner,
                       .patience_ns = runner->virtual ? UINT64_MAX : runner->deadline_ns,
                       .before_sleep = runner->audit ? runner_before_sleep : NULL,
                       .workers = runner->workers};
}

/* There are claims for the early team: opens it. */
static void open_early_team(struct muster_world *world, uint32_t helpers) {
  team_orders orders = orders_for(world, runner_work_early);
  world->teams->early_open = true;
  world->teams->early_called = 0;
  serial_open_early(world);
  team_open(&world->teams->early, world->teams->slot, &orders, helpers);
}

void run_early(struct muster_world *world) {
  struct runner *runner = world->runner;
  rank_limits limits = {.now_ns = world->frame->now_ns,
                        .spawn_ids = world->commands->spawn_id_count,
                        .virtual = runner->virtual,
                        .classes = &world->queues->classes};
  world->plan->held =
      rank_held(&world->agents.store, &world->agents.types, &world->learnt->costs, &limits, world->batch);
  runner->deadline_ns = world->frame->deadline_ns;
  ASSERT(world->batch->held_count == 0);
  runner->risk_most_ns = world->frame->budget_ns / 4;
  runner_set_stop(runner, world->frame->deadline_ns -
                              forecast_commit_ns(&world->frame->forecast, world->learnt->experience.entries));
  runner_open(runner);
  world->teams->early_open = false;
  if (!world->batch->claim_count || !world->timed) return;
  runner_publish(runner, world->batch->claim_count);
  open_early_team(world, TEAM_ALL);
}

/* Ranking has claims for the workers: calls one for each worth_calling_ns() of work, as many as came before at a time,
 * so that few calls take the caller's time. Workers take a while to come, so as much is expected as the last frame had.
 */
static void publish_claims(void *owner, uint32_t claims, uint64_t predicted_ns) {
  struct muster_world *world = owner;
  ASSERT(world->timed && claims <= world->batch->claim_count);
  runner_publish(world->runner, claims);
  uint64_t last_ns = world->sums->admitted_ns, work_ns = predicted_ns > last_ns ? predicted_ns : last_ns;
  uint64_t worth_ns = worth_calling_ns(world);
  timeline_offer(world->runner->timeline, claims, work_ns, worth_ns);
  if (!world->teams->early_open) open_early_team(world, 0);
  uint32_t called = world->teams->early_called, wanted = serial_worth(work_ns, worth_ns, MUSTER_WORKERS_MAX);
  if (!serial_calls_now(wanted, called)) return;
  world->teams->early_called = wanted;
  team_call(&world->teams->early, world->teams->slot, wanted - called);
}

void run_beside_ranking(struct muster_world *world, rank_limits *limits) {
  bool shared = world_own_workers(world) > 1 || world->runner->timeline;
  if (!world->timed || world_is_planned(world) || !shared) return;
  if (world->agents.types.has_strands) return; /* their claims are cut when all are ranked */
  if (world->teams->early_open && world_own_workers(world) > 1) serial_note_dry(world, world->plan->held.predicted_ns);
  limits->publish = publish_claims;
  limits->owner = world;
}

/* While other workers begin, the caller prepares the settling, when that is worth doing beside each other. */
static void run_batch(struct muster_world *world, const team_orders *orders) {
  enum { WORTH_CUTTING = 512 };
  struct team *team = &world->teams->run;
  team_open(team, world->teams->slot, orders, world->teams->helpers);
  world->teams->lots.count = 0; /* the last commit may have had no time to begin */
  bool shared = world->teams->helpers > 0 || world->runner->timeline;
  timeline_offer(world->runner->timeline, world->batch->claim_count, world->sums->admitted_ns, worth_calling_ns(world));
  if (shared && world->timed && world->batch->count >= WORTH_CUTTING) settle_cut_lots(world);
  runner_work(world->runner, world->runner->caller);
  team_close(team, world->teams->slot);
  team_wait(team, world->teams->slot);
}

static void publish_ranked(struct muster_world *world) {
  runner_set_stop(world->runner, world->frame->deadline_ns - world->frame->commit_ns);
  runner_publish_all(world->runner);
}

/* Runs claims that were published, with as many workers as their predicted time is worth. */
static void run_published(struct muster_world *world, uint32_t claims, uint64_t work_ns) {
  team_orders orders = orders_for(world, runner_work);
  ASSERT(claims <= world->batch->claim_count && world->runner->published == world->batch->claim_count);
  world->teams->helpers = claims > 1 ? serial_helpers_worth(world, work_ns, worth_calling_ns(world)) : 0;
  run_batch(world, &orders);
}

/* Runs the claims that were left because they may overrun the end. False when there are none. */
static bool run_risks(struct muster_world *world) {
  struct runner *runner = world->runner;
  batch_claim claim;
  uint32_t claims = 0;
  uint64_t work_ns = 0;
  for (; ring_peek(&runner->risks, claims, &claim); claims++) work_ns += claim.predicted_ns;
  if (claims == 0) return false;
  ASSERT(world->timed && claims <= RISKS_MAX);
  runner->takes_risks = true;
  run_published(world, claims, work_ns);
  return true;
}

/* Whether more was ranked into the batch. */
static bool run_goes_on(struct muster_world *world) {
  bool due = frame_append_is_due(world);
  if (!due && run_risks(world)) due = frame_append_is_due(world);
  return frame_append(world, due);
}

/* Goes on while there is time and agents wait. */
static void run_appended(struct muster_world *world) {
  uint32_t claims = world->batch->claim_count;
  while (run_goes_on(world)) {
    publish_ranked(world);
    run_published(world, world->batch->claim_count - claims, world->plan->ranked.predicted_ns);
    claims = world->batch->claim_count;
  }
}

void run_by_workers(struct muster_world *world) {
  publish_ranked(world);
  if (world->teams->early_open) team_close(&world->teams->early, world->teams->slot);
  serial_mark(world);
  bool left = world->teams->early_open && serial_early_are_left(world);
  run_published(world, world->batch->claim_count, world->sums->admitted_ns);
  if (world->teams->early_open) {
    team_wait(&world->teams->early, world->teams->slot);
    serial_count_early(world, left);
  }
  if (!world_is_virtual(world)) run_appended(world);
  if (world->timed) idle_note(world);
  runner_close(world->runner);
  audit_blocked(world);
  frame_record_outcomes(world);
}

void run_note_frame(struct muster_world *world) {
  const muster_frame_report *report = &world->sums->report;
  uint32_t others = world_own_workers(world) - 1;
  if (!world->timed || world_is_planned(world) || others == 0) return;
  calling_note(&world->teams->calling, world->sums->admitted_ns, others, report->wall_ns, report->completed);
}

uint64_t frame_time_to_run(const struct muster_world *world) {
  if (world_is_virtual(world)) return world->frame->capacity_ns;
  uint64_t end_ns = world->frame->deadline_ns - world->frame->commit_ns;
  uint64_t now_ns = clock_now(world->clock);
  return end_ns > now_ns ? end_ns - now_ns : 0;
}

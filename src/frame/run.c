/* run.c - stage 7: the batch goes to the workers. What they do with it is in run/runner.h. */
#include "agents/batch.h"
#include "base/assert.h"
#include "frame/audit.h"
#include "frame/forecast.h"
#include "frame/frame.h"
#include "frame/frame_record.h"
#include "frame/stages.h"
#include "run/runner.h"
#include "world/frame_state.h"
#include "world/serial.h"
#include "world/world_commands.h"
#include "world/world_learnt.h"
#include "world/world_plan.h"
#include "world/world_queues.h"
#include "world/world_sums.h"
#include "world/world_teams.h"

static team_orders orders_for(struct muster_world *world, team_work work) {
  struct runner *runner = world->runner;
  return (team_orders){.work = work,
                       .argument = runner,
                       .patience_ns = runner->virtual ? UINT64_MAX : runner->deadline_ns,
                       .before_sleep = runner->audit ? runner_before_sleep : NULL,
                       .workers = runner->workers};
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
  ASSERT(world->batch->held_count == 0 && world->batch->early_count == world->batch->count);
  runner->risk_most_ns = world->frame->budget_ns / 4;
  runner->stop_ns =
      world->frame->deadline_ns - forecast_commit_ns(&world->frame->forecast, world->learnt->experience.entries);
  runner_open_early(runner);
  team_orders orders = orders_for(world, runner_work_early);
  world->teams->early_open = world->batch->early_claims > 0 && world->timed;
  if (!world->teams->early_open) return;
  serial_open_early(world);
  team_open(&world->teams->early, world->teams->seat, &orders, TEAM_ALL);
}

void run_by_workers(struct muster_world *world) {
  team_orders orders = orders_for(world, runner_work);
  if (!world->teams->early_open) /* otherwise workers may be reading it */
    world->runner->stop_ns = world->frame->deadline_ns - world->frame->commit_ns;
  runner_open(world->runner);
  if (world->teams->early_open) team_close(&world->teams->early, world->teams->seat);
  serial_mark(world);
  bool left = world->teams->early_open && serial_early_are_left(world);
  world->teams->helpers = world->batch->claim_count > 1 ? serial_helpers_for(world, world->sums->admitted_ns) : 0;
  team_run(&world->teams->run, world->teams->seat, &orders, world->teams->helpers);
  if (world->teams->early_open) {
    team_wait(&world->teams->early, world->teams->seat);
    serial_count_early(world, left);
  }
  runner_close(world->runner);
  audit_blocked(world);
  frame_record_outcomes(world);
}

uint64_t frame_time_to_run(const struct muster_world *world) {
  if (world_is_virtual(world)) return world->frame->capacity_ns;
  uint64_t end_ns = world->frame->deadline_ns - world->frame->commit_ns;
  uint64_t now_ns = clock_now(world->clock);
  return end_ns > now_ns ? end_ns - now_ns : 0;
}

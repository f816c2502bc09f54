/* run.c - stage 7: the batch goes to the workers. What they do with it is in run/runner.h. */
#include "base/assert.h"
#include "frame/audit.h"
#include "frame/forecast.h"
#include "frame/frame.h"
#include "frame/frame_record.h"
#include "frame/stages.h"
#include "world/serial.h"

static crew_orders orders_for(struct muster_world *world, crew_work work) {
  struct runner *runner = &world->runner;
  return (crew_orders){.work = work,
                       .argument = runner,
                       .patience_ns = runner->virtual ? UINT64_MAX : runner->deadline_ns,
                       .before_sleep = runner->audit ? runner_before_sleep : NULL,
                       .workers = runner->workers};
}

void run_early(struct muster_world *world) {
  struct runner *runner = &world->runner;
  rank_limits limits = {.now_ns = world->frame.now_ns,
                        .spawn_ids = world->spawn_id_count,
                        .virtual = runner->virtual,
                        .classes = &world->classes};
  world->held = rank_held(&world->store, &world->types, &world->costs, &limits, &world->batch);
  runner->deadline_ns = world->frame.deadline_ns;
  ASSERT(world->batch.held_count == 0 && world->batch.early_count == world->batch.count);
  runner->risk_most_ns = world->frame.budget_ns / 4;
  runner->stop_ns = world->frame.deadline_ns - forecast_commit_ns(&world->frame.forecast, world->experience.entries);
  runner_open_early(runner);
  crew_orders orders = orders_for(world, runner_work_early);
  world->early_open = world->batch.early_claims > 0 && world->timed;
  if (world->early_open) crew_open(&world->early_crew, world->seat, &orders, CREW_ALL);
}

void run_by_workers(struct muster_world *world) {
  crew_orders orders = orders_for(world, runner_work);
  if (!world->early_open) /* else workers may be reading it */
    world->runner.stop_ns = world->frame.deadline_ns - world->frame.commit_ns;
  runner_open(&world->runner);
  if (world->early_open) crew_close(&world->early_crew, world->seat);
  serial_mark(world);
  world->helpers = world->batch.claim_count > 1 ? serial_helpers_for(world, world->admitted_ns) : 0;
  crew_run(&world->run_crew, world->seat, &orders, world->helpers);
  if (world->early_open) crew_wait(&world->early_crew, world->seat);
  runner_close(&world->runner);
  audit_blocked(world);
  frame_record_outcomes(world);
}

uint64_t frame_time_to_run(const struct muster_world *world) {
  if (world->runner.virtual) return world->frame.capacity_ns;
  uint64_t end_ns = world->frame.deadline_ns - world->frame.commit_ns;
  uint64_t now_ns = clock_now(&world->runner.clock);
  return end_ns > now_ns ? end_ns - now_ns : 0;
}

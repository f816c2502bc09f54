/* serial.c - see serial.h. */
#include "world/serial.h"

#include "base/assert.h"
#include "record/recorder.h"
#include "run/runner.h"
#include "world/frame_state.h"
#include "world/world_teams.h"

uint32_t serial_helpers_for(const struct muster_world *world, uint64_t work_ns) {
  enum { WORTH_CALLING_NS = 500000 };
  uint32_t workers = muster_pool_workers(world->pool);
  ASSERT(world->runner->workers > 0 && workers > 0);
  uint32_t most = (world->runner->workers < workers ? world->runner->workers : workers) - 1;
  if (!world->timed) return most;
  uint64_t now_ns = clock_now(world->clock), end_ns = world->frame->deadline_ns;
  uint64_t left_ns = end_ns > now_ns ? end_ns - now_ns : 1;
  uint64_t helpers = work_ns / WORTH_CALLING_NS, needed = work_ns * 2 / left_ns; /* half of the time left must do */
  if (needed > helpers) helpers = needed;
  return helpers < most ? (uint32_t)helpers : most;
}

serial_help serial_begin_help(const struct muster_world *world, uint32_t worker) {
  serial_help help = {.helps = worker != world->runner->caller && !world_is_virtual(world)};
  help.audited = help.helps && world->runner->audit;
  if (help.helps) help.begin_ns = clock_now(world->clock);
  if (help.audited) help.begin_cpu_ns = clock_thread_cpu();
  return help;
}

void serial_end_help(struct muster_world *world, uint32_t worker, const serial_help *help) {
  if (help->helps) world->runner->states[worker].loop_ns += clock_now(world->clock) - help->begin_ns;
  if (help->audited) runner_audit_settling(world->runner, worker, clock_thread_cpu() - help->begin_cpu_ns);
}

bool serial_is_over(const struct muster_world *world, uint64_t end_ns) {
  return end_ns != UINT64_MAX && recorder_choose(world->recorder, clock_now(world->clock) >= end_ns);
}

bool serial_is_audited(const struct muster_world *world) {
  return world->def.audit && !world_is_virtual(world);
}

uint64_t serial_take_interval(struct muster_world *world, uint64_t *wall_ns) {
  frame_state *frame = world->frame;
  uint64_t now_ns = clock_now(world->clock), cpu_ns = clock_thread_cpu();
  uint64_t spent_cpu_ns = cpu_ns - frame->mark_cpu_ns;
  uint64_t promised_ns = world->runner->promised_ns;
  if (now_ns > promised_ns) {
    uint64_t from_ns = frame->mark_ns > promised_ns ? frame->mark_ns : promised_ns;
    uint64_t late_ns = now_ns - from_ns;
    frame->late_cpu_ns += late_ns < spent_cpu_ns ? late_ns : spent_cpu_ns;
  }
  *wall_ns = now_ns - frame->mark_ns;
  frame->mark_ns = now_ns;
  frame->mark_cpu_ns = cpu_ns;
  return spent_cpu_ns;
}

void serial_mark(struct muster_world *world) {
  if (!serial_is_audited(world)) return;
  uint64_t wall_ns, cpu_ns = serial_take_interval(world, &wall_ns);
  world->frame->serial_cpu_ns += cpu_ns;
  world->frame->stolen_ns += wall_ns > cpu_ns ? wall_ns - cpu_ns : 0;
}

static void mark_before_sleep(void *argument) {
  struct muster_world *world = argument;
  serial_mark(world);
  world->frame->slept = true;
}

void serial_run_team(struct muster_world *world, struct team *team, team_work work, uint32_t helpers) {
  ASSERT(helpers > 0 && helpers < muster_pool_workers(world->pool));
  team_orders orders = {.work = work,
                        .argument = world,
                        .patience_ns = world_is_virtual(world) ? UINT64_MAX : world->frame->deadline_ns,
                        .before_sleep = serial_is_audited(world) ? mark_before_sleep : NULL};
  uint64_t wall_ns;
  world->frame->slept = false;
  team_run(team, world->teams->seat, &orders, helpers);
  if (world->frame->slept) world->frame->serial_cpu_ns += serial_take_interval(world, &wall_ns);
}

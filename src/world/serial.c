/* serial.c - see serial.h. */
#include "world/serial.h"

#include "base/assert.h"
#include "pool/ticket.h"
#include "record/recorder.h"
#include "run/runner.h"
#include "world/frame_state.h"
#include "world/world_teams.h"

/* The workers beside the caller. */
static uint32_t others_of(const struct muster_world *world) {
  uint32_t workers = muster_pool_workers(world->pool);
  ASSERT(world->runner->workers > 0 && workers > 0);
  return (world->runner->workers < workers ? world->runner->workers : workers) - 1;
}

uint64_t serial_help_worth_ns(const struct muster_world *world) {
  return calling_worth_ns(&world->teams->calling, CALLING_HELP_NS);
}

uint32_t serial_helpers_for(const struct muster_world *world, uint64_t work_ns) {
  return serial_helpers_worth(world, work_ns, serial_help_worth_ns(world));
}

uint32_t serial_helpers_worth(const struct muster_world *world, uint64_t work_ns, uint64_t worth_ns) {
  uint32_t most = others_of(world);
  if (!world->timed) return most;
  uint64_t now_ns = clock_now(world->clock), end_ns = world->frame->deadline_ns;
  uint64_t left_ns = end_ns > now_ns ? end_ns - now_ns : 1;
  uint64_t needed = work_ns * 2 / left_ns; /* half of the time left must do */
  uint32_t helpers = serial_worth(work_ns, worth_ns, most);
  return needed <= helpers ? helpers : needed < most ? (uint32_t)needed : most;
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

uint64_t serial_take_interval(struct muster_world *world, uint64_t now_ns, uint64_t *wall_ns) {
  frame_state *frame = world->frame;
  uint64_t own_ns = world->def.audit ? clock_thread_cpu() : now_ns;
  uint64_t spent_ns = own_ns - frame->mark_own_ns;
  uint64_t promised_ns = world->runner->promised_ns;
  if (now_ns > promised_ns) {
    uint64_t from_ns = frame->mark_ns > promised_ns ? frame->mark_ns : promised_ns;
    uint64_t late_ns = now_ns - from_ns;
    frame->late_cpu_ns += late_ns < spent_ns ? late_ns : spent_ns;
  }
  *wall_ns = now_ns - frame->mark_ns;
  frame->mark_ns = now_ns;
  frame->mark_own_ns = own_ns;
  return spent_ns;
}

void serial_mark_at(struct muster_world *world, uint64_t now_ns) {
  ASSERT(!world_is_virtual(world));
  uint64_t wall_ns, own_ns = serial_take_interval(world, now_ns, &wall_ns);
  world->frame->serial_ns += own_ns;
  world->frame->stolen_ns += wall_ns > own_ns ? wall_ns - own_ns : 0;
}

void serial_mark(struct muster_world *world) {
  if (!world_is_virtual(world)) serial_mark_at(world, clock_now(world->clock));
}

/* The caller's own clock; 0 under the virtual clock. */
static uint64_t own_clock(const struct muster_world *world) {
  if (world_is_virtual(world)) return 0;
  return world->def.audit ? clock_thread_cpu() : clock_now(world->clock);
}

void serial_open_early(struct muster_world *world) {
  frame_state *frame = world->frame;
  frame->early_ns = clock_now(world->clock);
  frame->early_own_ns = world->def.audit ? clock_thread_cpu() : frame->early_ns;
  frame->early_helped_ns = frame->helped_ns;
  frame->early_dry_ns = 0;
}

void serial_note_dry(struct muster_world *world, uint64_t held_ns) {
  frame_state *frame = world->frame;
  ASSERT(world->timed && others_of(world) > 0);
  if (serial_early_are_left(world)) return;
  uint64_t now_ns = clock_now(world->clock), dry_from_ns = frame->early_ns + held_ns / others_of(world);
  frame->early_dry_ns = now_ns > dry_from_ns ? now_ns - dry_from_ns : 0;
}

bool serial_early_are_left(const struct muster_world *world) {
  return others_of(world) > 0 && !ticket_is_spent(&world->runner->ticket);
}

void serial_count_early(struct muster_world *world, bool left) {
  frame_state *frame = world->frame;
  ASSERT(frame->early_ns <= frame->mark_ns && frame->early_helped_ns <= frame->helped_ns);
  uint64_t left_ns = left ? frame->mark_ns : 0, own_ns = frame->mark_own_ns - frame->early_own_ns;
  for (uint32_t i = 0; i < world->runner->state_count && !left; i++)
    if (world->runner->states[i].early_end_ns > left_ns) left_ns = world->runner->states[i].early_end_ns;
  if (left_ns > frame->mark_ns) left_ns = frame->mark_ns;
  if (left_ns <= frame->early_ns) return;
  uint64_t helped_ns = frame->helped_ns - frame->early_helped_ns; /* by teams, which are told apart already */
  uint64_t beside_ns = left_ns - frame->early_ns,
           dry_ns = frame->early_dry_ns < beside_ns ? frame->early_dry_ns : beside_ns;
  double part = (double)(beside_ns - dry_ns) / (double)(frame->mark_ns - frame->early_ns);
  if (own_ns > helped_ns) frame->helped_ns += (uint64_t)((double)(own_ns - helped_ns) * part);
}

uint64_t serial_alone_ns(const struct muster_world *world) {
  const frame_state *frame = world->frame;
  return frame->serial_ns > frame->helped_ns ? frame->serial_ns - frame->helped_ns : 0;
}

static void mark_before_sleep(void *argument) {
  struct muster_world *world = argument;
  serial_mark(world);
  world->frame->slept = true;
}

void serial_run_team(struct muster_world *world, team_work work, uint32_t helpers) {
  ASSERT(helpers > 0 && helpers < muster_pool_workers(world->pool));
  team_orders orders = {.work = work,
                        .argument = world,
                        .patience_ns = world_is_virtual(world) ? UINT64_MAX : world->frame->deadline_ns,
                        .before_sleep = serial_is_audited(world) ? mark_before_sleep : NULL};
  uint64_t wall_ns, own_ns = own_clock(world);
  world->frame->slept = false;
  team_run(&world->teams->beside, world->teams->slot, &orders, helpers);
  world->frame->helped_ns += own_clock(world) - own_ns;
  if (world->frame->slept) world->frame->serial_ns += serial_take_interval(world, clock_now(world->clock), &wall_ns);
}

/* The library's contenders: a world on a told clock, planned for a host or run on the calling thread. */
#include "budget_run.h"

#include "base/clock.h"
#include "run/runner.h"
#include "world/world.h"

#include <muster/planner.h>
#include <stdlib.h>

/* Plans once more only for more time than this. */
#define REST_LEAST_NS 20000u

struct loop {
  muster_world *world;
  muster_pool *pool; /* of more than one worker */
  muster_type types[CROWD_TYPES_MAX];
  uint64_t completed; /* as reports say */
  muster_plan_entry *entries;
  muster_plan_result *results;
};

static bool is_planned(const struct run *run) {
  return run->contender == BUDGET_PLAN || run->contender == BUDGET_REPLAN;
}

/* -------------------------------------------------------------------------------------------------------- the world */

static muster_atom_result update_atom(muster_update *update) {
  struct run *run = update->type_user;
  run_update(run, update->worker, (uint32_t)(uintptr_t)update->user, update->level, update->elapsed_ns);
  return MUSTER_ATOM_NEXT;
}

/* Every type of the run with the guess of its host: that an update takes 20 us. */
static bool register_types(struct run *run, struct loop *loop) {
  static const muster_atom atom = {update_atom, MUSTER_ROLE_BEHAVIOUR, 20000};
  uint32_t kinds = run->crowd.type_count;
  for (uint32_t i = 0; i < (kinds ? kinds : 1u + run->shape->split); i++) {
    muster_type_def type = muster_type_def_default();
    type.period_ns = kinds ? run->crowd.types[i].period_ns : PERIOD_NS;
    type.period_max_ns = kinds ? run->crowd.types[i].period_max_ns : PERIOD_MAX_NS;
    type.overruns.demote = 0; /* long updates are wanted */
    type.parts.part_ns = atom.model_ns;
    type.user = run;
    if (!is_planned(run)) type.atoms = &atom, type.atom_count = 1;
    if (run->shape->player) type.levels.count = 2;
    loop->types[i] = muster_type_register(loop->world, &type);
    if (!loop->types[i].index) return false;
  }
  return true;
}

/* Agents stand alone, but for those where the player comes. */
static muster_position place_of(const struct run *run, uint32_t agent) {
  if (run_is_near(run, agent)) return (muster_position){0.01 * agent, 0, 0};
  return (muster_position){1000.0 + 10.0 * (agent % 100), 10.0 * (agent / 100), 0};
}

static bool spawn(struct run *run, struct loop *loop, uint32_t agent) {
  muster_agent_def def = muster_agent_def_default();
  uint32_t dear = run->shape->split && run_is_dear(run->shape, agent);
  def.type = loop->types[run->crowd.type_count ? run->crowd.members[agent].type : dear];
  def.position = place_of(run, agent);
  def.importance_floor = run->shape->player ? 0.0f : (float)run->crowd.members[agent].importance;
  def.user = (void *)(uintptr_t)agent;
  return !muster_agent_is_null(muster_agent_spawn(loop->world, &def));
}

/* An audit reads the thread's CPU clock beside each update. That costs a few in a hundred of 20 us, and lets the kernel
 * end the thread's turn: no host pays that beside a load to be told who was late. A told clock is the whole world's;
 * the pool's own, which no frame of one worker looks at, stays the machine's. */
static muster_world *create(struct run *run, struct loop *loop) {
  muster_world_def def = muster_world_def_default();
  def.limits.agents_max = run->count;
  def.planner_workers = is_planned(run);
  def.planner.by_clock = is_planned(run);
  def.planner.by_wall = is_planned(run) && !run->setup->report_own;
  def.audit = run->wall && !is_planned(run) && !run->shape->noise;
  def.pool = loop->pool;
  def.seed = run->setup->seed;
  def.watch.stuck_ns = 0; /* it would look at the machine's clock */
  muster_world *world = muster_world_create(&def);
  if (!world || run->wall) return world;
  world->runner->clock = clock_told(&run->told_ns);
  clock_tell_thread_cpu(&run->told_cpu_ns);
  return world;
}

static bool create_pool(struct run *run, struct loop *loop) {
  muster_pool_def def = muster_pool_def_default();
  def.workers = run->share;
  if (run->share == 1) return true;
  loop->pool = muster_pool_create(&def);
  return loop->pool && muster_pool_indices(loop->pool) <= run->workers;
}

bool world_open(struct run *run) {
  struct loop *loop = run->loop = calloc(1, sizeof *loop);
  if (!loop) return false;
  loop->entries = calloc(run->count, sizeof *loop->entries);
  loop->results = calloc(run->count, sizeof *loop->results);
  if (!create_pool(run, loop)) return false;
  loop->world = loop->entries && loop->results ? create(run, loop) : NULL;
  return loop->world && register_types(run, loop);
}

/* Whether the reports count every update; a commit that is late leaves its own to the next frame. */
static bool adds_up(const struct run *run, const struct loop *loop) {
  uint64_t updates = 0;
  for (uint32_t i = 0; i < run->workers; i++) updates += run->tallies[i].updates;
  return loop->completed == updates || loop->completed == updates - run->frame_updates;
}

void world_close(struct run *run) {
  struct loop *loop = run->loop;
  if (!loop) return;
  run->result->faults += loop->world && !adds_up(run, loop);
  muster_world_destroy(loop->world);
  muster_pool_destroy(loop->pool);
  clock_tell_thread_cpu(NULL);
  free(loop->entries);
  free(loop->results);
  free(loop);
}

/* ------------------------------------------------------------------------------------------------------- the frames */

bool world_come(struct run *run, uint32_t wanted) {
  struct loop *loop = run->loop;
  for (uint32_t i = run->spawned; i < wanted; i++)
    if (!spawn(run, loop, i)) return false;
  if (!run_has_player(run) || run->sim_ns - run->frame_ns >= (uint64_t)PLAYER_SECOND * SECOND_NS) return true;
  muster_observer_def def = muster_observer_def_default();
  return !muster_observer_is_null(muster_observer_add(loop->world, &def));
}

static void note_report(struct run *run, struct loop *loop) {
  muster_frame_report report = muster_frame_report_default();
  muster_frame_report_read(loop->world, &report);
  run->repaid_ns += report.repaid_ns * run->share;
  run->kept = !is_planned(run) && !run->shape->noise && muster_frame_kept(&report);
  loop->completed += report.completed;
}

/* The loop of planner.h: the host goes by the clock. Returns the number of updates that it ran. */
static uint32_t run_entries(struct run *run, struct loop *loop, const muster_plan_summary *plan) {
  uint64_t end_ns = run_now(run) + plan->run_ns;
  uint32_t done = 0;
  for (; done < plan->count && run_now(run) < end_ns; done++) {
    const muster_plan_entry *entry = &loop->entries[done];
    struct spent spent = run_update(run, 0, (uint32_t)entry->user, entry->level, entry->elapsed_ns);
    loop->results[done] = (muster_plan_result){.agent = entry->agent,
                                               .outcome = MUSTER_PLAN_FINISHED,
                                               .cost_ns = run->setup->report_own ? spent.own_ns : spent.wall_ns};
  }
  return done;
}

bool world_plan_frame(struct run *run) {
  struct loop *loop = run->loop;
  uint32_t plans = run->contender == BUDGET_REPLAN ? run->setup->plans : 1;
  for (uint32_t i = 0; i < plans; i++) {
    muster_plan_summary plan = muster_plan_summary_default();
    uint64_t left_ns = run_left(run);
    if (i && left_ns < REST_LEAST_NS) break;
    if (muster_plan(loop->world, &(muster_frame){run->sim_ns, left_ns}, loop->entries, run->count, &plan)) return false;
    if (muster_plan_report(loop->world, loop->results, run_entries(run, loop, &plan))) return false;
    if (plan.count == 0) break;
  }
  note_report(run, loop); /* of all of them */
  return true;
}

bool world_run_frame(struct run *run) {
  struct loop *loop = run->loop;
  if (muster_frame_run(loop->world, &(muster_frame){run->sim_ns, run->budget_ns})) return false;
  note_report(run, loop);
  return true;
}

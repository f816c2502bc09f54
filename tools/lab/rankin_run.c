/* One run of Rankin's world. */
#include "base/clock.h"
#include "host.h"
#include "rankin.h"

#include <string.h>

static const uint64_t tick_ns = 30000000, large_tick_ns = 33333333;
static const uint64_t plenty_ns = 1000000000;

static bool is_large(const rankin_plan *plan) {
  return plan->level == RANKIN_DYNAMIC;
}

/* The work of a tick is bounded, or the 4 per tick are all that limits. */
static muster_world_def world_for(const rankin_plan *plan) {
  muster_world_def def = repro_world_def();
  def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  def.limits.agents_max = plan->characters;
  def.limits.commands_max = plan->characters / 8 + 16;
  def.clock.capacity_ns = plan->capacity_ns ? plan->capacity_ns : plenty_ns;
  def.priority.importance = plan->importance;
  def.priority.wait = plan->ageing;
  def.priority.runs = plan->runs;
  def.priority.guarantee_ns = plan->guarantee_ticks * tick_ns;
  if (is_large(plan)) {
    def.importance_model = MUSTER_IMPORTANCE_FACTORS;
    def.levels.pressure = 0.5f;
  } else if (!plan->capacity_ns) {
    def.updates_per_frame = 4;
  }
  return def;
}

static bool populate_small(const rankin_plan *plan, muster_world *world) {
  muster_type type;
  rankin_def def = {.characters = plan->characters,
                    .level = plan->level,
                    .seed = 1,
                    .period_ns = tick_ns,
                    .period_max_ns = 100 * tick_ns,
                    .alike = plan->alike};
  return rankin_populate(world, &def, &type) == MUSTER_OK;
}

static bool run_ticks(const rankin_plan *plan, muster_world *world, rankin_outcome *outcome) {
  uint64_t each_ns = is_large(plan) ? large_tick_ns : tick_ns, begin_ns = clock_thread_cpu();
  for (uint32_t tick = 1; tick <= plan->ticks; tick++) {
    if (muster_frame_run(world, &(muster_frame){tick * each_ns, is_large(plan) ? plan->capacity_ns : tick_ns}))
      return false;
    if (is_large(plan) && tick == plan->ticks / 2) muster_statistics_clear(world); /* levels have settled */
  }
  outcome->cpu_s = (double)(clock_thread_cpu() - begin_ns) * 1e-9;
  return true;
}

static void sum_up_runs(const rankin_plan *plan, const muster_world *world, rankin_outcome *outcome) {
  muster_agent_info info = muster_agent_info_default();
  uint32_t number = 0;
  outcome->least = UINT32_MAX;
  for (muster_agent agent = {0}; !muster_agent_is_null(agent = muster_agent_next(world, agent)); number++) {
    if (muster_agent_read(world, agent, &info) != MUSTER_OK) continue;
    rankin_life life = rankin_life_of(info.state);
    if (life.runs < outcome->least) outcome->least = life.runs;
    if (life.runs > outcome->most) outcome->most = life.runs;
    outcome->by_role[life.role] += (double)life.runs * RANKIN_ROLES / plan->characters;
    if (number == 0) outcome->period_ns = info.period_ns;
  }
}

static void sum_up(const rankin_plan *plan, const muster_world *world, rankin_outcome *outcome) {
  muster_frame_report report = muster_frame_report_default();
  muster_statistics statistics = muster_statistics_default();
  muster_frame_report_read(world, &report);
  muster_statistics_read(world, &statistics);
  sum_up_runs(plan, world, outcome);
  if (is_large(plan)) outcome->period_ns = 3 * tick_ns;
  outcome->longest_wait_ns = statistics.longest_wait_ns;
  outcome->completed = statistics.completed;
  memcpy(outcome->levels, report.levels, sizeof outcome->levels);
  outcome->shed = report.agents_shed;
  outcome->pressure = (double)report.pressure;
  uint32_t band = MUSTER_BANDS - 1; /* the most important that there is */
  while (band > 0 && statistics.bands[band].completed == 0) band--;
  outcome->top_p50_ns = statistics.bands[band].staleness.p50_ns;
  outcome->top_p99_ns = statistics.bands[band].staleness.p99_ns;
}

/* A large world is that of the scenario, with its observers. */
bool rankin_run(const rankin_plan *plan, rankin_outcome *outcome) {
  host_setup setup = host_default_setup(muster_module_rankin());
  struct host host = {0};
  bool ran;
  setup.options.agents = plan->characters;
  setup.world = world_for(plan);
  *outcome = (rankin_outcome){0};
  if (is_large(plan))
    ran = host_open(&host, &setup);
  else
    ran = (host.world = muster_world_create(&setup.world)) && populate_small(plan, host.world);
  ran = ran && run_ticks(plan, host.world, outcome);
  if (ran) sum_up(plan, host.world, outcome);
  host_close(&host);
  return ran;
}

#include "scenarios/busy_work.h"

#include <muster/module.h>

enum { CALIBRATION_TURNS = 100000, CALIBRATION_RUNS = 16 };

void busy_work_spend(uint64_t turns) {
  uint64_t value = turns;
  for (uint64_t i = 0; i < turns; i++) value = value * 6364136223846793005u + 1442695040888963407u;
  __asm__ volatile("" : : "r"(value));
}

static muster_atom_result spend_to_calibrate(muster_update *update) {
  (void)update;
  busy_work_spend(CALIBRATION_TURNS);
  return MUSTER_ATOM_NEXT;
}

/* A world with one agent, which runs in every frame that is a period after the last. */
static muster_world *calibration_world(uint64_t frame_ns) {
  static const muster_atom atoms[] = {{spend_to_calibrate, MUSTER_ROLE_BEHAVIOUR, 300000}};
  muster_world_def world_def = muster_world_def_default();
  muster_type_def type = muster_type_def_default();
  muster_agent_def agent = muster_agent_def_default();
  world_def.limits.agents_max = 1;
  world_def.limits.types_max = 1;
  world_def.limits.observers_max = 1;
  world_def.limits.commands_max = 16;
  muster_world *world = muster_world_create(&world_def);
  if (!world) return NULL;
  type.atoms = atoms;
  type.atom_count = 1;
  type.period_ns = type.period_max_ns = frame_ns;
  type.limit_ns = 1000000000u;
  agent.type = muster_type_register(world, &type);
  if (agent.type.index && !muster_agent_is_null(muster_agent_spawn(world, &agent))) return world;
  muster_world_destroy(world);
  return NULL;
}

/* Any disturbance makes a run longer, so the shortest of several runs is nearest to the true time. */
muster_result busy_work_calibrate(const char *scenario, double *turns_per_ns) {
  const uint64_t frame_ns = 100000000, budget_ns = 1000000000;
  uint64_t shortest_ns = UINT64_MAX;
  muster_result result = MUSTER_OK;
  muster_world *world = calibration_world(frame_ns);
  if (!world) return MUSTER_E_MEMORY;
  for (uint64_t i = 1; i <= CALIBRATION_RUNS && !result; i++) {
    muster_frame_report report = muster_frame_report_default();
    result = muster_frame_run(world, &(muster_frame){i * frame_ns, budget_ns});
    muster_frame_report_read(world, &report);
    if (report.completed && report.update_cpu_ns < shortest_ns) shortest_ns = report.update_cpu_ns;
  }
  muster_world_destroy(world);
  if (result) return result;
  if (shortest_ns == UINT64_MAX || shortest_ns == 0)
    return muster_module_fail(MUSTER_E_SYSTEM, "%s: the clock does not move, so no cost can be set", scenario);
  *turns_per_ns = (double)CALIBRATION_TURNS / (double)shortest_ns;
  return MUSTER_OK;
}

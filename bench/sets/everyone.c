#include "everyone.h"

#include "base/clock.h"

bool everyone_open(struct everyone *everyone, const muster_type_def *type, uint32_t agents) {
  muster_world_def def = muster_world_def_default();
  def.limits.agents_max = agents;
  *everyone = (struct everyone){.world = muster_world_create(&def)};
  if (!everyone->world) return false;
  muster_agent_def agent = muster_agent_def_default();
  agent.type = muster_type_register(everyone->world, type);
  agent.elasticity = 0.0f;
  while (agent.type.index && agents && !muster_agent_is_null(muster_agent_spawn(everyone->world, &agent))) agents--;
  return agents == 0;
}

void everyone_close(struct everyone *everyone) {
  muster_world_destroy(everyone->world);
}

bool everyone_run(struct everyone *everyone, uint32_t frames, double *update_ns) {
  muster_frame_report report = muster_frame_report_default();
  uint64_t cpu_ns = 0, completed = 0;
  for (uint32_t i = 0; i < frames; i++) {
    muster_frame frame = {.sim_now_ns = everyone->now_ns += EVERYONE_FRAME_NS, .budget_ns = 10000000000u};
    uint64_t begin_ns = clock_thread_cpu();
    if (muster_frame_run(everyone->world, &frame)) return false;
    cpu_ns += clock_thread_cpu() - begin_ns;
    muster_frame_report_read(everyone->world, &report);
    completed += report.completed;
  }
  *update_ns = (double)cpu_ns / (double)completed;
  return true;
}

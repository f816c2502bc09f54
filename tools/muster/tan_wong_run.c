/* One run of Tan & Wong's world, frame by frame. */
#include "complaint.h"
#include "host.h"
#include "scenarios/scenarios.h"
#include "tan_wong.h"

#include <math.h>

static host_setup setup_of(const tan_wong_plan *plan) {
  host_setup setup = {.module = muster_module_tan_wong(),
                      .options = muster_default_module_options(),
                      .workers = 1,
                      .world = muster_default_world_def()};
  setup.options.agents = TAN_WONG_ANIMATS;
  setup.options.observers = plan->wall ? 1 : 0; /* observed animats really work */
  setup.world.clock = plan->wall ? MUSTER_CLOCK_WALL : MUSTER_CLOCK_VIRTUAL;
  setup.world.order = MUSTER_ORDER_DELAYS;
  setup.world.elastic = MUSTER_ELASTIC_UTILISATION;
  setup.world.debt_budgets = 0.0f; /* theirs starts the update that crosses the deadline, and owes nothing for it */
  return setup;
}

static bool run_frames(const tan_wong_plan *plan, host *host, tan_wong_frame *frames) {
  muster_frame_report report;
  uint64_t sim_now_ns = 0;
  for (uint32_t i = 0; i < plan->frames; i++) {
    if (i == plan->warm_up) muster_statistics_clear(host->world);
    if (!host_run_frame(host, sim_now_ns, plan->budget_ns, &report)) return false;
    bool disturbed = i >= plan->extra_from && i < plan->extra_to;
    uint64_t frame_ns = report.wall_ns + plan->rest_ns + (disturbed ? plan->extra_ns : 0);
    frames[i] = (tan_wong_frame){.c_ms = (double)report.update_cpu_ns * 1e-6,
                                 .frame_ms = (double)frame_ns * 1e-6,
                                 .u_fitted = (double)report.utilisation_fitted,
                                 .assigned_ms = report.period_deviation_ns * 1e-6,
                                 .overhead_ms = (double)report.overhead_ns * 1e-6};
    sim_now_ns += frame_ns;
  }
  return true;
}

static double interval_ms(const host *host) {
  muster_statistics statistics = muster_default_statistics();
  muster_statistics_read(host->world, &statistics);
  return statistics.interval_deviation_ns * 1e-6;
}

static tan_wong_animat animat_of(const host *host) {
  host_figures figures;
  host_read_figures(host, &figures);
  return (tan_wong_animat){.cost_ms = host_figure(&figures, "model_cost_ns") * 1e-6,
                           .cost_max_ms = host_figure(&figures, "model_cost_max_ns") * 1e-6,
                           .period_ms = host_figure(&figures, "period_ns") * 1e-6,
                           .period_max_ms = host_figure(&figures, "period_max_ns") * 1e-6};
}

bool tan_wong_run(const tan_wong_plan *plan, tan_wong_frame *frames, double *interval, tan_wong_animat *animat) {
  host host;
  host_setup setup = setup_of(plan);
  bool ran = host_open(&host, &setup) && run_frames(plan, &host, frames);
  if (!ran) complain_failure("tan-wong: %s", muster_last_error());
  if (ran && interval) *interval = interval_ms(&host);
  if (ran && animat) *animat = animat_of(&host);
  host_close(&host);
  return ran;
}

tan_wong_phase tan_wong_sum_up(const tan_wong_frame *frames, uint32_t from, uint32_t to) {
  tan_wong_phase phase = {0};
  double count = to - from;
  for (uint32_t i = from; i < to; i++) {
    phase.c_total_ms += frames[i].c_ms / count;
    phase.frame_ms += frames[i].frame_ms / count;
    phase.u_fitted += frames[i].u_fitted / count;
    phase.d_assigned_ms += frames[i].assigned_ms / count;
    phase.overhead_ms += frames[i].overhead_ms / count;
    phase.c_largest_ms = fmax(phase.c_largest_ms, frames[i].c_ms);
  }
  phase.u_total = phase.c_total_ms / phase.frame_ms;
  phase.fps = 1000.0 / phase.frame_ms;
  return phase;
}

/* One run of Tan & Wong's world, frame by frame. */
#include "complaint.h"
#include "host.h"
#include "tan_wong.h"

#include <math.h>

/* A run, and what it is asked before its world has animats. */
typedef struct run {
  const tan_wong_plan *plan;
  struct host host;
} run;

static bool choose_species(void *user, muster_world *world) {
  run *it = user;
  (void)world;
  if (it->plan->species) tan_wong_choose(it->host.instance, it->plan->species);
  return true;
}

static host_setup setup_of(run *it) {
  const tan_wong_plan *plan = it->plan;
  host_setup setup = host_default_setup(muster_module_tan_wong());
  setup.world = repro_world_def();
  setup.prepare = choose_species;
  setup.prepare_user = it;
  setup.options.agents = TAN_WONG_ANIMATS;
  setup.options.observers = plan->wall ? 1 : 0; /* observed animats really work */
  setup.world.clock = plan->wall ? MUSTER_CLOCK_WALL : MUSTER_CLOCK_VIRTUAL;
  setup.world.order = MUSTER_ORDER_DELAYS;
  setup.world.elastic = MUSTER_ELASTIC_UTILISATION;
  setup.world.debt_budgets = 0.0f; /* the paper's starts the update that crosses the deadline, and owes nothing */
  return setup;
}

/* The first animats are one of each species: how far their periods and their updates have come. */
static void add_periods(const muster_world *world, double assigned_ms[TAN_WONG_SPECIES], double share) {
  muster_agent_info info = muster_default_agent_info();
  muster_agent agent = muster_agent_next(world, (muster_agent){0, 0});
  for (int i = 0; i < TAN_WONG_SPECIES && !muster_agent_is_null(agent); i++) {
    if (muster_agent_read(world, agent, &info) == MUSTER_OK) assigned_ms[i] += (double)info.period_ns * 1e-6 * share;
    agent = muster_agent_next(world, agent);
  }
}

static void count_updates(const muster_world *world, double updates[TAN_WONG_SPECIES]) {
  muster_agent_info info = muster_default_agent_info();
  muster_agent agent = muster_agent_next(world, (muster_agent){0, 0});
  for (uint32_t i = 0; !muster_agent_is_null(agent); i++, agent = muster_agent_next(world, agent))
    if (muster_agent_read(world, agent, &info) == MUSTER_OK)
      updates[i % TAN_WONG_SPECIES] += (double)tan_wong_updates(info.state);
}

/* What is counted begins after the warm-up. */
struct counting {
  uint64_t begin_ns;
  double before[TAN_WONG_SPECIES];
};

static void begin_counting(const struct host *host, uint64_t sim_now_ns, struct counting *counting) {
  *counting = (struct counting){.begin_ns = sim_now_ns};
  muster_statistics_clear(host->world);
  count_updates(host->world, counting->before);
}

static void end_counting(const struct host *host, uint64_t sim_now_ns, const struct counting *counting,
                         tan_wong_outcome *outcome) {
  double updates[TAN_WONG_SPECIES] = {0}, passed_ms = (double)(sim_now_ns - counting->begin_ns) * 1e-6;
  count_updates(host->world, updates);
  for (int i = 0; i < TAN_WONG_SPECIES; i++)
    outcome->interval_ms[i] =
        passed_ms * TAN_WONG_ANIMATS / TAN_WONG_SPECIES / fmax(updates[i] - counting->before[i], 1);
}

static bool run_frames(const tan_wong_plan *plan, struct host *host, tan_wong_frame *frames,
                       tan_wong_outcome *outcome) {
  muster_frame_report report;
  uint64_t sim_now_ns = 0;
  struct counting counting = {0};
  for (uint32_t i = 0; i < plan->frames; i++) {
    if (i == plan->warm_up) begin_counting(host, sim_now_ns, &counting);
    if (!host_run_frame(host, sim_now_ns, plan->budget_ns, &report)) return false;
    if (i >= plan->warm_up) add_periods(host->world, outcome->assigned_ms, 1.0 / (plan->frames - plan->warm_up));
    bool disturbed = i >= plan->extra_from && i < plan->extra_to;
    uint64_t frame_ns = report.wall_ns + plan->rest_ns + (disturbed ? plan->extra_ns : 0);
    frames[i] = (tan_wong_frame){.c_ms = (double)report.update_cpu_ns * 1e-6,
                                 .frame_ms = (double)frame_ns * 1e-6,
                                 .u_fitted = (double)report.utilisation_fitted,
                                 .assigned_ms = report.period_deviation_ns * 1e-6,
                                 .overhead_ms = (double)report.overhead_ns * 1e-6};
    sim_now_ns += frame_ns;
  }
  end_counting(host, sim_now_ns, &counting, outcome);
  return true;
}

static void read_statistics(const struct host *host, tan_wong_outcome *outcome) {
  muster_statistics statistics = muster_default_statistics();
  muster_statistics_read(host->world, &statistics);
  outcome->interval_deviation_ms = statistics.interval_deviation_ns * 1e-6;
  outcome->longest_wait_ms = (double)statistics.longest_wait_ns * 1e-6;
}

static tan_wong_animat animat_of(const struct host *host) {
  host_figures figures;
  host_read_figures(host, &figures);
  return (tan_wong_animat){.cost_ms = host_figure(&figures, "model_cost_ns") * 1e-6,
                           .cost_max_ms = host_figure(&figures, "model_cost_max_ns") * 1e-6,
                           .period_ms = host_figure(&figures, "period_ns") * 1e-6,
                           .period_max_ms = host_figure(&figures, "period_max_ns") * 1e-6};
}

bool tan_wong_run(const tan_wong_plan *plan, tan_wong_frame *frames, tan_wong_outcome *outcome) {
  run it = {.plan = plan};
  host_setup setup = setup_of(&it);
  tan_wong_outcome out = {0};
  bool ran = host_open(&it.host, &setup) && run_frames(plan, &it.host, frames, &out);
  if (ran) {
    read_statistics(&it.host, &out);
    out.animat = animat_of(&it.host);
    if (outcome) *outcome = out;
  } else {
    complain_failure("tan-wong: %s", muster_last_error());
  }
  host_close(&it.host);
  return ran;
}

tan_wong_row tan_wong_row_of(const tan_wong_plan *plan, const tan_wong_phase *phase, const tan_wong_outcome *outcome) {
  return (tan_wong_row){.budget_ms = (double)plan->budget_ns * 1e-6,
                        .c_total_ms = phase->c_total_ms,
                        .u_total = phase->u_total,
                        .d_assigned_ms = phase->d_assigned_ms,
                        .d_interval_ms = outcome->interval_deviation_ms,
                        .fps = phase->fps};
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

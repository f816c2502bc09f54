/* One run of Tan & Wong's world, frame by frame. */
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

/* The first animats are one of each species: how far their periods have come. */
static void add_periods(const muster_world *world, double share, double periods_ms[TAN_WONG_SPECIES]) {
  muster_agent_info info = muster_agent_info_default();
  muster_agent agent = {0};
  for (int i = 0; i < TAN_WONG_SPECIES && !muster_agent_is_null(agent = muster_agent_next(world, agent)); i++)
    if (muster_agent_read(world, agent, &info) == MUSTER_OK) periods_ms[i] += tan_wong_ms(info.period_ns) * share;
}

static void add_updates(const muster_world *world, double sign, double updates[TAN_WONG_SPECIES]) {
  muster_agent_info info = muster_agent_info_default();
  muster_agent agent = {0};
  for (uint32_t i = 0; !muster_agent_is_null(agent = muster_agent_next(world, agent)); i++)
    if (muster_agent_read(world, agent, &info) == MUSTER_OK)
      updates[i % TAN_WONG_SPECIES] += sign * (double)tan_wong_updates(info.state);
}

/* What is counted begins after the warm-up. */
static bool run_frames(const tan_wong_plan *plan, struct host *host, tan_wong_frame *frames, tan_wong_row *row) {
  muster_frame_report report;
  uint64_t now_ns = 0, begin_ns = 0;
  double periods_ms[TAN_WONG_SPECIES] = {0}, updates[TAN_WONG_SPECIES] = {0};
  for (uint32_t i = 0; i < plan->frames; i++) {
    if (i == plan->warm_up) {
      begin_ns = now_ns;
      muster_statistics_clear(host->world);
      add_updates(host->world, -1, updates);
    }
    if (!host_run_frame(host, now_ns, plan->budget_ns, &report)) return false;
    if (i >= plan->warm_up) add_periods(host->world, 1.0 / (plan->frames - plan->warm_up), periods_ms);
    bool disturbed = i >= plan->extra_from && i < plan->extra_to;
    uint64_t frame_ns = report.wall_ns + plan->rest_ns + (disturbed ? plan->extra_ns : 0);
    frames[i] = (tan_wong_frame){.c_ms = tan_wong_ms(report.update_cpu_ns),
                                 .frame_ms = tan_wong_ms(frame_ns),
                                 .u_fitted = (double)report.utilisation_fitted,
                                 .assigned_ms = report.period_deviation_ns * 1e-6,
                                 .overhead_ms = plan->wall ? tan_wong_ms(report.overhead_ns) : (double)NAN};
    now_ns += frame_ns;
  }
  *row = tan_wong_sum_up(frames, plan->warm_up, plan->frames);
  add_updates(host->world, 1, updates);
  for (int i = 0; i < TAN_WONG_SPECIES; i++) {
    row->assigned_ms[i] = periods_ms[i];
    row->interval_ms[i] = tan_wong_ms(now_ns - begin_ns) * TAN_WONG_ANIMATS / TAN_WONG_SPECIES / fmax(updates[i], 1);
  }
  return true;
}

bool tan_wong_run(const tan_wong_plan *plan, tan_wong_frame *frames, tan_wong_row *row) {
  run it = {.plan = plan};
  host_setup setup = host_default_setup(muster_module_tan_wong());
  muster_statistics statistics = muster_statistics_default();
  setup.prepare = choose_species;
  setup.prepare_user = &it;
  setup.options.agents = TAN_WONG_ANIMATS;
  setup.options.observers = plan->wall ? 1 : 0; /* observed animats really work */
  setup.world = repro_world_def();
  setup.world.clock.kind = plan->wall ? MUSTER_CLOCK_WALL : MUSTER_CLOCK_VIRTUAL;
  setup.world.order = MUSTER_ORDER_DELAYS;
  setup.world.elastic = MUSTER_ELASTIC_UTILISATION;
  setup.world.debt_budgets = 0.0f; /* the paper's starts the update that crosses the deadline, and owes nothing */
  bool ran = host_open(&it.host, &setup) && run_frames(plan, &it.host, frames, row);
  if (ran) {
    muster_statistics_read(it.host.world, &statistics);
    row->budget_ms = tan_wong_ms(plan->budget_ns);
    row->rest_ms = tan_wong_ms(plan->rest_ns);
    row->d_interval_ms = statistics.interval_deviation_ns * 1e-6;
    row->longest_wait_ms = tan_wong_ms(statistics.longest_wait_ns);
  }
  host_close(&it.host);
  return ran;
}

tan_wong_row tan_wong_sum_up(const tan_wong_frame *frames, uint32_t from, uint32_t to) {
  tan_wong_row row = {0};
  double count = to - from;
  for (uint32_t i = from; i < to; i++) {
    row.c_total_ms += frames[i].c_ms / count;
    row.frame_ms += frames[i].frame_ms / count;
    row.u_fitted += frames[i].u_fitted / count;
    row.d_assigned_ms += frames[i].assigned_ms / count;
    row.overhead_ms += frames[i].overhead_ms / count;
    row.c_largest_ms = fmax(row.c_largest_ms, frames[i].c_ms);
  }
  row.u_total = row.c_total_ms / row.frame_ms;
  row.fps = 1000.0 / row.frame_ms;
  return row;
}

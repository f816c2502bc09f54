/* The versions of Wright & Marshall's testbed in virtual time.
 *
 * A managed version has T_d for every worker in every frame, and no more. An unmanaged one takes what it takes; a frame
 * whose AI needs more than T_d ends after the screen's refresh and costs the next one, or several: releases that fall
 * due in these are missed, and time goes on.
 *
 * A version of N workers runs on N threads. In virtual time that is N times T_d in each frame, whichever thread runs
 * which agent: one thread with as much time must give the same world, which is checked for the crowd. Agents have no
 * shares of the frame (muster_type_def.priority): as each agent avoids in one update of six, equal shares would cut the
 * agents that avoid. Within an update, sets have shares. */
#include "host.h"
#include "wright.h"

#include <math.h>

enum { SECOND = 60, SECONDS = 3, PROBE_FRAMES = SECOND * SECONDS };
enum { AGENTS_LEAST = 32, AGENTS_MOST = 1 << 14, UNBOUNDED_NS = 1000000000 };
_Static_assert((int)PROBE_FRAMES >= (int)WRIGHT_FRAMES, "the loads of the last frames are wanted");

static const double missed_most = 0.01, rate_least = 1.0 / 3.0;

const wright_version wright_versions[WRIGHT_VERSIONS] = {
    {"naive", .every_update = true, .workers = 1},
    {"unscheduled", .workers = 1, .published = WRIGHT_BASE},
    {"scheduled", .managed = true, .workers = 1},
    {"scheduled, delay <= 2", .managed = true, .delay = WRIGHT_DELAY, .workers = 1, .published = WRIGHT_SERVED},
    {"ours on 1 worker", .managed = true, .elastic = true, .delay = WRIGHT_OUR_DELAY, .workers = 1},
    {"ours on 2 workers", .managed = true, .elastic = true, .delay = WRIGHT_OUR_DELAY, .workers = 2},
    {"ours on 4 workers", .managed = true, .elastic = true, .delay = WRIGHT_OUR_DELAY, .workers = 4},
};

uint64_t wright_budget_ns(void) {
  enum { CYCLE = 24 };
  uint64_t most_ns = 0;
  for (uint32_t time = 0; time < CYCLE; time++) {
    uint64_t cost_ns = 0;
    for (uint32_t atom = 0; atom < PURSUIT_ATOMS; atom++) {
      pursuit_set set = pursuit_set_of(atom);
      if (time % pursuit_period(set) == pursuit_delay(set)) cost_ns += pursuit_model_ns(atom);
    }
    if (cost_ns > most_ns) most_ns = cost_ns;
  }
  return WRIGHT_BASE * most_ns;
}

double wright_update_ns(void) {
  double sum_ns = 0;
  for (uint32_t atom = 0; atom < PURSUIT_ATOMS; atom++)
    sum_ns += (double)pursuit_model_ns(atom) / pursuit_period(pursuit_set_of(atom));
  return sum_ns;
}

/* ------------------------------------------------------------------------------------------------------------ a run */

typedef struct run {
  const wright_version *version;
  struct host host;
  uint64_t budget_ns; /* of all workers */
  uint64_t now_ns;
  uint64_t begin_ns, work_ns, most_ns; /* since the intake of all agents */
  double load;                         /* of the latest frame */
  uint64_t ran, missed;                /* updates in this second */
  host_figures first, before, after;   /* of the run; of this second */
  wright_outcome worst;
} run;

static bool choose_version(void *user, muster_world *world) {
  run *it = user;
  (void)world;
  pursuit_version version = {
      .every_update = it->version->every_update, .elastic = it->version->elastic, .coarse = true};
  pursuit_choose(it->host.instance, &version);
  return true;
}

/* How many refreshes of the screen pass until the next frame. */
static uint64_t refreshes_of(const wright_version *version, uint64_t work_ns) {
  uint64_t rest_ns = PURSUIT_UPDATE_NS - wright_budget_ns();
  return version->managed ? 1 : 1 + (work_ns + rest_ns - 1) / PURSUIT_UPDATE_NS;
}

static bool run_frame(run *it) {
  muster_frame_report report;
  uint64_t budget_ns = it->version->managed ? wright_budget_ns() : UNBOUNDED_NS;
  if (!host_run_frame(&it->host, it->now_ns, budget_ns, &report)) return false;
  uint64_t refreshes = refreshes_of(it->version, report.update_cpu_ns);
  it->now_ns += refreshes * PURSUIT_UPDATE_NS;
  it->work_ns += report.update_cpu_ns;
  if (report.update_cpu_ns > it->most_ns) it->most_ns = report.update_cpu_ns;
  it->ran += report.completed;
  it->missed += report.carried + (refreshes - 1) * report.agents;
  it->load = (double)report.update_cpu_ns / (double)it->budget_ns;
  return true;
}

/* By how much a number of a set grew. */
static double growth(const host_figures *before, const host_figures *after, uint32_t set, const char *what) {
  char name[64];
  snprintf(name, sizeof name, "%s_%s", pursuit_set_name((pursuit_set)set), what);
  for (char *letter = name; *letter; letter++)
    if (*letter == ' ') *letter = '_';
  return host_figure(after, name) - host_figure(before, name);
}

/* A second is over. */
static void sum_up_second(run *it) {
  double due = 0, in_time = 0;
  host_read_figures(&it->host, &it->after);
  for (uint32_t set = 0; set < PURSUIT_SETS; set++) {
    due += growth(&it->before, &it->after, set, "due");
    in_time += growth(&it->before, &it->after, set, "runs") - growth(&it->before, &it->after, set, "late");
  }
  double missed_updates = (double)it->missed / (double)(it->ran + it->missed);
  it->worst.missed_last = missed_updates;
  it->worst.missed_updates = fmax(it->worst.missed_updates, missed_updates);
  if (due > 0) it->worst.missed_sets = fmax(it->worst.missed_sets, 1 - in_time / due);
  it->before = it->after;
  it->ran = it->missed = 0;
}

/* The first frame is that of the intake, in which no agent runs yet. */
static bool run_frames(run *it, double *loads) {
  if (!run_frame(it)) return false;
  it->begin_ns = it->now_ns;
  it->work_ns = it->most_ns = it->ran = it->missed = 0;
  host_read_figures(&it->host, &it->before);
  it->first = it->before;
  for (uint32_t i = 0; i < PROBE_FRAMES; i++) {
    if (!run_frame(it)) return false;
    if (loads && i < WRIGHT_FRAMES) loads[i] = it->load;
    if ((i + 1) % SECOND == 0) sum_up_second(it);
  }
  return true;
}

static wright_outcome sum_up(const run *it, uint32_t agents) {
  double refreshes = (double)(it->now_ns - it->begin_ns) / PURSUIT_UPDATE_NS;
  wright_outcome outcome = it->worst;
  outcome.least_rate = INFINITY;
  outcome.hash = muster_world_hash(it->host.world);
  outcome.mean_load = (double)it->work_ns / PROBE_FRAMES / (double)it->budget_ns;
  outcome.peak_load = (double)it->most_ns / (double)it->budget_ns;
  for (uint32_t set = 0; set < PURSUIT_SETS; set++) {
    double runs = growth(&it->first, &it->after, set, "runs");
    uint32_t period = it->version->every_update ? 1 : pursuit_period((pursuit_set)set);
    outcome.least_rate = fmin(outcome.least_rate, runs * period / (agents * refreshes));
  }
  return outcome;
}

/* Runs a version with so many agents; `loads` of the first WRIGHT_FRAMES frames may be null. */
static bool run_version(const wright_version *version, uint32_t agents, uint32_t threads, wright_outcome *outcome,
                        double *loads) {
  run it = {.version = version, .budget_ns = version->workers * wright_budget_ns()};
  host_setup setup = host_default_setup(muster_module_pursuit());
  setup.workers = threads;
  setup.prepare = choose_version;
  setup.prepare_user = &it;
  setup.options.agents = agents;
  setup.world = repro_world_def();
  setup.world.clock.kind = MUSTER_CLOCK_VIRTUAL;
  setup.world.clock.capacity_ns = version->managed ? it.budget_ns : UNBOUNDED_NS;
  setup.world.activation_delay = version->delay;
  bool ran = host_open(&it.host, &setup) && run_frames(&it, loads);
  if (ran) *outcome = sum_up(&it, agents);
  host_close(&it.host);
  return ran;
}

/* Two populations of given size. */
static bool run_crowds(const wright_version *version, wright_row *row) {
  wright_outcome alone;
  if (!run_version(version, WRIGHT_SERVED, version->workers, &row->served, row->loads) ||
      !run_version(version, WRIGHT_CROWD, version->workers, &row->crowd, NULL) ||
      !run_version(version, WRIGHT_CROWD, 1, &alone, NULL))
    return false;
  row->alike = alone.hash == row->crowd.hash;
  return true;
}

/* ----------------------------------------------------------------------------------------------------------- search */

/* More than a version serves: before degradation, or before anything is missed. */
static bool is_too_many(const wright_outcome *outcome, bool degraded) {
  double missed = fmax(outcome->missed_updates, outcome->missed_sets);
  return degraded ? missed >= missed_most || outcome->least_rate < rate_least : missed > 0;
}

enum { PROBES_MAX = 128 };

/* Populations that were tried: both searches try many of the same numbers. */
struct probes {
  const wright_version *version;
  struct progress *line;
  uint32_t count, agents[PROBES_MAX];
  wright_outcome outcomes[PROBES_MAX];
};

static const wright_outcome *probe(struct probes *probes, uint32_t agents) {
  for (uint32_t i = 0; i < probes->count; i++)
    if (probes->agents[i] == agents) return &probes->outcomes[i];
  if (probes->count == PROBES_MAX) probes->count--; /* no search is that long: only the last is forgotten */
  wright_outcome *outcome = &probes->outcomes[probes->count];
  progress_step(probes->line, "wright: %s, trying %u agents", probes->version->name, agents);
  if (!run_version(probes->version, agents, probes->version->workers, outcome, NULL)) return NULL;
  probes->agents[probes->count++] = agents;
  return outcome;
}

/* Finds the most agents that the version serves: in steps of a quarter, then by halves. `outcome` is that of this
 * number. */
static bool search(struct probes *probes, bool degraded, uint32_t *most, wright_outcome *outcome) {
  uint32_t served = 0, too_many = 0;
  for (uint32_t agents = AGENTS_LEAST * probes->version->workers; too_many - served != 1;) {
    const wright_outcome *tried = probe(probes, agents);
    if (!tried) return false;
    if (is_too_many(tried, degraded)) {
      too_many = agents;
    } else {
      served = agents;
      *outcome = *tried;
    }
    if (!too_many && agents > AGENTS_MOST) break;
    agents = too_many ? (served + too_many) / 2 : agents + agents / 4;
  }
  *most = served;
  return true;
}

/* Finds how many agents a version serves; `line` shows which number is tried. */
static bool find_limits(const wright_version *version, struct progress *line, wright_row *row) {
  struct probes probes = {.version = version, .line = line};
  wright_outcome untroubled;
  return search(&probes, true, &row->agents, &row->limit) && search(&probes, false, &row->untroubled, &untroubled);
}

/* -------------------------------------------------------------------------------------------------------------- all */

/* The unmanaged version is the one that the others are compared with. */
static bool measure_overhead(const wright_version *version, struct progress *line, wright_row *row) {
  row->overhead_ns = version->managed ? (double)NAN : 0.0;
  progress_step(line, "wright: %s, what its scheduling costs", version->name);
  if (version->managed && version->workers == 1 && !wright_measure_overhead(version, &row->overhead_ns)) return false;
  row->overhead_share = row->overhead_ns / wright_update_ns();
  return true;
}

bool wright_measure(void *all) {
  wright_results *results = all;
  struct progress *line = &results->base.line;
  bool measured = (!results->base.costs || wright_measure_costs(results->costs_ns)) && wright_run_sets(results);
  for (uint32_t i = 0; measured && i < WRIGHT_VERSIONS; i++) {
    const wright_version *version = &wright_versions[i];
    wright_row *row = &results->rows[i];
    measured = run_crowds(version, row) &&
               (results->base.quick || (find_limits(version, line, row) && measure_overhead(version, line, row)));
  }
  return measured;
}

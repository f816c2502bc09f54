#include "host.h"

#include <muster/record.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

host_setup host_default_setup(const muster_module *module) {
  return (host_setup){
      .module = module, .options = muster_module_options_default(), .workers = 1, .world = muster_world_def_default()};
}

static bool open_module(struct host *host, const host_setup *setup) {
  const muster_module *module = setup->module;
  muster_module_options options = setup->options;
  muster_module_value values[MODULE_VALUES_MAX];
  uint32_t at_fault;
  host->needs = (muster_module_needs){.size = sizeof host->needs};
  if (module_settings_read(module, setup->given, setup->given_count, values, &at_fault) != MUSTER_OK) return false;
  options.values = values;
  options.value_count = module_settings_count(module);
  if (module->open(&options, &host->instance, &host->needs) != MUSTER_OK) return false;
  host->module = module;
  return true;
}

static uint32_t at_least(uint32_t minimum, uint32_t value) {
  return value < minimum ? minimum : value;
}

/* Every observer may walk once per frame, beside whatever else the module asks for. */
static void fit_world(const struct host *host, muster_world_def *def) {
  def->limits.agents_max = at_least(1, at_least(host->needs.agents, host->needs.agents_max));
  def->limits.agents_ready = def->limits.agents_max;
  def->limits.observers_max = at_least(1, host->needs.observers);
  def->limits.commands_max += def->limits.observers_max;
  if (host->needs.cell_m > 0) def->cell_m = host->needs.cell_m;
}

static bool create_world(struct host *host, const host_setup *setup) {
  muster_pool_def pool = muster_pool_def_default();
  pool.workers = setup->workers;
  host->pool = muster_pool_create(&pool);
  if (!host->pool) return false;
  muster_world_def def = setup->world;
  def.pool = host->pool;
  if (!setup->as_defined) fit_world(host, &def);
  host->world = muster_world_create(&def);
  host->replays = setup->replays;
  return host->world && (!setup->prepare || setup->prepare(setup->prepare_user, host->world));
}

static muster_result populate(struct host *host, const host_setup *setup) {
  const muster_module *module = host->module;
  muster_result result = module->register_types ? module->register_types(host->instance, host->world) : MUSTER_OK;
  if (result) return result;
  if (!setup->state) return module->populate(host->instance, host->world);
  if (!module->resume && module->register_types && !setup->state_bytes) return MUSTER_OK;
  if (!module->resume) return muster_module_fail(MUSTER_E_STATE, "module '%s' does not resume", host->module->name);
  return host->module->resume(host->instance, host->world, setup->state, setup->state_bytes);
}

bool host_open(struct host *host, const host_setup *setup) {
  *host = (struct host){.skipped_ns = setup->skipped_ns};
  if (!open_module(host, setup)) return false;
  if (create_world(host, setup) && populate(host, setup) == MUSTER_OK) return true;
  host_close(host);
  return false;
}

void host_close(struct host *host) {
  muster_world_destroy(host->world);
  muster_pool_destroy(host->pool);
  if (host->module) host->module->close(host->instance);
  *host = (struct host){0};
}

bool host_run_frame(struct host *host, uint64_t sim_now_ns, uint64_t budget_ns, muster_frame_report *report) {
  sim_now_ns += host->skipped_ns;
  if (host->module->before_frame) host->module->before_frame(host->instance, host->world, sim_now_ns);
  muster_frame frame = {.sim_now_ns = sim_now_ns, .budget_ns = budget_ns};
  *report = muster_frame_report_default();
  muster_result result = host->replays ? muster_replay_frame(host->world) : muster_frame_run(host->world, &frame);
  if (result != MUSTER_OK) return false;
  if (host->module->skip_ns) host->skipped_ns += host->module->skip_ns(host->instance, sim_now_ns);
  return muster_frame_report_read(host->world, report) == MUSTER_OK;
}

bool host_is_in(const struct host *host, const muster_frame_report *report, uint32_t *calm) {
  enum { CALM_FRAMES = 30 };
  bool spawned = report->spawns_waiting == 0 || report->agents >= host->needs.agents;
  bool herds = report->herds_folded + report->herds_unfolded > 0;
  uint32_t few = report->unfolds + report->folds + report->leaves / 100;
  *calm = report->changes_waiting <= few ? *calm + 1 : 0;
  return spawned && (!herds || *calm >= CALM_FRAMES);
}

static void take_figure(const char *name, double value, void *user) {
  host_figures *figures = user;
  if (figures->count == HOST_FIGURES_MAX) return;
  snprintf(figures->names[figures->count], HOST_FIGURE_NAME_BYTES, "%s", name);
  figures->values[figures->count++] = value;
}

void host_read_figures(const struct host *host, host_figures *figures) {
  figures->count = 0;
  if (host->module->report) host->module->report(host->instance, host->world, take_figure, figures);
}

double host_figure(const host_figures *figures, const char *name) {
  for (uint32_t i = 0; i < figures->count; i++)
    if (strcmp(figures->names[i], name) == 0) return figures->values[i];
  return (double)NAN;
}

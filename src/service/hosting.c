#include "service/hosting.h"

#include "service/log.h"
#include "service/publish.h"

#include "base/error.h"

#include <stddef.h>
#include <stdio.h>

static uint32_t at_least(uint32_t minimum, uint32_t value) {
  return value < minimum ? minimum : value;
}

static muster_result open_module(service *service, hosted_world *world) {
  const world_settings *settings = &world->settings;
  muster_module_options options = muster_default_module_options();
  options.agents = settings->agents;
  options.observers = settings->observers;
  options.seed = settings->seed;
  options.path = settings->path[0] ? settings->path : NULL;
  const muster_module *module = modules_load(&service->modules, settings->module);
  if (!module) return MUSTER_E_INPUT;
  world->needs = (muster_module_needs){.size = sizeof world->needs};
  muster_result result = module->open(&options, &world->instance, &world->needs);
  if (result == MUSTER_OK) world->module = module;
  return result;
}

/* Every observer may walk once per frame, beside whatever else the module and the control ask for. */
static muster_result create_world(service *service, hosted_world *world) {
  const world_settings *settings = &world->settings;
  muster_world_def def = muster_default_world_def();
  def.pool = service->pool;
  def.agents_max = at_least(at_least(1, settings->agents_max), at_least(world->needs.agents, world->needs.agents_max));
  def.types_max = WORLD_TYPES_MAX;
  def.observers_max = at_least(def.observers_max, world->needs.observers);
  def.commands_max += def.observers_max;
  def.seed = settings->seed;
  def.clock = settings->virtual_clock ? MUSTER_CLOCK_VIRTUAL : MUSTER_CLOCK_WALL;
  def.capacity_ns = settings->capacity_ns;
  def.audit = settings->audit;
  if (world->needs.cell_m > 0) def.cell_m = world->needs.cell_m;
  def.log = log_sink_of(world->name);
  world->world = muster_world_create(&def);
  return world->world ? MUSTER_OK : MUSTER_E_ARGUMENT;
}

static void close_world(hosted_world *world) {
  muster_world_destroy(world->world);
  if (world->module) world->module->close(world->instance);
  world->world = NULL;
  world->module = NULL;
}

/* A world that cannot be opened is left out, and the others go on without it. */
static bool open_world(service *service, hosted_world *world) {
  muster_result result = open_module(service, world);
  if (!result) result = create_world(service, world);
  if (!result) flight_attach(&service->flight, world->world, world->name, world->settings.module);
  if (!result) result = world->module->populate(world->instance, world->world);
  if (result) {
    snprintf(world->failure, sizeof world->failure, "%s", muster_last_error());
    world->failed = true;
    log_line(MUSTER_LOG_ERROR, "world %s is not hosted: %s", world->name, world->failure);
    close_world(world);
  } else {
    flight_judge(&service->flight, world->world, world->name);
    log_line(MUSTER_LOG_INFO, "world %s: module %s, %u agents to begin with", world->name, world->settings.module,
             world->needs.agents);
  }
  publish_pace(world);
  return result == MUSTER_OK;
}

static void begin_worker(uint32_t worker, void *user) {
  (void)worker, (void)user;
  flight_thread_begin();
}

static void end_worker(uint32_t worker, void *user) {
  (void)worker, (void)user;
  flight_thread_end();
}

static muster_result open_pool(service *service) {
  muster_pool_def def = muster_default_pool_def();
  def.workers = service->settings.workers;
  def.on_worker_start = begin_worker;
  def.on_worker_stop = end_worker;
  def.log = log_sink_of(NULL);
  service->pool = muster_pool_create(&def);
  return service->pool ? MUSTER_OK : MUSTER_E_SYSTEM;
}

muster_result hosting_open(service *service) {
  bool any = false;
  muster_result result = modules_open(&service->modules, service->settings.modules);
  if (!result) result = open_pool(service);
  if (result) {
    log_line(MUSTER_LOG_ERROR, "%s", muster_last_error());
    return result;
  }
  for (uint32_t i = 0; i < service->world_count; i++) any = open_world(service, &service->worlds[i]) || any;
  if (any) return MUSTER_OK;
  log_line(MUSTER_LOG_ERROR, "no world could be opened");
  return MUSTER_E_STATE;
}

void hosting_close(service *service) {
  for (uint32_t i = service->world_count; i > 0; i--) close_world(&service->worlds[i - 1]);
  muster_pool_destroy(service->pool);
  service->pool = NULL;
  modules_close(&service->modules);
}

/* A module that was built with an older header ends before the field. */
static bool may_skip(const muster_module *module) {
  return module->size >= offsetof(muster_module, skip_ns) + sizeof module->skip_ns && module->skip_ns;
}

muster_result hosting_run_frame(hosted_world *world) {
  muster_frame frame = {.sim_now_ns = world->sim_now_ns + world->period_ns, .budget_ns = world->budget_ns};
  const muster_module *module = world->module;
  if (module->before_frame) module->before_frame(world->instance, world->world, frame.sim_now_ns);
  muster_result result = muster_frame_run(world->world, &frame);
  if (result) return result;
  world->sim_now_ns = frame.sim_now_ns;
  if (may_skip(module)) world->sim_now_ns += module->skip_ns(world->instance, frame.sim_now_ns);
  return MUSTER_OK;
}

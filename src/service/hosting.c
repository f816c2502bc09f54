#include "service/hosting.h"

#include "service/log.h"
#include "service/notify.h"
#include "service/publish.h"
#include "service/supervise/orders.h"

#include "base/error.h"

#include <muster/snapshot.h>
#include <muster/tune.h>

#include <stdio.h>
#include <string.h>

static uint32_t at_least(uint32_t minimum, uint32_t value) {
  return value < minimum ? minimum : value;
}

static muster_result open_module(struct service *service, hosted_world *world) {
  if (modules_check_path(world->settings.path)) return MUSTER_E_INPUT;
  muster_result result = module_parts_open(&world->parts, &service->modules, &world->settings, &world->needs);
  if (result) return result;
  world->module = &world->parts.face;
  world->instance = &world->parts;
  return MUSTER_OK;
}

/* The command queue has room for one move of every observer per frame, besides other commands of the module and of
 * control. */
static muster_result create_world(struct service *service, hosted_world *world) {
  const world_settings *settings = &world->settings;
  muster_world_def def = muster_world_def_default();
  def.pool = service->pool;
  def.limits.agents_max =
      at_least(at_least(1, settings->agents_max), at_least(world->needs.agents, world->needs.agents_max));
  def.limits.agents_ready = def.limits.agents_max;
  def.limits.types_max = WORLD_TYPES_MAX;
  def.limits.observers_max = at_least(def.limits.observers_max, world->needs.observers);
  def.limits.commands_max += def.limits.observers_max;
  def.seed = settings->seed;
  def.clock.kind = settings->virtual_clock ? MUSTER_CLOCK_VIRTUAL : MUSTER_CLOCK_WALL;
  def.clock.capacity_ns = settings->capacity_ns;
  def.audit = settings->audit;
  if (world->needs.cell_m > 0) def.cell_m = world->needs.cell_m;
  def.log = log_sink_of(world->name);
  zone_define(world->zone, &def);
  snprintf(world->reinstate_command, sizeof world->reinstate_command, "muster ctl --socket %s --world %s reinstate",
           service->settings.socket, world->name);
  def.watch.reinstate_command = world->reinstate_command;
  world->world = muster_world_create(&def);
  return world->world ? MUSTER_OK : MUSTER_E_ARGUMENT;
}

/* Restores a world from a snapshot. The restored world must match what the snapshot says of it. */
static muster_result resume_world(hosted_world *world, const snapshot_file_world *saved) {
  const char *module = module_list_label(world->settings.module);
  if (strcmp(saved->module, module) != 0)
    return error_set(MUSTER_E_INPUT, "its module was %s, and is %s", saved->module, module);
  muster_result result = world->module->resume(world->instance, world->world, saved->state, saved->state_bytes);
  muster_load_def def = muster_load_def_default();
  def.bytes = saved->bytes;
  def.count = saved->count;
  if (!result) result = muster_world_load(world->world, &def);
  if (result) return result;
  if (muster_world_hash(world->world) != saved->info.hash)
    return error_set(MUSTER_E_INPUT, "the world that came of it is another");
  world->sim_now_ns = saved->sim_now_ns;
  world->kept.goes_on = true;
  if (saved->keys && !keys_take(&world->keys, saved->keys, saved->keys_bytes))
    log_line(MUSTER_LOG_ERROR, "world %s: its snapshot has no requests that could be read: %s", world->name,
             muster_last_error());
  log_line(MUSTER_LOG_INFO, "world %s: %u agents and %u spawns of frame %lu go on, hash %016lx", world->name,
           saved->info.agents, saved->info.spawns, saved->info.frames, saved->info.hash);
  return MUSTER_OK;
}

static muster_result populate_world(hosted_world *world) {
  muster_result result = world->module->populate(world->instance, world->world);
  if (result) return result;
  log_line(MUSTER_LOG_INFO, "world %s: module %s, %u agents to begin with", world->name, world->settings.module,
           world->needs.agents);
  return MUSTER_OK;
}

static void close_world(hosted_world *world) {
  muster_world_destroy(world->world);
  if (world->module) world->module->close(world->instance);
  world->world = NULL;
  world->module = NULL;
  keys_close(&world->keys);
  world->sim_now_ns = 0; /* it may be opened again */
}

/* Its modules, and the world, without types and agents. */
static muster_result open_empty(struct service *service, hosted_world *world) {
  muster_result result = open_module(service, world);
  if (!result) result = snapshots_check_module(&service->snapshots, world->name, world->module);
  if (!result) result = create_world(service, world);
  if (!result) flight_attach(&service->flight, world->world, world->name, module_list_label(world->settings.module));
  return result;
}

muster_result hosting_open_again(struct service *service, hosted_world *world) {
  close_world(world);
  return open_empty(service, world);
}

/* Opens a world, which comes back by its journal, or is restored from a snapshot file that contains it; *refused tells
 * that the file is no good for this. */
static muster_result hosting_begin_world(struct service *service, hosted_world *world, const struct snapshot_file *file,
                                         bool *refused) {
  bool found = file && !world->settings.zone; /* a zone goes on from its journal alone, which may be of another node */
  const snapshot_file_world *saved = found ? snapshot_file_find(file, world->name) : NULL;
  muster_result result = zone_open(service, world);
  if (!result) result = open_empty(service, world);
  if (result) return result;
  journals_find_lost(&service->settings, world);
  bool back;
  result = journals_bring_back(service, world, file, saved, &back);
  if (result) return result;
  if (back) return zone_take_over(world);
  if (!world->world) return muster_last_result();
  if (zone_must_restore(world))
    return error_set(MUSTER_E_INPUT, "the zone's files cannot be gone on from; the log says why");
  result = saved ? resume_world(world, saved) : populate_world(world);
  if (!result) result = zone_take_over(world);
  *refused = result && saved && !error_may_pass(result);
  return *refused ? error_set(result, "world %s: %s", world->name, muster_last_error()) : result;
}

/* A world that cannot be opened is left out, and the others go on without it. */
static bool hosting_open_world(struct service *service, hosted_world *world, const struct snapshot_file *file,
                               bool *refused) {
  muster_result result = hosting_begin_world(service, world, file, refused);
  world->failed = result && !*refused;
  if (world->failed) {
    snprintf(world->failure, sizeof world->failure, "%s", muster_last_error());
    log_line(MUSTER_LOG_ERROR, "world %s is not hosted: %s", world->name, world->failure);
    notify_problem(world->failure);
    close_world(world);
  }
  if (!result && world->settings.processors) muster_world_set_workers(world->world, world->settings.processors);
  if (!result && world->kept.goes_on)
    flight_set_aside(&service->flight, world->world, world->name, world->reinstate_command);
  if (!result) flight_judge(&service->flight, world->world, world->name);
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

static muster_result open_pool(struct service *service) {
  muster_pool_def def = muster_pool_def_default();
  def.workers = service->settings.workers;
  def.on_worker_start = begin_worker;
  def.on_worker_stop = end_worker;
  def.log = log_sink_of(NULL);
  service->pool = muster_pool_create(&def);
  return service->pool ? MUSTER_OK : MUSTER_E_SYSTEM;
}

static void close_worlds(struct service *service) {
  for (uint32_t i = service->world_count; i > 0; i--) close_world(&service->worlds[i - 1]);
}

/* Opens all worlds; false when none could be opened. Stops at a world that cannot be restored from the file, and when
 * the service is to stop. */
static bool open_worlds(struct service *service, const struct snapshot_file *file, bool *refused) {
  bool any = false;
  for (uint32_t i = 0; !*refused && i < service->world_count && !service_is_to_stop(service); i++)
    any = hosting_open_world(service, &service->worlds[i], file, refused) || any;
  return any;
}

/* Logs worlds that are in a snapshot but not in the settings: snapshots written from now on do not contain them. */
static bool leaves_out(struct service *service, const struct snapshot_file *file) {
  bool any = false;
  if (orders_world()) return false; /* other processes have the others */
  for (uint32_t i = 0; i < file->world_count; i++) {
    const hosted_world *world = service_find_world(service, file->worlds[i].name);
    if (world && world->world) continue;
    log_line(MUSTER_LOG_WARNING, "world %s is in the snapshot, and is not hosted", file->worlds[i].name);
    any = true;
  }
  return any;
}

/* Restores all worlds from the newest snapshot from which all can be restored; else they begin anew. `any` tells
 * whether one could be opened. */
static muster_result restore_worlds(struct service *service, bool *any) {
  struct snapshot_file file;
  bool refused = false, found = true;
  uint32_t which = 0;
  while (!service_is_to_stop(service)) {
    muster_result result = snapshots_next(&service->snapshots, &which, &file, &found);
    if (result) return result;
    if (!found) break;
    *any = open_worlds(service, &file, &refused);
    if (refused)
      snapshots_refuse(&service->snapshots, which);
    else if (*any && !service_is_to_stop(service))
      snapshots_accept(&service->snapshots, which, &file, leaves_out(service, &file));
    snapshot_file_close(&file);
    if (!refused) return MUSTER_OK;
    close_worlds(service);
    refused = false;
  }
  *any = open_worlds(service, NULL, &refused);
  return MUSTER_OK;
}

muster_result hosting_open(struct service *service) {
  muster_result result = snapshots_lock(service);
  if (!result) result = modules_open(&service->modules, service->settings.modules);
  if (!result) result = open_pool(service);
  bool any = false;
  if (!result && (result = restore_worlds(service, &any))) notify_problem(muster_last_error());
  if (!result && !any) result = error_set(MUSTER_E_STATE, "no world could be opened");
  if (!result && !service_is_to_stop(service)) journals_begin(service);
  if (result && !service_is_to_stop(service)) log_line(MUSTER_LOG_ERROR, "%s", muster_last_error());
  return result;
}

void hosting_close(struct service *service) {
  for (uint32_t i = 0; i < service->world_count; i++) journals_end(service, &service->worlds[i]);
  close_worlds(service);
  for (uint32_t i = 0; i < service->world_count; i++) zone_close(&service->worlds[i]);
  muster_pool_destroy(service->pool);
  service->pool = NULL;
  modules_close(&service->modules);
}

muster_result hosting_run_frame(hosted_world *world) {
  muster_frame frame = {.sim_now_ns = world->sim_now_ns + zone_step_ns(world), .budget_ns = world->budget_ns};
  const muster_module *module = world->module;
  module->before_frame(world->instance, world->world, frame.sim_now_ns);
  holds_apply(&world->holds, world->world);
  muster_result result = muster_frame_run(world->world, &frame);
  if (result) return result;
  world->sim_now_ns = frame.sim_now_ns;
  if (module->skip_ns) world->sim_now_ns += module->skip_ns(world->instance, frame.sim_now_ns);
  return MUSTER_OK;
}

#include "service/settings.h"

#include "service/settings_cluster.h"
#include "service/settings_modules.h"

#include "base/error.h"

#include <stdio.h>
#include <string.h>

#ifndef MUSTER_MODULES_FOLDER
#define MUSTER_MODULES_FOLDER "/usr/local/lib/muster/modules"
#endif

void settings_default(struct settings *settings) {
  *settings = (struct settings){.modules = MUSTER_MODULES_FOLDER,
                                .socket = "/run/musterd/control.sock",
                                .connections_max = 512,
                                .client_connections_max = 256,
                                .header_bytes_max = 8192,
                                .body_bytes_max = 4194304,
                                .idle_timeout_ns = 10000000000u,
                                .snapshot_interval_ns = 60000000000u,
                                .journal = true,
                                .recovery_max_ns = 700000000u,
                                .crash_limit = 3,
                                .crash_window_ns = 600000000000u,
                                .stuck_kill_ns = 2000000000u,
                                .stop_grace_ns = 20000000000u,
                                .lease_ttl_ns = 15000000000u,
                                .balance = true,
                                .border_mm = 50000,
                                .margin_mm = 2000,
                                .ghost_rate = 5000};
}

void settings_default_world(world_settings *world) {
  *world = (world_settings){.seed = 1, .budget_ns = 10000000u, .rate = 30000};
}

uint64_t settings_period_ns(uint64_t rate) {
  return 1000000000000u / rate;
}

muster_result settings_check_pace(double used, uint64_t budget_ns, uint64_t period_ns) {
  double share = (double)budget_ns / (double)period_ns;
  if (used + share <= 0.9001) return MUSTER_OK;
  return error_set(MUSTER_E_ARGUMENT,
                   "a budget of %g ms every %g ms is %.0f %% of the time, and all other worlds take %.0f %%; together "
                   "they may take 90 %%: lower a budget or a rate",
                   (double)budget_ns * 1e-6, (double)period_ns * 1e-6, share * 100.0, used * 100.0);
}

world_settings *settings_find_world(const struct settings *settings, const char *name) {
  for (uint32_t i = 0; i < settings->world_count; i++)
    if (strcmp(settings->worlds[i].name, name) == 0) return (world_settings *)&settings->worlds[i];
  return NULL;
}

world_settings *settings_add_world(struct settings *settings, const char *name) {
  if (settings->world_count == WORLDS_MAX) {
    error_set(MUSTER_E_FULL, "there are %u worlds already, the most that one service hosts", (unsigned)WORLDS_MAX);
    return NULL;
  }
  world_settings *world = &settings->worlds[settings->world_count++];
  settings_default_world(world);
  snprintf(world->name, sizeof world->name, "%s", name);
  return world;
}

static void check_worlds(const struct settings *settings, settings_complaint complain, void *user) {
  double used = 0;
  for (uint32_t i = 0; i < settings->world_count; i++) {
    const world_settings *world = &settings->worlds[i];
    char where[NAME_BYTES + 16];
    snprintf(where, sizeof where, "[world %s]", world->name);
    uint64_t period_ns = settings_period_ns(world->rate);
    if (!world->module[0]) complain(where, "it has no module; add `module = NAME`, such as wildlife", user);
    if (settings_check_pace(used, world->budget_ns, period_ns)) complain(where, muster_last_error(), user);
    if (world->capacity_ns && !world->virtual_clock)
      complain(where, "capacity is the work of a virtual frame; add `virtual = yes`, or use budget instead", user);
    if (world->agents_max && world->agents > world->agents_max)
      complain(where, "agents is more than agents_max; raise that, or leave it out", user);
    settings_check_modules(world, complain, user);
    if (settings->isolation == ISOLATION_NONE) used += (double)world->budget_ns / (double)period_ns;
  }
}

void settings_check(const struct settings *settings, bool mistaken, settings_complaint complain, void *user) {
  if (settings->world_count == 0 && !mistaken)
    complain("",
             "there is no world to host; give --world NAME=MODULE, or a section [world NAME] in the file of --config",
             user);
  check_worlds(settings, complain, user);
  settings_check_cluster(settings, complain, user);
}

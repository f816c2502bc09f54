#include "service/settings_paths.h"

#include "service/flight.h"
#include "service/modules.h"
#include "service/snapshots.h"
#include "service/token.h"

#include <stdio.h>

void settings_check_paths(const struct settings *settings, settings_complaint complain, void *user) {
  char token[TOKEN_BYTES];
  if (token_read(settings->token_file, token)) complain("token_file", muster_last_error(), user);
  if (snapshots_check_path(settings->snapshot_file)) complain("snapshot_file", muster_last_error(), user);
  if (flight_check_path(settings->flight_file)) complain("flight_file", muster_last_error(), user);
}

void settings_check_world_paths(const struct settings *settings, settings_complaint complain, void *user) {
  char where[NAME_BYTES + 16];
  for (uint32_t i = 0; i < settings->world_count; i++) {
    const world_settings *world = &settings->worlds[i];
    snprintf(where, sizeof where, "[world %s]", world->name);
    if (world->module[0] && modules_check(settings->modules, world->module)) complain(where, muster_last_error(), user);
    if (modules_check_path(world->path)) complain(where, muster_last_error(), user);
  }
}

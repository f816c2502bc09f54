#include "service/settings_load.h"

#include "service/flight.h"
#include "service/journals.h"
#include "service/modules.h"
#include "service/settings_cluster.h"
#include "service/settings_file.h"
#include "service/settings_keys.h"
#include "service/settings_modules.h"
#include "service/snapshots.h"
#include "service/supervise/orders.h"
#include "service/token.h"

#include <stdio.h>
#include <string.h>

/* Counts the complaints, and passes them on. */
typedef struct complaint_count {
  settings_complaint complain; /* null = complaints are only counted */
  void *user;
  uint32_t count;
} complaint_count;

static void count_complaint(const char *where, const char *message, void *user) {
  complaint_count *count = user;
  count->count++;
  if (count->complain) count->complain(where, message, count->user);
}

/* Complains of the token when it cannot be read, and of every name that a snapshot or the flight recorder would be
 * written to or renamed, when something other than a regular file has that name. */
static void settings_check_paths(const struct settings *settings, settings_complaint complain, void *user) {
  char token[TOKEN_BYTES];
  if (token_read(settings->token_file, token)) complain("token_file", muster_last_error(), user);
  if (snapshots_check_path(settings->snapshot_file)) complain("snapshot_file", muster_last_error(), user);
  if (flight_check_path(settings->flight_file)) complain("flight_file", muster_last_error(), user);
  if (!orders_world() && journals_check_folder(settings->journal_folder))
    complain("journal_folder", muster_last_error(), user);
  if (!orders_world()) settings_check_cluster_files(settings, complain, user);
}

/* Complains of each world whose module, or file for the module, would be refused. Such a world does not keep the
 * service from starting: this is for --check. */
static void settings_check_world_paths(const struct settings *settings, settings_complaint complain, void *user) {
  char where[NAME_BYTES + 16];
  for (uint32_t i = 0; i < settings->world_count; i++) {
    const world_settings *world = &settings->worlds[i];
    snprintf(where, sizeof where, "[world %s]", world->name);
    module_list list = {0};
    if (world->module[0]) module_list_read(world->module, &list);
    for (uint32_t k = 0; k < list.count; k++)
      if (modules_check(settings->modules, list.names[k].module)) complain(where, muster_last_error(), user);
    if (modules_check_path(world->path)) complain(where, muster_last_error(), user);
  }
}

/* The flags are read twice: for the file's name, and again to override the file. */
bool settings_load(struct settings *settings, settings_call *call, int count, char *const *arguments,
                   settings_complaint complain, void *user) {
  complaint_count complaints = {.complain = complain, .user = user}, unheard = {0};
  settings_default(settings);
  settings_read_flags(settings, call, count, arguments, count_complaint, &unheard);
  if (call->help || call->version) return true;
  settings_default(settings);
  if (call->file) settings_read_file(settings, call->file, count_complaint, &complaints);
  settings_read_flags(settings, call, count, arguments, count_complaint, &complaints);
  settings_check(settings, complaints.count > 0, count_complaint, &complaints);
  const char *world = orders_world();
  if (world && !orders_apply(settings, world))
    count_complaint(world, "the settings have this world no more", &complaints);
  settings_check_paths(settings, count_complaint, &complaints);
  if (call->check) settings_check_world_paths(settings, count_complaint, &complaints);
  return complaints.count == 0;
}

/* ----------------------------------------------------------------------------------------------------------- reload */

static void keep_section(bool of_world, const char *name, void *next, const void *now, settings_complaint complain,
                         void *user) {
  char where[NAME_BYTES * 3];
  const settings_key *key;
  for (uint32_t i = 0; (key = settings_key_at(i)) != NULL; i++) {
    if (key->of_world != of_world || key->live || settings_key_equal(key, next, now)) continue;
    snprintf(where, sizeof where, "%s%s%s", name, *name ? " " : "", key->field.name);
    complain(where, "it cannot change while the service runs and is left; restart for it", user);
    settings_key_copy(key, next, now);
  }
}

/* Keeps the running worlds in their order, each with the new values of its live settings. */
static void keep_worlds(struct settings *next, const struct settings *now, settings_complaint complain, void *user) {
  const struct settings found = *next;
  next->world_count = now->world_count;
  for (uint32_t i = 0; i < now->world_count; i++) {
    const world_settings *running = &now->worlds[i];
    const world_settings *wanted = settings_find_world(&found, running->name);
    if (!wanted) complain(running->name, "the world is no longer there; it runs on until a restart", user);
    next->worlds[i] = wanted ? *wanted : *running;
    keep_section(true, running->name, &next->worlds[i], running, complain, user);
    settings_keep_modules(&next->worlds[i], running, complain, user);
  }
  for (uint32_t i = 0; i < found.world_count; i++)
    if (!settings_find_world(next, found.worlds[i].name))
      complain(found.worlds[i].name, "the world is new; it begins with a restart", user);
}

void settings_keep_fixed(struct settings *next, const struct settings *now, settings_complaint complain, void *user) {
  keep_section(false, "", next, now, complain, user);
  keep_worlds(next, now, complain, user);
}

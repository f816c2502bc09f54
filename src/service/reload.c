#include "service/reload.h"

#include "service/api.h"
#include "service/flight.h"
#include "service/frames.h"
#include "service/journals.h"
#include "service/log.h"
#include "service/notify.h"
#include "service/settings_load.h"

#include <stdlib.h>
#include <string.h>

/* One reload under way. */
struct reload {
  mailbox_request request; /* first: it is the reload */
  struct service *service;
  struct settings next;
};

static muster_log_level warning = MUSTER_LOG_WARNING, error = MUSTER_LOG_ERROR;

static void complain(const char *where, const char *message, void *user) {
  const muster_log_level *level = user;
  log_line(*level, "reload: %s%s%s", where, *where ? ": " : "", message);
}

/* What a module says of its reload, on one line. */
static bool log_answer(uint32_t status, bool json, const char *text, size_t bytes, void *user) {
  (void)status;
  (void)json;
  log_line(MUSTER_LOG_INFO, "reload: world %s: %.*s", (const char *)user, (int)strcspn(text, "\n"), text);
  return bytes > 0;
}

/* Frames' thread. A module that has the command `reload`, as scripts have, is given it. When it refuses, it is as it
 * was, and says why. */
static void reload_modules(hosted_world *world) {
  static const muster_module_call given = {.size = sizeof given, .command = "reload", .body = ""};
  for (uint32_t i = 0; world->world && i < world->parts.count; i++) {
    const module_part *part = &world->parts.parts[i];
    if (!module_command_find(part->module, given.command)) continue;
    flight_call_begin(world->name, part->name.module, FLIGHT_COMMAND);
    muster_result result = part->module->command(part->instance, world->world, &given, log_answer, world->name);
    flight_call_end();
    journals_note_command(world, part->name.instance, &given);
    if (result) log_line(MUSTER_LOG_ERROR, "reload: world %s: %s", world->name, muster_last_error());
  }
}

/* Frames' thread. Budgets and periods were checked together, so they are set together. */
static void set_paces(mailbox_request *request, struct service *service) {
  const struct reload *reload = (const struct reload *)request;
  for (uint32_t i = 0; i < service->world_count; i++) {
    const world_settings *world = &reload->next.worlds[i];
    frames_force_pace(&service->worlds[i], world->budget_ns, settings_period_ns(world->rate));
    reload_modules(&service->worlds[i]);
  }
  frame_mailbox_wake(&service->mailbox); /* it may be waiting for a later frame */
}

static void reload_end(struct service *service) {
  service->reloads = false;
  notify_ready("reloaded");
  if (!service->reload_again) return;
  service->reload_again = false;
  reload_begin(service);
}

/* Loop's thread: takes over the settings that the loop itself uses. */
static void reload_finish(mailbox_request *request) {
  struct reload *reload = (struct reload *)request;
  struct service *service = reload->service;
  if (service->stage == SERVICE_RUNNING) {
    service->settings = reload->next;
    log_set_level((muster_log_level)service->settings.log_level);
    if (api_change(service->http, &service->settings) != MUSTER_OK)
      log_line(MUSTER_LOG_ERROR, "reload: %s", muster_last_error());
    snapshots_set_interval(&service->snapshots, service->settings.snapshot_interval_ns);
    log_line(MUSTER_LOG_INFO, "reload: done");
    reload_end(service);
  }
  free(reload);
}

static struct reload *reload_load(struct service *service) {
  settings_call call = {0};
  struct reload *reload = calloc(1, sizeof *reload);
  if (!reload) {
    complain("settings", "no memory to read them", &error);
    return NULL;
  }
  reload->request = (mailbox_request){.run = set_paces, .done = reload_finish};
  reload->service = service;
  bool good = settings_load(&reload->next, &call, service->argument_count, service->arguments, complain, &error);
  if (good) return reload;
  free(reload);
  return NULL;
}

void reload_begin(struct service *service) {
  if (service->stage != SERVICE_RUNNING || service->reloads) {
    service->reload_again = service->stage != SERVICE_STOPPING;
    return;
  }
  service->reloads = true;
  notify_reloading();
  struct reload *reload = reload_load(service);
  if (reload) {
    settings_keep_fixed(&reload->next, &service->settings, complain, &warning);
    if (frame_mailbox_post(&service->mailbox, &reload->request) == MUSTER_OK) return;
    complain("settings", muster_last_error(), &error);
    free(reload);
  }
  log_line(MUSTER_LOG_ERROR, "reload: nothing has changed");
  reload_end(service);
}

#include "service/supervise/orders.h"

#include "base/files.h"

#include <fcntl.h>
#include <muster/jobs.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CONNECTIONS_BESIDE = 512, HEADER_BYTES_BESIDE = 4096 };

/* Of the world that this process serves. */
static cpu_set_t dealt_here;

const char *orders_world(void) {
  return getenv(ORDERS_WORLD);
}

void orders_deal(const struct settings *settings, deal *dealt) {
  cpu_set_t machine;
  if (sched_getaffinity(0, sizeof machine, &machine)) CPU_ZERO(&machine);
  if (!CPU_COUNT(&machine)) CPU_SET(0, &machine);
  deal_processors(settings, &machine, muster_available_processors(), dealt);
}

void orders_bind_thread(void) {
  if (orders_world() && CPU_COUNT(&dealt_here)) sched_setaffinity(0, sizeof dealt_here, &dealt_here);
}

bool orders_path(const char *file, const char *world, char folder[PATH_BYTES], char path[PATH_BYTES]) {
  const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
  int length = (int)(name - file);
  *folder = *path = '\0';
  if (!*file) return true;
  return snprintf(folder, PATH_BYTES, "%.*s%s", length, file, world) < PATH_BYTES &&
         snprintf(path, PATH_BYTES, "%.*s%s/%s", length, file, world, name) < PATH_BYTES;
}

bool orders_journals(const struct settings *settings, const char *world, char folder[PATH_BYTES]) {
  const char *all = settings->journal_folder;
  *folder = '\0';
  return !*all || snprintf(folder, PATH_BYTES, "%s/%s", all, world) < PATH_BYTES;
}

bool orders_flight_path(const struct settings *settings, const char *world, char folder[PATH_BYTES],
                        char path[PATH_BYTES]) {
  if (*settings->flight_file) return orders_path(settings->flight_file, world, folder, path);
  return snprintf(folder, PATH_BYTES, "%s.%s.d", settings->socket, world) < PATH_BYTES &&
         snprintf(path, PATH_BYTES, "%s.%s.d/flight", settings->socket, world) < PATH_BYTES;
}

int orders_open_flight(const struct settings *settings, const char *world) {
  char folder[PATH_BYTES], path[PATH_BYTES];
  if (!orders_flight_path(settings, world, folder, path)) return -1;
  return files_open_regular(AT_FDCWD, path, O_RDWR | O_NOFOLLOW, 0);
}

void orders_forget_flight(const struct settings *settings, const char *world) {
  char folder[PATH_BYTES], path[PATH_BYTES];
  if (*settings->flight_file || !orders_flight_path(settings, world, folder, path)) return;
  unlink(path);
  rmdir(folder);
}

bool orders_apply(struct settings *settings, const char *world) {
  const world_settings *found = settings_find_world(settings, world);
  char folder[PATH_BYTES], snapshots[PATH_BYTES], flight[PATH_BYTES], journals[PATH_BYTES];
  if (!found) return false;
  world_settings alone = *found;
  deal dealt;
  orders_deal(settings, &dealt);
  settings->workers = dealt.workers[found - settings->worlds];
  dealt_here = dealt.processors[found - settings->worlds];
  settings->worlds[0] = alone;
  settings->world_count = 1;
  settings->listen[0] = settings->token_file[0] = settings->hosts[0] = '\0'; /* the supervisor's */
  /* So are the limits of clients: its own connections come beside those, and what it passes on is longer, escaped. */
  settings->connections_max += CONNECTIONS_BESIDE;
  settings->header_bytes_max = 3 * settings->header_bytes_max + HEADER_BYTES_BESIDE;
  if (!orders_path(settings->snapshot_file, world, folder, snapshots) ||
      !orders_flight_path(settings, world, folder, flight) || !orders_journals(settings, world, journals))
    return false;
  memcpy(settings->journal_folder, journals, sizeof journals);
  memcpy(settings->snapshot_file, snapshots, sizeof snapshots);
  memcpy(settings->flight_file, flight, sizeof flight);
  return true;
}

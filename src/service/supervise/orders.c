#include "service/supervise/orders.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *orders_world(void) {
  return getenv(ORDERS_WORLD);
}

bool orders_path(const char *file, const char *world, char *folder, char *path, size_t bytes) {
  const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
  int length = (int)(name - file);
  *folder = *path = '\0';
  if (!*file) return true;
  return (size_t)snprintf(folder, bytes, "%.*s%s", length, file, world) < bytes &&
         (size_t)snprintf(path, bytes, "%.*s%s/%s", length, file, world, name) < bytes;
}

static bool move_file(char *file, const char *world) {
  char folder[PATH_BYTES], path[PATH_BYTES];
  if (!orders_path(file, world, folder, path, sizeof path)) return false;
  memcpy(file, path, strlen(path) + 1);
  return true;
}

bool orders_apply(struct settings *settings, const char *world) {
  const world_settings *found = settings_find_world(settings, world);
  if (!found) return false;
  world_settings alone = *found;
  settings->worlds[0] = alone;
  settings->world_count = 1;
  settings->listen[0] = settings->token_file[0] = settings->hosts[0] = '\0'; /* the supervisor's */
  return move_file(settings->snapshot_file, world) && move_file(settings->flight_file, world);
}

#include "base/cgroups.h"

#include "base/assert.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 2 * PATH_MAX };

/* A group, as it is given out. */
typedef struct cgroup {
  const char *folder; /* where its files are */
  uint32_t version;   /* 1 or 2 */
} cgroup;

/* Whether a list, separated by commas, has the word. */
static bool list_has(const char *list, const char *word) {
  size_t length = strlen(word);
  for (; *list; list += strcspn(list, ","), list += *list == ',')
    if (strcspn(list, ",") == length && strncmp(list, word, length) == 0) return true;
  return false;
}

/* A line of /proc/self/mountinfo: "36 35 0:31 ROOT FOLDER OPTIONS ... - TYPE SOURCE SUPER", which is cut. Fills `root`
 * and `folder` where that is the hierarchy that is looked for. */
static bool is_mount(char *line, uint32_t version, const char *controller, const char **root, const char **folder) {
  char *words[5], *rest = line, *more = strstr(line, " - "), *type, *super;
  if (!more) return false;
  *more = '\0';
  more += 3;
  for (size_t i = 0; i < 5; i++)
    if (!(words[i] = strsep(&rest, " "))) return false;
  type = strsep(&more, " ");
  strsep(&more, " ");
  super = strsep(&more, "\n");
  *root = words[3];
  *folder = words[4];
  if (version == 2) return strcmp(type, "cgroup2") == 0;
  return strcmp(type, "cgroup") == 0 && super && list_has(super, controller);
}

/* Walks from the group at `path` of a hierarchy upwards to where it is mounted. */
static void cgroups_walk(const char *base, const char *mount_root, const char *mounted, const char *path,
                         uint32_t version, void (*take)(const cgroup *group, void *user), void *user) {
  char folder[2 * LINE_BYTES];
  size_t length = strcmp(mount_root, "/") ? strlen(mount_root) : 0;
  /* A group that is not below what is mounted, as in a container, is seen as the topmost one. */
  bool is_below =
      strncmp(path, mount_root, length) == 0 && (!path[length] || path[length] == '/') && strncmp(path, "/..", 3) != 0;
  const char *below = is_below ? path + length : "";
  size_t top = (size_t)snprintf(folder, sizeof folder, "%s%s", base, mounted);
  ASSERT(top < sizeof folder);
  snprintf(folder + top, sizeof folder - top, "%s", strcmp(below, "/") ? below : "");
  for (;;) {
    take(&(cgroup){folder, version}, user);
    char *end = strrchr(folder + top, '/');
    if (!end) return;
    *end = '\0';
  }
}

static void each_of_mounts(const char *base, uint32_t version, const char *controller, const char *path,
                           void (*take)(const cgroup *group, void *user), void *user) {
  char name[PATH_MAX], line[LINE_BYTES];
  const char *root, *folder;
  snprintf(name, sizeof name, "%s/proc/self/mountinfo", base);
  FILE *file = fopen(name, "re");
  while (file && fgets(line, sizeof line, file)) {
    if (!is_mount(line, version, controller, &root, &folder)) continue;
    cgroups_walk(base, root, folder, path, version, take, user);
    break;
  }
  if (file) fclose(file);
}

/* Gives each group of the process that counts for a controller, such as "cpu" or "memory", from its own up to the
 * topmost that is mounted. */
static void cgroups_each(const char *base, const char *controller, void (*take)(const cgroup *group, void *user),
                         void *user) {
  char name[PATH_MAX], line[LINE_BYTES];
  snprintf(name, sizeof name, "%s/proc/self/cgroup", base);
  FILE *file = fopen(name, "re");
  while (file && fgets(line, sizeof line, file)) { /* "0::/PATH", or "5:cpu,cpuacct:/PATH" */
    char *rest = line, *number = strsep(&rest, ":"), *controllers = strsep(&rest, ":"), *path = strsep(&rest, "\n");
    if (!path) continue;
    bool second = strcmp(number, "0") == 0 && !*controllers;
    if (second || list_has(controllers, controller)) each_of_mounts(base, second ? 2 : 1, controller, path, take, user);
  }
  if (file) fclose(file);
}

/* Reads the first line of a file of a group. False: there is none. */
static bool cgroup_read(const cgroup *group, const char *name, char *line, size_t bytes) {
  char path[3 * LINE_BYTES];
  snprintf(path, sizeof path, "%s/%s", group->folder, name);
  FILE *file = fopen(path, "re");
  bool read = file && fgets(line, (int)bytes, file);
  if (file) fclose(file);
  return read;
}

static void take_quota(const cgroup *group, void *user) {
  uint32_t *least = user;
  char line[96], other[48];
  long long quota = 0, period = 0;
  if (group->version == 2) {
    if (!cgroup_read(group, "cpu.max", line, sizeof line)) return;
    if (sscanf(line, "%lld %lld", &quota, &period) != 2) return; /* "max" */
  } else {
    if (!cgroup_read(group, "cpu.cfs_quota_us", line, sizeof line)) return;
    if (!cgroup_read(group, "cpu.cfs_period_us", other, sizeof other)) return;
    quota = atoll(line); /* -1 = none */
    period = atoll(other);
  }
  if (quota <= 0 || period <= 0) return;
  unsigned long long processors =
      ((unsigned long long)quota + (unsigned long long)period - 1) / (unsigned long long)period;
  if (processors < *least) *least = (uint32_t)processors;
}

uint32_t cgroups_processors(const char *root) {
  uint32_t least = UINT32_MAX;
  cgroups_each(root, "cpu", take_quota, &least);
  ASSERT(least > 0);
  return least;
}

static void take_memory(const cgroup *group, void *user) {
  uint64_t *least = user;
  char line[96];
  if (!cgroup_read(group, group->version == 2 ? "memory.max" : "memory.limit_in_bytes", line, sizeof line)) return;
  uint64_t limit = strtoull(line, NULL, 10);
  if (strncmp(line, "max", 3) != 0 && limit < *least) *least = limit;
}

uint64_t cgroups_memory(const char *root) {
  uint64_t least = UINT64_MAX;
  cgroups_each(root, "memory", take_memory, &least);
  return least;
}

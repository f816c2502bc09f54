/* base/cgroups.h - the control groups that this process is in: of version 1 and of version 2, each with all groups
 * above it, since the tightest limit of all of them holds. */
#ifndef BASE_CGROUPS_H
#define BASE_CGROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A group, as it is given out. */
typedef struct cgroup {
  const char *folder; /* where its files are */
  uint32_t version;   /* 1 or 2 */
} cgroup;

/* Gives each group of the process that counts for a controller, such as "cpu" or "memory", from its own up to the
 * topmost that is mounted. `root` stands before all names of files: "" but in tests. Any thread. */
void cgroups_each(const char *root, const char *controller, void (*take)(const cgroup *group, void *user), void *user);

/* Reads the first line of a file of a group. False: there is none. */
bool cgroup_read(const cgroup *group, const char *name, char *line, size_t bytes);

/* The quota of processor time in whole processors, rounded up: the tightest of all groups; UINT32_MAX = none. */
uint32_t cgroups_processors(const char *root);

/* The most memory in bytes, likewise; UINT64_MAX = no limit. */
uint64_t cgroups_memory(const char *root);

#endif

/* base/cgroups.h - the control groups that this process is in: of version 1 and of version 2, each with all groups
 * above it, since the tightest limit of all of them holds. */
#ifndef BASE_CGROUPS_H
#define BASE_CGROUPS_H

#include <stdint.h>

/* `root` stands before all names of files: "" but in tests. Any thread. */

/* The quota of processor time in whole processors, rounded up: the tightest of all groups; UINT32_MAX = none. */
uint32_t cgroups_processors(const char *root);

/* The most memory in bytes, likewise; UINT64_MAX = no limit. */
uint64_t cgroups_memory(const char *root);

#endif

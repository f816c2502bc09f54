/* thread_names.h - the names of a process's threads, as the system and debuggers show them. */
#ifndef MUSTER_TESTS_THREAD_NAMES_H
#define MUSTER_TESTS_THREAD_NAMES_H

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

/* How many threads of the process have a name that begins so. A name ends with a line feed. */
static uint32_t thread_names_count(pid_t process, const char *prefix) {
  char path[320], name[32];
  uint32_t count = 0;
  snprintf(path, sizeof path, "/proc/%d/task", (int)process);
  DIR *folder = opendir(path);
  if (!folder) return 0;
  for (const struct dirent *entry; (entry = readdir(folder));) {
    if (entry->d_name[0] == '.') continue; /* "..", too, has a name */
    snprintf(path, sizeof path, "/proc/%d/task/%.20s/comm", (int)process, entry->d_name);
    FILE *file = fopen(path, "re");
    if (!file) continue;
    if (fgets(name, sizeof name, file)) count += strncmp(name, prefix, strlen(prefix)) == 0;
    fclose(file);
  }
  closedir(folder);
  return count;
}

#endif

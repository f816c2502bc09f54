/* Memory of the machine and of this process. */
#include "scale.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

/* What an agent takes of the world and of the plain loop beside it, generously, and room for everything else. */
static const uint64_t bytes_each = 200, bytes_beside = 256u << 20;

uint64_t scale_bytes_needed(uint32_t agents) {
  return agents * bytes_each + bytes_beside;
}

uint64_t scale_bytes_available(void) {
  char line[128];
  uint64_t kibibytes = UINT64_MAX;
  FILE *file = fopen("/proc/meminfo", "r");
  if (!file) return UINT64_MAX;
  while (fgets(line, sizeof line, file) && sscanf(line, "MemAvailable: %" SCNu64 " kB", &kibibytes) != 1) continue;
  fclose(file);
  return kibibytes > UINT64_MAX / 1024 ? UINT64_MAX : kibibytes * 1024;
}

uint64_t scale_bytes_resident(void) {
  uint64_t pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file) return 0;
  if (fscanf(file, "%*u %" SCNu64, &pages) != 1) pages = 0;
  fclose(file);
  return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

#include "processor.h"

#include <stdio.h>

void processor_model(char out[PROCESSOR_BYTES]) {
  char line[256];
  FILE *file = fopen("/proc/cpuinfo", "re");
  snprintf(out, PROCESSOR_BYTES, "unknown");
  while (file && fgets(line, sizeof line, file))
    if (sscanf(line, "model name : %127[^\n]", out) == 1) break;
  if (file) fclose(file);
}

/* mutant.c - see mutant.h. It is linked into every program of a tree with mutants. */
#include "mutant.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { STATUS_RUNAWAY = 97 };

typedef struct mutant_counts {
  uint64_t reached, differs;
} mutant_counts;

int mutant_active, mutants_seen;
static uint64_t reached, limit = UINT64_MAX;
static mutant_counts *counts;

/* Before anything else of the program, and in each of its processes. The file is shared by them all. */
__attribute__((constructor)) static void mutants_begin(void) {
  const char *number = getenv("MUSTER_MUTANT"), *most = getenv("MUSTER_MUTANT_LIMIT"),
             *seen = getenv("MUSTER_MUTANTS_SEEN");
  if (number) mutant_active = atoi(number);
  if (most) limit = strtoull(most, NULL, 10);
  if (!seen) return;
  int file = open(seen, O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  void *mapped = mmap(NULL, MUTANTS_MAX * sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (mapped == MAP_FAILED) return;
  counts = mapped;
  mutants_seen = 1;
}

/* Threads that count at the same time may lose a count, which does no harm. */
int mutant_reached(int number) {
  if (mutants_seen) counts[number].reached++;
  if (mutant_active != number) return 0;
  if (++reached > limit) _exit(STATUS_RUNAWAY);
  return 1;
}

int mutant_differs(int number) {
  counts[number].differs++;
  return 1;
}

/* noise_load.h - a load beside what is measured: a process for each processor that computes in bursts, two fifths of
 * the time. */
#ifndef BENCH_NOISE_LOAD_H
#define BENCH_NOISE_LOAD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { NOISE_PROCESSORS_MAX = 64 };

struct noise_load {
  uint32_t count;
  pid_t processes[NOISE_PROCESSORS_MAX];
};

/* Starts it on the processors that this process may use; they must be started before threads are. False when there is
 * no process to be had: what was started must be stopped then, too. */
bool noise_load_start(struct noise_load *load);

void noise_load_stop(struct noise_load *load);

#endif

/* plain.h - the plain loop that frames are compared with: the same callbacks on as many states in random order, without
 * a scheduler. */
#ifndef BENCH_PLAIN_H
#define BENCH_PLAIN_H

#include "square.h"

typedef struct plain_loop {
  muster_atom_result (*atom)(muster_update *update);
  creature *creatures;
  uint32_t *order; /* a permutation, so that every state has a turn before the first has another */
  uint32_t count, next;
} plain_loop;

/* Makes the states. False when out of memory; plain_close is due either way. */
bool plain_open(plain_loop *loop, struct square *square, uint32_t agents);
void plain_close(plain_loop *loop);

/* Runs this many updates, going on where the last call ended; returns the CPU that it took, in nanoseconds. */
uint64_t plain_run(plain_loop *loop, uint64_t updates);

#endif

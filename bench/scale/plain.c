#include "plain.h"

#include "base/clock.h"

#include <stdlib.h>

bool plain_open(plain_loop *loop, struct square *square, uint32_t agents) {
  *loop = (plain_loop){.atom = square_live, .count = agents};
  loop->creatures = malloc(agents * sizeof *loop->creatures);
  loop->order = malloc(agents * sizeof *loop->order);
  if (!loop->creatures || !loop->order) return false;
  for (uint32_t i = 0; i < agents; i++) {
    uint32_t other = (uint32_t)(square_random(square) % (i + 1));
    loop->creatures[i] = square_creature(square);
    loop->order[i] = loop->order[other];
    loop->order[other] = i;
  }
  return true;
}

void plain_close(plain_loop *loop) {
  free(loop->creatures);
  free(loop->order);
  *loop = (plain_loop){0};
}

/* The workers sleep meanwhile, and their CPU until they sleep must not count for the loop. */
uint64_t plain_run(plain_loop *loop, uint64_t updates) {
  muster_update update = {.elapsed_ns = SQUARE_FRAME_NS};
  uint64_t begin_ns = clock_thread_cpu();
  for (uint64_t i = 0; i < updates; i++) {
    update.state = &loop->creatures[loop->order[loop->next]];
    loop->atom(&update);
    if (++loop->next == loop->count) loop->next = 0;
  }
  return clock_thread_cpu() - begin_ns;
}

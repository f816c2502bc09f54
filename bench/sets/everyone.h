/* everyone.h - a world on the calling thread in which every agent runs in every frame. */
#ifndef BENCH_SETS_EVERYONE_H
#define BENCH_SETS_EVERYONE_H

#include <muster/muster.h>

enum { EVERYONE_FRAME_NS = 33333333 };

struct everyone {
  muster_world *world;
  uint64_t now_ns;
};

/* Creates a world of `agents` of the type. False: muster_last_error. */
bool everyone_open(struct everyone *everyone, const muster_type_def *type, uint32_t agents);
void everyone_close(struct everyone *everyone);

/* Runs so many frames; CPU of this thread for each of their updates in *update_ns. False: see muster_last_error. */
bool everyone_run(struct everyone *everyone, uint32_t frames, double *update_ns);

#endif

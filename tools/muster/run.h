/* run.h - a run that is replayed goes the way of `muster run`. */
#ifndef TOOLS_RUN_H
#define TOOLS_RUN_H

#include "recording.h"

/* Replays a run up to frame `last` on so many workers and reports it. Returns the exit status. */
int run_replayed(replaying *replaying, uint32_t workers, uint64_t last);

#endif

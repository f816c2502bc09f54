/* walkers.h - a world that is told of to clients: agents that walk all over a square, and a few that come and go. */
#ifndef BENCH_WALKERS_H
#define BENCH_WALKERS_H

#include <muster/muster.h>

enum { WALKERS_COME = 8 /* in a frame; as many go */ };

static const double walkers_side_m = 10000.0;

struct walkers {
  muster_world *world;
  muster_type type;
  uint32_t agents, agents_max;
  uint64_t now_ns, random;
  muster_position *players; /* observers, where they stand */
  uint32_t player_count;
  muster_agent came[WALKERS_COME]; /* before the last frame */
  muster_frame_report report;
};

/* Creates a world with all its agents and observers in it. False: muster_last_error(). What is open, and what failed to
 * open, is closed by walkers_close(). */
bool walkers_open(struct walkers *walkers, muster_pool *pool, uint32_t agents, uint32_t players, uint64_t period_ns,
                  uint32_t changes_frames);
void walkers_close(struct walkers *walkers);

/* Lets some come and as many go, runs a frame and reads its report. */
bool walkers_frame(struct walkers *walkers);

#endif

/* The behaviour of a small game, apart from its server, so that a test can register it in a world of its own. */
#ifndef PASTURE_H
#define PASTURE_H

#include <muster/muster.h>

/* What a server and its atoms share. It must outlive the world. */
struct pasture {
  muster_type sheep, wolves;
};

struct sheep {
  double grass_kg; /* eaten so far */
  bool afraid;
};

struct wolf {
  muster_agent prey;
  uint32_t eaten;
};

/* Registers the types; false with the reason in muster_last_error(). */
bool pasture_register(struct pasture *pasture, muster_world *world);

#endif

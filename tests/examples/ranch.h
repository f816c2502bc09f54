/* ranch.h - an example to copy: what is far away is neither forgotten nor computed step by step.
 *
 *   - carts want a fixed step, so that they drive alike however rarely they run: MUSTER_ELAPSED_STEPS. Under load their
 *     updates come later, take more steps at once, and never more than steps_max
 *   - grass grows by a law that can be computed for any time at once: MUSTER_ELAPSED_ANALYTIC. Its atom is told one
 *     second at most; all before that is for the callback
 *   - cows are a herd, of which hundreds cost as much as one agent while no player is near. A player who buys one takes
 *     it out of the herd: muster_herd_name makes it an agent of its own for good */
#ifndef EXAMPLES_RANCH_H
#define EXAMPLES_RANCH_H

#include <muster/herd.h>
#include <muster/muster.h>

enum { RANCH_COWS = 64, RANCH_CARTS = 200, RANCH_PATCHES = 200, CART_STEP_NS = 20000000 };

struct cart {
  double x, speed; /* m, m/s */
  uint64_t steps;  /* driven so far */
};

struct grass {
  double height;  /* 0 .. 1 */
  double grown_s; /* the time that it has grown */
  uint64_t leaps; /* calls for a longer time than its atom is told */
};

struct ranch {
  muster_world *world;
  muster_herd cows;
  muster_agent carts[RANCH_CARTS], patches[RANCH_PATCHES];
  uint64_t now_ns;
};

/* False with a message. */
bool ranch_open(struct ranch *ranch);
void ranch_close(struct ranch *ranch);

/* Runs a frame: `budget_ns` of work for 50 ms. False with a message. */
bool ranch_tick(struct ranch *ranch, uint64_t budget_ns);

/* A player buys a cow of the herd; null with a message when it cannot be had now. */
muster_agent ranch_buy(struct ranch *ranch, uint32_t cow);

/* The step of a cart: drives on for `seconds`. */
void cart_drive(struct cart *cart, double seconds);

/* How high grass is that began at 0 and grew for so long. */
double grass_height(double seconds);

#endif

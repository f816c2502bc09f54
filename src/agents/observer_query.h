/* agents/observer_query.h - which observers matter to a handful of agents.
 *
 * The agents lie in a box. An observer is kept when it may be the most important one of any agent in the box. It is
 * left out when it is worth less at its nearest point of the box than another is worth everywhere in the box, or when
 * another is nearer throughout. The result is exact in three dimensions, whatever near_m and far_m are. */
#ifndef AGENTS_OBSERVER_QUERY_H
#define AGENTS_OBSERVER_QUERY_H

#include "agents/observers.h"

enum { QUERY_SEEN_MAX = 48 };

/* A box around agents of a partition, relative to a corner on the ground plane. */
typedef struct query_box {
  double corner_x, corner_y;
  float low[3], high[3];
  uint32_t partition;
} query_box;

/* An observer, relative to the same corner. */
struct seen_observer {
  float x, y, z;
  float near_m, far_m;
  float slope;   /* 1 / (far_m - near_m) */
  float highest; /* importance at its nearest point of the box */
  uint32_t observer;
};

typedef struct observer_query {
  uint32_t count;
  bool crowded;      /* there are more than QUERY_SEEN_MAX that may matter: ask for each agent on its own */
  bool alike;        /* all of them have the same near_m and far_m */
  float lowest;      /* the importance that every agent in the box has at least */
  uint32_t provider; /* the observer that gives it */
  uint32_t looks;    /* observers and buckets looked at */
  struct seen_observer seen[QUERY_SEEN_MAX];
} observer_query;

/* Finds the observers that matter in the box, by their sources. When the box is a point: the one that is worth most
 * there (any of equal ones), or none. Any thread while none writes sources. O(observers near). */
void observer_query_gather(const observer_table *table, const query_box *box, observer_query *list);

/* The same for a box inside of the one that `around` was found for, from the same corner. */
void observer_query_narrow(const observer_query *around, const query_box *box, observer_query *list);

/* Whether any observer may be worth something to an agent there; true when in doubt. O(1). */
bool observer_query_may_see(const observer_table *table, muster_position position, uint32_t partition);

/* Importance at a distance: 1 up to near_m, 0 from far_m on. */
static inline float seen_observer_importance(const struct seen_observer *seen, float distance_m) {
  float importance = (seen->far_m - distance_m) * seen->slope;
  importance = distance_m > seen->near_m && importance < 1.0f ? importance : 1.0f;
  return distance_m < seen->far_m ? importance : 0.0f;
}

#endif

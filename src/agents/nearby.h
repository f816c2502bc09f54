/* agents/nearby.h - which agents are near: a look at no more than NEARBY_LOOKS agents.
 *
 * A query takes the cells of the grid in rings around that of its centre, and of a crowd the bins, nearest first, each
 * of them whole, until what is left is farther than those that it found. So it finds the nearest. It is cut where the
 * next cell or bin would be more than NEARBY_LOOKS agents in all. And it is cut in a smallest square of a crowd that is
 * parted by numbers: it takes the bin first whose numbers share most leading digits with the centre's, and no further
 * ones when it has found enough. So agents see one another in groups there, and every agent is in one.
 *
 * Positions and indices alone decide all that; so the order in which agents came, and the number of buckets, do not
 * matter. */
#ifndef AGENTS_NEARBY_H
#define AGENTS_NEARBY_H

#include "agents/space.h"

enum {
  NEARBY_LOOKS = 256, /* MUSTER_CANDIDATES_MAX */
  NEARBY_RINGS = 32,  /* of cells around the centre's; agents beyond are looked at by index */
};

#define NEARBY_NO_AGENT   UINT32_MAX
#define NEARBY_ALL_TYPES  UINT32_MAX
#define NEARBY_SOME_TYPES (UINT32_MAX - 1)

struct neighbour {
  uint32_t index;
  float distance_squared;
};

typedef struct nearby_query {
  uint32_t index; /* of the centre, an active agent; NEARBY_NO_AGENT: a place, which is given */
  uint32_t type;  /* only agents of this type; NEARBY_ALL_TYPES; NEARBY_SOME_TYPES: those in `types` */
  float radius_m;
  const uint64_t *types;     /* bitmap */
  const agent_place *centre; /* where no agent is; its spot and depth are 0 */
} nearby_query;

/* What a query took. */
typedef struct nearby_looks {
  uint32_t looked; /* agents that it looked at, the centre included */
  bool cut;        /* others, maybe nearer ones, were not looked at */
} nearby_looks;

/* The nearest agents around the centre within radius_m on the ground plane, in its partition, itself excluded, nearest
 * first, equal distances by index: at most `capacity`. Any thread while none links agents. */
uint32_t nearby_find(const struct space *space, const agent_store *store, const nearby_query *query,
                     struct neighbour *out, uint32_t capacity, nearby_looks *looks);

#endif

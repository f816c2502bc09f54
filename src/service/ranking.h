/* service/ranking.h - the agents that stand out, of all agents of a world.
 *
 *     GET /v1/worlds/W/ranking?type&limit          JSON
 *
 *   {"looked", "delayed": [...], "expensive": [...], "important": [...], "types": [...]}: at most `limit` (1 .. 100,
 * default 10) agents in each list, as GET /v1/worlds/W/agents has them, with "late_ns", how long ago they were due, and
 * "load", the part of one processor that they take: expected cost / period in force. `type` keeps the lists to one
 * type.
 *
 *   delayed    those that are overdue, the longest first; none that has no period or is in quarantine
 *   expensive  by load
 *   important  by importance
 *
 *   types      {"name", "levels": [{"agents", "load"}, ...]}: what all agents of a type take by the periods in force
 *
 * Of equals the one with the lower index comes first. All agents are looked at, in slices of about 200 us between
 * frames, so figures may be of frames that follow one another; an agent that left in the meantime is left out. */
#ifndef SERVICE_RANKING_H
#define SERVICE_RANKING_H

#include "service/api.h"

enum { RANKING_MOST = 100 };

/* The best of the values offered so far, the greatest first. */
struct ranking {
  uint32_t count;
  double values[RANKING_MOST];
  muster_agent agents[RANKING_MOST];
};

/* Takes an agent in, if it is among the `limit` greatest and above 0; an equal one stays behind earlier ones. */
void ranking_offer(struct ranking *ranking, uint32_t limit, double value, muster_agent agent);

#endif

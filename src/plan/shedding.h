/* plan/shedding.h - stage 2: load shedding: under pressure the least important agents give up capability levels.
 *
 * One number, the depth, says how far. At depth d the least important d of the population is one level below what its
 * importance gives, the least d - 1/4 two, the least d - 1/2 three. None of the most important tenth is lowered before
 * all others are three down (SHEDDING_OTHERS), and exempt agents (elasticity 0 set by the designer) never are. Rank is
 * by bins of importance, and inside a bin by a hash of the index. An agent that is down comes up only when its rank is
 * SHEDDING_BAND above the line.
 *
 * The depth follows the pressure of the fit, in steps of thirty frames, in which all agents are looked at: deeper above
 * `from`, while an agent's period is beyond its wish; less deep below half of it; unmoved in between. An agent that has
 * its wanted period never goes down. Coming up is slow, and each time that it proves too early the next attempt waits
 * twice as long: so nothing flaps where no level fits.
 *
 * Pure: no clock, no threads. */
#ifndef PLAN_SHEDDING_H
#define PLAN_SHEDDING_H

#include "plan/score.h"

#define SHEDDING_OTHERS  1.4
#define SHEDDING_DEEPEST 1.5
#define SHEDDING_BAND    0.02

enum { SHEDDING_STEPS = MUSTER_LEVELS - 1 };

struct shedding {
  double from;     /* pressure; 0 = levels follow importance alone */
  double pressure; /* smoothed */
  double depth;
  uint32_t shed;           /* active agents that are down */
  uint32_t cursor, left;   /* of a round over all agents, and how many indices it still has to pass */
  uint32_t frames;         /* since the last step */
  uint32_t calm, patience; /* how many rounds the pressure was low, and how many it takes to come up */
  uint32_t since_up;       /* rounds since the depth came up */
  bool relapsed;           /* its last step was up, and it may have to go down again */
  uint64_t downs, ups;     /* steps */
  uint64_t changes;        /* changes of agents */
  bool gives_way;          /* as of the last fit: an agent's period is longer than its wish */
};

/* Begins with no agent down. */
void shedding_create(struct shedding *shedding, double from);

/* After the fit: the pressure that it found, and whether any agent's period is longer than its wish. */
void shedding_note(struct shedding *shedding, double pressure, bool gives_way);

/* One frame: moves the depth when its time has come, and looks at about `looks` agents; changes their levels. O(looks),
 * and O(1) when no agent is down and there is no pressure. */
void shedding_run(struct shedding *shedding, score_board *board, uint32_t looks);

/* How many levels an agent of this importance should be down; `down` is how many it is down now. For tests. */
uint32_t shedding_wanted(const struct shedding *shedding, const score_board *board, uint32_t population,
                         uint16_t importance, uint32_t index, uint32_t down);

/* An active agent is removed. */
static inline void shedding_forget(struct shedding *shedding, agent_store *store, uint32_t index) {
  shedding->shed -= store->shed[index] > 0;
  store->shed[index] = 0;
}

#endif

/* plan/shedding.h - stage 2: load shedding: under pressure the least important agents give up capability levels.
 *
 * One number, the depth, says how far. At depth d the least important d of the population is one level below what its
 * importance gives, the least d - 1/4 two, the least d - 1/2 three. None of the most important tenth is lowered before
 * all others are three down (SHEDDING_OTHERS), and exempt agents (elasticity 0 set by the designer) never are. Rank is
 * by bins of importance, and inside a bin by a hash of the index. An agent that is down comes up only when its rank is
 * SHEDDING_BAND above the line.
 *
 * The depth follows the pressure of the fit, in steps of thirty frames, in which all agents are looked at: deeper above
 * `from`, while an agent's period is beyond its wish; less deep below half of it; unmoved in between. It begins at the
 * least important agents that have something to give: those below them stand at their cheapest level already, and steps
 * over them would lower nobody. An agent that has its wanted period never goes down. Coming up is slow, and each time
 * that it proves too early the next attempt waits twice as long: so nothing flaps where no level fits.
 *
 * A frame: shedding_prepare cuts the agents that it looks at into items; shedding_range does these, on several threads
 * if that pays, and lists the few agents that may change; shedding_apply changes them, in the order of their indices.
 *
 * Pure: no clock, no threads. */
#ifndef PLAN_SHEDDING_H
#define PLAN_SHEDDING_H

#include "plan/score.h"

#define SHEDDING_OTHERS  1.4
#define SHEDDING_DEEPEST 1.5
#define SHEDDING_BAND    0.02

enum { SHEDDING_STEPS = MUSTER_LEVELS - 1, SHEDDING_ITEM_AGENTS = 1024 };
enum { SHEDDING_ITEMS_MAX = SCORE_UNITS_MAX / SHEDDING_ITEM_AGENTS };

/* Where the lines between the steps lie, in agents from the least important on: an agent whose rank is below one is
 * down so far. And how many agents lie below each bin. */
typedef struct shedding_lines {
  double down[SHEDDING_STEPS];
  double stays_down[SHEDDING_STEPS];
  double below[IMPORTANCE_BINS];
} shedding_lines;

/* The looks of a frame. The agents that may change stand in score_board.agents: the score is done with it then. */
typedef struct shedding_looks {
  shedding_lines lines;
  uint32_t begin, end; /* indices */
  uint32_t found[SHEDDING_ITEMS_MAX];
  uint16_t gives[SHEDDING_ITEMS_MAX][IMPORTANCE_BINS]; /* agents that have something to give */
} shedding_looks;

struct shedding {
  double from;     /* pressure; 0 = levels follow importance alone */
  double pressure; /* smoothed */
  double depth;
  uint32_t shed;                   /* active agents that are down */
  uint32_t cursor, left;           /* of a round over all agents, and how many indices it still has to pass */
  uint32_t gives[IMPORTANCE_BINS]; /* agents of the round that have something to give, or gave it */
  uint32_t frames;                 /* since the last step */
  uint32_t calm, patience;         /* how many rounds the pressure was low, and how many it takes to come up */
  uint32_t since_up;               /* rounds since the depth came up */
  bool relapsed;                   /* its last step was up, and it may have to go down again */
  uint64_t downs, ups;             /* steps */
  uint64_t changes;                /* changes of agents */
  bool gives_way;                  /* as of the last fit: an agent's period is longer than its wish */
};

/* Begins with no agent down. */
void shedding_create(struct shedding *shedding, double from);

/* After the fit: the pressure that it found, and whether any agent's period is longer than its wish. */
void shedding_note(struct shedding *shedding, double pressure, bool gives_way);

/* One frame: moves the depth when its time has come, and lists work on about `looks` agents (SCORE_UNITS_MAX at most),
 * after score_apply(). Returns how many items there are; none when no agent is down and there is no pressure. O(1). */
uint32_t shedding_prepare(struct shedding *shedding, const score_board *board, uint32_t looks, shedding_looks *list);

/* Looks at the agents of the items [begin, end). Several threads at once, on different items. O(looks). */
void shedding_range(const score_board *board, shedding_looks *list, uint32_t begin, uint32_t end);

/* Changes the levels of agents that the items found. Frame's thread. */
void shedding_apply(struct shedding *shedding, const score_board *board, const shedding_looks *list);

/* How many levels an agent of this importance should be down; `down` is how many it is down now. For tests. */
uint32_t shedding_wanted(const struct shedding *shedding, const score_board *board, uint32_t population,
                         uint16_t importance, uint32_t index, uint32_t down);

/* An active agent is removed. */
static inline void shedding_forget(struct shedding *shedding, agent_store *store, uint32_t index) {
  shedding->shed -= store->shed[index] > 0;
  store->shed[index] = 0;
}

#endif

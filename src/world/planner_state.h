/* planner_state.h - what a planner world keeps of the plan that its host runs. */
#ifndef PLANNER_STATE_H
#define PLANNER_STATE_H

#include <muster/report.h>
#include <stdbool.h>
#include <stdint.h>

/* Of a planner world: the plan that the host runs. */
typedef struct planner_state {
  uint32_t capacity;          /* the most entries that it has room for */
  bool goes_on;               /* the plan is a further one of the same frame; */
  bool empty;                 /* or there was nothing left to plan with: it has no entries, and no frame */
  muster_frame_report report; /* of all plans of the last frame */
  uint32_t *numbers;          /* by agent: the number of its entry, if that entry names the agent */
  uint64_t run_ns, ran_ns;    /* what the host has for the plan, and what it used */
  uint32_t places_looked;     /* results whose place was looked at; none more is after the first that moved */
  uint32_t unmoved;           /* of these, such as gave another place and did not move */
  uint32_t crowded;           /* plans in a row that had no room for all that there was time for */
  uint32_t unrun;             /* plans in a row of which nothing ran */
  bool told_moves, told_room, told_unrun;
} planner_state;

#endif

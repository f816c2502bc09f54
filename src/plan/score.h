/* plan/score.h - stage 2: which agents matter, and at which level?
 *
 * Importance by distance is the maximum over the observers of an agent's partition: 1 within near_m, falling to 0 at
 * far_m, in three dimensions. plan/importance.h says what else goes into it. It sets the elasticity (unless the
 * designer set that) and the capability level. Every threshold has hysteresis, so that an agent on a border does not
 * flap.
 *
 * An agent is looked at only when its importance may have changed: because an observer moved (plan/field.h finds the
 * plots), or because it is new, was tuned or moved itself (score_note). As much is done in a frame as fits its limit:
 * first where observers came, went or leapt, then where they walk and for noted agents, each in the order of arrival.
 * What is left waits, and nothing is lost. Where it waits long, several steps of observers become one.
 *
 * How wrong importance by distance may be, when nothing waits: 0.05, made of OBSERVER_STEP = 0.03 (an observer's way
 * since it was last written), 0.0087 (an agent's way inside a cube of SCORE_STEP) and the hysteresis of 0.01. An agent
 * that is nearer than near_m by 0.04 x (far_m - near_m) has exactly 1, one further than far_m by as much exactly 0.
 * Steps of agents below 1/64 of a cell of the neighbour grid are not seen, which matters when far_m - near_m is below a
 * cell.
 *
 * A frame: score_prepare lists the work; score_range does it, on several threads if that pays; score_apply hands the
 * agents whose level or elasticity changed to other classes. The result does not depend on the number of threads. */
#ifndef PLAN_SCORE_H
#define PLAN_SCORE_H

#include "agents/space.h"
#include "plan/field.h"
#include "plan/grade.h"
#include "plan/importance.h"

/* The edge of the cubes in which an agent's steps are not noticed, as a share of importance. */
#define SCORE_STEP 0.005f

enum { IMPORTANCE_BINS = 256, SCORE_UNITS_MIN = 512, SCORE_UNITS_MAX = 65536, SCORE_CROWD = 8192 };

enum { SCORE_REFUSED = 1, SCORE_REFUSED_KNOWN };

/* Agents that are looked at together: of a plot, or (plot.tile == FIELD_NO_CELL) from anywhere. */
typedef struct score_item {
  field_plot plot;
  uint32_t begin; /* in score_board.agents; also where its changes begin */
  uint16_t count;
  /* answers */
  uint16_t changes;
  uint16_t judged;                /* how many of the agents are in the plot's cells */
  uint16_t refused, refused_type; /* refused results of importance models */
  uint8_t low[PLOT_CELLS_MAX];    /* the least importance by distance in each cell of the plot */
  uint32_t looks;
} score_item;

/* What a frame's score came to. */
typedef struct score_summary {
  uint32_t agents;  /* looked at */
  uint32_t plots;   /* plots whose agents were looked at */
  uint32_t waiting; /* observers, plots and agents that are left to the next frames */
} score_summary;

typedef struct score_board {
  score_inputs inputs; /* set once, when what they point at exists */
  struct field field;
  grade_rule rule;
  grade_type *types;
  uint32_t types_known;
  /* to be looked at */
  uint32_t *noted; /* a ring of agents_max agents, each once */
  uint64_t *noted_bits;
  uint32_t noted_head, noted_count, noted_max;
  float cubes_per_m;            /* 1 / edge of the cubes of SCORE_STEP; 0 = there is no observer */
  uint32_t cursor, cursor_left; /* of a round over all agents, and how many indices it still has to pass */
  uint64_t rounds;              /* how often all agents had to be looked at */
  /* the work of this frame */
  score_item *items;
  uint32_t item_count;
  uint32_t *agents;      /* of the items */
  uint32_t *cells;       /* of agents from anywhere: FIELD_NO_CELL when the cell is not known, or worked on anyway */
  uint8_t *lows;         /* of agents from anywhere: importance by distance */
  grade_change *changes; /* of the items */
  uint32_t agent_count;  /* the last `apart_count` of them are from anywhere */
  uint32_t apart_count;
  uint32_t units;      /* used */
  uint32_t looks_each; /* how many looks a plot took of late */
  score_summary summary;
  /* over the population */
  uint32_t importance[IMPORTANCE_BINS]; /* active agents per bin of importance: its upper eight bits */
  uint64_t refused;                     /* results of importance models that had to be clamped */
  uint8_t *type_refused; /* by type: SCORE_REFUSED after a refusal; the reader makes it SCORE_REFUSED_KNOWN */
} score_board;

/* Reserves the board. */
void score_create(score_board *board, const muster_world_def *def, struct arena *arena);

/* Sets importance, level and class of an agent that becomes active now. It is in the neighbour grid already, and was in
 * no class before. */
void score_new_agent(score_board *board, uint32_t index);

/* Forgets an agent that is removed: it leaves its class. */
void score_forget_agent(score_board *board, uint32_t index);

/* An active agent, which does not run, has another cost factor from now on, and maybe another class. */
void score_set_factor(score_board *board, uint32_t index, int32_t factor);

/* Scores one agent at once: its floor, its elasticity or its factors were set. */
void score_tuned_agent(score_board *board, uint32_t index);

/* Whether the score must know of a move: the agent leaves its cell of the neighbour grid or of the field, or its cube
 * of SCORE_STEP. Ask before the move. Any thread. */
static inline bool score_notices(const score_board *board, const agent_place *place, space_spot to) {
  if (place->cell_x != to.cell_x || place->cell_y != to.cell_y) return true;
  if (field_parts_differ(&board->field, place->x, to.x) || field_parts_differ(&board->field, place->y, to.y))
    return true;
  /* Conversion drops the fraction, which does not round down below zero: so heights are moved well above zero. */
  const float each = board->cubes_per_m, above = 0x1p21f;
  return (int32_t)(place->x * each) != (int32_t)(to.x * each) || (int32_t)(place->y * each) != (int32_t)(to.y * each) ||
         (int64_t)(place->z * each + above) != (int64_t)(to.z * each + above);
}

/* An active agent is to be looked at, since it moved. Noted once, however often it is called. Frame's thread. O(1). */
void score_note(score_board *board, uint32_t index);

/* The same in two steps: whether it is to be noted, which agents of different shards may ask at the same time; and
 * then, on the frame's thread, when it is. */
bool score_mark(score_board *board, uint32_t index);
void score_note_marked(score_board *board, uint32_t index);

/* All agents are to be looked at, over the next frames: what importance is made of was changed. */
void score_everybody(score_board *board);

/* Whether an agent's level must be looked at even if its importance is known: the floor of its type was changed. */
static inline bool score_checks(const score_board *board, uint32_t index) {
  return board->types[board->inputs.store->rows[index].type].checked;
}

/* Lists work for about `units`, and twice as much again for observers that came, went or leapt (an agent of a cell is
 * one unit, one from anywhere three; SCORE_UNITS_MIN..SCORE_UNITS_MAX). Returns how many items there are. */
uint32_t score_prepare(score_board *board, uint32_t units);

/* Does the items [begin, end), but neighbours that belong together are all done with the first of them. Writes
 * row.importance of their agents. Several threads at once, on ranges that together cover every item once. */
void score_range(const score_board *board, uint32_t begin, uint32_t end);

/* Ends the work: enters classes, levels, and what is known of cells. Frame's thread. */
void score_apply(score_board *board);

#endif

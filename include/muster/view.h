/* muster/view.h - agents as a picture needs them: all agents within a rectangle of the ground plane, one by one or
 * summed by the cells of a raster; and the field, a grid of how much observers make agents matter. Not part of
 * muster/muster.h.
 *
 *     muster_view view = muster_view_default();
 *     view.x1 = view.y1 = 500;
 *     for (uint32_t cursor = 0; cursor != MUSTER_VIEW_END;) {
 *       uint32_t count = muster_agents_view(world, &view, agents, 4096, &cursor);
 *       draw(agents, count);
 *     }
 *
 * A call looks at looks_max agents at most and sets the cursor to where the next call goes on, so that a host that has
 * little time between two frames can spread a picture over several of them. Agents that moved, came or went in the
 * meantime are then seen where they were when the call passed their index: each at most once. Everything here belongs
 * to the thread of the frames, between frames, and changes nothing.
 *
 * Blocks of herds (muster/herd.h) are agents that stand nowhere, and are left out; leaves of herds are shown. */
#ifndef MUSTER_VIEW_H
#define MUSTER_VIEW_H

#include <muster/type.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MUSTER_VIEW_END UINT32_MAX /* the cursor after the last agent */

/* What is looked at. */
typedef struct muster_view {
  uint32_t size;
  uint32_t partition;    /* default 0 */
  double x0, y0, x1, y1; /* metres: x0 <= x < x1, y0 <= y < y1; default all 0, which is refused */
  uint32_t looks_max;    /* agents that one call looks at, about 5 ns each, those in the rectangle about twice that;
                            default 16384; >= 1 */
} muster_view;

MUSTER_DEFAULTS(muster_view);

/* What holds for an agent, as bits of muster_view_agent.flags. */
typedef enum muster_view_flag {
  MUSTER_VIEW_DUE = 1 << 0,         /* its period has elapsed, and it has not run since: it was carried */
  MUSTER_VIEW_WOKEN = 1 << 1,       /* it was woken, and has not run since */
  MUSTER_VIEW_PREEMPTED = 1 << 2,   /* its update was stopped between two atoms, and goes on */
  MUSTER_VIEW_QUARANTINED = 1 << 3, /* it is not run: muster/overruns.h */
  MUSTER_VIEW_ACTING = 1 << 4,      /* its action atoms found no time, and lead the next commit */
  MUSTER_VIEW_GHOST = 1 << 5        /* another zone runs it (muster/zone.h): only its place and its type are known */
} muster_view_flag;

/* An agent in the rectangle. Fixed for good: arrays of it are filled, and may be sent as they are. */
typedef struct muster_view_agent {
  muster_agent agent;
  float x, y;        /* metres from the rectangle's corner x0, y0 */
  float period_s;    /* in force at the last frame's pressure; 0 = it has none */
  float staleness_s; /* simulation time since the time that its last completed update brought it to */
  float importance;  /* 0..1 */
  uint16_t type;     /* index of the muster_type */
  uint8_t level;
  uint8_t flags; /* muster_view_flag bits */
} muster_view_agent;

/* Writes the active agents of a view, in agent order, from the cursor on, which is 0 to begin with: at most `capacity`,
 * and only of the next looks_max agents. Sets the cursor to where the next call goes on, MUSTER_VIEW_END when no agent
 * is left, and returns how many were written; that may be 0 before the end. 0 with a message and the cursor at
 * MUSTER_VIEW_END when an argument is null, the view was not set by its default function or is empty, or inside a
 * frame. O(looks_max). Thread of the frames, between frames. */
MUSTER_API uint32_t muster_agents_view(const muster_world *world, const muster_view *view, muster_view_agent *agents,
                                       uint32_t capacity, uint32_t *cursor);

/* Writes the active agents outside a view's rectangle, of whatever partition, and where they are: for the host of a
 * zone (muster/zone.h), whose agents near the edge of the ground are seen by neighbours, or cross. Ghosts are not among
 * them. `changed` (may be null) is whether an agent came, was placed or completed an update that publishes since a call
 * with `changed` wrote it last: so there is one such host. The cursor, `capacity` and looks_max as above; an agent
 * inside costs about 5 ns. 0 and MUSTER_VIEW_END as above. O(looks_max). Thread of the frames, between frames. */
MUSTER_API uint32_t muster_agents_outside(muster_world *world, const muster_view *view, muster_agent *agents,
                                          muster_position *positions, bool *changed, uint32_t capacity,
                                          uint32_t *cursor);

/* What a raster's cell shows of its agents: extremes, not means, which would hide the few agents that matter. Fixed for
 * good. */
typedef struct muster_raster_cell {
  uint32_t count;       /* agents */
  uint32_t with_period; /* agents that have a period */
  float level_least;    /* the best level of any agent */
  float period_s_least; /* the shortest period in force; 0 = no agent has one */
  float staleness_s;    /* the longest of agents with that period, or of all when none has one */
  float stretch_most;   /* staleness / period in force, of the latest agent */
} muster_raster_cell;

/* A rectangle cut into columns x rows cells of equal size. The caller owns the cells and zeroes them first. */
typedef struct muster_raster {
  double width_m, height_m;  /* of the rectangle; > 0 */
  uint32_t columns, rows;    /* >= 1 */
  muster_raster_cell *cells; /* cell of (column, row): cells[row * columns + column]; row 0 lies at y0 */
} muster_raster;

/* Adds agents that muster_agents_view() wrote to the cells in which they stand. Any thread. O(count). */
MUSTER_API void muster_raster_add(const muster_raster *raster, const muster_view_agent *agents, uint32_t count);

/* Adds the agents of a view to the cells of a raster, as muster_agents_view() and muster_raster_add() would, with a
 * cursor of the same kind; the raster's width and height are those of the view whatever they were set to. Returns how
 * many agents were added. Errors as above, and when the raster has no cells. O(looks_max).
 * Thread of the frames, between frames. */
MUSTER_API uint32_t muster_agents_raster(const muster_world *world, const muster_view *view,
                                         const muster_raster *raster, uint32_t *cursor);

/* Where the agents of a partition are. */
typedef struct muster_extent {
  uint32_t agents;       /* agents that were looked at; 0 = the rectangle is meaningless */
  double x0, y0, x1, y1; /* metres, all included */
} muster_extent;

/* Widens an extent, which the caller zeroes first, by the active agents of a partition, with a cursor as above.
 * MUSTER_E_ARGUMENT when a pointer is null or looks_max is 0, MUSTER_E_STATE inside a frame; the cursor is then
 * MUSTER_VIEW_END. O(looks_max).
 * Thread of the frames, between frames. */
MUSTER_API muster_result muster_agents_extent(const muster_world *world, uint32_t partition, uint32_t looks_max,
                                              muster_extent *extent, uint32_t *cursor);

/* The field is the grid by which stage 2 finds the agents that an observer's step concerns: for each cell, the
 * importance that its least important agent gets from observers, before factors, types, models and floors change it. It
 * is a lower bound, as of when the cell's agents were last looked at; where no agent moved since and nothing waits or
 * was forgotten, it is exact but for rounding down to 1/254. Nothing is known of a missing cell: it counts as 0, as
 * every cell does at first, so that missing and 0 mean the same. Cells lie at whole multiples of their edge from the
 * world's origin. */

/* What holds for a cell, as bits of muster_field_cell.flags. */
typedef enum muster_field_flag {
  MUSTER_FIELD_EMPTY = 1 << 0,  /* no agent was in it when it was last looked at, and none was noticed in it since */
  MUSTER_FIELD_WAITING = 1 << 1 /* listed: an observer changed its agents' importance, and they are to be looked at */
} muster_field_flag;

/* A cell of the field. Fixed for good. */
typedef struct muster_field_cell {
  double x, y;      /* metres in the world: its corner, from which it reaches muster_field_edge_m() up each axis */
  float importance; /* 0..1: lower bound of what its least important agent gets from observers; 0 when empty */
  uint32_t flags;   /* muster_field_flag bits */
} muster_field_cell;

/* Edge of the field's cells, metres: about a sixteenth of the usual far_m. A frame may choose another edge when
 * observers come and go, and then no cell is known. 0 with a message when the world is null or inside a frame. O(1).
 * Thread of the frames, between frames. */
MUSTER_API double muster_field_edge_m(const muster_world *world);

/* Writes the known cells that overlap the rectangle of a view, in no particular order, with a cursor as above; here one
 * look is at a tile of 8 x 8 cells (about 2 ns; 300 ns for one in the rectangle). Between frames each is written once;
 * where frames run between two calls, some may be written again or be missed when the field forgets cells for want of
 * room. Errors as above. O(looks_max). Thread of the frames, between frames. */
MUSTER_API uint32_t muster_field_view(const muster_world *world, const muster_view *view, muster_field_cell *cells,
                                      uint32_t capacity, uint32_t *cursor);

#ifdef __cplusplus
}
#endif

#endif

/* muster/replicate.h - what a game server tells its clients after each frame: which agents came, left, moved, published
 * or changed level; many agents read at once; and which agents are near a place. Not part of muster/muster.h.
 *
 *     uint64_t cursor = 0;                          // one for each reader, kept from frame to frame
 *     muster_world_def def = ...; def.limits.changes_frames = 2;
 *     ...
 *     muster_frame_run(world, &frame);
 *     uint32_t count;
 *     do {
 *       if (muster_frame_changes(world, MUSTER_CHANGE_ALL, &cursor, changes, 4096, &count) == MUSTER_E_STALE)
 *         read_everybody(world);                    // muster_agent_next(); the cursor stands behind what that sees
 *       replicate(changes, count);
 *     } while (count == 4096);
 *
 * A record says what happened; where the agents are now, and what they published, muster_agents_read() reads for all of
 * them at once. It does not find those that left.
 *
 * Everything here belongs to the thread of the frames, between frames, and changes nothing in the world; it may also be
 * called in callbacks of calls between two frames, and while the host runs a plan (muster/planner.h). */
#ifndef MUSTER_REPLICATE_H
#define MUSTER_REPLICATE_H

#include <muster/muster.h>

#ifdef __cplusplus
extern "C" {
#endif

/* -------------------------------------------------------------------------------------------------------- changes */

/* What can happen to an agent, as bits. */
typedef enum muster_change_kind {
  MUSTER_CHANGE_MOVED = 1 << 0,     /* its position was set to another one, by itself or by the host */
  MUSTER_CHANGE_SPAWNED = 1 << 1,   /* it became active, also as the leaf of a herd that unfolded */
  MUSTER_CHANGE_LEFT = 1 << 2,      /* it is gone, also because its herd folded; the record has no other bit */
  MUSTER_CHANGE_PUBLISHED = 1 << 3, /* it completed an update, or ran on_spawned, and its type has published_bytes. The
                                       bytes may be the same as before: they are not compared */
  MUSTER_CHANGE_LEVEL = 1 << 4,     /* its level changed, by importance, under pressure or for its overruns */
  MUSTER_CHANGE_ALL = (1 << 5) - 1
} muster_change_kind;

#define MUSTER_CHANGES_FRAMES_MAX 64u /* of muster_world_def.limits.changes_frames */

/* What happened to an agent within a frame. Fixed for good: arrays of it are filled. */
typedef struct muster_change {
  muster_agent agent;
  muster_type type;
  uint32_t kinds; /* muster_change_kind bits: all that happened, also what was not asked for */
} muster_change;

/* Writes what happened since a cursor: at most `capacity` records, of agents to which at least one of `kinds` happened.
 * Sets `count` to how many were written and the cursor behind them; when `count` is `capacity` there may be more, and
 * the next call goes on.
 *
 * The cursor is the caller's: a number without a meaning, from which each reader goes on by itself; 0 = from the
 * beginning of the world. A reader may ask after every frame or less often: the world keeps the changes of its last
 * muster_world_def.limits.changes_frames frames.
 *
 * Records come frame by frame, one for each agent and frame however often it changed in it: first the agents that left,
 * in the order in which they left, then the others in agent order. Under the virtual clock they are the same for any
 * number of workers. What other calls change between two frames (muster_agents_move(), folds, the rest of a late
 * commit) is told with the next frame, and what an agent was changed to is read from the agent. An agent that came and
 * left within one frame is told with MUSTER_CHANGE_LEFT alone, which a reader that has not met it passes over; one that
 * came and left in different frames is told as both. An agent with MUSTER_CHANGE_MOVED may stand where it stood before,
 * when it moved twice.
 *
 * MUSTER_E_STALE when changes since the cursor are not kept any more: the reader was away for more than changes_frames
 * frames, more agents changed in a frame than agents_max (some left, and others came in their place), or the cursor is
 * that of another world or from before a snapshot was loaded (changes are not saved). `count` is then 0, and the cursor
 * is set behind all changes so far: read everybody now (muster_agent_next(), muster_agents_read()), take agents that
 * are not among them for gone, and go on from the cursor. MUSTER_E_STATE inside a frame, and in a world with
 * changes_frames 0; MUSTER_E_ARGUMENT when an argument is null; the cursor stays as it is, and `count` is 0 where it is
 * given. Thread of the frames, between frames. O(changes since the cursor and changes_frames), whatever kinds are
 * asked for. */
MUSTER_API muster_result muster_frame_changes(const muster_world *world, uint32_t kinds, uint64_t *cursor,
                                              muster_change *out, uint32_t capacity, uint32_t *count);

/* --------------------------------------------------------------------------------------------- reading many agents */

/* Where muster_agents_read() writes to: arrays of the caller with a place for each id. A null array (default) is not
 * asked for. */
typedef struct muster_agent_columns {
  uint32_t size;
  muster_position *positions; /* metres */
  float *importance;          /* 0..1 */
  uint32_t *level;
  uint32_t *partition;
  uint64_t *period_ns;       /* under the pressure of the last frame; 0 = no period */
  uint64_t *last_update_ns;  /* simulation time that its last completed update brought it to */
  muster_type *types;        /* of the agents */
  void *state;               /* the type's state_bytes are copied to state + i x state_stride, at most state_stride of
                                them; bytes behind them stay as they are */
  uint32_t state_stride;     /* bytes; required with `state`: > 0 */
  void *published;           /* the type's published_bytes, as of the last commit, in the same way */
  uint32_t published_stride; /* bytes; required with `published`: > 0 */
  bool *found;               /* whether the id is alive and active; where it is not, the other arrays keep what they
                                have there */
} muster_agent_columns;

MUSTER_DEFAULTS(muster_agent_columns);

/* Reads many agents at once, as muster_agent_read() does one: agents[i] into the i-th place of each array of `columns`.
 * Returns how many were found; ids that are gone or not active yet are passed over. An id may be named more than once.
 * 0 with a message inside a frame, when the agents are null and count is not 0, and when the columns are null, were not
 * set by their default function or lack a stride. Fastest when agents come in ascending order, as changes do. Thread of
 * the frames, between frames. O(count). */
MUSTER_API uint32_t muster_agents_read(const muster_world *world, const muster_agent *agents, uint32_t count,
                                       const muster_agent_columns *columns);

/* ---------------------------------------------------------------------------------------------------- who is nearby */

#define MUSTER_NEARBY_BANDS_MAX 4u

/* A query from a place, which need not be an agent's. */
typedef struct muster_nearby_query {
  uint32_t size;
  muster_position position; /* metres; default the origin; z does not matter */
  uint32_t partition;       /* default 0; 0 .. 65535 */
  float radius_m;           /* on the ground plane; default 0; >= 0 */
  const muster_type *types; /* only agents of these types; default null */
  uint32_t type_count;      /* 0 (default) = all types */
  uint32_t band_count;      /* default 0; at most MUSTER_NEARBY_BANDS_MAX */
  float bands_m[4];         /* where bands of distance end: ascending, >= 0 */
} muster_nearby_query;

MUSTER_DEFAULTS(muster_nearby_query);

/* An agent that was found. Fixed for good. */
typedef struct muster_nearby_agent {
  muster_neighbour neighbour;
  uint32_t band; /* the first of bands_m that is not below its distance; band_count beyond the last */
} muster_nearby_agent;

/* The nearest agents around a place, nearest first, equal distances in agent order: at most `capacity` of them, and
 * MUSTER_CANDIDATES_MAX. Positions are as of the last commit and what the host moved since. The search is that of
 * muster_update_nearby(), with the same bound: it looks at MUSTER_CANDIDATES_MAX agents at most, of whatever type.
 * `cut` (may be null) is set to whether that cut it, so that there may be nearer agents than those that it found.
 * Returns how many were written. 0 with a message, and `cut` false, inside a frame, when the query is null, was not set
 * by its default function or has a value out of range or an unknown type, or when `out` is null and capacity is not 0.
 * Thread of the frames, between frames. Cost: that of muster_update_nearby(). */
MUSTER_API uint32_t muster_agents_nearby(const muster_world *world, const muster_nearby_query *query,
                                         muster_nearby_agent *out, uint32_t capacity, bool *cut);

#ifdef __cplusplus
}
#endif

#endif

/* muster/bulk.h - calls for many agents at once: positions and factors of importance. Not part of muster/muster.h.
 *
 * The arrays are read during the call and stay the caller's. A call takes effect at once, before what is queued for the
 * next frame. Each goes on behind an element that it passes over; muster_last_error() tells of the last of these. */
#ifndef MUSTER_BULK_H
#define MUSTER_BULK_H

#include <muster/update.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Moves many agents at once: agents[i] to positions[i], now, as muster_agent_move() would at the next intake. Returns
 * how many were moved: stale ids, also of removed agents, are passed over, and so are positions that are not finite or
 * out of range, which statistics count as positions_refused; of two positions for one agent the later one holds. 0 with
 * a message inside a frame or when an array is missing. Works on the pool; the time that it takes is taken off the next
 * frame's budget. Fastest when the agents come in ascending order, each once. Thread of the frames, between frames.
 * O(count).
 */
MUSTER_API uint32_t muster_agents_move(muster_world *world, const muster_agent *agents,
                                       const muster_position *positions, uint32_t count);

/* Moves many observers at once, as muster_agents_move() does agents. Returns how many were moved. An observer that was
 * added since the last frame is moved by a command, for which there must be room. Thread of the frames, between
 * frames. */
MUSTER_API uint32_t muster_observers_move(muster_world *world, const muster_observer *observers,
                                          const muster_position *positions, uint32_t count);

/* What lowers an agent's importance besides distance. */
typedef enum muster_factor {
  MUSTER_FACTOR_VISIBILITY = 0,
  MUSTER_FACTOR_BULK,
  MUSTER_FACTOR_INTERACTIVITY,
  MUSTER_FACTORS
} muster_factor;

/* Sets one factor of many agents at once: of agents[i] to values[i], 0..1. Returns how many were set: ids that are gone
 * and values that are not 0..1 are passed over. Importance follows within the next frames. 0 with a message inside a
 * frame, for an unknown factor or when an array is missing. Thread of the frames, between frames. O(count). */
MUSTER_API uint32_t muster_agents_set_factor(muster_world *world, muster_factor factor, const muster_agent *agents,
                                             const float *values, uint32_t count);

#ifdef __cplusplus
}
#endif

#endif

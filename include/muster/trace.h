/* muster/trace.h - the last frames for a trace viewer: which agents ran where and when, and what was decided. Included
 * by muster/muster.h.
 *
 * A world with trace.frames in its definition keeps a record of its last frames: their stages, pressure and budget,
 * and, for each worker, every claim that it ran. Each worker writes that to memory of its own while the frame runs,
 * about 50 ns for each claim; a world without trace.frames keeps nothing, at no cost.
 *
 * Under the virtual clock updates take no time of their own. They are placed one after the other by the costs that the
 * cost model charged, on one virtual worker, so that the same seed gives the same trace on any number of workers; the
 * trace says so. A frame that was charged more than its period pushes the next one back there. */
#ifndef MUSTER_TRACE_H
#define MUSTER_TRACE_H

#include <muster/common.h>
#include <muster/update.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Takes a part of a text, `length` bytes without a terminating zero, valid during the call. False: it could not be
 * written, stop. */
typedef bool (*muster_trace_sink)(const char *text, size_t length, void *user);

/* Writes the frames that the world kept, the oldest first, as JSON in the Chrome trace format, which opens in the
 * Perfetto UI (ui.perfetto.dev) and in chrome://tracing. Times are microseconds since the oldest frame began.
 *
 *     complete events (X)   on the track "frame": each frame and its stages; on one track per worker: what it ran,
 *                           with the agent, type, level and number of updates
 *     async events (b, e)   "budget": from the beginning of a frame to its deadline
 *     instants (i)          preempted, interrupted, woken, overrun
 *     counters (C)          pressure, carried, budget used (in percent)
 *
 * The text comes in parts of at most 16 KiB. MUSTER_E_STATE when the world keeps no trace or is inside a frame,
 * MUSTER_E_ARGUMENT without a sink, MUSTER_E_SYSTEM when the sink refused a part. Thread of the frames, between frames.
 * O(what was kept). */
MUSTER_API muster_result muster_trace_write(const muster_world *world, muster_trace_sink sink, void *user);

#ifdef __cplusplus
}
#endif

#endif

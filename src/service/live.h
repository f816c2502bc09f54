/* service/live.h - what the live page reads: a stream of events, the map, herds, and the page's own files.
 *
 * GET /v1/worlds/W/stream?hz=10          text/event-stream (Server-sent events); hz is 1 .. 20, default 10
 *
 *     event: frame     at most hz times a second, whenever frames were run or the pace was changed since the last one.
 *     data: {...}      One line of JSON:
 *                        world, frame, frames (run since the start), sim_now_ns, paused, failed, budget_ns, period_ns,
 *                        hz, wall_ns, overrun_wall_ns, debt_ns, pressure, important_load, share, released,
 *                        completed, carried, preempted, woken, agents, spawns_waiting, levels [4], agents_shed,
 *                        agents_quarantined, types_quarantined,
 *                        utilisation_desired, utilisation_fitted, represented, leaves, herds_folded, herds_unfolded,
 *                        stage_ns [8] (intake, score, fold, fit, release, rank, run, commit),
 *                        frame_age_ns (since the end of that frame; grows while the world is paused)
 *     event: types     once a second: {"world", "frame", "types": [{"type": index, "name", "agents", "mean_ns",
 * "high_ns" (both data: {...}      weighted by agents per level), "levels": [{"agents", "mean_ns", "high_ns",
 * "samples"}, ...]}], "staleness_by_importance": as GET /v1/worlds/W has it (base/bands_json.h), "verdict": {"code",
 * "severity", "words", "next"}: service/verdict.h} :                a comment, where there was nothing else for 5
 * seconds
 *
 *   A stream shows the state as of when the client takes it: nothing is queued, so a client that reads slowly skips
 * frames, and a client that reads nothing for 30 seconds is cut. 64 streams at most; 429 beyond. Streams cost the
 * frames' thread nothing: events are made of what it publishes after each frame anyway.
 *
 * GET /v1/worlds/W/map?x0&y0&x1&y1&partition&max&width&height             application/octet-stream, little-endian
 *
 *   The agents of a rectangle (metres; x0 <= x < x1, y0 <= y < y1): one by one when they are `max` (0 .. 65536,
 * default 4096) at most, else summed in a raster of width x height cells (each 1 .. 1024, together at most 65536,
 * default 160 x 100). Without x0, y0, x1 and y1 the rectangle is the smallest around all agents of the partition
 * (default 0).
 *
 *   Header, 88 bytes:     0 "MMAP" | 4 u16 version = 2 | 6 u16 kind: 1 = agents, 2 = cells | 8 u32 header bytes |
 *                         12 u32 bytes of a record | 16 u32 records | 20 u32 columns | 24 u32 rows | 28 u32 partition |
 *                         32 u64 sim_now_ns | 40 f64 x0 | 48 f64 y0 | 56 f64 x1 | 64 f64 y1 | 72 u64 frame |
 *                         80 u64 agents in the rectangle
 *   Agent, 32 bytes:      0 u32 index | 4 u32 generation | 8 f32 x - x0 | 12 f32 y - y0 | 16 f32 period in force, s
 *                         (0 = none) | 20 f32 staleness, s | 24 f32 importance | 28 u16 type | 30 u8 level |
 *                         31 u8 flags: 1 due (carried), 2 woken, 4 preempted, 8 quarantined, 16 acting
 *   Cell, 24 bytes, of    0 u32 row * columns + column (row 0 at y0), ascending | 4 u32 agents | 8 f32 best level |
 *   those with agents:    12 f32 shortest period in force, s (0 = none) | 16 f32 staleness of those with that period,
 *                         the longest, s | 20 f32 staleness / period in force, of the latest agent: no means, in which
 *                         the few that matter would be lost
 *
 *   An agent's id for other requests is INDEX.GENERATION. The map is gathered between frames in slices of about 200 us,
 *   so agents may be of frames that follow one another; `frame` and sim_now_ns are of the last slice. Requests for the
 *   same view share one gathering while it goes on, and its result for 40 ms.
 *
 * GET /v1/worlds/W/cells?x0&y0&x1&y1&partition&max                        application/octet-stream, little-endian
 *
 *   The cells of the observer grid that overlap a rectangle, as far as they are known (muster_field_view in
 * muster/view.h): the importance that the least important agent in each gets from observers, and which cells are empty
 * or wait to be looked at. They come as squares of N x N cells, N the least power of two with which the squares of the
 * rectangle are `max` (4 .. 65536, default 16384) at most: N is 1 wherever that is enough. Binary like the map, with
 * the same header, because thousands of cells are drawn several times a second. Without a rectangle, as the map.
 *
 *   Header, 96 bytes:     as the map's, with kind 3; x0 .. y1 are the squares' own, the rectangle grown to whole ones;
 *                         (x1 - x0) / columns is the edge of a square | 80 u64 known cells in it |
 *                         88 f64 edge of a cell, metres
 *   Square, 12 bytes, of  0 u32 row * columns + column (row 0 at y0), ascending | 4 f32 importance that every agent in
 *   those with known      it gets from observers at least; 0 when no agent is there, or a cell in it is not known |
 *   cells:                8 u32 flags: 1 empty (all known cells), 2 waiting (one cell or more)
 *
 *   Of a missing square nothing is known; it counts as importance 0. Cells are gathered and shared like the map; when
 * their edge changes in the meantime, gathering begins again.
 *
 * Answers that clients do not take delay no other client: together they are bounded, 429 beyond, and cut after send_ms
 * (service/http.h).
 *
 * GET /v1/worlds/W/herds?x0&y0&x1&y1&partition&cursor&limit              JSON, page by page as other lists are
 *
 *   {"herds": [{"herd": "INDEX.GENERATION", "type", "partition", "position", "velocity": {"x", "y"}, "members",
 * "named", "leaves" (0 = folded), "depth", "last_update_ns", "membrane": [{"agent", "node", "members", "position"},
 * ...]}], "next"} Herds whose centroid is in the rectangle; all without one. The membrane is the first 64 leaves.
 *
 * Observers are dragged by PUT /v1/worlds/W/observers/O/position (service/api.h).
 *
 * GET / and the page's files: every file of src/service/page, which is compiled in; index.html is also /. With an ETag,
 * and headers that let the page load nothing from elsewhere and run nothing inline: script and style stand in files. */
#ifndef SERVICE_LIVE_H
#define SERVICE_LIVE_H

#include "service/maps.h"
#include "service/page.h"
#include "service/streams.h"

/* Creates the state of streams and maps, before http_create, and frees it, after http_destroy. Loop's thread. */
muster_result live_open(struct service *service);
void live_close(struct service *service);

#endif

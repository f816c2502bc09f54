/* crossing.h - what crosses between zones (muster/zone.h) as bytes: agents, ghosts, folded herds, observers; and the
 * calls of a record that are made again. Frame's thread, between frames. */
#ifndef CROSSING_H
#define CROSSING_H

#include "plan/classes.h"
#include "snapshot/snapshot.h"
#include "world/world_zone.h"

#include <muster/tune.h>

/* Makes a recorded call again. False when it cannot have been made: the replay has diverged. */
bool crossing_repeat(struct muster_world *world, const zone_call *call, const void *bytes, size_t count);

/* An agent outside of any world, beside what saved_agent says of it. */
typedef struct crossing_head {
  muster_agent id;
  uint64_t sent;     /* as zone_row.sent */
  uint64_t shape;    /* of its type */
  int64_t ahead_ns;  /* when it is due: so far ahead of its class's clock */
  uint64_t now_ns;   /* of the last frame of the world that it left, */
  int64_t offset_ns; /* whose time was so far ahead of that of all zones */
  class_periods own; /* periods of its own; nominal 0 = none */
  uint32_t hop;
  uint32_t lost;  /* messages of it that were dropped, of which it was not told */
  uint32_t woken; /* something happened to it that it has not answered */
  float cell_m;
  uint32_t company[2 * MUSTER_COMPANIONS_MAX]; /* ids */
} crossing_head;

struct saved_agent;

/* One agent in a stream. When it is packed, `index` says which; when it is checked, what was read stands in `head` and
 * `saved`; when it is taken, `index` is the one that it gets. */
typedef struct crossing_agent {
  uint32_t index;
  crossing_head head;
  struct saved_agent *saved;
} crossing_agent;

/* The parts of a stream. */
chunks_format crossing_format(void);
uint64_t crossing_shape_of(const agent_type *type);
void crossing_exchange(struct snapshot *snapshot, crossing_agent *crosser);

/* Of what comes from a world whose last frame was at `then_ns`, with an offset: how long it was on its way, by the time
 * of all zones. And by how much its times are to be moved, so that they are as long ago here, and the way longer. From
 * a world that is a moment early (MUSTER_ZONE_EARLY_NS) they stay what they are by the time of all zones: nobody lives
 * through that moment twice. */
typedef struct crossing_way {
  uint64_t gone_ns;
  int64_t moved_ns;
} crossing_way;

/* The way from there to here; and a time of there as one of here (0 is none, and stays that). */
crossing_way crossing_way_from(const struct muster_world *world, uint64_t then_ns, int64_t offset_ns);
static inline uint64_t crossing_time(const crossing_way *way, uint64_t time_ns) {
  if (!time_ns || !way->moved_ns) return time_ns;
  int64_t moved_ns = (int64_t)time_ns + way->moved_ns;
  return moved_ns > 1 ? (uint64_t)moved_ns : 1;
}

/* What keeps the messages to and from an agent in order, who has come by that way when it is loaded; the same of a
 * whole world, as a part of its snapshot. */
void crossing_order(struct snapshot *snapshot, uint32_t index, const crossing_way *way);
void snapshot_order(struct snapshot *snapshot);

/* Whether an agent can leave now; and takes it out. */
muster_result crossing_check_leaving(const struct muster_world *world, uint32_t index, bool with_herd);
void crossing_leave(struct muster_world *world, uint32_t index, uint32_t to);

/* Whether an agent with that id and hop may come. */
muster_result crossing_check_coming(const struct muster_world *world, muster_agent id, uint32_t hop);

/* The index that an agent gets: its ghost's, or one that is free; `taken` is one that was taken for it, or none: then
 * it gets one that was set aside for spawns. */
uint32_t crossing_index_for(struct muster_world *world, muster_agent id, uint32_t taken);
bool crossing_needs_index(const struct muster_world *world, muster_agent id);

/* Takes an index for one that comes. False: there is none, and `aside` of those set aside for spawns are spoken for. */
bool crossing_take_index(struct muster_world *world, uint32_t *taken, uint32_t *aside);

/* What the last commit left over is finished, and a record notes that. */
void crossing_settle(struct muster_world *world);

/* Writes a part as a whole stream. False when `put` refused some of it. */
bool crossing_write_out(struct snapshot *snapshot, uint32_t section, snapshot_part *part, muster_zone_put put,
                        void *user);

/* Opens a stream, whose parts are then checked against a world; `format` must stay. And reads a part, in the snapshot's
 * mode. `what` is how messages begin. */
muster_result crossing_open(struct snapshot *snapshot, struct muster_world *world, const chunks_format *format,
                            const void *bytes, size_t count);
muster_result crossing_read(struct snapshot *snapshot, uint32_t section, snapshot_part *part, const char *what);

/* Reads what a stream's section begins with, unchecked: it is opened for no world. */
muster_result crossing_peek(const void *bytes, size_t count, uint32_t section, void *head, size_t size,
                            const char *what);

/* As crossing_repeat(), for ghosts, herds and observers. */
bool crossing_repeat_ghosts(struct muster_world *world, const zone_call *call, const void *bytes, size_t count);
bool crossing_repeat_herd(struct muster_world *world, const zone_call *call, const void *bytes, size_t count);
bool crossing_repeat_observer(struct muster_world *world, const zone_call *call, const void *bytes, size_t count);

#endif

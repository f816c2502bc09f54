/* world_zone.h - what a world has besides when it is a zone of a larger one (muster/zone.h). */
#ifndef WORLD_ZONE_H
#define WORLD_ZONE_H

#include "run/channels.h"
#include "run/recent.h"
#include "run/zone_ids.h"
#include "world/world.h"
#include "world/zone_spaces.h"

#include <muster/zone.h>

enum {
  ZONE_DELIVERED = 65536, /* messages that are known to have come, at most */
  ZONE_CHANNELS = 65536   /* pairs of a sender and a receiver, at either end */
};

/* Of an agent or a ghost, by index. */
typedef struct zone_row {
  uint64_t sent; /* the sequence of its last message to another zone */
  uint32_t hop;  /* how often it crossed */
  uint32_t zone; /* of a ghost: that runs it */
} zone_row;

/* A message to another zone. */
typedef struct zone_outgoing {
  muster_agent from, to;
  uint64_t sequence, follows, sent_ns;
  uint32_t zone;
  uint16_t hops; /* how often it went on behind its receiver */
  uint16_t size;
  unsigned char bytes[MUSTER_MESSAGE_BYTES_MAX];
} zone_outgoing;

/* A message that came before the one that it follows (zone_order.h). */
typedef struct zone_early {
  uint64_t frame;        /* in which it came, or was renewed: it waits on for room */
  channel *in;           /* of its sender and receiver; null: the place is free */
  uint32_t next;         /* place + 1: the next one of the same; or the next free place */
  uint32_t older, newer; /* place + 1: by these frames */
  uint32_t zero;
  zone_outgoing message; /* last: as long as it is */
} zone_early;

struct world_zone {
  struct zone_ids ids, observer_ids;
  uint32_t *observer_hops; /* by index: how often it crossed */
  zone_row *rows;
  uint64_t host_sent; /* as zone_row.sent, of the host's messages */
  int64_t offset_ns;  /* simulation time is so far ahead of that of all zones */
  zone_outgoing *queue;
  uint32_t queued;         /* of limits.sends_per_frame */
  struct recent delivered; /* by sender and sequence: the frame in which it came */
  struct channels out, in; /* of senders and of receivers that are here; the host's index is agents_max */
  zone_early *early;
  uint32_t early_count, early_high, early_free, early_oldest, early_newest; /* of limits.sends_per_frame; place + 1 */
  bool early_waits;          /* one whose turn has come waits for room in a box */
  struct zone_spaces spaces; /* named since the last look, and then */
  muster_zone_status counts;
};

/* A call between two frames, as a record keeps it. */
typedef struct zone_call zone_call;
typedef enum zone_call_kind {
  ZONE_CALL_EPOCH = 1,
  ZONE_CALL_DEPART,
  ZONE_CALL_ARRIVE,
  ZONE_CALL_LEFT,
  ZONE_CALL_GHOSTS,
  ZONE_CALL_TAKEN, /* muster_zone_messages() */
  ZONE_CALL_DELIVER,
  ZONE_CALL_HERD_DEPART,
  ZONE_CALL_HERD_ARRIVE,
  ZONE_CALL_OBSERVER_DEPART,
  ZONE_CALL_OBSERVER_ARRIVE, /* `number` and `hop`: the index that it got, and its generation */
  ZONE_CALL_OBSERVER_LEFT,
  ZONE_CALL_OFFSET /* `sent_ns`: the offset */
} zone_call_kind;

struct zone_call {
  uint32_t kind;   /* zone_call_kind */
  uint32_t number; /* a zone, or the epoch */
  uint32_t hop, whole;
  muster_agent one, other; /* the agent; or of a message the sender and the receiver; or a herd, an observer */
  uint64_t sequence, follows, sent_ns;
};

#define ZONE_OFFSET_MOST ((int64_t)1 << 61)

/* A simulation time of this zone as one of all zones, and back: not below zero. */
uint64_t zone_time_of_all(const struct muster_world *world, uint64_t own_ns);
uint64_t zone_time_of_own(const struct muster_world *world, uint64_t all_ns);

/* Reserves what a zone needs, if the world's definition says that it is one. */
void zone_create(struct muster_world *world, struct world_zone *zone);

/* Whether a call may be made that needs a zone; in a callback of no other call, and between frames unless `reads`. */
muster_result zone_check(const struct muster_world *world, const char *what, bool reads);

/* Whether a number is that of another zone. */
muster_result zone_check_other(const struct muster_world *world, const char *what, uint32_t number);

/* A record begins with the rectangle and the epoch that its world had. */
void zone_restore(struct muster_world *world, const muster_zone_def *def);

/* Applies another epoch. */
void zone_set_epoch(struct muster_world *world, uint32_t epoch);

#endif

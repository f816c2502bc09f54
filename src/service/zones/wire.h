/* service/zones/wire.h - what the process of a zone and its supervisor tell each other, over a stream socket that the
 * process inherits: it has no connections of its own.
 *
 *     supervisor                                   process
 *     BEGIN     the zone is its own                POSITIONS  how far what it restored goes
 *     OUTGOING  what its earlier lives sent        FRAME      a frame is complete
 *     INCOMING  what others sent to it             PUBLISH    to a neighbour, stored
 *     CAUGHT_UP frames may begin                   TELL       to a neighbour, may be lost
 *     ALL_CAME  that had crossed before BEGIN
 *     LEASE     it was renewed
 *     CLOCK     land time
 *     STORED    one of PUBLISH is
 *     TOLD      of TELL by a neighbour
 *     SAFE      frames that a stream has           FOLLOWED   a frame of a record was run again
 *     WANTED    a new snapshot                     STOPPED    it stands still, to be moved
 *     MOVE      it is to be moved, or not          HELD       its journal stays in one file
 *     RECORD    there is more of it
 *     DRAW      a sheet is wanted                  MAP        the sheet
 *     SPACE     in which ids are given             SPACE      another birth space is needed
 *                                                  NAMED      birth spaces that it names
 *
 * A process may be started before the zone is its own, while another node runs it: then BEGIN says that it follows. It
 * restores, runs what comes by RECORD, and waits for more, until a second BEGIN has the lease: there the record ends.
 *
 * A message is a head and bytes; both ends are of one build. Everything here is for one thread; neither end waits for
 * the other but in wire_wait(). */
#ifndef SERVICE_ZONES_WIRE_H
#define SERVICE_ZONES_WIRE_H

#include "service/zones/ground.h"
#include "service/zones/land_clock.h"
#include "service/zones/place.h"

typedef enum wire_kind {
  WIRE_BEGIN = 1, /* wire_begin */
  WIRE_OUTGOING,  /* the bytes of a pair's message; `zone` is the other one */
  WIRE_INCOMING,
  WIRE_CAUGHT_UP,
  WIRE_ALL_CAME,
  WIRE_LEASE, /* `number`: CLOCK_BOOTTIME at which the renewal was sent; `sequence`: a revision that etcd had then */
  WIRE_CLOCK, /* land_reading */
  WIRE_STORED,
  WIRE_TOLD,
  WIRE_SAFE, /* `number`: of the last of these frames; `sequence`: snapshots of the journal, of which that is stored */
  WIRE_WANTED,    /* a new snapshot of the journal */
  WIRE_MOVE,      /* `number`: a wire_move; `zone` counts these messages */
  WIRE_RECORD,    /* `number`: so many bytes the record has that is followed */
  WIRE_POSITIONS, /* wire_position of each pair, both ways */
  WIRE_FRAME,     /* wire_load; `number`: of the frame; `sequence`: snapshots that its journal has made */
  WIRE_PUBLISH,
  WIRE_TELL,
  WIRE_DRAW,     /* a sheet of the zone is wanted */
  WIRE_MAP,      /* zone_sheet */
  WIRE_FOLLOWED, /* `number`: of the last frame that was run again */
  WIRE_HELD,     /* `number`: snapshots that its journal has made, of which the last is complete; `sequence`: 1 = it has
                    no frames, since it is paused; `zone` as below */
  WIRE_STOPPED,  /* `number`: of the last frame; `sequence`: 1 = a snapshot of the journal was made behind it; `zone`
                    as in the message that it answers */
  WIRE_SPACE, /* to the process: `number`; `sequence`: so many are used. Of the process: `number`: that its world has, 0
                 = none; `sequence`: 1 = since ids rest */
  WIRE_NAMED, /* spaces_note's names, of this look and those before it (zone_births.c); `number`: a revision that etcd
                 had before; `sequence`: 1 = too many */
  WIRE_KINDS
} wire_kind;

/* What a zone does for a move. */
typedef enum wire_move {
  WIRE_MOVE_NONE = 0,     /* it runs as ever, also when it had stopped */
  WIRE_MOVE_HELD,         /* its journal goes on in one file, so that it can be followed */
  WIRE_MOVE_STOPS,        /* besides, it stands still behind the next frame */
  WIRE_MOVE_STOPS_STORED, /* and makes a snapshot then; as a paused one does in any case, which has no next frame */
  WIRE_MOVE_OVER          /* the zone is another node's, or is not followed any more: the process ends */
} wire_move;

typedef struct wire_head {
  uint32_t kind;   /* wire_kind */
  uint32_t zone;   /* the other one of a pair */
  uint64_t epoch;  /* of a message of a pair: with the number its place */
  uint64_t number; /* of a message of a pair: that of its owner's epoch; of a telling: its round */
  uint64_t sequence;
  uint64_t bytes; /* that follow */
} wire_head;

typedef struct wire_begin {
  uint64_t epoch;
  uint64_t space_frame; /* a world whose last frame this is goes on */
  uint32_t space;       /* in this birth space; 0 = it needs another one in any case */
  uint32_t spaces_used; /* of all */
  int64_t revision;     /* that etcd had */
  uint32_t restores;    /* 1: there are files, and it must go on from them */
  uint32_t follows;     /* 1: the zone is another node's still, and its record grows; no lease is in here */
  uint64_t ttl_ns;
  uint64_t leased_ns; /* CLOCK_BOOTTIME at which the lease was asked for */
  land_reading clock; /* simulation time follows it */
  zone_ground ground; /* the settings of the process have its own world alone */
} wire_begin;

static inline zone_place wire_place(const wire_head *head) {
  return (zone_place){head->epoch, head->number};
}

/* How far a restored world knows the messages of a pair: those behind this place are read. */
typedef struct wire_position {
  uint32_t zone;
  uint32_t outgoing; /* 1: from this zone to that one; 0: the other way */
  zone_place place;
} wire_position;

/* In processors: what all agents want at their wanted periods, and what the budget allows. */
typedef struct wire_load {
  double wants, has;
} wire_load;

typedef struct wire_message {
  wire_head head;
  const unsigned char *bytes; /* valid until the next call */
} wire_message;

struct wire {
  int descriptor; /* not owned; -1 = closed */
  unsigned char *in, *out;
  size_t in_count, in_at, in_room, out_count, out_at, out_room;
  bool broken; /* the other end is gone, or sent what cannot be */
};

enum { WIRE_MESSAGE_MAX = 64 << 20, WIRE_WAITING_MAX = 256 << 20 };

/* Begins with a socket, which stays the caller's. */
void wire_open(struct wire *wire, int descriptor);

/* Frees what it holds; nothing is sent any more. */
void wire_close(struct wire *wire);

/* Appends a message, which wire_flush() sends. False, and the wire is broken, when the other end has not taken
 * WIRE_WAITING_MAX bytes, or there is no memory. */
bool wire_put(struct wire *wire, wire_head head, const void *bytes);

/* Sends what can be sent at once. Returns whether nothing is left. */
bool wire_flush(struct wire *wire);

/* The next message that has come; false = none yet, or the wire is broken. */
bool wire_next(struct wire *wire, wire_message *message);

/* The same, after waiting for at most `limit_ms` (-1 = for ever), while sending what is left to send. */
bool wire_wait(struct wire *wire, int limit_ms, wire_message *message);

#endif

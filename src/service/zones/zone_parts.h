/* service/zones/zone_parts.h - what the files of a zone share: its state. Frames' thread. */
#ifndef SERVICE_ZONES_ZONE_PARTS_H
#define SERVICE_ZONES_ZONE_PARTS_H

#include "service/held.h"
#include "service/zones/pair.h"
#include "service/zones/parcel.h"
#include "service/zones/sheet.h"
#include "service/zones/spaces.h"
#include "service/zones/wire.h"
#include "service/zones/zone.h"

#include <muster/view.h>
#include <muster/zone.h>
#include <sys/queue.h>

enum { SCAN_AGENTS = 1024, PARCEL_BYTES = 1 << 19 /* a parcel of more is closed: servers take 1 MiB */ };

/* A parcel that waits until its frame is safe, or until it is stored. */
typedef struct zone_waiting {
  TAILQ_ENTRY(zone_waiting) link;
  uint32_t to;
  uint64_t number;
  held_until until;
  bool noted, sent; /* in the journal; to the supervisor */
  uint32_t looks;   /* at what is named, that have found it waiting */
  size_t bytes;
  unsigned char parcel[];
} zone_waiting;

typedef TAILQ_HEAD(zone_waiting_list, zone_waiting) zone_waiting_list;

/* A parcel of a neighbour that waits: for room, or for its time. */
typedef struct zone_held {
  STAILQ_ENTRY(zone_held) link;
  zone_place place;
  size_t bytes;
  unsigned char parcel[];
} zone_held;

/* How far a parcel was taken whose rest waits. */
typedef struct zone_part {
  zone_place place;
  uint64_t at;
} zone_part;

/* What a neighbour told of those that stand near the border, which comes in parts. */
typedef struct zone_telling {
  uint64_t epoch;       /* the highest so far */
  uint64_t round;       /* of the parts that are being gathered */
  uint32_t parts, next; /* of it */
  unsigned char *bytes; /* owned */
  size_t count, room;
  uint64_t taken_ns; /* simulation time at which its ghosts were renewed; 0 = it has none */
} zone_telling;

/* How a herd came: in which item of which parcel, by its place. */
typedef struct zone_origin {
  uint32_t zone, item;
  zone_place place;
} zone_origin;

/* A herd that came. */
typedef struct zone_herd {
  uint64_t own; /* its id here */
  zone_origin origin;
} zone_herd;

/* An agent or an observer that left in an earlier life of this zone. */
typedef struct zone_gone {
  uint64_t id;
  uint32_t hop, kind; /* PARCEL_AGENT or PARCEL_OBSERVER, whose ids may be alike */
} zone_gone;

typedef struct zone_gone_list {
  zone_gone *gone; /* owned */
  size_t count, room;
} zone_gone_list;

/* An agent that stands in a parcel that waits; 0: a herd, of whose members none is known. */
typedef struct zone_coming {
  uint64_t id;
  zone_place place; /* of the parcel */
  uint32_t link, zero;
} zone_coming;

/* An observer of a neighbour. */
typedef struct zone_watcher {
  uint64_t id;         /* where it belongs */
  muster_observer own; /* what stands for it here */
  muster_position position;
  bool told; /* it was among the last that were told */
} zone_watcher;

/* A neighbour. */
typedef struct zone_link {
  uint32_t zone;
  zone_pair in;                  /* messages from it: taken, */
  zone_part part;                /* and of the one behind them */
  zone_place given, until;       /* of the last that was given; of the last that had crossed before this life */
  STAILQ_HEAD(, zone_held) held; /* of these, in their order: they wait */
  bool full, awaits;             /* for room; for what comes from others */
  zone_pair out;                 /* messages to it: stored, as far as this zone knows */
  zone_pair kept;                /* of these: what is stored of the zone says; behind, until it has caught up */
  uint64_t numbered;             /* of the last parcel that was made for it in this epoch */
  struct parcel parcel;          /* of this frame */
  zone_telling telling;
  muster_agent *seen; /* by it: gathered in this round; owned */
  uint32_t seen_count, seen_room;
  zone_watcher *watchers; /* observers of it that see into this zone; owned */
  uint32_t watcher_count, watcher_room;
} zone_link;

/* So many looks at what is named are told together. */
enum { ZONE_LOOKS = 3 };

typedef struct zone_look {
  uint32_t count;
  bool many;
  uint32_t names[SPACES_NAMED_MAX];
} zone_look;

/* A sheet of it that is drawn. */
typedef struct zone_map {
  bool draws;
  uint32_t next; /* where it goes on: a cursor of muster_agents_raster() */
  muster_raster_cell cells[SHEET_CELLS];
} zone_map;

struct zone {
  struct service *service;
  struct wire wire;
  wire_begin lease; /* leased_ns: of the last renewal */
  uint32_t link_count;
  zone_link links[NEIGHBOURS_MAX];
  zone_waiting_list waiting;    /* in the order in which they were made */
  uint64_t stored_snapshots;    /* the newest of its journal that is; as below */
  uint64_t safe_frames;         /* that a stream has; UINT64_MAX: the journal alone decides */
  uint32_t next;                /* where the round goes on: as a cursor of muster_agents_outside() */
  uint32_t looks, looks_before; /* of the round so far, and of the one before */
  uint64_t round, round_ns;     /* its number; simulation time of its begin */
  struct parcel pack;           /* of a telling; kept for its memory */
  uint64_t told_snapshots;      /* with the last WIRE_FRAME, */
  uint64_t told_ns;             /* at that time (CLOCK_MONOTONIC) */
  bool follows, has_followed;   /* zone_follows() */
  bool goes_on;                 /* a frame was run behind a restore */
  int64_t offset_ns;            /* of its simulation time to land time: as the world has it */
  wire_move move;               /* what is to be done, */
  uint32_t move_turn;           /* of that message, */
  bool held;                    /* the journal stays in one file: that was told; */
  bool stands, stopped;         /* it stands still: that was told */
  uint64_t awaits;              /* a snapshot that was asked for is waited for before: kept.changes then; 0 = none */
  wire_position positions[2 * NEIGHBOURS_MAX]; /* when the snapshot before was complete: the newest has them */
  muster_herd next_herd;                       /* that is looked at; null = the first */
  zone_herd *herds, *gone;                     /* that came and are here; that went on in an earlier life; owned */
  uint32_t herd_count, herd_room, gone_count, gone_room;
  zone_gone_list left; /* with `gone`: of earlier lives, until this one has caught up */
  zone_coming *coming; /* those in what waited when all had come, by id; kept until it has caught up; owned */
  size_t coming_count;
  bool gives_up;            /* all that waits awaits others: the first goes on without */
  bool all_came, caught_up; /* it was given all that had crossed before; it has taken that */
  zone_published published;
  uint32_t space;          /* in which ids are given; 0 = that is not known yet */
  bool asks_space, runs;   /* for another one; it was taken over */
  uint64_t space_asked_ns; /* CLOCK_MONOTONIC */
  int64_t revision;        /* that etcd had, as it was told last */
  uint32_t look_count;
  zone_look looks_named[ZONE_LOOKS];
  zone_map map;
};

/* The neighbour of that number, or null. */
zone_link *zone_link_of(struct zone *zone, uint32_t number);

/* Its simulation time less its offset: land time, as far as it is level. */
uint64_t zone_land_ns(const struct hosted_world *world);

/* Fills in where the pairs are now; returns how many positions there are. */
uint32_t zone_positions(const struct zone *zone, wire_position positions[2 * NEIGHBOURS_MAX]);

/* zone_journal.c: notes of what has changed. The piece of a snapshot is the same records one after another. */
void zone_note_taken(struct hosted_world *world, const zone_link *link);
void zone_note_part(struct hosted_world *world, const zone_link *link);
void zone_note_stored(struct hosted_world *world, zone_link *link);
void zone_note_watcher(struct hosted_world *world, const zone_link *link, const zone_watcher *watcher, bool comes);
void zone_note_herd(struct hosted_world *world, const zone_herd *herd, bool comes);
bool zone_note_waiting(struct hosted_world *world, const zone_waiting *waiting);
void zone_drop_stored(struct zone *zone, const zone_link *link);

/* zone_catch_up.c: one left in an earlier life; all of these are known; whether one had left that comes again; all has
 * come that had crossed before; whether an agent, of which nothing is known, may yet come by another neighbour than
 * `but`; looks whether all of that was taken. */
void zone_gone_add(struct zone *zone, zone_gone gone);
void zone_gone_sort(struct zone *zone);
bool zone_gone_has(const struct zone *zone, zone_gone coming);
void zone_gone_free(struct zone *zone);
void zone_note_all_came(struct zone *zone);
bool zone_may_come(const struct zone *zone, const zone_link *but, muster_agent agent);
void zone_catch_up(struct hosted_world *world);

/* How many bytes of a neighbour's parcel were taken; 0 also of one of which nothing was. */
static inline size_t zone_part_taken(const zone_link *link, zone_place place) {
  return place_equal(link->part.place, place) ? link->part.at : 0;
}

/* zone_out.c: the parcel of this frame for a neighbour. */
struct parcel *zone_parcel(struct hosted_world *world, zone_link *link);

/* zone_out.c: tells the supervisor of the last frame, and what its journal has. */
void zone_tell_frame(struct hosted_world *world);

/* zone_move.c: a wire_move has come. Behind a frame, or where none comes: stops, if it is to, and tells how far it is.
 */
void zone_take_move(struct hosted_world *world, const wire_head *head);
void zone_end_if_over(const struct zone *zone, const wire_head *head);
void zone_move_on(struct hosted_world *world);

/* zone_out.c: a message of a pair that an earlier life of this zone sent. False: it cannot be read. */
bool zone_take_sent(struct hosted_world *world, zone_link *link, zone_place place, const void *bytes, size_t count);

/* Parcels that are not stored get numbers of this epoch. */
void zone_number_again(struct zone *zone);

/* zone_in.c: a message of a neighbour. False: it cannot be read. */
bool zone_take_parcel(struct hosted_world *world, zone_link *link, zone_place place, const void *bytes, size_t count);

/* Takes what waited, as far as its time has come, there is room, and those have come that it awaits. */
void zone_take_held(struct hosted_world *world);

/* zone_herds.c: looks for herds that leave. A herd of a parcel (false: there is no room); one that left in an earlier
 * life. What came is kept (false: no memory) until it leaves. */
void zone_scan_herds(struct hosted_world *world);
bool zone_take_herd(struct hosted_world *world, const zone_link *link, zone_place place, uint32_t number,
                    const void *bytes, size_t count);
void zone_herd_left(struct hosted_world *world, const zone_link *link, const void *bytes, size_t count);
bool zone_keep_herd(struct zone *zone, zone_herd herd);
void zone_forget_herd(struct zone *zone, uint64_t own);

/* zone_watchers.c: observers that are beyond the border leave; one of an earlier life left; one comes (false: no room).
 * Those that see into a neighbour are told to it; those of a neighbour are added, moved and removed; all of them are.
 * zone_keep_watcher: false when there is no memory. */
void zone_scan_observers(struct hosted_world *world);
void zone_observer_left(struct hosted_world *world, const zone_link *link, const void *bytes, size_t count);
bool zone_take_observer(struct hosted_world *world, const void *bytes, size_t count);
void zone_tell_observers(struct hosted_world *world, const zone_link *link, struct parcel *to);
void zone_take_observers(struct hosted_world *world, zone_link *link, const void *bytes, size_t count);
void zone_drop_observers(struct hosted_world *world, zone_link *link);
bool zone_keep_watcher(zone_link *link, zone_watcher watcher);

/* zone.c: a message of the supervisor that any moment takes, also one at which there is no world. The supervisor is
 * gone, in words. */
void zone_take_between(struct hosted_world *world, const wire_message *message);
muster_result zone_supervisor_is_gone(const struct hosted_world *world);

/* zone_births.c: before its world is created, and behind its restore: ids are given in a space of its own from there
 * on. False, MUSTER_E_SYSTEM: the supervisor is gone. */
bool zone_begin_births(struct hosted_world *world);
muster_result zone_go_on_with_births(struct hosted_world *world);

/* zone_births.c: another space is there; ids run out, perhaps; looks what it names, and tells it: when it is taken
 * over, before its first snapshot begins, and whenever a snapshot is complete. */
void zone_take_space(struct hosted_world *world, const wire_head *head);
void zone_look_at_ids(struct hosted_world *world);
void zone_tell_named(struct hosted_world *world);

/* zone_ghosts.c */
void zone_take_telling(struct hosted_world *world, zone_link *link, const void *bytes, size_t count);
void zone_tell_round(struct hosted_world *world);
void zone_expire_ghosts(struct hosted_world *world);

/* zone_map.c: a sheet is wanted, unless one is being drawn; behind a frame, the next part of it. */
void zone_begin_map(struct zone *zone);
void zone_draw_map(struct hosted_world *world);

/* Whether the round that begins, or is under way, tells a neighbour of all that it sees, and not just of those that
 * changed. They take turns, so that the rounds are alike. */
static inline bool zone_tells_all(const struct zone *zone, uint32_t link) {
  enum { ROUNDS_TO_WHOLE = 5 };
  return zone->round == 0 || (zone->round + link) % ROUNDS_TO_WHOLE == 0;
}

#endif

/* service/zones/spaces.h - the birth spaces of a zone: who gives ids, and which. Pure.
 *
 * A birth space is the upper 28 bits of an id: the number of a zone, and 14 bits, called the space here. Who is born in
 * a zone gets an id of the space in force. The fencing token of an owner (place.h) changes at every hand-over; the
 * space only where ids could be given twice, or are used up:
 *
 *     a new zone                                          takes one
 *     an owner that has the state behind the very frame
 *       behind which the owner before it closed its space goes on in it: no space is used up
 *     any other: its predecessor died, or its files are
 *       older, or what it has is of another's files       takes another one: what was born since, nobody can tell
 *     indices of ids rest (muster/zone.h)                 takes another one
 *
 * What is in force stands in etcd beside the lease, and is changed by the zone's owner alone, in transactions that ask
 * for its lease. An owner closes its space in the very transaction that gives the zone away: so there is no moment at
 * which two may give ids of it. That a space is closed counts for the next owner only, which its epoch tells; whoever
 * takes the zone and dies without a word leaves an open one.
 *
 * A space is used again when nothing names it. Each zone notes with each version that it stores which spaces it named
 * at any time between two moments, as revisions of etcd: agents, ghosts, observers, marks, messages. When there is one
 * moment in the intervals of all zones that ever were, behind the last take, and nothing crosses any more that crossed
 * at that moment, then nothing has the spaces that nobody names: an id is in a zone or crosses at any moment, and
 * nobody is born in a space that is not in force. Those in front in the order of numbers come first, round and round:
 * so an id that only a module has kept in its own state means nobody for as long as possible. */
#ifndef SERVICE_ZONES_SPACES_H
#define SERVICE_ZONES_SPACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  SPACES_MAX = 16383, /* of a zone: 1 to this */
  SPACES_WORDS = 256,
  SPACES_SWEEP = 256, /* so many used ones are looked through, whether they are free again */
  SPACE_TEXT_BYTES = 80
};

/* The space in force, as it stands in etcd. */
typedef struct zone_space {
  uint32_t space; /* 0 = none was taken yet */
  uint32_t used;  /* spaces that something may name, with this one */
  uint64_t epoch; /* of the owner that took it, or closed it */
  uint64_t frame; /* closed: behind this one */
  bool closed;
} zone_space;

/* Those that something may name. */
typedef struct zone_used {
  uint64_t bits[SPACES_WORDS];
} zone_used;

/* As text, and back: false when it is none. Bytes of any other size than zone_used's are none either. */
void space_write(const zone_space *space, char text[SPACE_TEXT_BYTES]);
bool space_read(const char *text, zone_space *space);

/* Whether the owner of an epoch goes on in the space, if its state is that behind space->frame. */
bool space_goes_on(const zone_space *space, uint64_t epoch);

/* The owner of an epoch closes it, behind a frame. */
void space_close(zone_space *space, uint64_t epoch, uint64_t frame);

/* It takes another one: the next that is free, behind the one in force. False: each may be named, and nothing has
 * changed. */
bool space_take(zone_space *space, zone_used *used, uint64_t epoch);

/* Those that were taken, where nothing is known but the one that the zone's world has: brokers that lost all. 0 = none.
 */
void spaces_begin(zone_used *used, uint32_t own);

/* How many are used. */
uint32_t spaces_count(const zone_used *used);

/* More than half is used: people are told. */
static inline bool spaces_are_half(uint32_t used) {
  return used > SPACES_MAX / 2;
}

/* ------------------------------------------------------------------------------------------------------ used again */

enum { SPACES_NAMED_MAX = 4096 };

/* What a zone notes with a version; the names follow: zone << 14 | space. */
typedef struct spaces_note {
  int64_t since, after; /* revisions: between them, nothing was named but these. since 0: that is not known */
  uint32_t count;       /* UINT32_MAX: more than SPACES_NAMED_MAX, each may be named */
  uint32_t zero;
} spaces_note;

/* A look at the notes of all zones, for one of them. */
typedef struct spaces_sweep {
  uint32_t zone;
  uint32_t zones, notes;
  bool unknown;         /* a zone's note says too little */
  int64_t since, after; /* all intervals have these in common; since above after: nothing */
  zone_used named;
} spaces_sweep;

/* Begins, behind the revision at which the zone took its space; a zone that ever was; its note. */
void sweep_begin(spaces_sweep *sweep, uint32_t zone, int64_t taken);
void sweep_add_zone(spaces_sweep *sweep);
void sweep_add_note(spaces_sweep *sweep, const void *bytes, size_t count);

/* The moment that all have in common; 0 = there is none, or not yet. */
int64_t sweep_moment(const spaces_sweep *sweep);

/* What crossed then is gone: those that nobody named are free. Returns how many these are. */
uint32_t sweep_free(const spaces_sweep *sweep, zone_space *space, zone_used *used);

#endif

/* service/zones/parcel.h - one message from a zone to another: all that crosses after a frame. Pure.
 *
 * The bytes stand in a stream, where a later build may read them: each item says its kind and its size. Numbers are
 * little-endian. What an item holds is the library's (muster/zone.h). */
#ifndef SERVICE_ZONES_PARCEL_H
#define SERVICE_ZONES_PARCEL_H

#include "service/zones/place.h"

#include <muster/common.h>

typedef enum parcel_kind {
  PARCEL_AGENT = 1, /* muster_agent_depart() */
  PARCEL_HERD,      /* muster_herd_depart() */
  PARCEL_MESSAGE,   /* a parcel_letter, and what was sent */
  PARCEL_OBSERVER   /* muster_observer_depart() */
} parcel_kind;

typedef struct parcel_head {
  unsigned char magic[4]; /* MUZP */
  uint32_t version;
  uint64_t epoch, number; /* pair.h */
  uint64_t frame;         /* of the sender */
  uint64_t sim_now_ns;    /* less the sender's offset: land time */
  zone_place birth;       /* epoch and number that it was made with: the same when it is put again under others */
} parcel_head;

/* A message of an agent. */
typedef struct parcel_letter {
  uint64_t from, to; /* agents */
  uint64_t sequence; /* of the sender's */
  uint64_t follows;  /* muster_zone_message_follows() */
  uint64_t sent_ns;
} parcel_letter;

typedef struct parcel_item {
  uint32_t kind;  /* unknown kinds are passed over, and counted */
  uint32_t bytes; /* that follow it */
} parcel_item;

/* A parcel that is being filled. */
struct parcel {
  unsigned char *bytes; /* owned */
  size_t count, room;
  size_t open; /* where the last item begins */
  bool failed; /* there was no memory */
};

/* Empties it, and writes the head. */
void parcel_begin(struct parcel *parcel, uint64_t epoch, uint64_t number, uint64_t frame, uint64_t sim_now_ns);

/* An item of bytes that come in pieces, as a muster_zone_put with the parcel as its user; or of a letter. Between
 * open and close, or undo, which takes it out again. */
void parcel_open(struct parcel *parcel, parcel_kind kind);
bool parcel_put(const void *bytes, size_t count, void *user);
void parcel_close(struct parcel *parcel);
void parcel_undo(struct parcel *parcel);

/* Whether it has any item. */
bool parcel_has_items(const struct parcel *parcel);

/* Frees its bytes, and empties it. */
void parcel_free(struct parcel *parcel);

/* Reads the head; MUSTER_E_INPUT when it is none, or of another version. */
muster_result parcel_read_head(const void *bytes, size_t count, parcel_head *head);

/* The items one after another: *at begins at 0. False behind the last, or where the bytes are damaged (*damaged). */
bool parcel_next(const void *bytes, size_t count, size_t *at, parcel_item *item, const unsigned char **item_bytes,
                 bool *damaged);

/* Gives a parcel, which was not stored yet, the epoch and number of its zone's new life. */
void parcel_renumber(void *bytes, uint64_t epoch, uint64_t number);

#endif

/* service/zones/broker.h - what the zones of a daemon need of NATS and etcd, asynchronous on the libuv loop.
 *
 * A daemon has one broker, in its supervisor. Leases, the clock, what crosses and what is stored stand in etcd, which
 * agrees on them. NATS keeps the bytes: journals and snapshots, and carries what may be lost. Its servers know nothing
 * of each other, as replicas of one stream may differ for good (tools/docs/zones.md): each has streams of its own, and
 * what a majority of the servers has is kept. Which of that counts is said by etcd alone.
 *
 *     etcd   muster/W/node/N                 incarnation, host and address of node N; put again by each renewal
 *            muster/W/zone/Z/lease           epoch, node and incarnation; put again by each renewal; of the balancer
 *                                            Z is 0; without an incarnation where it was given to that node
 *            muster/W/zone/Z/epoch           epoch, node and incarnation of the last owner; stays
 *            muster/W/zone/Z/space           the birth space in force: its number, whose epoch, how many are used; and
 * the frame behind which it was closed (spaces.h) muster/W/spaces/Z               which of them are used; put with each
 * that is taken, or is free again muster/W/named/Z                which spaces of all zones it names, with what is
 * stored muster/W/move/Z                 the node that is to have the zone; absent: it stays where it is muster/W/clock
 * land time, the leader's boot clock then, and which boot; every two seconds (land_clock.h) muster/W/stored/Z what of
 * the zone is stored muster/W/cross/B/A/E.N          what crosses from A to B: number N of A's epoch E NATS
 * muster.W.objects.NAME.V.K       stream muster-W-objects: part K of version V of a file (objects.c)
 *            muster.W.journal.NAME.V.K       stream muster-W-journal: chunk K of what follows that version
 *            muster.W.ghosts.A.B             no stream: what A tells B (telling.c)
 *            muster.W.settings               likewise: what nodes compare (told_settings.c)
 *            muster.W.nodes                  no stream: what each node tells of itself (nodes.h)
 *            muster.W.clock, muster.W.clock.N    likewise: questions for land time; answers to node N
 *
 * The streams are made where they are missing: in files, one message a subject, no age. One that is full refuses what
 * is new (discard new): dropping the oldest would lose what a zone may need, and nobody would be told.
 *
 * All functions are for the loop's thread, and all callbacks come on it, never from inside the call. A call that
 * returns MUSTER_OK calls `done` exactly once; one that is refused never does (MUSTER_E_ARGUMENT; MUSTER_E_FULL: too
 * much waits for an answer; MUSTER_E_MEMORY; MUSTER_E_STATE: the broker is closing). A `done` with a failure finds the
 * reason in muster_last_error(), with the server that it came from where that is known. Failures of servers go to the
 * log, too, at most once a minute for each cause. Bytes and texts are copied by the call; those that a callback is
 * given are valid during it. Callbacks may call everything here but broker_close(). `done` may be null
 * where it tells only how a release, publish, purge or store went. */
#ifndef SERVICE_ZONES_BROKER_H
#define SERVICE_ZONES_BROKER_H

#include "service/settings.h"
#include "service/zones/incarnation.h"
#include "service/zones/place.h"
#include "service/zones/spaces.h"

#include <uv.h>

enum {
  BROKER_ZONE_MAX = 16383,                /* zones are 1 to this; */
  BROKER_BALANCER = 0,                    /* the balancer's lease is under this number (balancer.h) */
  BROKER_MESSAGE_BYTES_MAX = 1024 * 1024, /* of one message: what servers take unless they are told otherwise */
  BROKER_SUBJECT_BYTES = 192,             /* of a subject, with its zero */
  BROKER_SERVERS_MAX = 7,                 /* of NATS */
  BROKER_CROSSING_BYTES_MAX = 768 * 1024, /* etcd takes requests of 1.5 MiB, in base64 */
  BROKER_CROSSINGS_MAX = 64,              /* etcd takes 128 requests in a transaction */
  BROKER_SENDERS_MAX = 64,                /* likewise */
  BROKER_LOOK_MS = 50,
  BROKER_CALLS_MAX = 4096 /* under way */
};

struct broker;

typedef struct broker_settings {
  char world[NAME_BYTES];     /* the large world: it prefixes keys and subjects. Letters, digits, _ and - */
  char node[NAME_BYTES];      /* this daemon: no two have the same. The same letters */
  char nats[HOSTS_BYTES];     /* URLs, comma separated: nats://HOST:PORT or tls://HOST:PORT; all daemons the same */
  char etcd[HOSTS_BYTES];     /* URLs, comma separated: http://HOST:PORT or https://HOST:PORT */
  char nats_user[NAME_BYTES]; /* "" = none */
  char nats_password_file[PATH_BYTES]; /* holds the password, which may end with a newline */
  char nats_nkey[64];                  /* the public key, U...; "" = none. Instead of user and password */
  char nats_nkey_file[PATH_BYTES];     /* holds the seed, SU... */
  char etcd_user[NAME_BYTES];          /* "" = none */
  char etcd_password_file[PATH_BYTES]; /* as that of NATS */
  char tls_ca[PATH_BYTES];             /* certificates that sign the servers', PEM; "" = those of the system */
  char tls_certificate[PATH_BYTES];    /* of this daemon, PEM; "" = none */
  char tls_key[PATH_BYTES];            /* its key, PEM */
  uint32_t answer_ms;                  /* how long a server of NATS may take; 0 = 5000. One of etcd 2 s at most */
} broker_settings;

/* Which halves answer: a majority of NATS's servers is connected and has the streams; etcd has answered with the
 * agreement of its members. */
typedef void (*broker_changed)(bool nats, bool etcd, void *user);

typedef void (*broker_done)(muster_result result, void *user);

/* Checks the settings, reads the files with passwords and keys, and connects in the background, again after each
 * failure and for ever: no server has to be there. `changed` (or null) tells each change; at first both are false. Null
 * with the reason in muster_last_error(): MUSTER_E_ARGUMENT, MUSTER_E_INPUT (a file), MUSTER_E_MEMORY, MUSTER_E_SYSTEM.
 */
struct broker *broker_open(uv_loop_t *loop, const broker_settings *settings, broker_changed changed, void *user);

/* Whether a name, of a node or a cluster, may be part of a subject and of a key. Pure. */
bool broker_name_is_good(const char *name);

/* Which incarnation of its node this is: leases are taken as that one. Before the first of them. */
void broker_set_incarnation(struct broker *broker, incarnation own);

/* The address from which etcd was asked last; "" = it has not answered yet. */
const char *broker_address(const struct broker *broker);

/* Ends everything: what waits is done with MUSTER_E_SYSTEM and readers end, all before `closed` (or null) is called;
 * then the broker is freed. Nothing of it may be called from here on. Leases are not released. Null does nothing. */
void broker_close(struct broker *broker, void (*closed)(void *user), void *user);

/* ------------------------------------------------------------------------------------------------------------ names */

enum { BROKER_HOST_BYTES = 64 };

/* Who has the name of a node. Host and address are for people: no blanks, "" = not known. */
typedef struct broker_name {
  incarnation incarnation;
  char host[BROKER_HOST_BYTES], address[BROKER_HOST_BYTES];
  int64_t revision; /* another one after each renewal; 0 = nobody has it */
} broker_name;

/* `other` is null unless the result is MUSTER_E_STATE. */
typedef void (*broker_name_done)(muster_result result, const broker_name *other, void *user);

/* Takes the name of this node, or renews it. One that an earlier run of the same state folder has is taken at once; one
 * of revision `silent`, which has stood there for a lease's whole time by this node's clock, too (0 = none). MUSTER_OK;
 * MUSTER_E_STATE: another daemon has it, which `other` tells; MUSTER_E_SYSTEM: no answer: again is harmless. */
muster_result broker_name_have(struct broker *broker, const broker_name *own, int64_t silent, broker_name_done done,
                               void *user);

/* Gives the name back, so that another daemon can have it at once. MUSTER_OK also when it was lost before. */
muster_result broker_name_release(struct broker *broker, const broker_name *own, broker_done done, void *user);

/* ----------------------------------------------------------------------------------------------------------- leases */

/* What etcd knows of a zone. */
typedef struct broker_lease {
  uint32_t zone;
  uint64_t epoch;              /* the last that was given: 1 to ZONE_EPOCH_MAX */
  int64_t revision;            /* of the lease: another one after each renewal; 0 = the zone is free */
  char owner[NAME_BYTES];      /* the node that has the lease; "" = none */
  char last_owner[NAME_BYTES]; /* the node that had the last epoch: after a take, that of the one before it */
  incarnation owned_by;        /* which of that node has the lease; none = it was given to that node */
  incarnation last_owned_by;   /* which of that node had the last epoch, likewise */
  zone_space space;            /* in force when it was taken */
} broker_lease;

/* `lease` is null unless the result is MUSTER_OK or MUSTER_E_STATE. */
typedef void (*broker_lease_done)(muster_result result, const broker_lease *lease, void *user);

/* Takes the lease of a zone with a new epoch, one above the last and `above` (0 = any), and reads it back. With
 * `own_again` a lease that this incarnation of the node has is replaced, or an earlier one of the same state folder,
 * which has ended, or one that was given to this node; that of another daemon of the same name is not. `silent`: a
 * revision that has stood there for a lease's whole time, by this node's clock, since an answer had told of it: its
 * owner has renewed nothing since, and stands still; one of that revision is replaced, too. 0 = none. MUSTER_OK;
 * MUSTER_E_STATE: another has it, and `lease` tells which (its epoch is the last given); MUSTER_E_FULL: the zone has
 * used up its epochs; MUSTER_E_SYSTEM: no answer. After the last the lease may have been taken all the same: take it
 * with `own_again`. The time from which it counts is that before the call. */
muster_result broker_lease_take(struct broker *broker, uint32_t zone, bool own_again, int64_t silent, uint64_t above,
                                broker_lease_done done, void *user);

/* Renews a lease that was taken. MUSTER_OK: it holds for its time from the moment BEFORE this call; MUSTER_E_STATE: it
 * is lost, for good; MUSTER_E_SYSTEM: no answer: try again. */
muster_result broker_lease_renew(struct broker *broker, const broker_lease *lease, broker_done done, void *user);

/* Ends a lease, so that others can take it at once, and closes its birth space with it (null: that stays open).
 * MUSTER_OK also when it has ended before; MUSTER_E_SYSTEM: no answer: release it again, or others wait for its time.
 */
muster_result broker_lease_release(struct broker *broker, const broker_lease *lease, const zone_space *closed,
                                   broker_done done, void *user);

/* Gives a lease to another node, which takes it with `own_again` at once, and closes its birth space as above. Others
 * see a lease of that node that is not renewed: they may take it as after its death. MUSTER_OK; MUSTER_E_STATE: it was
 * given before, or is lost: this node's it is no more; MUSTER_E_SYSTEM: no answer: it may have been given all the same,
 * so its owner may not go on, but give it again. */
muster_result broker_lease_give(struct broker *broker, const broker_lease *lease, const char *node,
                                const zone_space *closed, broker_done done, void *user);

/* Reads what is known of all zones that ever had an owner, by zone, then `done`. One request. */
muster_result broker_leases_read(struct broker *broker, void (*each)(const broker_lease *lease, void *user),
                                 broker_done done, void *user);

/* `space` is null unless the result is MUSTER_OK: as it is in force now. */
typedef void (*broker_space_done)(muster_result result, const zone_space *space, void *user);

/* What a zone asks for that needs another birth space. */
typedef struct broker_space_wish {
  uint64_t unborn; /* the epoch of an owner that gave no id: its space serves, if it is in force still; 0 = none */
  uint32_t own;    /* the space that its world has: not that one; 0 = none */
} broker_space_wish;

/* Takes another birth space for a zone, as its owner. MUSTER_OK; MUSTER_E_STATE: the lease is lost, for good;
 * MUSTER_E_FULL: each of its spaces may be named; MUSTER_E_SYSTEM: no answer: again is harmless. Two requests. */
muster_result broker_space_take(struct broker *broker, const broker_lease *lease, const broker_space_wish *wish,
                                broker_space_done done, void *user);

/* Looks which spaces of a zone nothing names any more, as its owner, and notes that they are free. MUSTER_OK, also when
 * none are; MUSTER_E_STATE and MUSTER_E_SYSTEM as above. Three requests at most, one of them of all zones' notes. */
muster_result broker_space_sweep(struct broker *broker, const broker_lease *lease, broker_space_done done, void *user);

/* A revision that etcd had when its last answer came, or before; 0 = none has come. */
int64_t broker_revision(const struct broker *broker);

/* The note of land time; `text` is null when there is none. */
typedef void (*broker_clock_done)(muster_result result, const char *text, void *user);

/* Reads it. MUSTER_E_SYSTEM: no answer. */
muster_result broker_clock_read(struct broker *broker, broker_clock_done done, void *user);

/* Puts it, as the owner of a lease; where it `is_new`, only if there is none, and with the format that the cluster
 * begins with. MUSTER_OK; MUSTER_E_STATE: the lease is lost, or there is one; MUSTER_E_SYSTEM: no answer. */
muster_result broker_clock_put(struct broker *broker, const broker_lease *lease, const char *text, bool is_new,
                               broker_done done, void *user);

/* ------------------------------------------------------------------------------------------------------------ moves */

/* Orders that a zone be moved to a node (of a name as in the settings; "" takes the order back). The owner and that
 * node carry it out; it is removed when the node has the zone, or when the owner gives it up. Unlike a lease, an order
 * may be put by anybody, and the last one counts. MUSTER_E_SYSTEM: no answer: again is harmless. `done` may be null. */
muster_result broker_move_want(struct broker *broker, uint32_t zone, const char *node, broker_done done, void *user);

/* Reads all orders, in no order of zones, then `done`. One request, of as many keys as there are orders. */
muster_result broker_moves_read(struct broker *broker, void (*each)(uint32_t zone, const char *node, void *user),
                                broker_done done, void *user);

/* Removes, as the owner of a zone, the order that it be moved to this node: not one that was given since for another.
 * MUSTER_OK: it is not there any more; MUSTER_E_STATE: the lease is lost, or the order is another; MUSTER_E_SYSTEM: no
 * answer: again is harmless. `done` may be null. */
muster_result broker_move_end(struct broker *broker, const broker_lease *lease, const char *node, broker_done done,
                              void *user);

/* -------------------------------------------------------------------------------------------------------- crossings */

/* What crosses from zone to zone stands in etcd, too: who has an agent follows from it. The owner of the
 * lease alone can put, in one transaction with the question whether it still is: so no message of an earlier owner
 * comes behind the begin of a new one. */
typedef struct broker_message {
  uint32_t to;     /* the zone that it is for */
  uint64_t number; /* in this epoch of the pair */
  const void *bytes;
  size_t count;
} broker_message;

/* Puts messages of the lease's zone, all or none: at most BROKER_CROSSINGS_MAX, of BROKER_CROSSING_BYTES_MAX together;
 * the same numbers again change nothing. Those of a pair in their order, and one call after the other. MUSTER_OK;
 * MUSTER_E_STATE: the lease is lost, for good; MUSTER_E_SYSTEM: no answer: put them again. */
muster_result broker_cross(struct broker *broker, const broker_lease *lease, const broker_message *messages,
                           uint32_t count, broker_done done, void *user);

typedef void (*broker_crossing)(uint32_t from, zone_place place, const void *bytes, size_t count, void *user);

/* Gives what stands from a zone to another behind a place, in order, as of now; then `done`. With the lease of `from`
 * taken before, that is all that its earlier owners have put. */
muster_result broker_crossed(struct broker *broker, uint32_t from, uint32_t to, zone_place behind, broker_crossing each,
                             broker_done done, void *user);

/* A zone that something comes from: what stands behind that place; none = all. */
typedef struct broker_sender {
  uint32_t from;
  zone_place behind;
} broker_sender;

typedef struct broker_arrivals broker_arrivals;

/* Gives what stands for a zone, and what comes, from each sender in order; once, but after a failure perhaps again.
 * Looks each BROKER_LOOK_MS, by one request that costs etcd what is new, however much stands there. Ends with
 * broker_stop_arrivals(), also from inside `each`, or the broker. At most BROKER_SENDERS_MAX. Null: MUSTER_E_MEMORY. */
broker_arrivals *broker_await_arrivals(struct broker *broker, uint32_t to, const broker_sender *senders, uint32_t count,
                                       broker_crossing each, void *user);

/* Whether all has been given that stood there when it began. */
bool broker_arrivals_all_came(const broker_arrivals *arrivals);
void broker_stop_arrivals(broker_arrivals *arrivals);

/* Removes what stands from the lease's zone to another, up to a place, if the lease still holds. MUSTER_E_SYSTEM: no
 * answer; again is harmless. */
muster_result broker_forget(struct broker *broker, const broker_lease *lease, uint32_t to, zone_place through,
                            broker_done done, void *user);

/* Notes, as the owner of a zone, what of it is stored, and which birth spaces that names (a spaces_note with its names;
 * null = that is not known): its next owner begins with nothing older, and what that covers may be forgotten.
 * MUSTER_OK; MUSTER_E_STATE: the lease is lost, for good; MUSTER_E_SYSTEM: no answer: note it again.
 */
muster_result broker_note_stored(struct broker *broker, const broker_lease *lease, const void *bytes, size_t count,
                                 const void *named, size_t named_count, broker_done done, void *user);

/* `bytes` is null when nothing was noted. */
typedef void (*broker_stored)(muster_result result, const void *bytes, size_t count, void *user);

/* Reads the note of any zone. */
muster_result broker_read_stored(struct broker *broker, uint32_t zone, broker_stored take, void *user);

/* ----------------------------------------------------------------------------------------------------- what is kept */

typedef enum broker_stream { BROKER_JOURNAL, BROKER_OBJECTS, BROKER_STREAMS } broker_stream;

/* Keeps a message, of at most BROKER_MESSAGE_BYTES_MAX, as the one of its name, version and number. MUSTER_OK: a
 * majority of the servers has it, in its files, if not on its disks yet; MUSTER_E_FULL: too many have no room;
 * MUSTER_E_SYSTEM: too few have answered, and it may be kept all the same, or by less than a majority. Again with the
 * same bytes is harmless; other bytes are forbidden. MUSTER_E_STATE from the call: too few servers can be asked. The
 * bytes are copied once for each server; calls go side by side. */
muster_result broker_keep(struct broker *broker, broker_stream stream, const char *name, zone_place version,
                          uint32_t number, const void *bytes, size_t count, broker_done done, void *user);

/* `bytes` belong to the callee during the call; null unless MUSTER_OK. */
typedef void (*broker_found)(muster_result result, const void *bytes, size_t count, void *user);

/* Finds what is kept, by the first server that has it. MUSTER_E_STALE: a majority has none: what was kept before the
 * call is always found, and what less than a majority has, perhaps; MUSTER_E_SYSTEM: too few have answered. Refused as
 * broker_keep(). */
muster_result broker_find(struct broker *broker, broker_stream stream, const char *name, zone_place version,
                          uint32_t number, broker_found found, void *user);

/* How far each server's streams have come, as far as this broker has seen in the connection that it has: one that comes
 * back without its disk counts from 1 again. */
typedef struct broker_ends {
  uint64_t last[BROKER_SERVERS_MAX][BROKER_STREAMS];
  uint64_t connections[BROKER_SERVERS_MAX]; /* so many there were */
} broker_ends;

/* As they are now. */
void broker_read_ends(const struct broker *broker, broker_ends *ends);

/* Removes what was kept under a name before `ends` were read, of all versions: nothing that was kept since, by anybody.
 * As far as the servers answer, and as this broker knew how far they had come: the next removal goes on. */
void broker_remove(struct broker *broker, const char *name, const broker_ends *ends);

/* ---------------------------------------------------------------------------------------------------------- objects */

/* A file that is kept. Whoever fetches it must know this of it. */
typedef struct broker_object {
  zone_place version;       /* one that no other file of this name had: the epoch and a count; none = there is none */
  uint64_t bytes, checksum; /* of the file; XXH3 */
} broker_object;

typedef void (*broker_object_done)(muster_result result, const broker_object *object, void *user);

/* Keeps a file of any size under a name (letters, digits, _ and -), and tells what it was. It is read by other threads
 * and must not change until `done`: MUSTER_OK; MUSTER_E_INPUT: the file; else as broker_keep(). */
muster_result broker_store(struct broker *broker, const char *name, zone_place version, const char *path,
                           broker_object_done done, void *user);

/* Reads it into a file: a new one beside `path`, checked and synced, is renamed to it at the end. MUSTER_OK;
 * MUSTER_E_STALE: a part of it is not kept; MUSTER_E_INPUT: what is kept is damaged; MUSTER_E_SYSTEM: too few servers
 * have answered, or the file cannot be written. */
muster_result broker_fetch(struct broker *broker, const char *name, const broker_object *object, const char *path,
                           broker_object_done done, void *user);

/* ------------------------------------------------------------------------------------------------- what may be lost */

/* Sends to those that listen now; nobody is told whether any did. `turn` says over which of the servers: those of one
 * turn come in their order, unless a connection breaks. A message is dropped when no server is connected or too much
 * waits. */
void broker_tell(struct broker *broker, uint64_t turn, const char *subject, const void *bytes, size_t count);

typedef struct broker_listener broker_listener;
typedef void (*broker_told)(const void *bytes, size_t count, void *user);

/* Gives what is told on a subject, which may have wildcards; turns perhaps in another order.
 * Ends with broker_stop_listening(), not from inside `each`, or the broker. Null: MUSTER_E_MEMORY, MUSTER_E_STATE. */
broker_listener *broker_listen(struct broker *broker, const char *subject, broker_told each, void *user);

/* Null does nothing. */
void broker_stop_listening(broker_listener *listener);

#endif

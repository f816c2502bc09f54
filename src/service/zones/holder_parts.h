/* service/zones/holder_parts.h - what the files of the holder share. Loop's thread. */
#ifndef SERVICE_ZONES_HOLDER_PARTS_H
#define SERVICE_ZONES_HOLDER_PARTS_H

#include "service/journals.h"
#include "service/zones/atlas.h"
#include "service/zones/broker.h"
#include "service/zones/ground.h"
#include "service/zones/holder.h"
#include "service/zones/land_clock.h"
#include "service/zones/pair.h"
#include "service/zones/wire.h"

#include <sys/queue.h>

typedef enum holding_stage {
  HOLDING_IDLE = 0,
  HOLDING_ASKING,
  HOLDING_FETCHING,
  HOLDING_STARTING, /* its process was started, and has not told its positions yet */
  HOLDING_READING,
  HOLDING_RUNNING,
  HOLDING_GIVING, /* its process stands still for good: the lease is given to another node, or was */
  HOLDING_STORING /* its process has ended in order, and its last state is being stored */
} holding_stage;

/* A parcel that is not stored yet, for as long as that takes. */
typedef struct holding_parcel {
  STAILQ_ENTRY(holding_parcel) link;
  uint64_t number;
  size_t bytes;
  unsigned char parcel[];
} holding_parcel;

typedef STAILQ_HEAD(holding_parcels, holding_parcel) holding_parcels;

/* A neighbour of a zone that this daemon runs. */
typedef struct holding_link {
  struct holding *holding;
  uint32_t zone;
  char ghosts_out[BROKER_SUBJECT_BYTES];
  zone_place out_from; /* what it sent up to this place its process knows */
  bool read;           /* the rest of that */
  broker_listener *ghosts;
  holding_parcels waiting;           /* not stored */
  bool asked;                        /* a call has no answer yet */
  uint32_t crossing;                 /* of those that wait, so many are being put */
  wire_position out_known, in_known; /* that the process told last */
} holding_link;

/* The file that is stored: a snapshot of a journal, and its record so far. */
typedef struct stored_head {
  uint64_t number; /* of the journal's files */
  uint64_t snapshot_bytes, journal_bytes;
  uint64_t frames; /* that the process had told of */
} stored_head;

/* What etcd knows of it, once it is kept, and how far it has the messages of each pair. */
typedef struct stored_note {
  broker_object object; /* no version: nothing is stored */
  stored_head head;
  uint32_t count, stored_s; /* land time, in seconds */
  wire_position positions[2 * NEIGHBOURS_MAX];
} stored_note;

/* How far a node is that wants the zone of another (holder_follow.c). */
typedef enum follow_stage {
  FOLLOW_NONE = 0,
  FOLLOW_FETCHING, /* what is stored, and its chunks */
  FOLLOW_RUNNING,  /* its process runs the frames that come */
  FOLLOW_ENDING    /* the lease is this node's: what is left of the record is read */
} follow_stage;

typedef struct holding_follow {
  follow_stage stage;
  bool failed;            /* its process has ended: this order is not followed any more */
  bool near;              /* its process has run all that was there: the lease may come now */
  bool noted, read, same; /* in the end: what is stored is known; the record is read; it is the one that was followed */
  uint64_t frame;         /* the last that its process has run */
  uint32_t next;          /* chunk that is read next */
} holding_follow;

/* A look of its process at what is named, as it was told. */
typedef struct holding_look {
  uint64_t told_ns; /* CLOCK_BOOTTIME; 0 = there was none */
  int64_t revision; /* that etcd had later; 0 = not known yet */
} holding_look;

typedef struct holding_named {
  spaces_note note;
  uint32_t names[SPACES_NAMED_MAX];
} holding_named;

enum { HOLDING_LOOKS = 3 }; /* as the process tells together */

/* The birth spaces of a zone that this daemon runs (holder_births.c). */
typedef struct holding_births {
  zone_space space;          /* in force, as etcd has it */
  bool wanted, asks;         /* its process needs another one; a call has no answer yet */
  bool swept;                /* since there was none to be had */
  bool half_told, lack_told; /* the log has told that half is used; that none is free */
  uint32_t own;              /* that its world has */
  uint64_t unborn;           /* the epoch in which the space was taken, as long as its process has told of no frame */
  uint64_t swept_ns;         /* CLOCK_BOOTTIME */
  holding_look looks[HOLDING_LOOKS]; /* the last first */
  holding_look storing_look;         /* the first of those in what is being stored */
  holding_named told, storing;       /* the newest; that of what is being stored */
} holding_births;

/* How far a zone is that is to be moved away (holder_moves.c). */
typedef enum move_stage {
  MOVE_NONE = 0,
  MOVE_FOLLOWED, /* its journal stays in one file; the node that wants it comes close */
  MOVE_STOPPING, /* it stops, and all that it did is kept */
  MOVE_STORING,  /* it has stopped, and is being stored */
  MOVE_GIVING,   /* the lease is being given: it can not go on here */
  MOVE_GIVEN,
  MOVE_OVER /* it was given up */
} move_stage;

typedef struct holding_move {
  move_stage stage;
  char to[NAME_BYTES];
  uint64_t since_ns, stop_ns; /* CLOCK_MONOTONIC: the order was seen; the zone was told to stop */
  uint64_t frame;             /* behind which it has stopped, */
  bool stopped, stores;       /* if it has; the store under way has that */
  bool held, paused;          /* its journal stays in one file; it has no frames now, */
  uint64_t snapshots;         /* behind so many snapshots */
  uint64_t behind;            /* frames, of the other node, as it told last; UINT64_MAX = it told nothing */
  broker_listener *listener;
} holding_move;

/* A world that is a zone. */
struct holding {
  struct holder *holder;
  world_process *process;
  zone_ground ground;
  holding_stage stage;
  uint32_t tenure; /* counts them: an answer to an earlier one is late */
  broker_lease lease;
  bool leased;        /* as far as this daemon knows */
  uint64_t leased_ns; /* CLOCK_BOOTTIME at which the lease was asked for last */
  bool renewing;
  uint32_t renewals_at_start;
  uint64_t asked_ns;           /* the take or the renewal under way */
  bool asks;                   /* a take is */
  bool stands_by, restores;    /* until a person says otherwise; a person has: from this node's files */
  bool restorable;             /* it stands by for that */
  char told_owner[NAME_BYTES]; /* that the log has told of */
  uint64_t above;              /* the next epoch is above this, too: of files that are restored */
  int64_t seen_revision;       /* of the owner's lease, */
  uint64_t seen_ns;            /* CLOCK_BOOTTIME since which it has not changed */
  uv_timer_t timer;
  uv_poll_t poll;
  bool polls;
  int socket, other; /* the process's end, until it is started; -1 = none */
  struct wire wire;
  uint32_t link_count;
  holding_link links[NEIGHBOURS_MAX];
  broker_arrivals *arrivals;         /* null = none yet */
  bool all_came;                     /* of these, what had crossed before; the process was told */
  bool crosses;                      /* messages are being put */
  uint64_t frames, snapshots;        /* that the process told last */
  double load;                       /* nodes.h: of this tenure's frames, a mean over some seconds */
  uint64_t load_ns;                  /* CLOCK_BOOTTIME of the last one; 0 = there was none */
  char path[JOURNALS_PATH_BYTES];    /* of its journal's files */
  bool storing, store_again, stored; /* stored: once in this tenure */
  uint64_t stored_ns, storing_snapshots, wanted_ns;
  uint32_t store_count;
  stored_note storing_note, stored_note; /* that is being stored; that etcd has */
  broker_ends storing_ends;              /* what was kept before is not needed once it is stored */
  holding_births births;
  bool brings_again;                    /* the files were not there yet */
  bool fetching;                        /* a file is being fetched, or unpacked, perhaps for nobody any more */
  bool has_files;                       /* of its own, which may be older than what is stored */
  char name[32];                        /* of the object */
  uint64_t journal_file, journal_at;    /* the file whose bytes are streamed, and how many have been */
  uint32_t journal_chunk;               /* so many chunks follow the version that is stored */
  int journal_descriptor;               /* of it; -1 = none */
  uint64_t file_snapshots, file_frames; /* frames that were told while the journal had so many snapshots are in it: up
                                           to this one */
  bool journal_busy;                    /* a chunk has no answer yet, */
  size_t chunk_bytes;                   /* this one; it stays the same until it is kept. 0 = none */
  uint64_t chunk_frames;
  struct journal_reading *journal_reading;    /* of what earlier owners have streamed */
  uint64_t safe_frames;                       /* that the process was told */
  char wanted[NAME_BYTES], found[NAME_BYTES]; /* the node that is to have it; "" = none. As the look under way found */
  holding_move move;
  uint32_t move_turn; /* counts what the process was told of moves: an answer to an earlier one is late */
  holding_follow follow;
  uv_timer_t follow_timer; /* the next look for a chunk */
  bool dropped;            /* a process that followed was asked to end, */
  uint64_t dropped_ns;     /* at this time (CLOCK_MONOTONIC) */
};

struct balancer; /* balancer.h */

enum { NAME_WORDS_BYTES = 320 };

/* The name of this node (holder_name.c). */
typedef struct holder_name {
  uv_timer_t timer;
  int lock; /* the file in its state folder; -1 = not locked yet */
  broker_name own;
  bool has, asks;                          /* it, as far as is known; a call has no answer yet */
  int64_t seen_revision;                   /* of another's, */
  uint64_t seen_ns;                        /* CLOCK_BOOTTIME since which it has not changed */
  char words[NAME_WORDS_BYTES];            /* why it has not; "" = it has */
  void (*released)(struct holder *holder); /* null = nobody waits for that */
} holder_name;

/* Land time, as far as this node knows it (holder_clock.c). */
typedef struct holder_clock {
  uv_timer_t timer;
  land_clock clock;
  uint64_t turns;
  bool asks, is_new; /* etcd, which has not answered yet; it has no note: nothing runs before the first is there */
  char boot[LAND_BOOT_BYTES];
} holder_clock;

struct holder {
  uv_loop_t *loop;
  struct settings settings;
  struct processes *processes;
  struct broker *broker;
  struct balancer *balancer;
  uv_prepare_t flush;
  uv_timer_t moves; /* the next look for orders */
  holder_name name;
  holder_clock clock;
  bool nats, etcd, closing;
  uint32_t count;
  struct holding holdings[WORLDS_MAX];
  struct atlas atlas;
  struct told_settings *told; /* null = no memory */
  void (*idle)(void *user);
  void *user;
  void (*closed)(void *user);
  void *closed_user;
};

/* A call to the broker on behalf of a tenure; freed by its answer. */
typedef struct holding_call {
  struct holding *holding;
  holding_link *link;
  uint32_t tenure;
} holding_call;

/* Null: no memory. */
holding_call *holding_call_begin(struct holding *holding, holding_link *link);

/* Frees the call; false: its tenure is over, and the answer comes too late. */
bool holding_call_end(holding_call *call);

/* Sends to its process. */
void holding_put(struct holding *holding, wire_head head, const void *bytes);

/* holder.c: the next try of what the stage does, so much later. For the lease of a zone: at once, and often, or when it
 * is asked for already, behind that. */
void holding_later(struct holding *holding, uint64_t ms);
void holding_ask_soon(struct holding *holding);

/* Whether its lease was not renewed in time: its process runs no frame. */
bool holding_stands_still(const struct holding *holding);

/* Why the zone does not run here, for people: something is awaited or wrong; or, with `elsewhere`, nothing is, since
 * another node runs it. */
void holding_tell(struct holding *holding, bool elsewhere, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* holder_pairs.c: what was sent, what comes, what goes. */
void pairs_open(struct holding *holding);
void pairs_read(struct holding *holding);
void pairs_take_message(struct holding *holding, const wire_message *message);
void pairs_close(struct holding *holding);
void pairs_publish(struct holding *holding);
void pairs_tell_all_came(struct holding *holding);
void pairs_fill_note(const struct holding *holding, stored_note *note);
void pairs_cover(struct holding *holding);

/* holder_files.c: the files of a zone, from and to the object store. */
void stored_bring(struct holding *holding);
void stored_bring_again(struct holding *holding);
void stored_put(struct holding *holding);
void stored_want(struct holding *holding);
void stored_follow(struct holding *holding, const stored_note *note);

/* holder_births.c: the zone is this node's; its process asks, or tells; a frame of it is complete; its lease was
 * renewed by a request of that time; a version is being stored, and is; each turn. `births_close`: the space as it is
 * closed behind a frame; null = it stays open. */
void births_begin(struct holding *holding);
void births_take_message(struct holding *holding, const wire_message *message);
void births_take_renewal(struct holding *holding, uint64_t asked_ns);
void births_store(struct holding *holding);
size_t births_named_bytes(struct holding *holding);
void births_stored(struct holding *holding);
void births_turn(struct holding *holding);
const zone_space *births_close(struct holding *holding, uint64_t frame);

/* holder_folder.c: the newest number of its files; false = there are none. Removes them: another node had the zone
 * since. Whether a process died while it ran their frames again. */
bool stored_newest(const struct holding *holding, uint64_t *number);
void stored_remove(const struct holding *holding);
bool stored_are_replaying(const struct holding *holding);

/* Files that are being brought lack what was safe: until they are whole, another file says so. */
bool stored_note_partial(const struct holding *holding);
bool stored_are_partial(const struct holding *holding);
void stored_are_whole(const struct holding *holding);

/* A text that changes with each start of the machine; "" = it is not known. */
void stored_read_boot(char boot[LAND_BOOT_BYTES]);

/* The epoch in which this node had the zone last, as it noted beside the files; 0 = never. And whether that was since
 * the machine was started. */
uint64_t stored_read_epoch(const struct holding *holding, bool *this_boot);
void stored_write_epoch(const struct holding *holding);

/* A new file, or an old one that is emptied; -1 with errno. */
int stored_create_file(const char *name);

/* holder_journal.c: the journal's stream; and what it has behind stored_note, into this node's files. */
void journal_stream_read(struct holding *holding);
void journal_stream_read_on(struct holding *holding, uint32_t next, uint32_t width);
void journal_stream_leave(struct holding *holding);
void journal_stream_begin(struct holding *holding);
void journal_stream_stored(struct holding *holding);
void journal_stream_go_on(struct holding *holding);
void journal_stream_end(struct holding *holding);

/* holder_clock.c: begins to ask for land time; whether it is known; land time then. */
bool clock_open(struct holder *holder);
bool clock_is_known(const struct holder *holder);
uint64_t clock_land(const struct holder *holder);

/* holder_name.c: begins to ask for the node's name; gives it back, and calls back, within a second; once the loop has
 * ended. */
bool names_open(struct holder *holder);
void names_release(struct holder *holder, void (*released)(struct holder *holder));
void names_free(struct holder *holder);

/* holder_moves.c: orders that zones be moved, and what their owner does. Looks for orders from time to time; the zone's
 * process tells that it is held, or has stopped; something has become safe, or stored, or has an answer; the tenure is
 * over. `moves_turn`: of a zone that is given away. */
bool moves_open(struct holder *holder);
void moves_take_told(struct holding *holding, const wire_head *head);
void moves_go_on(struct holding *holding);
void moves_turn(struct holding *holding);
void moves_end(struct holding *holding);
void moves_name(const struct holding *holding, char subject[BROKER_SUBJECT_BYTES]);

/* What the node that follows tells the owner, again and again. */
typedef struct follow_told {
  char node[NAME_BYTES];
  zone_place version; /* that is followed, and the last frame of it; none = it does not, yet */
  uint64_t frame;
} follow_told;

/* holder_follow.c: what the node does that wants a zone. Looks after it; its files are there; more of the record is; it
 * has no more now; it cannot go on; its process has run a frame, or ended. `follow_take`: the lease is this node's;
 * false = nothing was followed. `follow_lingers`: whether a process that followed has not ended yet;
 * `follow_forget`: it has. */
void follow_look(struct holding *holding);
void follow_files(struct holding *holding);
void follow_wrote(struct holding *holding);
void follow_read(struct holding *holding);
void follow_drop(struct holding *holding, const char *why);
void follow_forget(struct holding *holding);
void follow_take_frame(struct holding *holding, uint64_t frame);
bool follow_take(struct holding *holding);
void follow_lost_process(struct holding *holding);
bool follow_lingers(struct holding *holding);
void follow_end(struct holding *holding);

/* holder.c: the files are there, and the process may start; its last state is stored. The same in two parts: its socket
 * is there; the zone is its own from here on. */
void holding_start(struct holding *holding, bool restores);
bool holding_open_wire(struct holding *holding);
void holding_hand_over(struct holding *holding, bool restores);
void holding_stored(struct holding *holding);

/* holder_open.c: the zone of that process, or of that number; null: it is none of these. */
struct holding *holder_find(struct holder *holder, const world_process *process);
struct holding *holder_find_zone(struct holder *holder, uint32_t zone);

/* holder.c: what cannot be brought: the zone is lost, or not followed. */
void holding_bring_failed(struct holding *holding, const char *why);

/* holder.c: another epoch is needed; the zone is given back until a person starts its world. */
void holding_ask_again(struct holding *holding);
void holding_stand_by(struct holding *holding, const char *why);

/* holder.c: its process must not go on, for a reason that is told. */
void holding_lose(struct holding *holding, const char *why);

/* holder.c: the wire is closed. */
void holding_close_socket(struct holding *holding);

/* holder.c: its tenure is over; what was put is sent before the loop waits. */
void holding_end(struct holding *holding);
void holder_flush(uv_prepare_t *prepare);

#endif

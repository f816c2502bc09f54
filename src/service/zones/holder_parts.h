/* service/zones/holder_parts.h - what the files of the holder share. Loop's thread. */
#ifndef SERVICE_ZONES_HOLDER_PARTS_H
#define SERVICE_ZONES_HOLDER_PARTS_H

#include "service/journals.h"
#include "service/zones/atlas.h"
#include "service/zones/broker.h"
#include "service/zones/ground.h"
#include "service/zones/holder.h"
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
  HOLDING_STORING /* its process has ended in order, and its last state is being stored */
} holding_stage;

/* A parcel that is not stored yet, for as long as that takes. */
typedef struct holding_parcel {
  STAILQ_ENTRY(holding_parcel) link;
  uint32_t number;
  size_t bytes;
  unsigned char parcel[];
} holding_parcel;

typedef STAILQ_HEAD(holding_parcels, holding_parcel) holding_parcels;

/* A neighbour of a zone that this daemon runs. */
typedef struct holding_link {
  struct holding *holding;
  uint32_t zone;
  char ghosts_out[BROKER_SUBJECT_BYTES];
  uint64_t out_from; /* what it sent up to this place its process knows */
  bool read;         /* the rest of that */
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
  uint32_t count, stored_s; /* CLOCK_REALTIME, in seconds */
  wire_position positions[2 * NEIGHBOURS_MAX];
} stored_note;

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
  bool stands_by, restores;    /* until a person says otherwise; a person has: from this node's files */
  bool restorable;             /* it stands by for that */
  char told_owner[NAME_BYTES]; /* that the log has told of */
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
  char path[JOURNALS_PATH_BYTES];    /* of its journal's files */
  bool storing, store_again, stored; /* stored: once in this tenure */
  uint64_t stored_ns, storing_snapshots, wanted_ns;
  uint32_t store_count;
  stored_note storing_note, stored_note; /* that is being stored; that etcd has */
  broker_ends storing_ends;              /* what was kept before is not needed once it is stored */
  bool brings_again;                     /* the files were not there yet */
  bool has_files;                        /* of its own, which may be older than what is stored */
  char name[32];                         /* of the object */
  uint64_t journal_file, journal_at;     /* the file whose bytes are streamed, and how many have been */
  uint32_t journal_chunk;                /* so many chunks follow the version that is stored */
  int journal_descriptor;                /* of it; -1 = none */
  uint64_t file_snapshots, file_frames;  /* frames that were told while the journal had so many snapshots are in it: up
                                            to this one */
  bool journal_busy;                     /* a chunk has no answer yet, */
  size_t chunk_bytes;                    /* this one; it stays the same until it is kept. 0 = none */
  uint64_t chunk_frames;
  struct journal_reading *journal_reading; /* of what earlier owners have streamed */
  uint64_t safe_frames;                    /* that the process was told */
};

struct holder {
  uv_loop_t *loop;
  struct settings settings;
  struct processes *processes;
  struct broker *broker;
  uv_prepare_t flush;
  bool nats, etcd, has_clock, closing;
  int64_t offset_ns;
  uint32_t count;
  struct holding holdings[WORLDS_MAX];
  struct atlas atlas;
  struct told_settings *told; /* null = no memory */
  void (*idle)(void *user);
  void *user;
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

/* holder.c: the next try of what the stage does, so much later. */
void holding_later(struct holding *holding, uint64_t ms);

/* Whether its lease was not renewed in time: its process runs no frame. */
bool holding_stands_still(const struct holding *holding);

/* Why the zone does not run here, for people. */
void holding_tell(struct holding *holding, const char *format, ...) __attribute__((format(printf, 2, 3)));

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
bool stored_newest(const struct holding *holding, uint64_t *number);

/* holder_journal.c: the journal's stream; and what it has behind stored_note, into this node's files. */
void journal_stream_read(struct holding *holding);
void journal_stream_begin(struct holding *holding);
void journal_stream_stored(struct holding *holding);
void journal_stream_go_on(struct holding *holding);
void journal_stream_end(struct holding *holding);

/* holder.c: the files are there, and the process may start; its last state is stored. */
void holding_start(struct holding *holding, bool restores);
void holding_stored(struct holding *holding);

/* holder.c: another epoch is needed; the zone is given back until a person starts its world. */
void holding_ask_again(struct holding *holding);
void holding_stand_by(struct holding *holding, const char *why);

/* holder.c: its process must not go on, for a reason that is told. */
void holding_lose(struct holding *holding, const char *why);

/* holder.c: its tenure is over; what was put is sent before the loop waits. */
void holding_end(struct holding *holding);
void holder_flush(uv_prepare_t *prepare);

#endif

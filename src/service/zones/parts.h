/* service/zones/parts.h - what the files of the broker share. Loop's thread. */
#ifndef SERVICE_ZONES_PARTS_H
#define SERVICE_ZONES_PARTS_H

#include "service/zones/broker.h"
#include "service/zones/complaints.h"
#include "service/zones/etcd.h"
#include "service/zones/nats_link.h"

#include <sys/queue.h>

struct readers;
struct publishing;

/* A name of a stream; and a document of JetStream. */
enum { STREAM_BYTES_MAX = NAME_BYTES + 32, DOCUMENT_BYTES = 1024 };

typedef struct broker_reading broker_reading; /* reads.c */

struct broker {
  uv_loop_t *loop;
  broker_settings settings;
  char nats_secret[256], etcd_secret[256]; /* what the files hold */
  broker_changed changed;
  void *user;
  struct etcd *etcd;
  struct nats_link *link;
  struct asks *asks;
  struct readers *readers;
  struct publishing *publishing;
  LIST_HEAD(, broker_reading) readings;
  LIST_HEAD(, broker_arrivals) arrivals; /* crossings.c */
  uint32_t objects;                      /* files on their way */
  struct complaints complaints;
  uv_timer_t timer;
  uint64_t nonce;      /* differs from broker to broker: in the names of consumers and uploads */
  uint32_t calls;      /* under way, of BROKER_CALLS_MAX */
  uint32_t streams_at; /* which stream is looked after; BROKER_STREAMS once all are there */
  uint64_t streams_retry_ms;
  bool streams_asked;
  bool linked, nats_told, etcd_told; /* NATS is connected; what `changed` was told */
  bool closing;
  void (*closed)(void *user);
  void *closed_user;
};

enum { BROKER_STREAMS = 3 };

/* Counts one call more, or refuses it: MUSTER_E_FULL; MUSTER_E_STATE when the broker is closing. */
muster_result broker_count_call(struct broker *broker);
void broker_end_call(struct broker *broker);

/* Whether a name may be part of a subject and of a key. */
bool broker_name_is_good(const char *name);

/* Whether a subject is one that messages can be sent to: no wildcards, no blanks, not too long. */
muster_result broker_check_subject(const char *subject);

/* The name of the stream that keeps a subject; false, with MUSTER_E_ARGUMENT set: none of the world's does. */
bool broker_stream_of(const struct broker *broker, const char *subject, char stream[STREAM_BYTES_MAX]);

/* Begins the looks that are due, and ends all. */
void crossings_look_after(struct broker *broker);
void crossings_close(struct broker *broker);

/* Whether messages can be sent: NATS is connected and has the streams. */
bool broker_has_streams(const struct broker *broker);

#endif

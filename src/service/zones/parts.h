/* service/zones/parts.h - what the files of the broker share. Loop's thread. */
#ifndef SERVICE_ZONES_PARTS_H
#define SERVICE_ZONES_PARTS_H

#include "service/zones/broker.h"
#include "service/zones/complaints.h"
#include "service/zones/etcd.h"
#include "service/zones/nats_link.h"

#include <sys/queue.h>

struct asks;

enum { STREAM_BYTES_MAX = NAME_BYTES + 32 };

/* A NATS server (servers.c). */
struct nats_server {
  struct broker *broker;
  char url[HOSTS_BYTES];
  struct nats_link *link; /* null = closed */
  struct asks *asks;
  uint32_t streams;                       /* so many of the streams are there, as far as this connection has seen */
  bool linked, asks_stream, makes_stream; /* connected; one is asked for, or being made */
  uint64_t streams_retry_ms;
  uint64_t connections;          /* made so far */
  uint64_t last[BROKER_STREAMS]; /* the highest sequence at which something of this broker was kept, in this one */
};

struct broker {
  uv_loop_t *loop;
  broker_settings settings;
  incarnation incarnation;
  char nats_secret[256], etcd_secret[256]; /* what the files hold */
  broker_changed changed;
  void *user;
  struct etcd *etcd;
  uint32_t server_count;
  struct nats_server servers[BROKER_SERVERS_MAX];
  LIST_HEAD(, broker_listener) listeners; /* telling.c */
  uint32_t listener_numbers;              /* given */
  LIST_HEAD(, broker_arrivals) arrivals;  /* crossings.c */
  uint32_t objects;                       /* files on their way */
  struct complaints complaints;
  uv_timer_t timer;
  uint32_t calls; /* under way, of BROKER_CALLS_MAX */
  bool nats_told, etcd_told;
  bool closing;
  void (*closed)(void *user);
  void *closed_user;
};

/* Counts one call more, with zeroed memory for what it has to know; null: MUSTER_E_FULL, MUSTER_E_MEMORY, or
 * MUSTER_E_STATE when the broker is closing. Its end does not free it. */
void *broker_begin_call(struct broker *broker, size_t bytes);
void broker_end_call(struct broker *broker);

/* Sends the first document of a call to etcd; when that fails, the call has ended, and is freed. */
muster_result broker_send_call(struct broker *broker, const char *path, const char *body, etcd_take take, void *call);

/* The same of a call that reads all keys of a kind, "zone" or "move". */
muster_result broker_send_read(struct broker *broker, const char *kind, etcd_take take, void *call);

/* Begins the looks that are due, and ends all. */
void crossings_look_after(struct broker *broker);
void crossings_close(struct broker *broker);

/* A message that somebody told; ends all who listen. */
void telling_take(struct broker *broker, const link_message *message);
void telling_close(struct broker *broker);

#endif

/* traffic.h - what the brokers of a land are given to do: counted by themselves, by the proxy in front of them, and by
 * a tap that listens to all that is published.
 *
 *     traffic_tap *tap = traffic_open(all);
 *     traffic before, after;
 *     traffic_read(all, tap, &before);
 *     ...
 *     traffic_read(all, tap, &after);
 *     traffic_less(&after, &before);       what came in between
 *     traffic_close(tap);
 *
 * No broker is to die meanwhile: it would count from 0 again. */
#ifndef TRAFFIC_H
#define TRAFFIC_H

#include "land.h"

/* What is published on NATS, by its subject. */
typedef enum traffic_kind {
  TRAFFIC_GHOSTS,
  TRAFFIC_NODES, /* what nodes tell each other of themselves, and of their settings */
  TRAFFIC_JOURNAL,
  TRAFFIC_OBJECTS,
  TRAFFIC_REMOVALS,
  TRAFFIC_OTHERS,
  TRAFFIC_KINDS
} traffic_kind;

typedef struct traffic_flow {
  double messages, bytes;
} traffic_flow;

/* All of them grow but `ghosts` and `agents`. */
typedef struct traffic {
  double seconds;                                 /* of the wall clock, when the tap was read; */
  double nats_s, etcd_s, wire_s, zones_s;         /* and the rest, which a busy machine answers later */
  traffic_flow published[TRAFFIC_KINDS];          /* on all servers of NATS, as the tap heard it: subject and bytes */
  traffic_flow in[BROKERS_MAX], out[BROKERS_MAX]; /* of each server of NATS, by its own count; out without the tap */
  double wire[BROKERS_KINDS][2];                  /* bytes to all servers of a kind, and from them */
  double ranges, transactions, puts, deletes;     /* of etcd: read requests; transactions; keys */
  double agreed;                                  /* proposals that its members have agreed on */
  double database;                                /* bytes that are in use in its file */
  double frames, departed, completed, snapshots;  /* of all zones: frames; agents that left; snapshots of journals */
  double journal_bytes;                           /* of all zones, in their files */
  double ghosts, agents;                          /* as they are when the later one is read */
} traffic;

typedef struct traffic_tap traffic_tap;

/* Begins to listen; it is heard from all servers when this returns. */
traffic_tap *traffic_open(const land *all);
void traffic_close(traffic_tap *tap);

/* Reads all counters; all zones must run. */
void traffic_read(land *all, const traffic_tap *tap, traffic *now);

/* Takes an earlier reading off. All is what came in `seconds` then, also what was read later. */
void traffic_less(traffic *now, const traffic *before);

/* Prints what came in a second. */
void traffic_print(const traffic *between, FILE *out);

#endif

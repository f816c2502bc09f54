/* zones_model.h - what the zones of a cluster give its brokers to do, a second: messages and bytes of each server of
 * NATS, requests and bytes of etcd. What there is to do follows from how zones work (tools/docs/zones.md), how large it
 * is was measured (zones_sizes), and what brokers can take, too (zones_limits). Pure.
 *
 * The zones are squares side by side, in rows; agents stand evenly on them and walk straight on, in all directions. Not
 * in it: messages of agents to others across a border, observers, herds, the map of the page, and what a death or a
 * move costs. */
#ifndef BENCH_ZONES_MODEL_H
#define BENCH_ZONES_MODEL_H

#include <stdbool.h>
#include <stdint.h>

enum { ZONES_SERVERS = 3 /* of NATS, and members of etcd */ };

/* What the machines decide, and not the land: 0 = as those that are not busy have it. */
typedef struct zones_pace {
  double away_s;    /* from one zone to the next */
  double answer_s;  /* until etcd has answered: who asks again and again waits behind each answer */
  double crossings; /* transactions with what crosses, of all zones, in a second, */
  double chunks;    /* and chunks of journals: several frames have one where NATS is slow to answer */
} zones_pace;

typedef struct zones_land {
  uint32_t zones, columns;             /* in a row; the last one may be shorter */
  uint32_t nodes, nodes_of_zone;       /* all; those that may run a zone */
  double agents;                       /* of each zone */
  double side_m, border_m, speed_m;    /* speed: in a second */
  double hz;                           /* frames in a second, */
  uint32_t round_frames;               /* and from one telling to the next, at least */
  double updates;                      /* of each zone, in a second */
  double state_bytes, published_bytes; /* of an agent */
  double store_s;                      /* from one snapshot that is stored to the next */
  double lease_ttl_s;
  bool stream; /* journal_stream */
  zones_pace pace;
} zones_land;

/* What is done, by what it is for: on NATS, and by etcd. */
typedef enum zones_kind {
  ZONES_GHOSTS,    /* what neighbours are told */
  ZONES_NODES,     /* what nodes tell all others: grows with the square of their number */
  ZONES_JOURNAL,   /* chunks of journals */
  ZONES_SNAPSHOTS, /* parts of what is stored */
  ZONES_REMOVALS,  /* of what was stored before */
  ZONES_NATS_KINDS,
  ZONES_LOOKS = ZONES_NATS_KINDS, /* whether something has come */
  ZONES_ORDERS,                   /* which moves are wanted, by each node, and by the balancer */
  ZONES_ASKS,                     /* whether a lease is free, by those nodes that would take it */
  ZONES_RENEWALS,                 /* of leases */
  ZONES_CROSSINGS,                /* what crosses */
  ZONES_NOTES,                    /* what is stored, and what may be forgotten */
  ZONES_KINDS
} zones_kind;

/* In a second. Of NATS: at each of the three servers; published, and given out, which is answers where it is kept. Of
 * etcd: requests, and the bytes of HTTP, at all members together. */
typedef struct zones_flow {
  double messages, bytes;
  double out_messages, out_bytes;
} zones_flow;

typedef struct zones_load {
  zones_flow flows[ZONES_KINDS];
  double reads, writes; /* of etcd: requests that change nothing; transactions that its members agree on, */
  double puts;          /* and keys that these put */
  double history_bytes; /* of etcd: that a second adds to its file, until it is compacted */
  double kept_bytes;    /* of NATS: that stand in the files of each server */
  double stand;         /* keys of etcd of what has crossed and is not forgotten */
  double zones, nodes;  /* of the cluster */
} zones_load;

/* Fills in what a land gives the brokers to do. */
void zones_model(const zones_land *land, zones_load *load);

/* All NATS, and all etcd: of each server, and of all members together. */
zones_flow zones_sum(const zones_load *load, bool nats);

/* How many agents leave a zone in a second; how many of it a neighbour beside it sees; how many tellings a neighbour
 * gets in a second: mean of all zones. */
double zones_leaving(const zones_land *land);
double zones_seen(const zones_land *land);
double zones_rounds(const zones_land *land);

/* ------------------------------------------------------------------------------------------------------------- ends */

/* Something of which there is only so much. */
typedef struct zones_limit {
  const char *name, *unit;
  double most;
  const char *then; /* what to do when it is used up */
} zones_limit;

typedef enum zones_resource {
  ZONES_OF_SETTINGS,
  ZONES_OF_IDS,
  ZONES_OF_LIST,
  ZONES_OF_TABLE,
  ZONES_OF_NODES,
  ZONES_ETCD_REQUESTS,
  ZONES_ETCD_HISTORY,
  ZONES_NATS_MESSAGES,
  ZONES_NATS_BYTES,
  ZONES_NATS_KEPT,
  ZONES_RESOURCES
} zones_resource;

extern const zones_limit zones_limits[ZONES_RESOURCES];

/* How much of a resource a load takes, in the unit of its limit. */
double zones_taken(const zones_load *load, zones_resource resource);

/* The largest number of zones, in rows that make about a square, up to which the resource lasts; `land` says the rest.
 */
uint32_t zones_end(const zones_land *land, zones_resource resource);

/* The land with another number of zones, in such rows, and as many nodes more or less. */
zones_land zones_land_of(const zones_land *land, uint32_t zones);

#endif

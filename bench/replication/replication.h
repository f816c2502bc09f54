/* replication.h - what it costs a game server to tell its clients what a frame changed: to find out which agents
 * changed, to find out which players see them, and what keeping changes adds to a frame.
 *
 * Agents walk all over a square of 10 km; each moves in each of its updates. A few come and go in every frame. Two
 * worlds of them, one of which keeps changes, take turns; so do the ways to ask, and only the first to ask after a
 * frame is timed: it finds the caches as a server does. */
#ifndef BENCH_REPLICATION_H
#define BENCH_REPLICATION_H

#include <stdbool.h>
#include <stdint.h>

enum {
  REPLICATION_AGENTS = 100000,
  REPLICATION_OBSERVERS = 5000,
  REPLICATION_UPDATES = 7000, /* in a frame */
  REPLICATION_ROUND = 12,     /* frames */
  REPLICATION_ROUNDS_MOST = 64
};

static const float replication_seen_m = 100.0f; /* how far a player sees */

/* How a host finds out which agents came, moved and left. */
typedef enum replication_reader {
  READER_CHANGES =
      0,          /* muster_frame_changes(), and muster_agents_read() of the agents that it names: no last positions */
  READER_COLUMNS, /* muster_agents_read() of all ids, which it keeps; positions are compared with the last. It must
                     be told of agents that came */
  READER_ONE_BY_ONE, /* muster_agent_next() and muster_agent_read() of all, compared in the same way */
  READERS
} replication_reader;

/* How it finds out which of the changed agents each player is to be sent. */
typedef enum replication_sender {
  SENDER_GRID = 0, /* the changed agents are sorted by cells of a grid; each player looks at the nine around it */
  SENDER_NEARBY,   /* muster_agents_nearby() around each player; those of the found that changed are sent */
  SENDERS
} replication_sender;

/* Nanoseconds: medians, and the lowest and highest of the measured frames. */
typedef struct replication_time {
  double median_ns, lowest_ns, highest_ns;
} replication_time;

typedef struct replication_row {
  uint32_t agents, updates_wanted, observers, workers, rounds;
  double updates, changed; /* of a frame: completed, and told */
  replication_time readers[READERS];
  double times_cheaper[READERS]; /* how many times the time of changes each takes */
  replication_time senders[SENDERS];
  double sent[SENDERS];         /* pairs of player and agent, mean */
  double frame_ns[2], added_ns; /* CPU of all threads of a frame: without changes, with them; median difference */
} replication_row;

/* Measures a row whose agents, updates in a frame, observers, workers and rounds are set. Null, or what went wrong. */
const char *replication_measure(replication_row *row);

#endif

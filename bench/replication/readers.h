/* readers.h - hosts that find out which agents came, moved and left, each in its way; and which players see them. */
#ifndef BENCH_READERS_H
#define BENCH_READERS_H

#include "replication.h"
#include "walkers.h"

#include <muster/replicate.h>

/* What a host keeps of the agents. */
struct reader {
  replication_reader way;
  uint64_t cursor;
  muster_change *changes;
  muster_agent *ids;                    /* changed ones; or all, in no order */
  muster_position *read, *last;         /* as read, by place; and as last known, by index */
  muster_agent *known;                  /* by index */
  uint64_t *seen;                       /* by index: frame in which it was met last */
  bool *found;                          /* by place */
  uint32_t count, changed, moved, gone; /* ids; of the last frame */
  uint64_t frame;
};

/* False when memory is short. What is open, and what failed to open, is closed by reader_close(). */
bool reader_open(struct reader *reader, replication_reader way, uint32_t agents_max);
void reader_close(struct reader *reader);

/* Finds out what the last frame changed. False: the cursor was lost. */
bool reader_read(struct reader *reader, const struct walkers *walkers);

/* The grid in which changed agents are sorted, and marks of them by index. */
struct sender {
  uint32_t across, *ends, *cells; /* cells of an edge; by cell; by changed agent */
  muster_position *places;        /* sorted by cells */
  uint8_t *marks;                 /* by index */
};

/* False when memory is short. What is open, and what failed to open, is closed by sender_close(). */
bool sender_open(struct sender *sender, uint32_t agents_max);
void sender_close(struct sender *sender);

/* How many pairs of a player and an agent that it sees are to be sent of what a reader of changes found last. */
uint64_t sender_send(struct sender *sender, replication_sender way, const struct reader *reader,
                     const struct walkers *walkers);

#endif

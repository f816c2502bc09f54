/* run/track.h - what a worker notes of the claims that it runs, for a world that keeps a trace.
 *
 * A track is the worker's own: no other thread writes to it, and it is read when all workers have left. Spans of one
 * track follow each other and never overlap. What does not fit is counted and left out. */
#ifndef RUN_TRACK_H
#define RUN_TRACK_H

#include "agents/batch.h"
#include "agents/store.h"

enum {
  SPAN_MIXED = 1,       /* agents of several types or levels */
  SPAN_INTERRUPTED = 2, /* its last update gave way to something more urgent */
  SPAN_RESUMED = 4,     /* its first update goes on where it was interrupted in this frame */
  SPAN_JOBS = 8         /* not a claim, but more urgent jobs that went first */
};

/* A claim that was run, or the jobs that went between two claims. */
struct span {
  uint64_t begin_ns, end_ns;
  uint32_t agent;     /* of the first entry */
  uint16_t type;      /* of the first entry */
  uint16_t updates;   /* updates that it began; a resumed one is not counted again */
  uint16_t woken;     /* updates of woken agents among them */
  uint16_t preempted; /* updates among them that the frame's end stopped between two atoms */
  uint8_t level;      /* of the first entry */
  uint8_t flags;
};

struct track {
  _Alignas(64) struct span *spans;
  uint32_t count, maximum;
  uint64_t left_out;
  uint64_t interrupted_before, updates_before; /* what the worker had counted when its last claim was noted */
};

/* Begins a frame's spans in memory for `maximum` of them. */
void track_begin(struct track *track, struct span *spans, uint32_t maximum);

/* A span to be filled in; null when there is no room. */
struct span *track_add(struct track *track, uint64_t begin_ns, uint64_t end_ns);

/* Notes that more urgent jobs went first. */
void track_jobs(struct track *track, uint64_t begin_ns, uint64_t end_ns);

/* Describes the entries [first, end) of a batch in a span: which agent is first, how many of which kind. Of an entry it
 * reads only what does not change while the frame runs. */
void track_describe(struct span *span, const agent_store *store, const struct batch *batch, uint32_t first,
                    uint32_t end);

/* How many of the entries [first, end) were stopped between two atoms. */
uint16_t track_preempted(const struct batch *batch, uint32_t first, uint32_t end);

#endif

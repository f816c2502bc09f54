/* trace.h - what happened in the last frames, kept in a ring: frames, and the spans of each worker in them.
 *
 * On the wall clock workers write their spans straight into the ring (run/track.h), so only the numbers of spans are
 * gathered at the end of a frame. Under the virtual clock the batch is laid out after it ran, by what was charged. */
#ifndef TRACE_H
#define TRACE_H

#include "run/track.h"

struct frame_state;

typedef struct trace_frame {
  muster_frame_report report;
  uint64_t begin_ns, deadline_ns; /* wall, or on the virtual timeline */
} trace_frame;

struct trace {
  uint32_t frames_max, spans_max; /* spans of one worker in one frame */
  uint32_t workers;               /* tracks; 1 under the virtual clock */
  uint64_t frames;                /* noted so far; the last frames_max of them are kept */
  uint64_t virtual_end_ns;        /* of the last frame on the virtual timeline */
  trace_frame *ring;
  struct span *spans;   /* [worker][frame][spans_max]: close together, as memory comes in large pages */
  uint32_t *counts;     /* [frame][worker]: how many spans there are */
  uint64_t *left_out;   /* [frame]: spans that found no room */
  struct track *tracks; /* of the running frame, by worker */
};

/* Reserves the ring when the definition asks for one. */
void trace_create(struct trace *trace, const muster_world_def *def, uint32_t workers, struct arena *arena);

static inline bool trace_is_on(const struct trace *trace) {
  return trace->frames_max > 0;
}

/* Bytes of the ring that are in use. */
uint64_t trace_bytes(const struct trace *trace);

/* A frame begins; its clocks are set. Without a trace this and the calls below do nothing. */
void trace_begin(struct trace *trace, const struct frame_state *frame, bool virtual);

/* Stage 7 is over. Under the virtual clock only: lays out the batch. */
void trace_run(struct trace *trace, const agent_store *store, const struct batch *batch);

/* The frame is over and its report complete. */
void trace_end(struct trace *trace, const muster_frame_report *report, bool virtual);

/* The frames kept, and the k-th of them from the oldest on: its place in the ring. */
static inline uint32_t trace_kept(const struct trace *trace) {
  return trace->frames < trace->frames_max ? (uint32_t)trace->frames : trace->frames_max;
}
static inline uint32_t trace_place(const struct trace *trace, uint32_t k) {
  return (uint32_t)((trace->frames - trace_kept(trace) + k) % trace->frames_max);
}

/* The spans of a worker in the frame at a place of the ring. */
static inline struct span *trace_spans_of(const struct trace *trace, uint32_t place, uint32_t worker) {
  return trace->spans + ((size_t)worker * trace->frames_max + place) * trace->spans_max;
}

#endif

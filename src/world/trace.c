/* trace.c - keeps the decisions of the last frames. */
#include "world/trace.h"

#include "base/assert.h"
#include "world/frame_state.h"

void trace_create(struct trace *trace, const muster_world_def *def, uint32_t workers, struct arena *arena) {
  *trace = (struct trace){0};
  if (!def->trace.frames) return;
  trace->frames_max = def->trace.frames;
  trace->spans_max = def->trace.spans;
  trace->workers = def->clock.kind == MUSTER_CLOCK_VIRTUAL ? 1 : workers;
  size_t tracks = (size_t)trace->frames_max * trace->workers;
  ARENA_ARRAY(arena, trace->ring, trace->frames_max);
  ARENA_ARRAY(arena, trace->spans, tracks * trace->spans_max);
  ARENA_ARRAY(arena, trace->counts, tracks);
  ARENA_ARRAY(arena, trace->left_out, trace->frames_max);
  ARENA_ARRAY(arena, trace->tracks, trace->workers);
}

uint64_t trace_bytes(const struct trace *trace) {
  uint64_t bytes = trace_kept(trace) * sizeof *trace->ring;
  for (uint32_t i = 0; i < trace_kept(trace) * trace->workers; i++) bytes += trace->counts[i] * sizeof *trace->spans;
  return bytes;
}

static uint32_t place_of_next(const struct trace *trace) {
  return (uint32_t)(trace->frames % trace->frames_max);
}

void trace_begin(struct trace *trace, const frame_state *frame, bool virtual) {
  if (!trace_is_on(trace)) return;
  uint32_t place = place_of_next(trace);
  trace_frame *kept = &trace->ring[place];
  for (uint32_t i = 0; i < trace->workers; i++)
    track_begin(&trace->tracks[i], trace_spans_of(trace, place, i), trace->spans_max);
  kept->begin_ns = frame->begin_ns;
  kept->deadline_ns = frame->deadline_ns;
  if (!virtual) return;
  kept->begin_ns = frame->now_ns > trace->virtual_end_ns ? frame->now_ns : trace->virtual_end_ns;
  kept->deadline_ns = kept->begin_ns + frame->capacity_ns;
}

void trace_run(struct trace *trace, const agent_store *store, const struct batch *batch) {
  if (!trace_is_on(trace)) return;
  uint64_t now_ns = trace->ring[place_of_next(trace)].begin_ns;
  for (uint32_t i = 0; i < batch->claim_count; i++) {
    const batch_claim *claim = &batch->claims[i];
    uint64_t begin_ns = now_ns;
    ASSERT(claim->first < claim->end && claim->end <= batch->count);
    for (uint32_t k = claim->first; k < claim->end; k++) now_ns += batch->entries[k].model_ns;
    struct span *span = track_add(&trace->tracks[0], begin_ns, now_ns);
    if (!span) continue;
    track_describe(span, store, batch, claim->first, claim->end);
    span->preempted = track_preempted(batch, claim->first, claim->end);
  }
}

void trace_end(struct trace *trace, const muster_frame_report *report, bool virtual) {
  if (!trace_is_on(trace)) return;
  uint32_t place = place_of_next(trace);
  trace_frame *kept = &trace->ring[place];
  kept->report = *report;
  trace->left_out[place] = 0;
  for (uint32_t i = 0; i < trace->workers; i++) {
    trace->counts[place * trace->workers + i] = trace->tracks[i].count;
    ASSERT(trace->tracks[i].count <= trace->spans_max);
    trace->left_out[place] += trace->tracks[i].left_out;
  }
  if (virtual) trace->virtual_end_ns = kept->begin_ns + report->wall_ns;
  trace->frames++;
}

#include "run/track.h"

#include "base/assert.h"

void track_begin(struct track *track, struct span *spans, uint32_t maximum) {
  *track = (struct track){.spans = spans, .maximum = maximum};
}

struct span *track_add(struct track *track, uint64_t begin_ns, uint64_t end_ns) {
  if (track->count == track->maximum) {
    track->left_out++;
    return NULL;
  }
  struct span *span = &track->spans[track->count++];
  *span = (struct span){.begin_ns = begin_ns, .end_ns = end_ns};
  return span;
}

void track_jobs(struct track *track, uint64_t begin_ns, uint64_t end_ns) {
  struct span *span = track_add(track, begin_ns, end_ns);
  if (span) span->flags = SPAN_JOBS;
}

void track_describe(struct span *span, const agent_store *store, const struct batch *batch, uint32_t first,
                    uint32_t end) {
  ASSERT(first < end);
  const agent_row *row = &store->rows[batch->entries[first].agent];
  span->agent = batch->entries[first].agent;
  span->type = row->type;
  span->level = row->level;
  span->updates = (uint16_t)(end - first);
  for (uint32_t i = first; i < end; i++) {
    row = &store->rows[batch->entries[i].agent];
    span->woken = (uint16_t)(span->woken + row->woken);
    if (row->type != span->type || row->level != span->level) span->flags |= SPAN_MIXED;
  }
}

uint16_t track_preempted(const struct batch *batch, uint32_t first, uint32_t end) {
  uint16_t count = 0;
  for (uint32_t i = first; i < end; i++) count = (uint16_t)(count + (batch->outcomes[i] == OUTCOME_PREEMPTED));
  return count;
}

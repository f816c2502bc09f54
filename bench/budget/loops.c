/* The plain loops. Both pass over agents whose shortest period has not passed, and end by the clock. */
#include "budget_run.h"

#include <stdlib.h>

/* ----------------------------------------------------------------------------------------------------------- sorted */

struct place {
  double urgency;
  uint32_t agent;
};

static void swap(struct place *a, struct place *b) {
  struct place kept = *a;
  *a = *b;
  *b = kept;
}

/* Restores the heap below a place; the most urgent is at its top. */
static void sink(struct place *heap, uint32_t count, uint32_t at) {
  for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
    if (child + 1 < count && heap[child + 1].urgency > heap[child].urgency) child++;
    if (heap[at].urgency >= heap[child].urgency) return;
    swap(&heap[at], &heap[child]);
  }
}

static uint32_t gather(const struct run *run, struct place *heap) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < run->count; i++)
    if (run_is_due(run, i)) heap[count++] = (struct place){(double)run_age(run, i) * run->crowd.members[i].weight, i};
  for (uint32_t i = count / 2; i-- > 0;) sink(heap, count, i);
  return count;
}

bool sorted_open(struct run *run) {
  return (run->loop = calloc(run->count, sizeof(struct place)));
}

/* An agent that is believed not to fit any more waits for the next frame, unless it is the first: so each comes to its
 * turn, whatever it costs. */
bool sorted_frame(struct run *run) {
  struct place *heap = run->loop;
  uint32_t count = gather(run, heap);
  if (run->wall) run->deadline_ns = run_now(run) + run->budget_ns; /* sorting is not charged */
  for (bool first = true; count && run_left(run); first = false) {
    uint32_t agent = heap[0].agent;
    struct member *member = &run->members[agent];
    heap[0] = heap[--count];
    sink(heap, count, 0);
    if (!first && member->mean_ns > (double)run_left(run)) continue;
    double cost_ns = (double)run_update(run, 0, agent, run_level(run, agent), run_age(run, agent)).own_ns;
    member->mean_ns += (cost_ns - member->mean_ns) / member->updates;
  }
  return true;
}

/* ------------------------------------------------------------------------------------------------------ round robin */

bool robin_open(struct run *run) {
  return (run->loop = calloc(1, sizeof(uint32_t)));
}

bool robin_frame(struct run *run) {
  uint32_t *next = run->loop;
  for (uint32_t seen = 0; seen < run->count && run_left(run); seen++) {
    if (run_is_due(run, *next)) run_update(run, 0, *next, run_level(run, *next), run_age(run, *next));
    *next = (*next + 1) % run->count;
  }
  return true;
}

void sequence_close(struct run *run) {
  free(run->loop);
}

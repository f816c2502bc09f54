/* The plain loops. They pass over agents whose shortest period has not passed, and end by the clock. */
#include "budget_run.h"

#include <pthread.h>
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

/* The loop, or two of them, each on a thread of its own with every other agent. */
struct sorted {
  struct run *run;
  uint32_t threads;
  struct place *heaps[2];
  pthread_t second;
  pthread_barrier_t meet;
  bool ends;
};

static uint32_t gather(const struct run *run, struct place *heap, uint32_t first, uint32_t every) {
  uint32_t count = 0;
  for (uint32_t i = first; i < run->count; i += every)
    if (run_is_due(run, i)) heap[count++] = (struct place){(double)run_age(run, i) * run->crowd.members[i].weight, i};
  for (uint32_t i = count / 2; i-- > 0;) sink(heap, count, i);
  return count;
}

/* An agent that is believed not to fit any more waits for the next frame, unless it is the first: so each comes to its
 * turn, whatever it costs. */
static void run_sorted(struct run *run, struct place *heap, uint32_t count, uint32_t worker) {
  for (bool first = true; count && run_left(run); first = false) {
    uint32_t agent = heap[0].agent;
    struct member *member = &run->members[agent];
    heap[0] = heap[--count];
    sink(heap, count, 0);
    if (!first && member->mean_ns > (double)run_left(run)) continue;
    double cost_ns = (double)run_update(run, worker, agent, run_level(run, agent), run_age(run, agent)).own_ns;
    member->mean_ns += (cost_ns - member->mean_ns) / member->updates;
  }
}

static void meet(struct sorted *sorted) {
  if (sorted->threads > 1) pthread_barrier_wait(&sorted->meet);
}

/* A frame begins when all have sorted, since that is not charged. */
static void sorted_part(struct sorted *sorted, uint32_t part) {
  struct run *run = sorted->run;
  uint32_t count = gather(run, sorted->heaps[part], part, sorted->threads);
  meet(sorted);
  if (part == 0 && run->wall) run->deadline_ns = run_now(run) + run->budget_ns;
  meet(sorted);
  run_sorted(run, sorted->heaps[part], count, part);
  meet(sorted);
}

static void *second_main(void *argument) {
  struct sorted *sorted = argument;
  for (meet(sorted); !sorted->ends; meet(sorted)) sorted_part(sorted, 1);
  return NULL;
}

bool sorted_frame(struct run *run) {
  meet(run->loop);
  sorted_part(run->loop, 0);
  return true;
}

bool sorted_open(struct run *run) {
  struct sorted *sorted = run->loop = calloc(1, sizeof *sorted);
  if (!sorted) return false;
  sorted->run = run;
  sorted->threads = 1;
  for (uint32_t i = 0; i < run->share; i++)
    if (!(sorted->heaps[i] = calloc(run->count, sizeof(struct place)))) return false;
  if (run->share == 1) return true;
  if (pthread_barrier_init(&sorted->meet, NULL, 2)) return false;
  sorted->threads = 2;
  if (pthread_create(&sorted->second, NULL, second_main, sorted) == 0) return true;
  sorted->threads = 1;
  return false;
}

void sorted_close(struct run *run) {
  struct sorted *sorted = run->loop;
  if (sorted && sorted->threads > 1) {
    sorted->ends = true;
    meet(sorted);
    pthread_join(sorted->second, NULL);
    pthread_barrier_destroy(&sorted->meet);
  }
  for (int i = 0; sorted && i < 2; i++) free(sorted->heaps[i]);
  free(sorted);
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

void robin_close(struct run *run) {
  free(run->loop);
}

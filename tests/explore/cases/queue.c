/* Cases of pool/queue.h: when nothing moves any more, no job stands in a lane whose bit is clear. */
#include "cases.h"

#include "pool/queue.h"

#include "little_pool.h"

enum { JOBS = 4, CAPACITY = 4 };

struct state {
  struct queue queue;
  struct arena arena;
  uint8_t ran[JOBS];
};

static struct state *state;

static void prepare(void) {
  state = explore_memory(sizeof *state);
  queue_create(&state->queue, CAPACITY, &state->arena);
}

static void push(uint32_t lane, uint32_t number) {
  struct job job = {little_job, &state->ran[number], NULL};
  EXPLORE_CHECK(queue_push(&state->queue, lane, &job));
}

/* Claims one job of the lanes whose bits are set, and runs it. */
static void serve(void) {
  for (uint32_t bits = queue_occupied(&state->queue); bits; bits &= bits - 1) {
    struct lane *lane = &state->queue.lanes[__builtin_ctz(bits)];
    uint64_t first;
    struct job job;
    if (!lane_look(lane, 1, NULL, &first) || !lane_claim(lane, first, 1)) continue;
    if (lane_start(lane, first, &job)) job.run(job.argument, 0);
    return;
  }
}

static void check(void) {
  for (uint32_t i = 0; i < MUSTER_URGENCIES; i++)
    EXPLORE_CHECK(!lane_has_work(&state->queue.lanes[i]) || (queue_occupied(&state->queue) >> i & 1));
  EXPLORE_CHECK(queue_has_work(&state->queue, QUEUE_ALL) == queue_settle(&state->queue));
  while (queue_has_work(&state->queue, QUEUE_ALL)) serve();
  EXPLORE_CHECK(!queue_settle(&state->queue) && queue_occupied(&state->queue) == 0);
}

/* A worker that settles, claims and settles again, while jobs arrive in one lane. */
static void run_settle(uint32_t fibre) {
  if (fibre == 0) {
    push(1, 0);
    push(1, 1);
  } else {
    queue_settle(&state->queue);
    serve();
    queue_settle(&state->queue);
  }
}

static void check_settle(void) {
  check();
  EXPLORE_CHECK(state->ran[0] && state->ran[1]);
}

/* Two that settle, two that push, two lanes. */
static void run_two_settlers(uint32_t fibre) {
  if (fibre < 2) {
    push(fibre, fibre);
    push(1, 2 + fibre);
  } else {
    queue_settle(&state->queue);
    serve();
    queue_settle(&state->queue);
  }
}

static void check_two_settlers(void) {
  check();
  for (uint32_t i = 0; i < JOBS; i++) EXPLORE_CHECK(state->ran[i]);
}

/* A job waits: each fibre that settles sees it, also while another settles. */
static void begin_last_look(void) {
  push(3, 0);
}

static void run_last_look(uint32_t fibre) {
  (void)fibre;
  EXPLORE_CHECK(queue_settle(&state->queue));
}

const explore_case queue_cases[] = {
    {"queue/last_look", 3, prepare, begin_last_look, run_last_look, check, 0},
    {"queue/settle", 2, prepare, NULL, run_settle, check_settle, 0},
    {"queue/two_settlers", 4, prepare, NULL, run_two_settlers, check_two_settlers, 0},
    {0},
};

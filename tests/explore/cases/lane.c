/* Cases of pool/lane.h: exactly one fibre gets each job, in order, whatever claims, starts and takings-out meet. */
#include "cases.h"

#include "pool/lane.h"

enum { JOBS = 4, CAPACITY = 2 };

struct state {
  struct lane lane;
  struct arena arena;
  uint64_t position[JOBS]; /* where a claimer found it */
  uint8_t got[JOBS];
  uint32_t got_count, pushed;
  bool freed[JOBS]; /* its start has returned */
};

static struct state *state;

static void prepare(void) {
  state = explore_memory(sizeof *state);
  lane_create(&state->lane, CAPACITY, &state->arena);
}

static void first_function(void *argument, uint32_t worker) {
  (void)argument, (void)worker;
}

static void second_function(void *argument, uint32_t worker) {
  (void)argument, (void)worker;
}

/* The three words of a job belong together. Even jobs are of one group, odd ones of another. */
static struct job job_of(uint32_t number) {
  return (struct job){number & 1 ? second_function : first_function, (void *)(uintptr_t)(number + 1),
                      (struct group *)(uintptr_t)(16 + 16 * (number & 1))};
}

static const struct group *group_of(uint32_t number) {
  return job_of(number).group;
}

static uint32_t note_job(const struct job *job) {
  uint32_t number = (uint32_t)(uintptr_t)job->argument - 1;
  EXPLORE_CHECK(number < JOBS);
  EXPLORE_CHECK(job->run == job_of(number).run && job->group == job_of(number).group);
  EXPLORE_CHECK(state->got[number] == 0);
  state->got[number] = 1;
  state->got_count++;
  return number;
}

static void push(uint32_t number) {
  struct job job = job_of(number);
  while (!lane_push(&state->lane, &job)) explore_yield();
}

/* Claims up to two and starts them; false when there was nothing. */
static bool serve(uint32_t most, const struct group *only) {
  uint64_t first;
  uint32_t count = lane_look(&state->lane, most, only, &first);
  if (!count) return false;
  if (!lane_claim(&state->lane, first, count)) return true;
  for (uint32_t i = 0; i < count; i++) {
    struct job job;
    if (!lane_start(&state->lane, first + i, &job)) continue;
    uint32_t number = note_job(&job);
    state->position[number] = first + i;
    state->freed[number] = true;
  }
  return true;
}

static void serve_until(uint32_t jobs, uint32_t most, const struct group *only) {
  while (state->got_count < jobs)
    if (!serve(most, only)) explore_yield();
}

static void take_out_until(uint32_t jobs, const struct group *only) {
  while (state->got_count < jobs) {
    uint64_t head = lane_head(&state->lane), tail = lane_tail(&state->lane);
    struct job job;
    /* From before head on: jobs that were claimed and not started can be taken, too. */
    for (uint64_t position = head >= CAPACITY ? head - CAPACITY : 0; position < tail; position++)
      if (lane_take_out(&state->lane, position, only, &job)) note_job(&job);
    explore_yield();
  }
}

/* A lane that everything left still takes as many as it holds, and gives them back in order. */
static void check_reusable(void) {
  uint64_t first;
  EXPLORE_CHECK(!lane_has_work(&state->lane));
  for (uint32_t lap = 0; lap < 2; lap++) {
    struct job job = job_of(lap), found;
    for (uint32_t i = 0; i < CAPACITY; i++) EXPLORE_CHECK(lane_push(&state->lane, &job));
    EXPLORE_CHECK(!lane_push(&state->lane, &job));
    EXPLORE_CHECK(lane_look(&state->lane, CAPACITY, NULL, &first) == CAPACITY);
    EXPLORE_CHECK(lane_claim(&state->lane, first, CAPACITY));
    for (uint32_t i = 0; i < CAPACITY; i++) EXPLORE_CHECK(lane_start(&state->lane, first + i, &found));
  }
}

/* ------------------------------------------------------------------------------- producers and consumers, two laps */

static void run_each_once(uint32_t fibre) {
  if (fibre >= 2) {
    serve_until(JOBS, 2, NULL);
  } else {
    push(2 * fibre);
    push(2 * fibre + 1);
  }
}

static void check_each_once(void) {
  /* First in, first out: a producer's second job stands behind its first. */
  EXPLORE_CHECK(state->position[0] < state->position[1]);
  EXPLORE_CHECK(state->position[2] < state->position[3]);
  check_reusable();
}

/* ---------------------------------------------------------------------------------- starting against taking out */

static void run_take_out(uint32_t fibre) {
  if (fibre == 0) {
    for (uint32_t i = 0; i < 3; i++) push(i);
  } else if (fibre == 1) {
    serve_until(3, 2, NULL);
    while (serve(2, NULL)) continue; /* what was taken out is still in the way */
  } else {
    take_out_until(3, NULL);
  }
}

static void run_two_takers(uint32_t fibre) {
  if (fibre < 2) {
    take_out_until(2, NULL);
  } else {
    serve_until(2, 2, NULL);
    while (serve(2, NULL)) continue;
  }
}

static void begin_two_takers(void) {
  push(0);
  push(1);
}

/* No fibre claims: what was taken out is swept away by the fibre that wants to push. */
static void run_sweep(uint32_t fibre) {
  if (fibre > 0) {
    take_out_until(3, NULL);
    return;
  }
  for (uint32_t i = 0; i < 3; i++) {
    struct job job = job_of(i);
    while (!lane_push(&state->lane, &job))
      if (!lane_sweep(&state->lane)) explore_yield();
  }
}

static void check_sweep(void) {
  EXPLORE_CHECK(lane_sweep(&state->lane) && !lane_sweep(&state->lane));
  check_reusable();
}

/* ----------------------------------------------------------------------------------------------- jobs of one group */

static void run_only(uint32_t fibre) {
  if (fibre == 0) {
    for (uint32_t i = 0; i < JOBS; i++) push(i);
  } else if (fibre == 1) {
    while (state->got_count < JOBS) {
      uint64_t first;
      uint32_t count = lane_look(&state->lane, 2, group_of(0), &first);
      if (count && lane_claim(&state->lane, first, count)) {
        struct job job;
        for (uint32_t i = 0; i < count; i++)
          if (lane_start(&state->lane, first + i, &job)) EXPLORE_CHECK(note_job(&job) % 2 == 0);
      } else {
        explore_yield();
      }
    }
    while (serve(2, NULL)) continue;
  } else {
    take_out_until(JOBS, group_of(1));
  }
}

/* ------------------------------------------------------------------------------------------------------------- full */

/* A push fails only when the job that stood in its slot a lap ago was not started before. */
static void run_full(uint32_t fibre) {
  if (fibre > 0) {
    serve_until(JOBS, 1, NULL);
    return;
  }
  while (state->pushed < JOBS) {
    struct job job = job_of(state->pushed);
    bool room = state->pushed < CAPACITY || state->freed[state->pushed - CAPACITY];
    if (lane_push(&state->lane, &job)) {
      state->pushed++;
    } else {
      EXPLORE_CHECK(!room);
      explore_yield();
    }
  }
}

/* Three jobs and room for two: one is refused. */
static void run_refused(uint32_t fibre) {
  struct job job = job_of(fibre);
  if (lane_push(&state->lane, &job)) state->pushed++;
}

static void check_refused(void) {
  EXPLORE_CHECK(state->pushed == CAPACITY);
  EXPLORE_CHECK(serve(CAPACITY, NULL) && state->got_count == CAPACITY);
  check_reusable();
}

const explore_case lane_cases[] = {
    {"lane/each_once", 4, prepare, NULL, run_each_once, check_each_once, 0},
    {"lane/take_out", 3, prepare, NULL, run_take_out, check_reusable, 0},
    {"lane/two_takers", 3, prepare, begin_two_takers, run_two_takers, check_reusable, 0},
    {"lane/sweep", 3, prepare, NULL, run_sweep, check_sweep, 0},
    {"lane/only", 3, prepare, NULL, run_only, check_reusable, 0},
    {"lane/full", 3, prepare, NULL, run_full, NULL, 0},
    {"lane/refused", 3, prepare, NULL, run_refused, check_refused, 0},
    {0},
};

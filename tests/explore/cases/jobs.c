/* Cases of what muster/jobs.h adds to groups and workers: stopping. */
#include "cases.h"

#include "little_pool.h"

enum { JOBS = 2 };

struct state {
  struct muster_pool *pool;
  muster_group *group; /* of the schedule */
  uint8_t ran[JOBS];
};

static struct state *state;

static void prepare(void) {
  state = little_pool_state(sizeof *state, 2, 2);
}

static void begin(void) {
  state->group = explore_new(sizeof *state->group);
  muster_group_init(state->group, state->pool);
}

/* Fibres submit and wait while the pool stops: what was accepted runs or is dropped, and the wait ends. */
static void run_stop(uint32_t fibre) {
  if (fibre == 0) {
    muster_pool_stop(state->pool);
  } else if (fibre == 1) {
    little_worker(state->pool, 1, 2);
  } else {
    for (uint32_t i = 0; i < JOBS; i++) muster_job_submit(state->pool, 4, little_job, &state->ran[i], state->group);
    EXPLORE_CHECK(!muster_group_wait_asleep(state->group));
    explore_delete(state->group);
  }
}

const explore_case jobs_cases[] = {
    {"jobs/stop", 3, prepare, begin, run_stop, little_pool_state_check, 0},
    {0},
};

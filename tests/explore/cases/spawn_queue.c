/* Cases of run/intake_queues.h: agents spawned into one word while the intake takes from it. */
#include "cases.h"

#include "run/intake_queues.h"

enum { SPAWNERS = 2, EACH = 2, AGENTS = SPAWNERS * EACH, INTAKE = SPAWNERS };

struct state {
  struct arena arena;
  struct spawn_queue spawns;
  uint8_t written[AGENTS], taken[AGENTS];
};

static struct state *state;

static void prepare(void) {
  state = explore_memory(sizeof *state);
  spawn_queue_create(&state->spawns, AGENTS, &state->arena);
}

static void take(uint32_t most) {
  uint32_t agents[AGENTS], count = spawn_queue_take(&state->spawns, agents, most);
  EXPLORE_CHECK(count <= most && spawn_queue_count(&state->spawns) <= AGENTS);
  for (uint32_t i = 0; i < count; i++) {
    EXPLORE_CHECK(state->written[agents[i]] && !state->taken[agents[i]]);
    state->taken[agents[i]] = 1;
  }
}

static void run(uint32_t fibre) {
  if (fibre == INTAKE) {
    for (uint32_t i = 0; i < 3; i++) take(i == 1 ? 1 : AGENTS);
    return;
  }
  for (uint32_t i = 0; i < EACH; i++) {
    state->written[fibre * EACH + i] = 1;
    spawn_queue_add(&state->spawns, fibre * EACH + i);
  }
}

/* An agent that came too late for the intake waits for the next. */
static void check(void) {
  take(AGENTS);
  for (uint32_t i = 0; i < AGENTS; i++) EXPLORE_CHECK(state->taken[i]);
  EXPLORE_CHECK(spawn_queue_count(&state->spawns) == 0);
}

const explore_case spawn_queue_cases[] = {
    {"spawn_queue/nobody_lost", SPAWNERS + 1, prepare, NULL, run, check, 0},
    {0},
};

/* Cases of run/wakes.h, the word of an agent: one runner at a time, and every wake is followed by a run that sees what
 * came before it. */
#include "cases.h"

#include "run/wakes.h"

enum { AGENTS = 2, HINTS = 8 };

struct state {
  struct wakes wakes;
  struct arena arena;
  uint32_t events[AGENTS]; /* that happened to an agent */
  uint32_t seen[AGENTS];   /* by its runs */
  uint32_t runners[AGENTS];
};

static struct state *state;

static void prepare(void) {
  state = explore_memory(sizeof *state);
  wakes_create(&state->wakes, AGENTS, HINTS, &state->arena);
}

static void run_agent(uint32_t agent) {
  EXPLORE_CHECK(++state->runners[agent] == 1);
  explore_moment();
  state->seen[agent] = state->events[agent];
  explore_moment();
  state->runners[agent]--;
}

static void push(uint32_t agent) {
  EXPLORE_CHECK(wakes_push(&state->wakes, agent));
}

/* As a worker and then the commit do: a hint, a run, and once more when it was woken meanwhile. */
static void serve(uint32_t times) {
  for (uint32_t agent; times > 0; times--) {
    if (!wakes_pop(&state->wakes, &agent) || !wakes_begin(&state->wakes, agent)) continue;
    run_agent(agent);
    if (wakes_end(&state->wakes, agent)) push(agent);
  }
}

static void run_word(uint32_t fibre) {
  if (fibre < 2) {
    serve(3);
    return;
  }
  for (uint32_t i = 0; i < 2; i++) {
    state->events[i * (fibre - 2)]++;
    push(i * (fibre - 2));
  }
}

/* What is left is for the next intake. */
static void check_word(void) {
  for (uint32_t agent; wakes_pop(&state->wakes, &agent);)
    if (wakes_settle(&state->wakes, agent)) run_agent(agent);
  EXPLORE_CHECK(!wakes_wait(&state->wakes));
  for (uint32_t i = 0; i < AGENTS; i++) EXPLORE_CHECK(state->seen[i] == state->events[i]);
}

/* An agent that was queued, taken care of and queued again has two hints. */
static void begin_two_hints(void) {
  push(0);
  wakes_settle(&state->wakes, 0);
  state->events[0]++;
  push(0);
}

const explore_case wakes_cases[] = {
    {"wakes/two_hints", 3, prepare, begin_two_hints, run_word, check_word, 0},
    {"wakes/word", 4, prepare, NULL, run_word, check_word, 0},
    {0},
};

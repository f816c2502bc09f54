/* population_routine.c - most agents: shopkeepers, guards at a door, hens. A small state machine chooses one activity
 * after the other by what the agent needs. */
#include "scenarios/population_roles.h"

#include <math.h>

enum { ACTIVITY_IDLE = 0, ACTIVITY_WORK, ACTIVITY_EAT, ACTIVITY_REST, ACTIVITY_TALK, ACTIVITIES };
enum { NEED_FOOD = 0, NEED_REST, NEED_COMPANY, NEED_WORK, NEEDS = POPULATION_NEEDS };

/* During an activity every need drifts towards a level of its own, and covers all but a third of the way in so many
 * seconds. The drift is exponential, so that the number of updates in a time makes no difference. */
static const float drift_to[ACTIVITIES][NEEDS] = {[ACTIVITY_IDLE] = {1.0f, 0.6f, 0.9f, 1.0f},
                                                  [ACTIVITY_WORK] = {1.0f, 1.0f, 0.8f, 0.0f},
                                                  [ACTIVITY_EAT] = {0.0f, 0.7f, 0.8f, 0.8f},
                                                  [ACTIVITY_REST] = {0.7f, 0.0f, 0.9f, 0.8f},
                                                  [ACTIVITY_TALK] = {0.9f, 0.8f, 0.0f, 0.9f}};
static const float drift_s[ACTIVITIES][NEEDS] = {[ACTIVITY_IDLE] = {90, 120, 40, 30},
                                                 [ACTIVITY_WORK] = {50, 45, 60, 20},
                                                 [ACTIVITY_EAT] = {5, 120, 50, 90},
                                                 [ACTIVITY_REST] = {120, 9, 60, 90},
                                                 [ACTIVITY_TALK] = {90, 90, 7, 60}};

static void spend(population_routine_state *state, uint64_t duration_ns) {
  const float *to = drift_to[state->activity], *in_s = drift_s[state->activity];
  float seconds = (float)population_seconds(duration_ns);
  for (uint32_t i = 0; i < NEEDS; i++) state->needs[i] = to[i] + (state->needs[i] - to[i]) * expf(-seconds / in_s[i]);
}

/* The activity for the most urgent need, if a need is urgent. */
static uint32_t population_routine_choose_activity(const population_routine_state *state) {
  static const uint32_t remedies[NEEDS] = {ACTIVITY_EAT, ACTIVITY_REST, ACTIVITY_TALK, ACTIVITY_WORK};
  uint32_t most = 0;
  for (uint32_t i = 1; i < NEEDS; i++)
    if (state->needs[i] > state->needs[most]) most = i;
  return state->needs[most] > 0.5f ? remedies[most] : ACTIVITY_IDLE;
}

/* Activities last 2 to 10 s, in steps of a 256th. */
static uint64_t choose_duration(uint64_t random) {
  return 2000000000u + (random >> 56) * 31250000u;
}

/* However long the agent was not updated, its activities follow one another as if it had been. Only after hours, past
 * this many changes, the rest of the time goes to the last activity. */
static void population_routine_live(muster_update *update, population_routine_state *state) {
  enum { CHANGES_MAX = 1024 };
  uint64_t time_ns = update->elapsed_ns;
  for (int changes = 0; time_ns >= state->left_ns && changes < CHANGES_MAX; changes++) {
    spend(state, state->left_ns);
    time_ns -= state->left_ns;
    state->activity = population_routine_choose_activity(state);
    state->left_ns = choose_duration(muster_update_random(update));
    state->activities++;
  }
  spend(state, time_ns);
  state->left_ns -= time_ns < state->left_ns ? time_ns : state->left_ns;
}

static muster_atom_result routine_run(muster_update *update) {
  population_routine_state *state = update->state;
  population_public *public = update->published;
  population_routine_live(update, state);
  public->activity = state->activity;
  if (state->circuit.speed_mps > 0) {
    double seconds = population_seconds(update->elapsed_ns);
    muster_update_move(update, population_circuit_walk(&state->circuit, update->position, seconds));
  }
  return MUSTER_ATOM_FINISH;
}

static const muster_atom atoms[] = {{.run = routine_run, .model_ns = 100}};

static void routine_begin(void *memory, const population_start *start) {
  population_routine_state *state = memory;
  state->left_ns = choose_duration(scaffold_random(start->random + 2));
  for (uint32_t i = 0; i < NEEDS; i++) state->needs[i] = muster_random_share(scaffold_random(start->random + 3 + i));
}

const population_role population_routine = {
    "routine", SCAFFOLD_ATOMS(atoms), sizeof(population_routine_state), 100000000u, 2000000000u, NULL, routine_begin};

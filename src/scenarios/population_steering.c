/* population_steering.c - agents that move among others: strollers and patrols. Each update weighs possible velocities
 * by how far they are from the wanted one, how soon they lead into another agent, and whether they lead into blocked
 * ground. */
#include "scenarios/population_roles.h"

#include <math.h>

enum { NEIGHBOURS = 12, DIRECTIONS = 8 };

static const float full_turn = 6.2831853f;
static const float view_m = 10, body_m = 0.8f, tether_m = 20, foresight_s = 3, aside_m = 2;

/* An agent nearby, as seen from this agent. */
typedef struct obstacle {
  population_vector place, velocity;
} obstacle;

/* What a velocity is judged by. */
typedef struct surroundings {
  obstacle others[NEIGHBOURS];
  uint32_t count;
  muster_position place;
  population_vector now; /* the velocity until here */
} surroundings;

static population_vector shorten(population_vector v, float longest) {
  float length = sqrtf(v.x * v.x + v.y * v.y);
  if (length <= longest) return v;
  return (population_vector){v.x * longest / length, v.y * longest / length};
}

static float apart(population_vector a, population_vector b) {
  return sqrtf((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y));
}

static void population_steering_look(const muster_update *update, population_vector velocity, surroundings *around) {
  muster_neighbour near[NEIGHBOURS];
  around->place = update->position;
  around->now = velocity;
  around->count = muster_update_nearby(update, view_m, (muster_type){0}, near, NEIGHBOURS);
  for (uint32_t i = 0; i < around->count; i++) {
    const population_public *seen = near[i].published;
    around->others[i] =
        (obstacle){{(float)(near[i].position.x - update->position.x), (float)(near[i].position.y - update->position.y)},
                   {seen->velocity_x, seen->velocity_y}};
  }
}

/* ---------------------------------------------------------------------------------------------------------- choice */

/* Seconds until two bodies touch if both keep their velocities; foresight_s if they do not within that time. Two bodies
 * that touch already count by whether they move apart. */
static float time_to_touch(const obstacle *other, population_vector velocity) {
  float x = velocity.x - other->velocity.x, y = velocity.y - other->velocity.y;
  float closing = x * other->place.x + y * other->place.y;
  float clear = other->place.x * other->place.x + other->place.y * other->place.y - body_m * body_m;
  if (closing <= 0) return foresight_s;
  if (clear <= 0) return 0;
  float speed_squared = x * x + y * y, inside = closing * closing - speed_squared * clear;
  if (inside <= 0) return foresight_s;
  return fminf((closing - sqrtf(inside)) / speed_squared, foresight_s);
}

static bool leads_into_block(const surroundings *around, population_vector velocity, float seconds) {
  return search_is_blocked(search_cell_at(around->place.x + (double)(velocity.x * seconds),
                                          around->place.y + (double)(velocity.y * seconds)));
}

/* The penalty of a velocity; 0 = none. */
static float fault(const surroundings *around, population_vector velocity, population_vector wanted, float speed_mps) {
  float soonest_s = foresight_s;
  for (uint32_t i = 0; i < around->count; i++)
    soonest_s = fminf(soonest_s, time_to_touch(&around->others[i], velocity));
  float strays = apart(velocity, wanted), swerves = 0.3f * apart(velocity, around->now);
  float total = (strays + swerves) / speed_mps + 2 * (1 - soonest_s / foresight_s);
  if (leads_into_block(around, velocity, 0.7f)) total += 1.5f;
  if (leads_into_block(around, velocity, 1.4f)) total += 0.7f;
  return total;
}

/* The best velocity among the wanted one and eight directions at full and at half speed. */
static population_vector choose_velocity(const surroundings *around, population_vector wanted, float speed_mps) {
  static const population_vector directions[DIRECTIONS] = {
      {1, 0},  {0.70710678f, 0.70710678f},   {0, 1},  {-0.70710678f, 0.70710678f},
      {-1, 0}, {-0.70710678f, -0.70710678f}, {0, -1}, {0.70710678f, -0.70710678f}};
  population_vector best = wanted;
  float least = fault(around, wanted, wanted, speed_mps);
  for (int i = 0; i < 2 * DIRECTIONS && least > 0; i++) {
    float speed = i < DIRECTIONS ? speed_mps : speed_mps / 2;
    population_vector candidate = {speed * directions[i % DIRECTIONS].x, speed * directions[i % DIRECTIONS].y};
    float found = fault(around, candidate, wanted, speed_mps);
    if (found >= least) continue;
    least = found;
    best = candidate;
  }
  return best;
}

/* ---------------------------------------------------------------------------------------------------------- motion */

/* Walks the circuit at the patrol's speed, up to 2 m aside of it to give way. */
static muster_position patrol(population_steering_state *state, const surroundings *around, double seconds) {
  muster_position from = population_circuit_place(&state->circuit, around->place.z);
  muster_position to = population_circuit_walk(&state->circuit, from, seconds);
  double share = seconds > 0 ? 1 / seconds : 0;
  population_vector wanted = {(float)((to.x - from.x) * share), (float)((to.y - from.y) * share)};
  population_vector chosen = choose_velocity(around, wanted, state->circuit.speed_mps);
  population_vector give_way = shorten((population_vector){chosen.x - wanted.x, chosen.y - wanted.y}, aside_m);
  float blend = 1 - expf(-(float)seconds);
  state->aside.x += (give_way.x - state->aside.x) * blend;
  state->aside.y += (give_way.y - state->aside.y) * blend;
  state->velocity = wanted;
  to.x += (double)state->aside.x;
  to.y += (double)state->aside.y;
  return to;
}

/* Follows a heading that turns by a random walk, and turns home when far from it. */
static muster_position stroll(population_steering_state *state, const surroundings *around, double seconds,
                              float random_share) {
  const muster_position *place = &around->place;
  population_vector home = {(float)(state->home_x - place->x), (float)(state->home_y - place->y)};
  state->heading = fmodf(state->heading + 1.7f * sqrtf((float)seconds) * (2 * random_share - 1), full_turn);
  if (home.x * home.x + home.y * home.y > tether_m * tether_m) state->heading = atan2f(home.y, home.x);
  float pace_mps = 0.7f * state->speed_mps;
  population_vector wanted = {pace_mps * cosf(state->heading), pace_mps * sinf(state->heading)};
  population_vector chosen = choose_velocity(around, wanted, state->speed_mps);
  float blend = 1 - expf(-4 * (float)seconds);
  state->velocity.x += (chosen.x - state->velocity.x) * blend;
  state->velocity.y += (chosen.y - state->velocity.y) * blend;
  double x = (double)state->velocity.x * seconds, y = (double)state->velocity.y * seconds;
  state->wandered_m += sqrt(x * x + y * y);
  return (muster_position){place->x + x, place->y + y, place->z};
}

static muster_atom_result steering_run(muster_update *update) {
  population_steering_state *state = update->state;
  population_public *public = update->published;
  surroundings around;
  population_steering_look(update, state->velocity, &around);
  double seconds = population_seconds(update->elapsed_ns);
  bool patrols = state->circuit.speed_mps > 0;
  muster_update_move(update, patrols ? patrol(state, &around, seconds)
                                     : stroll(state, &around, seconds, muster_update_random_share(update)));
  public->activity = patrols;
  public->velocity_x = state->velocity.x;
  public->velocity_y = state->velocity.y;
  return MUSTER_ATOM_FINISH;
}

/* ------------------------------------------------------------------------------------------------------------ role */

static const muster_atom atoms[] = {{.run = steering_run, .model_ns = 1350}};

static void steering_begin(void *memory, const population_start *start) {
  population_steering_state *state = memory;
  state->home_x = start->home.x;
  state->home_y = start->home.y;
  state->heading = full_turn * muster_random_share(scaffold_random(start->random + 2));
  state->speed_mps = start->speed_mps;
}

const population_role population_steering = {
    "steering", SCAFFOLD_ATOMS(atoms), sizeof(population_steering_state), 50000000u, 2000000000u, NULL, steering_begin};

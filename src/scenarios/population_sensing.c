/* population_sensing.c - agents that judge: they look at every agent in sight, appraise threat and company, survey the
 * places around, weigh what they could do against what they need, and do it. Perception and choice are two atoms. */
#include "scenarios/population_roles.h"

#include <math.h>

enum { ACTIVITY_REST = 0, ACTIVITY_FORAGE, ACTIVITY_FLEE, ACTIVITY_JOIN, ACTIVITY_PATROL, ACTIVITIES };
enum { NEIGHBOURS = 16, SPOTS = 24 };

static const float sight_m = 24.0f, tether_m = 30.0f, company_m = 2.0f, near_spot_m = 5.0f, far_spot_m = 10.0f,
                   glance_m = 2.0f;

/* A smooth step from 0 to 1 around `middle`. */
static float rise(float value, float middle, float steepness) {
  return 1 / (1 + expf(-steepness * (value - middle)));
}

/* ------------------------------------------------------------------------------------------------------ perception */

/* An agent in sight that threatens. */
struct threat {
  population_vector place;
  float strength;
};

static bool is_blocked(const muster_update *update, float x, float y) {
  return search_is_blocked(search_cell_at(update->position.x + (double)x, update->position.y + (double)y));
}

/* Whether the ground between is free, checked every two metres. */
static bool is_in_sight(const muster_update *update, population_vector place, float distance_m) {
  for (float at_m = glance_m; at_m < distance_m; at_m += glance_m)
    if (is_blocked(update, place.x * at_m / distance_m, place.y * at_m / distance_m)) return false;
  return true;
}

/* A stronger agent threatens, the more the nearer and the stronger it is; an agent of like strength is company. */
static struct threat population_sensing_appraise(population_appraisal *seen, const muster_update *update,
                                                 const muster_neighbour *near, population_vector place) {
  const population_public *own = update->published, *other = near->published;
  float advantage = other->strength - own->strength, likeness = 1 - fabsf(advantage);
  float gap_m = near->distance_m - company_m;
  float company = likeness * likeness * expf(-gap_m * gap_m / 72);
  struct threat threat = {place, rise(advantage, 0.35f, 14)};
  seen->threat += threat.strength * expf(-near->distance_m / 8);
  if (company <= seen->company) return threat;
  seen->company = company;
  seen->friend = place;
  return threat;
}

/* How much all agents in sight together threaten a place. */
static float threat_at(const struct threat *threats, uint32_t count, population_vector place) {
  float sum = 0;
  for (uint32_t i = 0; i < count; i++) {
    float x = threats[i].place.x - place.x, y = threats[i].place.y - place.y;
    sum += threats[i].strength * expf(-sqrtf(x * x + y * y) / 8);
  }
  return sum;
}

/* Compares places around that a straight way leads to, near and far ones in turn from a random direction on. Pasture is
 * better where it is safe and nearer home. */
static void population_sensing_survey(population_sensing_state *state, muster_update *update,
                                      const struct threat *threats, uint32_t count) {
  float turn = muster_update_random_share(update), safest = INFINITY, richest = -INFINITY;
  population_vector home = {(float)(state->home_x - update->position.x), (float)(state->home_y - update->position.y)};
  for (uint32_t i = 0; i < SPOTS; i++) {
    float angle = ((float)i + turn) * (6.2831853f / (float)SPOTS);
    float distance_m = i % 2 ? far_spot_m : near_spot_m;
    population_vector spot = {distance_m * cosf(angle), distance_m * sinf(angle)};
    if (!is_in_sight(update, spot, distance_m)) continue;
    float threat = threat_at(threats, count, spot);
    float stray_m = hypotf(home.x - spot.x, home.y - spot.y);
    float worth = muster_update_random_share(update) - threat - 2 * rise(stray_m, tether_m, 0.3f);
    if (threat < safest) safest = threat, state->seen.shelter = spot;
    if (worth > richest) richest = worth, state->seen.pasture = spot;
  }
}

static muster_atom_result sense(muster_update *update) {
  population_sensing_state *state = update->state;
  muster_neighbour near[NEIGHBOURS];
  struct threat threats[NEIGHBOURS];
  uint32_t count = muster_update_nearby(update, sight_m, (muster_type){0}, near, NEIGHBOURS), in_sight = 0;
  state->seen = (population_appraisal){0};
  for (uint32_t i = 0; i < count; i++) {
    population_vector place = {(float)(near[i].position.x - update->position.x),
                               (float)(near[i].position.y - update->position.y)};
    if (is_in_sight(update, place, near[i].distance_m))
      threats[in_sight++] = population_sensing_appraise(&state->seen, update, &near[i], place);
  }
  population_sensing_survey(state, update, threats, in_sight);
  return MUSTER_ATOM_NEXT;
}

/* ---------------------------------------------------------------------------------------------------------- choice */

static float towards(float need, float per_s, float seconds) {
  return fminf(fmaxf(need + per_s * seconds, 0), 1);
}

static void feel(population_sensing_state *state, float seconds) {
  static const float hunger_per_s[ACTIVITIES] = {0.004f, -0.060f, 0.010f, 0.004f, 0.006f};
  static const float fatigue_per_s[ACTIVITIES] = {-0.080f, 0.006f, 0.030f, 0.004f, 0.010f};
  state->hunger = towards(state->hunger, hunger_per_s[state->activity], seconds);
  state->fatigue = towards(state->fatigue, fatigue_per_s[state->activity], seconds);
  state->loneliness = towards(state->loneliness, 0.02f - 0.2f * fminf(state->seen.company, 1), seconds);
  state->fear = fmaxf(state->fear * expf(-seconds / 5), fminf(state->seen.threat, 1));
}

/* Chooses the activity that is worth most now: products of how much it is needed and how well it can be done. */
static uint32_t population_sensing_choose(const population_sensing_state *state) {
  float worth[ACTIVITIES];
  float calm = 1 - rise(state->fear, 0.35f, 12);
  float drawn_off = rise(state->fatigue, 0.6f, 10);
  worth[ACTIVITY_REST] = (0.15f + 0.85f * drawn_off) * calm;
  worth[ACTIVITY_FORAGE] = rise(state->hunger, 0.5f, 10) * (1 - 0.5f * drawn_off) * calm;
  worth[ACTIVITY_FLEE] = rise(state->fear, 0.35f, 12) * (1 - 0.3f * drawn_off);
  worth[ACTIVITY_JOIN] = rise(state->loneliness, 0.5f, 10) * fminf(state->seen.company, 1) * calm;
  worth[ACTIVITY_PATROL] = state->circuit.speed_mps > 0 ? 0.8f * calm * (1 - 0.5f * drawn_off) : 0;
  worth[state->activity] *= 1.15f; /* the present activity counts more, against frequent changes */
  uint32_t best = ACTIVITY_REST;
  for (uint32_t i = 1; i < ACTIVITIES; i++)
    if (worth[i] > worth[best]) best = i;
  return best;
}

static muster_position approach(const muster_update *update, population_vector to, double distance_m) {
  muster_position place = update->position;
  return population_approach(place, (muster_position){place.x + (double)to.x, place.y + (double)to.y, place.z},
                             fmax(0, distance_m));
}

static muster_position act_out(population_sensing_state *state, const muster_update *update) {
  double seconds = population_seconds(update->elapsed_ns), distance_m = seconds * (double)state->speed_mps, gap_m;
  switch (state->activity) {
  case ACTIVITY_FORAGE:
    return approach(update, state->seen.pasture, distance_m);
  case ACTIVITY_FLEE:
    return approach(update, state->seen.shelter, 1.5 * distance_m);
  case ACTIVITY_JOIN:
    gap_m = hypot((double)state->seen.friend.x, (double)state->seen.friend.y) - (double)company_m;
    return approach(update, state->seen.friend, fmin(distance_m, gap_m));
  case ACTIVITY_PATROL:
    return population_circuit_walk(&state->circuit, update->position, seconds);
  default:
    return update->position;
  }
}

static muster_atom_result population_sensing_decide(muster_update *update) {
  population_sensing_state *state = update->state;
  population_public *public = update->published;
  feel(state, (float)population_seconds(update->elapsed_ns));
  uint32_t activity = population_sensing_choose(state);
  state->choices += activity != state->activity;
  public->activity = state->activity = activity;
  muster_position place = act_out(state, update);
  if (activity != ACTIVITY_PATROL)
    state->wandered_m += hypot(place.x - update->position.x, place.y - update->position.y);
  if (activity != ACTIVITY_REST) muster_update_move(update, place);
  return MUSTER_ATOM_FINISH;
}

/* ------------------------------------------------------------------------------------------------------------ role */

static const muster_atom atoms[] = {{.run = sense, .role = MUSTER_ROLE_PERCEPTION, .model_ns = 3400},
                                    {.run = population_sensing_decide, .model_ns = 400}};

static void sensing_begin(void *memory, const population_start *start) {
  population_sensing_state *state = memory;
  state->home_x = start->home.x;
  state->home_y = start->home.y;
  state->speed_mps = start->speed_mps;
  state->hunger = muster_random_share(scaffold_random(start->random + 2));
  state->fatigue = muster_random_share(scaffold_random(start->random + 3));
  state->loneliness = muster_random_share(scaffold_random(start->random + 4));
}

const population_role population_sensing = {
    "sensing", SCAFFOLD_ATOMS(atoms), sizeof(population_sensing_state), 100000000u, 2000000000u, NULL, sensing_begin};

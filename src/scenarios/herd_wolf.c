/* Wolves: ordinary agents that cross herds at every level of detail. Of a far herd they take a deer and scare the rest;
 * of a near one likewise, leaf by leaf; and where deer are individuals they run after one. Wolves act one after
 * another: they look for herds 400 m around, and take deer of far ones, which stand in no region; there is one for
 * 8,192 deer. */
#include "scenarios/herd.h"

#include <muster/herd.h>

enum { NEAR_MAX = 12, HERDS_MAX = 4 };

static const uint64_t period_ns = 250000000u, period_max_ns = 1000000000u;
static const float smell_m = 400.0f, sight_m = 40.0f, strike_m = 4.0f; /* of herds, of leaves, and of prey */
static const float herd_reach_m = 20.0f;                               /* from a far herd's centroid: among its deer */
static const float trot_mps = 3.0f, run_mps = 9.0f, flight_mps = 7.0f;
static const float meal_s = 120.0f;

/* Walks towards the aim; once there, goes on in the same direction. */
static muster_atom_result herd_wolf_walk(muster_update *update) {
  const herd_world *self = update->type_user;
  herd_wolf *wolf = update->state;
  float elapsed_s = (float)update->elapsed_ns * 1e-9f;
  if (elapsed_s <= 0.0f) return MUSTER_ATOM_NEXT;
  wolf->fed_s = fmaxf(wolf->fed_s - elapsed_s, 0.0f);
  float x = (float)(wolf->aim_x - update->position.x), y = (float)(wolf->aim_y - update->position.y);
  float distance_m = sqrtf(x * x + y * y), speed_mps = wolf->runs ? run_mps : trot_mps;
  if (wolf->fed_s > 0.0f) speed_mps = 0.2f;
  if (distance_m > 0.5f) {
    speed_mps = fminf(speed_mps, distance_m / elapsed_s);
    wolf->velocity_x = x / distance_m * speed_mps;
    wolf->velocity_y = y / distance_m * speed_mps;
  }
  herd_ground_hold(&self->ground, (float)update->position.x, (float)update->position.y, elapsed_s, &wolf->velocity_x,
                   &wolf->velocity_y);
  muster_position place = update->position;
  place.x += (double)(wolf->velocity_x * elapsed_s);
  place.y += (double)(wolf->velocity_y * elapsed_s);
  muster_update_move(update, place);
  return wolf->fed_s > 0.0f ? MUSTER_ATOM_FINISH : MUSTER_ATOM_NEXT;
}

static void eat(herd_wolf *wolf) {
  wolf->fed_s = meal_s;
  wolf->runs = 0;
}

/* Leaves in sight run away from the wolf, faster the nearer they are, but not faster than the wolf can run. */
static void scare_leaves(muster_update *update, const muster_neighbour *near, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    herd_deer *deer = muster_update_state_of(update, near[i].agent);
    const herd_face *face = near[i].published;
    if (!deer || !face) continue;
    float distance_m = fmaxf(near[i].distance_m, 0.5f);
    float x = (float)(near[i].position.x - update->position.x) / distance_m;
    float y = (float)(near[i].position.y - update->position.y) / distance_m;
    float wanted = flight_mps * (1.0f - near[i].distance_m / sight_m) - (face->velocity_x * x + face->velocity_y * y);
    if (wanted <= 0.0f) continue;
    deer->scare_x = x * wanted;
    deer->scare_y = y * wanted;
    herd_tally_of(update)->scares++;
  }
}

/* Takes one deer of a herd, folded or not; false when there was none to take. */
static bool take_one(muster_update *update, muster_herd herd) {
  herd_tally *tally = herd_tally_of(update);
  float totals[MUSTER_HERD_TOTALS] = {0};
  uint32_t taken = muster_update_herd_take(update, herd, 1, totals);
  tally->killed += taken;
  herd_tally_dead(tally, totals);
  return taken > 0;
}

/* An individual deer is removed like any agent; from a leaf that stands for several, one deer is taken. */
static bool herd_wolf_strike(muster_update *update, const muster_neighbour *prey) {
  const herd_deer *deer = muster_update_state_of(update, prey->agent);
  if (!deer) return false;
  if (deer->members != 1) return take_one(update, deer->herd);
  if (muster_update_remove(update, prey->agent) != MUSTER_OK) return false;
  herd_tally_of(update)->killed++;
  return true;
}

/* With no leaf in sight the wolf goes to the nearest herd. If that is folded and within reach, the wolf takes a deer of
 * it and scares the rest. */
static void seek_herd(muster_update *update, herd_wolf *wolf) {
  muster_herd_near near[HERDS_MAX];
  uint32_t count = muster_update_herds_nearby(update, smell_m, near, HERDS_MAX);
  wolf->runs = 0;
  if (count == 0) return;
  wolf->aim_x = near[0].position.x;
  wolf->aim_y = near[0].position.y;
  if (near[0].leaves > 0 || near[0].distance_m > herd_reach_m) return;
  float x = (float)(near[0].position.x - update->position.x), y = (float)(near[0].position.y - update->position.y);
  float part = flight_mps / fmaxf(near[0].distance_m, 0.5f);
  if (!take_one(update, near[0].herd)) return;
  herd_tally_of(update)->killed_folded++;
  if (muster_update_herd_push(update, near[0].herd, x * part, y * part) == MUSTER_OK) herd_tally_of(update)->scares++;
  eat(wolf);
}

static muster_atom_result hunt(muster_update *update) {
  const herd_world *self = update->type_user;
  herd_wolf *wolf = update->state;
  muster_neighbour near[NEAR_MAX];
  uint32_t count = muster_update_nearby(update, sight_m, self->deer_type, near, NEAR_MAX);
  if (count == 0) {
    seek_herd(update, wolf);
    return MUSTER_ATOM_NEXT;
  }
  scare_leaves(update, near, count);
  wolf->runs = 1;
  wolf->aim_x = near[0].position.x;
  wolf->aim_y = near[0].position.y;
  if (near[0].distance_m <= strike_m && herd_wolf_strike(update, &near[0])) eat(wolf);
  return MUSTER_ATOM_NEXT;
}

muster_result herd_register_wolves(herd_world *self, muster_world *world) {
  const muster_atom atoms[] = {{.run = herd_wolf_walk, .role = MUSTER_ROLE_BEHAVIOUR, .model_ns = 300},
                               {.run = hunt, .role = MUSTER_ROLE_ACTION, .model_ns = 2500}};
  muster_type_def def = scaffold_type("wolf", SCAFFOLD_ATOMS(atoms), sizeof(herd_wolf), period_ns, period_max_ns);
  def.user = self;
  return scaffold_register(world, &def, &self->wolf_type);
}

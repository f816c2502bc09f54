#include "scenarios/wildlife.h"

enum { NEIGHBOURS_MAX = 16, SURVEYED_MAX = 12 };

static const float survey_radius_m = 45.0f; /* of a bobcat's territory */
static const float survey_interval_s = 2.0f;
static const float memory_s = 6.0f; /* how long the impression of a crowd lasts */
static const float too_close_m = 1.5f;

/* The share of the square around a circle that lies inside the fence, where neighbours can be. */
static float share_inside(const wildlife *desert, muster_position place, float radius_m) {
  const wildlife_ground *fence = &desert->fence;
  double x = place.x - fence->x, y = place.y - fence->y, radius = (double)radius_m;
  double width = fmin(x + radius, fence->half_x) - fmax(x - radius, -fence->half_x);
  double depth = fmin(y + radius, fence->half_y) - fmax(y - radius, -fence->half_y);
  return fmaxf((float)(width * depth / (4.0 * radius * radius)), 0.2f);
}

/* Agents per 1000 m2 of `count` found when `capacity` were wanted within radius_m. When all were found, the farthest
 * of them bounds the circle that was really searched, so fewer neighbours give a rougher answer but not a lower one. */
static float density_of(const wildlife_turn *turn, const muster_neighbour *near, uint32_t count, uint32_t capacity,
                        float radius_m) {
  float found = (float)count;
  if (count == capacity) {
    radius_m = fmaxf(near[count - 1].distance_m, 1.0f);
    found -= 1.0f;
  }
  float area_m2 = 3.14159265f * radius_m * radius_m;
  return 1000.0f * found / (area_m2 * share_inside(turn->kind->desert, turn->update->position, radius_m));
}

static void blend(float *impression, float now, float elapsed_s) {
  *impression += (now - *impression) * (1.0f - expf(-elapsed_s / memory_s));
}

/* Adds up ways to its own kind and headings; the caller divides by their number in the end. */
static void note_kin(wildlife_senses *senses, const wildlife_face *face, wildlife_way way, float distance_m) {
  senses->kin++;
  wildlife_add(&senses->kin_way, way, 1.0f);
  senses->kin_heading.x += cosf(face->heading);
  senses->kin_heading.y += sinf(face->heading);
  if (distance_m < too_close_m)
    wildlife_add(&senses->apart, way, -((too_close_m - distance_m) / fmaxf(distance_m, 0.1f)));
}

static void note_threat(wildlife_senses *senses, const wildlife_face *face, wildlife_way way, float distance_m) {
  if (distance_m >= senses->threat_m) return;
  senses->threat_m = distance_m;
  senses->threat_way = way;
  senses->threat_mood = face->mood;
}

/* How tempting a prey is: what it is worth, how likely a strike succeeds, how far it is. */
static void note_prey(const wildlife_turn *turn, const muster_neighbour *near, wildlife_way way, float *best) {
  const wildlife_face *face = near->published;
  if (face->species == WILDLIFE_BOBCAT || face->mood == WILDLIFE_HIDE) return;
  float value = wildlife_profiles[face->species].meal * wildlife_odds(face) / (near->distance_m + 4.0f);
  if (muster_agent_equal(near->agent, turn->self->quarry)) value *= 2.0f; /* a hunter keeps to its quarry */
  if (value <= *best) return;
  *best = value;
  turn->self->prey = near->agent;
  turn->self->senses.prey_way = way;
}

static void note_all(const wildlife_turn *turn, const muster_neighbour *near, uint32_t count) {
  wildlife_senses *senses = &turn->self->senses;
  bool hunter = turn->kind->species == WILDLIFE_BOBCAT;
  float best = 0.0f;
  for (uint32_t i = 0; i < count; i++) {
    const wildlife_face *face = near[i].published;
    wildlife_way way = wildlife_way_between(turn->update->position, near[i].position);
    if (face->species == turn->kind->species) note_kin(senses, face, way, near[i].distance_m);
    if (hunter)
      note_prey(turn, &near[i], way, &best);
    else if (face->species == WILDLIFE_BOBCAT)
      note_threat(senses, face, way, near[i].distance_m);
  }
  if (senses->kin == 0) return;
  float each = 1.0f / (float)senses->kin;
  senses->kin_way.x *= each;
  senses->kin_way.y *= each;
  senses->kin_heading.x *= each;
  senses->kin_heading.y *= each;
}

/* Now and then a bobcat looks how many share its territory; between, it remembers. */
static void survey_territory(const wildlife_turn *turn, float elapsed_s) {
  wildlife_animal *self = turn->self;
  muster_neighbour rivals[SURVEYED_MAX];
  self->survey_s -= elapsed_s;
  if (self->survey_s > 0.0f) return;
  float since_s = fmaxf(survey_interval_s, survey_interval_s - self->survey_s);
  self->survey_s = survey_interval_s;
  uint32_t count = muster_update_nearby(turn->update, survey_radius_m, turn->kind->type, rivals, SURVEYED_MAX);
  blend(&self->crowding, density_of(turn, rivals, count, SURVEYED_MAX, survey_radius_m), since_s);
}

muster_atom_result wildlife_sense(muster_update *update) {
  wildlife_turn turn = wildlife_turn_of(update);
  const wildlife_profile *profile = turn.kind->profile;
  wildlife_animal *self = turn.self;
  float elapsed_s = (float)update->elapsed_ns * 1e-9f, radius_m = profile->sight_m[update->level];
  muster_neighbour near[NEIGHBOURS_MAX];
  uint32_t wanted = profile->notices[update->level];
  uint32_t count = muster_update_nearby(update, radius_m, (muster_type){0}, near, wanted);
  self->senses = (wildlife_senses){.threat_m = INFINITY};
  self->prey = (muster_agent){0};
  note_all(&turn, near, count);
  float density = density_of(&turn, near, count, wanted, radius_m);
  blend(&self->company, density, elapsed_s);
  if (turn.kind->species == WILDLIFE_BOBCAT)
    survey_territory(&turn, elapsed_s);
  else
    blend(&self->crowding, count ? density * (float)self->senses.kin / (float)count : 0.0f, elapsed_s);
  return MUSTER_ATOM_NEXT;
}

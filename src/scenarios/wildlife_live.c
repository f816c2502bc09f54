#include "scenarios/wildlife.h"

static const float strike_m = 2.0f;
static const float company_max = 21.0f; /* of all species per 1000 m2: no animal breeds from here on */
static const float turning_pi = 3.14159265f;

/* After a pause of minutes, some moods that would have come and gone are skipped. */
enum { MOODS_PER_UPDATE_MAX = 16 };

/* What a mood does to a body: factor on the species' hunger, vigour per second, gait 0 = still .. 1 = walk .. 2 = run.
 */
typedef struct mood_effect {
  float hunger, vigour, gait;
} mood_effect;

static const mood_effect effects[WILDLIFE_MOODS] = {
    [WILDLIFE_GRAZE] = {1.0f, -0.005f, 0.25f}, [WILDLIFE_WANDER] = {1.0f, -0.02f, 1.0f},
    [WILDLIFE_REST] = {0.7f, 0.10f, 0.0f},     [WILDLIFE_ALERT] = {0.9f, 0.0f, 0.0f},
    [WILDLIFE_FLEE] = {2.5f, -0.08f, 2.0f},    [WILDLIFE_HIDE] = {0.6f, 0.10f, 0.5f},
    [WILDLIFE_PROWL] = {1.1f, -0.01f, 1.0f},   [WILDLIFE_CHASE] = {3.0f, -0.20f, 2.0f},
    [WILDLIFE_FEED] = {0.8f, 0.05f, 0.0f},
};

bool wildlife_keep_in(const wildlife_ground *ground, muster_position *place) {
  static const double post_m = 0.01; /* a finger's breadth inside, as positions are kept to a millimetre */
  double half_x = ground->half_x - post_m, half_y = ground->half_y - post_m, x = place->x, y = place->y;
  place->x = fmin(fmax(x, ground->x - half_x), ground->x + half_x);
  place->y = fmin(fmax(y, ground->y - half_y), ground->y + half_y);
  return place->x != x || place->y != y;
}

/* The difference of two angles, -pi .. pi. */
static float turn_between(float from, float to) {
  return remainderf(to - from, 2.0f * turning_pi);
}

/* Turns towards the aim and goes straight: never farther than speed times time, whatever the time. */
static void wildlife_live_move(const wildlife_turn *turn, muster_position *place, float step_s) {
  wildlife_animal *self = turn->self;
  const wildlife_ground *fence = &turn->kind->desert->fence;
  const wildlife_profile *profile = turn->kind->profile;
  float gait = effects[self->mood].gait;
  self->speed_mps = gait > 1.0f ? profile->run_mps * (0.6f + 0.4f * self->vigour) : profile->walk_mps * gait;
  if (self->speed_mps <= 0.0f) return;
  float most = profile->turn_rps * fmaxf(gait, 1.0f) * step_s;
  float wanted = turn_between(self->heading, self->aim);
  self->heading = remainderf(self->heading + fminf(fmaxf(wanted, -most), most), 2.0f * turning_pi);
  float length_m = fminf(self->speed_mps * step_s, self->reach_m);
  self->reach_m -= length_m;
  self->distance_m += (double)length_m;
  wildlife_go(place, self->heading, length_m);
  if (wildlife_keep_in(fence, place))
    self->heading = atan2f((float)(fence->y - place->y), (float)(fence->x - place->x));
}

/* Plants are shared by all animals that are here. */
static void graze(const wildlife_turn *turn, muster_position place, float step_s) {
  wildlife_animal *self = turn->self;
  float ground = wildlife_richness(turn->kind->desert, place.x, place.y);
  float gained = turn->kind->profile->grazing * ground / (1.0f + self->company / 20.0f) * step_s;
  gained = fminf(gained, 1.0f - self->energy);
  self->energy += gained;
  self->grazed += (double)gained;
}

/* Grown-ups carry young: faster when they are well fed, slower the more of their kind are around, not at all at
 * crowding_max or where the desert is full of other animals. */
static void breed(const wildlife_turn *turn, float step_s) {
  wildlife_animal *self = turn->self;
  const wildlife_profile *profile = turn->kind->profile;
  if (self->age_s < profile->adult_s) return;
  float crowded = fmaxf(self->crowding / profile->crowding_max, self->company / company_max);
  float room = fmaxf(1.0f - crowded, 0.0f);
  float fed = fminf(fmaxf((self->energy - 0.25f) * 4.0f, 0.0f), 1.0f);
  self->gestation += room * fed * step_s / profile->gestation_s;
}

static void wildlife_live_pass_time(const wildlife_turn *turn, muster_position *place, float step_s) {
  wildlife_animal *self = turn->self;
  const mood_effect *effect = &effects[self->mood];
  wildlife_live_move(turn, place, step_s);
  if (self->mood == WILDLIFE_GRAZE) graze(turn, *place, step_s);
  breed(turn, step_s);
  self->age_s += step_s;
  self->energy -= turn->kind->profile->hunger * effect->hunger * step_s;
  if (turn->kind->desert->eternal) self->energy = fmaxf(self->energy, 0.0f);
  self->vigour = fminf(fmaxf(self->vigour + effect->vigour * step_s, 0.0f), 1.0f);
}

/* The elapsed time passes mood by mood, so a long interval holds as much grazing and resting as many short ones. */
static void live_through(const wildlife_turn *turn, muster_position *place, float left_s) {
  wildlife_animal *self = turn->self;
  for (uint32_t moods = 0; left_s > 0.0f; moods++) {
    bool last = left_s <= self->mood_left_s || moods == MOODS_PER_UPDATE_MAX;
    float step_s = last ? left_s : fmaxf(self->mood_left_s, 0.0f);
    wildlife_live_pass_time(turn, place, step_s);
    self->mood_left_s -= step_s;
    left_s -= step_s;
    if (self->mood_left_s > 0.0f) continue;
    wildlife_choose_mood(turn, *place);
    wildlife_steer(turn, *place);
  }
}

static uint32_t intent_of(const wildlife_turn *turn, muster_position place) {
  const wildlife_animal *self = turn->self;
  uint32_t intent = 0;
  muster_position quarry;
  if (self->mood == WILDLIFE_CHASE && muster_update_position_of(turn->update, self->quarry, &quarry) &&
      wildlife_within(place, quarry, strike_m))
    intent |= WILDLIFE_STRIKES;
  if (turn->kind->desert->eternal) return intent;
  if (self->gestation >= 1.0f) intent |= WILDLIFE_BEARS;
  if (self->energy <= 0.0f || self->age_s >= self->life_s) intent |= WILDLIFE_DIES;
  return intent;
}

static void show_face(const wildlife_turn *turn) {
  const wildlife_animal *self = turn->self;
  wildlife_face *face = turn->update->published;
  face->mood = (uint8_t)self->mood;
  face->company = (uint8_t)(self->senses.kin < 255 ? self->senses.kin : 255);
  face->heading = self->heading;
  face->speed_mps = self->speed_mps;
}

muster_atom_result wildlife_live(muster_update *update) {
  wildlife_turn turn = wildlife_turn_of(update);
  muster_position place = update->position;
  live_through(&turn, &place, (float)update->elapsed_ns * 1e-9f);
  muster_update_move(update, place);
  show_face(&turn);
  turn.self->intent = intent_of(&turn, place);
  return turn.self->intent ? MUSTER_ATOM_NEXT : MUSTER_ATOM_FINISH;
}

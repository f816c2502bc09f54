/* The state machine of moods.
 *
 *     grazers   GRAZE <-> WANDER <-> REST       by hunger, ground, crowd and vigour, when a mood has run its time
 *               any -> ALERT                    a bobcat that hunts is in sight (react_grazer)
 *               any -> FLEE                     it is close (react_grazer)
 *               FLEE -> HIDE                    a groundhog is home (wildlife_choose_mood)
 *     bobcat    WANDER <-> REST                 while it is not hungry
 *               any -> PROWL                    hungry (choose_bobcat)
 *               PROWL -> CHASE                  prey is near enough for a sprint (react_bobcat)
 *               CHASE -> REST                   exhausted, or the quarry is gone (react_bobcat)
 *               CHASE -> FEED                   a strike succeeded (wildlife_act) */
#include "scenarios/wildlife.h"

#include <math.h>

static const float sprint_m = 7.0f;      /* a chase begins at this distance */
static const float lose_m = 30.0f;       /* and ends at this one */
static const float at_home_m = 1.0f;     /* of its burrow */
static const float roam_m = 22.0f;       /* how far a groundhog goes from it */
static const float herd_density = 6.5f;  /* javelinas per 1000 m2 around one of them: more are too many for a herd */
static const float fence_sense_m = 6.0f; /* where animals begin to turn away from the fence */

void wildlife_take_mood(wildlife_animal *animal, wildlife_mood mood, float duration_s) {
  animal->mood = mood;
  animal->mood_left_s = duration_s;
}

/* ------------------------------------------------------------------------------------------------------------ choice
 */

/* Between two given durations, by chance. */
static float lasting(const wildlife_turn *turn, float shortest_s, float longest_s) {
  return shortest_s + (longest_s - shortest_s) * muster_update_random_share(turn->update);
}

static wildlife_mood wildlife_think_best_of(const wildlife_turn *turn, float graze, float wander, float rest) {
  static const float whim = 0.15f;
  graze += whim * muster_update_random_share(turn->update);
  wander += whim * muster_update_random_share(turn->update);
  rest += whim * muster_update_random_share(turn->update);
  if (graze >= wander && graze >= rest) return WILDLIFE_GRAZE;
  return wander >= rest ? WILDLIFE_WANDER : WILDLIFE_REST;
}

/* Full decision-making weighs the ground and the crowd; the cheapest level knows hunger and vigour alone. */
static void choose_grazer(const wildlife_turn *turn, muster_position place) {
  const wildlife_animal *self = turn->self;
  float hunger = 1.0f - self->energy, fatigue = 1.0f - self->vigour;
  float ground = 0.7f, crowd = 0.5f;
  if (turn->update->level < 2) {
    ground = wildlife_richness(turn->kind->desert, place.x, place.y);
    crowd = fminf(self->company / 22.0f, 1.0f);
  }
  float graze = hunger * (0.6f + 0.8f * ground);
  float wander = 0.1f + 0.4f * hunger * (1.0f - ground) + 0.2f * crowd;
  float rest = 0.1f + 0.6f * fatigue;
  wildlife_take_mood(turn->self, wildlife_think_best_of(turn, graze, wander, rest), lasting(turn, 1.5f, 4.0f));
}

static void choose_bobcat(const wildlife_turn *turn) {
  wildlife_animal *self = turn->self;
  bool hungry = self->energy<0.7f, rested = self->vigour> 0.5f;
  if (hungry && rested)
    wildlife_take_mood(self, WILDLIFE_PROWL, lasting(turn, 2.0f, 5.0f));
  else if (rested && muster_update_random_share(turn->update) < 0.4f)
    wildlife_take_mood(self, WILDLIFE_WANDER, lasting(turn, 2.0f, 5.0f));
  else
    wildlife_take_mood(self, WILDLIFE_REST, lasting(turn, 1.5f, 4.0f));
}

static float home_distance(const wildlife_animal *self, muster_position place) {
  return hypotf(self->home_x - (float)place.x, self->home_y - (float)place.y);
}

void wildlife_choose_mood(const wildlife_turn *turn, muster_position place) {
  wildlife_animal *self = turn->self;
  bool groundhog = turn->kind->species == WILDLIFE_GROUNDHOG;
  if (turn->kind->species == WILDLIFE_BOBCAT)
    choose_bobcat(turn);
  else if (groundhog && self->mood == WILDLIFE_FLEE && home_distance(self, place) <= at_home_m)
    wildlife_take_mood(self, WILDLIFE_HIDE, lasting(turn, 2.0f, 5.0f));
  else
    choose_grazer(turn, place);
}

/* ---------------------------------------------------------------------------------------------------------- reaction
 */

/* A javelina with company stands its ground. */
static bool stands_its_ground(const wildlife_turn *turn) {
  return turn->kind->species == WILDLIFE_JAVELINA && turn->self->senses.kin >= 3;
}

static void react_grazer(const wildlife_turn *turn) {
  wildlife_animal *self = turn->self;
  const wildlife_senses *senses = &self->senses;
  float flight_m = turn->kind->profile->flight_m;
  if (self->mood == WILDLIFE_HIDE || senses->threat_m == INFINITY) return;
  bool hunting = senses->threat_mood == WILDLIFE_CHASE || senses->threat_mood == WILDLIFE_PROWL;
  if (senses->threat_mood != WILDLIFE_CHASE) flight_m *= hunting ? 0.5f : 0.3f;
  if (senses->threat_m <= flight_m && stands_its_ground(turn))
    wildlife_take_mood(self, WILDLIFE_ALERT, 1.0f);
  else if (senses->threat_m <= flight_m)
    wildlife_take_mood(self, WILDLIFE_FLEE, 1.2f);
  else if (hunting && self->mood != WILDLIFE_FLEE && senses->threat_m <= 1.5f * flight_m)
    wildlife_take_mood(self, WILDLIFE_ALERT, 0.8f);
}

static void give_up(wildlife_animal *self, float rest_s) {
  self->quarry = (muster_agent){0, 0};
  wildlife_take_mood(self, WILDLIFE_REST, rest_s);
}

/* Where the quarry is now; it may be out of sight. False when it is gone, too far or underground. */
static bool follow_quarry(const wildlife_turn *turn) {
  wildlife_animal *self = turn->self;
  muster_position there, here = turn->update->position;
  const wildlife_face *face = muster_update_published_of(turn->update, self->quarry);
  if (!face || face->mood == WILDLIFE_HIDE) return false;
  if (!muster_update_position_of(turn->update, self->quarry, &there)) return false;
  self->senses.prey = self->quarry;
  self->senses.prey_x = (float)(there.x - here.x);
  self->senses.prey_y = (float)(there.y - here.y);
  return hypotf(self->senses.prey_x, self->senses.prey_y) <= lose_m;
}

static void react_bobcat(const wildlife_turn *turn) {
  wildlife_animal *self = turn->self;
  if (self->mood == WILDLIFE_CHASE) {
    if (!follow_quarry(turn))
      give_up(self, 1.0f);
    else if (self->vigour <= 0.05f)
      give_up(self, 4.0f);
  } else if (self->mood == WILDLIFE_PROWL && !muster_agent_is_null(self->senses.prey)) {
    self->quarry = self->senses.prey;
    if (hypotf(self->senses.prey_x, self->senses.prey_y) <= sprint_m) wildlife_take_mood(self, WILDLIFE_CHASE, 8.0f);
  }
}

/* ---------------------------------------------------------------------------------------------------------- steering
 */

typedef struct direction {
  float x, y;
} direction;

static direction towards(float angle, float weight) {
  return (direction){weight * cosf(angle), weight * sinf(angle)};
}

static void add(direction *sum, float x, float y, float weight) {
  sum->x += weight * x;
  sum->y += weight * y;
}

/* Full decision-making feels to both sides where more grows. */
static void seek_richer_ground(const wildlife_turn *turn, muster_position place, direction *sum) {
  static const float feel_m = 8.0f;
  const wildlife *desert = turn->kind->desert;
  float left = turn->self->heading + 0.8f, right = turn->self->heading - 0.8f;
  direction to_left = towards(left, 1.0f), to_right = towards(right, 1.0f);
  float richness_left =
      wildlife_richness(desert, place.x + (double)(feel_m * to_left.x), place.y + (double)(feel_m * to_left.y));
  float richness_right =
      wildlife_richness(desert, place.x + (double)(feel_m * to_right.x), place.y + (double)(feel_m * to_right.y));
  if (richness_left > richness_right)
    add(sum, to_left.x, to_left.y, 4.0f * (richness_left - richness_right));
  else
    add(sum, to_right.x, to_right.y, 4.0f * (richness_right - richness_left));
}

static void avoid_fence(const wildlife *desert, muster_position place, direction *sum) {
  float inner = (float)desert->half_m - fence_sense_m;
  float x = (float)place.x, y = (float)place.y;
  if (fabsf(x) > inner) sum->x -= copysignf((fabsf(x) - inner) / fence_sense_m * 2.0f, x);
  if (fabsf(y) > inner) sum->y -= copysignf((fabsf(y) - inner) / fence_sense_m * 2.0f, y);
}

/* Javelinas keep together until the herd grows so large that it breaks up, the others keep apart; a groundhog stays
 * around its burrow. */
static void keep_company(const wildlife_turn *turn, muster_position place, direction *sum) {
  const wildlife_animal *self = turn->self;
  const wildlife_senses *senses = &self->senses;
  add(sum, senses->apart_x, senses->apart_y, 0.5f);
  if (turn->kind->species == WILDLIFE_JAVELINA && senses->kin) {
    float distance_m = hypotf(senses->kin_x, senses->kin_y);
    float bond = fmaxf(1.0f - self->crowding / herd_density, -0.6f);
    if (distance_m > 4.0f || bond < 0.0f) add(sum, senses->kin_x, senses->kin_y, 1.2f * bond / fmaxf(distance_m, 1.0f));
    add(sum, senses->kin_heading_x, senses->kin_heading_y, 0.5f * fmaxf(bond, 0.0f));
  } else if (turn->kind->species == WILDLIFE_GROUNDHOG) {
    float distance_m = home_distance(self, place);
    float pull = distance_m > roam_m ? 1.5f / distance_m : 0.0f;
    add(sum, self->home_x - (float)place.x, self->home_y - (float)place.y, pull);
  }
}

static void steer_freely(const wildlife_turn *turn, muster_position place) {
  wildlife_animal *self = turn->self;
  float swerve = 2.4f * (muster_update_random_share(turn->update) - 0.5f);
  direction sum = towards(self->heading + swerve, 1.0f);
  keep_company(turn, place, &sum);
  if (turn->update->level == 0 && turn->kind->species != WILDLIFE_BOBCAT) seek_richer_ground(turn, place, &sum);
  avoid_fence(turn->kind->desert, place, &sum);
  self->aim = atan2f(sum.y, sum.x);
}

static void steer_to(wildlife_animal *self, float x, float y) {
  self->aim = atan2f(y, x);
  self->reach_m = hypotf(x, y);
}

/* Away from the bobcat, in a zigzag when it is a hare, and not into the fence. */
static void steer_away(const wildlife_turn *turn, muster_position place) {
  wildlife_animal *self = turn->self;
  const wildlife_senses *senses = &self->senses;
  if (turn->kind->species == WILDLIFE_GROUNDHOG) {
    steer_to(self, self->home_x - (float)place.x, self->home_y - (float)place.y);
    return;
  }
  direction sum = towards(self->heading, 0.3f);
  if (senses->threat_m < INFINITY) {
    float each = 1.0f / fmaxf(senses->threat_m, 0.1f);
    add(&sum, senses->threat_x, senses->threat_y, -each);
  }
  if (turn->kind->species == WILDLIFE_HARE) {
    direction side = towards(self->heading + 1.5707963f, muster_update_random_share(turn->update) - 0.5f);
    add(&sum, side.x, side.y, 1.4f);
  }
  avoid_fence(turn->kind->desert, place, &sum);
  self->aim = atan2f(sum.y, sum.x);
}

void wildlife_steer(const wildlife_turn *turn, muster_position place) {
  wildlife_animal *self = turn->self;
  bool prey_in_sight = !muster_agent_is_null(self->senses.prey);
  float moved_x = (float)(place.x - turn->update->position.x), moved_y = (float)(place.y - turn->update->position.y);
  self->reach_m = INFINITY;
  switch ((wildlife_mood)self->mood) {
  case WILDLIFE_FLEE:
    steer_away(turn, place);
    break;
  case WILDLIFE_HIDE:
    steer_to(self, self->home_x - (float)place.x, self->home_y - (float)place.y);
    break;
  case WILDLIFE_PROWL:
  case WILDLIFE_CHASE:
    if (prey_in_sight)
      steer_to(self, self->senses.prey_x - moved_x, self->senses.prey_y - moved_y);
    else
      steer_freely(turn, place);
    break;
  case WILDLIFE_GRAZE:
  case WILDLIFE_WANDER:
    steer_freely(turn, place);
    break;
  default:
    break; /* it stands or lies still */
  }
}

muster_atom_result wildlife_think(muster_update *update) {
  wildlife_turn turn = wildlife_turn_of(update);
  if (turn.kind->species == WILDLIFE_BOBCAT)
    react_bobcat(&turn);
  else
    react_grazer(&turn);
  wildlife_steer(&turn, update->position);
  return MUSTER_ATOM_NEXT;
}

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

/* ----------------------------------------------------------------------------------------------------------- choice */

/* Takes up a mood for a time between two given ones, by chance. */
static void take_mood(const wildlife_turn *turn, wildlife_mood mood, float shortest_s, float longest_s) {
  float share = muster_update_random_share(turn->update);
  wildlife_take_mood(turn->self, mood, shortest_s + (longest_s - shortest_s) * share);
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
  take_mood(turn, WILDLIFE_GRAZE, 1.5f, 4.0f);
  turn->self->mood = wildlife_think_best_of(turn, graze, wander, rest);
}

static void choose_bobcat(const wildlife_turn *turn) {
  const wildlife_animal *self = turn->self;
  bool hungry = self->energy<0.7f, rested = self->vigour> 0.5f;
  if (hungry && rested)
    take_mood(turn, WILDLIFE_PROWL, 2.0f, 5.0f);
  else if (rested && muster_update_random_share(turn->update) < 0.4f)
    take_mood(turn, WILDLIFE_WANDER, 2.0f, 5.0f);
  else
    take_mood(turn, WILDLIFE_REST, 1.5f, 4.0f);
}

static wildlife_way way_home(const wildlife_animal *self, muster_position place) {
  return (wildlife_way){self->home_x - (float)place.x, self->home_y - (float)place.y};
}

void wildlife_choose_mood(const wildlife_turn *turn, muster_position place) {
  wildlife_animal *self = turn->self;
  bool groundhog = turn->kind->species == WILDLIFE_GROUNDHOG;
  if (turn->kind->species == WILDLIFE_BOBCAT)
    choose_bobcat(turn);
  else if (groundhog && self->mood == WILDLIFE_FLEE && wildlife_length(way_home(self, place)) <= at_home_m)
    take_mood(turn, WILDLIFE_HIDE, 2.0f, 5.0f);
  else
    choose_grazer(turn, place);
}

/* --------------------------------------------------------------------------------------------------------- reaction */

static void react_grazer(const wildlife_turn *turn) {
  wildlife_animal *self = turn->self;
  const wildlife_senses *senses = &self->senses;
  float flight_m = turn->kind->profile->flight_m;
  if (self->mood == WILDLIFE_HIDE || senses->threat_m == INFINITY) return;
  bool hunting = senses->threat_mood == WILDLIFE_CHASE || senses->threat_mood == WILDLIFE_PROWL;
  if (senses->threat_mood != WILDLIFE_CHASE) flight_m *= hunting ? 0.5f : 0.3f;
  bool stands_its_ground = turn->kind->species == WILDLIFE_JAVELINA && senses->kin >= 3; /* with company */
  if (senses->threat_m <= flight_m && stands_its_ground)
    wildlife_take_mood(self, WILDLIFE_ALERT, 1.0f);
  else if (senses->threat_m <= flight_m)
    wildlife_take_mood(self, WILDLIFE_FLEE, 1.2f);
  else if (hunting && self->mood != WILDLIFE_FLEE && senses->threat_m <= 1.5f * flight_m)
    wildlife_take_mood(self, WILDLIFE_ALERT, 0.8f);
}

static void give_up(wildlife_animal *self, float rest_s) {
  self->quarry = (muster_agent){0};
  wildlife_take_mood(self, WILDLIFE_REST, rest_s);
}

/* Where the quarry is now; it may be out of sight. False when it is gone, too far or underground. */
static bool follow_quarry(const wildlife_turn *turn) {
  wildlife_animal *self = turn->self;
  muster_position there;
  if (!wildlife_quarry(turn, &there)) return false;
  self->prey = self->quarry;
  self->senses.prey_way = wildlife_way_between(turn->update->position, there);
  return wildlife_length(self->senses.prey_way) <= lose_m;
}

static void react_bobcat(const wildlife_turn *turn) {
  wildlife_animal *self = turn->self;
  if (self->mood == WILDLIFE_CHASE) {
    if (!follow_quarry(turn))
      give_up(self, 1.0f);
    else if (self->vigour <= 0.05f)
      give_up(self, 4.0f);
  } else if (self->mood == WILDLIFE_PROWL && !muster_agent_is_null(self->prey)) {
    self->quarry = self->prey;
    if (wildlife_length(self->senses.prey_way) <= sprint_m) wildlife_take_mood(self, WILDLIFE_CHASE, 8.0f);
  }
}

/* --------------------------------------------------------------------------------------------------------- steering */

static wildlife_way towards(float angle, float weight) {
  return (wildlife_way){weight * cosf(angle), weight * sinf(angle)};
}

/* The plant growth that an animal feels ahead of it at that angle; *way is the direction. */
static float feel_growth(const wildlife_turn *turn, muster_position place, float angle, wildlife_way *way) {
  static const float feel_m = 8.0f;
  *way = towards(angle, 1.0f);
  return wildlife_richness(turn->kind->desert, place.x + (double)(feel_m * way->x),
                           place.y + (double)(feel_m * way->y));
}

/* Full decision-making feels to both sides where more grows. */
static void seek_richer_ground(const wildlife_turn *turn, muster_position place, wildlife_way *sum) {
  wildlife_way to_left, to_right;
  float left = feel_growth(turn, place, turn->self->heading + 0.8f, &to_left);
  float right = feel_growth(turn, place, turn->self->heading - 0.8f, &to_right);
  wildlife_add(sum, left > right ? to_left : to_right, 4.0f * fabsf(left - right));
}

/* How strongly the fence turns an animal back that stands there on an axis, from the middle of the desert. */
static float fence_push(double half_m, float place) {
  float inner = (float)half_m - fence_sense_m;
  return copysignf(fmaxf(fabsf(place) - inner, 0.0f) / fence_sense_m * 2.0f, place);
}

/* Heads where the sum points, but not into the fence. */
static void head_along(const wildlife_turn *turn, muster_position place, wildlife_way sum) {
  const wildlife_ground *fence = &turn->kind->desert->fence;
  sum.x -= fence_push(fence->half_x, (float)(place.x - fence->x));
  sum.y -= fence_push(fence->half_y, (float)(place.y - fence->y));
  turn->self->aim = atan2f(sum.y, sum.x);
}

/* Javelinas keep together until the herd grows so large that it breaks up, the others keep apart; a groundhog stays
 * around its burrow. */
static void keep_company(const wildlife_turn *turn, muster_position place, wildlife_way *sum) {
  const wildlife_animal *self = turn->self;
  const wildlife_senses *senses = &self->senses;
  wildlife_add(sum, senses->apart, 0.5f);
  if (turn->kind->species == WILDLIFE_JAVELINA && senses->kin) {
    float distance_m = wildlife_length(senses->kin_way);
    float bond = fmaxf(1.0f - self->crowding / herd_density, -0.6f);
    if (distance_m > 4.0f || bond < 0.0f) wildlife_add(sum, senses->kin_way, 1.2f * bond / fmaxf(distance_m, 1.0f));
    wildlife_add(sum, senses->kin_heading, 0.5f * fmaxf(bond, 0.0f));
  } else if (turn->kind->species == WILDLIFE_GROUNDHOG) {
    wildlife_way way = way_home(self, place);
    float distance_m = wildlife_length(way);
    wildlife_add(sum, way, distance_m > roam_m ? 1.5f / distance_m : 0.0f);
  }
}

static void steer_freely(const wildlife_turn *turn, muster_position place) {
  float swerve = 2.4f * (muster_update_random_share(turn->update) - 0.5f);
  wildlife_way sum = towards(turn->self->heading + swerve, 1.0f);
  keep_company(turn, place, &sum);
  if (turn->update->level == 0 && turn->kind->species != WILDLIFE_BOBCAT) seek_richer_ground(turn, place, &sum);
  head_along(turn, place, sum);
}

static void steer_to(wildlife_animal *self, wildlife_way way) {
  self->aim = atan2f(way.y, way.x);
  self->reach_m = wildlife_length(way);
}

/* Away from the bobcat, in a zigzag when it is a hare. */
static void steer_away(const wildlife_turn *turn, muster_position place) {
  const wildlife_senses *senses = &turn->self->senses;
  wildlife_way sum = towards(turn->self->heading, 0.3f);
  if (senses->threat_m < INFINITY) wildlife_add(&sum, senses->threat_way, -1.0f / fmaxf(senses->threat_m, 0.1f));
  if (turn->kind->species == WILDLIFE_HARE) {
    float side = muster_update_random_share(turn->update) - 0.5f;
    wildlife_add(&sum, towards(turn->self->heading + 1.5707963f, side), 1.4f);
  }
  head_along(turn, place, sum);
}

void wildlife_steer(const wildlife_turn *turn, muster_position place) {
  wildlife_animal *self = turn->self;
  bool flees = self->mood == WILDLIFE_FLEE, hunts = self->mood == WILDLIFE_PROWL || self->mood == WILDLIFE_CHASE;
  self->reach_m = INFINITY;
  if (self->mood == WILDLIFE_HIDE || (flees && turn->kind->species == WILDLIFE_GROUNDHOG)) {
    steer_to(self, way_home(self, place));
  } else if (flees) {
    steer_away(turn, place);
  } else if (hunts && !muster_agent_is_null(self->prey)) {
    wildlife_way way = self->senses.prey_way;
    wildlife_add(&way, wildlife_way_between(turn->update->position, place), -1.0f);
    steer_to(self, way);
  } else if (hunts || self->mood == WILDLIFE_GRAZE || self->mood == WILDLIFE_WANDER) {
    steer_freely(turn, place);
  } /* else it stands or lies still */
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

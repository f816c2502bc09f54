/* Action: what changes others. Animals act by region: those of one region one at a time, beside those of others. */
#include "scenarios/wildlife.h"

static const float reach_m = 3.0f; /* of a strike: the quarry had a moment to move on */

static wildlife_tally *tally_of(const wildlife_turn *turn) {
  return scaffold_tally(&turn->kind->desert->base, turn->update);
}

static void bury(const wildlife_turn *turn, wildlife_species species, const wildlife_animal *dead, wildlife_fate fate) {
  wildlife_tally *tally = tally_of(turn);
  tally->deaths[species][fate]++;
  tally->grazed[species] += scaffold_tallied(dead->grazed);
  tally->eaten += scaffold_tallied(dead->eaten);
  tally->distance_m += scaffold_tallied(dead->distance_m);
}

/* The first of several bobcats to strike gets the prey: only its removal succeeds. That holds among animals of one
 * region. So a bobcat whose quarry is over the border runs on, and strikes in a later update, when it is there, too. */
static void wildlife_act_strike(const wildlife_turn *turn) {
  wildlife_animal *self = turn->self;
  muster_position there; /* as of this commit */
  const wildlife_face *quarry = wildlife_quarry(turn, &there);
  if (!quarry || !wildlife_within(turn->update->position, there, reach_m)) return;
  const wildlife_animal *victim = muster_update_state_of(turn->update, self->quarry);
  if (!victim) return; /* over the border */
  tally_of(turn)->strikes++;
  wildlife_species species = (wildlife_species)quarry->species;
  bool caught = muster_update_random_share(turn->update) < wildlife_odds(quarry) && !turn->kind->desert->eternal;
  if (caught && muster_update_remove(turn->update, self->quarry) == MUSTER_OK) {
    float meal = fminf(wildlife_profiles[species].meal, 1.0f - self->energy);
    bury(turn, species, victim, WILDLIFE_KILLED);
    self->energy += meal;
    self->eaten += (double)meal;
    wildlife_take_mood(self, WILDLIFE_FEED, 5.0f);
  } else {
    wildlife_take_mood(self, WILDLIFE_REST, 2.0f);
  }
  self->quarry = (muster_agent){0};
  ((wildlife_face *)turn->update->published)->mood = (uint8_t)self->mood;
}

/* A place for a young one: beside its mother, a groundhog's new burrow some way off. */
static muster_position nursery(const wildlife_turn *turn) {
  float angle = 6.2831853f * muster_update_random_share(turn->update);
  float far_m = turn->kind->species == WILDLIFE_GROUNDHOG ? 45.0f : 3.0f;
  muster_position place = turn->update->position;
  wildlife_go(&place, angle, 1.0f + far_m * muster_update_random_share(turn->update));
  wildlife_keep_in(&turn->kind->desert->fence, &place);
  return place;
}

static bool bear_one(const wildlife_turn *turn) {
  wildlife_animal young;
  wildlife_face face;
  muster_agent_def def = scaffold_agent(turn->kind->type, nursery(turn), &young);
  wildlife_make(turn->kind, false, muster_update_random(turn->update), def.position, &young, &face);
  young.crowding = turn->self->crowding;
  young.company = turn->self->company;
  def.published = &face;
  return !muster_agent_is_null(muster_update_spawn(turn->update, &def));
}

static void bear(const wildlife_turn *turn) {
  wildlife_animal *self = turn->self;
  const wildlife_profile *profile = turn->kind->profile;
  wildlife_tally *tally = tally_of(turn);
  self->gestation = 0.0f;
  for (uint32_t i = 0; i < profile->litter; i++) {
    if (!bear_one(turn)) {
      tally->births_refused++;
      return;
    }
    tally->births[turn->kind->species]++;
    self->energy -= profile->birth_energy;
  }
}

static void die(const wildlife_turn *turn) {
  wildlife_fate fate = turn->self->energy <= 0.0f ? WILDLIFE_STARVED : WILDLIFE_AGED;
  if (muster_update_remove(turn->update, turn->update->agent) != MUSTER_OK) return;
  bury(turn, turn->kind->species, turn->self, fate);
}

muster_atom_result wildlife_act(muster_update *update) {
  wildlife_turn turn = wildlife_turn_of(update);
  uint32_t intent = turn.self->intent;
  turn.self->intent = 0;
  if (intent & WILDLIFE_STRIKES) wildlife_act_strike(&turn);
  if (intent & WILDLIFE_DIES)
    die(&turn);
  else if (intent & WILDLIFE_BEARS)
    bear(&turn);
  return MUSTER_ATOM_FINISH;
}

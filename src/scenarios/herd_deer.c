/* Near herds: a leaf of a membrane, which stands for one deer or for several. What it does in its action it does to
 * itself, so leaves act by region. */
#include "scenarios/herd.h"

#include <muster/herd.h>

static const uint64_t period_ns = 500000000u, period_max_ns = 4000000000u;

/* Walks with the others. Muster keeps the place as doubles: only the distance walked is added to it. */
static void herd_deer_walk(muster_update *update, const muster_flock *flock, float elapsed_s) {
  const herd_world *self = update->type_user;
  herd_deer *deer = update->state;
  herd_face *face = update->published;
  bool listed = flock->self < flock->count;
  float x = listed ? flock->x[flock->self] : (float)(update->position.x - flock->origin_x);
  float y = listed ? flock->y[flock->self] : (float)(update->position.y - flock->origin_y);
  herd_flock_step step = {.rules = &self->rules,
                          .ground = &self->ground,
                          .origin_x = (float)flock->origin_x,
                          .origin_y = (float)flock->origin_y,
                          .centre_x = flock->herd_x,
                          .centre_y = flock->herd_y,
                          .random = (uint32_t)muster_update_random(update)};
  herd_flock_bodies bodies = {flock->count,      flock->x,          flock->y,
                              flock->velocity_x, flock->velocity_y, flock->leaf_members};
  herd_flock_body body = {x, y, face->velocity_x + deer->scare_x, face->velocity_y + deer->scare_y};
  deer->scare_x = deer->scare_y = 0.0f;
  herd_flock_live(&step, &bodies, flock->node, elapsed_s, &body);
  face->velocity_x = body.velocity_x;
  face->velocity_y = body.velocity_y;
  muster_position place = update->position;
  place.x += (double)(body.x - x);
  place.y += (double)(body.y - y);
  muster_update_move(update, place);
}

/* Grazes, and draws the births and deaths, by the same rates as a far herd. */
static void herd_deer_pass_time(muster_update *update, const muster_flock *flock, float elapsed_s) {
  const herd_world *self = update->type_user;
  herd_face *face = update->published;
  herd_deer *deer = update->state;
  float members = (float)flock->members;
  float pace = self->choice.pace;
  uint32_t company = 0; /* all deer of the herd */
  for (uint32_t i = 0; i < flock->count; i++) company += flock->leaf_members[i];
  face->totals[HERD_GRAZED] += herd_grazing_g * members * elapsed_s;
  if (company < HERD_MEMBERS)
    face->totals[HERD_FAWNS] +=
        (float)herd_draw(herd_births * pace, members, elapsed_s, muster_update_random_share(update));
  uint32_t dying = herd_draw(herd_deaths * pace, members, elapsed_s, muster_update_random_share(update));
  deer->dying = dying < flock->members ? dying : flock->members;
}

static muster_atom_result herd_deer_live(muster_update *update) {
  muster_flock flock;
  herd_deer *deer = update->state;
  float elapsed_s = (float)update->elapsed_ns * 1e-9f;
  if (!muster_update_flock(update, &flock)) return MUSTER_ATOM_FINISH;
  deer->herd = flock.herd;
  deer->members = flock.members;
  herd_deer_walk(update, &flock, elapsed_s);
  herd_deer_pass_time(update, &flock, elapsed_s);
  return deer->dying ? MUSTER_ATOM_NEXT : MUSTER_ATOM_FINISH;
}

/* When a leaf has no member left, this update is never published, so what it grazed in this update is noted here. */
static muster_atom_result herd_deer_die(muster_update *update) {
  const herd_world *self = update->type_user;
  herd_tally *tally = herd_tally_of(update);
  herd_deer *deer = update->state;
  float totals[MUSTER_HERD_TOTALS] = {0};
  herd_face *face = update->published;
  uint32_t dead = muster_update_herd_take(update, deer->herd, deer->dying, totals);
  double waited_s = (double)(self->base.now_ns - update->now_ns) * 1e-9; /* for a commit with time for this action */
  tally->deaths += dead;
  tally->grazed_by_dead_g += scaffold_tallied((double)herd_grazing_g * dead * waited_s);
  herd_tally_dead(tally, totals);
  if (dead > 0 && dead == deer->members) {
    herd_tally_dead(tally, face->totals);
    face->totals[HERD_GRAZED] = face->totals[HERD_FAWNS] = 0.0f;
  }
  deer->dying = 0;
  return MUSTER_ATOM_NEXT;
}

/* What it grazed stays in the sums. */
static void leave(muster_update *update) {
  const herd_face *face = update->published;
  herd_tally_dead(herd_tally_of(update), face->totals);
}

muster_result herd_unfold_deer(const muster_herd_change *change) {
  const herd_deer *parent = change->parent_state;
  for (uint32_t i = 0; i < change->child_count; i++) {
    herd_deer *child = change->child_states[i];
    *child = (herd_deer){.herd = change->herd, .members = change->child_members[i]};
    if (!parent) continue;
    child->scare_x = parent->scare_x;
    child->scare_y = parent->scare_y;
  }
  return MUSTER_OK;
}

/* A scare that no update has used yet is spread over all members: the parent gets the mean. */
muster_result herd_fold_deer(const muster_herd_change *change) {
  herd_deer *parent = change->parent_state;
  if (!parent) return MUSTER_OK;
  *parent = (herd_deer){.herd = change->herd, .members = change->members};
  for (uint32_t i = 0; i < change->child_count; i++) {
    const herd_deer *child = change->child_states[i];
    float part = (float)change->child_members[i] / (float)change->members;
    parent->scare_x += child->scare_x * part;
    parent->scare_y += child->scare_y * part;
  }
  return MUSTER_OK;
}

muster_result herd_register_deer(herd_world *self, muster_world *world) {
  const muster_atom atoms[] = {{.run = herd_deer_live, .role = MUSTER_ROLE_BEHAVIOUR, .model_ns = 600},
                               {.run = herd_deer_die, .role = MUSTER_ROLE_ACTION, .model_ns = 500}};
  muster_type_def def = scaffold_type("deer", SCAFFOLD_ATOMS(atoms), sizeof(herd_deer), period_ns, period_max_ns);
  def.published_bytes = sizeof(herd_face);
  def.on_removed = leave;
  def.act = MUSTER_ACT_REGION;
  def.user = self;
  return scaffold_register(world, &def, &self->deer_type);
}

/* The sets of a pursuer as Muster runs them. */
#include "scenarios/pursuit.h"

#include <muster/sets.h>

#include <math.h>
#include <stddef.h>

enum { STRETCH_MAX = 3 }; /* the most that periods stretch under load */

/* A set, its atoms and what they cost.
 *
 * The costs are what one call took in the mean, in ns, with 169 agents, on one core of 2.5 GHz:
 *     muster repro wright --measure */
static const struct {
  const char *name;
  muster_role role;
  muster_mode mode;
  uint32_t priority, period, delay, atoms, model_ns;
} table[PURSUIT_SETS] = {
    [PURSUIT_SEE_TARGET] = {"see target", MUSTER_ROLE_PERCEPTION, MUSTER_MODE_RUN, 100, 1, 0, 1, 30},
    [PURSUIT_SEE_NEIGHBOURS] = {"see neighbours", MUSTER_ROLE_PERCEPTION, MUSTER_MODE_RUN, 90, 6, 1, 1, 1250},
    [PURSUIT_PLAN] = {"plan", MUSTER_ROLE_BEHAVIOUR, MUSTER_MODE_SUSPENDABLE, 20, 8, 2, 1, 15000},
    [PURSUIT_FOLLOW] = {"follow", MUSTER_ROLE_BEHAVIOUR, MUSTER_MODE_RUN, 60, 4, 0, 1, 70},
    [PURSUIT_AVOID] = {"avoid", MUSTER_ROLE_BEHAVIOUR, MUSTER_MODE_SLICEABLE, 80, 6, 1, PURSUIT_AVOID_ATOMS, 33500},
    [PURSUIT_STEER] = {"steer", MUSTER_ROLE_ACTION, MUSTER_MODE_RUN, 100, 1, 0, 1, 80},
};

_Static_assert(PURSUIT_SETS - 1 + PURSUIT_AVOID_ATOMS == PURSUIT_ATOMS, "the atoms of all sets");

pursuit_set pursuit_set_of(uint32_t atom) {
  uint32_t set = 0;
  while (atom >= table[set].atoms) atom -= table[set++].atoms;
  return (pursuit_set)set;
}

uint32_t pursuit_model_ns(uint32_t atom) {
  return table[pursuit_set_of(atom)].model_ns;
}

const char *pursuit_set_name(pursuit_set set) {
  return table[set].name;
}

uint32_t pursuit_period(pursuit_set set) {
  return table[set].period;
}

uint32_t pursuit_delay(pursuit_set set) {
  return table[set].delay;
}

/* ---------------------------------------------------------------------------------------------------------- tallies */

/* A set that ran late did so in a frame after that of its update, or in a later update. */
static void end_set(const pursuit *self, pursuit_body *body, pursuit_set set) {
  pursuit_tally *tally = &body->tallies[set];
  uint32_t period = self->version.every_update ? 1 : table[set].period;
  if (tally->next == 0 || tally->next > body->updates) tally->next = body->updates;
  tally->runs++;
  tally->late += body->pass_ns != self->base.now_ns || tally->next < body->updates;
  for (; tally->next <= body->updates; tally->next += period) tally->due++;
}

/* ------------------------------------------------------------------------------------------------------------ atoms */

static void pursuit_sets_see_target(muster_update *update) {
  const pursuit *self = update->type_user;
  pursuit_body *body = update->state;
  muster_position place;
  body->pass_ns = self->base.now_ns;
  body->updates++;
  const pursuit_face *face = muster_update_published_of(update, body->target);
  if (!face || !muster_update_position_of(update, body->target, &place)) return;
  body->target_x = (float)pursuit_way(self->side_m, update->position.x, place.x);
  body->target_y = (float)pursuit_way(self->side_m, update->position.y, place.y);
  body->target_heading = face->heading;
  body->target_speed = face->speed_mps;
}

static void pursuit_sets_see_neighbours(muster_update *update, double side_m) {
  pursuit_body *body = update->state;
  muster_neighbour near[PURSUIT_SIGHTS];
  uint32_t count = muster_update_nearby(update, pursuit_sight_m, (muster_type){0}, near, PURSUIT_SIGHTS);
  body->seen = 0;
  body->looks += count;
  for (uint32_t i = 0; i < count; i++)
    pursuit_notice(body, side_m, update->position, near[i].position, near[i].published);
}

static bool broke_limits(const pursuit_face *before, const pursuit_face *after, float elapsed_s) {
  static const float slack = 1e-3f; /* of rounding */
  float turn = fabsf(after->heading - before->heading);
  turn = fminf(turn, 6.2831853f - turn);
  return turn > pursuit_turn_rps * elapsed_s + slack ||
         fabsf(after->speed_mps - before->speed_mps) > pursuit_acceleration_mps2 * elapsed_s + slack ||
         after->speed_mps < 0.0f || after->speed_mps > pursuit_speed_max_mps;
}

/* For a fraction of a second a float is exact enough. */
static void pursuit_sets_steer(muster_update *update, double side_m) {
  pursuit_body *body = update->state;
  pursuit_face *face = update->published, before = *face; /* its own, as the frame leaves it */
  float elapsed_s = (float)((double)update->elapsed_ns * 1e-9);
  muster_position place = pursuit_steer(body, face, update->position, side_m, elapsed_s);
  body->breaches += broke_limits(&before, face, elapsed_s);
  muster_update_move(update, place);
}

/* ------------------------------------------------------------------------------------------------------- callbacks */

static void run_slice(muster_update *update, uint32_t slice) {
  const pursuit *self = update->type_user;
  bool coarse = self->version.coarse;
  pursuit_set set = (pursuit_set)update->set;
  if (set == PURSUIT_SEE_TARGET) pursuit_sets_see_target(update);
  if (set == PURSUIT_SEE_NEIGHBOURS) pursuit_sets_see_neighbours(update, self->side_m);
  if (set == PURSUIT_PLAN) pursuit_plan(update->state, update->published, coarse);
  if (set == PURSUIT_FOLLOW) pursuit_follow(update->state, update->published);
  if (set == PURSUIT_AVOID) pursuit_avoid(update->state, update->published, slice, coarse);
  if (set == PURSUIT_STEER) pursuit_sets_steer(update, self->side_m);
  if (slice + 1 == table[set].atoms) end_set(self, update->state, set);
}

/* Atoms are numbered from set to set. */
static void run(muster_update *update, uint32_t slice) {
  const pursuit_meter *meter = ((const pursuit *)update->type_user)->version.meter;
  uint32_t atom = slice;
  for (uint32_t set = 0; meter && set < update->set; set++) atom += table[set].atoms;
  if (meter) meter->note(atom, false, meter->user);
  run_slice(update, slice);
  if (meter) meter->note(atom, true, meter->user);
}

PURSUIT_CALLBACK(run_first, run(update, 0))
PURSUIT_CALLBACK(run_second, run(update, 1))
PURSUIT_CALLBACK(run_third, run(update, 2))
PURSUIT_CALLBACK(run_fourth, run(update, 3))
PURSUIT_CALLBACK(run_fifth, run(update, 4))

/* ------------------------------------------------------------------------------------------------------------- type */

static void define_set(const pursuit_version *version, pursuit_set set, const muster_atom *atoms, muster_set_def *def) {
  *def = muster_set_def_default();
  def->name = table[set].name;
  def->role = table[set].role;
  def->mode = table[set].mode;
  def->share = table[set].priority;
  def->period_updates = version->every_update ? 1 : table[set].period;
  def->delay_updates = version->every_update ? 0 : table[set].delay;
  def->atoms = atoms;
  def->atom_count = table[set].atoms;
}

muster_type_def pursuit_define(const pursuit_version *version, const pursuit_callback callbacks[PURSUIT_ATOMS],
                               pursuit_parts *parts) {
  uint32_t first = 0;
  for (uint32_t set = 0; set < PURSUIT_SETS; first += table[set++].atoms)
    define_set(version, (pursuit_set)set, &parts->atoms[first], &parts->sets[set]);
  for (uint32_t atom = 0; atom < PURSUIT_ATOMS; atom++)
    parts->atoms[atom] = (muster_atom){.run = callbacks[atom], .model_ns = pursuit_model_ns(atom)};
  muster_type_def def = muster_type_def_default();
  def.name = "pursuer";
  def.sets.list = parts->sets;
  def.sets.count = PURSUIT_SETS;
  def.sets.order = MUSTER_SETS_AS_DEFINED; /* follow before avoid, which starts from the aim of following */
  def.period_ns = PURSUIT_UPDATE_NS;
  def.period_max_ns = version->elastic ? STRETCH_MAX * (uint64_t)PURSUIT_UPDATE_NS : PURSUIT_UPDATE_NS;
  def.elasticity = version->elastic ? 1.0f : 0.0f;
  def.sets.share = version->priority;
  return def;
}

static void choose_target(muster_update *update) {
  const pursuit *self = update->type_user;
  pursuit_body *body = update->state;
  body->target = self->ids[pursuit_first_target(self->base.seed, body->number, self->base.agents)];
}

muster_result pursuit_register(void *instance, muster_world *world) {
  static const pursuit_callback callbacks[PURSUIT_ATOMS] = {run_first,  run_first, run_first,  run_first, run_first,
                                                            run_second, run_third, run_fourth, run_fifth, run_first};
  pursuit *self = instance;
  pursuit_parts parts;
  muster_type_def def = pursuit_define(&self->version, callbacks, &parts);
  def.state_bytes = sizeof(pursuit_body);
  def.published_bytes = sizeof(pursuit_face);
  def.user = self;
  def.on_spawned = choose_target;
  return scaffold_register(world, &def, &self->type);
}

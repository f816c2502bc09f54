#include "scenarios/hostile.h"

#include "scenarios/busy_work.h"

#include <math.h>

static const double second_ns = 1e9;
static const float mayfly_s = 4.0f;
static const float birth_share = 0.10f, kill_share = 0.03f; /* of a breeder's updates, in an empty world */

/* A message: its sender, and how many messages that sent before. */
struct rumour {
  uint32_t number; /* of the sender, in hostile.members */
  uint32_t unused;
  uint64_t count;
};

/* ------------------------------------------------------------------------------------------------------ what all do */

static void spend(muster_update *update) {
  const hostile_cast *cast = update->type_user;
  uint64_t cost_ns = hostile_cost_ns(cast, update->level, update->elapsed_ns, muster_update_random(update));
  busy_work_spend((uint64_t)((double)cost_ns * cast->self->base.turns_per_ns));
}

/* Called once in each update, by the last of its atoms. */
static void grow_older(muster_update *update) {
  hostile_life *life = update->state;
  life->updates++;
  life->lived_ns += update->elapsed_ns;
  life->last_elapsed_ns = update->elapsed_ns;
  life->level_changes += life->level != update->level;
  life->level = update->level;
}

muster_atom_result hostile_work_on(muster_update *update) {
  spend(update);
  return MUSTER_ATOM_NEXT;
}

muster_atom_result hostile_work(muster_update *update) {
  spend(update);
  grow_older(update);
  return MUSTER_ATOM_FINISH;
}

void hostile_spawned(muster_update *update) {
  hostile_cast *cast = update->type_user;
  hostile_life *life = update->state;
  life->born_ns = update->now_ns;
  life->x = update->position.x;
  life->y = update->position.y;
  cast->self->tally.births++;
  if (cast->kind == HOSTILE_BREEDER) cast->self->breeders++;
}

void hostile_removed(muster_update *update) {
  hostile_cast *cast = update->type_user;
  cast->self->tally.deaths++;
  if (cast->kind == HOSTILE_BREEDER) cast->self->breeders--;
}

/* ------------------------------------------------------------------------------------------------ births and deaths */

static muster_agent spawn_another(muster_update *update) {
  const hostile_cast *cast = update->type_user;
  hostile_life young = {.number = UINT32_MAX};
  muster_agent_def def =
      scaffold_agent(cast->type, hostile_place(cast->self, cast->kind, muster_update_random(update)), &young);
  return muster_update_spawn(update, &def);
}

/* Most updates neither spawn nor kill, and end here. */
muster_atom_result hostile_breed(muster_update *update) {
  hostile_life *life = update->state;
  spend(update);
  life->intends = muster_update_random_share(update) < birth_share + kill_share;
  if (life->intends) return MUSTER_ATOM_NEXT;
  grow_older(update);
  return MUSTER_ATOM_FINISH;
}

/* Removes the nearest agent of its kind, or itself when there is none. */
static void kill_one(muster_update *update) {
  hostile_cast *cast = update->type_user;
  muster_neighbour victim = {.agent = update->agent};
  muster_update_nearby(update, 60.0f, cast->type, &victim, 1);
  cast->self->tally.kills += muster_update_remove(update, victim.agent) == MUSTER_OK;
}

/* The more breeders there are, the fewer are born, so that their number limits itself. */
muster_atom_result hostile_breed_now(muster_update *update) {
  hostile *self = ((hostile_cast *)update->type_user)->self;
  hostile_life *life = update->state;
  float room = 1.0f - (float)self->breeders / (float)self->breeders_max;
  float choice = muster_update_random_share(update) * (birth_share + kill_share);
  life->intends = false;
  if (choice < kill_share)
    kill_one(update);
  else if (choice < kill_share + birth_share * room && muster_agent_is_null(spawn_another(update)))
    self->tally.births_refused++;
  grow_older(update);
  return MUSTER_ATOM_FINISH;
}

/* Its heir comes first: when no id is left for it, the mayfly stays. Removes itself twice, which is allowed. */
muster_atom_result hostile_fade(muster_update *update) {
  hostile_life *life = update->state;
  spend(update);
  grow_older(update);
  float span_s = mayfly_s * (0.5f + muster_update_random_share(update));
  if (!life->has_heir && (double)life->lived_ns < (double)span_s * second_ns) return MUSTER_ATOM_FINISH;
  if (!life->has_heir) life->has_heir = !muster_agent_is_null(spawn_another(update));
  if (!life->has_heir) return MUSTER_ATOM_FINISH;
  muster_update_remove(update, update->agent);
  muster_update_remove(update, update->agent);
  return MUSTER_ATOM_FINISH;
}

/* ----------------------------------------------------------------------------------------------- wakes and messages */

muster_atom_result hostile_ring(muster_update *update) {
  const hostile_cast *cast = update->type_user;
  hostile_life *life = update->state;
  uint32_t place = life->number - cast->first, ring = place / HOSTILE_RING * HOSTILE_RING;
  uint32_t size = cast->count - ring < HOSTILE_RING ? cast->count - ring : HOSTILE_RING;
  spend(update);
  grow_older(update);
  muster_agent next = cast->self->members[cast->first + ring + (place - ring + 1) % size];
  life->wakes += muster_update_wake(update, next) == MUSTER_OK;
  return MUSTER_ATOM_FINISH;
}

/* The messages of one sender all go to the same receiver, and only that receiver writes what was heard from the
 * sender. */
static void hostile_atoms_listen(muster_update *update) {
  enum { AT_ONCE = 16 };
  const hostile *self = ((const hostile_cast *)update->type_user)->self;
  hostile_life *life = update->state;
  muster_message messages[AT_ONCE];
  uint32_t count = muster_update_messages(update, messages, AT_ONCE);
  for (uint32_t i = 0; i < count; i++) {
    const struct rumour *rumour = messages[i].bytes;
    uint64_t *heard = &self->heard[rumour->number];
    life->heard++;
    life->heard_twice += rumour->count <= *heard;
    *heard = rumour->count;
  }
}

muster_atom_result hostile_gossip(muster_update *update) {
  const hostile_cast *cast = update->type_user;
  hostile_life *life = update->state;
  uint32_t place = life->number - cast->first;
  muster_agent hub = cast->self->members[cast->first + place / HOSTILE_AUDIENCE * HOSTILE_AUDIENCE];
  spend(update);
  hostile_atoms_listen(update);
  life->lost += muster_update_messages_lost(update);
  for (uint32_t i = 0; i < 3; i++) {
    struct rumour rumour = {.number = life->number, .count = life->sent + 1};
    life->sent += muster_update_send(update, hub, &rumour, sizeof rumour) == MUSTER_OK;
  }
  grow_older(update);
  return MUSTER_ATOM_FINISH;
}

/* ----------------------------------------------------------------------------------------------------------- places */

/* Moves first to a place that is allowed, then to one that is not finite: that must be refused and change nothing. */
muster_atom_result hostile_stray(muster_update *update) {
  const double nowhere[] = {(double)NAN, (double)INFINITY, -(double)INFINITY, 1e300};
  hostile_life *life = update->state;
  const double kept_m = 0.001; /* places are kept to a tenth of a millimetre */
  spend(update);
  life->misplaced += !(fabs(update->position.x - life->x) < kept_m && fabs(update->position.y - life->y) < kept_m);
  life->x = update->position.x + (double)(muster_update_random_share(update) - 0.5f);
  life->y = update->position.y + (double)(muster_update_random_share(update) - 0.5f);
  muster_update_move(update, (muster_position){life->x, life->y, 0.0});
  for (uint32_t i = 0; i < sizeof nowhere / sizeof *nowhere; i++) {
    bool refused = muster_update_move(update, (muster_position){nowhere[i], life->y, 0.0}) == MUSTER_E_ARGUMENT &&
                   muster_update_move(update, (muster_position){life->x, nowhere[i], 0.0}) == MUSTER_E_ARGUMENT;
    life->refused += refused;
    life->misplaced += !refused;
  }
  grow_older(update);
  return MUSTER_ATOM_FINISH;
}

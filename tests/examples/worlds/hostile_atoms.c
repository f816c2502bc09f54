#include "hostile.h"

/* What a kind is. Shares are of the population; costs are in nanoseconds. */
struct profile {
  const char *name;
  double share;
  uint64_t period_ns, period_max_ns;
  uint32_t cost_ns;   /* of an atom's labour, usually */
  uint32_t beside_ns; /* measured cost of the rest of the update: refused calls write a message */
  const muster_atom *atoms;
  uint32_t atom_count;
};

static const struct profile profiles[HOSTILE_KINDS];

/* For the kind endless: the declared limit, how rarely it is broken, and how far. */
static const uint64_t endless_limit_ns = 50000;
enum { ENDLESS_ONE_IN = 64, ENDLESS_TIMES_MIN = 5, ENDLESS_TIMES_MAX = 50 };

static const uint64_t flip_factor = 100;
static const uint64_t glutton_most_ns = 60000; /* the most that time since the last update adds */

static uint64_t endless_cost_ns(uint64_t random) {
  if (random % ENDLESS_ONE_IN) return profiles[HOSTILE_ENDLESS].cost_ns;
  uint64_t times = ENDLESS_TIMES_MIN + random / ENDLESS_ONE_IN % (ENDLESS_TIMES_MAX - ENDLESS_TIMES_MIN + 1);
  return endless_limit_ns * times;
}

/* The labour of an atom of this kind now: the virtual clock asks it with a random number of its own, and the atom
 * spends it. Pure but for the flippers' phase, which changes between frames. */
static uint64_t hostile_cost_ns(const hostile_cast *cast, uint32_t level, uint64_t elapsed_ns, uint64_t random) {
  static const uint32_t of_level[MUSTER_LEVELS] = {8, 3, 1};
  uint64_t cost_ns = profiles[cast->kind].cost_ns;
  switch (cast->kind) {
  case HOSTILE_ENDLESS:
    return endless_cost_ns(random);
  case HOSTILE_FLIPPER:
    return cast->self->expensive ? cost_ns * flip_factor : cost_ns;
  case HOSTILE_FLAPPER:
    return cost_ns * of_level[level];
  case HOSTILE_GLUTTON: {
    uint64_t more_ns = elapsed_ns / 66667u; /* 15 us for each second */
    return cost_ns + (more_ns < glutton_most_ns ? more_ns : glutton_most_ns);
  }
  default:
    return cost_ns;
  }
}

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
  scaffold_spend(&cast->self->base,
                 hostile_cost_ns(cast, update->level, update->elapsed_ns, muster_update_random(update)));
}

/* Called once in each update, by the last of its atoms. */
static muster_atom_result grow_older(muster_update *update) {
  hostile_life *life = update->state;
  life->updates++;
  life->lived_ns += update->elapsed_ns;
  life->last_elapsed_ns = update->elapsed_ns;
  life->level_changes += life->level != update->level;
  life->level = update->level;
  return MUSTER_ATOM_FINISH;
}

static muster_atom_result hostile_work_on(muster_update *update) {
  spend(update);
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result hostile_work(muster_update *update) {
  spend(update);
  return grow_older(update);
}

static void hostile_spawned(muster_update *update) {
  hostile_cast *cast = update->type_user;
  hostile_life *life = update->state;
  life->born_ns = update->now_ns;
  life->x = update->position.x;
  life->y = update->position.y;
  cast->self->tally.births++;
  if (cast->kind == HOSTILE_BREEDER) cast->self->breeders++;
}

static void hostile_removed(muster_update *update) {
  hostile_cast *cast = update->type_user;
  cast->self->tally.deaths++;
  if (cast->kind == HOSTILE_BREEDER) cast->self->breeders--;
}

/* ------------------------------------------------------------------------------------------------ births and deaths */

static muster_agent spawn_another(muster_update *update) {
  const hostile_cast *cast = update->type_user;
  hostile_life young = {.number = UINT32_MAX};
  muster_agent_def def = scaffold_agent(cast->type, hostile_place(cast, muster_update_random(update)), &young);
  return muster_update_spawn(update, &def);
}

/* Most updates neither spawn nor kill, and end here. */
static muster_atom_result hostile_breed(muster_update *update) {
  hostile_life *life = update->state;
  spend(update);
  life->intends = muster_update_random_share(update) < birth_share + kill_share;
  if (life->intends) return MUSTER_ATOM_NEXT;
  return grow_older(update);
}

/* Removes the nearest agent of its kind, or itself when there is none. */
static void kill_one(muster_update *update) {
  hostile_cast *cast = update->type_user;
  muster_neighbour victim = {.agent = update->agent};
  muster_update_nearby(update, 60.0f, cast->type, &victim, 1);
  cast->self->tally.kills += muster_update_remove(update, victim.agent) == MUSTER_OK;
}

/* The more breeders there are, the fewer are born, so that their number limits itself. */
static muster_atom_result hostile_breed_now(muster_update *update) {
  hostile *self = ((hostile_cast *)update->type_user)->self;
  hostile_life *life = update->state;
  float room = 1.0f - (float)self->breeders / (float)self->breeders_max;
  float choice = muster_update_random_share(update) * (birth_share + kill_share);
  life->intends = false;
  if (choice < kill_share)
    kill_one(update);
  else if (choice < kill_share + birth_share * room && muster_agent_is_null(spawn_another(update)))
    self->tally.births_refused++;
  return grow_older(update);
}

/* Its heir comes first: when no id is left for it, the mayfly stays. Removes itself twice, which is allowed. */
static muster_atom_result hostile_fade(muster_update *update) {
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

static muster_atom_result hostile_ring(muster_update *update) {
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

static muster_atom_result hostile_gossip(muster_update *update) {
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
  return grow_older(update);
}

/* ----------------------------------------------------------------------------------------------------------- places */

/* Moves first to a place that is allowed, then to one that is not finite: that must be refused and change nothing. */
static muster_atom_result hostile_stray(muster_update *update) {
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
  return grow_older(update);
}

/* -------------------------------------------------------------------------------------------------------- the kinds */

/* A flipper's update has four atoms, so that it is preempted between them; a breeder's has an action. */
static const muster_atom work[] = {{hostile_work, MUSTER_ROLE_BEHAVIOUR, 5000}};
static const muster_atom flip[] = {{hostile_work_on, MUSTER_ROLE_BEHAVIOUR, 1000},
                                   {hostile_work_on, MUSTER_ROLE_BEHAVIOUR, 1000},
                                   {hostile_work_on, MUSTER_ROLE_BEHAVIOUR, 1000},
                                   {hostile_work, MUSTER_ROLE_BEHAVIOUR, 1000}};
static const muster_atom breed[] = {{hostile_breed, MUSTER_ROLE_BEHAVIOUR, 8000},
                                    {hostile_breed_now, MUSTER_ROLE_ACTION, 1000}};
static const muster_atom fade[] = {{hostile_fade, MUSTER_ROLE_BEHAVIOUR, 5000}};
static const muster_atom ring[] = {{hostile_ring, MUSTER_ROLE_BEHAVIOUR, 3000}};
static const muster_atom gossip[] = {{hostile_gossip, MUSTER_ROLE_BEHAVIOUR, 5000}};
static const muster_atom stray[] = {{hostile_stray, MUSTER_ROLE_BEHAVIOUR, 4000}};

static const struct profile profiles[HOSTILE_KINDS] = {
    [HOSTILE_ENDLESS] = {"endless", 0.02, 200000000u, 2000000000u, 10000, 200, work, 1},
    [HOSTILE_FLIPPER] = {"flipper", 0.15, 200000000u, 2000000000u, 100, 100, flip, 4},
    [HOSTILE_BREEDER] = {"breeder", 0.10, 200000000u, 2000000000u, 8000, 500, breed, 2},
    [HOSTILE_MAYFLY] = {"mayfly", 0.08, 200000000u, 1000000000u, 5000, 800, fade, 1},
    [HOSTILE_FLAPPER] = {"flapper", 0.15, 100000000u, 1000000000u, 2000, 200, work, 1},
    [HOSTILE_CHORUS] = {"chorus", 0.22, 100000000u, 1000000000u, 5000, 200, work, 1},
    [HOSTILE_GLUTTON] = {"glutton", 0.10, 100000000u, 5000000000u, 3000, 200, work, 1},
    [HOSTILE_RINGER] = {"ringer", 0.05, 500000000u, 4000000000u, 3000, 800, ring, 1},
    [HOSTILE_GOSSIP] = {"gossip", 0.10, 200000000u, 2000000000u, 5000, 4000, gossip, 1},
    [HOSTILE_STRAYER] = {"strayer", 0.03, 100000000u, 1000000000u, 4000, 12000, stray, 1},
};

void hostile_cast_all(hostile *self) {
  double share = 0;
  uint32_t first = 0;
  for (uint32_t kind = 0; kind < HOSTILE_KINDS; kind++) {
    share += profiles[kind].share;
    uint32_t end = kind + 1 == HOSTILE_KINDS ? self->base.agents : (uint32_t)lround(share * self->base.agents);
    self->casts[kind] = (hostile_cast){.self = self, .kind = (hostile_kind)kind, .first = first, .count = end - first};
    first = end;
  }
}

static uint64_t model_cost(const muster_cost_query *query, void *user) {
  const hostile_cast *cast = user;
  uint64_t labour_ns = hostile_cost_ns(cast, query->level, query->elapsed_ns, query->random);
  return labour_ns + profiles[cast->kind].beside_ns;
}

muster_result hostile_register(void *instance, muster_world *world, uint32_t kind) {
  hostile_cast *cast = &((hostile *)instance)->casts[kind];
  const struct profile *profile = &profiles[cast->kind];
  muster_type_def def = scaffold_type(profile->name, profile->atoms, profile->atom_count, sizeof(hostile_life),
                                      profile->period_ns, profile->period_max_ns);
  def.limit_ns = cast->kind == HOSTILE_ENDLESS ? endless_limit_ns : 500000;
  def.levels.count = cast->kind == HOSTILE_FLAPPER ? 3 : 1;
  def.spawns_max = cast->kind == HOSTILE_BREEDER || cast->kind == HOSTILE_MAYFLY ? 1 : 0;
  if (cast->kind == HOSTILE_GOSSIP) {
    def.messages.waiting_max = 4;
    def.messages.bytes_max = 16;
    def.messages.sends_max = 2;
  }
  def.user = cast;
  def.on_spawned = hostile_spawned;
  def.on_removed = hostile_removed;
  def.models.cost_ns = model_cost;
  return scaffold_register(world, &def, &cast->type);
}

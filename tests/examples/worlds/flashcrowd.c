/* flashcrowd.c - observers that gather in one town and are in another ten seconds later.
 *
 * What an update costs depends on where and when: near the crowd an agent looks at many times as much, and under the
 * rain, which drifts across the map, each look takes twice as long. */
#include "convergence.h"
#include "line_of_sight.h"
#include "worlds.h"

typedef enum flashcrowd_kind {
  FLASHCROWD_CITIZEN = 0, /* walks towards the crowd and home again */
  FLASHCROWD_TRADER,      /* stays near its stall */
  FLASHCROWD_GUARD,       /* runs often, and gives way less readily */
  FLASHCROWD_STORY,       /* part of a story: exempt, its period never gives way */
  FLASHCROWD_KINDS
} flashcrowd_kind;

enum { FLASHCROWD_TOWNS = 8 };

typedef struct flashcrowd flashcrowd;

typedef struct flashcrowd_cast {
  const flashcrowd *self;
  flashcrowd_kind kind;
  muster_type type;
} flashcrowd_cast;

/* The private state of an agent. */
typedef struct flashcrowd_state {
  convergence_mark mark;
  double walked_m;
  float home_x, home_y;
  uint64_t updates, late;          /* late: more than two frames over the shortest period; of interest for the exempt */
  uint64_t looks, crowded_updates; /* lines of sight that were followed; updates near the crowd */
  uint32_t seen;                   /* in the last update */
} flashcrowd_state;

typedef struct flashcrowd_home {
  float x, y;
} flashcrowd_home;

struct flashcrowd {
  scaffold base;
  flashcrowd_cast casts[FLASHCROWD_KINDS];
  muster_position towns[FLASHCROWD_TOWNS];
  flashcrowd_home *homes; /* of every agent, by the index of its id */
  muster_agent *members;
  muster_position crowd; /* now; these change between frames alone */
  double crowd_m, rain_x;
  uint64_t jumps;           /* of the crowd */
  convergence_sums settled; /* the jumps after which all settled before the next */
  uint32_t watched;
  struct convergence convergence;
};

static const double half_m = 1500.0; /* of the map */

enum { NEIGHBOURS_MAX = 8, SEEN_MAX = 24, STEPS_DRY = 12, STEPS_WET = 24 };

static const double earshot_m = 120.0; /* of the crowd: agents nearer than this look at its observers */
static const double sight_m = 30.0;    /* an agent looks at observers that are this near */
static const double rain_width_m = 700.0;
static const double walk_mps = 1.4;

/* Measured where the world fits the caches: a neighbour query, a search through the crowd, a line of sight in dry air,
 * and a walk. */
static const uint64_t query_ns = 700, search_ns = 900, look_ns = 200, walk_ns = 150;

typedef struct profile {
  const char *name;
  uint64_t period_ns, period_max_ns;
  float elasticity;
} profile;

static const profile profiles[FLASHCROWD_KINDS] = {
    [FLASHCROWD_CITIZEN] = {"citizen", 100000000u, 5000000000u, 1.0f},
    [FLASHCROWD_TRADER] = {"trader", 100000000u, 4000000000u, 1.0f},
    [FLASHCROWD_GUARD] = {"guard", 66666667u, 2000000000u, 0.5f},
    [FLASHCROWD_STORY] = {"story", 100000000u, 100000000u, 0.0f},
};

/* The kind of the number-th agent: each has its share of every stretch. */
static flashcrowd_kind flashcrowd_kind_of(uint32_t number) {
  uint32_t place = number % 100;
  if (place == 99) return FLASHCROWD_STORY;
  return place % 10 == 8 ? FLASHCROWD_GUARD : place % 5 == 4 ? FLASHCROWD_TRADER : FLASHCROWD_CITIZEN;
}

/* -------------------------------------------------------------------------------------------------------- the place */

static bool is_wet(const flashcrowd *self, double x) {
  double ahead_m = fmod(x - self->rain_x, 2.0 * half_m);
  return (ahead_m < 0 ? ahead_m + 2.0 * half_m : ahead_m) < rain_width_m;
}

static double crowd_distance(const flashcrowd *self, double x, double y) {
  return hypot(x - self->crowd.x, y - self->crowd.y);
}

/* ---------------------------------------------------------------------------------------------------------- updates */

/* Looks at the observers of the crowd that are near, in the order of the array. */
static uint32_t watch_crowd(const flashcrowd *self, muster_position here, uint32_t steps, flashcrowd_state *own) {
  uint32_t looks = 0, seen = 0;
  for (uint32_t i = 0; i < self->base.observer_count && looks < SEEN_MAX; i++) {
    double x = self->base.places[i].x - here.x, y = self->base.places[i].y - here.y;
    if (x * x + y * y > sight_m * sight_m) continue;
    looks++;
    seen += line_of_sight_is_clear(self->base.seed, here, self->base.places[i], steps);
  }
  own->crowded_updates++;
  own->looks += looks;
  return seen;
}

static muster_atom_result flashcrowd_look_around(muster_update *update) {
  const flashcrowd *self = ((const flashcrowd_cast *)update->type_user)->self;
  flashcrowd_state *own = update->state;
  muster_position here = update->position;
  muster_neighbour near[NEIGHBOURS_MAX];
  uint32_t count = muster_update_nearby(update, 12.0f, (muster_type){0}, near, NEIGHBOURS_MAX);
  uint32_t steps = is_wet(self, here.x) ? STEPS_WET : STEPS_DRY;
  own->seen = 0;
  for (uint32_t i = 0; i < count; i++)
    own->seen += line_of_sight_is_clear(self->base.seed, here, near[i].position, steps);
  own->looks += count;
  if (crowd_distance(self, here.x, here.y) < earshot_m) own->seen += watch_crowd(self, here, steps, own);
  return MUSTER_ATOM_NEXT;
}

/* Citizens within earshot walk towards the crowd and stop before it; every other agent is at home, or on the way
 * there. */
static muster_atom_result flashcrowd_walk(muster_update *update) {
  const flashcrowd_cast *cast = update->type_user;
  const flashcrowd *self = cast->self;
  flashcrowd_state *own = update->state;
  bool drawn =
      cast->kind == FLASHCROWD_CITIZEN && crowd_distance(self, update->position.x, update->position.y) < earshot_m;
  own->walked_m += drawn ? scaffold_approach(update, self->crowd.x, self->crowd.y, 10.0, walk_mps)
                         : scaffold_approach(update, (double)own->home_x, (double)own->home_y, 0.0, walk_mps);
  own->updates++;
  own->late += update->elapsed_ns > profiles[cast->kind].period_ns + 2 * self->base.frame_ns;
  convergence_note(update);
  return MUSTER_ATOM_FINISH;
}

/* The cost model, like the updates: it goes by the agent's home, since the agent does not go far from it. */
static uint64_t flashcrowd_model_cost(const muster_cost_query *query, void *user) {
  const flashcrowd *self = ((const flashcrowd_cast *)user)->self;
  const flashcrowd_home *home = &self->homes[muster_agent_index(query->agent)];
  if (query->atom == 1) return walk_ns;
  double distance_m = crowd_distance(self, (double)home->x, (double)home->y);
  uint64_t looks = query->random % (NEIGHBOURS_MAX + 1), cost_ns = query_ns;
  if (distance_m < earshot_m) {
    double share = fmin((earshot_m - distance_m) / (earshot_m - sight_m), 1.0);
    looks += (uint64_t)(SEEN_MAX * share);
    cost_ns += search_ns;
  }
  return cost_ns + looks * look_ns * (is_wet(self, (double)home->x) ? 2 : 1);
}

static muster_result flashcrowd_register(void *instance, muster_world *world, uint32_t kind) {
  static const muster_atom atoms[] = {{flashcrowd_look_around, MUSTER_ROLE_PERCEPTION, 1500},
                                      {flashcrowd_walk, MUSTER_ROLE_BEHAVIOUR, 150}};
  flashcrowd *self = instance;
  const profile *own = &profiles[kind];
  flashcrowd_cast *cast = &self->casts[kind];
  *cast = (flashcrowd_cast){.self = self, .kind = (flashcrowd_kind)kind};
  muster_type_def def =
      scaffold_type(own->name, SCAFFOLD_ATOMS(atoms), sizeof(flashcrowd_state), own->period_ns, own->period_max_ns);
  def.elasticity = own->elasticity;
  def.user = cast;
  def.on_spawned = convergence_born;
  def.models.cost_ns = flashcrowd_model_cost;
  return scaffold_register(world, &def, &cast->type);
}

static const double jump_s = 10.0;                          /* from one town to the next */
static const double arrival_m = 60.0, gathered_m = 15.0;    /* radius of the crowd when it comes and when it leaves */
static const double town_m = 150.0;                         /* about the radius of a town */
static const double around_m = 35.0;                        /* agents that live this near to the crowd are watched */
static const double rain_mps = 40.0, golden_rad = 2.399963; /* angle between neighbours on a spiral */

/* Towns stand on a ring, so that none is in the next one's sight. */
static muster_result found_towns(void *instance) {
  flashcrowd *self = instance;
  for (uint32_t i = 0; i < FLASHCROWD_TOWNS; i++) {
    double angle = 6.283185307179586 * (i + 0.4 * scaffold_random_share(self->base.seed + i)) / FLASHCROWD_TOWNS;
    self->towns[i] = scaffold_beside((muster_position){0}, 0.7 * half_m, angle);
  }
  return MUSTER_OK;
}

/* --------------------------------------------------------------------------------------------------------- populate */

/* Every second agent lives in a town, more densely near its middle; the rest live anywhere. */
static muster_position flashcrowd_home_of(const flashcrowd *self, uint32_t number) {
  uint64_t random = scaffold_random(self->base.seed * 0x9e3779b97f4a7c15u + number);
  double first = scaffold_random_share(random), second = scaffold_random_share(random + 1);
  if (number % 2) return scaffold_spread(half_m, first, second);
  uint32_t town = (uint32_t)(FLASHCROWD_TOWNS * scaffold_random_share(random + 2));
  return scaffold_beside(self->towns[town], town_m * first, 6.283185307179586 * second);
}

/* Stores the home of the number-th agent by its id; false when its index is beyond all homes. */
static bool note_member(flashcrowd *self, uint32_t number) {
  size_t index = muster_agent_index(self->members[number]);
  muster_position home = flashcrowd_home_of(self, number);
  if (index >= self->base.agents) return false;
  self->homes[index].x = (float)home.x;
  self->homes[index].y = (float)home.y;
  return true;
}

static muster_result flashcrowd_spawn(void *instance, muster_world *world, uint32_t i) {
  flashcrowd *self = instance;
  flashcrowd_kind kind = flashcrowd_kind_of(i);
  muster_position home = flashcrowd_home_of(self, i);
  flashcrowd_state state = {.home_x = (float)home.x, .home_y = (float)home.y};
  muster_agent_def def = scaffold_agent(self->casts[kind].type, home, &state);
  if (kind == FLASHCROWD_STORY) {
    def.importance_floor = 0.8f;
    def.elasticity = 0.0f;
  }
  muster_result result = scaffold_spawn(world, &def, &self->members[i]);
  return result || note_member(self, i) ? result : MUSTER_E_FULL;
}

/* ----------------------------------------------------------------------------------------------------------- frames */

/* Computes where the crowd is at a time; its observers stand on a spiral that draws together. */
static void flashcrowd_gather(void *instance, double seconds) {
  flashcrowd *self = instance;
  uint64_t jump = (uint64_t)(seconds / jump_s);
  self->crowd = self->towns[jump % FLASHCROWD_TOWNS];
  self->crowd_m = arrival_m + (gathered_m - arrival_m) * (seconds / jump_s - (double)jump);
  self->rain_x = rain_mps * seconds;
}

static muster_position flashcrowd_place(void *instance, uint32_t observer, double seconds) {
  const flashcrowd *self = instance;
  (void)seconds;
  double away_m = self->crowd_m * sqrt((observer + 0.5) / self->base.observer_count);
  return scaffold_beside(self->crowd, away_m, golden_rad * observer);
}

/* Watches every agent that lives where the crowd has come, but not the exempt agents, which run as always. Half a
 * period more than the shortest is within what even the periods of the most important agents stretch under twice the
 * load. */
static void watch_neighbourhood(flashcrowd *self) {
  convergence_begin(&self->convergence, self->base.now_ns);
  for (uint32_t i = 0; i < self->base.agents; i++) {
    const flashcrowd_home *home = &self->homes[muster_agent_index(self->members[i])];
    flashcrowd_kind kind = flashcrowd_kind_of(i);
    if (kind == FLASHCROWD_STORY) continue;
    if (crowd_distance(self, (double)home->x, (double)home->y) > around_m) continue;
    uint64_t wanted_ns = profiles[kind].period_ns * 3 / 2 + self->base.frame_ns;
    convergence_watch(&self->convergence, self->members[i], wanted_ns);
  }
  self->watched = self->convergence.count;
}

static void flashcrowd_frame(void *instance, muster_world *world) {
  flashcrowd *self = instance;
  uint64_t jumps = (uint64_t)(scaffold_seconds(&self->base) / jump_s);
  convergence_look(&self->convergence, world, &self->settled);
  scaffold_move_observers(instance, world);
  if (jumps == self->jumps) return;
  self->jumps = jumps;
  watch_neighbourhood(self);
}

/* ------------------------------------------------------------------------------------------------------------- keep */

/* What a snapshot keeps besides the agents; the members, the observers and the watched agents follow. */
static const scaffold_field kept[] = {SCAFFOLD_SAME_SEED_AND_TIMES,
                                      SCAFFOLD_KEPT(flashcrowd, jumps),
                                      SCAFFOLD_KEPT(flashcrowd, settled),
                                      SCAFFOLD_KEPT(flashcrowd, watched),
                                      SCAFFOLD_KEPT(flashcrowd, convergence.count),
                                      SCAFFOLD_KEPT(flashcrowd, convergence.left),
                                      SCAFFOLD_KEPT(flashcrowd, convergence.frames),
                                      SCAFFOLD_KEPT(flashcrowd, convergence.frames_to_nine_tenths),
                                      SCAFFOLD_KEPT(flashcrowd, convergence.frames_to_last),
                                      SCAFFOLD_KEPT(flashcrowd, convergence.since_ns),
                                      {0}};

static const scaffold_array arrays[] = {
    SCAFFOLD_ARRAY(flashcrowd, homes, base.agents),
    SCAFFOLD_KEPT_ARRAY(flashcrowd, members, base.agents),
    SCAFFOLD_KEPT_OBSERVERS,
    SCAFFOLD_ROOM(flashcrowd, convergence.members, base.agents, convergence.count, true),
    {0}};

static bool flashcrowd_resumed(void *instance) {
  flashcrowd *self = instance;
  bool fits = self->convergence.left <= self->convergence.count;
  for (uint32_t i = 0; i < self->base.agents && fits; i++) fits = note_member(self, i);
  return fits;
}

/* ----------------------------------------------------------------------------------------------------------- report */

typedef struct census {
  uint64_t violations;
  convergence_means means;
} census;

static void flashcrowd_count(const scaffold_look *look) {
  const flashcrowd_state *own = look->info.state;
  census *all = look->sums;
  all->violations += fabs(look->info.position.x) > half_m || fabs(look->info.position.y) > half_m;
  all->violations += !convergence_has_lived(&own->mark, &look->info);
}

static void flashcrowd_conclude(const scaffold_look *look) {
  ((census *)look->sums)->means = convergence_mean(&((const flashcrowd *)look->instance)->settled);
}

#define STORY(name, member) SCAFFOLD_SUM_OF(name, flashcrowd_state, member, flashcrowd, casts[FLASHCROWD_STORY].type)

static const scaffold_line lines[] = {SCAFFOLD_AGENTS("population"),
                                      SCAFFOLD_OWN("crowd", scaffold, observer_count),
                                      SCAFFOLD_SUM("updates", flashcrowd_state, updates),
                                      SCAFFOLD_SUM("looks", flashcrowd_state, looks),
                                      SCAFFOLD_SUM("crowded_updates", flashcrowd_state, crowded_updates),
                                      SCAFFOLD_SUM("walked_m", flashcrowd_state, walked_m),
                                      STORY("story_updates", updates),
                                      STORY("story_late", late),
                                      SCAFFOLD_OWN("jumps", flashcrowd, jumps),
                                      SCAFFOLD_OWN("jumps_settled", flashcrowd, settled.events),
                                      SCAFFOLD_OWN("watched", flashcrowd, watched),
                                      CONVERGENCE_LINES(census, means, flashcrowd, settled),
                                      SCAFFOLD_FOUND("violations", census, violations),
                                      {0}};

static const scaffold_plan plan = {.name = "flashcrowd",
                                   .bytes = sizeof(flashcrowd),
                                   .agents_default = 50000,
                                   .agents_max = 2000000,
                                   .observers_default = 500,
                                   .observers_max = 65536,
                                   .cell_m = 24.0f,
                                   .arrays = arrays,
                                   .kept = kept,
                                   .lines = lines,
                                   .build = found_towns,
                                   .kinds = FLASHCROWD_KINDS,
                                   .join_one = flashcrowd_register,
                                   .spawn_one = flashcrowd_spawn,
                                   .gather = flashcrowd_gather,
                                   .place = flashcrowd_place,
                                   .frame = flashcrowd_frame,
                                   .resumed = flashcrowd_resumed,
                                   .count = flashcrowd_count,
                                   .conclude = flashcrowd_conclude};

SCAFFOLD_MODULE(flashcrowd, plan, "flashcrowd", "500 observers gather in a town, and every 10 s in another one",
                SCAFFOLD_FRAMES, SCAFFOLD_SAVES)

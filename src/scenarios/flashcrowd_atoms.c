#include "scenarios/flashcrowd.h"
#include "scenarios/sight.h"

#include <math.h>

const double flashcrowd_half_m = 1500.0;

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

uint64_t flashcrowd_period_ns(flashcrowd_kind kind) {
  return profiles[kind].period_ns;
}

flashcrowd_kind flashcrowd_kind_of(uint32_t number) {
  uint32_t place = number % 100;
  if (place == 99) return FLASHCROWD_STORY;
  return place % 10 == 8 ? FLASHCROWD_GUARD : place % 5 == 4 ? FLASHCROWD_TRADER : FLASHCROWD_CITIZEN;
}

/* --------------------------------------------------------------------------------------------------------- the place
 */

static bool is_wet(const flashcrowd *self, double x) {
  double ahead_m = fmod(x - self->rain_x, 2.0 * flashcrowd_half_m);
  return (ahead_m < 0 ? ahead_m + 2.0 * flashcrowd_half_m : ahead_m) < rain_width_m;
}

static double crowd_distance(const flashcrowd *self, double x, double y) {
  return hypot(x - self->crowd_x, y - self->crowd_y);
}

/* ----------------------------------------------------------------------------------------------------------- updates
 */

/* Looks at the observers of the crowd that are near, in the order of the array. */
static uint32_t watch_crowd(const flashcrowd *self, muster_position here, uint32_t steps, flashcrowd_state *own) {
  uint32_t looks = 0, seen = 0;
  for (uint32_t i = 0; i < self->base.observer_count && looks < SEEN_MAX; i++) {
    double x = self->base.places[i].x - here.x, y = self->base.places[i].y - here.y;
    if (x * x + y * y > sight_m * sight_m) continue;
    looks++;
    seen += sight_is_clear(self->base.seed, here, self->base.places[i], steps);
  }
  own->crowded_updates++;
  own->looks += looks;
  return seen;
}

static muster_atom_result flashcrowd_atoms_look_around(muster_update *update) {
  const flashcrowd *self = ((const flashcrowd_cast *)update->type_user)->self;
  flashcrowd_state *own = update->state;
  muster_position here = update->position;
  muster_neighbour near[NEIGHBOURS_MAX];
  uint32_t count = muster_update_nearby(update, 12.0f, (muster_type){0}, near, NEIGHBOURS_MAX);
  uint32_t steps = is_wet(self, here.x) ? STEPS_WET : STEPS_DRY;
  own->seen = 0;
  for (uint32_t i = 0; i < count; i++) own->seen += sight_is_clear(self->base.seed, here, near[i].position, steps);
  own->looks += count;
  if (crowd_distance(self, here.x, here.y) < earshot_m) own->seen += watch_crowd(self, here, steps, own);
  return MUSTER_ATOM_NEXT;
}

/* Citizens within earshot walk towards the crowd and stop before it; every other agent is at home, or on the way
 * there. */
static muster_atom_result flashcrowd_atoms_walk(muster_update *update) {
  const flashcrowd_cast *cast = update->type_user;
  const flashcrowd *self = cast->self;
  flashcrowd_state *own = update->state;
  muster_position place = update->position;
  bool drawn = cast->kind == FLASHCROWD_CITIZEN && crowd_distance(self, place.x, place.y) < earshot_m;
  double x = (drawn ? self->crowd_x : (double)own->home_x) - place.x;
  double y = (drawn ? self->crowd_y : (double)own->home_y) - place.y;
  double left_m = hypot(x, y) - (drawn ? 10.0 : 0.0);
  double step_m = fmin(walk_mps * (double)update->elapsed_ns * 1e-9, left_m);
  if (step_m > 0.01) {
    place.x += x * step_m / hypot(x, y);
    place.y += y * step_m / hypot(x, y);
    own->walked_m += step_m;
    muster_update_move(update, place);
  }
  own->updates++;
  own->late += update->elapsed_ns > profiles[cast->kind].period_ns + 2 * self->base.frame_ns;
  convergence_note(update);
  return MUSTER_ATOM_FINISH;
}

/* The cost model, like the updates: it goes by the agent's home, since the agent does not go far from it. */
static uint64_t flashcrowd_atoms_model_cost(const muster_cost_query *query, void *user) {
  const flashcrowd *self = ((const flashcrowd_cast *)user)->self;
  const flashcrowd_home *home = &self->homes[query->agent.index];
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

muster_result flashcrowd_register(void *instance, muster_world *world, uint32_t kind) {
  static const muster_atom atoms[] = {{flashcrowd_atoms_look_around, MUSTER_ROLE_PERCEPTION, 1500},
                                      {flashcrowd_atoms_walk, MUSTER_ROLE_BEHAVIOUR, 150}};
  flashcrowd *self = instance;
  const profile *own = &profiles[kind];
  flashcrowd_cast *cast = &self->casts[kind];
  *cast = (flashcrowd_cast){.self = self, .kind = (flashcrowd_kind)kind};
  muster_type_def def =
      scaffold_type(own->name, SCAFFOLD_ATOMS(atoms), sizeof(flashcrowd_state), own->period_ns, own->period_max_ns);
  def.elasticity = own->elasticity;
  def.user = cast;
  def.on_spawned = convergence_born;
  def.model_cost_ns = flashcrowd_atoms_model_cost;
  return scaffold_register(world, &def, &cast->type);
}

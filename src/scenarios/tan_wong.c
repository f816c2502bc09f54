/* tan_wong.c - the world of Tan & Wong's experiments: 100 animats of four species, each with the same period bounds,
 * the same elasticity and the same cost unless others are chosen, walking about on a square field that has no edges.
 *
 * The model cost of an update, 0.373 ms with a little noise, is the one that explains the paper's three published
 * rows. An animat thinks by feeling the ground along rays around it and heading where it is smoothest. Observed
 * animats feel it finely, which takes about the modelled time on a core of 2.5 GHz; unobserved ones feel it coarsely,
 * which takes less than a microsecond, so that experiments under the virtual clock do not have to wait for real work.
 */
#include "scenarios/kept.h"
#include "scenarios/scenarios.h"

#include <math.h>
#include <stdlib.h>

enum {
  ANIMATS = 100,
  AGENTS_MAX = 1000000,
  OBSERVERS_MAX = 65536,
  COARSE_RAYS = 4,
  COARSE_STEPS = 4,
  FINE_RAYS = 128,
  FINE_STEPS = 256,
  VERSION = 1 /* of the snapshot's contents */
};

enum { COST_NS = 373000, NOISE_SHARE = 50 /* +- 2 percent */ };

static const tan_wong_species ordinary = {
    .cost_ns = COST_NS, .period_ns = 33333333, .period_max_ns = 80000000, .elasticity = 1.0f};
static const double field_m = 200.0, speed_m_per_s = 2.0, sight_m = 20.0;
static const double turn_rad = 6.283185307179586;

/* The user data of the callbacks of a species. */
typedef struct species_user {
  uint64_t seed, cost_ns;
} species_user;

typedef struct tan_wong {
  uint64_t seed;
  uint32_t agents, observers;
  tan_wong_species species[TAN_WONG_SPECIES];
  species_user users[TAN_WONG_SPECIES];
} tan_wong;

typedef struct animat {
  double heading_rad;
  double walked_m;
  uint64_t updates;
} animat;

/* The finaliser of SplitMix64: every input bit reaches every output bit. */
static uint64_t tan_wong_mix(uint64_t value) {
  value ^= value >> 30;
  value *= 0xbf58476d1ce4e5b9u;
  value ^= value >> 27;
  value *= 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

static double share_of(uint64_t value) {
  return (double)(value >> 11) * 0x1p-53;
}

/* The height of a corner of the ground's lattice of 1 m. */
static double corner(uint64_t seed, double x, double y) {
  uint64_t place = (uint64_t)(int64_t)x * 0x9e3779b97f4a7c15u + (uint64_t)(int64_t)y;
  return share_of(tan_wong_mix(seed ^ place));
}

/* The ground between the corners. */
static double ground(uint64_t seed, double x, double y) {
  double left = floor(x), low = floor(y), right_share = x - left, high_share = y - low;
  double below = corner(seed, left, low) * (1 - right_share) + corner(seed, left + 1, low) * right_share;
  double above = corner(seed, left, low + 1) * (1 - right_share) + corner(seed, left + 1, low + 1) * right_share;
  return below * (1 - high_share) + above * high_share;
}

/* How much the ground goes up and down along a ray. */
static double roughness(uint64_t seed, muster_position from, double heading_rad, uint32_t steps) {
  double sum = 0, step_x = cos(heading_rad) * sight_m / steps, step_y = sin(heading_rad) * sight_m / steps;
  double before = ground(seed, from.x, from.y);
  for (uint32_t i = 1; i <= steps; i++) {
    double here = ground(seed, from.x + step_x * i, from.y + step_y * i);
    sum += fabs(here - before);
    before = here;
  }
  return sum;
}

static double smoothest_heading(uint64_t seed, muster_position from, double first_rad, uint32_t rays, uint32_t steps) {
  double best_rad = first_rad, least = INFINITY;
  for (uint32_t ray = 0; ray < rays; ray++) {
    double heading_rad = first_rad + turn_rad * ray / rays;
    double rough = roughness(seed, from, heading_rad, steps);
    if (rough >= least) continue;
    least = rough;
    best_rad = heading_rad;
  }
  return fmod(best_rad, turn_rad);
}

static double wrap(double value) {
  return value - floor(value / field_m) * field_m;
}

static muster_atom_result tan_wong_walk(muster_update *update) {
  const species_user *species = update->type_user;
  animat *self = update->state;
  bool observed = update->importance > 0.0f;
  double way_m = speed_m_per_s * (double)update->elapsed_ns * 1e-9;
  muster_position next = update->position;
  next.x = wrap(next.x + cos(self->heading_rad) * way_m);
  next.y = wrap(next.y + sin(self->heading_rad) * way_m);
  self->walked_m += way_m;
  self->updates++;
  self->heading_rad = smoothest_heading(species->seed, next, turn_rad * (double)muster_update_random_share(update),
                                        observed ? FINE_RAYS : COARSE_RAYS, observed ? FINE_STEPS : COARSE_STEPS);
  muster_update_move(update, next);
  return MUSTER_ATOM_NEXT;
}

static uint64_t model_cost_ns(const muster_cost_query *query, void *user) {
  const species_user *species = user;
  uint64_t noise_ns = species->cost_ns / NOISE_SHARE;
  return species->cost_ns - noise_ns + query->random % (2 * noise_ns + 1);
}

static muster_result tan_wong_open_world(const muster_module_options *options, void **instance,
                                         muster_module_needs *needs) {
  if (options->path) return muster_module_fail(MUSTER_E_ARGUMENT, "tan-wong takes no file");
  if (options->agents > AGENTS_MAX)
    return muster_module_fail(MUSTER_E_ARGUMENT, "tan-wong has room for %d agents, not %u", AGENTS_MAX,
                              options->agents);
  if (options->observers > OBSERVERS_MAX)
    return muster_module_fail(MUSTER_E_ARGUMENT, "tan-wong has room for %d observers, not %u", OBSERVERS_MAX,
                              options->observers);
  tan_wong *world = calloc(1, sizeof *world);
  if (!world) return muster_module_fail(MUSTER_E_MEMORY, "out of memory");
  world->seed = options->seed;
  world->agents = options->agents ? options->agents : ANIMATS;
  world->observers = options->observers;
  for (int i = 0; i < TAN_WONG_SPECIES; i++) world->species[i] = ordinary;
  *instance = world;
  needs->agents = needs->agents_max = world->agents;
  needs->observers = world->observers;
  return MUSTER_OK;
}

void tan_wong_choose(void *instance, const tan_wong_species species[TAN_WONG_SPECIES]) {
  tan_wong *self = instance;
  memcpy(self->species, species, sizeof self->species);
}

/* The cost estimate begins next to nothing, as in the paper. */
static muster_type register_species(tan_wong *self, muster_world *world, int number, const char *name) {
  static const muster_atom atoms[] = {{.run = tan_wong_walk, .role = MUSTER_ROLE_BEHAVIOUR, .model_ns = 1}};
  const tan_wong_species *species = &self->species[number];
  muster_type_def def = muster_default_type_def();
  self->users[number] = (species_user){self->seed, species->cost_ns};
  def.name = name;
  def.atoms = atoms;
  def.atom_count = 1;
  def.state_bytes = sizeof(animat);
  def.period_ns = species->period_ns;
  def.period_max_ns = species->period_max_ns;
  def.user = &self->users[number];
  def.model_cost_ns = model_cost_ns;
  def.strikes_demote = def.strikes_quarantine = 0; /* the paper knows no penalties: all 100 stay */
  return muster_type_register(world, &def);
}

/* A place that depends only on the seed and on the number of the agent or observer that stands there. */
static muster_position place_of(const tan_wong *self, uint64_t number) {
  uint64_t random = tan_wong_mix(tan_wong_mix(self->seed + 1) + number);
  return (muster_position){share_of(random) * field_m, share_of(tan_wong_mix(random + 1)) * field_m, 0};
}

static bool tan_wong_add_observer(const tan_wong *self, muster_world *world, uint32_t number) {
  muster_observer_def def = muster_default_observer_def();
  def.position = place_of(self, UINT32_MAX + (uint64_t)number);
  def.near_m = (float)field_m;
  def.far_m = (float)(2 * field_m);
  return muster_observer_add(world, &def).generation != 0;
}

static muster_result register_all(tan_wong *self, muster_world *world, muster_type species[TAN_WONG_SPECIES]) {
  static const char *const names[TAN_WONG_SPECIES] = {"species 1", "species 2", "species 3", "species 4"};
  for (int i = 0; i < TAN_WONG_SPECIES; i++) {
    species[i] = register_species(self, world, i, names[i]);
    if (!species[i].index) return MUSTER_E_ARGUMENT;
  }
  return MUSTER_OK;
}

/* Every animat has the elasticity of its species, whatever observers are near. */
static muster_result tan_wong_populate(void *instance, muster_world *world) {
  tan_wong *self = instance;
  muster_type species[TAN_WONG_SPECIES];
  muster_result result = register_all(self, world, species);
  if (result) return result;
  for (uint32_t i = 0; i < self->agents; i++) {
    muster_agent_def def = muster_default_agent_def();
    def.type = species[i % TAN_WONG_SPECIES];
    def.position = place_of(self, i);
    def.elasticity = self->species[i % TAN_WONG_SPECIES].elasticity;
    if (muster_agent_is_null(muster_agent_spawn(world, &def))) return MUSTER_E_FULL;
  }
  for (uint32_t i = 0; i < self->observers; i++)
    if (!tan_wong_add_observer(self, world, i)) return MUSTER_E_FULL;
  return MUSTER_OK;
}

/* A snapshot keeps only the world's own state. */
typedef struct kept_field {
  uint32_t version, agents, observers, zero;
  uint64_t seed;
} kept_field;

static kept_field describe(const tan_wong *self) {
  return (kept_field){.version = VERSION, .agents = self->agents, .observers = self->observers, .seed = self->seed};
}

static muster_result save(void *instance, const muster_world *world, muster_module_write write, void *write_user) {
  kept_field kept = describe(instance);
  (void)world;
  return write(&kept, sizeof kept, write_user) ? MUSTER_OK : kept_unwritten("tan-wong");
}

static muster_result tan_wong_resume(void *instance, muster_world *world, const void *bytes, size_t count) {
  kept_field own = describe(instance);
  muster_type species[TAN_WONG_SPECIES];
  muster_result result = register_all(instance, world, species);
  if (result) return result;
  bool same = count == sizeof own && memcmp(bytes, &own, sizeof own) == 0;
  return same ? MUSTER_OK : kept_refused("tan-wong");
}

/* Reports what an experiment must know of the animats, and what they have done. */
static void tan_wong_report(void *instance, const muster_world *world, muster_module_emit emit, void *emit_user) {
  (void)instance;
  uint32_t animats = 0;
  double walked_m = 0;
  muster_agent_info info = muster_default_agent_info();
  muster_agent agent = muster_agent_next(world, (muster_agent){0, 0});
  for (; !muster_agent_is_null(agent); agent = muster_agent_next(world, agent)) {
    if (muster_agent_read(world, agent, &info) != MUSTER_OK) continue;
    walked_m += ((const animat *)info.state)->walked_m;
    animats++;
  }
  emit("animats", animats, emit_user);
  emit("walked_m", walked_m, emit_user);
  emit("model_cost_ns", (double)COST_NS, emit_user);
  emit("model_cost_max_ns", (double)(COST_NS + COST_NS / NOISE_SHARE), emit_user);
  emit("period_ns", (double)ordinary.period_ns, emit_user);
  emit("period_max_ns", (double)ordinary.period_max_ns, emit_user);
}

uint64_t tan_wong_updates(const void *state) {
  return ((const animat *)state)->updates;
}

const muster_module *muster_module_tan_wong(void) {
  static const muster_module module = {
      .size = sizeof module,
      .abi = MUSTER_MODULE_ABI,
      .name = "tan-wong",
      .summary = "the 100 animats of Tan & Wong's experiments; with --observers 1 they really work as long as modelled",
      .open = tan_wong_open_world,
      .populate = tan_wong_populate,
      .report = tan_wong_report,
      .close = free,
      .save = save,
      .resume = tan_wong_resume,
  };
  return &module;
}

/* fixed.c - agents whose updates all cost the same, in any number, spread over a square of 10 km: the time that
 * scheduling takes besides the updates can be read off directly.
 *
 * An update does as many turns of busy work as take the wanted cost on this machine (scenarios/busy_work.h). Agents
 * stay where they are; observers walk straight ahead and turn at the edges. */
#include "scenarios/scaffold.h"
#include "scenarios/scenarios.h"

static const uint64_t cost_default_ns = 5000, cost_min_ns = 100, cost_max_ns = 500000;
static const double walk_m_per_s = 1.4, turn_rad = 6.283185307179586;

/* A million agents of 5 us in 2 x 10 ms at 30 frames per second come to their turn every 8 s; the longest period leaves
 * room for several times that. */
static const uint64_t period_ns = 100000000, period_max_ns = 60000000000;

typedef struct fixed {
  scaffold base;
  double side_m; /* of the square */
  uint64_t cost_ns;
  scaffold_walker *walkers;
  muster_type type;
} fixed;

typedef struct life {
  uint64_t updates;
  uint64_t lived_ns;
} life;

/* ---------------------------------------------------------------------------------------------------------- updates */

static muster_atom_result fixed_live(muster_update *update) {
  const fixed *self = update->type_user;
  life *own = update->state;
  scaffold_spend(&self->base, self->cost_ns);
  own->updates++;
  own->lived_ns += update->elapsed_ns;
  return MUSTER_ATOM_NEXT;
}

/* ------------------------------------------------------------------------------------------------------------- open */

/* A program built with an older header ends its options before the field. */
static uint64_t wanted_cost(const muster_module_options *options) {
  bool has = options->size >= offsetof(muster_module_options, cost_ns) + sizeof options->cost_ns;
  return has && options->cost_ns ? options->cost_ns : cost_default_ns;
}

static muster_result fixed_check(const muster_module_options *options) {
  uint64_t cost_ns = wanted_cost(options);
  if (cost_ns >= cost_min_ns && cost_ns <= cost_max_ns) return MUSTER_OK;
  return muster_module_fail(MUSTER_E_ARGUMENT, "fixed: a cost of %llu ns is not between %llu and %llu",
                            (unsigned long long)cost_ns, (unsigned long long)cost_min_ns,
                            (unsigned long long)cost_max_ns);
}

static muster_result fixed_prepare(void *instance) {
  fixed *self = instance;
  self->cost_ns = wanted_cost(self->base.options);
  self->side_m = muster_module_number(self->base.options, "side", 10000.0);
  return MUSTER_OK;
}

/* --------------------------------------------------------------------------------------------------------- populate */

/* A place that depends only on the seed and on the number of the agent or walker that stands there. */
static muster_position place_of(const fixed *self, uint64_t number) {
  uint64_t random = scaffold_random(scaffold_random(self->base.seed) + number);
  return (muster_position){scaffold_share(random) * self->side_m,
                           scaffold_share(scaffold_random(random)) * self->side_m, 0.0};
}

static muster_result fixed_join(void *instance, muster_world *world) {
  fixed *self = instance;
  muster_atom atoms[] = {{fixed_live, MUSTER_ROLE_BEHAVIOUR, (uint32_t)self->cost_ns}};
  muster_type_def def = scaffold_type("fixed", SCAFFOLD_ATOMS(atoms), sizeof(life), period_ns, period_max_ns);
  def.user = self;
  if (def.limit_ns < 2 * self->cost_ns) def.limit_ns = 2 * self->cost_ns; /* a requested cost never breaks the limit */
  return scaffold_register(world, &def, &self->type);
}

static muster_result begin_walks(void *instance) {
  fixed *self = instance;
  for (uint32_t i = 0; i < self->base.observer_count; i++) {
    muster_position place = place_of(self, UINT32_MAX + (uint64_t)i);
    double heading_rad = turn_rad * scaffold_share(scaffold_random(self->base.seed ^ scaffold_random(i)));
    self->walkers[i] =
        (scaffold_walker){place.x, place.y, walk_m_per_s * cos(heading_rad), walk_m_per_s * sin(heading_rad)};
  }
  return MUSTER_OK;
}

static muster_result fixed_spawn_one(void *instance, muster_world *world, uint32_t number) {
  const fixed *self = instance;
  muster_agent_def def = scaffold_agent(self->type, place_of(self, number), NULL);
  return scaffold_spawn(world, &def, NULL);
}

static muster_position fixed_place(void *instance, uint32_t observer, double seconds) {
  const fixed *self = instance;
  return scaffold_walk(&self->walkers[observer], seconds, 0.0, self->side_m);
}

/* Zeroed state is right for a new agent. */
static muster_result complete(void *instance, const muster_world *world, muster_agent_def *def) {
  (void)instance, (void)world, (void)def;
  return MUSTER_OK;
}

/* -------------------------------------------------------------------------------------------------- keep and report */

static const scaffold_field kept[] = {
    SCAFFOLD_SAME_WORLD, SCAFFOLD_FLAG(scaffold, begun), SCAFFOLD_SAME(fixed, cost_ns), SCAFFOLD_KEPT_TIMES, {0}};

static const scaffold_array arrays[] = {
    SCAFFOLD_ARRAY(fixed, walkers, base.observer_count), SCAFFOLD_KEPT_OBSERVERS, {0}};

typedef struct census {
  uint32_t agents;
  uint64_t lived_ns;
  double lived_s_each;
} census;

static void fixed_count(const scaffold_look *look) {
  census *all = look->sums;
  all->agents++;
  all->lived_ns += ((const life *)look->info.state)->lived_ns;
}

static void fixed_conclude(const scaffold_look *look) {
  census *all = look->sums;
  if (all->agents) all->lived_s_each = (double)all->lived_ns * 1e-9 / all->agents;
}

static const scaffold_line lines[] = {SCAFFOLD_AGENTS("agents"),
                                      SCAFFOLD_OWN("walkers", scaffold, observer_count),
                                      SCAFFOLD_OWN("cost_ns", fixed, cost_ns),
                                      SCAFFOLD_SUM("updates", life, updates),
                                      SCAFFOLD_FOUND("lived_s_per_agent", census, lived_s_each),
                                      {0}};

static const scaffold_plan plan = {.name = "fixed",
                                   .bytes = sizeof(fixed),
                                   .agents_default = 100000,
                                   .agents_max = 16000000,
                                   .observers_default = 100,
                                   .observers_max = 65536,
                                   .works = true,
                                   .arrays = arrays,
                                   .kept = kept,
                                   .lines = lines,
                                   .check = fixed_check,
                                   .prepare = fixed_prepare,
                                   .build = begin_walks,
                                   .join = fixed_join,
                                   .spawn_one = fixed_spawn_one,
                                   .place = fixed_place,
                                   .count = fixed_count,
                                   .conclude = fixed_conclude};

static const muster_module_setting settings[] = {
    {"side", MUSTER_MODULE_REAL, 10, 1000000, "10000", "metres of a side of the square"},
    {0},
};

SCAFFOLD_MODULE(fixed, plan, "fixed", "updates of exactly one cost (--cost 5us) all over a square of 10 km",
                SCAFFOLD_FRAMES, SCAFFOLD_SAVES, .takes_cost = true, .complete = complete, .shares_world = true,
                .settings = settings)

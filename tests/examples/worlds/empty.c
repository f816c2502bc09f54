/* empty.c - hours without an observer, and then observers arrive.
 *
 * While no observer is there, two hours pass in steps of a minute, as on a server that lets an empty world run on at
 * next to no cost; villagers may then go minutes without an update. Then observers come to a village and stay for
 * twenty seconds at the host's own frame rate. The run measures how soon every agent around them runs as often as if
 * the observers had always been there. */
#include "convergence.h"
#include "worlds.h"

enum { VILLAGES = 12, ACTIVITIES = 6, ACTIVITIES_PER_UPDATE_MAX = 16 };

static const uint64_t second_ns = 1000000000u;
static const uint64_t quiet_ns = 7200000000000u, quiet_step_ns = 60000000000u, visit_ns = 20000000000u;
static const uint64_t villager_period_ns = 100000000u, animal_period_ns = 200000000u, period_max_ns = 300000000000u;
static const uint64_t labour_ns = 4000; /* for pathfinding, in each update */
static const double turn_rad = 6.283185307179586;
static const double half_m = 2000.0, village_m = 120.0, visit_m = 20.0, around_m = 40.0;

enum kind { VILLAGER = 0, ANIMAL, KINDS };

/* The state of the world: its agents, and how its observers found them. */
typedef struct empty {
  scaffold base;
  bool visited;
  uint64_t changes_ns; /* when the visit begins or ends; 0 = before the first frame */
  muster_type types[KINDS];
  muster_agent *members;
  uint64_t visits, quiet_frames;
  convergence_sums settled; /* the visits after which all settled */
  struct convergence convergence;
} empty;

/* The private state of an agent. */
struct life {
  convergence_mark mark;
  float needs[ACTIVITIES]; /* 0 = satisfied; they grow with time */
  float activity_left_s;
  uint32_t activity;
  uint64_t activities;
};

/* ---------------------------------------------------------------------------------------------------------- updates */

/* The greatest need chooses the activity; the activity satisfies it for a while. */
static void empty_choose_activity(struct life *own, float share) {
  uint32_t best = 0;
  for (uint32_t i = 1; i < ACTIVITIES; i++)
    if (own->needs[i] > own->needs[best]) best = i;
  own->activity = best;
  own->needs[best] = 0.0f;
  own->activity_left_s = 60.0f + 240.0f * share;
  own->activities++;
}

static void pass_time(struct life *own, float seconds) {
  for (uint32_t i = 0; i < ACTIVITIES; i++) own->needs[i] += seconds * (1.0f + (float)i) / 3600.0f;
  own->activity_left_s -= seconds;
}

/* Splits the elapsed time into activities; after a long pause some of the activities that would have come are skipped.
 */
static muster_atom_result empty_live(muster_update *update) {
  const empty *self = update->type_user;
  struct life *own = update->state;
  float left_s = (float)update->elapsed_ns * 1e-9f;
  scaffold_spend(&self->base, labour_ns);
  for (uint32_t count = 0; left_s > 0.0f && count < ACTIVITIES_PER_UPDATE_MAX; count++) {
    float step_s = fminf(left_s, fmaxf(own->activity_left_s, 0.0f));
    pass_time(own, step_s);
    left_s -= step_s;
    if (own->activity_left_s <= 0.0f) empty_choose_activity(own, muster_update_random_share(update));
  }
  convergence_note(update);
  return MUSTER_ATOM_FINISH;
}

/* --------------------------------------------------------------------------------------------------------- populate */

static muster_position village_place(const empty *self, uint64_t village) {
  uint64_t random = scaffold_random(self->base.seed) + 2 * village;
  return scaffold_spread(half_m, scaffold_random_share(random), scaffold_random_share(random + 1));
}

/* Every agent lives in a village; agents stand more densely near its middle. */
static muster_position empty_home_of(const empty *self, uint32_t number) {
  uint64_t random = scaffold_random(self->base.seed ^ scaffold_random(number));
  return scaffold_beside(village_place(self, number % VILLAGES), village_m * scaffold_random_share(random),
                         turn_rad * scaffold_random_share(random + 1));
}

static enum kind kind_of(uint32_t number) {
  return number % 5 == 4 ? ANIMAL : VILLAGER;
}

static uint64_t period_of(enum kind kind) {
  return kind == VILLAGER ? villager_period_ns : animal_period_ns;
}

static muster_result empty_join(void *instance, muster_world *world, uint32_t kind) {
  empty *self = instance;
  muster_atom atoms[] = {{empty_live, MUSTER_ROLE_BEHAVIOUR, (uint32_t)labour_ns + 200}};
  muster_type_def def = scaffold_type(kind == VILLAGER ? "villager" : "animal", SCAFFOLD_ATOMS(atoms),
                                      sizeof(struct life), period_of((enum kind)kind), period_max_ns);
  def.on_spawned = convergence_born;
  def.user = self;
  return scaffold_register(world, &def, &self->types[kind]);
}

static muster_result empty_spawn(void *instance, muster_world *world, uint32_t i) {
  empty *self = instance;
  struct life life = {.activity_left_s = 300.0f * (float)scaffold_random_share(self->base.seed + i)};
  muster_agent_def def = scaffold_agent(self->types[kind_of(i)], empty_home_of(self, i), &life);
  return scaffold_spawn(world, &def, &self->members[i]);
}

/* --------------------------------------------------------------------------------------------------- between frames */

static void watch_village(empty *self, muster_position village) {
  uint64_t frame_ns = self->base.frame_ns < second_ns ? self->base.frame_ns : second_ns; /* as a visitor sees it */
  convergence_begin(&self->convergence, self->base.now_ns);
  for (uint32_t i = 0; i < self->base.agents; i++) {
    muster_position home = empty_home_of(self, i);
    if (hypot(home.x - village.x, home.y - village.y) > around_m) continue;
    convergence_watch(&self->convergence, self->members[i], period_of(kind_of(i)) + frame_ns);
  }
}

static void arrive(empty *self, muster_world *world) {
  muster_position village = village_place(self, self->visits++ % VILLAGES);
  for (uint32_t i = 0; i < self->base.observer_count; i++) {
    muster_observer_def def = muster_observer_def_default();
    def.position = scaffold_beside(village, visit_m, turn_rad * i / self->base.observer_count);
    self->base.observers[i] = muster_observer_add(world, &def);
  }
  watch_village(self, village);
}

static void empty_frame(void *instance, muster_world *world) {
  empty *self = instance;
  uint64_t now_ns = self->base.now_ns;
  if (!self->changes_ns) self->changes_ns = now_ns + quiet_ns;
  self->quiet_frames += !self->visited;
  convergence_look(&self->convergence, world, &self->settled);
  if (now_ns < self->changes_ns) return;
  self->visited = !self->visited;
  self->changes_ns = now_ns + (self->visited ? visit_ns : quiet_ns);
  if (self->visited) arrive(self, world);
  for (uint32_t i = 0; i < self->base.observer_count && !self->visited; i++)
    muster_observer_remove(world, self->base.observers[i]);
}

/* The last step before a visit has the host's own length, or what is left until the visit if that is shorter. */
static uint64_t skip_ns(void *instance, uint64_t sim_now_ns) {
  const empty *self = instance;
  if (!self->base.begun || self->visited || sim_now_ns >= self->changes_ns) return 0;
  uint64_t left_ns = self->changes_ns - sim_now_ns;
  return left_ns < quiet_step_ns ? left_ns : quiet_step_ns;
}

/* ----------------------------------------------------------------------------------------------------------- report */

typedef struct census {
  uint64_t violations;
  double longest_s;
  convergence_means means;
} census;

static void empty_count(const scaffold_look *look) {
  const struct life *own = look->info.state;
  census *all = look->sums;
  uint64_t waiting_ns = ((const empty *)look->instance)->base.now_ns - look->info.last_update_ns;
  all->violations += !convergence_has_lived(&own->mark, &look->info);
  all->longest_s = fmax(all->longest_s, (double)own->mark.longest_elapsed_ns * 1e-9);
  all->longest_s = fmax(all->longest_s, (double)waiting_ns * 1e-9);
}

static void empty_conclude(const scaffold_look *look) {
  ((census *)look->sums)->means = convergence_mean(&((const empty *)look->instance)->settled);
}

static const scaffold_line lines[] = {SCAFFOLD_AGENTS("population"),
                                      SCAFFOLD_SECONDS("simulated_s"),
                                      SCAFFOLD_OWN("quiet_frames", empty, quiet_frames),
                                      SCAFFOLD_SUM("activities", struct life, activities),
                                      SCAFFOLD_FOUND("longest_interval_s", census, longest_s),
                                      SCAFFOLD_OWN("visits", empty, visits),
                                      SCAFFOLD_OWN("visits_settled", empty, settled.events),
                                      SCAFFOLD_OWN("watched", empty, convergence.count),
                                      CONVERGENCE_LINES(census, means, empty, settled),
                                      SCAFFOLD_FOUND("violations", census, violations),
                                      {0}};

static const scaffold_array arrays[] = {
    SCAFFOLD_ARRAY(empty, members, base.agents), SCAFFOLD_ARRAY(empty, convergence.members, base.agents), {0}};

static const scaffold_plan plan = {.name = "empty",
                                   .bytes = sizeof(empty),
                                   .agents_default = 20000,
                                   .agents_max = 2000000,
                                   .observers_default = 16,
                                   .observers_max = 65536,
                                   .works = true,
                                   .arrays = arrays,
                                   .lines = lines,
                                   .kinds = KINDS,
                                   .join_one = empty_join,
                                   .spawn_one = empty_spawn,
                                   .frame = empty_frame,
                                   .count = empty_count,
                                   .conclude = empty_conclude};

SCAFFOLD_MODULE(empty, plan, "empty", "hours without an observer, in steps of a minute; then an arrival",
                SCAFFOLD_FRAMES, .skip_ns = skip_ns)

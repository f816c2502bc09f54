/* empty.c - hours without an observer, and then observers arrive.
 *
 * While no observer is there, two hours pass in steps of a minute, as on a server that lets an empty world run on at
 * next to no cost; villagers may then go minutes without an update. Then observers come to a village and stay for
 * twenty seconds at the host's own frame rate. The run measures how soon every agent around them runs as often as if
 * the observers had always been there. */
#include "scenarios/busy_work.h"
#include "scenarios/convergence.h"
#include "scenarios/options_check.h"
#include "scenarios/population_random.h"
#include "scenarios/scenarios.h"

#include <math.h>
#include <stdlib.h>

enum {
  AGENTS_DEFAULT = 20000,
  AGENTS_MAX = 2000000,
  OBSERVERS_DEFAULT = 16,
  OBSERVERS_MAX = 65536,
  VILLAGES = 12,
  ACTIVITIES = 6,
  ACTIVITIES_PER_UPDATE_MAX = 16
};

static const uint64_t second_ns = 1000000000u;
static const uint64_t quiet_ns = 7200000000000u, quiet_step_ns = 60000000000u, visit_ns = 20000000000u;
static const uint64_t villager_period_ns = 100000000u, animal_period_ns = 200000000u, period_max_ns = 300000000000u;
static const uint64_t labour_ns = 4000; /* for pathfinding, in each update */
static const double half_m = 2000.0, village_m = 120.0, visit_m = 20.0, around_m = 40.0;

enum kind { VILLAGER = 0, ANIMAL, KINDS };

/* The state of the world: its agents and its observers. */
typedef struct empty {
  uint64_t seed, begin_ns, last_ns, frame_ns;
  uint64_t turns; /* of busy work, for one update */
  uint32_t agents, observer_count;
  bool begun, visited;
  uint64_t changes_ns; /* when the visit begins or ends */
  muster_type types[KINDS];
  muster_agent *members;
  muster_position *homes;
  muster_observer *observers;
  uint64_t visits, settled_visits, quiet_frames;
  uint64_t frames_to_nine_tenths, frames_to_last; /* sums over visits */
  uint32_t nine_tenths_max, last_max, watched;
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

/* ----------------------------------------------------------------------------------------------------------- updates
 */

/* The greatest need chooses the activity; the activity satisfies it for a while. */
static void empty_choose_activity(struct life *own, float random_share) {
  uint32_t best = 0;
  for (uint32_t i = 1; i < ACTIVITIES; i++)
    if (own->needs[i] > own->needs[best]) best = i;
  own->activity = best;
  own->needs[best] = 0.0f;
  own->activity_left_s = 60.0f + 240.0f * random_share;
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
  busy_work_spend(self->turns);
  for (uint32_t count = 0; left_s > 0.0f && count < ACTIVITIES_PER_UPDATE_MAX; count++) {
    float step_s = fminf(left_s, fmaxf(own->activity_left_s, 0.0f));
    pass_time(own, step_s);
    left_s -= step_s;
    if (own->activity_left_s <= 0.0f) empty_choose_activity(own, muster_update_random_share(update));
  }
  convergence_note(update);
  return MUSTER_ATOM_FINISH;
}

/* -------------------------------------------------------------------------------------------------------------- open
 */

static void empty_free_all(empty *self) {
  free(self->members);
  free(self->homes);
  free(self->observers);
  convergence_destroy(&self->convergence);
  free(self);
}

static empty *empty_make(const muster_module_options *options) {
  empty *self = calloc(1, sizeof *self);
  if (!self) return NULL;
  self->seed = options->seed;
  self->agents = options->agents ? options->agents : AGENTS_DEFAULT;
  self->observer_count = options->observers ? options->observers : OBSERVERS_DEFAULT;
  self->members = calloc(self->agents, sizeof *self->members);
  self->homes = calloc(self->agents, sizeof *self->homes);
  self->observers = calloc(self->observer_count, sizeof *self->observers);
  bool watches = convergence_create(&self->convergence, self->agents);
  if (watches && self->members && self->homes && self->observers) return self;
  empty_free_all(self);
  return NULL;
}

static muster_result open_villages(const muster_module_options *options, void **instance, muster_module_needs *needs) {
  double turns_per_ns = 0;
  muster_result result = options_check("empty", options, AGENTS_MAX, OBSERVERS_MAX);
  if (!result) result = busy_work_calibrate("empty", &turns_per_ns);
  if (result) return result;
  empty *self = empty_make(options);
  if (!self) return muster_module_fail(MUSTER_E_MEMORY, "empty: no memory for %u agents", options->agents);
  self->turns = (uint64_t)((double)labour_ns * turns_per_ns);
  *instance = self;
  *needs = (muster_module_needs){.size = (uint32_t)sizeof *needs,
                                 .agents = self->agents,
                                 .agents_max = self->agents,
                                 .observers = self->observer_count};
  return MUSTER_OK;
}

static void close_villages(void *instance) {
  empty_free_all(instance);
}

/* ---------------------------------------------------------------------------------------------------------- populate
 */

static double share_of(uint64_t random) {
  return (double)population_share(population_mix(random));
}

static muster_position village_place(const empty *self, uint64_t village) {
  uint64_t random = population_mix(self->seed) + 2 * village;
  return (muster_position){half_m * (2.0 * share_of(random) - 1.0), half_m * (2.0 * share_of(random + 1) - 1.0), 0.0};
}

/* Every agent lives in a village; agents stand more densely near its middle. */
static muster_position empty_home_of(const empty *self, uint32_t number) {
  uint64_t random = population_mix(self->seed ^ population_mix(number));
  muster_position place = village_place(self, number % VILLAGES);
  double away_m = village_m * share_of(random), angle = 6.283185307179586 * share_of(random + 1);
  place.x += away_m * cos(angle);
  place.y += away_m * sin(angle);
  return place;
}

static enum kind kind_of(uint32_t number) {
  return number % 5 == 4 ? ANIMAL : VILLAGER;
}

static muster_type empty_register_kind(empty *self, muster_world *world, enum kind kind) {
  muster_atom atom = {empty_live, MUSTER_ROLE_BEHAVIOUR, (uint32_t)labour_ns + 200};
  muster_type_def def = muster_default_type_def();
  def.name = kind == VILLAGER ? "villager" : "animal";
  def.atoms = &atom;
  def.atom_count = 1;
  def.state_bytes = sizeof(struct life);
  def.period_ns = kind == VILLAGER ? villager_period_ns : animal_period_ns;
  def.period_max_ns = period_max_ns;
  def.on_spawned = convergence_born;
  def.user = self;
  return muster_type_register(world, &def);
}

static muster_result empty_populate(void *instance, muster_world *world) {
  empty *self = instance;
  muster_agent_def def = muster_default_agent_def();
  for (uint32_t kind = 0; kind < KINDS; kind++) {
    self->types[kind] = empty_register_kind(self, world, (enum kind)kind);
    if (!self->types[kind].index) return MUSTER_E_FULL;
  }
  for (uint32_t i = 0; i < self->agents; i++) {
    struct life life = {.activity_left_s = 300.0f * (float)share_of(self->seed + i)};
    def.type = self->types[kind_of(i)];
    def.position = self->homes[i] = empty_home_of(self, i);
    def.state = &life;
    self->members[i] = muster_agent_spawn(world, &def);
    if (muster_agent_is_null(self->members[i])) return MUSTER_E_FULL;
  }
  return MUSTER_OK;
}

/* ---------------------------------------------------------------------------------------------------- between frames
 */

static void watch_village(empty *self, muster_position village, uint64_t sim_now_ns) {
  convergence_begin(&self->convergence, sim_now_ns);
  for (uint32_t i = 0; i < self->agents; i++) {
    if (hypot(self->homes[i].x - village.x, self->homes[i].y - village.y) > around_m) continue;
    uint64_t wanted_ns = kind_of(i) == VILLAGER ? villager_period_ns : animal_period_ns;
    convergence_watch(&self->convergence, self->members[i], wanted_ns + self->frame_ns);
  }
  self->watched = self->convergence.count;
}

static void arrive(empty *self, muster_world *world, uint64_t sim_now_ns) {
  muster_position village = village_place(self, self->visits++ % VILLAGES);
  for (uint32_t i = 0; i < self->observer_count; i++) {
    muster_observer_def def = muster_default_observer_def();
    double angle = 6.283185307179586 * i / self->observer_count;
    def.position = (muster_position){village.x + visit_m * cos(angle), village.y + visit_m * sin(angle), 0.0};
    self->observers[i] = muster_observer_add(world, &def);
  }
  watch_village(self, village, sim_now_ns);
}

static void leave(empty *self, muster_world *world) {
  for (uint32_t i = 0; i < self->observer_count; i++) muster_observer_remove(world, self->observers[i]);
}

static void empty_note_settled(empty *self) {
  const struct convergence *convergence = &self->convergence;
  self->settled_visits++;
  self->frames_to_nine_tenths += convergence->frames_to_nine_tenths;
  self->frames_to_last += convergence->frames_to_last;
  if (convergence->frames_to_nine_tenths > self->nine_tenths_max)
    self->nine_tenths_max = convergence->frames_to_nine_tenths;
  if (convergence->frames_to_last > self->last_max) self->last_max = convergence->frames_to_last;
}

static void empty_before_frame(void *instance, muster_world *world, uint64_t sim_now_ns) {
  empty *self = instance;
  if (!self->begun) {
    self->begin_ns = self->last_ns = sim_now_ns;
    self->changes_ns = sim_now_ns + quiet_ns;
    self->begun = true;
  }
  uint64_t frame_ns = sim_now_ns - self->last_ns;
  self->last_ns = sim_now_ns;
  self->frame_ns = frame_ns < second_ns ? frame_ns : second_ns; /* what a visitor will see */
  self->quiet_frames += !self->visited;
  uint32_t left = self->convergence.left;
  convergence_look(&self->convergence, world);
  if (left && !self->convergence.left) empty_note_settled(self);
  if (sim_now_ns < self->changes_ns) return;
  self->visited = !self->visited;
  self->changes_ns = sim_now_ns + (self->visited ? visit_ns : quiet_ns);
  if (self->visited)
    arrive(self, world, sim_now_ns);
  else
    leave(self, world);
}

/* The last step before a visit has the host's own length, or what is left until the visit if that is shorter. */
static uint64_t skip_ns(void *instance, uint64_t sim_now_ns) {
  const empty *self = instance;
  if (!self->begun || self->visited || sim_now_ns >= self->changes_ns) return 0;
  uint64_t left_ns = self->changes_ns - sim_now_ns;
  return left_ns < quiet_step_ns ? left_ns : quiet_step_ns;
}

/* ------------------------------------------------------------------------------------------------------------ report
 */

static void empty_report(void *instance, const muster_world *world, muster_module_emit emit, void *emit_user) {
  const empty *self = instance;
  uint64_t agents = 0, activities = 0, longest_ns = 0, lifetime_errors = 0;
  muster_agent_info info = muster_default_agent_info();
  for (muster_agent agent = muster_agent_next(world, (muster_agent){0, 0}); !muster_agent_is_null(agent);
       agent = muster_agent_next(world, agent)) {
    if (muster_agent_read(world, agent, &info) != MUSTER_OK) continue;
    const struct life *own = info.state;
    uint64_t waiting_ns = self->last_ns - info.last_update_ns;
    agents++;
    activities += own->activities;
    lifetime_errors += !convergence_has_lived(&own->mark, &info);
    if (own->mark.longest_elapsed_ns > longest_ns) longest_ns = own->mark.longest_elapsed_ns;
    if (waiting_ns > longest_ns) longest_ns = waiting_ns;
  }
  double settled = self->settled_visits ? (double)self->settled_visits : 1.0;
  emit("population", (double)agents, emit_user);
  emit("simulated_s", (double)(self->last_ns - self->begin_ns) * 1e-9, emit_user);
  emit("quiet_frames", (double)self->quiet_frames, emit_user);
  emit("activities", (double)activities, emit_user);
  emit("longest_interval_s", (double)longest_ns * 1e-9, emit_user);
  emit("visits", (double)self->visits, emit_user);
  emit("visits_settled", (double)self->settled_visits, emit_user);
  emit("watched", self->watched, emit_user);
  emit("frames_to_nine_tenths", (double)self->frames_to_nine_tenths / settled, emit_user);
  emit("frames_to_nine_tenths_max", self->nine_tenths_max, emit_user);
  emit("frames_to_last", (double)self->frames_to_last / settled, emit_user);
  emit("frames_to_last_max", self->last_max, emit_user);
  emit("violations", (double)lifetime_errors, emit_user);
}

const muster_module *muster_module_empty(void) {
  static const muster_module module = {.size = (uint32_t)sizeof module,
                                       .abi = MUSTER_MODULE_ABI,
                                       .name = "empty",
                                       .summary = "hours without an observer, in steps of a minute; then an arrival",
                                       .open = open_villages,
                                       .populate = empty_populate,
                                       .before_frame = empty_before_frame,
                                       .report = empty_report,
                                       .close = close_villages,
                                       .skip_ns = skip_ns};
  return &module;
}

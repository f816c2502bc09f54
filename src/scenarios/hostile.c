#include "scenarios/hostile.h"

#include "scenarios/busy_work.h"
#include "scenarios/kept.h"
#include "scenarios/options_check.h"
#include "scenarios/population_random.h"
#include "scenarios/scenarios.h"

#include <math.h>
#include <stdlib.h>

enum {
  AGENTS_DEFAULT = 20000,
  AGENTS_MIN = 100,
  AGENTS_MAX = 1000000,
  OBSERVERS_DEFAULT = 64,
  OBSERVERS_MAX = 4096,
  FLIP_FRAMES = 5,   /* flippers change their cost after this many frames */
  CALL_FRAMES = 300, /* the chorus is called together after this many frames */
  CALLED_MAX = 8192, /* members of the chorus called at most, so that other commands find room */
  VERSION = 1        /* of the snapshot's contents */
};

static const double half_m = 600.0;                               /* of the ground */
static const double site_x = 2000.0;                              /* where flappers stand, far from all other agents */
static const double near_step_m = 115.0, far_step_m = 160.0;      /* of their observers, across a level's boundary */
static const double turn_rad = 6.283185307179586, walk_rps = 0.1; /* of the other observers, around the middle */

/* -------------------------------------------------------------------------------------------------------------- open
 */

static void hostile_free_all(hostile *self) {
  free(self->members);
  free(self->heard);
  free(self->observers);
  free(self->places);
  free(self);
}

static hostile *hostile_make(const muster_module_options *options) {
  hostile *self = calloc(1, sizeof *self);
  if (!self) return NULL;
  self->seed = options->seed;
  self->agents = options->agents ? options->agents : AGENTS_DEFAULT;
  self->agents_max = self->agents + self->agents / 4 + 1024;
  self->observer_count = options->observers ? options->observers : OBSERVERS_DEFAULT;
  self->members = calloc(self->agents, sizeof *self->members);
  self->heard = calloc(self->agents, sizeof *self->heard);
  self->observers = calloc(self->observer_count, sizeof *self->observers);
  self->places = calloc(self->observer_count, sizeof *self->places);
  if (self->members && self->heard && self->observers && self->places) return self;
  hostile_free_all(self);
  return NULL;
}

static muster_result open_arena(const muster_module_options *options, void **instance, muster_module_needs *needs) {
  double turns_per_ns = 0;
  muster_result result = options_check("hostile", options, AGENTS_MAX, OBSERVERS_MAX);
  if (result) return result;
  if (options->agents && options->agents < AGENTS_MIN)
    return muster_module_fail(MUSTER_E_ARGUMENT, "hostile: %u agents are fewer than %d, too few for all its kinds",
                              options->agents, AGENTS_MIN);
  result = busy_work_calibrate("hostile", &turns_per_ns);
  if (result) return result;
  hostile *self = hostile_make(options);
  if (!self) return muster_module_fail(MUSTER_E_MEMORY, "hostile: no memory for %u agents", options->agents);
  self->turns_per_ns = turns_per_ns;
  hostile_cast_all(self);
  self->breeders_max = self->casts[HOSTILE_BREEDER].count * 3 / 2;
  *instance = self;
  *needs = (muster_module_needs){.size = (uint32_t)sizeof *needs,
                                 .agents = self->agents,
                                 .agents_max = self->agents_max,
                                 .observers = self->observer_count};
  return MUSTER_OK;
}

static void close_arena(void *instance) {
  hostile_free_all(instance);
}

/* ---------------------------------------------------------------------------------------------------------- populate
 */

muster_position hostile_place(const hostile *self, hostile_kind kind, uint64_t random) {
  uint64_t own = population_mix(random ^ population_mix(self->seed));
  double x = 2.0 * (double)population_share(own) - 1.0, y = 2.0 * (double)population_share(population_mix(own)) - 1.0;
  if (kind == HOSTILE_FLAPPER) return (muster_position){site_x + 5.0 * x, 5.0 * y, 0.0};
  return (muster_position){half_m * x, half_m * y, 0.0};
}

static muster_result spawn_cast(hostile *self, muster_world *world, const hostile_cast *cast) {
  for (uint32_t i = 0; i < cast->count; i++) {
    hostile_life life = {.number = cast->first + i};
    muster_agent_def def = muster_default_agent_def();
    def.type = cast->type;
    def.position = hostile_place(self, cast->kind, life.number);
    def.state = &life;
    self->members[life.number] = muster_agent_spawn(world, &def);
    if (muster_agent_is_null(self->members[life.number])) return MUSTER_E_FULL;
  }
  return MUSTER_OK;
}

/* Every second observer steps to and fro before the flappers, over the boundary of a level; the rest go around. */
static muster_position hostile_observer_place(const hostile *self, uint32_t observer, double seconds) {
  if (observer % 2 == 0) {
    double distance_m = self->tally.frames % 2 ? near_step_m : far_step_m;
    return (muster_position){site_x + distance_m, 0.0, 0.0};
  }
  double angle = turn_rad * observer / self->observer_count + walk_rps * seconds;
  double radius_m = half_m * (0.2 + 0.6 * observer / self->observer_count);
  return (muster_position){radius_m * cos(angle), radius_m * sin(angle), 0.0};
}

static muster_result hostile_add_observers(hostile *self, muster_world *world) {
  for (uint32_t i = 0; i < self->observer_count; i++) {
    muster_observer_def def = muster_default_observer_def();
    def.position = hostile_observer_place(self, i, 0.0);
    self->observers[i] = muster_observer_add(world, &def);
    if (self->observers[i].generation == 0) return MUSTER_E_FULL;
  }
  return MUSTER_OK;
}

static muster_result hostile_populate(void *instance, muster_world *world) {
  hostile *self = instance;
  muster_result result = hostile_register(self, world);
  for (uint32_t kind = 0; kind < HOSTILE_KINDS && !result; kind++) result = spawn_cast(self, world, &self->casts[kind]);
  return result ? result : hostile_add_observers(self, world);
}

/* ---------------------------------------------------------------------------------------------------- between frames
 */

/* Members that have the same period and are woken in one frame stay together for as long as there is no pressure. */
static void call_chorus(hostile *self, muster_world *world) {
  const hostile_cast *chorus = &self->casts[HOSTILE_CHORUS];
  uint32_t count = chorus->count < CALLED_MAX ? chorus->count : CALLED_MAX;
  for (uint32_t i = 0; i < count; i++) {
    bool called = muster_agent_wake(world, self->members[chorus->first + i]) == MUSTER_OK;
    self->tally.calls += called;
    self->tally.calls_refused += !called;
  }
}

static void hostile_before_frame(void *instance, muster_world *world, uint64_t sim_now_ns) {
  hostile *self = instance;
  hostile_check_census(self, world);
  if (!self->begun) self->begin_ns = sim_now_ns;
  self->begun = true;
  self->tally.frames++;
  bool expensive = self->tally.frames / FLIP_FRAMES % 2;
  self->tally.flips += expensive != self->expensive;
  self->expensive = expensive;
  double seconds = (double)(sim_now_ns - self->begin_ns) * 1e-9;
  for (uint32_t i = 0; i < self->observer_count; i++) self->places[i] = hostile_observer_place(self, i, seconds);
  muster_observers_move(world, self->observers, self->places, self->observer_count);
  if (self->tally.frames % CALL_FRAMES == 30) call_chorus(self, world);
}

/* -------------------------------------------------------------------------------------------------------------- keep
 */

/* What a snapshot keeps besides the agents; the members, what they heard and the observers follow. */
typedef struct kept_arena {
  uint32_t version, agents, observer_count, breeders;
  uint32_t begun, expensive;
  uint64_t seed, begin_ns;
  hostile_tally tally;
} kept_arena;

static muster_result hostile_save(void *instance, const muster_world *world, muster_module_write write,
                                  void *write_user) {
  const hostile *self = instance;
  kept_arena kept = {.version = VERSION,
                     .agents = self->agents,
                     .observer_count = self->observer_count,
                     .breeders = self->breeders,
                     .begun = self->begun,
                     .expensive = self->expensive,
                     .seed = self->seed,
                     .begin_ns = self->begin_ns,
                     .tally = self->tally};
  (void)world;
  bool written = write(&kept, sizeof kept, write_user) &&
                 write(self->members, self->agents * sizeof *self->members, write_user) &&
                 write(self->heard, self->agents * sizeof *self->heard, write_user) &&
                 write(self->observers, self->observer_count * sizeof *self->observers, write_user);
  return written ? MUSTER_OK : kept_unwritten("hostile");
}

static muster_result hostile_resume(void *instance, muster_world *world, const void *bytes, size_t count) {
  hostile *self = instance;
  kept_bytes left = {.bytes = bytes, .count = count};
  kept_arena kept;
  muster_result result = hostile_register(self, world);
  if (result) return result;
  kept_take(&left, &kept, sizeof kept);
  if (kept.version != VERSION || kept.agents != self->agents || kept.observer_count != self->observer_count ||
      kept.begun > 1 || kept.expensive > 1 || kept.seed != self->seed)
    return kept_refused("hostile");
  kept_take(&left, self->members, self->agents * sizeof *self->members);
  kept_take(&left, self->heard, self->agents * sizeof *self->heard);
  kept_take(&left, self->observers, self->observer_count * sizeof *self->observers);
  if (!kept_is_read(&left)) return kept_refused("hostile");
  self->breeders = kept.breeders;
  self->begun = kept.begun;
  self->expensive = kept.expensive;
  self->begin_ns = kept.begin_ns;
  self->tally = kept.tally;
  return MUSTER_OK;
}

const muster_module *muster_module_hostile(void) {
  static const muster_module module = {.size = (uint32_t)sizeof module,
                                       .abi = MUSTER_MODULE_ABI,
                                       .name = "hostile",
                                       .summary = "everything that breaks schedulers, and invariants that must hold",
                                       .open = open_arena,
                                       .populate = hostile_populate,
                                       .before_frame = hostile_before_frame,
                                       .report = hostile_report,
                                       .close = close_arena,
                                       .save = hostile_save,
                                       .resume = hostile_resume};
  return &module;
}

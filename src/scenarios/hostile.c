#include "scenarios/hostile.h"

#include "scenarios/scenarios.h"

#include <math.h>

enum {
  AGENTS_MIN = 100,
  FLIP_FRAMES = 5,   /* flippers change their cost after this many frames */
  CALL_FRAMES = 300, /* the chorus is called together after this many frames */
  CALLED_MAX = 8192  /* members of the chorus called at most, so that other commands find room */
};

static const double half_m = 600.0;                               /* of the ground */
static const double site_x = 2000.0;                              /* where flappers stand, far from all other agents */
static const double near_step_m = 115.0, far_step_m = 160.0;      /* of their observers, across a level's boundary */
static const double turn_rad = 6.283185307179586, walk_rps = 0.1; /* of the other observers, around the middle */

static muster_result hostile_check(const muster_module_options *options) {
  if (options->agents == 0 || options->agents >= AGENTS_MIN) return MUSTER_OK;
  return muster_module_fail(MUSTER_E_ARGUMENT, "hostile: %u agents are fewer than %d, too few for all its kinds",
                            options->agents, AGENTS_MIN);
}

static muster_result hostile_prepare(void *instance) {
  hostile *self = instance;
  self->base.needs.agents_max = self->base.agents + self->base.agents / 4 + 1024;
  hostile_cast_all(self);
  self->breeders_max = self->casts[HOSTILE_BREEDER].count * 3 / 2;
  return MUSTER_OK;
}

/* ------------------------------------------------------------------------------------------------------------ places
 */

muster_position hostile_place(const hostile *self, hostile_kind kind, uint64_t random) {
  uint64_t own = scaffold_random(random ^ scaffold_random(self->base.seed));
  double x = 2.0 * (double)muster_random_share(own) - 1.0, y = 2.0 * scaffold_random_share(own) - 1.0;
  if (kind == HOSTILE_FLAPPER) return (muster_position){site_x + 5.0 * x, 5.0 * y, 0.0};
  return (muster_position){half_m * x, half_m * y, 0.0};
}

/* Every second observer steps to and fro before the flappers, over the boundary of a level; the rest go around. */
static muster_position hostile_observer_place(void *instance, uint32_t observer, double seconds) {
  const hostile *self = instance;
  if (observer % 2 == 0)
    return (muster_position){site_x + (self->tally.frames % 2 ? near_step_m : far_step_m), 0.0, 0.0};
  double angle = turn_rad * observer / self->base.observer_count + walk_rps * seconds;
  double radius_m = half_m * (0.2 + 0.6 * observer / self->base.observer_count);
  return (muster_position){radius_m * cos(angle), radius_m * sin(angle), 0.0};
}

static muster_result spawn_cast(hostile *self, muster_world *world, const hostile_cast *cast) {
  muster_result result = MUSTER_OK;
  for (uint32_t i = cast->first; i < cast->first + cast->count && !result; i++) {
    hostile_life life = {.number = i};
    muster_agent_def def = scaffold_agent(cast->type, hostile_place(self, cast->kind, i), &life);
    result = scaffold_spawn(world, &def, &self->members[i]);
  }
  return result;
}

static muster_result hostile_spawn(void *instance, muster_world *world) {
  hostile *self = instance;
  muster_result result = MUSTER_OK;
  for (uint32_t kind = 0; kind < HOSTILE_KINDS && !result; kind++) result = spawn_cast(self, world, &self->casts[kind]);
  return result;
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

static void hostile_frame(void *instance, muster_world *world) {
  hostile *self = instance;
  hostile_check_census(self, world);
  self->tally.frames++;
  bool expensive = self->tally.frames / FLIP_FRAMES % 2;
  self->tally.flips += expensive != self->expensive;
  self->expensive = expensive;
  scaffold_move_observers(instance, world);
  if (self->tally.frames % CALL_FRAMES == 30) call_chorus(self, world);
}

/* ---------------------------------------------------------------------------------------------------------- the plan
 */

/* What a snapshot keeps besides the agents; the members, what they heard and the observers follow. */
static const scaffold_field kept[] = {SCAFFOLD_SAME_WORLD,
                                      SCAFFOLD_KEPT(hostile, breeders),
                                      SCAFFOLD_FLAG(scaffold, begun),
                                      SCAFFOLD_FLAG(hostile, expensive),
                                      SCAFFOLD_SAME(scaffold, seed),
                                      SCAFFOLD_KEPT(scaffold, begin_ns),
                                      SCAFFOLD_KEPT(scaffold, now_ns),
                                      SCAFFOLD_KEPT(hostile, tally),
                                      {0}};

static const scaffold_array arrays[] = {SCAFFOLD_KEPT_ARRAY(hostile, members, base.agents),
                                        SCAFFOLD_KEPT_ARRAY(hostile, heard, base.agents),
                                        SCAFFOLD_KEPT_OBSERVERS,
                                        {0}};

static const scaffold_plan plan = {.name = "hostile",
                                   .bytes = sizeof(hostile),
                                   .agents_default = 20000,
                                   .agents_max = 1000000,
                                   .observers_default = 64,
                                   .observers_max = 4096,
                                   .works = true,
                                   .arrays = arrays,
                                   .kept = kept,
                                   .lines = hostile_lines,
                                   .check = hostile_check,
                                   .prepare = hostile_prepare,
                                   .kinds = HOSTILE_KINDS,
                                   .join_one = hostile_register,
                                   .spawn = hostile_spawn,
                                   .place = hostile_observer_place,
                                   .frame = hostile_frame,
                                   .count = hostile_count,
                                   .conclude = hostile_conclude};

SCAFFOLD_MODULE(hostile, plan, "hostile", "everything that breaks schedulers, and invariants that must hold",
                SCAFFOLD_FRAMES, SCAFFOLD_SAVES)

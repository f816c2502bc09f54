#include "hostile.h"

#include "convergence.h"
#include "worlds.h"

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

/* ----------------------------------------------------------------------------------------------------------- places */

muster_position hostile_place(const hostile_cast *cast, uint64_t random) {
  uint64_t own = scaffold_random(random ^ scaffold_random(cast->self->base.seed));
  bool flapper = cast->kind == HOSTILE_FLAPPER;
  muster_position place =
      scaffold_spread(flapper ? 5.0 : half_m, (double)muster_random_share(own), scaffold_random_share(own));
  if (flapper) place.x += site_x;
  return place;
}

/* Every second observer steps to and fro before the flappers, over the boundary of a level; the rest go around. */
static muster_position hostile_observer_place(void *instance, uint32_t observer, double seconds) {
  const hostile *self = instance;
  if (observer % 2 == 0)
    return (muster_position){site_x + (self->tally.frames % 2 ? near_step_m : far_step_m), 0.0, 0.0};
  return scaffold_beside((muster_position){0}, half_m * (0.2 + 0.6 * observer / self->base.observer_count),
                         turn_rad * observer / self->base.observer_count + walk_rps * seconds);
}

static muster_result hostile_spawn(void *instance, muster_world *world, uint32_t number) {
  hostile *self = instance;
  hostile_life life = {.number = number};
  const hostile_cast *cast = self->casts;
  while (number >= cast->first + cast->count) cast++;
  muster_agent_def def = scaffold_agent(cast->type, hostile_place(cast, number), &life);
  return scaffold_spawn(world, &def, &self->members[number]);
}

/* --------------------------------------------------------------------------------------------------- between frames */

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

/* Compares births and deaths with the population of the last frame, before the next. */
static void hostile_check_census(hostile *self, const muster_world *world) {
  muster_frame_report report = muster_frame_report_default();
  muster_frame_report_read(world, &report);
  if (!report.frame && self->tally.frames) return; /* the world was loaded, and has run no frame yet */
  self->tally.census_errors += self->tally.births - self->tally.deaths != report.agents;
  if (report.agents > self->tally.population_max) self->tally.population_max = report.agents;
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

/* ----------------------------------------------------------------------------------------------------------- report */

/* Sums over the living, and what they come to with the tally. */
typedef struct census {
  uint64_t count, sent, heard, heard_twice, lost, in_boxes, misplaced, lifetime_errors;
  double census_errors, invented, violations;
} census;

static void hostile_count(const scaffold_look *look) {
  const hostile_life *life = look->info.state;
  const muster_position *place = &look->info.position;
  census *sums = look->sums;
  sums->count++;
  sums->sent += life->sent;
  sums->heard += life->heard;
  sums->heard_twice += life->heard_twice;
  sums->lost += life->lost;
  sums->in_boxes += look->info.messages;
  sums->misplaced += life->misplaced + !(isfinite(place->x) && isfinite(place->y) && isfinite(place->z));
  convergence_mark mark = {.born_ns = life->born_ns, .lived_ns = life->lived_ns, .elapsed_ns = life->last_elapsed_ns};
  sums->lifetime_errors += !convergence_has_lived(&mark, &look->info);
}

/* Gossips never die, so every message that was heard, waits or was lost had been sent. */
static void hostile_conclude(const scaffold_look *look) {
  const hostile *self = look->instance;
  const hostile_tally *tally = &self->tally;
  census *sums = look->sums;
  uint64_t arrived = sums->heard + sums->in_boxes + sums->lost;
  if (arrived > sums->sent) sums->invented = (double)(arrived - sums->sent);
  sums->census_errors = (double)tally->census_errors + (tally->births - tally->deaths != sums->count);
  sums->violations = sums->census_errors + sums->invented +
                     (double)(sums->lifetime_errors + sums->heard_twice + sums->misplaced) +
                     (tally->population_max > self->base.needs.agents_max);
}

#define KIND(name, kind) SCAFFOLD_AGENTS_OF("kind_" name, hostile, casts[HOSTILE_##kind].type)

/* Each of the last six must be 0. */
static const scaffold_line lines[] = {SCAFFOLD_AGENTS("population"),
                                      SCAFFOLD_OWN("population_max", hostile, tally.population_max),
                                      KIND("endless", ENDLESS),
                                      KIND("flipper", FLIPPER),
                                      KIND("breeder", BREEDER),
                                      KIND("mayfly", MAYFLY),
                                      KIND("flapper", FLAPPER),
                                      KIND("chorus", CHORUS),
                                      KIND("glutton", GLUTTON),
                                      KIND("ringer", RINGER),
                                      KIND("gossip", GOSSIP),
                                      KIND("strayer", STRAYER),
                                      SCAFFOLD_OWN("births", hostile, tally.births),
                                      SCAFFOLD_OWN("deaths", hostile, tally.deaths),
                                      SCAFFOLD_OWN("kills", hostile, tally.kills),
                                      SCAFFOLD_OWN("births_refused", hostile, tally.births_refused),
                                      SCAFFOLD_SUM("updates_of_living", hostile_life, updates),
                                      SCAFFOLD_OWN("cost_flips", hostile, tally.flips),
                                      SCAFFOLD_OWN("chorus_calls", hostile, tally.calls),
                                      SCAFFOLD_OWN("chorus_calls_refused", hostile, tally.calls_refused),
                                      SCAFFOLD_SUM("level_changes", hostile_life, level_changes),
                                      SCAFFOLD_SUM("ring_wakes", hostile_life, wakes),
                                      SCAFFOLD_FOUND("messages_sent", census, sent),
                                      SCAFFOLD_FOUND("messages_heard", census, heard),
                                      SCAFFOLD_FOUND("messages_lost", census, lost),
                                      SCAFFOLD_SUM("moves_refused", hostile_life, refused),
                                      SCAFFOLD_FOUND("census_errors", census, census_errors),
                                      SCAFFOLD_FOUND("lifetime_errors", census, lifetime_errors),
                                      SCAFFOLD_FOUND("messages_heard_twice", census, heard_twice),
                                      SCAFFOLD_FOUND("messages_invented", census, invented),
                                      SCAFFOLD_FOUND("misplaced", census, misplaced),
                                      SCAFFOLD_FOUND("violations", census, violations),
                                      {0}};

/* --------------------------------------------------------------------------------------------------------- the plan */

/* What a snapshot keeps besides the agents; the members, what they heard and the observers follow. */
static const scaffold_field kept[] = {SCAFFOLD_SAME_WORLD,
                                      SCAFFOLD_KEPT(hostile, breeders),
                                      SCAFFOLD_FLAG(scaffold, begun),
                                      SCAFFOLD_FLAG(hostile, expensive),
                                      SCAFFOLD_SAME(scaffold, seed),
                                      SCAFFOLD_KEPT_TIMES,
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
                                   .lines = lines,
                                   .check = hostile_check,
                                   .prepare = hostile_prepare,
                                   .kinds = HOSTILE_KINDS,
                                   .join_one = hostile_register,
                                   .spawn_one = hostile_spawn,
                                   .place = hostile_observer_place,
                                   .frame = hostile_frame,
                                   .count = hostile_count,
                                   .conclude = hostile_conclude};

SCAFFOLD_MODULE(hostile, plan, "hostile", "everything that breaks schedulers, and invariants that must hold",
                SCAFFOLD_FRAMES, SCAFFOLD_SAVES)

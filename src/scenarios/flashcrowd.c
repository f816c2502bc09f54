#include "scenarios/flashcrowd.h"

#include "scenarios/kept.h"
#include "scenarios/options_check.h"
#include "scenarios/population_random.h"
#include "scenarios/scenarios.h"

#include <math.h>
#include <stdlib.h>

enum { AGENTS_DEFAULT = 50000, AGENTS_MAX = 2000000, OBSERVERS_DEFAULT = 500, OBSERVERS_MAX = 65536 };
enum { VERSION = 1 /* of the snapshot's contents */ };

static const double jump_s = 10.0;                          /* from one town to the next */
static const double arrival_m = 60.0, gathered_m = 15.0;    /* radius of the crowd when it comes and when it leaves */
static const double town_m = 150.0;                         /* about the radius of a town */
static const double around_m = 35.0;                        /* agents that live this near to the crowd are watched */
static const double rain_mps = 40.0, golden_rad = 2.399963; /* angle between neighbours on a spiral */

/* -------------------------------------------------------------------------------------------------------------- open
 */

static void flashcrowd_free_all(flashcrowd *self) {
  free(self->homes);
  free(self->members);
  free(self->kinds);
  free(self->observers);
  free(self->places);
  convergence_destroy(&self->convergence);
  free(self);
}

static flashcrowd *flashcrowd_make(const muster_module_options *options) {
  flashcrowd *self = calloc(1, sizeof *self);
  if (!self) return NULL;
  self->seed = options->seed;
  self->agents = options->agents ? options->agents : AGENTS_DEFAULT;
  self->observer_count = options->observers ? options->observers : OBSERVERS_DEFAULT;
  self->homes = calloc(self->agents, 2 * sizeof *self->homes);
  self->members = calloc(self->agents, sizeof *self->members);
  self->kinds = calloc(self->agents, sizeof *self->kinds);
  self->observers = calloc(self->observer_count, sizeof *self->observers);
  self->places = calloc(self->observer_count, sizeof *self->places);
  bool watches = convergence_create(&self->convergence, self->agents);
  if (watches && self->homes && self->members && self->kinds && self->observers && self->places) return self;
  flashcrowd_free_all(self);
  return NULL;
}

static double share_of(uint64_t random) {
  return (double)population_share(population_mix(random));
}

/* Towns stand on a ring, so that none is in the next one's sight. */
static void found_towns(flashcrowd *self) {
  for (uint32_t i = 0; i < FLASHCROWD_TOWNS; i++) {
    double angle = 6.283185307179586 * (i + 0.4 * share_of(self->seed + i)) / FLASHCROWD_TOWNS;
    self->town_x[i] = 0.7 * flashcrowd_half_m * cos(angle);
    self->town_y[i] = 0.7 * flashcrowd_half_m * sin(angle);
  }
}

static muster_result open_map(const muster_module_options *options, void **instance, muster_module_needs *needs) {
  muster_result result = options_check("flashcrowd", options, AGENTS_MAX, OBSERVERS_MAX);
  if (result) return result;
  flashcrowd *self = flashcrowd_make(options);
  if (!self) return muster_module_fail(MUSTER_E_MEMORY, "flashcrowd: no memory for %u agents", options->agents);
  found_towns(self);
  *instance = self;
  *needs = (muster_module_needs){.size = (uint32_t)sizeof *needs,
                                 .agents = self->agents,
                                 .agents_max = self->agents,
                                 .observers = self->observer_count,
                                 .cell_m = 24.0f};
  return MUSTER_OK;
}

static void close_map(void *instance) {
  flashcrowd_free_all(instance);
}

/* ---------------------------------------------------------------------------------------------------------- populate
 */

/* Every second agent lives in a town, more densely near its middle; the rest live anywhere. */
static muster_position flashcrowd_home_of(const flashcrowd *self, uint32_t number) {
  uint64_t random = population_mix(self->seed * 0x9e3779b97f4a7c15u + number);
  double first = share_of(random), second = share_of(random + 1);
  if (number % 2)
    return (muster_position){flashcrowd_half_m * (2.0 * first - 1.0), flashcrowd_half_m * (2.0 * second - 1.0), 0.0};
  uint32_t town = (uint32_t)(FLASHCROWD_TOWNS * share_of(random + 2));
  double angle = 6.283185307179586 * second;
  return (muster_position){self->town_x[town] + town_m * first * cos(angle),
                           self->town_y[town] + town_m * first * sin(angle), 0.0};
}

/* Stores the id of the number-th agent. */
static void note_member(flashcrowd *self, uint32_t number, muster_agent agent) {
  muster_position home = flashcrowd_home_of(self, number);
  self->members[number] = agent;
  self->kinds[number] = (uint8_t)flashcrowd_kind_of(number);
  self->homes[2 * (size_t)agent.index] = (float)home.x;
  self->homes[2 * (size_t)agent.index + 1] = (float)home.y;
}

static bool flashcrowd_spawn_one(flashcrowd *self, muster_world *world, uint32_t number) {
  flashcrowd_kind kind = flashcrowd_kind_of(number);
  muster_agent_def def = muster_default_agent_def();
  def.type = self->casts[kind].type;
  def.position = flashcrowd_home_of(self, number);
  flashcrowd_state state = {.home_x = (float)def.position.x, .home_y = (float)def.position.y};
  def.state = &state;
  if (kind == FLASHCROWD_STORY) {
    def.importance_floor = 0.8f;
    def.elasticity = 0.0f;
  }
  muster_agent agent = muster_agent_spawn(world, &def);
  if (muster_agent_is_null(agent) || agent.index >= self->agents) return false;
  note_member(self, number, agent);
  return true;
}

/* Computes where the crowd is at a time, and each of its observers: they stand on a spiral that draws together. */
static void flashcrowd_gather(flashcrowd *self, double seconds) {
  uint64_t jump = (uint64_t)(seconds / jump_s);
  double radius_m = arrival_m + (gathered_m - arrival_m) * (seconds / jump_s - (double)jump);
  self->crowd_x = self->town_x[jump % FLASHCROWD_TOWNS];
  self->crowd_y = self->town_y[jump % FLASHCROWD_TOWNS];
  self->rain_x = rain_mps * seconds;
  for (uint32_t i = 0; i < self->observer_count; i++) {
    double angle = golden_rad * i, away_m = radius_m * sqrt((i + 0.5) / self->observer_count);
    self->places[i] = (muster_position){self->crowd_x + away_m * cos(angle), self->crowd_y + away_m * sin(angle), 0.0};
  }
}

static muster_result flashcrowd_populate(void *instance, muster_world *world) {
  flashcrowd *self = instance;
  muster_result result = flashcrowd_register(self, world);
  for (uint32_t i = 0; i < self->agents && !result; i++)
    if (!flashcrowd_spawn_one(self, world, i)) result = MUSTER_E_FULL;
  flashcrowd_gather(self, 0.0);
  for (uint32_t i = 0; i < self->observer_count && !result; i++) {
    muster_observer_def def = muster_default_observer_def();
    def.position = self->places[i];
    self->observers[i] = muster_observer_add(world, &def);
    if (self->observers[i].generation == 0) result = MUSTER_E_FULL;
  }
  return result;
}

/* ---------------------------------------------------------------------------------------------------- between frames
 */

/* Adds up the result of the last jump, when all watched agents have settled or the next jump comes. */
static void flashcrowd_note_settled(flashcrowd *self) {
  const struct convergence *convergence = &self->convergence;
  if (convergence->count == 0 || !convergence->frames_to_last) return;
  self->settled_jumps++;
  self->frames_to_nine_tenths += convergence->frames_to_nine_tenths;
  self->frames_to_last += convergence->frames_to_last;
  if (convergence->frames_to_nine_tenths > self->nine_tenths_max)
    self->nine_tenths_max = convergence->frames_to_nine_tenths;
  if (convergence->frames_to_last > self->last_max) self->last_max = convergence->frames_to_last;
}

/* Watches every agent that lives where the crowd has come, but not the exempt agents, which run as always. Half a
 * period more than the shortest is within what even the periods of the most important agents stretch under twice the
 * load. */
static void watch_neighbourhood(flashcrowd *self, uint64_t sim_now_ns) {
  convergence_begin(&self->convergence, sim_now_ns);
  for (uint32_t i = 0; i < self->agents; i++) {
    const float *home = &self->homes[2 * (size_t)self->members[i].index];
    flashcrowd_kind kind = (flashcrowd_kind)self->kinds[i];
    if (kind == FLASHCROWD_STORY) continue;
    if (hypot((double)home[0] - self->crowd_x, (double)home[1] - self->crowd_y) > around_m) continue;
    uint64_t wanted_ns = flashcrowd_period_ns(kind) * 3 / 2 + self->frame_ns;
    convergence_watch(&self->convergence, self->members[i], wanted_ns);
  }
  self->watched = self->convergence.count;
}

static void flashcrowd_before_frame(void *instance, muster_world *world, uint64_t sim_now_ns) {
  flashcrowd *self = instance;
  if (!self->begun) self->begin_ns = self->last_ns = sim_now_ns;
  self->begun = true;
  self->frame_ns = sim_now_ns - self->last_ns;
  self->last_ns = sim_now_ns;
  double seconds = (double)(sim_now_ns - self->begin_ns) * 1e-9;
  uint32_t left = self->convergence.left;
  convergence_look(&self->convergence, world);
  if (left && !self->convergence.left) flashcrowd_note_settled(self);
  flashcrowd_gather(self, seconds);
  muster_observers_move(world, self->observers, self->places, self->observer_count);
  if ((uint64_t)(seconds / jump_s) == self->jumps) return;
  self->jumps = (uint64_t)(seconds / jump_s);
  watch_neighbourhood(self, sim_now_ns);
}

/* -------------------------------------------------------------------------------------------------------------- keep
 */

/* What a snapshot keeps besides the agents; the members, the observers and the watched agents follow. */
typedef struct kept_map {
  uint32_t version, agents, observer_count, begun;
  uint64_t seed, begin_ns, frame_ns, last_ns;
  uint64_t jumps, settled_jumps, frames_to_nine_tenths, frames_to_last;
  uint32_t nine_tenths_max, last_max, watched;
  uint32_t count, left, frames, now_to_nine_tenths, now_to_last; /* of the watched agents */
  uint64_t since_ns;
} kept_map;

static kept_map flashcrowd_describe(const flashcrowd *self) {
  const struct convergence *convergence = &self->convergence;
  return (kept_map){.version = VERSION,
                    .agents = self->agents,
                    .observer_count = self->observer_count,
                    .begun = self->begun,
                    .seed = self->seed,
                    .begin_ns = self->begin_ns,
                    .frame_ns = self->frame_ns,
                    .last_ns = self->last_ns,
                    .jumps = self->jumps,
                    .settled_jumps = self->settled_jumps,
                    .frames_to_nine_tenths = self->frames_to_nine_tenths,
                    .frames_to_last = self->frames_to_last,
                    .nine_tenths_max = self->nine_tenths_max,
                    .last_max = self->last_max,
                    .watched = self->watched,
                    .count = convergence->count,
                    .left = convergence->left,
                    .frames = convergence->frames,
                    .now_to_nine_tenths = convergence->frames_to_nine_tenths,
                    .now_to_last = convergence->frames_to_last,
                    .since_ns = convergence->since_ns};
}

static void flashcrowd_take_back(flashcrowd *self, const kept_map *kept) {
  self->begun = kept->begun;
  self->begin_ns = kept->begin_ns;
  self->frame_ns = kept->frame_ns;
  self->last_ns = kept->last_ns;
  self->jumps = kept->jumps;
  self->settled_jumps = kept->settled_jumps;
  self->frames_to_nine_tenths = kept->frames_to_nine_tenths;
  self->frames_to_last = kept->frames_to_last;
  self->nine_tenths_max = kept->nine_tenths_max;
  self->last_max = kept->last_max;
  self->watched = kept->watched;
  self->convergence.count = kept->count;
  self->convergence.left = kept->left;
  self->convergence.frames = kept->frames;
  self->convergence.frames_to_nine_tenths = kept->now_to_nine_tenths;
  self->convergence.frames_to_last = kept->now_to_last;
  self->convergence.since_ns = kept->since_ns;
}

static muster_result flashcrowd_save(void *instance, const muster_world *world, muster_module_write write,
                                     void *write_user) {
  const flashcrowd *self = instance;
  const struct convergence *convergence = &self->convergence;
  kept_map kept = flashcrowd_describe(self);
  (void)world;
  bool written = write(&kept, sizeof kept, write_user) &&
                 write(self->members, self->agents * sizeof *self->members, write_user) &&
                 write(self->observers, self->observer_count * sizeof *self->observers, write_user) &&
                 write(convergence->members, convergence->count * sizeof *convergence->members, write_user);
  return written ? MUSTER_OK : kept_unwritten("flashcrowd");
}

static muster_result flashcrowd_resume(void *instance, muster_world *world, const void *bytes, size_t count) {
  flashcrowd *self = instance;
  kept_bytes left = {.bytes = bytes, .count = count};
  kept_map kept;
  muster_result result = flashcrowd_register(self, world);
  if (result) return result;
  kept_take(&left, &kept, sizeof kept);
  if (kept.version != VERSION || kept.agents != self->agents || kept.observer_count != self->observer_count ||
      kept.begun > 1 || kept.seed != self->seed || kept.count > self->convergence.capacity || kept.left > kept.count)
    return kept_refused("flashcrowd");
  kept_take(&left, self->members, self->agents * sizeof *self->members);
  kept_take(&left, self->observers, self->observer_count * sizeof *self->observers);
  kept_take(&left, self->convergence.members, kept.count * sizeof *self->convergence.members);
  if (!kept_is_read(&left)) return kept_refused("flashcrowd");
  for (uint32_t i = 0; i < self->agents; i++) {
    if (self->members[i].index >= self->agents) return kept_refused("flashcrowd");
    note_member(self, i, self->members[i]);
  }
  flashcrowd_take_back(self, &kept);
  flashcrowd_gather(self, (double)(kept.last_ns - kept.begin_ns) * 1e-9);
  return MUSTER_OK;
}

/* ------------------------------------------------------------------------------------------------------------ report
 */

typedef struct sums {
  uint64_t agents, updates, looks, crowded, story_updates, story_late, outside, lifetime_errors;
  double walked_m;
} sums;

static void flashcrowd_add_one(const flashcrowd *self, const muster_agent_info *info, sums *all) {
  const flashcrowd_state *own = info->state;
  bool story = info->type.index == self->casts[FLASHCROWD_STORY].type.index;
  all->agents++;
  all->updates += own->updates;
  all->looks += own->looks;
  all->crowded += own->crowded_updates;
  all->story_updates += story ? own->updates : 0;
  all->story_late += story ? own->late : 0;
  all->walked_m += own->walked_m;
  all->outside += fabs(info->position.x) > flashcrowd_half_m || fabs(info->position.y) > flashcrowd_half_m;
  all->lifetime_errors += !convergence_has_lived(&own->mark, info);
}

static void flashcrowd_report(void *instance, const muster_world *world, muster_module_emit emit, void *emit_user) {
  const flashcrowd *self = instance;
  sums all = {0};
  muster_agent_info info = muster_default_agent_info();
  for (muster_agent agent = muster_agent_next(world, (muster_agent){0, 0}); !muster_agent_is_null(agent);
       agent = muster_agent_next(world, agent))
    if (muster_agent_read(world, agent, &info) == MUSTER_OK) flashcrowd_add_one(self, &info, &all);
  double settled = self->settled_jumps ? (double)self->settled_jumps : 1.0;
  emit("population", (double)all.agents, emit_user);
  emit("crowd", self->observer_count, emit_user);
  emit("updates", (double)all.updates, emit_user);
  emit("looks", (double)all.looks, emit_user);
  emit("crowded_updates", (double)all.crowded, emit_user);
  emit("walked_m", all.walked_m, emit_user);
  emit("story_updates", (double)all.story_updates, emit_user);
  emit("story_late", (double)all.story_late, emit_user);
  emit("jumps", (double)self->jumps, emit_user);
  emit("jumps_settled", (double)self->settled_jumps, emit_user);
  emit("watched", self->watched, emit_user);
  emit("frames_to_nine_tenths", (double)self->frames_to_nine_tenths / settled, emit_user);
  emit("frames_to_nine_tenths_max", self->nine_tenths_max, emit_user);
  emit("frames_to_last", (double)self->frames_to_last / settled, emit_user);
  emit("frames_to_last_max", self->last_max, emit_user);
  emit("violations", (double)(all.outside + all.lifetime_errors), emit_user);
}

const muster_module *muster_module_flashcrowd(void) {
  static const muster_module module = {.size = (uint32_t)sizeof module,
                                       .abi = MUSTER_MODULE_ABI,
                                       .name = "flashcrowd",
                                       .summary = "500 observers gather in a town, and every 10 s in another one",
                                       .open = open_map,
                                       .populate = flashcrowd_populate,
                                       .before_frame = flashcrowd_before_frame,
                                       .report = flashcrowd_report,
                                       .close = close_map,
                                       .save = flashcrowd_save,
                                       .resume = flashcrowd_resume};
  return &module;
}

#include "scenarios/flashcrowd.h"

#include "scenarios/scenarios.h"

#include <math.h>

static const double jump_s = 10.0;                          /* from one town to the next */
static const double arrival_m = 60.0, gathered_m = 15.0;    /* radius of the crowd when it comes and when it leaves */
static const double town_m = 150.0;                         /* about the radius of a town */
static const double around_m = 35.0;                        /* agents that live this near to the crowd are watched */
static const double rain_mps = 40.0, golden_rad = 2.399963; /* angle between neighbours on a spiral */

/* Towns stand on a ring, so that none is in the next one's sight. */
static muster_result found_towns(void *instance, const muster_module_options *options) {
  flashcrowd *self = instance;
  for (uint32_t i = 0; i < FLASHCROWD_TOWNS; i++) {
    double angle = 6.283185307179586 * (i + 0.4 * scaffold_random_share(options->seed + i)) / FLASHCROWD_TOWNS;
    self->town_x[i] = 0.7 * flashcrowd_half_m * cos(angle);
    self->town_y[i] = 0.7 * flashcrowd_half_m * sin(angle);
  }
  return MUSTER_OK;
}

/* ---------------------------------------------------------------------------------------------------------- populate
 */

/* Every second agent lives in a town, more densely near its middle; the rest live anywhere. */
static muster_position flashcrowd_home_of(const flashcrowd *self, uint32_t number) {
  uint64_t random = scaffold_random(self->base.seed * 0x9e3779b97f4a7c15u + number);
  double first = scaffold_random_share(random), second = scaffold_random_share(random + 1);
  if (number % 2)
    return (muster_position){flashcrowd_half_m * (2.0 * first - 1.0), flashcrowd_half_m * (2.0 * second - 1.0), 0.0};
  uint32_t town = (uint32_t)(FLASHCROWD_TOWNS * scaffold_random_share(random + 2));
  double angle = 6.283185307179586 * second;
  return (muster_position){self->town_x[town] + town_m * first * cos(angle),
                           self->town_y[town] + town_m * first * sin(angle), 0.0};
}

/* Stores the home and the kind of the number-th agent by its id; false when its index is beyond all homes. */
static bool note_member(flashcrowd *self, uint32_t number) {
  size_t index = self->members[number].index;
  muster_position home = flashcrowd_home_of(self, number);
  if (index >= self->base.agents) return false;
  self->kinds[number] = (uint8_t)flashcrowd_kind_of(number);
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

/* ------------------------------------------------------------------------------------------------------------- frames
 */

/* Computes where the crowd is at a time; its observers stand on a spiral that draws together. */
static void flashcrowd_gather(void *instance, double seconds) {
  flashcrowd *self = instance;
  uint64_t jump = (uint64_t)(seconds / jump_s);
  self->crowd_x = self->town_x[jump % FLASHCROWD_TOWNS];
  self->crowd_y = self->town_y[jump % FLASHCROWD_TOWNS];
  self->crowd_m = arrival_m + (gathered_m - arrival_m) * (seconds / jump_s - (double)jump);
  self->rain_x = rain_mps * seconds;
}

static muster_position flashcrowd_place(void *instance, uint32_t observer, double seconds) {
  const flashcrowd *self = instance;
  (void)seconds;
  double angle = golden_rad * observer, away_m = self->crowd_m * sqrt((observer + 0.5) / self->base.observer_count);
  return (muster_position){self->crowd_x + away_m * cos(angle), self->crowd_y + away_m * sin(angle), 0.0};
}

/* Watches every agent that lives where the crowd has come, but not the exempt agents, which run as always. Half a
 * period more than the shortest is within what even the periods of the most important agents stretch under twice the
 * load. */
static void watch_neighbourhood(flashcrowd *self) {
  convergence_begin(&self->convergence, self->base.now_ns);
  for (uint32_t i = 0; i < self->base.agents; i++) {
    const flashcrowd_home *home = &self->homes[self->members[i].index];
    flashcrowd_kind kind = (flashcrowd_kind)self->kinds[i];
    if (kind == FLASHCROWD_STORY) continue;
    if (hypot((double)home->x - self->crowd_x, (double)home->y - self->crowd_y) > around_m) continue;
    uint64_t wanted_ns = flashcrowd_period_ns(kind) * 3 / 2 + self->base.frame_ns;
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

/* -------------------------------------------------------------------------------------------------------------- keep
 */

/* What a snapshot keeps besides the agents; the members, the observers and the watched agents follow. */
static const scaffold_field kept[] = {SCAFFOLD_SAME_WORLD,
                                      SCAFFOLD_FLAG(scaffold, begun),
                                      SCAFFOLD_SAME(scaffold, seed),
                                      SCAFFOLD_KEPT(scaffold, begin_ns),
                                      SCAFFOLD_KEPT(scaffold, frame_ns),
                                      SCAFFOLD_KEPT(scaffold, now_ns),
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

static const scaffold_array arrays[] = {SCAFFOLD_ARRAY(flashcrowd, homes, base.agents),
                                        SCAFFOLD_ARRAY(flashcrowd, kinds, base.agents),
                                        SCAFFOLD_KEPT_ARRAY(flashcrowd, members, base.agents),
                                        SCAFFOLD_KEPT_OBSERVERS,
                                        {offsetof(flashcrowd, convergence.members), offsetof(flashcrowd, base.agents),
                                         offsetof(flashcrowd, convergence.count), sizeof(convergence_member),
                                         sizeof(convergence_member)},
                                        {0}};

static bool flashcrowd_resumed(void *instance) {
  flashcrowd *self = instance;
  bool fits = self->convergence.left <= self->convergence.count;
  for (uint32_t i = 0; i < self->base.agents && fits; i++) fits = note_member(self, i);
  return fits;
}

/* ------------------------------------------------------------------------------------------------------------ report
 */

typedef struct census {
  uint64_t story_updates, story_late, violations;
  convergence_means means;
} census;

static void flashcrowd_count(const scaffold_look *look) {
  const flashcrowd *self = look->instance;
  const flashcrowd_state *own = look->info.state;
  census *all = look->sums;
  if (look->info.type.index == self->casts[FLASHCROWD_STORY].type.index) {
    all->story_updates += own->updates;
    all->story_late += own->late;
  }
  all->violations += fabs(look->info.position.x) > flashcrowd_half_m || fabs(look->info.position.y) > flashcrowd_half_m;
  all->violations += !convergence_has_lived(&own->mark, &look->info);
}

static void flashcrowd_conclude(const scaffold_look *look) {
  ((census *)look->sums)->means = convergence_mean(&((const flashcrowd *)look->instance)->settled);
}

static const scaffold_line lines[] = {SCAFFOLD_AGENTS("population"),
                                      SCAFFOLD_OWN("crowd", scaffold, observer_count),
                                      SCAFFOLD_SUM("updates", flashcrowd_state, updates),
                                      SCAFFOLD_SUM("looks", flashcrowd_state, looks),
                                      SCAFFOLD_SUM("crowded_updates", flashcrowd_state, crowded_updates),
                                      SCAFFOLD_SUM("walked_m", flashcrowd_state, walked_m),
                                      SCAFFOLD_FOUND("story_updates", census, story_updates),
                                      SCAFFOLD_FOUND("story_late", census, story_late),
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

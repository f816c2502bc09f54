#include "scenarios/townsfolk.h"

#include "scenarios/scenarios.h"

#include <math.h>
#include <stdlib.h>

enum { AGENTS_DEFAULT = 10 * FOLK_TOWN_AGENTS, AGENTS_MAX = 4000000, OBSERVERS_MAX = 65536, OBSERVERS_DEFAULT = 2 };

static const double town_apart_m = 220.0;
static const double stay_s = 150.0, ride_s = 30.0; /* an observer stays in a town, and then rides to another */
static const double stroll_m = 16.0, stroll_s = 60.0;

/* ------------------------------------------------------------------------------------------------------------- open */

static muster_result townsfolk_check_options(const muster_module_options *options) {
  if (!options || options->size == 0)
    return muster_module_fail(MUSTER_E_NOT_INITIALISED,
                              "townsfolk: the options were not set by muster_default_module_options()");
  if (options->path)
    return muster_module_fail(MUSTER_E_ARGUMENT, "townsfolk takes no file (%s); use 'population' for one",
                              options->path);
  if (options->agents > AGENTS_MAX)
    return muster_module_fail(MUSTER_E_ARGUMENT, "townsfolk: %u agents are more than %d", options->agents, AGENTS_MAX);
  if (options->agents == 1)
    return muster_module_fail(MUSTER_E_ARGUMENT, "townsfolk: 1 agent is no town; give 2 or more, the hall is one");
  if (options->observers > OBSERVERS_MAX)
    return muster_module_fail(MUSTER_E_ARGUMENT, "townsfolk: %u observers are more than %d", options->observers,
                              OBSERVERS_MAX);
  return MUSTER_OK;
}

/* Towns stand in a square of rows. The last one takes the remaining agents, at least one besides its hall. */
static void lay_out(struct folk *folk) {
  uint32_t left = folk->agents;
  folk->across = (uint32_t)ceil(sqrt((double)folk->town_count));
  for (uint32_t i = 0; i < folk->town_count; i++) {
    folk_town *town = &folk->towns[i];
    uint32_t here = left < FOLK_TOWN_AGENTS ? left : FOLK_TOWN_AGENTS;
    if (left == FOLK_TOWN_AGENTS + 1) here--; /* a hall alone would be no town */
    left -= here;
    *town = (folk_town){.folk = folk,
                        .number = i,
                        .people = here - 1,
                        .x = town_apart_m * (i % folk->across),
                        .y = town_apart_m * (double)(i / folk->across)};
  }
}

static void close_folk(void *instance) {
  struct folk *folk = instance;
  free(folk->towns);
  free(folk->observers);
  free(folk);
}

static muster_result open_folk(const muster_module_options *options, void **instance, muster_module_needs *needs) {
  muster_result result = townsfolk_check_options(options);
  if (result) return result;
  struct folk *folk = calloc(1, sizeof *folk);
  if (!folk) return muster_module_fail(MUSTER_E_MEMORY, "townsfolk: no memory");
  folk->seed = options->seed;
  folk->agents = options->agents ? options->agents : AGENTS_DEFAULT;
  folk->observer_count = options->observers ? options->observers : OBSERVERS_DEFAULT;
  folk->town_count = (folk->agents + FOLK_TOWN_AGENTS - 1) / FOLK_TOWN_AGENTS;
  folk->towns = calloc(folk->town_count, sizeof *folk->towns);
  folk->observers = calloc(folk->observer_count, sizeof *folk->observers);
  if (!folk->towns || !folk->observers) {
    close_folk(folk);
    return muster_module_fail(MUSTER_E_MEMORY, "townsfolk: no memory for %u agents", options->agents);
  }
  lay_out(folk);
  *instance = folk;
  *needs = (muster_module_needs){.size = (uint32_t)sizeof *needs,
                                 .agents = folk->agents,
                                 .agents_max = folk->agents,
                                 .observers = folk->observer_count,
                                 .cell_m = 8.0f};
  return MUSTER_OK;
}

/* --------------------------------------------------------------------------------------------------------- populate */

static muster_result spawn_hall(folk_town *town, muster_world *world) {
  muster_agent_def def = muster_default_agent_def();
  folk_hall hall;
  folk_hall_face face;
  folk_make_hall(town, &hall, &face);
  def.type = town->folk->halls;
  def.position = (muster_position){town->x, town->y + 12.0, 0.0};
  def.state = &hall;
  def.published = &face;
  town->hall = muster_agent_spawn(world, &def);
  return muster_agent_is_null(town->hall) ? MUSTER_E_FULL : MUSTER_OK;
}

static muster_result spawn_member(folk_town *town, muster_world *world, uint32_t member) {
  muster_agent_def def = muster_default_agent_def();
  folk_self self;
  folk_face face;
  folk_make(town, member, &self, &face);
  def.type = town->folk->people;
  def.position = (muster_position){town->x + (double)self.x, town->y + (double)self.y, 0.0};
  def.state = &self;
  def.published = &face;
  town->members[member] = muster_agent_spawn(world, &def);
  return muster_agent_is_null(town->members[member]) ? MUSTER_E_FULL : MUSTER_OK;
}

static uint32_t visited(const struct folk *folk, uint32_t observer, uint64_t visit) {
  return (uint32_t)((observer + visit * (folk->across + 1)) % folk->town_count);
}

/* The place of an observer: it strolls about a town, or rides straight to the next. */
static muster_position townsfolk_observer_place(const struct folk *folk, uint32_t observer, double seconds) {
  static const double two_pi = 6.283185307179586;
  double turn_s = stay_s + ride_s, late_s = seconds + 7.0 * observer;
  uint64_t visit = (uint64_t)(late_s / turn_s);
  double into_s = late_s - turn_s * (double)visit, angle = two_pi * into_s / stroll_s;
  const folk_town *here = &folk->towns[visited(folk, observer, visit)];
  const folk_town *next = &folk->towns[visited(folk, observer, visit + 1)];
  double share = into_s > stay_s ? (into_s - stay_s) / ride_s : 0.0;
  return (muster_position){here->x + share * (next->x - here->x) + stroll_m * cos(angle),
                           here->y + share * (next->y - here->y) + stroll_m * sin(angle), 0.0};
}

static muster_result townsfolk_add_observers(struct folk *folk, muster_world *world) {
  for (uint32_t i = 0; i < folk->observer_count; i++) {
    muster_observer_def def = muster_default_observer_def();
    def.position = townsfolk_observer_place(folk, i, 0.0);
    folk->observers[i] = muster_observer_add(world, &def);
    if (folk->observers[i].generation == 0) return MUSTER_E_FULL;
  }
  return MUSTER_OK;
}

static muster_result townsfolk_populate(void *instance, muster_world *world) {
  struct folk *folk = instance;
  muster_result result = folk_register(folk, world);
  for (uint32_t i = 0; i < folk->town_count && !result; i++) {
    folk_town *town = &folk->towns[i];
    result = spawn_hall(town, world);
    for (uint32_t member = 0; member < town->people && !result; member++) result = spawn_member(town, world, member);
  }
  return result ? result : townsfolk_add_observers(folk, world);
}

static void before_frame(void *instance, muster_world *world, uint64_t sim_now_ns) {
  struct folk *folk = instance;
  for (uint32_t i = 0; i < folk->observer_count; i++)
    muster_observer_move(world, folk->observers[i], townsfolk_observer_place(folk, i, (double)sim_now_ns * 1e-9));
}

const muster_module *muster_module_townsfolk(void) {
  static const muster_module module = {.size = (uint32_t)sizeof module,
                                       .abi = MUSTER_MODULE_ABI,
                                       .name = "townsfolk",
                                       .summary =
                                           "towns of characters with desires, emotions, work, trade and quarrels",
                                       .open = open_folk,
                                       .populate = townsfolk_populate,
                                       .before_frame = before_frame,
                                       .report = folk_report,
                                       .close = close_folk,
                                       .watch = folk_watch,
                                       .watched = folk_watched,
                                       .save = folk_save,
                                       .resume = folk_resume};
  return &module;
}

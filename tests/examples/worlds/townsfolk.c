#include "townsfolk.h"

#include "worlds.h"

#include <math.h>

/* The land of a town is a square of this size and a cell of the grid: its people act by region, and settle with its
 * hall one at a time. */
enum { TOWN_APART_M = 220 };

static const double stay_s = 150.0, ride_s = 30.0; /* an observer stays in a town, and then rides to another */
static const double stroll_m = 16.0, stroll_s = 60.0;

static muster_result townsfolk_check(const muster_module_options *options) {
  if (options->agents != 1) return MUSTER_OK;
  return muster_module_fail(MUSTER_E_ARGUMENT, "townsfolk: 1 agent is no town; give 2 or more, the hall is one");
}

static muster_result townsfolk_prepare(void *instance) {
  struct folk *folk = instance;
  folk->town_count = (folk->base.agents + FOLK_TOWN_AGENTS - 1) / FOLK_TOWN_AGENTS;
  return MUSTER_OK;
}

/* Towns stand in a square of rows. The last one takes the remaining agents, at least one besides its hall. */
static muster_result lay_out(void *instance) {
  struct folk *folk = instance;
  uint32_t left = folk->base.agents;
  folk->across = (uint32_t)ceil(sqrt((double)folk->town_count));
  for (uint32_t i = 0; i < folk->town_count; i++) {
    folk_town *town = &folk->towns[i];
    uint32_t here = left < FOLK_TOWN_AGENTS ? left : FOLK_TOWN_AGENTS;
    if (left == FOLK_TOWN_AGENTS + 1) here--; /* a hall alone would be no town */
    left -= here;
    *town = (folk_town){.folk = folk,
                        .number = i,
                        .people = here - 1,
                        .x = TOWN_APART_M * (i % folk->across + 0.5),
                        .y = TOWN_APART_M * (i / folk->across + 0.5)};
  }
  return MUSTER_OK;
}

/* --------------------------------------------------------------------------------------------------------- populate */

static muster_result spawn_hall(folk_town *town, muster_world *world) {
  folk_hall hall;
  folk_hall_face face;
  folk_make_hall(town, &hall, &face);
  muster_agent_def def = scaffold_agent(town->folk->halls, (muster_position){town->x, town->y + 12.0, 0.0}, &hall);
  def.published = &face;
  return scaffold_spawn(world, &def, &town->hall);
}

static muster_result spawn_member(folk_town *town, muster_world *world, uint32_t member) {
  folk_self self;
  folk_face face;
  folk_make(town, member, &self, &face);
  muster_position place = {town->x + (double)self.x, town->y + (double)self.y, 0.0};
  muster_agent_def def = scaffold_agent(town->folk->people, place, &self);
  def.published = &face;
  return scaffold_spawn(world, &def, &town->members[member]);
}

static muster_result townsfolk_spawn(void *instance, muster_world *world) {
  struct folk *folk = instance;
  muster_result result = MUSTER_OK;
  for (uint32_t i = 0; i < folk->town_count && !result; i++) {
    folk_town *town = &folk->towns[i];
    result = spawn_hall(town, world);
    for (uint32_t member = 0; member < town->people && !result; member++) result = spawn_member(town, world, member);
  }
  return result;
}

static uint32_t visited(const struct folk *folk, uint32_t observer, uint64_t visit) {
  return (uint32_t)((observer + visit * (folk->across + 1)) % folk->town_count);
}

/* The place of an observer by the clock of the land: it strolls about a town, or rides straight to the next. */
static muster_position townsfolk_observer_place(void *instance, uint32_t observer, double seconds) {
  static const double two_pi = 6.283185307179586;
  const struct folk *folk = instance;
  (void)seconds;
  double turn_s = stay_s + ride_s, late_s = (double)folk->base.now_ns * 1e-9 + 7.0 * observer;
  uint64_t visit = (uint64_t)(late_s / turn_s);
  double into_s = late_s - turn_s * (double)visit, angle = two_pi * into_s / stroll_s;
  const folk_town *here = &folk->towns[visited(folk, observer, visit)];
  const folk_town *next = &folk->towns[visited(folk, observer, visit + 1)];
  double share = into_s > stay_s ? (into_s - stay_s) / ride_s : 0.0;
  return (muster_position){here->x + share * (next->x - here->x) + stroll_m * cos(angle),
                           here->y + share * (next->y - here->y) + stroll_m * sin(angle), 0.0};
}

/* ------------------------------------------------------------------------------------------------------- the plan */

/* What a snapshot keeps of the land besides its characters; halls, people and observers follow. */
static const scaffold_field kept[] = {SCAFFOLD_SAME_WORLD, SCAFFOLD_SAME(struct folk, town_count), {0}};

static bool keep_towns(void *instance, scaffold_stream *stream) {
  struct folk *folk = instance;
  for (uint32_t i = 0; i < folk->town_count; i++) {
    folk_town *town = &folk->towns[i];
    if (!scaffold_exchange(stream, &town->hall, sizeof town->hall) ||
        !scaffold_exchange(stream, town->members, town->people * sizeof *town->members))
      return false;
  }
  return true;
}

static const scaffold_array arrays[] = {SCAFFOLD_ARRAY(struct folk, towns, town_count), SCAFFOLD_KEPT_OBSERVERS, {0}};

static const scaffold_plan plan = {.name = "townsfolk",
                                   .bytes = sizeof(struct folk),
                                   .agents_default = 10 * FOLK_TOWN_AGENTS,
                                   .agents_max = 4000000,
                                   .observers_default = 2,
                                   .observers_max = 65536,
                                   .cell_m = TOWN_APART_M,
                                   .one_by_one = true,
                                   .arrays = arrays,
                                   .kept = kept,
                                   .lines = folk_lines,
                                   .check = townsfolk_check,
                                   .prepare = townsfolk_prepare,
                                   .build = lay_out,
                                   .join = folk_register,
                                   .spawn = townsfolk_spawn,
                                   .place = townsfolk_observer_place,
                                   .keep = keep_towns,
                                   .count = folk_count,
                                   .conclude = folk_conclude};

SCAFFOLD_MODULE(townsfolk, plan, "townsfolk", "towns of characters with desires, emotions, work, trade and quarrels",
                SCAFFOLD_FRAMES, SCAFFOLD_SAVES, .watch = folk_watch, .watched = folk_watched)

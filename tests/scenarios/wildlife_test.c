/* Built twice: as it is, and with MUSTER_PLANT_NOOP_UPDATE for this file and the scenario, whose updates then do
 * nothing. The judgement whether the world is alive must tell the two apart. */
#include "scenarios/scene.h"

enum { SPECIES = 4, MOODS = 9, NUMBERS_MAX = 96, AGENTS = 300 };

#define AMPLE_NS  10000000u /* capacity for everything at its shortest period, and far more */
#define SCARCE_NS 30000u    /* a sixth of that need */

static const char *const species_names[SPECIES] = {"hares", "javelinas", "groundhogs", "bobcats"};
static const char *const mood_names[MOODS] = {"share_graze", "share_wander", "share_rest",  "share_alert", "share_flee",
                                              "share_hide",  "share_prowl",  "share_chase", "share_feed"};

/* ---------------------------------------------------------------------------------------------- a desert to look at */

/* A desert in a world that has room for `room` times the agents that it asks for. */
static struct scene desert_open_in(uint32_t room, uint32_t agents, uint64_t seed, uint32_t workers,
                                   uint64_t capacity_ns) {
  struct scene desert = scene_begin(muster_module_wildlife(), scene_options(agents, seed), capacity_ns);
  desert.needs.agents_max *= room;
  scene_enter(&desert, workers, muster_world_def_default());
  return desert;
}

static struct scene desert_open(uint32_t agents, uint64_t seed, uint32_t workers, uint64_t capacity_ns) {
  return desert_open_in(1, agents, seed, workers, capacity_ns);
}

static void run_frames(struct scene *desert, uint32_t frames) {
  for (uint32_t i = 0; i < frames; i++) scene_frame_at(desert, desert->frames++ * (uint64_t)SCENE_FRAME_NS);
}

/* Frames in which no time passes: agents that wait have their turn, and none becomes due. In the last one what was born
 * and what died is applied, and nothing new happens. */
static void let_it_settle(struct scene *desert) {
  const uint64_t now_ns = (desert->frames - 1) * (uint64_t)SCENE_FRAME_NS;
  uint32_t frames = 0;
  while (scene_frame_at(desert, now_ns).carried > 0) cr_assert_lt(frames++, 100, "agents wait forever");
  scene_frame_at(desert, now_ns);
}

/* ------------------------------------------------------------------------------------------------------- its report */

typedef struct numbers {
  uint32_t count;
  char names[NUMBERS_MAX][32];
  double values[NUMBERS_MAX];
} numbers;

static void take(const char *name, double value, void *user) {
  numbers *to = user;
  cr_assert_lt(to->count, NUMBERS_MAX);
  snprintf(to->names[to->count], sizeof to->names[0], "%s", name);
  to->values[to->count++] = value;
}

static numbers report_of(const struct scene *desert) {
  numbers report = {0};
  muster_module_wildlife()->report(desert->instance, desert->world, take, &report);
  return report;
}

static double number(const numbers *report, const char *name) {
  for (uint32_t i = 0; i < report->count; i++)
    if (strcmp(report->names[i], name) == 0) return report->values[i];
  cr_assert(false, "the report has no '%s'", name);
  return 0.0;
}

/* ------------------------------------------------------------------------------------------ positions, from outside */

typedef struct sighting {
  uint32_t generation;
  muster_position position;
  uint64_t updated_ns;
} sighting;

static sighting *see_nobody(const struct scene *desert) {
  return calloc(desert->needs.agents_max, sizeof(sighting));
}

static void look(const struct scene *desert, sighting *sightings) {
  memset(sightings, 0, desert->needs.agents_max * sizeof *sightings);
  for (scene_agent one = {0}; scene_next_agent(desert, &one);)
    sightings[muster_agent_index(one.id)] =
        (sighting){muster_agent_generation(one.id), one.info.position, one.info.last_update_ns};
}

static double distance(muster_position a, muster_position b) {
  return hypot(a.x - b.x, a.y - b.y);
}

/* Of the agents in both looks: how many have moved by a metre at least. */
static uint32_t count_moved(const struct scene *desert, const sighting *before, const sighting *after) {
  uint32_t moved = 0;
  for (uint32_t i = 0; i < desert->needs.agents_max; i++)
    moved += before[i].generation && before[i].generation == after[i].generation &&
             distance(before[i].position, after[i].position) >= 1.0;
  return moved;
}

static uint32_t count_outside(const struct scene *desert, const sighting *sightings, double side_m) {
  uint32_t outside = 0;
  for (uint32_t i = 0; i < desert->needs.agents_max; i++)
    outside += sightings[i].generation &&
               (fabs(sightings[i].position.x) > 0.5 * side_m || fabs(sightings[i].position.y) > 0.5 * side_m);
  return outside;
}

/* ------------------------------------------------------------------------------------------------ the one judgement */

/* What was seen in half a minute. */
typedef struct watched {
  numbers first, last;
  bool moods[MOODS]; /* seen at one time or another */
  uint32_t moved, outside;
  uint32_t agents_max;
} watched;

static bool populations_live(const watched *seen) {
  bool changed = false, extinct = false;
  for (uint32_t i = 0; i < SPECIES; i++) {
    double before = number(&seen->first, species_names[i]), after = number(&seen->last, species_names[i]);
    changed = changed || before != after;
    extinct = extinct || after == 0.0;
  }
  double population = number(&seen->last, "population");
  return changed && !extinct && population <= seen->agents_max && population >= AGENTS / 2;
}

/* Every animal that was born is there or died; no other is there. */
static bool books_balance(const watched *seen) {
  const numbers *last = &seen->last;
  double expected = number(&seen->first, "population") + number(last, "births") - number(last, "kills") -
                    number(last, "starved") - number(last, "aged");
  return number(last, "population") == expected;
}

static bool is_alive(const watched *seen) {
  uint32_t moods = 0;
  for (uint32_t i = 0; i < MOODS; i++) moods += seen->moods[i];
  return seen->moved > AGENTS / 3 && seen->outside == 0 && number(&seen->last, "outside") == 0.0 &&
         number(&seen->last, "distance_m") > AGENTS && number(&seen->last, "grazed_energy") > 0.1 * AGENTS &&
         number(&seen->last, "eaten_energy") > 0.0 && number(&seen->last, "births") > 0.0 &&
         number(&seen->last, "kills") > 0.0 && moods == MOODS && populations_live(seen) && books_balance(seen);
}

static watched watch(struct scene *desert, uint32_t frames) {
  watched seen = {.agents_max = desert->needs.agents_max};
  SCOPED(free_memory) sighting *before = see_nobody(desert), *after = see_nobody(desert);
  run_frames(desert, 1);
  seen.first = report_of(desert);
  look(desert, before);
  for (uint32_t done = 1; done < frames; done += 29) {
    run_frames(desert, 29);
    numbers report = report_of(desert);
    for (uint32_t i = 0; i < MOODS; i++) seen.moods[i] = seen.moods[i] || number(&report, mood_names[i]) > 0.0;
  }
  let_it_settle(desert);
  seen.last = report_of(desert);
  look(desert, after);
  seen.moved = count_moved(desert, before, after);
  seen.outside = count_outside(desert, after, number(&seen.last, "side_m"));
  return seen;
}

#ifdef MUSTER_PLANT_NOOP_UPDATE

Test(wildlife, a_world_whose_updates_do_nothing_is_judged_dead) {
  SCOPED(scene_close) struct scene desert = desert_open(AGENTS, 1, 1, AMPLE_NS);
  watched seen = watch(&desert, 900);
  cr_assert_eq(number(&seen.first, "population"), AGENTS);
  cr_assert(!is_alive(&seen), "nothing happened, and nobody noticed");
}

#else

static void expect_alive(const watched *seen) {
  cr_assert(is_alive(seen), "moved %u, outside %u, births %g, kills %g, population %g", seen->moved, seen->outside,
            number(&seen->last, "births"), number(&seen->last, "kills"), number(&seen->last, "population"));
}

Test(wildlife, animals_move_graze_breed_hunt_and_die_in_half_a_minute) {
  SCOPED(scene_close) struct scene desert = desert_open(AGENTS, 1, 1, AMPLE_NS);
  watched seen = watch(&desert, 900);
  for (uint32_t i = 0; i < seen.last.count; i++) cr_log_info("%s %g", seen.last.names[i], seen.last.values[i]);
  expect_alive(&seen);
}

Test(wildlife, animals_live_on_when_only_a_sixth_of_their_updates_fit) {
  SCOPED(scene_close) struct scene desert = desert_open(AGENTS, 2, 1, SCARCE_NS);
  watched seen = watch(&desert, 1200);
  expect_alive(&seen);
}

/* ------------------------------------------------------------------------------------------------------- throttling */

typedef struct minute {
  double grazed, walked;
  uint64_t updates;
} minute;

static minute live_a_minute(uint64_t seed, uint64_t capacity_ns) {
  SCOPED(scene_close) struct scene desert = desert_open(AGENTS, seed, 1, capacity_ns);
  muster_statistics statistics = muster_statistics_default();
  run_frames(&desert, 1800);
  numbers report = report_of(&desert);
  muster_statistics_read(desert.world, &statistics);
  return (minute){number(&report, "grazed_energy"), number(&report, "distance_m"), statistics.completed};
}

static double relative_difference(double a, double b) {
  return fabs(a - b) / fmax(a, b);
}

/* Grazing is what time makes of it. How far animals go also depends on how often they look: an animal that sees a
 * bobcat later runs later, and at times not at all. */
Test(wildlife, a_throttled_minute_holds_as_much_grazing_as_a_full_one_and_nearly_as_much_running) {
  minute full = live_a_minute(3, AMPLE_NS), throttled = live_a_minute(3, SCARCE_NS);
  cr_assert_lt(throttled.updates, full.updates / 4);
  cr_assert_lt(relative_difference(full.grazed, throttled.grazed), 0.06, "grazed %g and %g", full.grazed,
               throttled.grazed);
  cr_assert_lt(relative_difference(full.walked, throttled.walked), 0.25, "walked %g and %g", full.walked,
               throttled.walked);
}

Test(wildlife, no_animal_outruns_its_speed_however_late_its_update) {
  static const double fastest_mps = 13.0;
  SCOPED(scene_close) struct scene desert = desert_open(AGENTS, 4, 1, SCARCE_NS / 2);
  SCOPED(free_memory) sighting *before = see_nobody(&desert), *after = see_nobody(&desert);
  uint64_t longest_ns = 0;
  run_frames(&desert, 1);
  look(&desert, before);
  for (uint32_t frame = 0; frame < 240; frame++) {
    run_frames(&desert, 1);
    look(&desert, after);
    for (uint32_t i = 0; i < desert.needs.agents_max; i++) {
      if (!before[i].generation || before[i].generation != after[i].generation) continue;
      /* An update whose action waits has moved its agent already, up to this frame at most. */
      uint64_t now_ns = (desert.frames - 1) * (uint64_t)SCENE_FRAME_NS,
               elapsed_ns = after[i].updated_ns - before[i].updated_ns;
      if (elapsed_ns > longest_ns) longest_ns = elapsed_ns;
      double most_m = fastest_mps * (double)(now_ns - before[i].updated_ns) * 1e-9 + 0.01;
      cr_assert_leq(distance(before[i].position, after[i].position), most_m, "agent %u in frame %u", i, frame);
    }
    memcpy(before, after, desert.needs.agents_max * sizeof *before);
  }
  cr_assert_gt(longest_ns, 20u * SCENE_FRAME_NS, "the world was not throttled");
}

/* There is room for far more of them: it is their own doing. */
Test(wildlife, populations_hold_themselves_inside_their_fence_for_minutes) {
  SCOPED(scene_close) struct scene desert = desert_open_in(4, AGENTS, 5, 1, SCARCE_NS);
  for (uint32_t part = 0; part < 4; part++) {
    numbers report;
    for (uint32_t i = 0; i < 100; i++) {
      run_frames(&desert, 15);
      report = report_of(&desert);
      cr_assert_eq(number(&report, "outside"), 0.0, "somebody jumped the fence");
    }
    double population = number(&report, "population");
    cr_assert(population > 0.5 * AGENTS && population < 1.5 * AGENTS, "population %g after part %u", population, part);
    cr_assert_eq(number(&report, "births_refused"), 0.0);
    for (uint32_t i = 0; i < SPECIES; i++)
      cr_assert_gt(number(&report, species_names[i]), AGENTS / 100, "%s after part %u", species_names[i], part);
  }
}

/* ------------------------------------------------------------------------------------------------------ determinism */

static uint64_t hash_after(uint64_t seed, uint32_t workers, numbers *report) {
  SCOPED(scene_close) struct scene desert = desert_open(AGENTS, seed, workers, 4 * SCARCE_NS);
  run_frames(&desert, 200);
  *report = report_of(&desert);
  return muster_world_hash(desert.world);
}

Test(wildlife, the_same_seed_gives_the_same_world_on_any_number_of_workers) {
  numbers alone, report;
  uint64_t hash = hash_after(7, 1, &alone);
  static const uint32_t workers[] = {2, 8, 64};
  for (uint32_t i = 0; i < COUNT_OF(workers); i++) {
    cr_assert_eq(hash_after(7, workers[i], &report), hash, "%u workers", workers[i]);
    cr_assert_eq(memcmp(&report, &alone, sizeof report), 0, "%u workers", workers[i]);
  }
  cr_assert_gt(number(&alone, "births"), 0.0, "no animal acted");
  cr_assert_gt(number(&alone, "kills"), 0.0, "no animal acted on another");
}

Test(wildlife, another_seed_gives_another_world) {
  numbers one, other;
  cr_assert_neq(hash_after(7, 1, &one), hash_after(8, 1, &other));
  cr_assert_neq(number(&one, "distance_m"), number(&other, "distance_m"));
}

/* ---------------------------------------------------------------------------------------------------------- options */

Test(wildlife, more_agents_take_more_area_at_the_same_density) {
  SCOPED(scene_close) struct scene small = desert_open(200, 1, 1, AMPLE_NS), large = desert_open(3200, 1, 1, AMPLE_NS);
  run_frames(&small, 1);
  run_frames(&large, 1);
  numbers of_small = report_of(&small), of_large = report_of(&large);
  cr_assert_eq(number(&of_small, "population"), 200.0);
  cr_assert_eq(number(&of_large, "population"), 3200.0);
  cr_assert_float_eq(number(&of_large, "side_m"), 4.0 * number(&of_small, "side_m"), 1e-6);
}

Test(wildlife, asks_for_one_camera_or_as_many_as_wanted) {
  for (uint32_t wanted = 0; wanted <= 5; wanted += 5) {
    muster_module_options options = WITH(muster_module_options, it.agents = 50, it.observers = wanted);
    struct scene desert = scene_begin(muster_module_wildlife(), options, 0);
    cr_assert_eq(desert.needs.observers, wanted ? wanted : 1);
    cr_assert_eq(desert.needs.agents, 50);
    cr_assert_gt(desert.needs.agents_max, 75);
    desert.module->close(desert.instance);
  }
}

Test(wildlife, refuses_options_that_make_no_sense_and_says_why) {
  scene_check_refusals(muster_module_wildlife());
}

#endif

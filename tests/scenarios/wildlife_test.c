/* Built twice: as it is, and with MUSTER_PLANT_NOOP_UPDATE for this file and the scenario, whose updates then do
 * nothing. The judgement whether the world is alive must tell the two apart. */
#include "scenarios/scenarios.h"
#include "support/full_frames.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SPECIES = 4, MOODS = 9, NUMBERS_MAX = 96, AGENTS = 300 };

#define FRAME_NS  33333333u
#define AMPLE_NS  10000000u /* capacity for everything at its shortest period, and far more */
#define SCARCE_NS 30000u    /* a sixth of that need */

static const char *const species_names[SPECIES] = {"hares", "javelinas", "groundhogs", "bobcats"};
static const char *const mood_names[MOODS] = {"share_graze", "share_wander", "share_rest",  "share_alert", "share_flee",
                                              "share_hide",  "share_prowl",  "share_chase", "share_feed"};

/* ---------------------------------------------------------------------------------------------- a desert to look at */

typedef struct desert {
  void *instance;
  muster_module_needs needs;
  muster_pool *pool;
  muster_world *world;
  uint64_t frames;
} desert;

static muster_module_options options_for(uint32_t agents, uint64_t seed) {
  muster_module_options options = muster_module_options_default();
  options.agents = agents;
  options.seed = seed;
  return options;
}

/* A desert in a world that has room for `room` times the agents that it asks for. */
static desert desert_open_in(uint32_t room, uint32_t agents, uint64_t seed, uint32_t workers, uint64_t capacity_ns) {
  desert it = {0};
  const muster_module *module = muster_module_wildlife();
  muster_module_options options = options_for(agents, seed);
  cr_assert_eq(module->open(&options, &it.instance, &it.needs), MUSTER_OK, "%s", muster_last_error());
  muster_pool_def pool = muster_pool_def_default();
  pool.workers = workers;
  it.pool = muster_pool_create(&pool);
  cr_assert_not_null(it.pool, "%s", muster_last_error());
  muster_world_def def = muster_world_def_default();
  def.pool = it.pool;
  def.limits.agents_max = room * it.needs.agents_max;
  def.limits.observers_max = it.needs.observers;
  def.cell_m = it.needs.cell_m;
  def.seed = seed;
  def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  def.clock.capacity_ns = capacity_ns;
  it.world = muster_world_create(&def);
  cr_assert_not_null(it.world, "%s", muster_last_error());
  cr_assert_eq(module->populate(it.instance, it.world), MUSTER_OK, "%s", muster_last_error());
  return it;
}

static desert desert_open(uint32_t agents, uint64_t seed, uint32_t workers, uint64_t capacity_ns) {
  return desert_open_in(1, agents, seed, workers, capacity_ns);
}

static void desert_close(desert *it) {
  destroy_full(it->world);
  muster_module_wildlife()->close(it->instance);
  muster_pool_destroy(it->pool);
}

/* Returns how many agents wait for their turn after it. */
static uint32_t run_at(desert *it, uint64_t sim_now_ns) {
  muster_module_wildlife()->before_frame(it->instance, it->world, sim_now_ns);
  muster_result result = muster_frame_run(it->world, &(muster_frame){sim_now_ns, AMPLE_NS});
  cr_assert_eq(result, MUSTER_OK, "%s", muster_last_error());
  muster_frame_report report = muster_frame_report_default();
  cr_assert_eq(muster_frame_report_read(it->world, &report), MUSTER_OK);
  return report.carried;
}

static void run_frames(desert *it, uint32_t frames) {
  for (uint32_t i = 0; i < frames; i++) run_at(it, it->frames++ * FRAME_NS);
}

/* Frames in which no time passes: agents that wait have their turn, and none becomes due. In the last one what was born
 * and what died is applied, and nothing new happens. */
static void let_it_settle(desert *it) {
  const uint64_t now_ns = (it->frames - 1) * FRAME_NS;
  uint32_t frames = 0;
  while (run_at(it, now_ns) > 0) cr_assert_lt(frames++, 100, "agents wait forever");
  run_at(it, now_ns);
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

static numbers report_of(const desert *it) {
  numbers report = {0};
  muster_module_wildlife()->report(it->instance, it->world, take, &report);
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

static void look(const desert *it, sighting *sightings) {
  muster_agent_info info = muster_agent_info_default();
  memset(sightings, 0, it->needs.agents_max * sizeof *sightings);
  for (muster_agent agent = muster_agent_next(it->world, (muster_agent){0}); !muster_agent_is_null(agent);
       agent = muster_agent_next(it->world, agent)) {
    cr_assert_eq(muster_agent_read(it->world, agent, &info), MUSTER_OK);
    sightings[muster_agent_index(agent)] =
        (sighting){muster_agent_generation(agent), info.position, info.last_update_ns};
  }
}

static double distance(muster_position a, muster_position b) {
  return hypot(a.x - b.x, a.y - b.y);
}

/* Of the agents in both looks: how many have moved by a metre at least. */
static uint32_t count_moved(const desert *it, const sighting *before, const sighting *after) {
  uint32_t moved = 0;
  for (uint32_t i = 0; i < it->needs.agents_max; i++)
    moved += before[i].generation && before[i].generation == after[i].generation &&
             distance(before[i].position, after[i].position) >= 1.0;
  return moved;
}

static uint32_t count_outside(const desert *it, const sighting *sightings, double side_m) {
  uint32_t outside = 0;
  for (uint32_t i = 0; i < it->needs.agents_max; i++)
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

static void watch_moods(const desert *it, watched *seen) {
  numbers report = report_of(it);
  for (uint32_t i = 0; i < MOODS; i++) seen->moods[i] = seen->moods[i] || number(&report, mood_names[i]) > 0.0;
}

static watched watch(desert *it, uint32_t frames) {
  watched seen = {.agents_max = it->needs.agents_max};
  sighting *before = calloc(it->needs.agents_max, sizeof *before);
  sighting *after = calloc(it->needs.agents_max, sizeof *after);
  run_frames(it, 1);
  seen.first = report_of(it);
  look(it, before);
  for (uint32_t done = 1; done < frames; done += 29) {
    run_frames(it, 29);
    watch_moods(it, &seen);
  }
  let_it_settle(it);
  seen.last = report_of(it);
  look(it, after);
  seen.moved = count_moved(it, before, after);
  seen.outside = count_outside(it, after, number(&seen.last, "side_m"));
  free(before);
  free(after);
  return seen;
}

#ifdef MUSTER_PLANT_NOOP_UPDATE

Test(wildlife, a_world_whose_updates_do_nothing_is_judged_dead) {
  desert it = desert_open(AGENTS, 1, 1, AMPLE_NS);
  watched seen = watch(&it, 900);
  cr_assert_eq(number(&seen.first, "population"), AGENTS);
  cr_assert(!is_alive(&seen), "nothing happened, and nobody noticed");
  desert_close(&it);
}

#else

static void say(const watched *seen) {
  for (uint32_t i = 0; i < seen->last.count; i++) cr_log_info("%s %g", seen->last.names[i], seen->last.values[i]);
}

Test(wildlife, animals_move_graze_breed_hunt_and_die_in_half_a_minute) {
  desert it = desert_open(AGENTS, 1, 1, AMPLE_NS);
  watched seen = watch(&it, 900);
  say(&seen);
  cr_assert(is_alive(&seen), "moved %u, outside %u, births %g, kills %g, population %g", seen.moved, seen.outside,
            number(&seen.last, "births"), number(&seen.last, "kills"), number(&seen.last, "population"));
  desert_close(&it);
}

Test(wildlife, animals_live_on_when_only_a_sixth_of_their_updates_fit) {
  desert it = desert_open(AGENTS, 2, 1, SCARCE_NS);
  watched seen = watch(&it, 1200);
  cr_assert(is_alive(&seen), "moved %u, outside %u, births %g, kills %g, population %g", seen.moved, seen.outside,
            number(&seen.last, "births"), number(&seen.last, "kills"), number(&seen.last, "population"));
  desert_close(&it);
}

/* ------------------------------------------------------------------------------------------------------- throttling */

typedef struct minute {
  double grazed, walked;
  uint64_t updates;
} minute;

static minute live_a_minute(uint64_t seed, uint64_t capacity_ns) {
  desert it = desert_open(AGENTS, seed, 1, capacity_ns);
  muster_statistics statistics = muster_statistics_default();
  run_frames(&it, 1800);
  numbers report = report_of(&it);
  muster_statistics_read(it.world, &statistics);
  desert_close(&it);
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
  desert it = desert_open(AGENTS, 4, 1, SCARCE_NS / 2);
  sighting *before = calloc(it.needs.agents_max, sizeof *before);
  sighting *after = calloc(it.needs.agents_max, sizeof *after);
  uint64_t longest_ns = 0;
  run_frames(&it, 1);
  look(&it, before);
  for (uint32_t frame = 0; frame < 240; frame++) {
    run_frames(&it, 1);
    look(&it, after);
    for (uint32_t i = 0; i < it.needs.agents_max; i++) {
      if (!before[i].generation || before[i].generation != after[i].generation) continue;
      /* An update whose action waits has moved its agent already, up to this frame at most. */
      uint64_t now_ns = (it.frames - 1) * FRAME_NS, elapsed_ns = after[i].updated_ns - before[i].updated_ns;
      if (elapsed_ns > longest_ns) longest_ns = elapsed_ns;
      double most_m = fastest_mps * (double)(now_ns - before[i].updated_ns) * 1e-9 + 0.01;
      cr_assert_leq(distance(before[i].position, after[i].position), most_m, "agent %u in frame %u", i, frame);
    }
    memcpy(before, after, it.needs.agents_max * sizeof *before);
  }
  cr_assert_gt(longest_ns, 20u * FRAME_NS, "the world was not throttled");
  free(before);
  free(after);
  desert_close(&it);
}

/* There is room for far more of them: it is their own doing. */
Test(wildlife, populations_hold_themselves_inside_their_fence_for_minutes) {
  desert it = desert_open_in(4, AGENTS, 5, 1, SCARCE_NS);
  for (uint32_t part = 0; part < 4; part++) {
    numbers report;
    for (uint32_t i = 0; i < 100; i++) {
      run_frames(&it, 15);
      report = report_of(&it);
      cr_assert_eq(number(&report, "outside"), 0.0, "somebody jumped the fence");
    }
    double population = number(&report, "population");
    cr_assert(population > 0.5 * AGENTS && population < 1.5 * AGENTS, "population %g after part %u", population, part);
    cr_assert_eq(number(&report, "births_refused"), 0.0);
    for (uint32_t i = 0; i < SPECIES; i++)
      cr_assert_gt(number(&report, species_names[i]), AGENTS / 100, "%s after part %u", species_names[i], part);
  }
  desert_close(&it);
}

/* ------------------------------------------------------------------------------------------------------ determinism */

static uint64_t hash_after(uint64_t seed, uint32_t workers, numbers *report) {
  desert it = desert_open(AGENTS, seed, workers, 4 * SCARCE_NS);
  run_frames(&it, 200);
  *report = report_of(&it);
  uint64_t hash = muster_world_hash(it.world);
  desert_close(&it);
  return hash;
}

Test(wildlife, the_same_seed_gives_the_same_world_on_any_number_of_workers) {
  numbers alone, report;
  uint64_t hash = hash_after(7, 1, &alone);
  static const uint32_t workers[] = {2, 8, 64};
  for (uint32_t i = 0; i < sizeof workers / sizeof *workers; i++) {
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
  desert small = desert_open(200, 1, 1, AMPLE_NS), large = desert_open(3200, 1, 1, AMPLE_NS);
  run_frames(&small, 1);
  run_frames(&large, 1);
  numbers of_small = report_of(&small), of_large = report_of(&large);
  cr_assert_eq(number(&of_small, "population"), 200.0);
  cr_assert_eq(number(&of_large, "population"), 3200.0);
  cr_assert_float_eq(number(&of_large, "side_m"), 4.0 * number(&of_small, "side_m"), 1e-6);
  desert_close(&small);
  desert_close(&large);
}

Test(wildlife, asks_for_one_camera_or_as_many_as_wanted) {
  const muster_module *module = muster_module_wildlife();
  muster_module_options options = options_for(50, 1);
  muster_module_needs needs;
  void *instance;
  cr_assert_eq(module->open(&options, &instance, &needs), MUSTER_OK);
  cr_assert_eq(needs.observers, 1);
  cr_assert_eq(needs.agents, 50);
  cr_assert_gt(needs.agents_max, 75);
  module->close(instance);
  options.observers = 5;
  cr_assert_eq(module->open(&options, &instance, &needs), MUSTER_OK);
  cr_assert_eq(needs.observers, 5);
  module->close(instance);
}

static void expect_refused(muster_module_options options, muster_result result, const char *word) {
  muster_module_needs needs;
  void *instance = NULL;
  cr_assert_eq(muster_module_wildlife()->open(&options, &instance, &needs), result);
  cr_assert_null(instance);
  cr_assert_not_null(strstr(muster_last_error(), word), "'%s' does not say '%s'", muster_last_error(), word);
}

Test(wildlife, refuses_options_that_make_no_sense_and_says_why) {
  muster_module_options options = muster_module_options_default();
  options.path = "animals.csv";
  expect_refused(options, MUSTER_E_ARGUMENT, "animals.csv");
  options = muster_module_options_default();
  options.agents = 4000000000u;
  expect_refused(options, MUSTER_E_ARGUMENT, "4000000000");
  options = muster_module_options_default();
  options.observers = 70000;
  expect_refused(options, MUSTER_E_ARGUMENT, "70000");
  options.size = 0;
  expect_refused(options, MUSTER_E_NOT_INITIALISED, "muster_module_options_default");
}

#endif

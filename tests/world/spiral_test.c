/* The papers' own warning: an update that costs more the longer ago its last one was. Under twice the load this can end
 * in a spiral: later updates cost more, so all come later still. Bounded steps end the spiral, and so does a cost that
 * does not grow from nothing; without either the spiral is there. */
#include "support/little_world.h"

enum { AGENTS = 2000, WINDOW = 500, WINDOWS = 12 };

static const uint64_t step_ns = 10000000u;

/* What an update costs: each_ns, and step_ns for each 10 ms of elapsed time. */
struct price {
  uint64_t each_ns, step_ns;
};

static uint64_t cost_of(const muster_cost_query *query, void *user) {
  const struct price *price = user;
  return price->each_ns + price->step_ns * (query->elapsed_ns / step_ns);
}

typedef struct walker {
  uint64_t steps;
} walker;

static muster_atom_result walk(muster_update *update) {
  walker *own = update->state;
  own->steps += update->elapsed_ns / step_ns;
  return MUSTER_ATOM_NEXT;
}

static const muster_atom walk_only[] = {{.run = walk}};

/* Updates every 100 ms, with a period that may be stretched to a second, in frames of 10 ms with a budget of 5 ms. */
static little_world build(muster_elapsed contract, const struct price *price) {
  little_world little = little_world_create(1, NULL);
  muster_type_def type = muster_type_def_default();
  type.limit_ns = 1000000000u; /* no agent is quarantined */
  type.atoms = walk_only;
  type.atom_count = 1;
  type.state_bytes = sizeof(walker);
  type.models.cost_ns = cost_of;
  type.user = (void *)(uintptr_t)price;
  type.elapsed.contract = contract;
  if (contract == MUSTER_ELAPSED_STEPS) {
    type.elapsed.step_ns = step_ns;
    type.elapsed.steps_max = 100;
  }
  register_type(&little, &type);
  for (uint32_t i = 0; i < AGENTS; i++) spawn_at(&little, i);
  return little;
}

struct course {
  uint64_t completed[WINDOWS]; /* updates in each window of frames */
  uint64_t stalest_ns[WINDOWS];
  float pressure;
};

static muster_statistics statistics_of(const little_world *little) {
  muster_statistics statistics = muster_statistics_default();
  muster_statistics_read(little->world, &statistics);
  return statistics;
}

static struct course run(little_world *little) {
  struct course course = {0};
  for (uint32_t window = 0; window < WINDOWS; window++) {
    muster_statistics_clear(little->world);
    for (uint32_t i = 0; i < WINDOW; i++) course.pressure = run_frame(little).pressure;
    muster_statistics statistics = statistics_of(little);
    course.completed[window] = statistics.completed;
    for (uint32_t i = 0; i < MUSTER_BANDS; i++)
      if (statistics.bands[i].staleness.max_ns > course.stalest_ns[window])
        course.stalest_ns[window] = statistics.bands[i].staleness.max_ns;
  }
  return course;
}

/* Each window of the second half has as many updates as the last one of the first half, within a tenth. */
static void settles(const struct course *course) {
  const uint32_t half = WINDOWS / 2;
  for (uint32_t window = half; window < WINDOWS; window++)
    cr_assert(course->completed[window] * 10 > course->completed[half - 1] * 9 &&
                  course->completed[window] * 9 < course->completed[half - 1] * 10,
              "%llu updates in window %u, %llu before", (unsigned long long)course->completed[window], window,
              (unsigned long long)course->completed[half - 1]);
}

/* 200 updates of 50 us are due in a frame of 5 ms. Nearly all of that grows with the time: an agent that waits twice as
 * long costs twice as much. */
static const struct price steep = {200, 5000};
/* The same cost at 100 ms, but most of it is fixed. */
static const struct price floored = {40000, 1000};

Test(spiral, a_cost_that_grows_from_nothing_spirals_with_the_whole_time) {
  little_world little = build(MUSTER_ELAPSED_DELTA, &steep);
  struct course course = run(&little);
  cr_assert_gt(course.pressure, 1.0f);
  cr_assert_lt(course.completed[WINDOWS - 1] * 10, course.completed[0]);
  cr_assert_leq(course.completed[WINDOWS - 1], WINDOW * 11 / 10); /* each frame runs one update, whatever it costs */
  for (uint32_t window = 1; window < WINDOWS / 3; window++)
    cr_assert_gt(course.stalest_ns[window], course.stalest_ns[window - 1] + 1000000000u);
  little_world_destroy(&little);
}

Test(spiral, a_floor_under_the_cost_ends_it) {
  little_world little = build(MUSTER_ELAPSED_DELTA, &floored);
  struct course course = run(&little);
  cr_assert(course.pressure > 0.05f && course.pressure < 1.0f, "%g", (double)course.pressure);
  settles(&course);
  for (uint32_t window = 1; window < WINDOWS; window++) cr_assert_lt(course.stalest_ns[window], 1000000000u);
  little_world_destroy(&little);
}

Test(spiral, bounded_steps_with_a_floor_keep_up) {
  little_world little = build(MUSTER_ELAPSED_STEPS, &floored);
  struct course course = run(&little);
  cr_assert(course.pressure > 0.05f && course.pressure < 1.0f, "%g", (double)course.pressure);
  settles(&course);
  for (uint32_t window = 1; window < WINDOWS; window++) cr_assert_lt(course.stalest_ns[window], 1000000000u);
  cr_assert_eq(statistics_of(&little).steps_behind_max, 0);
  little_world_destroy(&little);
}

/* Steps that no period can hold pile up, but updates go on as often as before; and no step is lost. */
Test(spiral, bounded_steps_settle_where_the_whole_time_spirals_and_are_caught_up) {
  little_world little = build(MUSTER_ELAPSED_STEPS, &steep);
  struct course course = run(&little);
  cr_assert_gt(course.pressure, 1.0f);
  settles(&course);
  cr_assert_geq(course.completed[WINDOWS - 1], WINDOW * 5000000ull * 9 / (200 + 100 * 5000) / 10);
  cr_assert_gt(statistics_of(&little).steps_behind_max, 500);
  for (uint32_t i = 0; i < 600; i++) run_frame_with(&little, 200000000u); /* the load falls */
  muster_statistics_clear(little.world);
  for (uint32_t i = 0; i < 100; i++) run_frame_with(&little, 200000000u);
  cr_assert_eq(statistics_of(&little).steps_behind_max, 0);
  muster_agent agent = {0};
  while (!muster_agent_is_null(agent = muster_agent_next(little.world, agent))) {
    muster_agent_info info = info_of(&little, agent);
    cr_assert_eq(((const walker *)info.state)->steps, (info.last_update_ns - FRAME_NS) / step_ns);
    cr_assert_lt(little.now_ns - info.last_update_ns, 200000000u);
  }
  little_world_destroy(&little);
}

static muster_atom_result count_run(muster_update *update) {
  uint64_t *counts = update->type_user;
  counts[update->steps > 0]++;
  return MUSTER_ATOM_NEXT;
}

/* No agent is released for less than a whole step, however late its last run was; a wake may run it for less. */
Test(spiral, a_release_has_a_whole_step_to_tell) {
  enum { WALKERS = 100, HOGS = 8 };
  uint64_t counts[2] = {0};
  const muster_atom atoms[] = {{.run = count_run, .model_ns = 170000}}, hog_atoms[] = {{nothing, 0, 5000000}};
  little_world little = little_world_create(1, NULL);
  muster_type_def type = muster_type_def_default(), hog = muster_type_def_default();
  type.limit_ns = hog.limit_ns = 1000000000u; /* no agent is quarantined */
  type.atoms = atoms;
  type.atom_count = 1;
  type.period_ns = 70000000;
  type.period_max_ns = 400000000;
  type.elapsed.contract = MUSTER_ELAPSED_STEPS;
  type.elapsed.step_ns = 66666667;
  type.elapsed.steps_max = 7;
  type.user = counts;
  hog.atoms = hog_atoms;
  hog.atom_count = 1;
  hog.elapsed.contract = MUSTER_ELAPSED_EVENTS;
  muster_agent walkers[WALKERS], hogs[HOGS];
  register_type(&little, &type);
  for (uint32_t i = 0; i < WALKERS; i++) walkers[i] = spawn_at(&little, i);
  register_type(&little, &hog);
  for (uint32_t i = 0; i < HOGS; i++) hogs[i] = spawn_at(&little, i);
  uint64_t carried = 0;
  for (uint32_t i = 0; i < 3000; i++) {
    for (uint32_t k = 0; k < HOGS && i % 40 == 0; k++) muster_agent_wake(little.world, hogs[k]); /* eight frames */
    carried += run_frame(&little).carried;
  }
  cr_assert_gt(carried, 10000);
  cr_assert_eq(counts[0], 0, "%llu of %llu had none", (unsigned long long)counts[0], (unsigned long long)counts[1]);
  cr_assert_gt(counts[1], 10000);
  run_frames(&little, 4);
  for (uint32_t i = 0; i < WALKERS; i++) muster_agent_wake(little.world, walkers[i]);
  run_frames(&little, 5);
  cr_assert_gt(counts[0], 10);
  little_world_destroy(&little);
}

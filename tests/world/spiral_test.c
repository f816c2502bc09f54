/* The papers' own warning: an update that costs more the longer ago its last one was. Under twice the load this can end
 * in a spiral: later updates cost more, so all come later still. Bounded steps end the spiral, and so does a cost that
 * does not grow from nothing; without either the spiral is there. */
#include "world/fixture.h"

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

/* Updates every 100 ms, with a period that may be stretched to a second, in frames of 10 ms with a budget of 5 ms. */
static little_world build(muster_elapsed contract, const struct price *price) {
  bool steps = contract == MUSTER_ELAPSED_STEPS;
  /* No agent is quarantined. */
  little_world little =
      world_of(CHANGED(type_running(walk, 0), it.limit_ns = 1000000000u, it.state_bytes = sizeof(walker),
                       it.models.cost_ns = cost_of, it.user = (void *)(uintptr_t)price, it.elapsed.contract = contract,
                       it.elapsed.step_ns = steps ? step_ns : it.elapsed.step_ns,
                       it.elapsed.steps_max = steps ? 100 : it.elapsed.steps_max));
  for (uint32_t i = 0; i < AGENTS; i++) spawn_at(&little, i);
  return little;
}

struct course {
  uint64_t completed[WINDOWS]; /* updates in each window of frames */
  uint64_t stalest_ns[WINDOWS];
  float pressure;
};

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
              "%lu updates in window %u, %lu before", course->completed[window], window, course->completed[half - 1]);
}

/* 200 updates of 50 us are due in a frame of 5 ms. Nearly all of that grows: who waits twice as long costs twice. */
static const struct price steep = {200, 5000};
/* The same cost at 100 ms, but most of it is fixed. */
static const struct price floored = {40000, 1000};

Test(spiral, a_cost_that_grows_from_nothing_spirals_with_the_whole_time) {
  SCOPED_WORLD little = build(MUSTER_ELAPSED_DELTA, &steep);
  struct course course = run(&little);
  cr_assert_gt(course.pressure, 1.0f);
  cr_assert_lt(course.completed[WINDOWS - 1] * 10, course.completed[0]);
  cr_assert_leq(course.completed[WINDOWS - 1], WINDOW * 11 / 10); /* each frame runs one update, whatever it costs */
  for (uint32_t window = 1; window < WINDOWS / 3; window++)
    cr_assert_gt(course.stalest_ns[window], course.stalest_ns[window - 1] + 1000000000u);
}

/* Returns how many steps an update was behind at most. */
static uint64_t keep_up_with_a_floor(muster_elapsed contract) {
  SCOPED_WORLD little = build(contract, &floored);
  struct course course = run(&little);
  cr_assert(course.pressure > 0.05f && course.pressure < 1.0f, "%g", (double)course.pressure);
  settles(&course);
  for (uint32_t window = 1; window < WINDOWS; window++) cr_assert_lt(course.stalest_ns[window], 1000000000u);
  return statistics_of(&little).steps_behind_max;
}

Test(spiral, a_floor_under_the_cost_ends_it) {
  keep_up_with_a_floor(MUSTER_ELAPSED_DELTA);
}

Test(spiral, bounded_steps_with_a_floor_keep_up) {
  cr_assert_eq(keep_up_with_a_floor(MUSTER_ELAPSED_STEPS), 0);
}

/* Steps that no period can hold pile up, but updates go on as often as before; and no step is lost. */
Test(spiral, bounded_steps_settle_where_the_whole_time_spirals_and_are_caught_up) {
  SCOPED_WORLD little = build(MUSTER_ELAPSED_STEPS, &steep);
  struct course course = run(&little);
  cr_assert_gt(course.pressure, 1.0f);
  settles(&course);
  cr_assert_geq(course.completed[WINDOWS - 1], WINDOW * 5000000ull * 9 / (200 + 100 * 5000) / 10);
  cr_assert_gt(statistics_of(&little).steps_behind_max, 500);
  for (uint32_t i = 0; i < 600; i++) run_frame_with(&little, 200000000u); /* the load falls */
  muster_statistics_clear(little.world);
  for (uint32_t i = 0; i < 100; i++) run_frame_with(&little, 200000000u);
  cr_assert_eq(statistics_of(&little).steps_behind_max, 0);
  for (muster_agent agent = {0}; !muster_agent_is_null(agent = muster_agent_next(little.world, agent));) {
    muster_agent_info info = info_of(&little, agent);
    cr_assert_eq(((const walker *)info.state)->steps, (info.last_update_ns - FRAME_NS) / step_ns);
    cr_assert_lt(little.now_ns - info.last_update_ns, 200000000u);
  }
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
  SCOPED_WORLD little = little_world_create(1, NULL);
  muster_type_def hog = WITH(muster_type_def, it.limit_ns = 1000000000u, it.atoms = hog_atoms, it.atom_count = 1,
                             it.elapsed.contract = MUSTER_ELAPSED_EVENTS);
  muster_agent walkers[WALKERS], hogs[HOGS];
  add_type(&little,
           WITH(muster_type_def, it.limit_ns = 1000000000u, it.atoms = atoms, it.atom_count = 1,
                it.period_ns = 70000000, it.period_max_ns = 400000000, it.elapsed.contract = MUSTER_ELAPSED_STEPS,
                it.elapsed.step_ns = 66666667, it.elapsed.steps_max = 7, it.user = counts));
  for (uint32_t i = 0; i < WALKERS; i++) walkers[i] = spawn_at(&little, i);
  register_type(&little, &hog);
  for (uint32_t i = 0; i < HOGS; i++) hogs[i] = spawn_at(&little, i);
  uint64_t carried = 0;
  for (uint32_t i = 0; i < 3000; i++) {
    for (uint32_t k = 0; k < HOGS && i % 40 == 0; k++) muster_agent_wake(little.world, hogs[k]); /* eight frames */
    carried += run_frame(&little).carried;
  }
  cr_assert_gt(carried, 10000);
  cr_assert_eq(counts[0], 0, "%lu of %lu had none", counts[0], counts[1]);
  cr_assert_gt(counts[1], 10000);
  run_frames(&little, 4);
  for (uint32_t i = 0; i < WALKERS; i++) muster_agent_wake(little.world, walkers[i]);
  run_frames(&little, 5);
  cr_assert_gt(counts[0], 10);
}

/* Reports by bands of importance: figures of virtual worlds that can be worked out by hand, and that are the same for
 * every number of workers and after a snapshot. */
#include "support/busy_worlds.h"
#include "world/fixture.h"

enum { WINDOW = 400 /* frames of 10 ms */ };

static muster_type_def every(uint64_t period_ns, uint64_t period_max_ns) {
  return CHANGED(type_running(nothing, 1000), it.period_ns = period_ns, it.period_max_ns = period_max_ns);
}

static void spawn_some(const little_world *little, uint32_t count, float importance) {
  for (uint32_t i = 0; i < count; i++) spawn_as(little, WITH(muster_agent_def, it.importance_floor = importance));
}

static void check_ns(uint64_t found_ns, uint64_t expected_ns) {
  cr_assert_eq(found_ns, expected_ns, "%lu ns, not %lu", found_ns, expected_ns);
}

/* Quantiles are right to within 3 percent, and never too small. */
static void check_near(uint64_t found_ns, uint64_t expected_ns) {
  cr_assert(found_ns >= expected_ns && (double)found_ns <= 1.032 * (double)expected_ns, "%lu ns, not %lu", found_ns,
            expected_ns);
}

/* Ten agents of importance 1 run every 100 ms. At 0.25, the end of its band, one agent runs so, too, and three agents
 * would run every 1000 s. One agent at 0 has no period. Window and warm-up are as many frames as make whole periods. */
static little_world open_town(void) {
  little_world little = world_of(every(100000000u, 200000000u));
  spawn_some(&little, 10, 1.0f);
  spawn_some(&little, 1, 0.25f);
  add_type(&little, CHANGED(every(100000000u, 100000000u), it.elapsed.contract = MUSTER_ELAPSED_EVENTS));
  spawn_some(&little, 1, 0.0f);
  run_frames(&little, 50);
  add_type(&little, every(1000000000000u, 1000000000000u));
  spawn_some(&little, 3, 0.25f);
  run_frame(&little);
  muster_statistics_clear(little.world);
  run_frames(&little, WINDOW);
  return little;
}

Test(bands, tell_of_agents_periods_and_intervals_as_worked_out_by_hand) {
  SCOPED_WORLD little = open_town();
  muster_statistics statistics = statistics_of(&little);
  const muster_band *most = &statistics.bands[4], *some = &statistics.bands[1];
  cr_assert_eq(most->agents, 10);
  check_ns(most->wanted_ns, 100000000u);
  check_ns(most->period_ns, 100000000u);
  cr_assert_eq(most->completed, 10 * WINDOW / 10);
  cr_assert_float_eq(most->agent_time_ns, 10.0 * WINDOW * FRAME_NS, 1.0);
  check_ns(most->interval_ns, 100000000u);
  check_ns(most->staleness.max_ns, 100000000u);
  check_near(most->staleness.p50_ns, 100000000u);
  cr_assert_eq(some->agents, 4);
  check_ns(some->wanted_ns, 399880036u); /* 4 / (1 / 0.1 + 3 / 1000) s */
  check_ns(some->period_ns, some->wanted_ns);
  cr_assert_eq(some->completed, WINDOW / 10);
  check_ns(some->interval_ns, 400000000u); /* of four agents one ran */
  cr_assert_eq(most->agents_beyond_wish + some->agents_beyond_wish, 0);
  const muster_band nobody = {0};
  cr_assert_eq(memcmp(&statistics.bands[0], &nobody, sizeof nobody), 0, "an agent without a period is in no band");
  cr_assert_eq(memcmp(&statistics.bands[2], &nobody, sizeof nobody), 0);
}

/* An agent that runs every ten frames is 0, 10, 20 .. 90 ms old at the ends of frames. Three of the four agents in the
 * other band never ran: they were spawned one frame before the window and get older by a frame in each of its 400
 * frames. */
Test(bands, tell_of_ages_at_frame_ends_of_those_too_who_never_ran) {
  SCOPED_WORLD little = open_town();
  muster_statistics statistics = statistics_of(&little);
  const muster_band *most = &statistics.bands[4], *some = &statistics.bands[1];
  check_near(most->age.p50_ns, 40000000u);
  check_near(most->age.p99_ns, 90000000u);
  check_ns(most->age.max_ns, 90000000u);
  check_ns(some->age.max_ns, (uint64_t)WINDOW * FRAME_NS);
  /* Of 1600 looks, 400 + 3 x saw an age of at most x frames. */
  check_near(some->age.p50_ns, 1340000000u);
  check_near(some->age.p99_ns, 3950000000u);
  muster_statistics_clear(little.world);
  statistics = statistics_of(&little);
  cr_assert_eq(statistics.bands[4].age.max_ns, 0);
  cr_assert_eq(statistics.bands[4].completed, 0);
  check_ns(statistics.bands[4].interval_ns, 0);
  cr_assert_eq(statistics.bands[4].agents, 10, "what is now is not cleared");
}

/* Overload: all agents together would take 2.5 times the budget even at the longest period that their type wishes for.
 */
Test(bands, tell_who_is_beyond_its_wish_and_how_far) {
  SCOPED_WORLD little = world_of(every(100000000u, 200000000u));
  spawn_some(&little, 500, 0.0f);
  spawn_some(&little, 5, 1.0f);
  for (uint32_t i = 0; i < 200; i++) run_frame_with(&little, 10000u);
  muster_frame_report report = run_frame_with(&little, 10000u);
  muster_statistics statistics = statistics_of(&little);
  const muster_band *least = &statistics.bands[0], *most = &statistics.bands[4];
  cr_assert_eq(least->agents, 500);
  cr_assert_eq(least->agents_beyond_wish, 500);
  cr_assert_eq(report.agents_beyond_wish, 500);
  check_ns(least->wanted_ns, 100000000u);
  check_ns(least->period_ns, info_of(&little, muster_agent_make(7, 1)).period_ns);
  cr_assert_gt(least->period_ns, 200000000u);
  cr_assert_eq(most->agents, 5);
  cr_assert_eq(most->agents_beyond_wish, 0);
  check_ns(most->period_ns, info_of(&little, muster_agent_make(502, 1)).period_ns);
  cr_assert_lt(most->interval_ns, least->interval_ns / 2);
}

Test(bands, follow_agents_that_come_to_matter_and_leave_out_those_in_quarantine) {
  SCOPED_WORLD little = world_of(every(100000000u, 200000000u));
  spawn_some(&little, 3, 0.0f);
  run_frames(&little, 2);
  tune_agent(&little, muster_agent_make(1, 1), WITH(muster_agent_tuning, it.importance_floor = 0.6f));
  run_frame(&little);
  cr_assert_eq(statistics_of(&little).bands[0].agents, 2);
  cr_assert_eq(statistics_of(&little).bands[3].agents, 1);
  muster_type_quarantine(little.world, little.type);
  run_frame(&little);
  muster_statistics_clear(little.world);
  run_frames(&little, 5);
  muster_statistics statistics = statistics_of(&little);
  for (uint32_t band = 0; band < MUSTER_BANDS; band++) {
    cr_assert_eq(statistics.bands[band].agents, 0);
    cr_assert_eq(statistics.bands[band].agent_time_ns, 0.0);
    cr_assert_eq(statistics.bands[band].age.max_ns, 0);
  }
  muster_type_reinstate(little.world, little.type);
  run_frame(&little);
  cr_assert_eq(statistics_of(&little).bands[0].agents, 2);
  muster_agent_remove(little.world, muster_agent_make(1, 1));
  run_frame(&little);
  cr_assert_eq(statistics_of(&little).bands[0].agents, 2);
  cr_assert_eq(statistics_of(&little).bands[3].agents, 0);
}

static int compare_ages(const void *left, const void *right) {
  uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
  return (a > b) - (a < b);
}

/* The ages of all agents at the ends of all frames, compared with those of the few that a frame looks at. */
Test(bands, tell_of_ages_as_a_look_at_everybody_would) {
  enum { AGENTS = 2000, FRAMES = 400 };
  SCOPED_WORLD little = little_world_of(
      1, WITH(virtual_world_def, it.elastic = MUSTER_ELASTIC_IMPORTANCE, it.order = MUSTER_ORDER_DEADLINE));
  for (uint32_t type = 0; type < 2; type++) {
    add_type(&little, type ? every(100000000u, 1000000000u) : every(30000000u, 200000000u));
    for (uint32_t i = 0; i < AGENTS / 2; i++) spawn_some(&little, 1, i % 4 ? 0.0f : 1.0f);
  }
  for (uint32_t i = 0; i < 200; i++) run_frame_with(&little, 40000u);
  muster_statistics_clear(little.world);
  SCOPED(free_memory) uint64_t(*ages)[AGENTS * FRAMES] = calloc(2, sizeof *ages); /* of the others; of who matters */
  size_t counts[2] = {0};
  for (uint32_t frame = 0; frame < FRAMES; frame++) {
    run_frame_with(&little, 40000u);
    for (uint32_t i = 0; i < AGENTS; i++) {
      muster_agent_info info = info_of(&little, muster_agent_make(i, 1));
      bool matters = info.importance > 0.5f;
      ages[matters][counts[matters]++] = little.now_ns - info.last_update_ns;
    }
  }
  muster_statistics statistics = statistics_of(&little);
  for (uint32_t i = 0; i < 2; i++) {
    const muster_band *band = &statistics.bands[4 * i];
    qsort(ages[i], counts[i], sizeof **ages, compare_ages);
    double p50_ns = (double)ages[i][counts[i] / 2], p99_ns = (double)ages[i][counts[i] / 100 * 99];
    cr_assert_float_eq((double)band->age.p50_ns, p50_ns, 0.1 * p50_ns + (i ? 1e7 : 0.0));
    cr_assert_float_eq((double)band->age.p99_ns, p99_ns, i ? 1e7 : 0.05 * p99_ns);
  }
}

static void expect_same(const little_world *one, const little_world *other, const char *of, uint32_t frame) {
  muster_statistics statistics = statistics_of(one), others = statistics_of(other);
  for (uint32_t i = 0; i < MUSTER_BANDS; i++)
    cr_assert_eq(memcmp(&statistics.bands[i], &others.bands[i], sizeof others.bands[i]), 0,
                 "world '%s', frame %u, band %u: %u agents and %u", of, frame, i, statistics.bands[i].agents,
                 others.bands[i].agents);
}

Test(bands, are_the_same_on_any_number_of_workers) {
  for (uint32_t kind = 0; kind < BUSY_KINDS; kind++) {
    SCOPED_WORLD one = busy_world(&busy_kinds[kind], 1), four = busy_world(&busy_kinds[kind], 4);
    busy_populate(&one);
    busy_populate(&four);
    for (uint32_t frame = 0; frame < 100; frame++) {
      busy_frame(&one, &busy_kinds[kind], frame);
      busy_frame(&four, &busy_kinds[kind], frame);
    }
    expect_same(&one, &four, busy_kinds[kind].name, 100);
  }
}

/* A world that was loaded knows which agent is in which band, and looks at the same agents as the world that went on.
 */
Test(bands, go_on_after_a_snapshot) {
  for (uint32_t kind = 0; kind < BUSY_KINDS; kind++) {
    SCOPED_WORLD whole = busy_world(&busy_kinds[kind], 1), loaded = busy_world(&busy_kinds[kind], 2);
    busy_populate(&whole);
    for (uint32_t frame = 0; frame < 30; frame++) busy_frame(&whole, &busy_kinds[kind], frame);
    copy_world(&whole, &loaded);
    muster_statistics_clear(whole.world);
    expect_same(&whole, &loaded, busy_kinds[kind].name, 30);
    for (uint32_t frame = 30; frame < 70; frame++) {
      busy_frame(&whole, &busy_kinds[kind], frame);
      busy_frame(&loaded, &busy_kinds[kind], frame);
    }
    expect_same(&whole, &loaded, busy_kinds[kind].name, 70);
  }
}

/* The last ten minutes of a world, second by second. */
#include "room.h"
#include "service/history.h"

enum { SECOND = 1000000000 };

static struct history kept;
static history_second seconds[HISTORY_SECONDS];
static muster_frame_report report;
static muster_statistics statistics;

static void begin(void) {
  memset(&kept, 0, sizeof kept);
  report = muster_frame_report_default();
  statistics = muster_statistics_default();
}

TestSuite(history, .init = begin);

static void add_frame(uint64_t end_ns, bool late, bool audited) {
  history_add(&kept, &(history_frame){end_ns, late, audited, &report, &statistics});
}

/* A second is over: so many are known then. */
static void expect_known(uint64_t second, uint64_t after, uint32_t count) {
  history_close_second(&kept, second * SECOND);
  cr_assert_eq(history_read(&kept, after, second * SECOND, seconds), count);
}

/* 100 frames of 1 .. 100 ms within one second. */
static void add_hundred(uint64_t second) {
  for (uint64_t i = 1; i <= 100; i++) {
    report.wall_ns = i * 1000000;
    report.completed = 2;
    report.frame++;
    add_frame(second * SECOND + i * 1000000, i % 50 == 0, false);
  }
}

Test(history, sums_a_second_once_it_is_over) {
  report.pressure = 0.5f;
  report.levels[2] = 7;
  add_hundred(5);
  cr_assert_eq(history_read(&kept, 0, 5 * (uint64_t)SECOND, seconds), 0, "it is not over");
  history_close_second(&kept, 5ull * SECOND + SECOND - 1);
  cr_assert_eq(history_read(&kept, 0, 5ull * SECOND, seconds), 0, "nor now");
  expect_known(6, 0, 1);
  cr_expect(seconds[0].second == 5 && seconds[0].frames == 100 && seconds[0].late == 2);
  cr_expect_eq(seconds[0].completed, 200);
  cr_expect_eq(seconds[0].frame, 100);
  cr_expect_eq(seconds[0].levels[2], 7);
  cr_expect_float_eq(seconds[0].pressure, 0.5, 1e-6);
  cr_expect(seconds[0].wall_p50_ns >= 50000000 && seconds[0].wall_p50_ns <= 52000000, "%lu", seconds[0].wall_p50_ns);
  cr_expect(seconds[0].wall_p99_ns >= 99000000 && seconds[0].wall_p99_ns <= 100000000, "%lu", seconds[0].wall_p99_ns);
  cr_expect_eq(seconds[0].wall_max_ns, 100000000);
}

/* Of a thousand frames 980 take 1 ms, and the others 10, 100 and 200. */
Test(history, tells_the_middle_of_the_frames_from_their_ends) {
  for (uint64_t i = 1; i <= 1000; i++) {
    report.wall_ns = (i <= 980 ? 1 : i <= 995 ? 10 : i <= 999 ? 100 : 200) * 1000000ull;
    report.overrun_wall_ns = i == 7 ? 12345 : i;
    add_frame(5ull * SECOND + i * 900000, false, false);
  }
  expect_known(6, 0, 1);
  cr_expect(seconds[0].wall_p50_ns >= 1000000 && seconds[0].wall_p50_ns <= 1030000, "%lu", seconds[0].wall_p50_ns);
  cr_expect(seconds[0].wall_p99_ns >= 10000000 && seconds[0].wall_p99_ns <= 10300000, "%lu", seconds[0].wall_p99_ns);
  cr_expect_eq(seconds[0].wall_max_ns, 200000000);
  cr_expect_eq(seconds[0].overrun_max_ns, 12345, "the most, and not the last");
}

/* What a second has of its frames: sums, and what the last of them had. */
Test(history, has_each_figure_of_its_frames) {
  for (uint32_t i = 1; i <= 2; i++) {
    report.frame = 70 + i, report.budget_ns = 10 * i, report.carried = 20 * i, report.agents = 30 * i;
    report.agents_beyond_wish = 40 * i, report.agents_quarantined = 50 * i;
    report.utilisation_nominal = 1.5f * (float)i, report.utilisation_desired = 2.5f * (float)i;
    report.pressure = 0.25f * (float)i, report.important_load = 0.125f * (float)i;
    report.update_cpu_ns = 100 * i, report.released = 200 * i, report.completed = 300 * i, report.preempted = 400 * i;
    report.idle_ns[MUSTER_IDLE_LONG] = 500 * i;
    for (uint32_t level = 0; level < MUSTER_LEVELS; level++) report.levels[level] = 600 * i + level;
    add_frame(5ull * SECOND + i, i == 1, false);
  }
  expect_known(6, 0, 1);
  const history_second *one = &seconds[0];
  cr_expect(one->frames == 2 && one->late == 1 && one->judged == 0 && one->broken == 0);
  cr_expect(one->frame == 72 && one->budget_ns == 20 && one->carried == 40 && one->agents == 60);
  cr_expect(one->beyond_wish == 80 && one->quarantined == 100);
  cr_expect(one->wants == 3.0f && one->has == 5.0f && one->pressure == 0.5f && one->important_load == 0.25f);
  cr_expect(one->updates_cpu_ns == 300 && one->released == 600 && one->completed == 900 && one->preempted == 1200);
  cr_expect_eq(one->idle_ns[MUSTER_IDLE_LONG], 1500);
  for (uint32_t level = 0; level < MUSTER_LEVELS; level++) cr_expect_eq(one->levels[level], 1200 + level);
}

Test(history, begins_each_second_anew_and_leaves_out_those_without_frames) {
  add_hundred(5);
  report.wall_ns = 3000000;
  add_frame(9ull * SECOND, false, false);
  add_frame(10ull * SECOND, false, false);
  cr_assert_eq(history_read(&kept, 0, 10ull * SECOND, seconds), 2);
  cr_expect(seconds[0].second == 5 && seconds[1].second == 9);
  cr_expect(seconds[1].frames == 1 && seconds[1].wall_max_ns == 3000000 && seconds[1].wall_p50_ns == 3000000);
  cr_expect(seconds[1].late == 0 && seconds[1].completed == 2);
  cr_assert_eq(history_read(&kept, 5, 10ull * SECOND, seconds), 1, "only newer ones");
  cr_expect_eq(seconds[0].second, 9);
  cr_assert_eq(history_read(&kept, 9, 10ull * SECOND, seconds), 0);
}

Test(history, sums_what_frames_left_though_agents_waited_and_counts_what_was_mended) {
  report.idle_ns[MUSTER_IDLE_X] = 5;
  add_frame(5ull * SECOND, false, false);
  report.idle_ns[MUSTER_IDLE_X] = 0;
  report.idle_ns[MUSTER_IDLE_FAULT] = 7;
  statistics.estimates_mended = 2;
  add_frame(5ull * SECOND + 1, false, false);
  add_frame(5ull * SECOND + 2, false, false);
  report.idle_ns[MUSTER_IDLE_FAULT] = 0;
  statistics.estimates_mended = 3;
  add_frame(6ull * SECOND, false, false);
  statistics.estimates_mended = 1; /* the sums were cleared */
  add_frame(7ull * SECOND, false, false);
  cr_assert_eq(history_read(&kept, 0, 8ull * SECOND, seconds), 2);
  cr_expect(seconds[0].idle_ns[MUSTER_IDLE_X] == 5 && seconds[0].idle_ns[MUSTER_IDLE_FAULT] == 14);
  cr_expect(seconds[0].idle_faults == 2 && seconds[0].mended == 2);
  cr_expect(seconds[1].idle_faults == 0 && seconds[1].idle_ns[MUSTER_IDLE_FAULT] == 0 && seconds[1].mended == 1);
  expect_known(8, 6, 1);
  cr_expect_eq(seconds[0].mended, 1);
}

Test(history, keeps_ten_minutes_and_no_more) {
  for (uint64_t second = 1; second <= 1500; second++) add_frame(second * SECOND, false, false);
  cr_assert_eq(history_read(&kept, 0, 1500ull * SECOND, seconds), HISTORY_SECONDS);
  cr_expect(seconds[0].second == 900 && seconds[HISTORY_SECONDS - 1].second == 1499);
  for (uint32_t i = 1; i < HISTORY_SECONDS; i++) cr_assert_eq(seconds[i].second, seconds[i - 1].second + 1);
  cr_assert_eq(history_read(&kept, 0, 2000ull * SECOND, seconds), 100, "after a pause the old ones are too old");
  cr_expect_eq(seconds[0].second, 1400);
}

Test(history, counts_frames_that_broke_the_promise_where_that_is_judged) {
  report.overrun_own_ns = 5000000;
  report.longest_atom_ns = 1000000;
  add_frame(1ull * SECOND, false, false);
  add_frame(1ull * SECOND + 1, false, true);
  report.longest_atom_ns = 5000000;
  add_frame(1ull * SECOND + 2, false, true);
  expect_known(2, 0, 1);
  cr_expect(seconds[0].judged == 2 && seconds[0].broken == 1, "%u %u", seconds[0].judged, seconds[0].broken);
}

/* The frame that ends a second, with agents x time, and updates, of the highest band since the world began. */
static void measure(uint64_t second, double agent_s, uint64_t completed) {
  statistics.bands[4].agent_time_ns = agent_s * 1e9;
  statistics.bands[4].completed = completed;
  add_frame(second * SECOND, false, false);
}

Test(history, says_what_interval_each_importance_got_in_each_second_and_over_several) {
  measure(1, 100, 500);
  measure(2, 300, 600);
  measure(3, 310, 700);
  expect_known(4, 0, 3);
  cr_expect_eq(history_interval_ns(&seconds[0], 1, 4), 200000000);
  cr_expect_eq(history_interval_ns(&seconds[1], 1, 4), 2ull * SECOND);
  cr_expect_eq(history_interval_ns(&seconds[1], 2, 4), 1050000000, "210 agent-seconds, 200 updates");
  cr_expect_eq(history_interval_ns(seconds, 3, 0), 0, "nobody is there");
  measure(4, 30, 100);
  expect_known(5, 3, 1);
  cr_expect_eq(history_interval_ns(seconds, 1, 4), 300000000, "the sums were cleared: they begin anew");
}

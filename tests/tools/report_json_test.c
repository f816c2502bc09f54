/* The report of `muster run` for machines: each number of a summary under its own name, and each number of the summary
 * from what was kept of the frames. The summary is made up, so that no two numbers are the same. */
#include "service/json_rows.h"

#include "catalog.h"
#include "report_json.h"
#include "report_text.h"
#include "run_note.h"
#include "support/little_world.h"
#include "text.h"

#include <muster/overruns.h>

#include <signal.h>
#include <time.h>
#include <unistd.h>

#define SUMMARY(...)  ROW_OF(run_summary, __VA_ARGS__)
#define RECORD(...)   ROW_OF(run_record, __VA_ARGS__)
#define OPTIONS(...)  ROW_OF(run_options, __VA_ARGS__)
#define RUNAWAYS(...) ROW_OF(struct runaways, __VA_ARGS__)
#define BAND(...)     ROW_OF(muster_band, __VA_ARGS__)

static const shown_row options_rows[] = {OPTIONS("workers", workers), OPTIONS("seed", seed),
                                         OPTIONS("budget_ns", budget_ns)};

static const shown_row record_rows[] = {
    /* of a run */
    RECORD("agents", last.agents), RECORD("frames", frames), RECORD("longest_atom_ns", longest_atom_ns),
    RECORD("longest_claim_ns", longest_claim_ns), RECORD("pressure.max", pressure_max),
    RECORD("important_load.max", important_load_max),
    /* levels and commits */
    RECORD("levels.0", last.levels[0]), RECORD("levels.1", last.levels[1]), RECORD("levels.2", last.levels[2]),
    RECORD("levels.3", last.levels[3]), RECORD("commits.count", commits)};

static const shown_row summary_rows[] = {
    /* frames */
    SUMMARY("interrupted", interrupted), SUMMARY("frame_period_ns", frame_period_ns),
    SUMMARY("wall_ns.mean", wall_ns.mean), SUMMARY("wall_ns.p50", wall_ns.p50), SUMMARY("wall_ns.p99", wall_ns.p99),
    SUMMARY("wall_ns.p999", wall_ns.p999), SUMMARY("wall_ns.max", wall_ns.max),
    /* overruns */
    SUMMARY("overrun_wall_ns.p50", overrun_wall_ns.p50), SUMMARY("overrun_wall_ns.p99", overrun_wall_ns.p99),
    SUMMARY("overrun_wall_ns.p999", overrun_wall_ns.p999), SUMMARY("overrun_wall_ns.max", overrun_wall_ns.max),
    SUMMARY("overrun_own_ns.p50", overrun_own_ns.p50), SUMMARY("overrun_own_ns.p99", overrun_own_ns.p99),
    SUMMARY("overrun_own_ns.p999", overrun_own_ns.p999), SUMMARY("overrun_own_ns.max", overrun_own_ns.max),
    /* the promise */
    SUMMARY("promise.kept_share", kept_share), SUMMARY("promise.machine_kept_share", machine_kept_share),
    SUMMARY("promise.machine_frames", machine_frames), SUMMARY("promise.machine_missed", machine_missed),
    SUMMARY("promise.budget_used_share", budget_used_share), SUMMARY("promise.cpu_share_of_capacity", capacity_share),
    SUMMARY("others_cpu_share", others_share), SUMMARY("stolen_cpu_share", stolen_share),
    /* updates */
    SUMMARY("updates.released", statistics.released), SUMMARY("updates.completed", statistics.completed),
    SUMMARY("updates.carried", statistics.carried), SUMMARY("updates.preempted", statistics.preempted),
    SUMMARY("updates.nearby_cut", statistics.nearby_cut),
    /* what is not work, and what runs alone */
    SUMMARY("overhead.ns_per_update", overhead_per_update_ns), SUMMARY("overhead.ns_per_frame", overhead_per_frame_ns),
    SUMMARY("overhead.budget_share", overhead_share), SUMMARY("serial.ns_per_frame", serial_per_frame_ns),
    SUMMARY("serial.share", serial_share), SUMMARY("serial.actions.ns_per_frame", acts_serial_per_frame_ns),
    SUMMARY("serial.actions.share", acts_serial_share),
    /* periods, idleness and waiting */
    SUMMARY("period.mean_deviation_ns", period_deviation_ns),
    SUMMARY("idle.fault_ns", statistics.idle_ns[MUSTER_IDLE_FAULT]),
    SUMMARY("idle.fault_frames", statistics.idle_frames[MUSTER_IDLE_FAULT]),
    SUMMARY("idle.at_x_ns", statistics.idle_ns[MUSTER_IDLE_X]),
    SUMMARY("idle.long_ns", statistics.idle_ns[MUSTER_IDLE_LONG]),
    SUMMARY("idle.estimates_mended", statistics.estimates_mended),
    SUMMARY("wait.longest_ns", statistics.longest_wait_ns), SUMMARY("wait.bound_ns", wait_bound_ns),
    SUMMARY("wait.within", wait_within),
    /* load */
    SUMMARY("utilisation.desired", utilisation_desired), SUMMARY("utilisation.achieved", utilisation_achieved),
    SUMMARY("pressure.mean", pressure_mean), SUMMARY("important_load.mean", important_load_mean),
    SUMMARY("important_load.above_one_share", important_over_share),
    /* memory */
    SUMMARY("memory.bytes_per_agent", bytes_per_agent), SUMMARY("memory.total_bytes", statistics.bytes_used),
    SUMMARY("memory.scheduling_bytes_per_agent", scheduling_bytes_per_agent),
    /* stages and commits */
    SUMMARY("stages_ns.intake", stage_ns[MUSTER_STAGE_INTAKE]),
    SUMMARY("stages_ns.score", stage_ns[MUSTER_STAGE_SCORE]), SUMMARY("stages_ns.fold", stage_ns[MUSTER_STAGE_FOLD]),
    SUMMARY("stages_ns.fit", stage_ns[MUSTER_STAGE_FIT]), SUMMARY("stages_ns.release", stage_ns[MUSTER_STAGE_RELEASE]),
    SUMMARY("stages_ns.rank", stage_ns[MUSTER_STAGE_RANK]), SUMMARY("stages_ns.run", stage_ns[MUSTER_STAGE_RUN]),
    SUMMARY("stages_ns.commit", stage_ns[MUSTER_STAGE_COMMIT]), SUMMARY("commits.kept_ns", commit_kept_ns),
    SUMMARY("commits.took_ns", commit_took_ns)};

static const shown_row runaways_rows[] = {
    /* how many */
    RUNAWAYS("runaways.overruns", overruns), RUNAWAYS("runaways.blocked", blocked),
    RUNAWAYS("runaways.demotions", demotions), RUNAWAYS("runaways.quarantines", quarantines),
    RUNAWAYS("runaways.stuck", stuck), RUNAWAYS("runaways.agents_demoted", agents_demoted),
    RUNAWAYS("runaways.agents_quarantined", agents_quarantined),
    RUNAWAYS("runaways.types_quarantined", types_quarantined),
    /* the worst */
    RUNAWAYS("runaways.worst_ns", worst_ns), RUNAWAYS("runaways.worst_limit_ns", worst_limit_ns),
    RUNAWAYS("runaways.worst_blocked_ns", blocked_ns), RUNAWAYS("runaways.worst_blocked_atom", blocked_atom)};

static const shown_row band_rows[] = {BAND("agents", agents),        BAND("beyond_wish", agents_beyond_wish),
                                      BAND("wanted", wanted_ns),     BAND("period", period_ns),
                                      BAND("interval", interval_ns), BAND("agent_time", agent_time_ns),
                                      BAND("completed", completed),  BAND("p50", staleness.p50_ns),
                                      BAND("p99", staleness.p99_ns), BAND("max", staleness.max_ns),
                                      BAND("age_p50", age.p50_ns),   BAND("age_p99", age.p99_ns),
                                      BAND("age_max", age.max_ns)};

static run_options options;
static run_record record;
static run_summary summary;

static const muster_module plain = {.name = "plain"};

/* A world with one type. */
static little_world little_with(const char *name, uint64_t period_ns) {
  static const muster_atom atom = {.run = nothing};
  little_world little = little_world_create(1, NULL);
  muster_type_def def = type_with(&atom, 1);
  if (name) def.name = name;
  if (period_ns) def.period_ns = def.period_max_ns = period_ns;
  register_type(&little, &def);
  return little;
}

static void fill(void) {
  rows_fill(options_rows, COUNT_OF(options_rows), &options, 100);
  rows_fill(record_rows, COUNT_OF(record_rows), &record, 200);
  rows_fill(summary_rows, COUNT_OF(summary_rows), &summary, 300);
  rows_fill(runaways_rows, COUNT_OF(runaways_rows), &summary.runaways, 400);
  for (uint32_t band = 0; band < MUSTER_BANDS; band++)
    rows_fill(band_rows, COUNT_OF(band_rows), &summary.statistics.bands[band], 500 + 20 * band);
  summary.options = &options;
  summary.record = &record;
  summary.scenario = "made up";
  summary.noise_known = summary.own_known = true;
  summary.runaways.worst_type = "wolf";
  summary.runaways.blocked_type = "hare";
  summary.runaways.blocked_agent = muster_agent_make(77, 5);
  summary.world_hash = 0x0123456789abcdef;
  summary.figures = (host_figures){.count = 2, .names = {"nests", "eggs"}, .values = {1.25, 2.5}};
}

TestSuite(report_json, .init = fill);

static json_t *write_report(void) {
  static char text[1 << 16];
  json_writer writer;
  json_error_t error;
  json_start(&writer, text, sizeof text);
  report_json(&writer, &summary);
  cr_assert(json_finish(&writer));
  json_t *report = json_loads(text, JSON_REJECT_DUPLICATES, &error);
  cr_assert_not_null(report, "line %d: %s: %s", error.line, error.text, text);
  return report;
}

Test(report_json, each_number_stands_under_its_own_name) {
  json_auto_t *report = write_report();
  rows_expect(report, "", options_rows, COUNT_OF(options_rows), &options);
  rows_expect(report, "", record_rows, COUNT_OF(record_rows), &record);
  rows_expect_value(report, "promise.frames", ROW_WHOLE_64, (double)record.frames);
  rows_expect(report, "", summary_rows, COUNT_OF(summary_rows), &summary);
  rows_expect_value(report, "serial.actions.speedup_max", ROW_PRECISE, 1 / summary.acts_serial_share);
  rows_expect(report, "", runaways_rows, COUNT_OF(runaways_rows), &summary.runaways);
  rows_expect_value(report, "runaways.worst_blocked_agent", ROW_WHOLE_32, 77);
  rows_expect_text(report, "runaways.worst_type", "wolf");
  rows_expect_text(report, "runaways.worst_blocked_type", "hare");
  for (uint32_t band = 0; band < MUSTER_BANDS; band++) {
    const char *within = formed("staleness_by_importance.%u.", band);
    rows_expect(report, within, band_rows, COUNT_OF(band_rows), &summary.statistics.bands[band]);
    rows_expect_value(report, formed("%sfrom", within), ROW_FRACTION, band ? 0.25 * (band - 1) : 0);
    rows_expect_value(report, formed("%sto", within), ROW_FRACTION, 0.25 * band);
  }
  rows_expect_text(report, "scenario", "made up");
  rows_expect_text(report, "world_hash", "0123456789abcdef");
  rows_expect_value(report, "world.nests", ROW_PRECISE, 1.25);
  rows_expect_value(report, "world.eggs", ROW_PRECISE, 2.5);
  rows_expect_nothing_left(report, "report");
}

/* A switch has two values, so each is set alone. */
Test(report_json, switches_are_each_their_own) {
  for (size_t i = 0; i < COUNT_OF(summary_rows); i++) {
    if (summary_rows[i].kind != ROW_SWITCH) continue;
    row_put(&summary_rows[i], &summary, 1);
    json_auto_t *report = write_report();
    for (size_t k = 0; k < COUNT_OF(summary_rows); k++)
      if (summary_rows[k].kind == ROW_SWITCH) rows_expect_value(report, summary_rows[k].name, ROW_SWITCH, k == i);
    row_put(&summary_rows[i], &summary, 0);
  }
}

static void expect_null(const char *path, bool null) {
  json_auto_t *report = write_report(), *value = rows_take(report, path);
  cr_expect(value && json_is_null(value) == null, "%s is %snull", path, null ? "not " : "");
}

Test(report_json, what_was_not_measured_is_null) {
  static const char *const own[] = {"overrun_own_ns",     "longest_atom_ns",           "longest_claim_ns",
                                    "promise.kept_share", "promise.budget_used_share", "promise.cpu_share_of_capacity"},
                           *const noise[] = {"others_cpu_share", "stolen_cpu_share"};
  for (int known = 1; known >= 0; known--) {
    summary.own_known = known;
    for (size_t i = 0; i < COUNT_OF(own); i++) expect_null(own[i], !known);
    expect_null("others_cpu_share", false);
  }
  summary.own_known = true;
  for (int known = 1; known >= 0; known--) {
    summary.noise_known = known;
    for (size_t i = 0; i < COUNT_OF(noise); i++) expect_null(noise[i], !known);
    expect_null("longest_atom_ns", false);
  }
  summary.machine_frames = 0;
  expect_null("promise.machine_kept_share", true);
  summary.acts_serial_share = 0;
  expect_null("serial.actions.speedup_max", true);
}

/* ---------------------------------------------------------------------------------------------------------- summary */

enum { FRAMES = 1000 };

/* Thousand frames of 1 .. 1000 us, in an order of their own. */
static void fill_frames(void) {
  cr_assert(record_create(&record, FRAMES));
  for (uint32_t i = 0; i < FRAMES; i++) {
    uint64_t us = i * 377 % FRAMES + 1;
    record.wall_ns[i] = us * 1000;
    record.overrun_wall_ns[i] = us * 100;
    record.overrun_own_ns[i] = us * 10;
  }
  record.frames = FRAMES;
  record.kept = 900;
}

/* Each is the other. */
static void expect_figures(const double (*figures)[2], size_t count) {
  for (size_t i = 0; i < count; i++)
    cr_expect_float_eq(figures[i][0], figures[i][1], 1e-12, "figure %zu is %g", i, figures[i][0]);
}

#define EXPECT_FIGURES(...)                                                                                            \
  expect_figures((const double[][2]){__VA_ARGS__}, COUNT_OF(((const double[][2]){__VA_ARGS__})))

Test(report_json, a_summary_is_of_what_was_kept_of_the_frames) {
  SCOPED(little_world_destroy) little_world little = little_with(NULL, 0);
  const struct host host = {.module = &plain, .world = little.world};
  options = (run_options){.module = &plain, .rate = 40000, .workers = 3, .audit = true};
  fill_frames();
  record.waiting_used_ns = 3000, record.waiting_given_ns = 4000;
  record.used_ns = 5000, record.budget_ns = 20000;
  record.update_ns = 7000, record.sim_ns = 70000;
  record.overhead_ns = 11000, record.serial_ns = 13000, record.acts_serial_ns = 17000, record.work_ns = 190000;
  record.commits = 10, record.commit_kept_ns = 2300, record.commit_took_ns = 2900;
  record.deviation_ns = 31000, record.desired = 3700, record.pressure = 410;
  record.important = 430, record.important_over = 470, record.desired_over = 4700, record.frames_over = 53;
  for (uint32_t i = 0; i < MUSTER_STAGES; i++) record.stage_ns[i] = 100000 * (i + 1);
  summarise(&summary, &options, &host, &record);

  cr_expect_str_eq(summary.scenario, "plain");
  cr_expect_eq(summary.frame_period_ns, 25000000);
  cr_expect_eq(summary.simulated_ns, 70000);
  cr_expect_eq(summary.wall_ns.mean, 500500);
  cr_expect(summary.wall_ns.p50 == 500000 && summary.wall_ns.p99 == 990000 && summary.wall_ns.p999 == 999000 &&
            summary.wall_ns.max == 1000000);
  cr_expect_eq(summary.overrun_wall_ns.p99, 99000);
  cr_expect_eq(summary.overrun_own_ns.p99, 9900);
  EXPECT_FIGURES({summary.kept_share, 0.9}, {summary.budget_used_share, 0.75}, {summary.capacity_share, 5.0 / 60},
                 {summary.overhead_per_frame_ns, 11}, {summary.overhead_share, 11.0 / 60},
                 {summary.serial_per_frame_ns, 13}, {summary.serial_share, 13.0 / 190},
                 {summary.acts_serial_per_frame_ns, 17}, {summary.acts_serial_share, 17.0 / 190},
                 {summary.period_deviation_ns, 31}, {summary.utilisation_desired, 3.7},
                 {summary.utilisation_achieved, 0.1}, {summary.pressure_mean, 0.41},
                 {summary.important_load_mean, 43.0 / 370}, {summary.important_over_load, 0.1},
                 {summary.important_over_share, 0.053}, {summary.commit_kept_ns, 230}, {summary.commit_took_ns, 290});
  for (uint32_t i = 0; i < MUSTER_STAGES; i++) cr_expect_float_eq(summary.stage_ns[i], 100 * (i + 1), 1e-12);
  cr_expect_eq(summary.world_hash, muster_world_hash(little.world));
  cr_expect(summary.own_known, "audit");
  record_destroy(&record);
}

/* Who waits for its turn waits for those before it, as many in a frame as in the slowest block of frames. */
Test(report_json, what_bounds_a_wait_and_what_an_agent_takes_are_of_the_last_frame) {
  SCOPED(little_world_destroy) little_world little = little_with(NULL, FRAME_NS);
  for (int i = 0; i < 8; i++) spawn_at(&little, i);
  for (int i = 0; i < 10; i++) run_frame(&little);
  const struct host host = {.module = &plain, .world = little.world, .needs = {.agents = 5}};
  options = (run_options){.module = &plain, .rate = 40000, .workers = 1};
  fill_frames();
  record.turns_least = (double)INFINITY;
  record.turn_longest_ns = 7000, record.late_max = 10, record.frame_period_max_ns = 100000, record.last.agents = 8;
  record.frames = 10;
  summarise(&summary, &options, &host, &record);
  const muster_statistics *sums = &summary.statistics;
  double per_frame = (double)sums->completed / 10;
  cr_assert_gt(per_frame, 4);
  cr_expect_float_eq(summary.bytes_per_agent, (double)sums->bytes_used / 8, 1e-9);
  cr_expect_float_eq(summary.scheduling_bytes_per_agent, (double)sums->bytes_scheduling / 8, 1e-9);
  cr_expect_float_eq(summary.wait_bound_ns, 7000 + (ceil(10 / per_frame) + 1) * 100000, 1e-9);
  record.turns_least = 4;
  summarise(&summary, &options, &host, &record);
  cr_expect_float_eq(summary.wait_bound_ns, 7000 + (3 + 1) * 100000, 1e-9);
  record.turns_least = 0.5; /* at least one of them */
  summarise(&summary, &options, &host, &record);
  cr_expect_float_eq(summary.wait_bound_ns, 7000 + (10 + 1) * 100000, 1e-9);
  record.frames = FRAMES;
  record_destroy(&record);
}

/* A virtual processor has its own capacity, or that of its budget. */
Test(report_json, the_capacity_of_a_virtual_run_is_its_own) {
  SCOPED(little_world_destroy) little_world little = little_world_create(1, NULL);
  const struct host host = {.module = &plain, .world = little.world};
  options = (run_options){.module = &plain, .rate = 40000, .workers = 3, .virtual_clock = true, .capacity_ns = 50};
  fill_frames();
  record.used_ns = 5000, record.budget_ns = 20000;
  summarise(&summary, &options, &host, &record);
  cr_expect_float_eq(summary.capacity_share, 5000.0 / (50 * FRAMES), 1e-12);
  cr_expect(summary.own_known, "virtual time is its own");
  options.capacity_ns = 0;
  summarise(&summary, &options, &host, &record);
  cr_expect_float_eq(summary.capacity_share, 0.25, 1e-12);
  options.virtual_clock = false;
  summarise(&summary, &options, &host, &record);
  cr_expect(!summary.own_known, "nothing measured it");
  record_destroy(&record);
}

/* --------------------------------------------------------------------------------------------------------- runaways */

enum { LONG_MS = 40, TRIES = 200 };

static const uint64_t limit_ns = 5000000;

/* The second agent waits in its second atom, and the first computes in its first: each for longer than the limit. */
static muster_atom_result compute(muster_update *update) {
  struct timespec begin, now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
  bool first = muster_agent_index(update->agent) == *(uint32_t *)update->type_user;
  do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  while (first && (now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < LONG_MS);
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result wait_long(muster_update *update) {
  bool second = muster_agent_index(update->agent) != *(uint32_t *)update->type_user;
  if (second) nanosleep(&(struct timespec){.tv_nsec = LONG_MS * 1000000}, NULL);
  return MUSTER_ATOM_NEXT;
}

static struct runaways runaways_now(const struct host *host, const muster_frame_report *last) {
  muster_statistics statistics = muster_statistics_default();
  muster_statistics_read(host->world, &statistics);
  return runaways_of(host, &statistics, last);
}

Test(report_json, who_computes_too_long_and_who_waits_are_told_apart) {
  static const muster_atom atoms[] = {{.run = compute}, {.run = wait_long}};
  static uint32_t first;
  muster_world_def world = muster_world_def_default();
  SCOPED(little_world_destroy) little_world little = little_world_create(1, &world);
  muster_type_def def = WITH(muster_type_def, it.name = "sloth", it.atoms = atoms, it.atom_count = 2,
                             it.limit_ns = limit_ns, it.user = &first, it.period_ns = it.period_max_ns = FRAME_NS);
  register_type(&little, &def);
  little.provokes_idle = true;
  first = muster_agent_index(spawn_at(&little, 0));
  muster_agent second = spawn_at(&little, 1);
  const struct host host = {.world = little.world};
  muster_frame_report last = run_frame(&little);
  struct runaways found = runaways_now(&host, &last);
  for (uint32_t i = 0; i < TRIES && !(found.overruns && found.blocked); i++) {
    last = run_frame(&little);
    found = runaways_now(&host, &last);
  }
  cr_assert(found.overruns && found.blocked, "%lu overran and %lu were blocked, in %d frames", found.overruns,
            found.blocked, TRIES);
  cr_expect_str_eq(found.worst_type, "sloth");
  cr_expect_str_eq(found.blocked_type, "sloth");
  cr_expect_geq(found.worst_ns, limit_ns);
  cr_expect_geq(found.blocked_ns, limit_ns);
  cr_expect_eq(found.worst_limit_ns, limit_ns);
  cr_expect_eq(found.blocked_agent.value, second.value, "agent %u waits", muster_agent_index(second));
  cr_expect_eq(found.blocked_atom, 1);
  cr_expect_eq(found.stuck, 0);
}

/* ------------------------------------------------------------------------------------------------------- for people */

enum { REPORT_BYTES = 1 << 14 };

/* All that report_print() prints. */
static void print_report(const struct host *host, char text[REPORT_BYTES]) {
  FILE *file = tmpfile();
  int before = dup(STDOUT_FILENO);
  cr_assert_not_null(file);
  fflush(stdout);
  dup2(fileno(file), STDOUT_FILENO);
  cr_assert(report_print(&summary, host));
  fflush(stdout);
  dup2(before, STDOUT_FILENO);
  ssize_t length = pread(fileno(file), text, REPORT_BYTES - 1, 0);
  cr_assert_gt(length, 0);
  text[length] = '\0';
  close(before);
  fclose(file);
}

/* Figures that people could meet, no two alike. */
static void make_whole(void) {
  fill();
  options = (run_options){.workers = 3, .seed = 77, .budget_ns = 10000000, .rate = 29970, .frames = 5000};
  record = (run_record){.frames = 1000, .longest_atom_ns = 120000, .pressure_max = 3.5, .commits = 9};
  record.last = (muster_frame_report){.agents = 12345, .levels = {10000, 2000, 300, 45}};
  summary = (run_summary){.options = &options,
                          .record = &record,
                          .scenario = "made up",
                          .observers = 2,
                          .own_known = true,
                          .wall_ns = {2100000, 2000000, 8000000, 9000000, 9500000},
                          .overrun_own_ns = {0, 1, 31000, 41000, 51000},
                          .kept_share = 0.995,
                          .budget_used_share = 0.875,
                          .noise_known = true,
                          .others_share = 0.012,
                          .stolen_share = 0.003,
                          .machine_frames = 1000,
                          .machine_kept_share = 0.75,
                          .machine_missed = 4,
                          .overhead_per_update_ns = 250,
                          .overhead_per_frame_ns = 42000,
                          .overhead_share = 0.0625,
                          .serial_share = 0.2,
                          .acts_serial_share = 0.125,
                          .pressure_mean = 0.5,
                          .utilisation_achieved = 1.5,
                          .utilisation_desired = 0.75,
                          .important_over_load = 2.25,
                          .important_over_share = 0.375,
                          .period_deviation_ns = 6500000,
                          .wait_bound_ns = 700000000,
                          .wait_within = true,
                          .simulated_ns = 33e9,
                          .bytes_per_agent = 640,
                          .scheduling_bytes_per_agent = 96,
                          .commit_kept_ns = 11000,
                          .commit_took_ns = 13000,
                          .world_hash = 0x0123456789abcdef,
                          .figures = {.count = 2, .names = {"nests", "eggs"}, .values = {1.25, 1e9}}};
  summary.statistics = muster_statistics_default();
  summary.statistics.completed = 170500;
  summary.statistics.carried = 1801;
  summary.statistics.preempted = 1902;
  summary.statistics.nearby_cut = 203;
  summary.statistics.estimates_mended = 14;
  summary.statistics.longest_wait_ns = 210000000;
  summary.statistics.bytes_used = 7654321;
  summary.statistics.idle_ns[MUSTER_IDLE_X] = 1500000;
  summary.statistics.idle_ns[MUSTER_IDLE_LONG] = 2500000;
  summary.statistics.idle_ns[MUSTER_IDLE_FAULT] = 3500000;
  summary.runaways = (struct runaways){.overruns = 21,
                                       .blocked = 22,
                                       .demotions = 23,
                                       .quarantines = 24,
                                       .stuck = 25,
                                       .agents_demoted = 26,
                                       .agents_quarantined = 27,
                                       .types_quarantined = 28,
                                       .worst_type = "wolf",
                                       .worst_ns = 2900000,
                                       .worst_limit_ns = 100000,
                                       .blocked_type = "hare",
                                       .blocked_ns = 3100000,
                                       .blocked_agent = muster_agent_make(32, 33),
                                       .blocked_atom = 34};
  for (uint32_t i = 0; i < MUSTER_STAGES; i++) summary.stage_ns[i] = 1000 * (i + 1);
}

/* Every case of the report changes one figure of the whole one. */
static const struct {
  const char *name;
  void *place;
  double value;
  row_kind kind;
} cases[] = {
    {"interrupted, as recorded", &summary.interrupted, 1, ROW_SWITCH},
    {"one observer", &summary.observers, 1, ROW_WHOLE_32},
    {"one worker", &options.workers, 1, ROW_WHOLE_32},
    {"two workers", &options.workers, 2, ROW_WHOLE_32},
    {"in virtual time", &options.virtual_clock, 1, ROW_SWITCH},
    {"nothing measured", &summary.own_known, 0, ROW_SWITCH},
    {"atom within its limit", &record.longest_atom_ns, 100000, ROW_WHOLE_64},
    {"atom a little over it", &record.longest_atom_ns, 100001, ROW_WHOLE_64},
    {"limit not known", &summary.runaways.worst_limit_ns, 0, ROW_WHOLE_64},
    {"never waited", &summary.budget_used_share, (double)NAN, ROW_PRECISE},
    {"machine not watched", &summary.machine_frames, 0, ROW_WHOLE_64},
    {"machine not late", &summary.machine_missed, 0, ROW_WHOLE_64},
    {"machine not known", &summary.noise_known, 0, ROW_SWITCH},
    {"others quiet", &summary.others_share, 0.05, ROW_PRECISE},
    {"others loud", &summary.others_share, 0.0501, ROW_PRECISE},
    {"host loud", &summary.stolen_share, 0.0201, ROW_PRECISE},
    {"none cut", &summary.statistics.nearby_cut, 0, ROW_WHOLE_64},
    {"no overhead", &summary.overhead_per_update_ns, (double)NAN, ROW_PRECISE},
    {"all overhead", &summary.overhead_share, 1, ROW_PRECISE},
    {"more overhead", &summary.overhead_share, 1.5, ROW_PRECISE},
    {"none mended", &summary.statistics.estimates_mended, 0, ROW_WHOLE_64},
    {"no serial work", &summary.serial_share, 0, ROW_PRECISE},
    {"no serial acts", &summary.acts_serial_share, (double)NAN, ROW_PRECISE},
    {"pressure", &record.pressure_max, 1000, ROW_PRECISE},
    {"important fit", &summary.important_over_share, 0, ROW_PRECISE},
    {"not stretched", &summary.period_deviation_ns, 0, ROW_PRECISE},
    {"no bound", &summary.wait_bound_ns, (double)NAN, ROW_PRECISE},
    {"bound beyond the run", &summary.wait_bound_ns, 34e9, ROW_PRECISE},
    {"waited too long", &summary.wait_within, 0, ROW_SWITCH},
    {"nobody waited", &summary.statistics.longest_wait_ns, 0, ROW_WHOLE_64},
    {"one overrun", &summary.runaways.overruns, 1, ROW_WHOLE_64},
    {"one blocked", &summary.runaways.blocked, 1, ROW_WHOLE_64},
    {"none blocked", &summary.runaways.blocked, 0, ROW_WHOLE_64},
    {"none stuck", &summary.runaways.stuck, 0, ROW_WHOLE_64},
    {"none demoted", &summary.runaways.agents_demoted, 0, ROW_WHOLE_32},
    {"no commits", &record.commits, 0, ROW_WHOLE_64},
    {"slow frames", &summary.wall_ns.p999, 90000000, ROW_WHOLE_64},
};

/* Lines of one text that the other has not. */
static void put_missing(char *out, const char *mark, const char *text, const char *other) {
  for (const char *next = text; *next;) {
    size_t bytes = strcspn(next, "\n") + 1;
    const char *line = formed("\n%.*s", (int)bytes, next);
    bool begins = strncmp(other, line + 1, bytes) == 0;
    if (!begins && !strstr(other, line))
      snprintf(out + strlen(out), REPORT_BYTES - strlen(out), "%s%s", mark, line + 1);
    next += bytes;
  }
}

/* tests/tools/report.txt has the whole report, and of each case the lines that are others. */
Test(report_text, says_of_each_figure_what_it_says) {
  static char whole[REPORT_BYTES], one[REPORT_BYTES], is[4 * REPORT_BYTES], wanted[4 * REPORT_BYTES];
  SCOPED(little_world_destroy) little_world little = little_with("a_type_with_a_very_long_name", 0);
  const struct host host = {.module = &plain, .world = little.world};
  unsetenv("COLUMNS");
  make_whole();
  print_report(&host, whole);
  strcpy(is, whole);
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    const shown_row row = {cases[i].name, cases[i].kind, 0};
    make_whole();
    row_put(&row, cases[i].place, cases[i].value);
    print_report(&host, one);
    sprintf(is + strlen(is), "\n%s\n", cases[i].name);
    put_missing(is, "- ", whole, one);
    put_missing(is, "+ ", one, whole);
  }
  FILE *file = fopen(MUSTER_SOURCE_DIR "/tests/tools/report.txt", "r");
  if (getenv("REPORT_WRITE")) {
    FILE *out = fopen(getenv("REPORT_WRITE"), "w");
    fputs(is, out);
    fclose(out);
  }
  cr_assert_not_null(file);
  cr_assert_lt(fread(wanted, 1, sizeof wanted - 1, file), sizeof wanted - 1);
  fclose(file);
  cr_expect_str_eq(is, wanted);
}

/* ---------------------------------------------------------------------------------------------------------- the note
 */

#define NOTED(name) ROW_OF(run_options, #name, name)

/* In place of the catalog's, which knows files of modules. */
const char *catalog_name(const muster_module *module) {
  return module->name;
}

/* What makes the world of a run again. */
static const shown_row noted_rows[] = {
    NOTED(agents),  NOTED(observers),   NOTED(workers), NOTED(budget_ns), NOTED(capacity_ns),
    NOTED(cost_ns), NOTED(rate),        NOTED(frames),  NOTED(warm_up),   NOTED(activation_delay),
    NOTED(seed),    NOTED(record_from), NOTED(audit),   NOTED(no_pace),   NOTED(virtual_clock),
};

Test(report_text, a_note_of_a_run_is_read_as_it_was_written) {
  static run_options read;
  char note[RUN_NOTE_BYTES], *text;
  size_t count;
  uint64_t skipped_ns = 0;
  for (uint32_t on = 0; on < 8; on++) {
    options = (run_options){.module = &plain, .given_count = 2, .elastic = MUSTER_ELASTIC_SQUARE_ROOT, .up_axis = 'z'};
    options.given[0] = (module_given){.name = "side", .text = "50"};
    options.given[1] = (module_given){.name = "words", .text = "a=b c.d"};
    rows_fill(noted_rows, COUNT_OF(noted_rows), &options, 100);
    options.audit = on & 1, options.no_pace = on & 2, options.virtual_clock = on & 4;
    FILE *stream = open_memstream(&text, &count);
    cr_assert(run_note_write(&options, 987654321, stream));
    fclose(stream);
    cr_assert_lt(count, sizeof note);
    memcpy(note, text, count);
    cr_assert_eq(note[count - 1], '\0');
    cr_assert(run_note_read(&read, &skipped_ns, note));
    for (size_t i = 0; i < COUNT_OF(noted_rows); i++) {
      size_t bytes = noted_rows[i].kind == ROW_WHOLE_64 ? 8 : noted_rows[i].kind == ROW_WHOLE_32 ? 4 : 1;
      cr_expect_eq(memcmp((char *)&read + noted_rows[i].offset, (char *)&options + noted_rows[i].offset, bytes), 0,
                   "%s", noted_rows[i].name);
    }
    cr_expect(read.elastic == MUSTER_ELASTIC_SQUARE_ROOT && read.up_axis == 'z' && !read.path);
    cr_expect_str_eq(read.scenario, "plain");
    cr_assert_eq(read.given_count, 2);
    for (uint32_t i = 0; i < 2; i++) {
      cr_expect_str_eq(read.given[i].name, options.given[i].name);
      cr_expect_str_eq(read.given[i].text, options.given[i].text);
    }
    cr_expect_eq(skipped_ns, 987654321);
    free(text);
  }
}

/* As musterd writes it: with the instance in front of a setting, and lines of its own. */
Test(report_text, a_note_of_the_service_is_read_too) {
  static const struct {
    const char *text;
    bool good;
  } notes[] = {{"module=lua\nworld=main\nagents_max=5\nrate=100000\nset a.b.scripts=/x/y.lua\n", true},
               {"module=lua\nrate=100000\nnothing=1\n", false},
               {"module=lua\nrate=100000\nset scripts\n", false},
               {"module=lua\nagents=1\n", false},
               {"rate=100000\n", false}};
  for (size_t i = 0; i < COUNT_OF(notes); i++) {
    char note[256];
    uint64_t skipped_ns = 5;
    strcpy(note, notes[i].text);
    cr_expect_eq(run_note_read(&options, &skipped_ns, note), notes[i].good, "%s", notes[i].text);
    cr_expect_eq(skipped_ns, 5);
    if (!notes[i].good) continue;
    cr_expect_str_eq(options.scenario, "lua");
    cr_expect_str_eq(options.path, "/x/y.lua");
    cr_expect_str_eq(options.given[0].name, "scripts");
    cr_expect_eq(options.rate, 100000);
  }
}

/* ------------------------------------------------------------------------------------------------------------ texts */

static const char *text_of_count(double value) {
  return text_count((uint64_t)value);
}

static const char *text_of_bar(double value) {
  static char bar[TEXT_BAR_CELLS + 1];
  return text_bar(bar, 10, value, 8, 10);
}

typedef struct text_row {
  double value;
  const char *text;
} text_row;

static void expect_texts(const char *(*make)(double value), const text_row *rows, size_t count) {
  for (size_t i = 0; i < count; i++) cr_expect_str_eq(make(rows[i].value), rows[i].text, "%g", rows[i].value);
}

#define EXPECT_TEXTS(MAKE, ...)                                                                                        \
  expect_texts(MAKE, (const text_row[]){__VA_ARGS__}, COUNT_OF(((const text_row[]){__VA_ARGS__})))

/* A share that is nearly whole is not shown as whole: who looks for what was lost would not find it. */
Test(texts, show_a_share_below_one_as_less_than_all) {
  EXPECT_TEXTS(text_share, {0, "0.0 %"}, {0.5, "50.0 %"}, {0.99, "99.0 %"}, {0.9951, "99.51 %"}, {0.9999, "99.99 %"},
               {0.99999, "99.99 %"}, {0.999999999, "99.99 %"}, {1, "100.0 %"});
}

Test(texts, show_numbers_as_people_read_them) {
  EXPECT_TEXTS(text_duration, {0, "0 ns"}, {850, "850 ns"}, {999.4, "999 ns"}, {999.6, "1 us"}, {9.994, "9.99 ns"},
               {9.996, "10 ns"}, {9.995, "10 ns"}, {99.95, "100 ns"}, {99.96, "100 ns"}, {3214567, "3.21 ms"},
               {-3214567, "-3.21 ms"}, {1e9, "1 s"}, {599e9, "599 s"}, {600e9, "10 min"}, {7199e9, "120 min"},
               {7200e9, "2 h"}, {17532e9, "4.87 h"}, {3.6e16, "10000 h"});
  EXPECT_TEXTS(text_bytes, {64, "64 B"}, {1023, "1023 B"}, {1024, "1 KiB"}, {3250586, "3.1 MiB"}, {5e12, "4657 GiB"});
  EXPECT_TEXTS(text_of_count, {0, "0"}, {999, "999"}, {1000, "1,000"}, {48031, "48,031"}, {123456, "123,456"},
               {1234567890, "1,234,567,890"});
  EXPECT_TEXTS(text_share, {0.9900001, "99.00 %"}, {1.5, "150.0 %"});
  EXPECT_TEXTS(text_processors, {0.354, "0.354 of a processor"}, {1, "1 of a processor"}, {1.6, "1.6 processors"});
  EXPECT_TEXTS(text_pressure, {0.967, "0.97"}, {999.994, "999.99"}, {1000, "over 1,000"});
  EXPECT_TEXTS(text_times, {2.34, "2.3"}, {9.94, "9.9"}, {9.95, "10"}, {9.96, "10"}, {123.4, "123"},
               {1000, "over 1,000"});
  EXPECT_TEXTS(text_of_bar, {0, "........|."}, {0.1, "-.......|."}, {0.6, "#.......|."}, {5.4, "#####...|."},
               {9, "########|."}, {10, "########|#"}, {99, "########|#"});
}

/* A mark at the end of the scale stands in the last cell, and bars have an end. */
Test(texts, marks_of_bars_are_within_them) {
  char bar[TEXT_BAR_CELLS + 1];
  cr_expect_str_eq(text_bar(bar, 5, 2, 10, 10), "#...|");
  cr_expect_str_eq(text_bar(bar, 5, 2, 0, 10), "|....");
  cr_expect_eq(strlen(text_bar(bar, 1000, 2, 5, 10)), TEXT_BAR_CELLS);
  cr_expect_eq(text_cells(5, 0, 10), 0);
  cr_expect_eq(text_cells(-5, 10, 10), 0);
}

/* As many as can be told in a line are good at once. */
Test(texts, each_is_good_until_so_many_others_were_made) {
  const char *texts[TEXT_KEPT];
  for (uint32_t i = 0; i < TEXT_KEPT; i++) texts[i] = text_count(i);
  for (uint32_t i = 0; i < TEXT_KEPT; i++) cr_expect_eq(strtoul(texts[i], NULL, 10), i);
}

/* The report of `muster run` for machines: each number of a summary under its own name, and each number of the summary
 * from what was kept of the frames. The summary is made up, so that no two numbers are the same. */
#include "service/json_rows.h"

#include "report_json.h"
#include "support/little_world.h"
#include "text.h"

#include <muster/overruns.h>

#include <time.h>

#define SUMMARY(...)  ROW_OF(run_summary, __VA_ARGS__)
#define RECORD(...)   ROW_OF(run_record, __VA_ARGS__)
#define OPTIONS(...)  ROW_OF(run_options, __VA_ARGS__)
#define RUNAWAYS(...) ROW_OF(struct runaways, __VA_ARGS__)
#define BAND(...)     ROW_OF(muster_band, __VA_ARGS__)

static const shown_row options_rows[] = {
    OPTIONS("workers", workers),
    OPTIONS("seed", seed),
    OPTIONS("budget_ns", budget_ns),
};

static const shown_row record_rows[] = {
    RECORD("agents", last.agents),
    RECORD("frames", frames),
    RECORD("longest_atom_ns", longest_atom_ns),
    RECORD("longest_claim_ns", longest_claim_ns),
    RECORD("pressure.max", pressure_max),
    RECORD("important_load.max", important_load_max),
    RECORD("levels.0", last.levels[0]),
    RECORD("levels.1", last.levels[1]),
    RECORD("levels.2", last.levels[2]),
    RECORD("levels.3", last.levels[3]),
    RECORD("commits.count", commits),
};

static const shown_row summary_rows[] = {
    SUMMARY("interrupted", interrupted),
    SUMMARY("frame_period_ns", frame_period_ns),
    SUMMARY("wall_ns.mean", wall_ns.mean),
    SUMMARY("wall_ns.p50", wall_ns.p50),
    SUMMARY("wall_ns.p99", wall_ns.p99),
    SUMMARY("wall_ns.p999", wall_ns.p999),
    SUMMARY("wall_ns.max", wall_ns.max),
    SUMMARY("overrun_wall_ns.p50", overrun_wall_ns.p50),
    SUMMARY("overrun_wall_ns.p99", overrun_wall_ns.p99),
    SUMMARY("overrun_wall_ns.p999", overrun_wall_ns.p999),
    SUMMARY("overrun_wall_ns.max", overrun_wall_ns.max),
    SUMMARY("overrun_own_ns.p50", overrun_own_ns.p50),
    SUMMARY("overrun_own_ns.p99", overrun_own_ns.p99),
    SUMMARY("overrun_own_ns.p999", overrun_own_ns.p999),
    SUMMARY("overrun_own_ns.max", overrun_own_ns.max),
    SUMMARY("promise.kept_share", kept_share),
    SUMMARY("promise.machine_kept_share", machine_kept_share),
    SUMMARY("promise.machine_frames", machine_frames),
    SUMMARY("promise.machine_missed", machine_missed),
    SUMMARY("promise.budget_used_share", budget_used_share),
    SUMMARY("promise.cpu_share_of_capacity", capacity_share),
    SUMMARY("others_cpu_share", others_share),
    SUMMARY("stolen_cpu_share", stolen_share),

    SUMMARY("updates.released", statistics.released),
    SUMMARY("updates.completed", statistics.completed),
    SUMMARY("updates.carried", statistics.carried),
    SUMMARY("updates.preempted", statistics.preempted),
    SUMMARY("updates.nearby_cut", statistics.nearby_cut),
    SUMMARY("overhead.ns_per_update", overhead_per_update_ns),
    SUMMARY("overhead.ns_per_frame", overhead_per_frame_ns),
    SUMMARY("overhead.budget_share", overhead_share),
    SUMMARY("serial.ns_per_frame", serial_per_frame_ns),
    SUMMARY("serial.share", serial_share),
    SUMMARY("serial.actions.ns_per_frame", acts_serial_per_frame_ns),
    SUMMARY("serial.actions.share", acts_serial_share),
    SUMMARY("period.mean_deviation_ns", period_deviation_ns),
    SUMMARY("idle.fault_ns", statistics.idle_ns[MUSTER_IDLE_FAULT]),
    SUMMARY("idle.fault_frames", statistics.idle_frames[MUSTER_IDLE_FAULT]),
    SUMMARY("idle.at_x_ns", statistics.idle_ns[MUSTER_IDLE_X]),
    SUMMARY("idle.long_ns", statistics.idle_ns[MUSTER_IDLE_LONG]),
    SUMMARY("idle.estimates_mended", statistics.estimates_mended),
    SUMMARY("wait.longest_ns", statistics.longest_wait_ns),
    SUMMARY("wait.bound_ns", wait_bound_ns),
    SUMMARY("wait.within", wait_within),

    SUMMARY("utilisation.desired", utilisation_desired),
    SUMMARY("utilisation.achieved", utilisation_achieved),
    SUMMARY("pressure.mean", pressure_mean),
    SUMMARY("important_load.mean", important_load_mean),
    SUMMARY("important_load.above_one_share", important_over_share),
    SUMMARY("memory.bytes_per_agent", bytes_per_agent),
    SUMMARY("memory.total_bytes", statistics.bytes_used),
    SUMMARY("memory.scheduling_bytes_per_agent", scheduling_bytes_per_agent),
    SUMMARY("stages_ns.intake", stage_ns[MUSTER_STAGE_INTAKE]),
    SUMMARY("stages_ns.score", stage_ns[MUSTER_STAGE_SCORE]),
    SUMMARY("stages_ns.fold", stage_ns[MUSTER_STAGE_FOLD]),
    SUMMARY("stages_ns.fit", stage_ns[MUSTER_STAGE_FIT]),
    SUMMARY("stages_ns.release", stage_ns[MUSTER_STAGE_RELEASE]),
    SUMMARY("stages_ns.rank", stage_ns[MUSTER_STAGE_RANK]),
    SUMMARY("stages_ns.run", stage_ns[MUSTER_STAGE_RUN]),
    SUMMARY("stages_ns.commit", stage_ns[MUSTER_STAGE_COMMIT]),
    SUMMARY("commits.kept_ns", commit_kept_ns),
    SUMMARY("commits.took_ns", commit_took_ns),
};

static const shown_row runaways_rows[] = {
    RUNAWAYS("runaways.overruns", overruns),
    RUNAWAYS("runaways.blocked", blocked),
    RUNAWAYS("runaways.demotions", demotions),
    RUNAWAYS("runaways.quarantines", quarantines),
    RUNAWAYS("runaways.stuck", stuck),
    RUNAWAYS("runaways.agents_demoted", agents_demoted),
    RUNAWAYS("runaways.agents_quarantined", agents_quarantined),
    RUNAWAYS("runaways.types_quarantined", types_quarantined),
    RUNAWAYS("runaways.worst_ns", worst_ns),
    RUNAWAYS("runaways.worst_limit_ns", worst_limit_ns),
    RUNAWAYS("runaways.worst_blocked_ns", blocked_ns),
    RUNAWAYS("runaways.worst_blocked_atom", blocked_atom),
};

static const shown_row band_rows[] = {
    BAND("agents", agents),        BAND("beyond_wish", agents_beyond_wish),
    BAND("wanted", wanted_ns),     BAND("period", period_ns),
    BAND("interval", interval_ns), BAND("agent_time", agent_time_ns),
    BAND("completed", completed),  BAND("p50", staleness.p50_ns),
    BAND("p99", staleness.p99_ns), BAND("max", staleness.max_ns),
    BAND("age_p50", age.p50_ns),   BAND("age_p99", age.p99_ns),
    BAND("age_max", age.max_ns),
};

static run_options options;
static run_record record;
static run_summary summary;

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
  json_t *report = write_report();
  char within[64], path[96];
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
    snprintf(within, sizeof within, "staleness_by_importance.%u.", band);
    rows_expect(report, within, band_rows, COUNT_OF(band_rows), &summary.statistics.bands[band]);
    snprintf(path, sizeof path, "%sfrom", within);
    rows_expect_value(report, path, ROW_FRACTION, band ? 0.25 * (band - 1) : 0);
    snprintf(path, sizeof path, "%sto", within);
    rows_expect_value(report, path, ROW_FRACTION, 0.25 * band);
  }
  rows_expect_text(report, "scenario", "made up");
  rows_expect_text(report, "world_hash", "0123456789abcdef");
  rows_expect_value(report, "world.nests", ROW_PRECISE, 1.25);
  rows_expect_value(report, "world.eggs", ROW_PRECISE, 2.5);
  rows_expect_nothing_left(report, "report");
  json_decref(report);
}

/* A switch has two values, so each is set alone. */
Test(report_json, switches_are_each_their_own) {
  for (size_t i = 0; i < COUNT_OF(summary_rows); i++) {
    if (summary_rows[i].kind != ROW_SWITCH) continue;
    row_put(&summary_rows[i], &summary, 1);
    json_t *report = write_report();
    for (size_t k = 0; k < COUNT_OF(summary_rows); k++)
      if (summary_rows[k].kind == ROW_SWITCH) rows_expect_value(report, summary_rows[k].name, ROW_SWITCH, k == i);
    row_put(&summary_rows[i], &summary, 0);
    json_decref(report);
  }
}

static void expect_null(const char *path, bool null) {
  json_t *report = write_report(), *value = rows_take(report, path);
  cr_expect(value && json_is_null(value) == null, "%s is %snull", path, null ? "not " : "");
  json_decref(value), json_decref(report);
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

Test(report_json, a_summary_is_of_what_was_kept_of_the_frames) {
  static const muster_atom atom = {.run = nothing};
  static const muster_module module = {.name = "plain"};
  little_world little = little_world_create(1, NULL);
  muster_type_def def = type_with(&atom, 1);
  register_type(&little, &def);
  const struct host host = {.module = &module, .world = little.world};
  options = (run_options){.module = &module, .rate = 40000, .workers = 3, .audit = true};
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
  cr_expect_float_eq(summary.kept_share, 0.9, 1e-12);
  cr_expect_float_eq(summary.budget_used_share, 0.75, 1e-12);
  cr_expect_float_eq(summary.capacity_share, 5.0 / 60, 1e-12);
  cr_expect_float_eq(summary.overhead_per_frame_ns, 11, 1e-12);
  cr_expect_float_eq(summary.overhead_share, 11.0 / 60, 1e-12);
  cr_expect_float_eq(summary.serial_per_frame_ns, 13, 1e-12);
  cr_expect_float_eq(summary.serial_share, 13.0 / 190, 1e-12);
  cr_expect_float_eq(summary.acts_serial_per_frame_ns, 17, 1e-12);
  cr_expect_float_eq(summary.acts_serial_share, 17.0 / 190, 1e-12);
  cr_expect_float_eq(summary.period_deviation_ns, 31, 1e-12);
  cr_expect_float_eq(summary.utilisation_desired, 3.7, 1e-12);
  cr_expect_float_eq(summary.utilisation_achieved, 0.1, 1e-12);
  cr_expect_float_eq(summary.pressure_mean, 0.41, 1e-12);
  cr_expect_float_eq(summary.important_load_mean, 43.0 / 370, 1e-12);
  cr_expect_float_eq(summary.important_over_load, 0.1, 1e-12);
  cr_expect_float_eq(summary.important_over_share, 0.053, 1e-12);
  cr_expect_float_eq(summary.commit_kept_ns, 230, 1e-12);
  cr_expect_float_eq(summary.commit_took_ns, 290, 1e-12);
  for (uint32_t i = 0; i < MUSTER_STAGES; i++) cr_expect_float_eq(summary.stage_ns[i], 100 * (i + 1), 1e-12);
  cr_expect_eq(summary.world_hash, muster_world_hash(little.world));
  cr_expect(summary.own_known, "audit");
  record_destroy(&record);
  little_world_destroy(&little);
}

/* A virtual processor has its own capacity, or that of its budget. */
Test(report_json, the_capacity_of_a_virtual_run_is_its_own) {
  static const muster_module module = {.name = "plain"};
  little_world little = little_world_create(1, NULL);
  const struct host host = {.module = &module, .world = little.world};
  options = (run_options){.module = &module, .rate = 40000, .workers = 3, .virtual_clock = true, .capacity_ns = 50};
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
  little_world_destroy(&little);
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
  little_world little = little_world_create(1, &world);
  muster_type_def def = type_with(atoms, 2);
  def.name = "sloth";
  def.period_ns = def.period_max_ns = FRAME_NS;
  def.limit_ns = limit_ns;
  def.user = &first;
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
  little_world_destroy(&little);
}

/* ------------------------------------------------------------------------------------------------------------ texts */

/* A share that is nearly whole is not shown as whole: who looks for what was lost would not find it. */
Test(texts, show_a_share_below_one_as_less_than_all) {
  static const struct {
    double share;
    const char *text;
  } rows[] = {{0, "0.0 %"},        {0.5, "50.0 %"},      {0.99, "99.0 %"},         {0.9951, "99.51 %"},
              {0.9999, "99.99 %"}, {0.99999, "99.99 %"}, {0.999999999, "99.99 %"}, {1, "100.0 %"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) cr_expect_str_eq(text_share(rows[i].share), rows[i].text);
}

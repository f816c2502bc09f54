/* Every row of /metrics, with a value that no other row has: each must come under its own name. Two rows that were
 * swapped, or one that shows its neighbour, are seen here, and so is a family that this test does not know. */
#include "rows.h"
#include "service/metrics.h"
#include "service/supervise/states.h"

#define WORLD(...)  ROW_OF(world_published, __VA_ARGS__)
#define BAND(...)   ROW_OF(muster_band, __VA_ARGS__)
#define COST(...)   ROW_OF(muster_type_cost, __VA_ARGS__)
#define DAEMON(...) ROW_OF(metrics_facts, __VA_ARGS__)

/* Families that are called as the member is. */
#define REPORT(member)     WORLD("muster_" #member, report.member)
#define TOTAL(member)      WORLD("muster_" #member "_total", statistics.member)
#define UPDATES(member)    WORLD("muster_updates_" #member "_total", statistics.member)
#define JOURNAL(member)    WORLD("muster_journal_" #member, journal.member)
#define ZONE(member)       WORLD("muster_zone_" #member, zone.member)
#define ZONE_TOTAL(member) WORLD("muster_zone_" #member "_total", zone.member)

static const shown_row world_rows[] = {
    /* of the world as a whole */
    WORLD("muster_frames_total", frames), WORLD("muster_frames_late_total", frames_late),
    WORLD("muster_simulation_time_seconds", sim_now_ns), WORLD("muster_frame_budget_seconds", budget_ns),
    WORLD("muster_frame_period_seconds", period_ns), WORLD("muster_world_paused", paused),
    WORLD("muster_world_failed", failed), WORLD("muster_update_cpu_seconds_total", timings.update_cpu_ns),
    WORLD("muster_overhead_seconds_total", timings.overhead_ns),
    /* of the report of its last frame */
    REPORT(agents), REPORT(agents_shed), REPORT(agents_demoted), REPORT(agents_quarantined), REPORT(types_quarantined),
    REPORT(spawns_waiting), REPORT(commands_waiting), REPORT(actions_waiting), REPORT(score_waiting),
    WORLD("muster_updates_limit", report.updates_max), REPORT(pressure), REPORT(important_load), REPORT(held_load),
    REPORT(elapsed_load), REPORT(agents_put_off), REPORT(share), REPORT(utilisation_desired),
    REPORT(utilisation_nominal), REPORT(utilisation_fitted), WORLD("muster_debt_seconds", report.debt_ns),
    WORLD("muster_repaid_seconds", report.repaid_ns),
    WORLD("muster_period_deviation_seconds", report.period_deviation_ns),
    WORLD("muster_longest_wait_seconds", report.longest_wait_ns),
    WORLD("muster_longest_turn_seconds", report.turn_longest_ns), REPORT(agents_late),
    /* sums */
    UPDATES(released), UPDATES(completed), UPDATES(carried), UPDATES(preempted), UPDATES(woken), UPDATES(interrupted),
    WORLD("muster_update_cycles_total", statistics.cycles), WORLD("muster_agents_spawned_total", statistics.spawned),
    WORLD("muster_agents_removed_total", statistics.removed), TOTAL(spawns_refused), TOTAL(positions_refused),
    TOTAL(commands_dropped), TOTAL(nearby_cut), TOTAL(sets_cut), TOTAL(wakes_delayed), TOTAL(wakes_timed),
    TOTAL(reactions_met), TOTAL(reactions_late), TOTAL(score_rounds), TOTAL(importances_refused),
    TOTAL(results_refused), TOTAL(messages_sent), TOTAL(messages_delivered), TOTAL(messages_dropped),
    TOTAL(messages_refused), TOTAL(atoms_over_limit), TOTAL(atoms_blocked), TOTAL(demotions), TOTAL(quarantines),
    TOTAL(reinstated), TOTAL(stuck), WORLD("muster_serial_share", statistics.serial_share),
    WORLD("muster_serial_seconds_total", statistics.serial_ns), WORLD("muster_work_seconds_total", statistics.work_ns),
    WORLD("muster_idle_fault_seconds_total", statistics.idle_ns[MUSTER_IDLE_FAULT]),
    WORLD("muster_idle_fault_frames_total", statistics.idle_frames[MUSTER_IDLE_FAULT]),
    WORLD("muster_idle_at_x_seconds_total", statistics.idle_ns[MUSTER_IDLE_X]),
    WORLD("muster_idle_long_seconds_total", statistics.idle_ns[MUSTER_IDLE_LONG]), TOTAL(estimates_mended),
    WORLD("muster_memory_used_bytes", statistics.bytes_used),
    WORLD("muster_memory_scheduling_bytes", statistics.bytes_scheduling),
    /* of herds */
    WORLD("muster_individuals", report.represented), WORLD("muster_herd_leaves", report.leaves), REPORT(herds_folded),
    REPORT(herds_unfolded), WORLD("muster_herd_changes_waiting", report.changes_waiting),
    WORLD("muster_herd_folds_total", statistics.folds), WORLD("muster_herd_unfolds_total", statistics.unfolds),
    WORLD("muster_herd_folds_refused_total", statistics.folds_refused),
    WORLD("muster_herd_unfolds_refused_total", statistics.unfolds_refused),
    WORLD("muster_herd_changes_in_sight_total", statistics.changes_in_sight),
    WORLD("muster_herd_blocks_refused_total", statistics.herds_refused),
    WORLD("muster_memory_folded_bytes", statistics.bytes_folded),
    WORLD("muster_memory_unfolded_bytes", statistics.bytes_unfolded),
    /* of its journal */
    JOURNAL(on), JOURNAL(broken), JOURNAL(holds), WORLD("muster_journal_recovery_seconds", journal.recovery_ns),
    JOURNAL(frames_written), JOURNAL(frames_safe), WORLD("muster_journal_bytes_total", journal.bytes),
    WORLD("muster_journal_snapshots_total", journal.snapshots),
    WORLD("muster_journal_snapshots_failed_total", journal.snapshots_failed), JOURNAL(snapshot_bytes),
    WORLD("muster_journal_snapshot_duration_seconds", journal.snapshot_ns),
    WORLD("muster_journal_pause_seconds", journal.pause_ns), WORLD("muster_journal_sync_seconds", journal.sync_ns),
    JOURNAL(incidents), WORLD("muster_journal_losses", journal.lost.losses),
    WORLD("muster_journal_lost_frames", journal.lost.frames), JOURNAL(recovered_frames),
    WORLD("muster_journal_recovered_seconds", journal.recovered_ns),
    /* of its zone */
    WORLD("muster_zone", zone.number), ZONE(epoch), WORLD("muster_zone_birth_space", zone.space),
    WORLD("muster_zone_birth_spaces_used", zone.spaces_used), ZONE(ids_resting), ZONE(frozen), ZONE(ghosts),
    WORLD("muster_zone_parcels_waiting", zone.waiting), ZONE_TOTAL(departed), ZONE_TOTAL(arrived), ZONE_TOTAL(refused),
    WORLD("muster_zone_messages_sent_total", zone.sent), WORLD("muster_zone_messages_delivered_total", zone.delivered),
    WORLD("muster_zone_messages_lost_total", zone.lost)};

static const shown_row band_rows[] = {
    /* how many */
    BAND("muster_band_agents", agents), BAND("muster_band_agents_beyond_wish", agents_beyond_wish),
    /* how often */
    BAND("muster_band_wanted_period_seconds", wanted_ns), BAND("muster_band_period_seconds", period_ns),
    BAND("muster_band_interval_seconds", interval_ns), BAND("muster_band_agent_seconds_total", agent_time_ns),
    BAND("muster_band_updates_total", completed)};

static const shown_row cost_rows[] = {
    COST("muster_type_agents", agents),
    COST("muster_type_update_mean_seconds", mean_ns),
    COST("muster_type_update_p95_seconds", high_ns),
    COST("muster_type_elapsed_load", elapsed_load),
    COST("muster_type_updates_timed_total", samples),
};

static const shown_row daemon_rows[] = {
    /* of its process */
    DAEMON("process_start_time_seconds", started_s), DAEMON("process_cpu_seconds_total", cpu_s),
    DAEMON("process_resident_memory_bytes", resident_bytes), DAEMON("process_open_fds", open_files),
    DAEMON("process_max_fds", files_max),
    /* of its requests */
    DAEMON("muster_workers", workers), DAEMON("muster_mailbox_requests_total", mailbox.run),
    DAEMON("muster_mailbox_refused_total", mailbox.refused), DAEMON("muster_mailbox_waiting", mailbox.waiting),
    DAEMON("muster_mailbox_held", mailbox.held), DAEMON("muster_http_connections", http.open),
    DAEMON("muster_http_connections_total", http.connections), DAEMON("muster_http_connections_cut_total", http.cut),
    DAEMON("muster_http_answers_waiting_bytes", http.answers_waiting),
    /* of its snapshots */
    DAEMON("muster_snapshots_total", snapshots.written), DAEMON("muster_snapshots_failed_total", snapshots.failed),
    DAEMON("muster_snapshot_running", snapshots.running), DAEMON("muster_snapshot_pause_seconds", snapshots.pause_ns),
    DAEMON("muster_snapshot_bytes", snapshots.bytes), DAEMON("muster_snapshot_duration_seconds", snapshots.write_ns)};

/* Looked at below by the functions of their own. */
static const char *const other_families[] = {
    /* of the daemon */
    "muster_build_info", "muster_worlds", "muster_http_requests_total", "muster_snapshot_age_seconds",
    "muster_crashes_total",
    /* of worlds */
    "muster_world_info", "muster_frame_age_seconds", "muster_frame_seconds", "muster_overrun_seconds",
    "muster_overrun_own_seconds", "muster_stage_seconds", "muster_update_seconds", "muster_level_agents",
    "muster_staleness_seconds", "muster_age_seconds", "muster_module_walkers", "muster_module_walks_total"};

/* ----------------------------------------------------------------------------------------------------------- values */

/* What a family shows of a value: fields are nanoseconds where the name says seconds. */
static double shown(const shown_row *row, double value) {
  bool seconds = strstr(row->name, "_seconds") && strncmp(row->name, "process_", 8) != 0;
  return seconds ? value / 1e9 : value;
}

static const muster_module_metric metrics_of_walkers[] = {
    {"walkers", MUSTER_MODULE_GAUGE, "Walkers now."},
    {"walks_total", MUSTER_MODULE_COUNTER, "Walks that ended."},
    {0},
};
static const muster_module walkers = {.metrics = metrics_of_walkers};

enum { WORLDS = 2, TYPES = 2, PARTS = 2, PART_ROWS = 2 };

/* What is rendered, and the text. */
static struct {
  metrics_facts facts;
  metrics_world worlds[WORLDS];
  metrics_crash crashes[2];
  struct exposition text;
  char *whole;
} here;

static uint64_t number_of_band(uint32_t world, uint32_t band, uint64_t row) {
  return 1000 + (world * MUSTER_BANDS + band) * COUNT_OF(band_rows) + row;
}

static uint64_t number_of_cost(uint32_t world, uint32_t type, uint32_t level, uint64_t row) {
  return 2000 + ((world * TYPES + type) * WORLD_LEVELS + level) * COUNT_OF(cost_rows) + row;
}

static uint64_t number_of_timing(uint32_t world, uint32_t which) {
  return 5000 + world * 100 + which;
}

static void fill_timing(struct timing *timing, uint64_t number) {
  timing->sum_ns = number;
  for (uint32_t i = 0; i < TIMING_BUCKETS; i++) timing->counts[i] = number + i;
}

static void fill_parts(world_published *published, uint32_t world) {
  published->part_count = PARTS;
  for (uint32_t part = 0; part < PARTS; part++) {
    published_part *to = &published->parts[part];
    *to = (published_part){.module = "walkers", .tables = &walkers};
    snprintf(to->instance, sizeof to->instance, "part%u", part);
    for (uint32_t row = 0; row < PART_ROWS; row++) to->metrics[row] = 10 * world + 100 * part + 1000 * row + 0.5;
  }
}

static void fill_world(metrics_world *to, uint32_t world) {
  world_published *published = &to->published;
  published->report = muster_frame_report_default();
  published->statistics = muster_statistics_default();
  rows_fill(world_rows, COUNT_OF(world_rows), published, 200 * world);
  for (uint32_t band = 0; band < MUSTER_BANDS; band++) {
    muster_band *one = &published->statistics.bands[band];
    rows_fill(band_rows, COUNT_OF(band_rows), one, number_of_band(world, band, 0));
    const uint64_t first = 1000 * world + 10 * band + 1;
    one->staleness = (muster_quantiles){first, first + 1, first + 2};
    one->age = (muster_quantiles){first + 3, first + 4, first + 5};
  }
  published->type_count = TYPES;
  for (uint32_t type = 0; type < TYPES; type++) {
    snprintf(published->types[type].name, NAME_BYTES, "type%u", type);
    for (uint32_t level = 0; level < WORLD_LEVELS; level++)
      rows_fill(cost_rows, COUNT_OF(cost_rows), &published->types[type].costs[level],
                number_of_cost(world, type, level, 0));
  }
  fill_timing(&published->timings.frame, number_of_timing(world, 20));
  fill_timing(&published->timings.overrun_wall, number_of_timing(world, 21));
  fill_timing(&published->timings.overrun_own, number_of_timing(world, 22));
  for (uint32_t i = 0; i < MUSTER_STAGES; i++)
    fill_timing(&published->timings.stages[i], number_of_timing(world, 30 + i));
  published->statistics.update_times_ns = number_of_timing(world, 50);
  for (uint32_t i = 0; i < MUSTER_UPDATE_TIMES; i++) published->statistics.update_times[i] = world + i + 1;
  for (uint32_t i = 0; i < MUSTER_LEVELS; i++) published->report.levels[i] = 70 + 10 * world + i;
  published->frame_end_ns = 1000000000 * (uint64_t)(world + 1);
  fill_parts(published, world);
}

static void fill(void) {
  static const char *const names[] = {"west", "east"}, *const modules[] = {"wildlife", "townsfolk"};
  here.facts = (metrics_facts){.version = "1.2.3",
                               .now_ns = 9000000000,
                               .unix_s = 1.7e9 + 60,
                               .snapshots = {.enabled = true, .written_at = 1700000000},
                               .world_count = WORLDS,
                               .worlds = here.worlds,
                               .crash_count = 2,
                               .crashes = here.crashes};
  here.crashes[0] = (metrics_crash){"west", "wolf", 11};
  here.crashes[1] = (metrics_crash){"east", "hare", 12};
  rows_fill(daemon_rows, COUNT_OF(daemon_rows), &here.facts, 600);
  for (uint32_t i = 1; i < COUNT_OF(here.facts.http.answers); i++) here.facts.http.answers[i] = 40 + i;
  for (uint32_t world = 0; world < WORLDS; world++) {
    here.worlds[world].name = names[world];
    here.worlds[world].module = modules[world];
    fill_world(&here.worlds[world], world);
  }
}

static void render(void) {
  exposition_free(&here.text);
  free(here.whole);
  metrics_render(&here.text, &here.facts);
  cr_assert_not(here.text.failed);
  here.whole = malloc(here.text.bytes + 2);
  cr_assert_not_null(here.whole);
  here.whole[0] = '\n'; /* a sample begins behind one */
  memcpy(here.whole + 1, here.text.text, here.text.bytes);
  here.whole[here.text.bytes + 1] = '\0';
}

static void begin(void) {
  fill();
  render();
}

static void end(void) {
  exposition_free(&here.text);
  free(here.whole);
  here.whole = NULL;
}

TestSuite(metrics_rows, .init = begin, .fini = end);

/* A sample of a text, by its name and labels in the manner of printf. */
#define EXPECT_SAMPLE(text, wanted, ...) expect_sample(text, wanted, formed(__VA_ARGS__))
#define EXPECT_SHOWN(wanted, ...)        EXPECT_SAMPLE(here.whole, wanted, __VA_ARGS__)

/* ------------------------------------------------------------------------------------------------------------ tests */

Test(metrics_rows, of_a_world_have_each_its_own_value) {
  for (uint32_t world = 0; world < WORLDS; world++)
    for (size_t i = 0; i < COUNT_OF(world_rows); i++)
      EXPECT_SHOWN(shown(&world_rows[i], row_value(&world_rows[i], 200 * world + i)), "%s{world=\"%s\"}",
                   world_rows[i].name, here.worlds[world].name);
}

/* A switch has two values, so each is set alone. */
static void expect_switches(const shown_row *rows, size_t count, void *whole, const char *labels) {
  for (size_t i = 0; i < count; i++) {
    if (rows[i].kind != ROW_SWITCH) continue;
    row_put(&rows[i], whole, 1);
    render();
    for (size_t k = 0; k < count; k++)
      if (rows[k].kind == ROW_SWITCH) EXPECT_SHOWN(k == i, "%s%s", rows[k].name, labels);
    row_put(&rows[i], whole, 0);
  }
}

Test(metrics_rows, that_are_switches_are_each_their_own) {
  expect_switches(world_rows, COUNT_OF(world_rows), &here.worlds[1].published, "{world=\"east\"}");
  expect_switches(daemon_rows, COUNT_OF(daemon_rows), &here.facts, "");
}

Test(metrics_rows, of_bands_have_each_its_own_value) {
  static const char *const ends[MUSTER_BANDS] = {"0", "0.25", "0.5", "0.75", "1"};
  for (uint32_t world = 0; world < WORLDS; world++)
    for (uint32_t band = 0; band < MUSTER_BANDS; band++) {
      const char *labels = formed("world=\"%s\",band=\"%s\"", here.worlds[world].name, ends[band]);
      for (size_t i = 0; i < COUNT_OF(band_rows); i++)
        EXPECT_SHOWN(shown(&band_rows[i], row_value(&band_rows[i], number_of_band(world, band, i))), "%s{%s}",
                     band_rows[i].name, labels);
      static const char *const families[] = {"muster_staleness_seconds", "muster_age_seconds"};
      static const char *const quantiles[] = {"0.5", "0.99", "1"};
      for (uint32_t i = 0; i < 6; i++)
        EXPECT_SHOWN((1000 * world + 10 * band + 1 + i) / 1e9, "%s{%s,quantile=\"%s\"}", families[i / 3], labels,
                     quantiles[i % 3]);
    }
}

Test(metrics_rows, of_types_have_each_its_own_value) {
  for (uint32_t world = 0; world < WORLDS; world++)
    for (uint32_t type = 0; type < TYPES; type++)
      for (uint32_t level = 0; level < WORLD_LEVELS; level++)
        for (size_t i = 0; i < COUNT_OF(cost_rows); i++)
          EXPECT_SHOWN(shown(&cost_rows[i], row_value(&cost_rows[i], number_of_cost(world, type, level, i))),
                       "%s{world=\"%s\",type=\"type%u\",level=\"%u\"}", cost_rows[i].name, here.worlds[world].name,
                       type, level);
}

/* A type has a level where agents are, and where some were; not where there never was one. */
Test(metrics_rows, of_a_level_are_there_for_agents_or_for_samples) {
  muster_type_cost *costs = here.worlds[0].published.types[0].costs;
  costs[0].samples = costs[2].samples = 0;
  costs[1].agents = costs[2].agents = 0;
  render();
  EXPECT_SHOWN(costs[0].agents, "muster_type_agents{world=\"west\",type=\"type0\",level=\"0\"}");
  EXPECT_SHOWN((double)costs[1].samples, "muster_type_updates_timed_total{world=\"west\",type=\"type0\",level=\"1\"}");
  cr_expect_null(strstr(here.whole, "{world=\"west\",type=\"type0\",level=\"2\"}"));
}

static void expect_timing(const char *family, const char *labels, uint64_t number) {
  EXPECT_SHOWN((double)number / 1e9, "%s_sum{%s}", family, labels);
  EXPECT_SHOWN((double)(TIMING_BUCKETS * number + TIMING_BUCKETS * (TIMING_BUCKETS - 1) / 2), "%s_count{%s}", family,
               labels);
  EXPECT_SHOWN((double)(2 * number + 1), "%s_bucket{%s,le=\"2.5e-05\"}", family, labels);
}

Test(metrics_rows, of_times_have_each_their_own_sums) {
  static const char *const stages[MUSTER_STAGES] = {"intake",  "score", "fold", "fit",
                                                    "release", "rank",  "run",  "commit"};
  for (uint32_t world = 0; world < WORLDS; world++) {
    const char *labels = formed("world=\"%s\"", here.worlds[world].name);
    expect_timing("muster_frame_seconds", labels, number_of_timing(world, 20));
    expect_timing("muster_overrun_seconds", labels, number_of_timing(world, 21));
    expect_timing("muster_overrun_own_seconds", labels, number_of_timing(world, 22));
    EXPECT_SHOWN((double)number_of_timing(world, 50) / 1e9, "muster_update_seconds_sum{%s}", labels);
    EXPECT_SHOWN(2 * world + 3.0, "muster_update_seconds_bucket{%s,le=\"2.56e-07\"}", labels);
    for (uint32_t i = 0; i < MUSTER_STAGES; i++) {
      labels = formed("world=\"%s\",stage=\"%s\"", here.worlds[world].name, stages[i]);
      expect_timing("muster_stage_seconds", labels, number_of_timing(world, 30 + i));
    }
  }
}

Test(metrics_rows, with_labels_of_their_own_are_each_their_own) {
  for (uint32_t world = 0; world < WORLDS; world++) {
    const char *name = here.worlds[world].name;
    EXPECT_SHOWN(1, "muster_world_info{world=\"%s\",module=\"%s\"}", name, here.worlds[world].module);
    EXPECT_SHOWN(8.0 - world, "muster_frame_age_seconds{world=\"%s\"}", name);
    for (uint32_t i = 0; i < MUSTER_LEVELS; i++)
      EXPECT_SHOWN(70 + 10 * world + i, "muster_level_agents{world=\"%s\",level=\"%u\"}", name, i);
    for (uint32_t part = 0; part < PARTS; part++)
      for (uint32_t row = 0; row < PART_ROWS; row++)
        EXPECT_SHOWN(10 * world + 100 * part + 1000 * row + 0.5,
                     "muster_module_%s{world=\"%s\",module=\"walkers\",instance=\"part%u\"}",
                     metrics_of_walkers[row].name, name, part);
  }
  EXPECT_SHOWN(11, "muster_crashes_total{world=\"west\",type=\"wolf\"}");
  EXPECT_SHOWN(12, "muster_crashes_total{world=\"east\",type=\"hare\"}");
}

Test(metrics_rows, of_the_process_have_each_its_own_value) {
  for (size_t i = 0; i < COUNT_OF(daemon_rows); i++)
    EXPECT_SHOWN(shown(&daemon_rows[i], row_value(&daemon_rows[i], 600 + i)), "%s", daemon_rows[i].name);
  for (uint32_t i = 1; i < COUNT_OF(here.facts.http.answers); i++)
    EXPECT_SHOWN(40 + i, "muster_http_requests_total{code=\"%uxx\"}", i);
  EXPECT_SHOWN(WORLDS, "muster_worlds");
  EXPECT_SHOWN(60, "muster_snapshot_age_seconds");
}

static bool is_of(const shown_row *rows, size_t count, const char *name) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(rows[i].name, name) == 0) return true;
  return false;
}

static bool is_other(const char *name) {
  for (size_t i = 0; i < COUNT_OF(other_families); i++)
    if (strcmp(other_families[i], name) == 0) return true;
  return false;
}

Test(metrics_rows, are_all_looked_at_here) {
  char name[128];
  size_t families = 0;
  for (const char *at = here.whole; (at = strstr(at, "\n# TYPE ")) != NULL; at++) {
    cr_assert_eq(sscanf(at, "\n# TYPE %127s", name), 1);
    families++;
    cr_expect(is_of(world_rows, COUNT_OF(world_rows), name) || is_of(band_rows, COUNT_OF(band_rows), name) ||
                  is_of(cost_rows, COUNT_OF(cost_rows), name) || is_of(daemon_rows, COUNT_OF(daemon_rows), name) ||
                  is_other(name),
              "no test gives %s a value of its own: add a row", name);
  }
  cr_expect_eq(families, COUNT_OF(world_rows) + COUNT_OF(band_rows) + COUNT_OF(cost_rows) + COUNT_OF(daemon_rows) +
                             COUNT_OF(other_families));
}

/* ---------------------------------------------------------------------------------------------- a supervisor's own */

Test(metrics_rows_of_processes, have_each_its_own_value) {
  static const char *const states[] = {"waiting", "starting", "running", "stopping", "ended", "failed"},
                           *const ends[] = {"none", "status", "signal", "stuck", "unstarted"};
  static struct settings settings = {.crash_window_ns = UINT64_MAX};
  SCOPED(free_memory) struct processes *processes = calloc(1, sizeof *processes);
  cr_assert_not_null(processes);
  processes->settings = &settings;
  processes->count = 2;
  for (uint32_t i = 0; i < processes->count; i++) {
    world_process *process = &processes->worlds[i];
    process->all = processes;
    snprintf(process->name, sizeof process->name, "world%u", i);
    process->state = (process_state)(PROCESS_RUNNING + i);
    process->last_end = (process_end)(PROCESS_END_SIGNAL + i);
    process->starts = 21 + i;
    process->refused = 31 + i; /* of the present process alone */
    process->refused_total = 41 + i;
    process->restarts.count = 5 + i;
  }
  SCOPED(free_memory) char *text = NULL;
  size_t bytes;
  FILE *out = open_memstream(&text, &bytes);
  cr_assert_not_null(out);
  fputc('\n', out);
  states_write_metrics(processes, out);
  cr_assert_eq(fclose(out), 0);
  for (uint32_t i = 0; i < processes->count; i++) {
    for (uint32_t state = 0; state <= PROCESS_FAILED; state++)
      EXPECT_SAMPLE(text, state == PROCESS_RUNNING + i, "muster_world_process_state{world=\"world%u\",state=\"%s\"}", i,
                    states[state]);
    for (uint32_t kind = 0; kind < PROCESS_ENDS; kind++)
      EXPECT_SAMPLE(text, kind == PROCESS_END_SIGNAL + i,
                    "muster_world_process_last_end{world=\"world%u\",kind=\"%s\"}", i, ends[kind]);
    EXPECT_SAMPLE(text, 21 + i, "muster_world_process_starts_total{world=\"world%u\"}", i);
    EXPECT_SAMPLE(text, 41 + i, "muster_world_process_refused_calls_total{world=\"world%u\"}", i);
    EXPECT_SAMPLE(text, 5 + i, "muster_world_process_ends{world=\"world%u\"}", i);
  }
}

/* `muster bench`, as the program tells it: structure and plausibility of the rows. How fast anything is, is not tested:
 * the machine that tests is busy with other tests. */
#include "program.h"

/* The row of a system and a measure, or null. */
static json_t *row_of(json_t *json, const char *system, const char *measure) {
  return program_find(program_member(json, "rows"), "system", system, "measure", measure);
}

/* Everything takes time, but what is left of CPU time when the work is taken off may come out as nothing or less. */
static void expect_plausible(json_t *row) {
  const char *measure = program_text(row, "measure");
  double p50 = program_number(row, "p50"), p99 = program_number(row, "p99"), max = program_number(row, "max");
  bool more_is_better = program_true(row, "more_is_better");
  cr_expect(isfinite(p50) && isfinite(p99) && isfinite(max));
  cr_expect_geq(program_number(row, "n"), 1);
  cr_expect_geq(program_number(row, "workers"), 1);
  cr_expect_gt(strlen(program_text(row, "unit")), 0);
  cr_expect(more_is_better ? p50 >= p99 && p99 >= max : p50 <= p99 && p99 <= max, "%s: %g, %g, %g", measure, p50, p99,
            max);
  cr_expect(strstr(measure, "cpu") || max > 0, "%s: max is %g", measure, max);
  cr_expect(!more_is_better || p50 > 0, "%s: p50 is %g", measure, p50);
}

static void expect_plausible_rows(json_t *json) {
  cr_assert_gt(json_array_size(program_member(json, "rows")), 0);
  PROGRAM_EACH(i, row, program_member(json, "rows")) expect_plausible(row);
  program_list(json, "failures", 0);
  cr_expect_leq(program_amount(json, "others_cpu_share"), 1);
  cr_expect_leq(program_amount(json, "stolen_cpu_share"), 1);
  cr_expect_geq(program_number(json, "processors"), 1);
}

static const char *const peers[] = {"tbb", "openmp", "glib", "libuv"};

enum { PEERS = COUNT_OF(peers) };

/* Whether a system is there, with its name and its convention. */
static bool has_system(json_t *json, const char *key) {
  json_t *system = program_find(program_member(json, "systems"), "system", key, NULL, NULL);
  return system && strlen(program_text(system, "name")) > 0 && strlen(program_text(system, "convention")) > 0;
}

/* Every peer is either there, as it comes and at its best, or named as absent, with its packages. */
static void expect_peers_to_be_accounted_for(json_t *json) {
  for (size_t i = 0; i < PEERS; i++) {
    size_t found = has_system(json, peers[i]);
    const char *best = formed("%s-best", peers[i]);
    cr_expect_eq(has_system(json, best), found, "%s is there without %s", best, peers[i]);
    PROGRAM_EACH(j, system, program_member(json, "absent")) {
      found += program_has_text(system, "system", peers[i]) && strlen(program_text(system, "packages")) > 0 &&
               strlen(program_text(system, "reason")) > 0;
    }
    cr_expect_eq(found, 1, "%s is found %zu times", peers[i], found);
  }
}

/* What a peer can do as it comes, it can do at its best. */
static void expect_a_best_row_for_each_row_of_a_peer(json_t *json) {
  PROGRAM_EACH(i, row, program_member(json, "rows")) {
    for (size_t peer = 0; peer < PEERS; peer++) {
      const char *measure = program_text(row, "measure");
      if (strcmp(program_text(row, "system"), peers[peer]) != 0) continue;
      const char *best = formed("%s-best", peers[peer]);
      json_t *other = row_of(json, best, measure);
      cr_assert_not_null(other, "%s has no row %s", best, measure);
      cr_expect_str_eq(program_text(other, "unit"), program_text(row, "unit"));
    }
  }
}

/* The document of a bench, in which Muster has rows of all these measures. */
static json_t *measured(const char *line, const char *const *measures, size_t count) {
  json_t *json = program_json(line);
  expect_plausible_rows(json);
  expect_peers_to_be_accounted_for(json);
  expect_a_best_row_for_each_row_of_a_peer(json);
  for (size_t i = 0; i < count; i++)
    cr_expect_not_null(row_of(json, "muster", measures[i]), "muster has no row %s", measures[i]);
  return json;
}

Test(bench, of_dispatch_measures_every_row_of_muster_and_the_references) {
  static const char *const measures[] = {"submit",           "parallel-for", "claim",          "claim-shared-writes",
                                         "queue-claims",     "start-warm",   "start-parked",   "idle-cpu",
                                         "efficiency-frame", "frame-cpu",    "frame-idle-cpu", "efficiency-1us-jobs",
                                         "efficiency-skewed"};
  json_auto_t *json = measured("bench dispatch --quick --workers 2 --json -", measures, COUNT_OF(measures));
  cr_expect_not_null(row_of(json, "unpinned", "efficiency-frame"));
  cr_expect_not_null(row_of(json, "futex", "start-parked"));
  cr_expect_not_null(row_of(json, "futex-pin", "start-parked"));
  cr_expect_not_null(row_of(json, "split", "efficiency-frame"));
  cr_expect_not_null(row_of(json, "alone", "frame-idle-cpu"));
}

Test(bench, of_priority_measures_every_row_of_muster) {
  static const char *const measures[] = {"urgent-from-outside", "urgent-from-inside", "urgent-behind-range",
                                         "submit-all-levels"};
  json_auto_t *json = measured("bench priority --quick --workers 2 --json -", measures, COUNT_OF(measures));
}

Test(bench, sweeps_over_numbers_of_workers_and_counts_shared_writes) {
  static const char *const measures[] = {"submit", "parallel-for", "claim", "claim-shared-writes", "queue-claims"};
  bool seen[4][5] = {{false}};
  json_auto_t *json = program_json("bench dispatch --quick --workers 1..3 --rounds 2 --json -");
  expect_plausible_rows(json);
  PROGRAM_EACH(i, row, program_member(json, "rows")) {
    size_t workers = (size_t)program_number(row, "workers");
    cr_assert(workers >= 1 && workers <= 3);
    cr_expect_str_eq(program_text(row, "system"), "muster");
    for (size_t m = 0; m < 5; m++) seen[workers][m] |= strcmp(program_text(row, "measure"), measures[m]) == 0;
    /* One fetch-add for eight updates; the opening store and one late look per worker come on top. */
    if (strcmp(program_text(row, "measure"), "claim-shared-writes") == 0)
      cr_expect(program_number(row, "p50") >= 0.125 && program_number(row, "max") < 0.126);
  }
  for (size_t workers = 1; workers <= 3; workers++)
    for (size_t m = 0; m < 5; m++) cr_expect(seen[workers][m], "%zu workers have no row %s", workers, measures[m]);
}

Test(bench, names_the_peers_that_are_absent_and_how_to_get_them) {
  PROGRAM_EXPECT_PRINTS("bench dispatch --quick --workers 2 --measure submit --peers /nowhere",
                        "tbb          absent (oneTBB)", "openmp       absent", "glib         absent",
                        "libuv        absent", "tools/setup --peers");
  json_auto_t *json = program_json("bench dispatch --quick --workers 2 --measure submit --peers /nowhere --json -");
  program_list(json, "absent", 4);
  expect_peers_to_be_accounted_for(json);
}

Test(bench, prints_a_table_that_says_who_is_ahead) {
  SCOPED_RUN *run = program_good("bench dispatch --quick --workers 2 --measure efficiency-frame,submit");
  PROGRAM_EXPECT_SAYS(run->output, "submit and run an empty job", "frame test: CPU in it beyond the work",
                      "caller counted");
  cr_expect(strstr(run->output, "parallel-for") == NULL || strstr(run->output, "parallel-for, grain 1") == NULL);
}

/* Beside whom nobody stands, nobody is ahead of. */
Test(bench, prints_no_verdicts_of_muster_alone) {
  program_run *run = program_start("bench dispatch --quick --workers 2 --only muster --measure submit");
  cr_assert_eq(run->status, 0, "%s", run->errors);
  cr_expect(strstr(run->output, "submit and run an empty job") != NULL, "%s", run->output);
  cr_expect(strstr(run->output, "muster is") == NULL, "%s", run->output);
  free(run);
}

Test(bench, refuses_what_it_does_not_know_in_one_line) {
  PROGRAM_EXPECT_REFUSALS(
      {"bench", 2, "give a bench, such as `muster bench dispatch`"}, {"bench dispach", 2, "did you mean 'dispatch'"},
      {"bench speed", 2, "unknown bench 'speed'; did you mean 'sweep'? Known: dispatch, priority"},
      {"bench dispatch priority", 2, "one bench at a time: 'priority' is too many"},
      {"bench dispatch --workers 0", 2, "--workers is '0'"}, {"bench dispatch --workers 257", 2, "from 1 to 256"},
      {"bench dispatch --workers 1..", 2, "--workers is ''"}, {"bench dispatch --workers ..4", 2, "--workers is ''"},
      {"bench dispatch --workers 3..2", 2, "from 3 to 256"}, {"bench dispatch --rounds 0", 2, "--rounds is '0'"},
      {"bench dispatch --rounds 65", 2, "from 1 to 64"},
      {"bench dispatch --only tbx", 2, "unknown system 'tbx'; did you mean 'tbb'"},
      {"bench dispatch --only muster,", 2, "unknown system ''"},
      {"bench dispatch --measure submitt", 2, "did you mean 'submit'"},
      {"bench priority --measure submit", 2, "unknown measure 'submit'"},
      {"bench priority --workers 1..2", 2, "give one number to --workers"},
      {"bench dispatch --workers 1 --measure start-warm", 2, "needs at least 2 workers"},
      {"bench dispatch --quick=yes", 2, "takes no value"}, {"bench dispatch --speed", 2, "unknown option --speed"},
      {"bench dispatch --quick --only tbb --peers /nowhere", 1, "tbb is absent: there is no /nowhere/peer_tbb.so"},
      {"bench dispatch --quick --only tbb-best --peers /nowhere", 1, "tbb is absent: there is no /nowhere/peer_tbb.so"},
      {"bench dispatch --json /nowhere/r.json", 1, "cannot write '/nowhere/r.json'"});
}

Test(bench, explains_every_figure_in_its_help) {
  SCOPED_RUN *run = program_good("bench --help");
  PROGRAM_EXPECT_SAYS(run->output, "usage: muster bench NAME", "claim-shared-writes is counted, not timed");
  cr_expect(run->errors[0] == '\0');
}

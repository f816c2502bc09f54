/* What the reproduction of Wright & Marshall must show. Their numbers of agents are those of their machine: what is
 * asked for is the order of the versions and the ratio. Overheads are shown, not judged: they are the wall clock's. */
#include "wright.h"

static void check_table2(const wright_results *results, repro_checks *checks) {
  static const char *const names[WRIGHT_COUNTS] = {"4, 6, 8: two", "4, 6, 8: three", "3, 5, 7: two", "3, 5, 7: three"};
  for (int i = 0; i < WRIGHT_COUNTS; i++)
    repro_check_that(checks, results->counts[i] == wright_published[i], "Table 2: %s processes in %u frames (%u)",
                     names[i], wright_published[i], results->counts[i]);
}

static uint32_t most_of(const uint32_t *values) {
  uint32_t most = 0;
  for (int i = WRIGHT_FRAMES / 2; i < WRIGHT_FRAMES; i++) most = values[i] > most ? values[i] : most;
  return most;
}

static void check_peaks(const wright_results *results, repro_checks *checks) {
  uint32_t before = most_of(results->peaks.before), after = most_of(results->peaks.after);
  repro_check_that(checks, 2 * after <= before, "delays of up to %d frames halve the peak of P(t) or better (%u to %u)",
                   WRIGHT_DELAY, before, after);
}

static void check_ratio(uint32_t delayed, uint32_t unscheduled, const char *until, repro_checks *checks) {
  repro_check_that(checks, delayed >= 2.5 * unscheduled,
                   "%s scheduled with delay serves 2.5 times the agents of unscheduled (%.2f; paper: %.2f)", until,
                   (double)delayed / unscheduled, (double)WRIGHT_SERVED / WRIGHT_BASE);
}

static void check_versions(const wright_results *results, repro_checks *checks) {
  const wright_row *rows = results->rows, *unscheduled = &rows[WRIGHT_UNSCHEDULED], *delayed = &rows[WRIGHT_DELAYED];
  repro_check_that(checks, rows[WRIGHT_NAIVE].agents < unscheduled->agents,
                   "unscheduled serves more agents than naive (%u; %u)", unscheduled->agents,
                   rows[WRIGHT_NAIVE].agents);
  repro_check_that(checks, rows[WRIGHT_SCHEDULED].agents > unscheduled->agents,
                   "scheduled serves more than unscheduled (%u; %u)", rows[WRIGHT_SCHEDULED].agents,
                   unscheduled->agents);
  repro_check_that(checks, delayed->agents > rows[WRIGHT_SCHEDULED].agents,
                   "scheduled with delay serves more than without (%u; %u)", delayed->agents,
                   rows[WRIGHT_SCHEDULED].agents);
  check_ratio(delayed->agents, unscheduled->agents, "before degradation,", checks);
  check_ratio(delayed->untroubled, unscheduled->untroubled, "before anything is missed,", checks);
  for (int i = 0; i < WRIGHT_VERSIONS; i++)
    repro_check_that(checks, !wright_versions[i].managed || rows[i].crowd.peak_load <= 1.02,
                     "%s: with too many agents %s frame is over its budget (%.2f)", wright_versions[i].name,
                     wright_versions[i].managed ? "no" : "a", rows[i].crowd.peak_load);
}

/* Periods that give way take from what is missed, and more workers serve more. */
static void check_ours(const wright_results *results, repro_checks *checks) {
  const wright_row *rows = results->rows;
  double fixed = rows[WRIGHT_DELAYED].crowd.missed_last, elastic = rows[WRIGHT_OURS].crowd.missed_last;
  repro_check_that(checks, elastic < 0.75 * fixed,
                   "with too many agents, elastic periods soon save a quarter of what is missed (%.1f to %.1f %%)",
                   fixed * 100, elastic * 100);
  for (int i = WRIGHT_OURS + 1; i < WRIGHT_VERSIONS; i++)
    repro_check_that(checks, rows[i].agents >= 1.6 * rows[i - 1].agents, "%s: %.2f times the agents of %s (%u; %u)",
                     wright_versions[i].name, (double)rows[i].agents / rows[i - 1].agents, wright_versions[i - 1].name,
                     rows[i].agents, rows[i - 1].agents);
}

void wright_check(const wright_results *results, repro_checks *checks) {
  check_table2(results, checks);
  check_peaks(results, checks);
  check_versions(results, checks);
  check_ours(results, checks);
}

/* What the reproduction of Osborne & Dickinson must show. Their milliseconds are those of their machine; asked for are
 * the share that remains with level of detail, and their bound for a million agents, kept by a quarter of a billion. */
#include "osborne.h"

#include "text.h"

#include <stdio.h>

enum { MILLION = 1 << 20, BYTES_FOLDED = 24, BYTES_UNFOLDED = 1126 /* 1.1 KiB */ };

static const uint64_t quarter_billion = 1u << 28;
static const double published_share = 0.01, published_ms = 100;

static void check_counts(const osborne_results *results, repro_checks *checks) {
  const osborne_comparison *compare = &results->compare;
  char agents[TEXT_BYTES];
  repro_check_that(checks, compare->complete, "%s agents are represented in each of %u cycles",
                   text_count(agents, compare->counts.agents), compare->cycles);
  repro_check_that(checks, compare->leaves_most < compare->counts.agents / 4 && compare->leaves_least > 0,
                   "simulated are few of them: %u to %u leaves", compare->leaves_least, compare->leaves_most);
  repro_check_that(checks, compare->counts.folds > 0 && compare->counts.unfolds > 0,
                   "herds fold and unfold meanwhile (%llu; %llu times)", (unsigned long long)compare->counts.folds,
                   (unsigned long long)compare->counts.unfolds);
  repro_check_that(checks, compare->counts.changed_in_sight == 0, "never where the player could see it (%llu times)",
                   (unsigned long long)compare->counts.changed_in_sight);
}

static void check_sizes(const osborne_results *results, repro_checks *checks) {
  uint32_t sizes = 0, complete = 0;
  uint64_t refused = 0;
  for (int k = 0; k < OSBORNE_DOUBLINGS; k++)
    for (uint32_t i = 0; i < results->doublings[k].sizes; i++) {
      sizes++;
      complete += results->doublings[k].rows[i].complete;
      refused += results->doublings[k].rows[i].counts.refused;
    }
  repro_check_that(checks, complete == sizes, "in each of %u sizes, all agents are represented in each cycle", sizes);
  repro_check_that(checks, refused == 0, "there is room for all that should unfold (%llu refused)",
                   (unsigned long long)refused);
}

static void check_bytes(const osborne_results *results, repro_checks *checks) {
  const osborne_doubling *same = &results->doublings[OSBORNE_SAME_SQUARE];
  const osborne_counts *last = &same->rows[same->sizes - 1].counts;
  repro_check_that(checks, last->bytes_each_folded <= BYTES_FOLDED, "a folded herd takes %d bytes at most (%.2f)",
                   BYTES_FOLDED, last->bytes_each_folded);
  repro_check_that(checks, last->bytes_each_unfolded <= BYTES_UNFOLDED,
                   "an unfolded one, beside its agents, %d at most (%.0f)", BYTES_UNFOLDED, last->bytes_each_unfolded);
}

static void check_share(const osborne_comparison *compare, repro_checks *checks) {
  double share = compare->ms[OSBORNE_WITH] / compare->ms[OSBORNE_WITHOUT_SCALAR];
  repro_check_that(checks, share < published_share,
                   "a cycle takes less than 1 %% of one without level of detail, one by one (%.3f %%; paper: < 1 %%)",
                   share * 100);
}

static void check_size(const osborne_results *results, int doubling, uint64_t agents, repro_checks *checks) {
  const osborne_size *size = osborne_size_of(&results->doublings[doubling], agents);
  char count[TEXT_BYTES], ms[TEXT_BYTES] = "not run";
  text_count(count, agents);
  if (size) snprintf(ms, sizeof ms, "%.3f ms", size->ms);
  repro_check_that(checks, size && size->ms < published_ms, "%s agents %s: a cycle takes less than %.0f ms (%s)", count,
                   doubling == OSBORNE_SAME_SQUARE ? "on the same square" : "as far apart as ever", published_ms, ms);
}

void osborne_check(const osborne_results *results, repro_checks *checks) {
  check_counts(results, checks);
  check_sizes(results, checks);
  if (results->plan.quick) return;
  check_bytes(results, checks);
  check_share(&results->compare, checks);
  check_size(results, OSBORNE_SAME_SQUARE, MILLION, checks);
  check_size(results, OSBORNE_SAME_DENSITY, quarter_billion, checks);
}

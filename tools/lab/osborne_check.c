/* What the reproduction of Osborne & Dickinson must show. Their milliseconds are those of their machine; the share that
 * remains with level of detail, and their bound for a million agents, kept by a quarter of a billion, are told beside.
 */
#include "osborne.h"

#include "text.h"

#include <math.h>

enum { MILLION = 1 << 20, BYTES_FOLDED = 24, BYTES_UNFOLDED = 1126 /* 1.1 KiB */ };

static const uint64_t quarter_billion = 1u << 28;
static const double like_share = 0.1, published_share = 0.01, published_ms = 100;

static void check_counts(const osborne_results *results) {
  const osborne_comparison *compare = &results->compare;
  repro_check_that(compare->complete, "%s agents are represented in each of %u cycles",
                   text_count(compare->counts.agents), compare->cycles);
  repro_check_that(compare->leaves_most < compare->counts.agents / 4 && compare->leaves_least > 0,
                   "simulated are few of them: %u to %u leaves", compare->leaves_least, compare->leaves_most);
  repro_check_that(compare->counts.folds > 0 && compare->counts.unfolds > 0,
                   "herds fold and unfold meanwhile (%lu; %lu times)", compare->counts.folds, compare->counts.unfolds);
  repro_check_that(compare->counts.changed_in_sight == 0, "never where the player could see it (%lu times)",
                   compare->counts.changed_in_sight);
}

/* How finely each agent is simulated; folded herds, each as one, are simulated as well. */
static void check_found(const osborne_inspection *found) {
  double cycles = found->cycles;
  repro_check_that(found->folded > 0 && found->moved == found->folded,
                   "every folded herd is moved in each cycle, which is work, too (%.1f of %.1f)",
                   (double)found->moved / cycles, (double)found->folded / cycles);
  repro_check_that(found->individuals > 0 && found->too_coarse == 0,
                   "zones: every member that the player could see is an individual (%.1f in a cycle; %lu are not)",
                   (double)found->individuals / cycles, found->too_coarse);
  repro_check_that(found->leaves > 0 && found->too_fine * 100 <= found->leaves,
                   "zones: hardly any leaf of a scattered herd is finer than its zone asks for (%lu of %lu leaves)",
                   found->too_fine, found->leaves);
}

/* Rounding is allowed, and nothing else. */
static void check_kept(const osborne_kept *kept) {
  repro_check_that(kept->folds > 100 && kept->unfolds > 100,
                   "kept: %d herds that drift fold and unfold often (%lu; %lu times)", OSBORNE_KEPT_HERDS, kept->folds,
                   kept->unfolds);
  repro_check_that(kept->members == OSBORNE_KEPT_HERDS * OSBORNE_MEMBERS, "kept: members (%lu of %d)", kept->members,
                   OSBORNE_KEPT_HERDS * OSBORNE_MEMBERS);
  repro_check_that(kept->total_lost < 0.01, "kept: a total of 1,000 by herd, within 0.01 (%.4f)", kept->total_lost);
  repro_check_that(kept->centroid_m < 0.05, "kept: each centroid within 5 cm (%.2f cm)", kept->centroid_m * 100);
  repro_check_that(kept->velocity_mps < 0.001, "kept: each momentum, by mass, within 1 mm/s (%.3f mm/s)",
                   kept->velocity_mps * 1000);
  repro_check_that(kept->bytes_unfolded == 0, "kept: no room when the player has gone and all are folded (%lu bytes)",
                   kept->bytes_unfolded);
  repro_check_that(kept->alike, "kept: the same seed gives the same children, and so the same world");
}

static void check_sizes(const osborne_results *results) {
  uint32_t sizes = 0, complete = 0;
  uint64_t refused = 0;
  for (int k = 0; k < OSBORNE_DOUBLINGS; k++)
    for (uint32_t i = 0; i < results->doublings[k].sizes; i++) {
      sizes++;
      complete += results->doublings[k].rows[i].complete;
      refused += results->doublings[k].rows[i].counts.refused;
    }
  repro_check_that(complete == sizes, "in each of %u sizes, all agents are represented in each cycle", sizes);
  repro_check_that(refused == 0, "there is room for all that should unfold (%lu refused)", refused);
}

/* Of the largest size, in which what is there once counts least; and of unfolded ones where most have folded again. */
static void check_bytes(const osborne_results *results) {
  const osborne_doubling *same = &results->doublings[OSBORNE_SAME_SQUARE];
  const osborne_counts *last = &same->rows[same->sizes - 1].counts;
  double unfolded = fmax(last->bytes_each_unfolded, results->compare.counts.bytes_each_unfolded);
  repro_check_that(last->bytes_each_folded <= BYTES_FOLDED, "a folded herd takes %d bytes at most (%.2f)", BYTES_FOLDED,
                   last->bytes_each_folded);
  repro_check_that(unfolded <= BYTES_UNFOLDED, "an unfolded one, beside its agents, %d at most (%.0f)", BYTES_UNFOLDED,
                   unfolded);
}

static void check_share(const osborne_comparison *compare) {
  double like = osborne_part(compare, OSBORNE_WITHOUT_SIMD), unlike = osborne_part(compare, OSBORNE_WITHOUT_SCALAR);
  repro_compare_that(
      like < like_share,
      "like with like, a cycle takes less than 10 %% of the CPU of one without level of detail (%.1f %%)", like * 100);
  repro_compare_that(
      unlike < published_share,
      "beside a crowd whose loops are not vectorised, less than 1 %% of its CPU (%.3f %%; paper: < 1 %%)",
      unlike * 100);
}

static void check_size(const osborne_results *results, int doubling, uint64_t agents) {
  const char *where = doubling == OSBORNE_SAME_SQUARE ? "on the same square" : "as far apart as ever";
  const osborne_doubling *sizes = &results->doublings[doubling];
  const osborne_size *size = NULL;
  for (uint32_t i = 0; i < sizes->sizes; i++)
    if (sizes->rows[i].counts.agents == agents) size = &sizes->rows[i];
  repro_check_that(size != NULL, "%s agents %s are simulated", text_count(agents), where);
  if (size)
    repro_compare_that(size->ms < published_ms, "%s agents %s: a cycle takes less than %.0f ms (%.3f ms)",
                       text_count(agents), where, published_ms, size->ms);
}

void osborne_check(const void *all) {
  const osborne_results *results = all;
  check_counts(results);
  check_found(&results->compare.found);
  check_kept(&results->kept);
  check_sizes(results);
  check_bytes(results);
  if (results->base.quick) return;
  check_share(&results->compare);
  check_size(results, OSBORNE_SAME_SQUARE, MILLION);
  check_size(results, OSBORNE_SAME_DENSITY, quarter_billion);
}

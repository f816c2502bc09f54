/* `muster repro osborne`: with and without level of detail, doubling, and the view from above. */
#include "osborne.h"

#include "complaint.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { HERDS = 2048, MOST_HERDS = 1 << 26, QUICK_HERDS = 128, QUICK_MOST = 512, QUICK_CYCLES = 20 };

static const double side_m = 4000, quick_side_m = 1000; /* as many herds per square metre */

static const char *const end_names[] = {"slow", "memory", "plan"};

static void write_comparison(json_writer *writer, const osborne_comparison *compare) {
  json_begin_object(writer, "compare");
  json_uint(writer, "agents", compare->counts.agents);
  json_number(writer, "with_ms", compare->ms[OSBORNE_WITH]);
  json_number(writer, "without_simd_ms", compare->ms[OSBORNE_WITHOUT_SIMD]);
  json_number(writer, "without_scalar_ms", compare->ms[OSBORNE_WITHOUT_SCALAR]);
  json_uint(writer, "leaves", compare->counts.leaves);
  json_uint(writer, "leaves_least", compare->leaves_least);
  json_uint(writer, "leaves_most", compare->leaves_most);
  json_uint(writer, "herds", compare->counts.herds);
  json_uint(writer, "herds_unfolded", compare->counts.unfolded);
  json_uint(writer, "workers", 1);
  json_uint(writer, "cycles", compare->cycles);
  json_number(writer, "with_mean_ms", compare->mean_ms[OSBORNE_WITH]);
  json_number(writer, "without_simd_mean_ms", compare->mean_ms[OSBORNE_WITHOUT_SIMD]);
  json_number(writer, "without_scalar_mean_ms", compare->mean_ms[OSBORNE_WITHOUT_SCALAR]);
  json_number(writer, "share_like_with_like", compare->ms[OSBORNE_WITH] / compare->ms[OSBORNE_WITHOUT_SIMD]);
  json_number(writer, "share_of_simd", compare->ms[OSBORNE_WITH] / compare->ms[OSBORNE_WITHOUT_SIMD]);
  json_number(writer, "share_of_scalar", compare->ms[OSBORNE_WITH] / compare->ms[OSBORNE_WITHOUT_SCALAR]);
  json_uint(writer, "folds", compare->counts.folds);
  json_uint(writer, "unfolds", compare->counts.unfolds);
  json_uint(writer, "changes_in_sight", compare->counts.changed_in_sight);
  json_end_object(writer);
}

static void write_found(json_writer *writer, const osborne_inspection *found) {
  json_begin_object(writer, "found");
  json_uint(writer, "cycles", found->cycles);
  json_number(writer, "folded_herds", (double)found->folded / found->cycles);
  json_number(writer, "folded_herds_moved", (double)found->moved / found->cycles);
  json_uint(writer, "leaves", found->leaves);
  json_uint(writer, "individuals", found->individuals);
  json_uint(writer, "too_coarse", found->too_coarse);
  json_uint(writer, "too_fine", found->too_fine);
  json_end_object(writer);
}

static void write_kept(json_writer *writer, const osborne_kept *kept) {
  json_begin_object(writer, "kept");
  json_uint(writer, "herds", OSBORNE_KEPT_HERDS);
  json_uint(writer, "folds", kept->folds);
  json_uint(writer, "unfolds", kept->unfolds);
  json_uint(writer, "members", kept->members);
  json_uint(writer, "bytes_unfolded_at_the_end", kept->bytes_unfolded);
  json_number(writer, "total_lost", kept->total_lost);
  json_number(writer, "centroid_off_m", kept->centroid_m);
  json_number(writer, "velocity_off_mps", kept->velocity_mps);
  json_bool(writer, "same_seed_same_world", kept->alike);
  json_end_object(writer);
}

static void write_size(json_writer *writer, const osborne_doubling *doubling, const osborne_size *size) {
  const osborne_counts *counts = &size->counts;
  json_begin_object(writer, NULL);
  json_string(writer, "square", doubling->grows ? "growing" : "same");
  json_uint(writer, "agents", counts->agents);
  json_number(writer, "side_m", size->side_m);
  json_number(writer, "ms", size->ms);
  json_uint(writer, "leaves", counts->leaves);
  json_uint(writer, "bytes", counts->bytes);
  json_uint(writer, "workers", size->workers);
  json_number(writer, "one_worker_ms", size->one_ms);
  json_number(writer, "all_workers_ms", size->all_ms);
  json_uint(writer, "cycles", size->cycles);
  json_uint(writer, "herds", counts->herds);
  json_uint(writer, "herds_unfolded", counts->unfolded);
  json_uint(writer, "bytes_folded", counts->bytes_folded);
  json_uint(writer, "bytes_unfolded", counts->bytes_unfolded);
  json_number(writer, "bytes_per_folded_herd", counts->bytes_each_folded);
  json_number(writer, "bytes_per_unfolded_herd", counts->bytes_each_unfolded);
  json_uint(writer, "unfolds_refused", counts->refused);
  json_end_object(writer);
}

/* Bytes of a herd are those of the largest size on the same square: what is there once counts least in it. */
static void write_results(json_writer *writer, const osborne_results *results) {
  const osborne_doubling *same = &results->doublings[OSBORNE_SAME_SQUARE];
  const osborne_counts *last = &same->rows[same->sizes - 1].counts;
  json_string(writer, "paper", repro_osborne.name);
  json_bool(writer, "quick", results->plan.quick);
  write_comparison(writer, &results->compare);
  json_number(writer, "published_share", 0.01);
  write_found(writer, &results->compare.found);
  write_kept(writer, &results->kept);
  json_uint(writer, "workers", results->workers);
  json_begin_array(writer, "scale");
  for (int k = 0; k < OSBORNE_DOUBLINGS; k++) {
    const osborne_doubling *doubling = &results->doublings[k];
    for (uint32_t i = 0; i < doubling->sizes; i++) write_size(writer, doubling, &doubling->rows[i]);
  }
  json_end_array(writer);
  json_string(writer, "same_square_ended", end_names[same->end]);
  json_string(writer, "same_density_ended", end_names[results->doublings[OSBORNE_SAME_DENSITY].end]);
  json_number(writer, "bytes_per_folded_herd", last->bytes_each_folded);
  json_number(writer, "bytes_per_unfolded_herd", last->bytes_each_unfolded);
}

static bool measure(osborne_results *results, const char *plots) {
  struct progress line = progress_begin();
  bool done = osborne_keep(&results->kept) && osborne_compare(&results->plan, plots, &line, &results->compare) &&
              osborne_scale(results, &line);
  progress_end(&line);
  if (!done || results->doublings[OSBORNE_SAME_DENSITY].sizes > 0) return done;
  complain_failure("osborne: there is no memory for %u herds of %d", results->plan.herds, OSBORNE_MEMBERS);
  return false;
}

static bool run_plan(osborne_plan plan, json_writer *writer, const char *plots, bool quiet, repro_checks *checks) {
  osborne_results *results = calloc(1, sizeof *results);
  if (!results) {
    complain_failure("out of memory");
    return false;
  }
  results->plan = plan;
  bool done = measure(results, plots);
  if (done) {
    osborne_check(results, checks);
    write_results(writer, results);
    if (!quiet) osborne_print(results);
    done = !plots || osborne_plot(results, plots);
  }
  free(results);
  return done;
}

static bool reproduce(json_writer *writer, const char *plots, bool quick, bool quiet, repro_checks *checks) {
  const osborne_plan whole = {
      .herds = HERDS, .most = MOST_HERDS, .side_m = side_m, .cycles = OSBORNE_CYCLES_MAX, .row_ns = 1000000000};
  const osborne_plan little = {.quick = true,
                               .herds = QUICK_HERDS,
                               .most = QUICK_MOST,
                               .side_m = quick_side_m,
                               .cycles = QUICK_CYCLES,
                               .row_ns = 100000000};
  return run_plan(quick ? little : whole, writer, plots, quiet, checks);
}

const repro_paper repro_osborne = {
    "osborne", "Osborne & Dickinson: herds (with and without folding, doubling, figures)", reproduce, NULL};

/* `muster repro osborne`: with and without level of detail, doubling, and the view from above. */
#include "osborne.h"

enum { HERDS = 2048, MOST_HERDS = 1 << 26, QUICK_HERDS = 128, QUICK_MOST = 512, QUICK_CYCLES = 20 };

enum { SIDE_M = 4000, QUICK_SIDE_M = 1000 /* as many herds per square metre */ };

static const char *const end_names[] = {"slow", "memory", "plan"};

static void write_comparison(json_writer *writer, const osborne_comparison *compare) {
  const osborne_counts *counts = &compare->counts;
  const double *ms = compare->ms, *mean_ms = compare->mean_ms, like = osborne_part(compare, OSBORNE_WITHOUT_SIMD);
  json_print(writer,
             "compare{ agents=%lu with_ms=%g without_simd_ms=%g without_scalar_ms=%g leaves=%u leaves_least=%u "
             "leaves_most=%u herds=%u herds_unfolded=%u workers=%u cycles=%u with_mean_ms=%g without_simd_mean_ms=%g "
             "without_scalar_mean_ms=%g share_like_with_like=%g share_of_simd=%g share_of_scalar=%g folds=%lu "
             "unfolds=%lu changes_in_sight=%lu }",
             counts->agents, ms[OSBORNE_WITH], ms[OSBORNE_WITHOUT_SIMD], ms[OSBORNE_WITHOUT_SCALAR], counts->leaves,
             compare->leaves_least, compare->leaves_most, counts->herds, counts->unfolded, 1, compare->cycles,
             mean_ms[OSBORNE_WITH], mean_ms[OSBORNE_WITHOUT_SIMD], mean_ms[OSBORNE_WITHOUT_SCALAR], like, like,
             osborne_part(compare, OSBORNE_WITHOUT_SCALAR), counts->folds, counts->unfolds, counts->changed_in_sight);
}

static void write_found(json_writer *writer, const osborne_inspection *found) {
  json_print(
      writer,
      "found{ cycles=%u folded_herds=%g folded_herds_moved=%g leaves=%lu individuals=%lu too_coarse=%lu too_fine=%lu }",
      found->cycles, (double)found->folded / found->cycles, (double)found->moved / found->cycles, found->leaves,
      found->individuals, found->too_coarse, found->too_fine);
}

static void write_kept(json_writer *writer, const osborne_kept *kept) {
  json_print(writer,
             "kept{ herds=%u folds=%lu unfolds=%lu members=%lu bytes_unfolded_at_the_end=%lu total_lost=%g "
             "centroid_off_m=%g velocity_off_mps=%g same_seed_same_world=%d }",
             OSBORNE_KEPT_HERDS, kept->folds, kept->unfolds, kept->members, kept->bytes_unfolded, kept->total_lost,
             kept->centroid_m, kept->velocity_mps, kept->alike);
}

static void write_size(json_writer *writer, const osborne_doubling *doubling, const osborne_size *size) {
  const osborne_counts *counts = &size->counts;
  json_print(writer,
             "{ square=%s agents=%lu side_m=%g ms=%g leaves=%u bytes=%lu workers=%u one_worker_ms=%g all_workers_ms=%g "
             "cycles=%u herds=%u herds_unfolded=%u bytes_folded=%lu bytes_unfolded=%lu bytes_per_folded_herd=%g "
             "bytes_per_unfolded_herd=%g unfolds_refused=%lu }",
             doubling->grows ? "growing" : "same", counts->agents, size->side_m, size->ms, counts->leaves,
             counts->bytes, size->workers, size->one_ms, size->all_ms, size->cycles, counts->herds, counts->unfolded,
             counts->bytes_folded, counts->bytes_unfolded, counts->bytes_each_folded, counts->bytes_each_unfolded,
             counts->refused);
}

/* Bytes of a herd are those of the largest size on the same square: what is there once counts least in it. */
static void write(const void *all, json_writer *writer) {
  const osborne_results *results = all;
  const osborne_doubling *same = &results->doublings[OSBORNE_SAME_SQUARE];
  const osborne_counts *last = &same->rows[same->sizes - 1].counts;
  json_bool(writer, "quick", results->base.quick);
  write_comparison(writer, &results->compare);
  json_number(writer, "published_share", 0.01);
  write_found(writer, &results->compare.found);
  write_kept(writer, &results->kept);
  json_print(writer, "workers=%u scale[", results->workers);
  for (int k = 0; k < OSBORNE_DOUBLINGS; k++) {
    const osborne_doubling *doubling = &results->doublings[k];
    for (uint32_t i = 0; i < doubling->sizes; i++) write_size(writer, doubling, &doubling->rows[i]);
  }
  json_print(writer, "] same_square_ended=%s same_density_ended=%s bytes_per_folded_herd=%g bytes_per_unfolded_herd=%g",
             end_names[same->end], end_names[results->doublings[OSBORNE_SAME_DENSITY].end], last->bytes_each_folded,
             last->bytes_each_unfolded);
}

static bool measure(void *all) {
  static const osborne_plan whole = {
      .herds = HERDS, .most = MOST_HERDS, .side_m = SIDE_M, .cycles = OSBORNE_CYCLES_MAX, .row_ns = 1000000000};
  static const osborne_plan little = {
      .herds = QUICK_HERDS, .most = QUICK_MOST, .side_m = QUICK_SIDE_M, .cycles = QUICK_CYCLES, .row_ns = 100000000};
  osborne_results *results = all;
  results->plan = results->base.quick ? little : whole;
  if (!osborne_keep(&results->kept) || !osborne_compare(results) || !osborne_scale(results)) return false;
  if (results->doublings[OSBORNE_SAME_DENSITY].sizes > 0) return true;
  muster_module_fail(MUSTER_E_MEMORY, "there is no memory for %u herds of %d", results->plan.herds, OSBORNE_MEMBERS);
  return false;
}

const repro_paper repro_osborne = {.name = "osborne",
                                   .summary =
                                       "Osborne & Dickinson: herds (with and without folding, doubling, figures)",
                                   .bytes = sizeof(osborne_results),
                                   .measure = measure,
                                   .check = osborne_check,
                                   .write = write,
                                   .print = osborne_print,
                                   .figures = {{"osborne-compare", 1200, 640, osborne_plot_comparison},
                                               {"osborne-scale", 1200, 760, osborne_plot_sizes}}};

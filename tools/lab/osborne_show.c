/* Osborne & Dickinson's claims and our figures as text. */
#include "osborne.h"

#include "text.h"

static const char *const way_names[OSBORNE_WAYS] = {"with level of detail", "without, eight at a time",
                                                    "without, one by one"};

/* What is aimed at on one worker, in ms; and for sizes, on all. */
static const double wanted_ms[OSBORNE_WAYS] = {0.05, 2, 0};

static const struct {
  uint64_t agents;
  double paper_ms, wanted_ms;
} claims[] = {{1u << 20, 100, 0.3}, {1u << 28, 0, 100}};

enum { CLAIMS = sizeof claims / sizeof *claims };

static const char *text_ms(double ms) {
  return ms <= 0 ? "" : text_of("%.*f", ms < 1 ? 3 : ms < 100 ? 2 : 1, ms);
}

/* Simulated with level of detail: leaves, and the folded herds, each of which moves as one. */
static void print_way(const osborne_comparison *compare, int way, const char *paper) {
  const osborne_counts *counts = &compare->counts;
  const char *agents = text_count(counts->agents), *simulated = agents;
  double ms = compare->ms[way];
  if (way == OSBORNE_WITH)
    simulated = text_of("%s + %s", text_count(counts->leaves), text_count(counts->herds - counts->unfolded));
  printf("%-26s %11s %13s %10s %10s %10s %9.2f %% %9.3f %% %8s\n", way_names[way], agents, simulated, text_ms(ms),
         text_ms(compare->mean_ms[way]), text_ms(wanted_ms[way]), 100 * ms / compare->ms[OSBORNE_WITHOUT_SIMD],
         100 * (ms / compare->ms[OSBORNE_WITHOUT_SCALAR]), paper);
}

static void print_comparison(const osborne_results *results) {
  const osborne_comparison *compare = &results->compare;
  printf(
      "Osborne & Dickinson: %s herds of %d on %g x %g km, one player; %u cycles of 500 ms on one worker, in turns\n\n"
      "Like with like, level of detail leaves %.1f %% of the CPU. Beside a crowd one by one, as the paper's, it is "
      "%.2f %%: most\nof that is our loops. Inputs from the paper: zones, flocking, numbers; ours: the ground, and the "
      "player's "
      "walk.\n\n"
      "                                agents     simulated         ms         ms     wanted    of eight      of one   "
      " "
      "paper\n"
      "                           represented                per cycle       mean         ms   at a time      by one   "
      "  "
      "    \n",
      text_count(results->plan.herds), OSBORNE_MEMBERS, results->plan.side_m * 1e-3, results->plan.side_m * 1e-3,
      compare->cycles, 100 * osborne_part(compare, OSBORNE_WITHOUT_SIMD),
      100 * osborne_part(compare, OSBORNE_WITHOUT_SCALAR));
  print_way(compare, OSBORNE_WITH, "< 1 %");
  print_way(compare, OSBORNE_WITHOUT_SIMD, "");
  print_way(compare, OSBORNE_WITHOUT_SCALAR, "");
  printf("\nWithout: plain loops over all animals with the same flocking, without any scheduler; eight at a time is "
         "ours,\n"
         "the paper's was not optimised. Simulated are leaves (%u to %u), and each folded herd as one: all of them "
         "move in each\ncycle, in blocks.\n",
         compare->leaves_least, compare->leaves_most);
}

static void print_kept(const osborne_kept *kept) {
  printf("\nKept (a world of ours): %d herds that drift, after %lu folds and %lu unfolds: %lu of %d members, totals "
         "within\n%.4f of 1,000, centroids within %.2f cm and momenta within %.4f mm/s of what they would be without "
         "an observer.\n",
         OSBORNE_KEPT_HERDS, kept->folds, kept->unfolds, kept->members, OSBORNE_KEPT_HERDS * OSBORNE_MEMBERS,
         kept->total_lost, kept->centroid_m * 100, kept->velocity_mps * 1000);
}

static void print_size(const osborne_size *size, bool grows) {
  const osborne_counts *counts = &size->counts;
  const char *paper = "", *wanted = "";
  for (int i = 0; i < CLAIMS; i++) {
    if (claims[i].agents != counts->agents) continue;
    if (claims[i].paper_ms > 0 && !grows) paper = text_of("< %s", text_ms(claims[i].paper_ms));
    wanted = text_ms(claims[i].wanted_ms);
  }
  printf("%13s %11s %7.1f %9s %10s %9s %9s %7s %8s %9s %7.2f %7.0f\n", text_count(counts->agents),
         text_count(counts->herds), size->side_m * 1e-3, text_count(counts->unfolded), text_count(counts->leaves),
         text_ms(size->one_ms), text_ms(size->all_ms), wanted, paper, text_bytes((double)counts->bytes),
         counts->bytes_each_folded, counts->bytes_each_unfolded);
}

static void print_sizes(const osborne_results *results, const osborne_doubling *doubling) {
  static const char *const ends[] = {"a cycle took 100 ms", "there was no memory for twice as many",
                                     "no more was asked for"};
  printf("\nTwice as many, and again, %s; until %s\n\n"
         "       agents       herds  square               leaves   ms, one %9s  wanted    paper    memory  bytes per "
         "herd\n"
         "  represented                  km  unfolded  simulated    worker   workers      ms       ms            "
         "folded    "
         "unf.\n",
         doubling->grows ? "on a square that grows with them" : "on the same square", ends[doubling->end],
         text_of("ms, all %u", results->workers));
  for (uint32_t i = 0; i < doubling->sizes; i++) print_size(&doubling->rows[i], doubling->grows);
}

static void print(const void *all) {
  const osborne_results *results = all;
  print_comparison(results);
  print_kept(&results->kept);
  for (int i = 0; i < OSBORNE_DOUBLINGS; i++) print_sizes(results, &results->doublings[i]);
  printf(
      "\nms: the median of cycles in which every agent is due: of one worker its own CPU, of several wall time, which "
      "is\n"
      "the machine's of the moment. On the same square there are ever more leaves near the player, on the growing one\n"
      "ever more folded herds. Bytes of an unfolded herd are beside its agents; each number that a host keeps of\n"
      "members takes 4 more of a folded one, 4 by member of an unfolded one. Folded herds, herds less unfolded, move, "
      "too.\n");
}

static const char colours[] = "set linetype 1 lc rgb '#1f77b4'\nset linetype 2 lc rgb '#ff7f0e'\n"
                              "set linetype 3 lc rgb '#777777'\n";

static void plot_comparison(FILE *script, const void *all) {
  const osborne_comparison *compare = &((const osborne_results *)all)->compare;
  fprintf(script, "$cycles << END\n");
  for (uint32_t i = 0; i < compare->cycles; i++)
    fprintf(script, "%u %.6g %.6g %.6g\n", i + 1, compare->series_ms[OSBORNE_WITH][i],
            compare->series_ms[OSBORNE_WITHOUT_SIMD][i], compare->series_ms[OSBORNE_WITHOUT_SCALAR][i]);
  fprintf(script,
          "END\n%sset title 'Osborne and Dickinson, Figure 3: %lu agents with and without level of detail, one "
          "worker (ground and player are ours)'\n"
          "set xlabel 'cycle'\nset ylabel 'time per cycle [ms]'\nset logscale y\nset format y '%%g'\nset grid ytics\n"
          "set yrange [0.01:*]\nset xrange [0:%u]\nset key outside bottom center horizontal\n"
          "plot $cycles using 1:4 with lines lt 3 title 'without, one by one, as theirs (median %.3g ms)', "
          "'' using 1:3 with lines lt 2 title 'without, eight at a time, like with like (ours, %.3g ms)', "
          "'' using 1:2 with lines lt 1 lw 2 title 'with: %u leaves and %u folded herds simulated (%.3g ms)'\n",
          colours, compare->counts.agents, compare->cycles, compare->ms[OSBORNE_WITHOUT_SCALAR],
          compare->ms[OSBORNE_WITHOUT_SIMD], compare->counts.leaves, compare->counts.herds - compare->counts.unfolded,
          compare->ms[OSBORNE_WITH]);
}

/* Every other size has its number written out. */
static void print_tics(FILE *script, const osborne_results *results) {
  uint64_t most = 0;
  for (int k = 0; k < OSBORNE_DOUBLINGS; k++) {
    const osborne_doubling *doubling = &results->doublings[k];
    uint64_t last = doubling->rows[doubling->sizes - 1].counts.agents;
    if (last > most) most = last;
  }
  fprintf(script, "set xtics (");
  for (uint64_t count = (uint64_t)results->plan.herds * OSBORNE_MEMBERS; count <= most; count *= 4)
    fprintf(script, "'%s' %lu, ", text_count(count), count);
  fprintf(script, "'' 1)\nset xrange [%g:%g]\n", results->plan.herds * OSBORNE_MEMBERS / 1.5, (double)most * 1.5);
}

static void print_rows(FILE *script, const osborne_doubling *doubling, const char *name) {
  fprintf(script, "$%s << END\n", name);
  for (uint32_t i = 0; i < doubling->sizes; i++) {
    const osborne_size *size = &doubling->rows[i];
    fprintf(script, "%lu %.6g %.6g %u\n", size->counts.agents, size->one_ms, size->all_ms, size->counts.leaves);
  }
  fprintf(script, "END\n");
}

static void plot_sizes(FILE *script, const void *all) {
  const osborne_results *results = all;
  double side_km = results->plan.side_m * 1e-3;
  print_rows(script, &results->doublings[OSBORNE_SAME_SQUARE], "same");
  print_rows(script, &results->doublings[OSBORNE_SAME_DENSITY], "grows");
  fprintf(script, "$paper << END\n65536 100\n1048576 100\nEND\n%s", colours);
  print_tics(script, results);
  fprintf(script,
          "set xlabel 'agents represented'\nset ylabel 'time per cycle [ms]'\nset y2label 'leaves simulated'\n"
          "set logscale x\nset logscale y\nset logscale y2\nset format y '%%g'\nset format y2 '%%.0f'\n"
          "set ytics nomirror\nset y2tics\nset grid\nset key outside bottom center horizontal maxrows 4\n"
          "set yrange [0.01:1000]\nset y2range [10:1000000]\n"
          "set title 'Osborne and Dickinson, Figure 4: twice as many herds of %d, and again (sizes beyond 1,048,576 "
          "and growing "
          "squares are ours)'\n"
          "plot $same using 1:2 with linespoints lt 2 lw 2 pt 7 title '%g x %g km, one worker', "
          "'' using 1:3 with linespoints lt 1 lw 2 pt 7 title '%g x %g km, all workers (%u)', "
          "$grows using 1:2 with linespoints lt 2 lw 2 pt 9 ps 1.4 title 'growing square, one worker', "
          "'' using 1:3 with linespoints lt 1 lw 2 pt 9 ps 1.4 title 'growing square, all workers', "
          "$paper using 1:2 with lines lw 3 lc rgb '#d62728' title 'paper: up to here, below 100 ms', "
          "$same using 1:4 axes x1y2 with points lt 3 pt 6 ps 1.5 title '%g x %g km: leaves simulated (right)', "
          "$grows using 1:4 axes x1y2 with points lt 3 pt 8 ps 1.5 title 'growing square: leaves simulated (right)'\n",
          OSBORNE_MEMBERS, side_km, side_km, side_km, side_km, results->workers, side_km, side_km);
}

/* ------------------------------------------------------------------------------------------------------------- json */

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

const repro_paper repro_osborne = {
    .name = "osborne",
    .summary = "Osborne & Dickinson: herds (with and without folding, doubling, figures)",
    .bytes = sizeof(osborne_results),
    .measure = osborne_measure,
    .check = osborne_check,
    .write = write,
    .print = print,
    .figures = {{"osborne-compare", 1200, 640, plot_comparison}, {"osborne-scale", 1200, 760, plot_sizes}}};

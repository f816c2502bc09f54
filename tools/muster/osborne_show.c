/* Osborne & Dickinson's claims and our figures as text. */
#include "osborne.h"

#include "text.h"

#include <stdio.h>

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

/* With level of detail: leaves, and the folded herds, each of which moves as one. */
static const char *text_simulated(const osborne_counts *counts, int way) {
  if (way != OSBORNE_WITH) return text_count(counts->agents);
  return text_of("%s + %s", text_count(counts->leaves), text_count(counts->herds - counts->unfolded));
}

static void print_way(const osborne_comparison *compare, int way, double paper_share) {
  double share = compare->ms[way] / compare->ms[OSBORNE_WITHOUT_SCALAR];
  printf("%-26s %11s %13s %10s %10s %10s %9.2f %% %9.3f %% %8s\n", way_names[way], text_count(compare->counts.agents),
         text_simulated(&compare->counts, way), text_ms(compare->ms[way]), text_ms(compare->mean_ms[way]),
         text_ms(wanted_ms[way]), 100 * compare->ms[way] / compare->ms[OSBORNE_WITHOUT_SIMD], share * 100,
         paper_share > 0 ? text_of("< %g %%", paper_share * 100) : "");
}

static void print_comparison(const osborne_results *results) {
  const osborne_comparison *compare = &results->compare;
  printf(
      "Osborne & Dickinson: %s herds of %d on %g x %g km, one player; %u cycles of 500 ms on one worker, in turns\n\n"
      "Like with like, level of detail leaves %.1f %% of the CPU. Beside a crowd one by one, as the paper's, it is "
      "%.2f %%: most\nof that is our loops. Inputs from the paper: zones, flocking, numbers; ours: the ground, and the "
      "player's "
      "walk.\n\n"
      "%-26s %11s %13s %10s %10s %10s %11s %11s %8s\n%-26s %11s %13s %10s %10s %10s %11s %11s %8s\n",
      text_count(results->plan.herds), OSBORNE_MEMBERS, results->plan.side_m * 1e-3, results->plan.side_m * 1e-3,
      compare->cycles, 100 * compare->ms[OSBORNE_WITH] / compare->ms[OSBORNE_WITHOUT_SIMD],
      100 * compare->ms[OSBORNE_WITH] / compare->ms[OSBORNE_WITHOUT_SCALAR], "", "agents", "simulated", "ms", "ms",
      "wanted", "of eight", "of one", "paper", "", "represented", "", "per cycle", "mean", "ms", "at a time", "by one",
      "");
  print_way(compare, OSBORNE_WITH, 0.01);
  print_way(compare, OSBORNE_WITHOUT_SIMD, 0);
  print_way(compare, OSBORNE_WITHOUT_SCALAR, 0);
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
  const char *all = text_of("ms, all %u", results->workers);
  printf("\nTwice as many, and again, %s; until %s\n\n"
         "%13s %11s %7s %9s %10s %9s %9s %7s %8s %9s %15s\n%13s %11s %7s %9s %10s %9s %9s %7s %8s %9s %7s %7s\n",
         doubling->grows ? "on a square that grows with them" : "on the same square", ends[doubling->end], "agents",
         "herds", "square", "", "leaves", "ms, one", all, "wanted", "paper", "memory", "bytes per herd", "represented",
         "", "km", "unfolded", "simulated", "worker", "workers", "ms", "ms", "", "folded", "unf.");
  for (uint32_t i = 0; i < doubling->sizes; i++) print_size(&doubling->rows[i], doubling->grows);
}

void osborne_print(const osborne_results *results) {
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

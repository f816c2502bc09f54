/* Rankin's findings and stress figure as text and as a plot. */
#include "plots.h"
#include "rankin.h"

static void print_findings(const char *title, const rankin_finding *findings, uint32_t count) {
  printf("%s\n\n%-78s %-5s %9s  %-28s %-5s %9s\n", title, "", "holds", "", "counter-case", "holds", "");
  for (uint32_t i = 0; i < count; i++) {
    const rankin_finding *finding = &findings[i];
    printf("%-78s %-5s %9.4g  %-28s %-5s %9.4g  %s\n", finding->name, finding->holds ? "yes" : "NO", finding->value,
           finding->counter_case, finding->counter_holds ? "YES" : "no", finding->counter_value, finding->unit);
  }
}

static void print_stress(const rankin_results *results) {
  printf("\nStress: CPU seconds for 200 ticks of 30 ms, 4 characters per tick\n(theirs finished with more than 100 "
         "characters at level 3 only)\n\n%-12s",
         "characters");
  for (uint32_t level = 0; level < RANKIN_LEVELS; level++) printf("    level %u", results->levels[level]);
  printf("\n");
  for (uint32_t size = 0; size < RANKIN_SIZES; size++) {
    printf("%-12u", results->sizes[size]);
    for (uint32_t level = 0; level < RANKIN_LEVELS; level++) printf(" %10.4f", results->stress_s[size][level]);
    printf("\n");
  }
}

static void print_large(const rankin_results *results) {
  printf(
      "\nLevels by importance and pressure: 30 Hz, %g ms of one worker, wanted period 90 ms (sizes and time are ours)"
      "\n\n%-12s %8s %8s %8s %8s %8s %9s "
      "%10s %10s\n",
      results->large_ms, "characters", "level 0", "1", "2", "3", "eased", "pressure", "top p50", "top p99");
  for (uint32_t i = 0; i < RANKIN_LARGE; i++) {
    const rankin_outcome *outcome = &results->dynamic[i];
    printf("%-12u", results->large[i]);
    for (uint32_t level = 0; level < MUSTER_LEVELS; level++) printf(" %8u", outcome->levels[level]);
    printf(" %8u %9.3f %7.0f ms %7.0f ms\n", outcome->eased, outcome->pressure, (double)outcome->top_p50_ns * 1e-6,
           (double)outcome->top_p99_ns * 1e-6);
  }
}

void rankin_print(const rankin_results *results) {
  print_findings("Rankin, Acton & Katchabaw: what the paper found, 40 characters, 4 per tick", results->findings,
                 RANKIN_FINDINGS);
  print_findings("\nWhat its parts do, each alone (runs of ours)", results->parts, RANKIN_PARTS);
  print_stress(results);
  print_large(results);
}

bool rankin_plot(const rankin_results *results, const char *folder) {
  FILE *script = plot_begin(folder, "rankin-stress", 1000, 640);
  if (!script) return false;
  fprintf(script, "$stress << END\n");
  for (uint32_t size = 0; size < RANKIN_SIZES; size++) {
    fprintf(script, "%u", results->sizes[size]);
    for (uint32_t level = 0; level < RANKIN_LEVELS; level++) fprintf(script, " %.6g", results->stress_s[size][level]);
    fprintf(script, "\n");
  }
  fprintf(script, "END\nset title 'Rankin, Acton and Katchabaw: 200 ticks, 4 characters per tick'\n"
                  "set style data histograms\nset style histogram clustered gap 1\nset style fill solid 0.8\n"
                  "set logscale y\nset grid ytics\nset xlabel 'characters'\nset ylabel 'CPU seconds'\n"
                  "set key top left\nplot ");
  for (uint32_t level = 0; level < RANKIN_LEVELS; level++)
    fprintf(script, "%s$stress using %u:xtic(1) title 'level %u'", level ? ", " : "", level + 2,
            results->levels[level]);
  fprintf(script, "\n");
  return plot_end(script);
}

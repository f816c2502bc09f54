/* The tables that follow Tan & Wong's Table 2: their figure 2 as printed and as corrected, and animats that differ. */
#include "tan_wong.h"

#include <stdio.h>

static void print_slip_row(const char *name, int row, const tan_wong_row *ours) {
  const tan_wong_row *paper = &tan_wong_published[row];
  printf("  %-22s %8.3f %+6.0f %% %9.4f %+5.0f %% %9.3f %+5.0f %% %8.2f %+5.0f %%\n", name, ours->c_total_ms,
         100 * (ours->c_total_ms / paper->c_total_ms - 1), ours->u_total, 100 * (ours->u_total / paper->u_total - 1),
         ours->d_interval_ms, 100 * (ours->d_interval_ms / paper->d_interval_ms - 1), ours->fps,
         100 * (ours->fps / paper->fps - 1));
}

static void print_slip(const tan_wong_slip *slip) {
  printf(
      "\nFigure 2 as printed and as corrected. Printed is Uvo = Uo - Uf: what those at their longest period have saved "
      "is\nsaved again by the others. With equal costs all come there together, and it changes nothing. Costs of %.2g "
      "to %.2g\ntimes 0.373 ms, by species, are assumed: the paper does not say. The first two are its scheduler on "
      "arrays,\nwithout Muster.\n\n  %-22s %17s %17s %17s %16s\n",
      1 - slip->spread, 1 + slip->spread, "", "C_total ms, off", "U_total, off", "D interval, off", "FPS, off");
  for (int i = 0; i < TAN_WONG_ROWS; i++) {
    const tan_wong_row *paper = &tan_wong_published[i];
    printf("  T_d %g ms%*s %10.3f %17.4f %17.3f %16.2f\n", paper->budget_ms, 10, "paper", paper->c_total_ms,
           paper->u_total, paper->d_interval_ms, paper->fps);
    print_slip_row("as printed", i, &slip->printed[i]);
    print_slip_row("as corrected", i, &slip->corrected[i]);
    print_slip_row("Muster (corrected)", i, &slip->muster[i]);
  }
  printf("\n  T_d 20 ms, C_total (paper: %.3f) by how far costs differ\n  %-14s", tan_wong_published[1].c_total_ms, "");
  for (int i = 0; i < TAN_WONG_SPREADS; i++) printf("  +-%3.0f %%", slip->spreads[i] * 100);
  printf("\n  %-14s", "as printed");
  for (int i = 0; i < TAN_WONG_SPREADS; i++) printf(" %8.3f", slip->printed_ms[i]);
  printf("\n  %-14s", "as corrected");
  for (int i = 0; i < TAN_WONG_SPREADS; i++) printf(" %8.3f", slip->corrected_ms[i]);
  printf("\n");
}

static void print_unequal(const tan_wong_unequal *it) {
  static const char *const rules[TAN_WONG_RULES] = {"figure 2",   "as printed",  "E left out", "E_i C_i",
                                                    "one factor", "square root", "none"};
  printf("\nSpecies that differ in C, E and T, ours: T_d %g ms, T_f %.2f ms. Periods in ms, fitted by Muster, as they "
         "came "
         "out,\nby figure 2 (corrected), and by what it is not\n\n  %-7s %6s %6s %6s %5s %9s %9s",
         it->budget_ms, it->frame_ms, "species", "C", "T_io", "T_imax", "E", "fitted", "came out");
  for (int rule = 0; rule < TAN_WONG_RULES; rule++) printf(" %11s", rules[rule]);
  printf("\n");
  for (int i = 0; i < TAN_WONG_SPECIES; i++) {
    const tan_wong_species *species = &it->species[i];
    printf("  %-7d %6.3g %6.1f %6.0f %5.2g %9.2f %9.2f", i + 1, (double)species->cost_ns * 1e-6,
           (double)species->period_ns * 1e-6, (double)species->period_max_ns * 1e-6, (double)species->elasticity,
           it->outcome.assigned_ms[i], it->outcome.interval_ms[i]);
    for (int rule = 0; rule < TAN_WONG_RULES; rule++) printf(" %11.2f", it->wanted_ms[rule][i]);
    printf("\n");
  }
}

void tan_wong_print_rules(const tan_wong_results *results) {
  print_slip(&results->slip);
  print_unequal(&results->unequal);
}

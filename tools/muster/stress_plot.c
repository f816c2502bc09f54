/* The figure of `muster stress`: what each axis keeps as it is raised. */
#include "stress_report.h"

#include "plots.h"

bool stress_plot(const void *user, const char *folder) {
  const stress_work *work = user;
  FILE *script = plot_begin(folder, "stress", 1200, 900);
  if (!script) return false;
  for (uint32_t axis = 0; axis < STRESS_AXES; axis++) {
    const stress_climb *climb = &work->climbs[axis];
    fprintf(script, "$%s << END\n", stress_axis_name(axis));
    for (uint32_t i = 0; i < climb->count; i++)
      if (climb->steps[i].figures.frames)
        fprintf(script, "%.6g %.6g %.6g\n", stress_times(axis, &work->baseline, &climb->steps[i].figures.load),
                stress_kept_share(&climb->steps[i].figures) * 100, stress_stretch(&climb->steps[i].figures));
    fprintf(script, "END\n");
  }
  fprintf(script, "set multiplot layout 2,1\nset logscale x 2\nset grid\nset key outside right\n"
                  "set xlabel 'times the first step'\nset ylabel 'frames within the promise, %%'\n");
  for (uint32_t panel = 0; panel < 2; panel++) {
    for (uint32_t axis = 0; axis < STRESS_AXES; axis++)
      fprintf(script, "%s$%s using 1:%u with linespoints lw 2 title '%s'", axis ? ", " : "plot ",
              stress_axis_name(axis), panel + 2, stress_axis_name(axis));
    fprintf(script, "\n%s", panel ? "" : "set ylabel 'important agents: interval, in wanted periods'\n");
  }
  fprintf(script, "unset multiplot\n");
  return plot_end(script);
}

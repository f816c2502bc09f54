/* plots.h - figures drawn by gnuplot. */
#ifndef TOOLS_PLOTS_H
#define TOOLS_PLOTS_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

/* A figure being described: a gnuplot script NAME.gp that stays beside the NAME.png it draws, so that the figure can be
 * drawn again. */
struct plot {
  FILE *script; /* commands and data are printed here */
  char path[PATH_MAX];
};

/* Makes the folder when it is not there. Complains and returns false when it cannot be written to. */
bool plots_prepare(const char *folder);

/* Begins a figure of that size in pixels. Complains and returns false when the script cannot be written. */
bool plot_begin(struct plot *plot, const char *folder, const char *name, int width, int height);

/* Has gnuplot draw it. Without gnuplot a hint is printed to standard error and that is no failure: the script is there.
 * Complains and returns false when gnuplot fails. */
bool plot_end(struct plot *plot);

#endif

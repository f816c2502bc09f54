/* plots.h - figures drawn by gnuplot. */
#ifndef TOOLS_PLOTS_H
#define TOOLS_PLOTS_H

#include <stdbool.h>
#include <stdio.h>

/* Makes the folder when it is not there. Complains and returns false when it cannot be written to. */
bool plots_prepare(const char *folder);

/* Begins a figure of that size in pixels: a gnuplot script NAME.gp, which stays beside the NAME.png that it draws, so
 * that the figure can be drawn again, by gnuplot in their folder. Commands and data are printed into it. One at a time.
 * Complains and returns null when the script cannot be written. */
FILE *plot_begin(const char *folder, const char *name, int width, int height);

/* Has gnuplot draw it. Without gnuplot a hint is printed to standard error and that is no failure: the script is there.
 * Complains and returns false when gnuplot fails. */
bool plot_end(FILE *script);

#endif

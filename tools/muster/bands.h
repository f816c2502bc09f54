/* bands.h - a world's figures by bands of importance, as a table: one row a band, the most important first. */
#ifndef TOOLS_BANDS_H
#define TOOLS_BANDS_H

#include <muster/report.h>
#include <stdio.h>

enum { BANDS_LINE_BYTES = 128 };

/* The head of the table, or its row for a band, counted from the top; with as many of its 78 columns as fit. Fills
 * `out` and returns it. */
const char *bands_head(char out[BANDS_LINE_BYTES], int columns);
const char *bands_row(char out[BANDS_LINE_BYTES], int columns, const muster_band bands[MUSTER_BANDS], uint32_t row);

/* Prints the whole table. */
void bands_print(FILE *stream, int columns, const muster_band bands[MUSTER_BANDS]);

#endif

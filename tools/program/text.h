/* text.h - numbers as people read them. A text is good until TEXT_KEPT others were made; one thread makes them. */
#ifndef TOOLS_TEXT_H
#define TOOLS_TEXT_H

#include <muster/report.h>
#include <stdint.h>

enum { TEXT_BYTES = 128, TEXT_KEPT = 32, TEXT_BAR_CELLS = 40, TEXT_PRESSURE_MOST = 1000 };

/* As printf() makes it. */
const char *text_of(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Three significant digits and the fitting unit: "850 ns", "3.21 ms", "1 s", "25 min", "4.87 h". */
const char *text_duration(double ns);
const char *text_ns(uint64_t ns);

/* Digits in groups of three: "48,031". */
const char *text_count(uint64_t value);

/* Three significant digits and the fitting unit: "64 B", "3.1 MiB". */
const char *text_bytes(double bytes);

/* "98.3 %"; a share that only rounds to 100 % is shown a little below it. */
const char *text_share(double share);

/* "0.35 of a processor", "1.6 processors". */
const char *text_processors(double processors);

/* "0.97"; from a thousand on, where the budget leaves next to nothing for updates, "over 1,000". */
const char *text_pressure(double pressure);

/* "2.3", "12"; as a pressure from a thousand on. */
const char *text_times(double times);

/* How many of all cells a value fills, on a scale from 0 to `full`. */
int text_cells(double value, double full, int cells);

/* A bar of so many cells, at most TEXT_BAR_CELLS, for `value` on a scale from 0 to `full`, with a mark at `mark`:
 * "########......|........". */
const char *text_bar(char out[TEXT_BAR_CELLS + 1], int cells, double value, double mark, double full);

/* The name of a stage, such as "intake". */
const char *text_stage(muster_stage stage);

#endif

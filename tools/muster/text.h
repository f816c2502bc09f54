/* text.h - numbers as people read them. Every function fills `out` and returns it. */
#ifndef TOOLS_TEXT_H
#define TOOLS_TEXT_H

#include <stddef.h>
#include <stdint.h>

enum { TEXT_BYTES = 32, TEXT_BAR_CELLS = 40 };

/* Three significant digits and the fitting unit: "850 ns", "3.21 ms", "1 s". */
const char *text_duration(char out[TEXT_BYTES], double ns);

/* Digits in groups of three: "48,031". */
const char *text_count(char out[TEXT_BYTES], uint64_t value);

/* Three significant digits and the fitting unit: "64 B", "3.1 MiB". */
const char *text_bytes(char out[TEXT_BYTES], double bytes);

/* "98.3 %"; a share that only rounds to 100 % is shown a little below it. */
const char *text_share(char out[TEXT_BYTES], double share);

/* A bar of TEXT_BAR_CELLS cells for `value` on a scale from 0 to `full`, with a mark at `mark`:
 * "########......|........". */
const char *text_bar(char out[TEXT_BAR_CELLS + 1], double value, double mark, double full);

#endif

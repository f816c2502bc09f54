#include "bands.h"

#include "text.h"

#include <stdlib.h>
#include <string.h>

enum { CELLS = 9 };

static const char *put_cells(char out[BANDS_LINE_BYTES], int columns, const char *const cells[CELLS]) {
  static const int widths[CELLS] = {-10, 10, 8, 8, 8, 8, 8, 8, 10};
  int length = 0;
  for (uint32_t i = 0; i < CELLS && length + abs(widths[i]) <= columns; i++)
    length += snprintf(out + length, BANDS_LINE_BYTES - (size_t)length, "%*s", widths[i], cells[i]);
  return out;
}

const char *bands_head(char out[BANDS_LINE_BYTES], int columns) {
  static const char *const cells[CELLS] = {"Importance", "agents",  "wanted",  "by rule", "got",
                                           "age p50",    "age p99", "longest", "beyond"};
  return put_cells(out, columns, cells);
}

/* A dash where there is nothing to tell of. "18.4 min" would touch the column before: there the blank is left out. */
static const char *time_of(uint64_t ns, bool known) {
  const char *text = known ? text_ns(ns) : "-", *blank = strchr(text, ' ');
  if (strlen(text) < 8 || !blank) return text;
  return text_of("%.*s%s", (int)(blank - text), text, blank + 1);
}

const char *bands_row(char out[BANDS_LINE_BYTES], int columns, const muster_band bands[MUSTER_BANDS], uint32_t row) {
  static const char *const names[MUSTER_BANDS] = {" 0", " up to 1/4", " up to 1/2", " up to 3/4", " up to 1"};
  uint32_t number = MUSTER_BANDS - 1 - row;
  const muster_band *band = &bands[number];
  bool lives = band->agents > 0, ran = band->completed > 0, aged = ran || band->age.max_ns > 0;
  const char *const cells[CELLS] = {names[number],
                                    text_count(band->agents),
                                    time_of(band->wanted_ns, lives),
                                    time_of(band->period_ns, lives),
                                    time_of(band->interval_ns, ran),
                                    time_of(band->age.p50_ns, aged),
                                    time_of(band->age.p99_ns, aged),
                                    time_of(band->staleness.max_ns, ran),
                                    lives ? text_count(band->agents_beyond_wish) : "-"};
  return put_cells(out, columns, cells);
}

void bands_print(FILE *stream, int columns, const muster_band bands[MUSTER_BANDS]) {
  char line[BANDS_LINE_BYTES];
  fprintf(stream, "%s\n", bands_head(line, columns));
  for (uint32_t i = 0; i < MUSTER_BANDS; i++) fprintf(stream, "%s\n", bands_row(line, columns, bands, i));
}

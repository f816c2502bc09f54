#include "text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Each text has the next of these as its own. */
static char *next_text(void) {
  static char texts[TEXT_KEPT][TEXT_BYTES];
  static uint32_t next;
  return texts[next++ % TEXT_KEPT];
}

/* Three significant digits without an exponent and without zeros at the end of a fraction. */
static void put_significant(char out[TEXT_BYTES], double value) {
  double size = fabs(value);
  int decimals = size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
  snprintf(out, TEXT_BYTES / 2, "%.*f", decimals, value);
  if (!strchr(out, '.')) return;
  size_t length = strlen(out);
  while (out[length - 1] == '0') out[--length] = '\0';
  if (out[length - 1] == '.') out[length - 1] = '\0';
}

static const char *put_scaled(double value, double step, const char *const *units, int last) {
  char *out = next_text();
  int unit = 0;
  while (unit < last && fabs(value) >= step * 0.9995) {
    value /= step;
    unit++;
  }
  put_significant(out, value);
  size_t length = strlen(out);
  snprintf(out + length, TEXT_BYTES - length, " %s", units[unit]);
  return out;
}

const char *text_of(const char *format, ...) {
  char *out = next_text();
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(out, TEXT_BYTES, format, arguments);
  va_end(arguments);
  return out;
}

/* Seconds remain seconds as long as people still count them. */
const char *text_duration(double ns) {
  static const char *const units[] = {"ns", "us", "ms", "s"}, *const minutes[] = {"min"}, *const hours[] = {"h"};
  double seconds = ns * 1e-9;
  if (fabs(seconds) < 599.5) return put_scaled(ns, 1000.0, units, 3);
  return fabs(seconds) < 7199.5 ? put_scaled(seconds / 60, 1000.0, minutes, 0)
                                : put_scaled(seconds / 3600, 1000.0, hours, 0);
}

const char *text_ns(uint64_t ns) {
  return text_duration((double)ns);
}

const char *text_bytes(double bytes) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB"};
  return put_scaled(bytes, 1024.0, units, 3);
}

const char *text_count(uint64_t value) {
  char *out = next_text();
  char digits[24];
  int length = snprintf(digits, sizeof digits, "%lu", value);
  char *next = out;
  for (int i = 0; i < length; i++) {
    if (i > 0 && (length - i) % 3 == 0) *next++ = ',';
    *next++ = digits[i];
  }
  *next = '\0';
  return out;
}

const char *text_share(double share) {
  if (share < 1.0 && share > 0.9999) share = 0.9999;
  return text_of("%.*f %%", share > 0.99 && share < 1.0 ? 2 : 1, share * 100.0);
}

const char *text_processors(double processors) {
  return text_of("%.3g %s", processors, processors > 1 ? "processors" : "of a processor");
}

const char *text_pressure(double pressure) {
  return pressure >= TEXT_PRESSURE_MOST ? "over 1,000" : text_of("%.2f", pressure);
}

const char *text_times(double times) {
  if (times >= TEXT_PRESSURE_MOST) return text_pressure(times);
  return text_of("%.*f", times < 9.95 ? 1 : 0, times);
}

int text_cells(double value, double full, int cells) {
  double cell = full > 0 ? value / full * cells : 0;
  return cell >= cells ? cells : cell > 0 ? (int)(cell + 0.5) : 0;
}

const char *text_bar(char out[TEXT_BAR_CELLS + 1], int cells, double value, double mark, double full) {
  if (cells > TEXT_BAR_CELLS) cells = TEXT_BAR_CELLS;
  int filled = text_cells(value, full, cells), marked = text_cells(mark, full, cells);
  for (int i = 0; i < cells; i++) out[i] = i < filled ? '#' : '.';
  if (value > 0 && filled == 0) out[0] = '-';
  if (marked == cells) marked--;
  out[marked] = '|';
  out[cells] = '\0';
  return out;
}

const char *text_stage(muster_stage stage) {
  static const char *const names[] = {"intake", "score", "fold", "fit", "release", "rank", "run", "commit"};
  _Static_assert(sizeof names / sizeof *names == MUSTER_STAGES, "every stage has a name");
  return names[stage];
}

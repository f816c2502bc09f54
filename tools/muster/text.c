#include "text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

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

static const char *put_scaled(char out[TEXT_BYTES], double value, double step, const char *const *units, int last) {
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

const char *text_duration(char out[TEXT_BYTES], double ns) {
  static const char *const units[] = {"ns", "us", "ms", "s"};
  return put_scaled(out, ns, 1000.0, units, 3);
}

const char *text_bytes(char out[TEXT_BYTES], double bytes) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB"};
  return put_scaled(out, bytes, 1024.0, units, 3);
}

const char *text_count(char out[TEXT_BYTES], uint64_t value) {
  char digits[24];
  int length = snprintf(digits, sizeof digits, "%" PRIu64, value);
  char *next = out;
  for (int i = 0; i < length; i++) {
    if (i > 0 && (length - i) % 3 == 0) *next++ = ',';
    *next++ = digits[i];
  }
  *next = '\0';
  return out;
}

const char *text_share(char out[TEXT_BYTES], double share) {
  if (share < 1.0 && share > 0.9999) share = 0.9999;
  snprintf(out, TEXT_BYTES, "%.*f %%", share > 0.99 && share < 1.0 ? 2 : 1, share * 100.0);
  return out;
}

static int cell_of(double value, double full) {
  double cells = full > 0 ? value / full * (double)TEXT_BAR_CELLS : 0;
  return cells < 0 ? 0 : cells > (double)TEXT_BAR_CELLS ? TEXT_BAR_CELLS : (int)lround(cells);
}

const char *text_bar(char out[TEXT_BAR_CELLS + 1], double value, double mark, double full) {
  int filled = cell_of(value, full), marked = cell_of(mark, full);
  for (int i = 0; i < TEXT_BAR_CELLS; i++) out[i] = i < filled ? '#' : '.';
  if (value > 0 && filled == 0) out[0] = '-';
  if (marked == TEXT_BAR_CELLS) marked--;
  out[marked] = '|';
  out[TEXT_BAR_CELLS] = '\0';
  return out;
}

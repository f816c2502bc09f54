#include "parse.h"

#include "complaint.h"
#include "text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { DECIMALS = 9 };
static const uint64_t one = 1000000000u; /* a decimal is held in units of 1e-9 */

__extension__ typedef unsigned __int128 wide;

/* Reads digits with an optional fraction; returns where they end, or null when there are none, too many decimals, or
 * more than fits. No sign, no exponent, no blanks: what strtod would let through is not meant here. */
static const char *read_decimal(const char *text, wide *value) {
  const char *next = text;
  *value = 0;
  for (; *next >= '0' && *next <= '9'; next++) {
    *value = *value * 10 + (wide)(*next - '0');
    if (*value > UINT64_MAX) return NULL;
  }
  if (next == text) return NULL;
  int decimals = 0;
  if (*next == '.') {
    for (next++; *next >= '0' && *next <= '9'; next++, decimals++) {
      if (decimals == DECIMALS) return NULL;
      *value = *value * 10 + (wide)(*next - '0');
    }
    if (decimals == 0) return NULL;
  }
  for (; decimals < DECIMALS; decimals++) *value *= 10;
  return next;
}

bool parse_count(const char *option, const char *text, uint64_t minimum, uint64_t maximum, uint64_t *value) {
  wide number;
  const char *end = strchr(text, '.') ? NULL : read_decimal(text, &number);
  if (end && *end == '\0' && number / one >= minimum && number / one <= maximum) {
    *value = (uint64_t)(number / one);
    return true;
  }
  complain_usage("%s is '%s'; give a whole number from %" PRIu64 " to %" PRIu64, option, text, minimum, maximum);
  return false;
}

bool parse_count32(const char *option, const char *text, uint32_t minimum, uint32_t maximum, uint32_t *value) {
  uint64_t number;
  if (!parse_count(option, text, minimum, maximum, &number)) return false;
  *value = (uint32_t)number;
  return true;
}

static uint64_t unit_of(const char *text) {
  static const struct {
    const char *name;
    uint64_t ns;
  } units[] = {{"us", 1000u}, {"ms", 1000000u}, {"s", 1000000000u}};
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (strcmp(text, units[i].name) == 0) return units[i].ns;
  return 0;
}

bool parse_duration(const char *option, const char *text, uint64_t minimum_ns, uint64_t maximum_ns,
                    uint64_t *value_ns) {
  wide number;
  const char *end = read_decimal(text, &number);
  uint64_t unit = end ? unit_of(end) : 0;
  if (!unit) {
    complain_usage("%s is '%s'; give a duration with its unit us, ms or s, such as 10ms", option, text);
    return false;
  }
  wide ns = number * unit / one;
  if (ns < minimum_ns || ns > maximum_ns) {
    char from[TEXT_BYTES], to[TEXT_BYTES];
    text_duration(from, (double)minimum_ns);
    text_duration(to, (double)maximum_ns);
    complain_usage("%s is '%s'; give a duration from %s to %s", option, text, from, to);
    return false;
  }
  *value_ns = (uint64_t)ns;
  return true;
}

bool parse_rate(const char *option, const char *text, uint64_t minimum, uint64_t maximum, uint64_t *thousandths) {
  wide number;
  const char *end = read_decimal(text, &number);
  if (end && *end == '\0' && number >= (wide)minimum * (one / 1000) && number <= (wide)maximum * (one / 1000) &&
      number % (one / 1000) == 0) {
    *thousandths = (uint64_t)(number / (one / 1000));
    return true;
  }
  complain_usage("%s is '%s'; give a number from %g to %g, such as 30 or 59.94", option, text, (double)minimum / 1000.0,
                 (double)maximum / 1000.0);
  return false;
}

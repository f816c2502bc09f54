#include "base/quantity.h"

#include "base/error.h"

#include <inttypes.h>
#include <string.h>

enum { DECIMALS = 9 };
static const uint64_t one = 1000000000u; /* a decimal is held in units of 1e-9 */

__extension__ typedef unsigned __int128 wide;

/* Reads digits with an optional fraction; returns where they end, or null when there are none, too many decimals, or
 * more than fits. */
static const char *quantity_read_decimal(const char *text, wide *value) {
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

muster_result quantity_count(const char *text, uint64_t minimum, uint64_t maximum, uint64_t *value) {
  wide number;
  const char *end = strchr(text, '.') ? NULL : quantity_read_decimal(text, &number);
  if (!end || *end != '\0' || number / one < minimum || number / one > maximum)
    return error_set(MUSTER_E_ARGUMENT, "give a whole number from %" PRIu64 " to %" PRIu64, minimum, maximum);
  *value = (uint64_t)(number / one);
  return MUSTER_OK;
}

typedef struct unit {
  const char *name;
  uint64_t ns;
} unit;

static const unit units[] = {{"s", 1000000000u}, {"ms", 1000000u}, {"us", 1000u}, {"ns", 1u}};

static uint64_t unit_of(const char *text) {
  for (size_t i = 0; i < 3; i++)
    if (strcmp(text, units[i].name) == 0) return units[i].ns;
  return 0;
}

/* For messages: the largest unit of which a duration has at least one. */
static const unit *unit_for(uint64_t ns) {
  size_t i = 0;
  while (i < 3 && ns < units[i].ns) i++;
  return &units[i];
}

muster_result quantity_duration(const char *text, uint64_t minimum_ns, uint64_t maximum_ns, uint64_t *value_ns) {
  wide number;
  const char *end = quantity_read_decimal(text, &number);
  uint64_t unit_ns = end ? unit_of(end) : 0;
  if (!unit_ns) return error_set(MUSTER_E_ARGUMENT, "give a duration with its unit us, ms or s, such as 10ms");
  wide ns = number * unit_ns / one;
  if (ns < minimum_ns || ns > maximum_ns) {
    const unit *from = unit_for(minimum_ns), *to = unit_for(maximum_ns);
    return error_set(MUSTER_E_ARGUMENT, "give a duration from %g %s to %g %s", (double)minimum_ns / (double)from->ns,
                     from->name, (double)maximum_ns / (double)to->ns, to->name);
  }
  *value_ns = (uint64_t)ns;
  return MUSTER_OK;
}

muster_result quantity_rate(const char *text, uint64_t minimum, uint64_t maximum, uint64_t *thousandths) {
  wide number;
  const char *end = quantity_read_decimal(text, &number);
  if (!end || *end != '\0' || number < (wide)minimum * (one / 1000) || number > (wide)maximum * (one / 1000) ||
      number % (one / 1000) != 0)
    return error_set(MUSTER_E_ARGUMENT, "give a number from %g to %g, such as 30 or 59.94", (double)minimum / 1000.0,
                     (double)maximum / 1000.0);
  *thousandths = (uint64_t)(number / (one / 1000));
  return MUSTER_OK;
}

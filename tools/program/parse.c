#include "parse.h"

#include "complaint.h"

#include "base/quantity.h"

#include <stdio.h>
#include <string.h>

/* Says what was given, and what to give instead. */
static bool answer(muster_result result, const char *option, const char *text) {
  if (result != MUSTER_OK) complain_usage("%s is '%s'; %s", option, text, muster_last_error());
  return result == MUSTER_OK;
}

bool parse_count(const char *option, const char *text, uint64_t minimum, uint64_t maximum, uint64_t *value) {
  return answer(quantity_count(text, minimum, maximum, value), option, text);
}

bool parse_count32(const char *option, const char *text, uint32_t minimum, uint32_t maximum, uint32_t *value) {
  uint64_t number;
  if (!parse_count(option, text, minimum, maximum, &number)) return false;
  *value = (uint32_t)number;
  return true;
}

bool parse_range(const char *option, const char *text, const char *between, uint64_t minimum, uint64_t maximum,
                 uint64_t span, uint64_t *first, uint64_t *last) {
  char one[32];
  const char *rest = strstr(text, between);
  if (rest) snprintf(one, sizeof one, "%.*s", (int)(rest - text), text);
  if (!parse_count(option, rest ? one : text, minimum, maximum, first)) return false;
  uint64_t most = maximum - *first < span ? maximum : *first + span;
  *last = *first;
  return !rest || parse_count(option, rest + strlen(between), *first, most, last);
}

bool parse_duration(const char *option, const char *text, uint64_t minimum_ns, uint64_t maximum_ns,
                    uint64_t *value_ns) {
  return answer(quantity_duration(text, minimum_ns, maximum_ns, value_ns), option, text);
}

bool parse_rate(const char *option, const char *text, uint64_t minimum, uint64_t maximum, uint64_t *thousandths) {
  return answer(quantity_rate(text, minimum, maximum, thousandths), option, text);
}

/* base/quantity.h - reads numbers with their units as people write them. No sign, no exponent, no blanks: most of what
 * strtod accepts is refused. Bounds are inclusive. On failure the value is left as it was, the result is
 * MUSTER_E_ARGUMENT, and the message says what to give instead: "give a whole number from 1 to 64". Any thread. */
#ifndef BASE_QUANTITY_H
#define BASE_QUANTITY_H

#include <muster/common.h>

/* A whole number. */
muster_result quantity_count(const char *text, uint64_t minimum, uint64_t maximum, uint64_t *value);

/* A duration with its unit: 10ms, 0.5ms, 500us, 1s. The unit ns is refused: it is hardly ever meant. */
muster_result quantity_duration(const char *text, uint64_t minimum_ns, uint64_t maximum_ns, uint64_t *value_ns);

/* A rate per second with at most three decimals, in thousandths: 30 is 30000, 59.94 is 59940. */
muster_result quantity_rate(const char *text, uint64_t minimum, uint64_t maximum, uint64_t *thousandths);

#endif

/* parse.h - reads the values of options. Each function writes one line that says what to do when a value is bad, and
 * returns false; `option` is the option's name as typed, such as "--budget". Bounds are inclusive. */
#ifndef TOOLS_PARSE_H
#define TOOLS_PARSE_H

#include <stdbool.h>
#include <stdint.h>

/* A whole number. */
bool parse_count(const char *option, const char *text, uint64_t minimum, uint64_t maximum, uint64_t *value);

/* A whole number of 32 bits. */
bool parse_count32(const char *option, const char *text, uint32_t minimum, uint32_t maximum, uint32_t *value);

/* Two whole numbers, such as 1-5, with `between` between them, the second from the first on and at most `span` above
 * it; or one, which is both. */
bool parse_range(const char *option, const char *text, const char *between, uint64_t minimum, uint64_t maximum,
                 uint64_t span, uint64_t *first, uint64_t *last);

/* A duration with its unit: 10ms, 0.5ms, 500us, 1s. Nanoseconds are too fine to be meant and are refused. */
bool parse_duration(const char *option, const char *text, uint64_t minimum_ns, uint64_t maximum_ns, uint64_t *value_ns);

/* A rate per second with at most three decimals, in thousandths: 30 is 30000, 59.94 is 59940. */
bool parse_rate(const char *option, const char *text, uint64_t minimum, uint64_t maximum, uint64_t *thousandths);

#endif

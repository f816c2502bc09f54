#include "base/quantity.h"
#include "support/with.h"

#include <criterion/criterion.h>

static uint64_t count_of(const char *text) {
  uint64_t value = 12345;
  muster_result result = quantity_count(text, 1, UINT64_MAX, &value);
  cr_expect(result == MUSTER_OK || value == 12345, "%s was refused and taken", text);
  return result ? 0 : value;
}

Test(quantity, counts_are_whole_numbers_and_nothing_else) {
  cr_expect_eq(count_of("1"), 1);
  cr_expect_eq(count_of("007"), 7);
  cr_expect_eq(count_of("18446744073709551615"), UINT64_MAX);
  static const char *const none[] = {"",  " 1",      "1 ", "+1", "-1", "1.0", "1e3", "0x10", "18446744073709551616",
                                     "0", "\xd9\xa1"};
  for (size_t i = 0; i < COUNT_OF(none); i++) cr_expect_eq(count_of(none[i]), 0, "%s", none[i]);
  uint64_t value;
  cr_expect_eq(quantity_count("65", 1, 64, &value), MUSTER_E_ARGUMENT);
  cr_expect_str_eq(muster_last_error(), "give a whole number from 1 to 64");
}

static uint64_t duration_of(const char *text) {
  uint64_t value = 0;
  return quantity_duration(text, 1000, 10000000000u, &value) ? 0 : value;
}

Test(quantity, durations_have_a_unit) {
  cr_expect_eq(duration_of("10ms"), 10000000);
  cr_expect_eq(duration_of("0.5ms"), 500000);
  cr_expect_eq(duration_of("0.000001s"), 1000);
  cr_expect_eq(duration_of("10s"), 10000000000u);
  cr_expect_eq(duration_of("999us"), 999000);
  static const char *const none[] = {"10",   "10 ms", "10ns", "ms",    ".5ms", "5.ms",
                                     "-1ms", "10MS",  "11s",  "0.9us", "1e1ms"};
  for (size_t i = 0; i < COUNT_OF(none); i++) cr_expect_eq(duration_of(none[i]), 0, "%s", none[i]);
  duration_of("11s");
  cr_expect_str_eq(muster_last_error(), "give a duration from 1 us to 10 s");
  duration_of("11");
  cr_expect(strstr(muster_last_error(), "such as 10ms") != NULL);
}

static uint64_t rate_of(const char *text) {
  uint64_t value = 0;
  return quantity_rate(text, 100, 10000000, &value) ? 0 : value;
}

Test(quantity, rates_have_three_decimals_at_most) {
  cr_expect_eq(rate_of("30"), 30000);
  cr_expect_eq(rate_of("59.94"), 59940);
  cr_expect_eq(rate_of("0.1"), 100);
  cr_expect_eq(rate_of("10000"), 10000000);
  static const char *const none[] = {"", "0.0999", "30.0001", "10000.001", "30hz", "-30", "99999999999999999999"};
  for (size_t i = 0; i < COUNT_OF(none); i++) cr_expect_eq(rate_of(none[i]), 0, "%s", none[i]);
  cr_expect_str_eq(muster_last_error(), "give a number from 0.1 to 10000, such as 30 or 59.94");
}

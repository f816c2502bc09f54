/* criterion/criterion.h - stands in for Criterion: under ThreadSanitizer, in whose shadow memory Criterion's arena
 * lies; under an emulator of another processor; and under AddressSanitizer, where to start a program anew for each of
 * some 2,500 tests takes longer than most of them. The same tests compile against both, and a program of them is called
 * alike.
 *
 * As in Criterion every test runs in a process of its own, so that a crash, a failed assertion or a report of the
 * sanitizer fails that test and no other; here it is a fork of the program, which has run nothing yet. */
#ifndef CRITERION_STAND_IN_H
#define CRITERION_STAND_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of a test or of a suite, whose functions run around those of its tests; ctest has a timeout of its own. */
typedef struct cr_options {
  void (*init)(void), (*fini)(void);
  bool disabled;
  double timeout;
  const void *end; /* of the list, which may be empty otherwise */
} cr_options;

typedef struct cr_entry {
  const char *suite, *name;
  void (*run)(void); /* null: a suite's options */
  cr_options options;
  struct cr_entry *next;
} cr_entry;

/* Called before main, in the order of the files. */
void cr_register(cr_entry *entry);

/* Counts a check that holds. Any thread or process of a test. */
void cr_hold(void);

/* `text` is the source of a check that does not. A message in the check's own words follows, ended by a null that
 * stands where the format would when there is none; it is put together only then. */
void cr_fail(const char *file, int line, const char *text, bool fatal, const char *format, ...);

/* Options, such as .init = f, follow the name. */
#define Test(...)      CR_TEST(__VA_ARGS__, .end = NULL)
#define TestSuite(...) CR_SUITE(__VA_ARGS__, .end = NULL)
#define CR_ENTRY(VARIABLE, SUITE, NAME, RUN, ...)                                                                      \
  static cr_entry VARIABLE = {.suite = SUITE, .name = NAME, .run = RUN, .options = {__VA_ARGS__}};                     \
  __attribute__((constructor)) static void VARIABLE##_register(void) {                                                 \
    cr_register(&VARIABLE);                                                                                            \
  }
#define CR_TEST(SUITE, NAME, ...)                                                                                      \
  static void SUITE##_##NAME##_run(void);                                                                              \
  CR_ENTRY(SUITE##_##NAME##_test, #SUITE, #NAME, SUITE##_##NAME##_run, __VA_ARGS__)                                    \
  static void SUITE##_##NAME##_run(void)
#define CR_SUITE(SUITE, ...) CR_ENTRY(SUITE##_suite, #SUITE, "", NULL, __VA_ARGS__) _Static_assert(true, "")

#define CR_CHECK(FATAL, TEXT, ...) CR_CHECK_(FATAL, TEXT, __VA_ARGS__, NULL)
#define CR_CHECK_(FATAL, TEXT, CONDITION, ...)                                                                         \
  ((CONDITION) ? cr_hold() : cr_fail(__FILE__, __LINE__, TEXT, FATAL, __VA_ARGS__))
#define CR_TRUE(FATAL, A, ...)            CR_CHECK(FATAL, #A, A, __VA_ARGS__)
#define CR_COMPARE(FATAL, OP, A, ...)     CR_COMPARE_(FATAL, OP, A, __VA_ARGS__)
#define CR_COMPARE_(FATAL, OP, A, B, ...) CR_CHECK(FATAL, #A " " #OP " " #B, (A)OP(B), __VA_ARGS__)
#define CR_STRINGS(FATAL, A, B, ...)      CR_CHECK(FATAL, #A " reads " #B, strcmp((A), (B)) == 0, __VA_ARGS__)
#define CR_OTHER(FATAL, A, B, ...)        CR_CHECK(FATAL, #A " is not " #B, strcmp((A), (B)) != 0, __VA_ARGS__)
#define CR_EMPTY(FATAL, A, ...)           CR_CHECK(FATAL, #A " is empty", !*(A), __VA_ARGS__)
#define CR_NOT_EMPTY(FATAL, A, ...)       CR_CHECK(FATAL, #A " is not empty", *(A), __VA_ARGS__)
#define CR_BYTES(FATAL, A, B, SIZE, ...)                                                                               \
  CR_CHECK(FATAL, #A " has the bytes of " #B, memcmp((A), (B), (SIZE)) == 0, __VA_ARGS__)
#define CR_NEAR(FATAL, A, B, E, ...)                                                                                   \
  CR_CHECK(FATAL, #A " is near " #B, (A) - (B) <= (E) && (B) - (A) <= (E), __VA_ARGS__)
#define CR_NOT(FATAL, A, ...)      CR_CHECK(FATAL, "not " #A, !(A), __VA_ARGS__)
#define CR_NULL(FATAL, A, ...)     CR_CHECK(FATAL, #A " is null", (A) == NULL, __VA_ARGS__)
#define CR_NOT_NULL(FATAL, A, ...) CR_CHECK(FATAL, #A " is not null", (A) != NULL, __VA_ARGS__)

#define cr_assert(...)           CR_TRUE(true, __VA_ARGS__, NULL)
#define cr_assert_fail(...)      cr_fail(__FILE__, __LINE__, "this is not reached", true, __VA_ARGS__, NULL)
#define cr_assert_not(...)       CR_NOT(true, __VA_ARGS__, NULL)
#define cr_assert_null(...)      CR_NULL(true, __VA_ARGS__, NULL)
#define cr_assert_not_null(...)  CR_NOT_NULL(true, __VA_ARGS__, NULL)
#define cr_assert_eq(...)        CR_COMPARE(true, ==, __VA_ARGS__, NULL)
#define cr_assert_neq(...)       CR_COMPARE(true, !=, __VA_ARGS__, NULL)
#define cr_assert_lt(...)        CR_COMPARE(true, <, __VA_ARGS__, NULL)
#define cr_assert_leq(...)       CR_COMPARE(true, <=, __VA_ARGS__, NULL)
#define cr_assert_gt(...)        CR_COMPARE(true, >, __VA_ARGS__, NULL)
#define cr_assert_geq(...)       CR_COMPARE(true, >=, __VA_ARGS__, NULL)
#define cr_assert_str_eq(...)    CR_STRINGS(true, __VA_ARGS__, NULL)
#define cr_assert_arr_eq(...)    CR_BYTES(true, __VA_ARGS__, NULL)
#define cr_assert_float_eq(...)  CR_NEAR(true, __VA_ARGS__, NULL)
#define cr_assert_str_neq(...)   CR_OTHER(true, __VA_ARGS__, NULL)
#define cr_assert_str_empty(...) CR_EMPTY(true, __VA_ARGS__, NULL)

#define cr_expect(...)               CR_TRUE(false, __VA_ARGS__, NULL)
#define cr_expect_not(...)           CR_NOT(false, __VA_ARGS__, NULL)
#define cr_expect_null(...)          CR_NULL(false, __VA_ARGS__, NULL)
#define cr_expect_not_null(...)      CR_NOT_NULL(false, __VA_ARGS__, NULL)
#define cr_expect_eq(...)            CR_COMPARE(false, ==, __VA_ARGS__, NULL)
#define cr_expect_neq(...)           CR_COMPARE(false, !=, __VA_ARGS__, NULL)
#define cr_expect_lt(...)            CR_COMPARE(false, <, __VA_ARGS__, NULL)
#define cr_expect_leq(...)           CR_COMPARE(false, <=, __VA_ARGS__, NULL)
#define cr_expect_gt(...)            CR_COMPARE(false, >, __VA_ARGS__, NULL)
#define cr_expect_geq(...)           CR_COMPARE(false, >=, __VA_ARGS__, NULL)
#define cr_expect_str_eq(...)        CR_STRINGS(false, __VA_ARGS__, NULL)
#define cr_expect_float_eq(...)      CR_NEAR(false, __VA_ARGS__, NULL)
#define cr_expect_str_neq(...)       CR_OTHER(false, __VA_ARGS__, NULL)
#define cr_expect_str_empty(...)     CR_EMPTY(false, __VA_ARGS__, NULL)
#define cr_expect_str_not_empty(...) CR_NOT_EMPTY(false, __VA_ARGS__, NULL)

#define cr_log_info(...) (fprintf(stderr, __VA_ARGS__), fputc('\n', stderr))
#define cr_skip_test()   exit(0)

#endif

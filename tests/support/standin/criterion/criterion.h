/* criterion/criterion.h - stands in for Criterion where it cannot run: under ThreadSanitizer, in whose shadow memory
 * its arena lies, and under an emulator of another processor. The same tests compile against both.
 *
 * As in Criterion every test runs in a process of its own, so that a crash, a failed assertion or a report of the
 * sanitizer fails that test and no other. Tests run one after the other. */
#ifndef CRITERION_STAND_IN_H
#define CRITERION_STAND_IN_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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

static cr_entry *cr_first, **cr_last = &cr_first;
static bool cr_failed;

/* Called before main, in the order of the file. */
__attribute__((unused)) static void cr_register(cr_entry *entry) {
  *cr_last = entry;
  cr_last = &entry->next;
}

/* `text` is the source of the check. A message in the check's own words follows the condition, ended by a null that
 * stands where the format would when there is none. */
__attribute__((unused)) static void cr_check(const char *file, int line, const char *text, bool fatal, bool condition,
                                             const char *format, ...) {
  if (condition) return;
  cr_failed = true;
  fprintf(stderr, "%s:%d: failed: %s", file, line, text);
  if (format) {
    va_list arguments;
    va_start(arguments, format);
    fputs(": ", stderr);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
  }
  fputc('\n', stderr);
  if (fatal) exit(1);
}

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

#define CR_CHECK(FATAL, TEXT, ...)        cr_check(__FILE__, __LINE__, TEXT, FATAL, __VA_ARGS__, NULL)
#define CR_COMPARE(FATAL, OP, A, ...)     CR_COMPARE_(FATAL, OP, A, __VA_ARGS__)
#define CR_COMPARE_(FATAL, OP, A, B, ...) CR_CHECK(FATAL, #A " " #OP " " #B, (A)OP(B), __VA_ARGS__)
#define CR_STRINGS(FATAL, A, B, ...)      CR_CHECK(FATAL, #A " reads " #B, strcmp((A), (B)) == 0, __VA_ARGS__)
#define CR_BYTES(FATAL, A, B, SIZE, ...)                                                                               \
  CR_CHECK(FATAL, #A " has the bytes of " #B, memcmp((A), (B), (SIZE)) == 0, __VA_ARGS__)
#define CR_NEAR(FATAL, A, B, E, ...)                                                                                   \
  CR_CHECK(FATAL, #A " is near " #B, (A) - (B) <= (E) && (B) - (A) <= (E), __VA_ARGS__)
#define CR_NOT(FATAL, A, ...)      CR_CHECK(FATAL, "not " #A, !(A), __VA_ARGS__)
#define CR_NULL(FATAL, A, ...)     CR_CHECK(FATAL, #A " is null", (A) == NULL, __VA_ARGS__)
#define CR_NOT_NULL(FATAL, A, ...) CR_CHECK(FATAL, #A " is not null", (A) != NULL, __VA_ARGS__)

#define cr_assert(...)          CR_CHECK(true, #__VA_ARGS__, __VA_ARGS__)
#define cr_assert_fail(...)     cr_check(__FILE__, __LINE__, "this is not reached", true, false, __VA_ARGS__, NULL)
#define cr_assert_not(...)      CR_NOT(true, __VA_ARGS__, NULL)
#define cr_assert_null(...)     CR_NULL(true, __VA_ARGS__, NULL)
#define cr_assert_not_null(...) CR_NOT_NULL(true, __VA_ARGS__, NULL)
#define cr_assert_eq(...)       CR_COMPARE(true, ==, __VA_ARGS__, NULL)
#define cr_assert_neq(...)      CR_COMPARE(true, !=, __VA_ARGS__, NULL)
#define cr_assert_lt(...)       CR_COMPARE(true, <, __VA_ARGS__, NULL)
#define cr_assert_leq(...)      CR_COMPARE(true, <=, __VA_ARGS__, NULL)
#define cr_assert_gt(...)       CR_COMPARE(true, >, __VA_ARGS__, NULL)
#define cr_assert_geq(...)      CR_COMPARE(true, >=, __VA_ARGS__, NULL)
#define cr_assert_str_eq(...)   CR_STRINGS(true, __VA_ARGS__, NULL)
#define cr_assert_arr_eq(...)   CR_BYTES(true, __VA_ARGS__, NULL)
#define cr_assert_float_eq(...) CR_NEAR(true, __VA_ARGS__, NULL)

#define cr_expect(...)          CR_CHECK(false, #__VA_ARGS__, __VA_ARGS__)
#define cr_expect_not(...)      CR_NOT(false, __VA_ARGS__, NULL)
#define cr_expect_null(...)     CR_NULL(false, __VA_ARGS__, NULL)
#define cr_expect_not_null(...) CR_NOT_NULL(false, __VA_ARGS__, NULL)
#define cr_expect_eq(...)       CR_COMPARE(false, ==, __VA_ARGS__, NULL)
#define cr_expect_neq(...)      CR_COMPARE(false, !=, __VA_ARGS__, NULL)
#define cr_expect_lt(...)       CR_COMPARE(false, <, __VA_ARGS__, NULL)
#define cr_expect_leq(...)      CR_COMPARE(false, <=, __VA_ARGS__, NULL)
#define cr_expect_gt(...)       CR_COMPARE(false, >, __VA_ARGS__, NULL)
#define cr_expect_geq(...)      CR_COMPARE(false, >=, __VA_ARGS__, NULL)
#define cr_expect_str_eq(...)   CR_STRINGS(false, __VA_ARGS__, NULL)
#define cr_expect_float_eq(...) CR_NEAR(false, __VA_ARGS__, NULL)

#define cr_log_info(...) (fprintf(stderr, __VA_ARGS__), fputc('\n', stderr))
#define cr_skip_test()   exit(0)

static const cr_options *cr_options_of_suite(const char *suite) {
  static const cr_options none;
  for (const cr_entry *entry = cr_first; entry; entry = entry->next)
    if (!entry->run && strcmp(entry->suite, suite) == 0) return &entry->options;
  return &none;
}

static bool cr_passes(const cr_entry *test) {
  const cr_options *own = &test->options, *suite = cr_options_of_suite(test->suite);
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    if (suite->init) suite->init();
    if (own->init) own->init();
    test->run();
    if (own->fini) own->fini();
    if (suite->fini) suite->fini();
    exit(cr_failed ? 1 : 0); /* not _exit: the sanitizer turns its reports into an exit code here */
  }
  int status = -1;
  if (child > 0) waitpid(child, &status, 0);
  bool passes = status == 0;
  printf("%s: %s: %s\n", passes ? "passed" : "FAILED", test->suite, test->name);
  return passes;
}

int main(void) {
  unsigned passed = 0, failed = 0;
  for (const cr_entry *test = cr_first; test; test = test->next)
    if (test->run && !test->options.disabled) cr_passes(test) ? passed++ : failed++;
  printf("%u passed, %u failed\n", passed, failed);
  return failed > 0 || passed == 0;
}

#endif

/* criterion/criterion.h - stands in for Criterion in ThreadSanitizer builds, where Criterion itself cannot run (its
 * arena lies in ThreadSanitizer's shadow memory). The same tests compile against both.
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

typedef struct cr_test {
  const char *suite, *name;
  void (*run)(void);
  void (*init)(void), (*fini)(void);
  bool disabled;
  double timeout; /* ctest has one of its own */
  struct cr_test *next;
} cr_test;

static cr_test *cr_first, **cr_last = &cr_first;
static bool cr_failed;

/* Called before main, in the order of the file. */
__attribute__((unused)) static void cr_register(cr_test *test) {
  *cr_last = test;
  cr_last = &test->next;
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

/* A test's options, such as .init = f, follow its name. */
#define Test(...) CR_TEST(__VA_ARGS__, .next = NULL)
#define CR_TEST(SUITE, NAME, ...)                                                                                      \
  static void SUITE##_##NAME##_run(void);                                                                              \
  static cr_test SUITE##_##NAME##_test = {.suite = #SUITE, .name = #NAME, .run = SUITE##_##NAME##_run, __VA_ARGS__};   \
  __attribute__((constructor)) static void SUITE##_##NAME##_register(void) {                                           \
    cr_register(&SUITE##_##NAME##_test);                                                                               \
  }                                                                                                                    \
  static void SUITE##_##NAME##_run(void)

#define CR_CHECK(FATAL, TEXT, ...) cr_check(__FILE__, __LINE__, TEXT, FATAL, __VA_ARGS__, NULL)
#define CR_COMPARE(OP, A, B, ...)  CR_CHECK(true, #A " " #OP " " #B, (A)OP(B), __VA_ARGS__)
#define CR_STRINGS(A, B, ...)      CR_CHECK(true, #A " reads " #B, strcmp((A), (B)) == 0, __VA_ARGS__)
#define CR_NEAR(A, B, E, ...)      CR_CHECK(true, #A " is near " #B, (A) - (B) <= (E) && (B) - (A) <= (E), __VA_ARGS__)
#define CR_NOT(A, ...)             CR_CHECK(true, "not " #A, !(A), __VA_ARGS__)
#define CR_NULL(A, ...)            CR_CHECK(true, #A " is null", (A) == NULL, __VA_ARGS__)
#define CR_NOT_NULL(A, ...)        CR_CHECK(true, #A " is not null", (A) != NULL, __VA_ARGS__)

#define cr_assert(...)          CR_CHECK(true, #__VA_ARGS__, __VA_ARGS__)
#define cr_expect(...)          CR_CHECK(false, #__VA_ARGS__, __VA_ARGS__)
#define cr_assert_fail(...)     cr_check(__FILE__, __LINE__, "this is not reached", true, false, __VA_ARGS__, NULL)
#define cr_assert_not(...)      CR_NOT(__VA_ARGS__, NULL)
#define cr_assert_null(...)     CR_NULL(__VA_ARGS__, NULL)
#define cr_assert_not_null(...) CR_NOT_NULL(__VA_ARGS__, NULL)
#define cr_assert_eq(...)       CR_COMPARE(==, __VA_ARGS__, NULL)
#define cr_assert_neq(...)      CR_COMPARE(!=, __VA_ARGS__, NULL)
#define cr_assert_lt(...)       CR_COMPARE(<, __VA_ARGS__, NULL)
#define cr_assert_leq(...)      CR_COMPARE(<=, __VA_ARGS__, NULL)
#define cr_assert_gt(...)       CR_COMPARE(>, __VA_ARGS__, NULL)
#define cr_assert_geq(...)      CR_COMPARE(>=, __VA_ARGS__, NULL)
#define cr_assert_str_eq(...)   CR_STRINGS(__VA_ARGS__, NULL)
#define cr_assert_float_eq(...) CR_NEAR(__VA_ARGS__, NULL)
#define cr_log_info(...)        (fprintf(stderr, __VA_ARGS__), fputc('\n', stderr))

static bool cr_passes(const cr_test *test) {
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    if (test->init) test->init();
    test->run();
    if (test->fini) test->fini();
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
  for (const cr_test *test = cr_first; test; test = test->next)
    if (!test->disabled) cr_passes(test) ? passed++ : failed++;
  printf("%u passed, %u failed\n", passed, failed);
  return failed > 0 || passed == 0;
}

#endif

/* The last error of each thread, and the log. */
#include "base/error.h"
#include "support/with.h"

#include <muster/module.h>

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

Test(error, is_empty_until_something_fails) {
  cr_assert_str_eq(muster_last_error(), "");
}

Test(error, keeps_the_last_message_and_hands_the_result_through) {
  cr_assert_eq(error_set(MUSTER_E_ARGUMENT, "first %d", 1), MUSTER_E_ARGUMENT);
  cr_assert_str_eq(muster_last_error(), "first 1");
  cr_assert_eq(error_set(MUSTER_E_FULL, "%s of %u", "second", 2u), MUSTER_E_FULL);
  cr_assert_str_eq(muster_last_error(), "second of 2");
}

/* The format is changed after the failure: the text shows when it was made. */
Test(error, words_are_made_when_they_are_read_and_once) {
  char format[] = "%u mice of '%s'", name[] = "barn";
  error_keep(MUSTER_E_FULL, format, 3u, name);
  memcpy(format, "%u rats", 7);
  memcpy(name, "gone", 4);
  cr_assert_str_eq(muster_last_error(), "3 rats of 'barn'", "strings are copied, and nothing else is made before");
  memcpy(format, "%u bats", 7);
  cr_assert_str_eq(muster_last_error(), "3 rats of 'barn'");
}

#define SAYS(...)                                                                                                      \
  do {                                                                                                                 \
    char expected[1024];                                                                                               \
    snprintf(expected, sizeof expected, __VA_ARGS__);                                                                  \
    for (uint32_t again = 0; again < 2; again++) {                                                                     \
      error_set(MUSTER_E_INPUT, __VA_ARGS__);                                                                          \
      cr_assert_str_eq(muster_last_error(), expected);                                                                 \
    }                                                                                                                  \
  } while (0)

Test(error, words_are_those_of_printf_whatever_is_converted) {
  const char unterminated[4] = {'M', 'U', 'S', 'T'}, *volatile null = NULL;
  SAYS("nothing");
  SAYS("100 %% of %d %%", 7);
  SAYS("%d, %i, %u, %x, %X, %o, %c", -1, 2, 3000000000u, 0xbeefu, 0xbeefu, 8u, 'c');
  SAYS("%hhu %hd", (unsigned char)200, (short)-3);
  SAYS("%ld %lu %lx %zu %zd %jd %td", -5L, 6UL, 255UL, (size_t)-1, (ssize_t)-1, (intmax_t)-7, (ptrdiff_t)8);
  SAYS("%lld %llu %llx", -9LL, ~0ULL, 1ULL << 60);
  SAYS("%g %f %e %.3f %+g % d %05d %-6d|%#x", 0.1, 1e10, 1e-300, 3.14159, 2.0, 5, 6, 7, 8);
  SAYS("%s, %.2s, %8s|%-8s|%.4s", "one", "two", "three", "four", unterminated);
  SAYS("%s and %s", null, "");
  SAYS("%p and %*d", (void *)unterminated, 6, 42);
  SAYS("%d %d %d %d %d %d %d %d %s", 1, 2, 3, 4, 5, 6, 7, 8, "nine are more than are kept");
}

Test(error, several_strings_too_long_together_are_cut_where_the_message_ends) {
  char text[2][400], expected[1024];
  memset(text, 'a', sizeof text);
  text[0][399] = text[1][399] = '\0';
  snprintf(expected, sizeof expected, "%s%s%s%d", text[0], "", text[1], 5);
  error_set(MUSTER_E_INPUT, "%s%s%s%d", text[0], "", text[1], 5);
  expected[511] = '\0';
  cr_assert_str_eq(muster_last_error(), expected);
}

Test(error, its_result_stays_with_it_until_the_next_failure) {
  cr_assert_eq(muster_last_result(), MUSTER_OK);
  error_set(MUSTER_E_STALE, "agent %u is gone", 5u);
  cr_assert_eq(muster_last_result(), MUSTER_E_STALE);
  muster_module_fail(MUSTER_E_INPUT, "line %d", 1);
  cr_assert_eq(muster_last_result(), MUSTER_E_INPUT);
  cr_assert_str_eq(muster_last_error(), "line 1");
}

Test(error, a_module_sets_it_too) {
  cr_assert_eq(muster_module_fail(MUSTER_E_INPUT, "line %d: no number", 7), MUSTER_E_INPUT);
  cr_assert_str_eq(muster_last_error(), "line 7: no number");
}

Test(error, a_message_may_quote_the_last_one) {
  error_set(MUSTER_E_MEMORY, "the allocator refused 12 bytes");
  muster_module_fail(MUSTER_E_INPUT, "while reading the herd: %s", muster_last_error());
  cr_assert_str_eq(muster_last_error(), "while reading the herd: the allocator refused 12 bytes");
  error_set(MUSTER_E_INPUT, "no world: %s", muster_last_error());
  cr_assert_str_eq(muster_last_error(), "no world: while reading the herd: the allocator refused 12 bytes");
}

Test(error, a_message_too_long_is_cut_and_stays_a_string) {
  char text[2000];
  memset(text, 'x', sizeof text);
  text[sizeof text - 1] = '\0';
  error_set(MUSTER_E_INPUT, "%s", text);
  size_t length = strlen(muster_last_error());
  cr_assert_geq(length, 255);
  cr_assert_lt(length, sizeof text - 1);
  cr_assert_eq(strncmp(muster_last_error(), text, length), 0);
}

struct seen {
  bool empty_at_first, own_in_the_end;
};

static void *fail_on_another_thread(void *argument) {
  struct seen *seen = argument;
  seen->empty_at_first = strcmp(muster_last_error(), "") == 0;
  error_set(MUSTER_E_SYSTEM, "of the other thread");
  seen->own_in_the_end = strcmp(muster_last_error(), "of the other thread") == 0;
  return NULL;
}

Test(error, each_thread_has_its_own) {
  struct seen seen = {false, false};
  pthread_t thread;
  error_set(MUSTER_E_SYSTEM, "of this thread");
  cr_assert_eq(pthread_create(&thread, NULL, fail_on_another_thread, &seen), 0);
  pthread_join(thread, NULL);
  cr_assert(seen.empty_at_first);
  cr_assert(seen.own_in_the_end);
  cr_assert_str_eq(muster_last_error(), "of this thread");
}

Test(error, every_result_has_the_name_that_the_header_gives_it) {
  static const char *const names[] = {
      [MUSTER_OK] = "MUSTER_OK",
      [MUSTER_E_ARGUMENT] = "MUSTER_E_ARGUMENT",
      [MUSTER_E_NOT_INITIALISED] = "MUSTER_E_NOT_INITIALISED",
      [MUSTER_E_STALE] = "MUSTER_E_STALE",
      [MUSTER_E_FULL] = "MUSTER_E_FULL",
      [MUSTER_E_MEMORY] = "MUSTER_E_MEMORY",
      [MUSTER_E_STATE] = "MUSTER_E_STATE",
      [MUSTER_E_TIME] = "MUSTER_E_TIME",
      [MUSTER_E_SYSTEM] = "MUSTER_E_SYSTEM",
      [MUSTER_E_INPUT] = "MUSTER_E_INPUT",
  };
  for (int i = MUSTER_OK; i < (int)COUNT_OF(names); i++)
    cr_assert_str_eq(muster_result_name((muster_result)i), names[i]);
  cr_assert_not_null(muster_result_name((muster_result)(MUSTER_E_INPUT + 1)));
}

struct logged {
  uint32_t lines;
  muster_log_level level;
  char message[600];
};

static void keep_line(muster_log_level level, const char *message, void *user) {
  struct logged *logged = user;
  logged->lines++;
  logged->level = level;
  snprintf(logged->message, sizeof logged->message, "%s", message);
}

Test(log, hands_every_level_to_the_hosts_sink) {
  struct logged logged = {0};
  muster_log_sink sink = {keep_line, &logged};
  static const muster_log_level levels[] = {MUSTER_LOG_INFO, MUSTER_LOG_WARNING, MUSTER_LOG_ERROR};
  for (uint32_t i = 0; i < 3; i++) {
    log_write(&sink, levels[i], "line %u of %s", i, "three");
    cr_assert_eq(logged.lines, i + 1);
    cr_assert_eq(logged.level, levels[i]);
    cr_assert_eq(logged.message[5], '0' + (char)i);
  }
  cr_assert_str_eq(logged.message, "line 2 of three");
}

Test(log, cuts_a_line_at_511_bytes) {
  struct logged logged = {0};
  muster_log_sink sink = {keep_line, &logged};
  char text[2000];
  memset(text, 'y', sizeof text);
  text[sizeof text - 1] = '\0';
  log_write(&sink, MUSTER_LOG_ERROR, "%s", text);
  cr_assert_eq(strlen(logged.message), 511);
}

/* What arrives on standard error while `level` is logged without a sink. */
static const char *standard_error_of(muster_log_level level) {
  static char text[100];
  muster_log_sink none = {0};
  FILE *file = tmpfile();
  cr_assert_not_null(file);
  fflush(stderr);
  int saved = dup(STDERR_FILENO);
  dup2(fileno(file), STDERR_FILENO);
  log_write(&none, level, "a line");
  fflush(stderr);
  dup2(saved, STDERR_FILENO);
  close(saved);
  rewind(file);
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  return text;
}

Test(log, without_a_sink_drops_information_and_sends_the_rest_to_standard_error) {
  cr_assert_str_eq(standard_error_of(MUSTER_LOG_INFO), "");
  cr_assert_str_eq(standard_error_of(MUSTER_LOG_WARNING), "muster: a line\n");
  cr_assert_str_eq(standard_error_of(MUSTER_LOG_ERROR), "muster: a line\n");
}

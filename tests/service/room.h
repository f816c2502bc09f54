/* room.h - what the tests of this room include. */
#ifndef SERVICE_ROOM_H
#define SERVICE_ROOM_H

#include "support/await.h"
#include "support/skip.h"
#include "support/with.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Whether the text has the part; it is shown if not. */
static inline void expect_in(const char *text, const char *part) {
  cr_expect(strstr(text, part), "\"%s\" is not in: %s", part, text);
}

/* Calls a function with each of some texts, pairs of texts, or texts with a number between them:
 *
 *   EACH(expect_logged, "one", "other");
 *   EACH_TRIPLE(expect_printed, {"ctl worlds", 0, "wildlife"}, {"ctl wake", 2, "ID"}); */
#define EACH(FUNCTION, ...)                                                                                            \
  do {                                                                                                                 \
    const char *const texts_[] = {__VA_ARGS__};                                                                        \
    for (size_t i_ = 0; i_ < COUNT_OF(texts_); i_++) FUNCTION(texts_[i_]);                                             \
  } while (0)
#define EACH_PAIR(FUNCTION, ...)                                                                                       \
  do {                                                                                                                 \
    const char *const pairs_[][2] = {__VA_ARGS__};                                                                     \
    for (size_t i_ = 0; i_ < COUNT_OF(pairs_); i_++) FUNCTION(pairs_[i_][0], pairs_[i_][1]);                           \
  } while (0)
#define EACH_TRIPLE(FUNCTION, ...)                                                                                     \
  do {                                                                                                                 \
    const struct {                                                                                                     \
      const char *first;                                                                                               \
      int number;                                                                                                      \
      const char *last;                                                                                                \
    } rows_[] = {__VA_ARGS__};                                                                                         \
    for (size_t i_ = 0; i_ < COUNT_OF(rows_); i_++) FUNCTION(rows_[i_].first, rows_[i_].number, rows_[i_].last);       \
  } while (0)

/* A sample of a text of metrics, by its name with its labels; -1 when there is none. */
static inline double sample_in(const char *text, const char *name) {
  const char *line = formed("\n%s ", name), *found = strstr(text, line);
  return found ? strtod(found + strlen(line), NULL) : -1.0;
}

/* How often it has the part. */
static inline uint32_t count_in(const char *text, const char *part) {
  uint32_t count = 0;
  for (const char *at = text; (at = strstr(at, part)) != NULL; at++) count++;
  return count;
}

/* So many bytes and none behind them, so that a sanitizer sees what is read there. */
static inline unsigned char *exact_copy(const void *bytes, size_t count) {
  unsigned char *copy = malloc(count ? count : 1);
  cr_assert_not_null(copy);
  return memcpy(copy, bytes, count);
}

/* Another time it is as it was. */
static inline void turn_bit(unsigned char *bytes, size_t bit) {
  bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
}

static inline void close_all(const int *descriptors, int count) {
  for (int i = 0; i < count; i++) close(descriptors[i]);
}

/* How much of a long test is wanted, such as MUSTER_STRIKES. */
static inline uint64_t environment_number(const char *name, uint64_t otherwise) {
  const char *given = getenv(name);
  return given ? strtoull(given, NULL, 10) : otherwise;
}

/* xorshift64: the same bytes in each run. */
static inline uint64_t next_random(uint64_t *state) {
  *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
  return *state;
}

#endif

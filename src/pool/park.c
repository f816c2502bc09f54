#include "pool/park.h"

#include "base/clock.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

static int read_time(const struct ck_ec_ops *ops, struct timespec *out) {
  (void)ops;
  uint64_t now_ns = clock_system();
  *out = (struct timespec){.tv_sec = (time_t)(now_ns / 1000000000u), .tv_nsec = (long)(now_ns % 1000000000u)};
  return 0;
}

/* Deadlines of ck are absolute CLOCK_MONOTONIC times, as FUTEX_WAIT_BITSET takes them. */
static void wait_on_word(const uint32_t *word, uint32_t expected, const struct timespec *deadline) {
  syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, expected, deadline, NULL, FUTEX_BITSET_MATCH_ANY);
}

static void wait32(const struct ck_ec_wait_state *state, const uint32_t *word, uint32_t expected,
                   const struct timespec *deadline) {
  (void)state;
  wait_on_word(word, expected, deadline);
}

static void wake32(const struct ck_ec_ops *ops, const uint32_t *word) {
  (void)ops;
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* Never called, since 64-bit counts are never used. */
static void wait64(const struct ck_ec_wait_state *state, const uint64_t *word, uint64_t expected,
                   const struct timespec *deadline) {
  (void)state;
  wait_on_word((const uint32_t *)word, (uint32_t)expected, deadline);
}

static void wake64(const struct ck_ec_ops *ops, const uint64_t *word) {
  wake32(ops, (const uint32_t *)word);
}

/* With several producers no wake is missed, so ck need not look again after 2 ms, as it does by default: that would
 * wake every idle worker for nothing. A thread that comes here has spun already. */
static const struct ck_ec_ops operations = {.gettime = read_time,
                                            .wait32 = wait32,
                                            .wait64 = wait64,
                                            .wake32 = wake32,
                                            .wake64 = wake64,
                                            .busy_loop_iter = 1,
                                            .initial_wait_ns = UINT32_MAX};

static const struct ck_ec_mode mode = {.ops = &operations, .single_producer = false};

void park_wait(struct parking *parking, uint32_t ticket) {
  ck_ec32_wait(&parking->count, &mode, ticket, NULL);
}

void park_wake(struct parking *parking) {
  ck_ec32_inc(&parking->count, &mode);
}

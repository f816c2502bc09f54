/* explorer.h - START HERE for the interleaving explorer: the pool's lock-free code, run under schedules of our
 * choosing.
 *
 * The product's sources are compiled as they are against stand-in headers (include/, first on the include path) in
 * which every atomic operation is a scheduling point. Two to four fibres in one thread run a small program over the
 * real code; at each point a seeded scheduler says which fibre goes on. So a schedule is a number: what fails once
 * fails again with `explore --case NAME --seed S --trace`, which prints every operation in its order.
 *
 *   explorer.c      fibres, points of choice, blocking and waking, what counts as a failure
 *   schedule.c      which fibre goes on, and for how long: the strategies
 *   trace.c         what was done in which order, for the schedule that failed
 *   include/        stand-ins for pool/atomics.h, pool/park.h and base/assert.h
 *   standins.c      what else the product calls: clock, threads, memory, messages; entered.c: what is thread-local
 *   little_pool.h   a pool of fibres, for cases
 *   cases.h, cases/ the programs; explore.c runs them
 *   faults/         planted faults, each to be caught by a case: see faults/README
 *
 * What is explored are sequentially consistent interleavings. What weaker orders would allow on top of that is for
 * ThreadSanitizer and review to find; a weak compare-and-swap does fail for no reason here now and then.
 *
 * A schedule fails when an assertion of the product or a case does, when memory that was given back is touched, when
 * all fibres that are left sleep (a lost wake), when it takes too many steps (no fibre gets ahead), or when it crashes.
 */
#ifndef EXPLORE_EXPLORER_H
#define EXPLORE_EXPLORER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EXPLORE_FIBRES_MAX = 8 };

/* ---------------------------------------------------------------------------------------------------- for cases */

typedef struct explore_case {
  const char *name; /* structure/what happens */
  uint32_t fibres;
  void (*prepare)(void);       /* once; takes memory from explore_memory, and keeps in the file where that is */
  void (*begin)(void);         /* of each schedule, before the fibres; may be null */
  void (*run)(uint32_t fibre); /* what each fibre does */
  void (*check)(void);         /* when all fibres have ended; may be null */
  uint32_t steps_max;          /* 0 = 20,000 */
} explore_case;

/* Zeroed memory, aligned to 64 bytes, that every schedule finds as `prepare` left it. Only in prepare. */
void *explore_memory(size_t bytes);

/* Memory of one schedule, zeroed, that may be given back and must not be touched afterwards. At most 4 KB in all. */
void *explore_new(size_t bytes);
void explore_delete(void *memory);

/* Ends the schedule as a failure, printf-style. */
void explore_fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

#define EXPLORE_CHECK(condition)                                                                                       \
  ((condition) ? (void)0 : explore_fail("%s:%d: %s does not hold", explore_base_name(__FILE__), __LINE__, #condition))

/* The name of a file without its folders. */
const char *explore_base_name(const char *path);

/* The fibre that runs. */
uint32_t explore_fibre(void);

/* A moment that passes inside a job: others may run. */
void explore_moment(void);

/* Lets another fibre run, if any can: inside a loop that waits for others. */
void explore_yield(void);

/* Sleeps until every other fibre sleeps or has ended. */
void explore_until_quiet(void);

/* Virtual nanoseconds that a job takes. The clock moves by itself only while a fibre spins. */
void explore_spend(uint64_t ns);

/* A number below `bound`, drawn from the schedule's seed. */
uint32_t explore_draw(uint32_t bound);

/* ------------------------------------------------------------------------------------------------ for the stand-ins */

/* An operation in the text of the program. */
typedef struct explore_site {
  const char *file, *function, *operation, *operand;
  int line;
  int bytes; /* of what it works on; 0 = nothing */
} explore_site;

/* What the points look at in passing. */
typedef struct explore_present {
  int64_t countdown; /* points until the next choice */
  uint64_t heap, heap_bytes;
  int64_t until_spurious; /* weak compare-and-swaps until one fails for no reason */
  uint64_t clock_ns;
} explore_present;

extern explore_present explore_now;

/* A point of choice, when its time has come. */
void explore_choose(const explore_site *site, const void *word);

/* Fails when a word of the schedule's memory was given back. */
void explore_check_live(const explore_site *site, const void *word);

/* Before an atomic operation. */
static inline void explore_before(const explore_site *site, const void *word) {
  if (__builtin_expect(--explore_now.countdown <= 0, 0)) explore_choose(site, word);
  if (__builtin_expect((uint64_t)(uintptr_t)word - explore_now.heap < explore_now.heap_bytes, 0))
    explore_check_live(site, word);
}

/* After one that wrote: plain accesses that follow it in the program may come late. */
static inline void explore_after(void) {
  if (__builtin_expect(--explore_now.countdown <= 0, 0)) explore_choose(NULL, NULL);
}

/* A step of a spinning loop: the clock goes on, and after some of them another fibre. */
void explore_pause(void);

/* Sleeps until *word differs from `value`: explore_unblock says when to look. */
void explore_block(const uint32_t *word, uint32_t value);
void explore_unblock(const uint32_t *word);

/* A pointer's worth of memory for each fibre, null at its beginning: what is thread-local. */
void **explore_local(void);

/* ---------------------------------------------------------------------------------------------------- for explore.c */

typedef struct explore_result {
  uint64_t schedules; /* run; the last one failed when `failed` */
  uint64_t steps;
  uint64_t longest; /* schedule, in steps */
  bool failed;
  uint64_t seed; /* of the schedule that failed */
  char message[512];
} explore_result;

/* Runs schedules of a case with the seeds `seed`, seed + 1, ... until one fails. */
explore_result explore_run(const explore_case *subject, uint64_t seed, uint64_t schedules);

/* Runs one schedule and prints what was done in it, its last `events_max` steps. */
explore_result explore_replay(const explore_case *subject, uint64_t seed, uint32_t events_max);

/* What the machine interrupts (a crash, a loop without points of choice) is a failure of the schedule from here on. */
void explore_catch_signals(void);

#endif

/* Counter-based random numbers: pure, even, and no stream like another. */
#include "base/random.h"
#include "support/with.h"

#include <criterion/criterion.h>

Test(random, mixes_as_the_published_splitmix64) {
  /* The first three numbers of SplitMix64 from seed 0: its state is a multiple of the golden ratio. */
  const uint64_t golden = 0x9e3779b97f4a7c15u;
  cr_assert_eq(muster_random_mix(golden), 0xe220a8397b1dcdafu);
  cr_assert_eq(muster_random_mix(golden * 2), 0x6e789e6aa1b965f4u);
  cr_assert_eq(muster_random_mix(golden * 3), 0x06c45d188009454fu);
}

/* The mixer backwards. */
static uint64_t unmix(uint64_t value) {
  value ^= value >> 31 ^ value >> 62;
  value *= 0x319642b2d24d8ec3u;
  value ^= value >> 27 ^ value >> 54;
  value *= 0x96de1b173f119089u;
  return value ^ value >> 30 ^ value >> 60;
}

Test(random, mixing_loses_nothing) {
  for (uint64_t i = 0; i < 100000; i++) {
    uint64_t value = i < 50000 ? i : i * 0x2545f4914f6cdd1du;
    cr_assert_eq(unmix(muster_random_mix(value)), value);
  }
}

Test(random, a_number_depends_on_what_it_is_for_and_not_on_the_order_of_asking) {
  uint64_t forwards[64], backwards[64];
  for (uint32_t i = 0; i < 64; i++) forwards[i] = random_at(7, i / 8, i % 8, i);
  for (uint32_t i = 64; i-- > 0;) backwards[i] = random_at(7, i / 8, i % 8, i);
  for (uint32_t i = 0; i < 64; i++) cr_assert_eq(forwards[i], backwards[i]);
}

Test(random, no_two_of_a_million_neighbouring_numbers_are_equal) {
  enum { EDGE = 32, COUNT = EDGE * EDGE * EDGE * EDGE };
  uint64_t *numbers = malloc(COUNT * sizeof *numbers);
  for (uint32_t i = 0; i < COUNT; i++)
    numbers[i] = random_at(i / EDGE / EDGE / EDGE, i / EDGE / EDGE % EDGE, i / EDGE % EDGE, i % EDGE);
  qsort(numbers, COUNT, sizeof *numbers, compare_numbers);
  uint32_t equal = 0;
  for (uint32_t i = 1; i < COUNT; i++) equal += numbers[i] == numbers[i - 1];
  cr_assert_eq(equal, 0);
  free(numbers);
}

/* How many of 64 bits differ on average between two streams; unrelated ones differ in 32, give or take 0.06. */
typedef uint64_t (*stream_function)(uint64_t which, uint64_t counter);

static void check_unrelated(stream_function stream, const char *what) {
  enum { NUMBERS = 4096, STREAMS = 16 };
  for (uint64_t a = 0; a < STREAMS; a++)
    for (uint64_t b = a + 1; b < STREAMS; b++) {
      uint64_t differing = 0;
      for (uint64_t i = 0; i < NUMBERS; i++) differing += (uint32_t)__builtin_popcountll(stream(a, i) ^ stream(b, i));
      double mean = (double)differing / NUMBERS;
      cr_assert(mean > 31.5 && mean < 32.5, "%s %u and %u: %g bits of 64 differ", what, (unsigned)a, (unsigned)b, mean);
    }
}

static uint64_t by_seed(uint64_t which, uint64_t counter) {
  return random_at(which, 5, 6, counter);
}
static uint64_t by_key(uint64_t which, uint64_t counter) {
  return random_at(5, which, 6, counter);
}
static uint64_t by_subkey(uint64_t which, uint64_t counter) {
  return random_at(5, 6, which, counter);
}
static uint64_t by_shifted_counter(uint64_t which, uint64_t counter) {
  return random_at(5, 6, 7, counter + which);
}

/* As the runner draws them: generation and index in the key, simulation time as the subkey. */
static uint64_t by_agent_and_time(uint64_t which, uint64_t counter) {
  return random_at(1, 1ull << 32 | which % 4, (which / 4) * 33333333u, counter);
}

Test(random, streams_of_neighbouring_seeds_keys_subkeys_and_counters_are_unrelated) {
  check_unrelated(by_seed, "seeds");
  check_unrelated(by_key, "keys");
  check_unrelated(by_subkey, "subkeys");
  check_unrelated(by_shifted_counter, "counters shifted by");
  check_unrelated(by_agent_and_time, "agents at times");
}

Test(random, every_argument_has_a_meaning_of_its_own) {
  cr_assert_neq(random_at(1, 2, 3, 4), random_at(2, 1, 3, 4));
  cr_assert_neq(random_at(1, 2, 3, 4), random_at(1, 3, 2, 4));
  cr_assert_neq(random_at(1, 2, 3, 4), random_at(1, 2, 4, 3));
  cr_assert_neq(random_at(1, 2, 3, 4), random_at(4, 2, 3, 1));
}

Test(random, a_share_is_at_least_zero_and_below_one) {
  cr_assert(muster_random_share(0) >= 0.0f && muster_random_share(0) <= 0.0f);
  cr_assert_lt(muster_random_share(UINT64_MAX), 1.0f);
  cr_assert_gt(muster_random_share(UINT64_MAX), 0.9999f);
}

Test(random, shares_are_uniform) {
  enum { BINS = 256, DRAWS = 1 << 20 };
  uint32_t counts[BINS] = {0};
  double sum = 0;
  for (uint32_t i = 0; i < DRAWS; i++) {
    float share = muster_random_share(random_at(11, i / 1024, 0, i % 1024));
    counts[(uint32_t)(share * BINS)]++;
    sum += (double)share;
  }
  double expected = (double)DRAWS / BINS, chi_squared = 0;
  for (uint32_t i = 0; i < BINS; i++)
    chi_squared += ((double)counts[i] - expected) * ((double)counts[i] - expected) / expected;
  /* 255 degrees of freedom: mean 255, standard deviation 22.6; four of them either way. */
  cr_assert(chi_squared > 165 && chi_squared < 346, "chi squared is %g", chi_squared);
  cr_assert_float_eq(sum / DRAWS, 0.5, 0.002);
}

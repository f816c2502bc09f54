#include "plan/cost_factors.h"

#include <math.h>

const uint32_t factor_units[2 * FACTOR_MOST + 1] = {
    128,      144,      161,      181,      203,      228,      256,      181,      203,      228,      256,
    287,      323,      362,      256,      287,      323,      362,      406,      456,      512,      362,
    406,      456,      512,      575,      645,      724,      512,      575,      645,      724,      813,
    912,      1024,     724,      813,      912,      1024,     1149,     1290,     1448,     1024,     1149,
    1290,     1448,     1625,     1825,     2048,     1448,     1625,     1825,     2048,     2299,     2580,
    2896,     2048,     2299,     2580,     2896,     3251,     3649,     4096,     2896,     3251,     3649,
    4096,     4598,     5161,     5793,     4096,     4598,     5161,     5793,     6502,     7298,     8192,
    5793,     6502,     7298,     8192,     9195,     10321,    11585,    8192,     9195,     10321,    11585,
    13004,    14596,    16384,    11585,    13004,    14596,    16384,    18390,    20643,    23170,    16384,
    18390,    20643,    23170,    26008,    29193,    32768,    23170,    26008,    29193,    32768,    36781,
    41285,    46341,    32768,    36781,    41285,    46341,    52016,    58386,    65536,    46341,    52016,
    58386,    65536,    73562,    82570,    92682,    65536,    73562,    82570,    92682,    104032,   116772,
    131072,   92682,    104032,   116772,   131072,   147123,   165140,   185364,   131072,   147123,   165140,
    185364,   208064,   233544,   262144,   185364,   208064,   233544,   262144,   294247,   330281,   370728,
    262144,   294247,   330281,   370728,   416128,   467088,   524288,   370728,   416128,   467088,   524288,
    588493,   660561,   741455,   524288,   588493,   660561,   741455,   832255,   934175,   1048576,  741455,
    832255,   934175,   1048576,  1176987,  1321123,  1482910,  1048576,  1176987,  1321123,  1482910,  1664511,
    1868350,  2097152,  1482910,  1664511,  1868350,  2097152,  2353974,  2642246,  2965821,  2097152,  2353974,
    2642246,  2965821,  3329021,  3736700,  4194304,  2965821,  3329021,  3736700,  4194304,  4707947,  5284492,
    5931642,  4194304,  4707947,  5284492,  5931642,  6658043,  7473400,  8388608,  5931642,  6658043,  7473400,
    8388608,  9415894,  10568984, 11863283, 8388608,  9415894,  10568984, 11863283, 13316085, 14946800, 16777216,
    11863283, 13316085, 14946800, 16777216, 18831788, 21137968, 23726566, 16777216, 18831788, 21137968, 23726566,
    26632170, 29893600, 33554432,
};

int32_t factor_moved(int32_t factor, int32_t steps) {
  enum { MOST = FACTOR_SHIFTS * FACTOR_SHIFT_STEPS + FACTOR_REST };
  int32_t shift = factor_shift(factor), rest = factor - shift * FACTOR_RESTS + steps;
  if (shift * FACTOR_SHIFT_STEPS + rest >= MOST) return FACTOR_MOST;
  if (shift * FACTOR_SHIFT_STEPS + rest <= -MOST) return -FACTOR_MOST;
  for (; rest > FACTOR_REST; rest -= FACTOR_SHIFT_STEPS) shift++;
  for (; rest < -FACTOR_REST; rest += FACTOR_SHIFT_STEPS) shift--;
  return shift * FACTOR_RESTS + rest;
}

int32_t factor_learn(int32_t factor, uint32_t age, float ratio, float mean, uint64_t random) {
  enum { DOWN_MOST = 64 }; /* steps */
  static const float weight_least = 1.0f / 32.0f, pull_most = 1.0f / 16.0f, ratio_most = 8.0f;
  float weight = age < FACTOR_AGE_MOST ? 1.0f / ((float)age + 1.25f) : weight_least;
  static const float steps_per_nat = (float)FACTOR_OCTAVE / 0.69314718f;
  float back = (1.0f - mean) * weight_least;
  if (back < -pull_most) back = -pull_most;
  float off = ((ratio < ratio_most ? ratio : ratio_most) - 1.0f) * weight + back;
  float steps = log1pf(off) * steps_per_nat + (float)(random >> 40) * 0x1p-24f + DOWN_MOST; /* to be rounded down */
  return factor_moved(factor, (int32_t)steps - DOWN_MOST);
}

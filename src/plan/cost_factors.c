#include "plan/cost_factors.h"

#include <math.h>

const uint32_t factor_units[2 * FACTOR_MOST + 1] = {
    140,      152,      166,      181,      197,      215,      235,      197,      215,      235,      256,
    279,      304,      332,      279,      304,      332,      362,      395,      431,      470,      395,
    431,      470,      512,      558,      609,      664,      558,      609,      664,      724,      790,
    861,      939,      790,      861,      939,      1024,     1117,     1218,     1328,     1117,     1218,
    1328,     1448,     1579,     1722,     1878,     1579,     1722,     1878,     2048,     2233,     2435,
    2656,     2233,     2435,     2656,     2896,     3158,     3444,     3756,     3158,     3444,     3756,
    4096,     4467,     4871,     5312,     4467,     4871,     5312,     5793,     6317,     6889,     7512,
    6317,     6889,     7512,     8192,     8933,     9742,     10624,    8933,     9742,     10624,    11585,
    12634,    13777,    15024,    12634,    13777,    15024,    16384,    17867,    19484,    21247,    17867,
    19484,    21247,    23170,    25268,    27554,    30048,    25268,    27554,    30048,    32768,    35734,
    38968,    42495,    35734,    38968,    42495,    46341,    50535,    55109,    60097,    50535,    55109,
    60097,    65536,    71468,    77936,    84990,    71468,    77936,    84990,    92682,    101070,   110218,
    120194,   101070,   110218,   120194,   131072,   142935,   155872,   169979,   142935,   155872,   169979,
    185364,   202141,   220436,   240387,   202141,   220436,   240387,   262144,   285870,   311744,   339959,
    285870,   311744,   339959,   370728,   404281,   440872,   480774,   404281,   440872,   480774,   524288,
    571740,   623487,   679917,   571740,   623487,   679917,   741455,   808563,   881744,   961548,   808563,
    881744,   961548,   1048576,  1143480,  1246974,  1359835,  1143480,  1246974,  1359835,  1482910,  1617125,
    1763488,  1923097,  1617125,  1763488,  1923097,  2097152,  2286960,  2493948,  2719670,  2286960,  2493948,
    2719670,  2965821,  3234251,  3526975,  3846194,  3234251,  3526975,  3846194,  4194304,  4573921,  4987896,
    5439339,  4573921,  4987896,  5439339,  5931642,  6468501,  7053950,  7692387,  6468501,  7053950,  7692387,
    8388608,  9147842,  9975792,  10878679, 9147842,  9975792,  10878679, 11863283, 12937002, 14107901, 15384775,
    12937002, 14107901, 15384775, 16777216, 18295684, 19951585, 21757357, 18295684, 19951585, 21757357, 23726566,
    25874004, 28215802, 30769550,
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

void factor_fit_add(factor_fit *fit, float cost_off, float factor_off) {
  static const float kept = 1.0f - 1.0f / 512.0f;
  fit->updates = fit->updates * kept + 1.0f;
  fit->costs = fit->costs * kept + cost_off * cost_off;
  fit->factors = fit->factors * kept + factor_off * factor_off;
  fit->both = fit->both * kept + cost_off * factor_off;
}

float factor_fit_noise(const factor_fit *fit) {
  static const float before = 16.0f; /* so many say nothing */
  float squares = fit->costs * fit->factors, left = 1.0f;
  if (fit->updates == 0.0f) return INFINITY;
  if (fit->both > 0.0f && squares > 0.0f)
    left -= fit->both * fit->both / squares * (fit->updates / (fit->updates + before));
  left *= left;
  return fit->costs / fit->updates * left * left;
}

/* How many updates of a type and level without noise one counts for. */
static float counts_for(float noise) {
  static const float noise_of_half = 1.0f / 16.0f;
  return noise_of_half / (noise_of_half + noise);
}

bool factor_is_doubtful(const factor_evidence *evidence) {
  float off = fabsf(evidence->ratio - 1.0f);
  return off > 0.25f && off * off > 4.0f * evidence->noise;
}

/* The mean over the first updates becomes an exponential one only little by little. What was learnt says little of an
 * agent that has changed. */
static uint32_t aged(uint32_t age, float counts, const factor_evidence *evidence) {
  float chance = (float)(evidence->random & 0xffff) * 0x1p-16f;
  if (factor_is_doubtful(evidence)) return (uint32_t)((float)age * (1.0f - counts) + chance);
  bool ages = chance < counts && (age < FACTOR_AGE_MOST - 1 || (evidence->random >> 16) % 16 == 0);
  return age + (ages && age < FACTOR_AGE_MOST);
}

/* Where chance says little a shift is left as soon as another is nearer, by a step. */
static int32_t settled(int32_t factor) {
  int32_t shift = factor_shift(factor), rest = factor - shift * FACTOR_RESTS;
  if (rest == FACTOR_REST && shift < FACTOR_SHIFTS) return factor + FACTOR_RESTS - FACTOR_SHIFT_STEPS;
  if (rest == -FACTOR_REST && shift > -FACTOR_SHIFTS) return factor - FACTOR_RESTS + FACTOR_SHIFT_STEPS;
  return factor;
}

void factor_learn(known_factor *known, const factor_evidence *evidence) {
  enum { DOWN_MOST = 64 * FACTOR_PARTS };
  static const float least = 1.0f / 32.0f, pull_most = 1.0f / 16.0f, ratio_most = 8.0f;
  static const float parts_per_nat = (float)(FACTOR_OCTAVE * FACTOR_PARTS) / 0.69314718f;
  float counts = counts_for(evidence->noise), before = 4.0f - 3.75f * counts; /* the prior */
  float weight = known->age < FACTOR_AGE_MOST ? counts / ((float)known->age + counts + before) : counts * least;
  float back = fmaxf((1.0f - evidence->mean) * least, -pull_most) * counts;
  float off = (fminf(evidence->ratio, ratio_most) - 1.0f) * weight + back;
  float parts = log1pf(off) * parts_per_nat + (float)(evidence->random >> 40) * 0x1p-24f + DOWN_MOST;
  uint32_t sum = known->part + (uint32_t)parts; /* rounded down */
  known->part = sum % FACTOR_PARTS;
  known->factor = factor_moved(known->factor, (int32_t)(sum / FACTOR_PARTS) - DOWN_MOST / FACTOR_PARTS);
  if (counts > 0.5f) known->factor = settled(known->factor);
  known->age = aged(known->age, counts, evidence);
}

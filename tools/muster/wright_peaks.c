/* Wright & Marshall's arithmetic of processes that coincide. */
#include "wright.h"

#include <stddef.h>

enum { PERIODS = 3, CYCLE = 24 };

static const uint32_t composite[PERIODS] = {4, 6, 8}, primes[PERIODS] = {3, 5, 7};

const uint32_t wright_published[WRIGHT_COUNTS] = {13, 4, 12, 1};

uint32_t wright_processes(const uint32_t *periods, const uint32_t *delays, uint32_t count, uint32_t frame) {
  uint32_t processes = 0;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t delay = delays ? delays[i] : 0;
    processes += frame >= delay && (frame - delay) % periods[i] == 0;
  }
  return processes;
}

void wright_count(uint32_t counts[WRIGHT_COUNTS]) {
  for (uint32_t i = 0; i < WRIGHT_COUNTS; i++) counts[i] = 0;
  for (uint32_t frame = 1; frame <= WRIGHT_FRAMES; frame++) {
    uint32_t of_composite = wright_processes(composite, NULL, PERIODS, frame);
    uint32_t of_primes = wright_processes(primes, NULL, PERIODS, frame);
    if (of_composite >= 2) counts[of_composite - 2]++;
    if (of_primes >= 2) counts[of_primes]++;
  }
}

/* The most processes in any frame of a cycle that one more agent with this delay would be in, itself included. */
static uint32_t peak_with(const uint32_t booked[CYCLE], uint32_t delay) {
  uint32_t delays[PERIODS] = {delay, delay, delay}, peak = 0;
  for (uint32_t frame = delay; frame < delay + CYCLE; frame++) {
    uint32_t own = wright_processes(composite, delays, PERIODS, frame);
    if (own && booked[frame % CYCLE] + own > peak) peak = booked[frame % CYCLE] + own;
  }
  return peak;
}

static uint32_t choose_delay(const uint32_t booked[CYCLE], uint32_t most) {
  uint32_t best = 0;
  for (uint32_t delay = 1; delay <= most; delay++)
    if (peak_with(booked, delay) < peak_with(booked, best)) best = delay;
  return best;
}

void wright_find_peaks(uint32_t agents, uint32_t most, wright_peaks *peaks) {
  uint32_t booked[CYCLE] = {0};
  *peaks = (wright_peaks){0};
  for (uint32_t agent = 0; agent < agents; agent++) {
    uint32_t delay = choose_delay(booked, most), delays[PERIODS] = {delay, delay, delay};
    for (uint32_t frame = delay; frame < delay + CYCLE; frame++)
      booked[frame % CYCLE] += wright_processes(composite, delays, PERIODS, frame);
    for (uint32_t frame = 0; frame < WRIGHT_FRAMES; frame++) {
      peaks->before[frame] += wright_processes(composite, NULL, PERIODS, frame);
      peaks->after[frame] += wright_processes(composite, delays, PERIODS, frame);
    }
  }
}

#include "planted.h"

#include "pool/atomics.h"

#include <string.h>

planted_line *planted_reserve(struct arena *arena) {
  struct planted {
    planted_line *numbers;
  } planted;
  ARENA_ARRAY(arena, planted.numbers, PLANTED_LINES);
  return planted.numbers;
}

/* Every number, so that a line is touched eight times. */
uint64_t planted_read(const planted_line *lines) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < PLANTED_READS * 8; i++) sum += lines[i / 8].numbers[i % 8];
  return sum;
}

void planted_write(planted_line *lines) {
  for (uint32_t i = 0; i < PLANTED_WRITES; i++) lines[i].numbers[i % 8] = i;
}

uint64_t planted_read_across(const planted_line *lines) {
  struct __attribute__((packed)) packed {
    uint8_t before[60];
    uint64_t number;
  };
  return ((const struct packed *)lines)->number;
}

void planted_copy(planted_line *lines) {
  struct five {
    planted_line lines[5];
  } *both = (struct five *)lines;
  both[1] = both[0];
}

void planted_copy_bytes(planted_line *lines, size_t bytes) {
  memcpy(lines + 5, lines, bytes);
}

void planted_clear(planted_line *lines, size_t bytes) {
  memset(lines, 0, bytes);
}

void planted_count(planted_line *lines) {
  for (uint32_t i = 0; i < PLANTED_ATOMIC; i++) fetch_add_relaxed_u64((shared_u64 *)&lines[i].numbers[i], 1);
}

static void planted_fill(volatile uint64_t *numbers, uint32_t count, uint64_t seed) {
  for (uint32_t i = 0; i < count; i++) numbers[i] = seed + i;
}

uint64_t planted_on_stack(uint64_t seed) {
  volatile uint64_t numbers[64];
  planted_fill(numbers, 64, seed);
  return numbers[seed % 64];
}

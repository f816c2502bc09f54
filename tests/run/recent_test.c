/* A map of the last entries against a plain list, while entries come, come anew and go at random. */
#include "run/recent.h"
#include "support/arenas.h"

#include <muster/random.h>

enum { MAXIMUM = 13, KEYS = 29, STEPS = 20000 };

/* By key: when it was added, counted from 1, or 0 = it is not there; and its value. */
typedef struct plain_list {
  uint64_t added, numbers[KEYS], values[KEYS];
} plain_list;

static void plain_add(plain_list *plain, uint32_t key, uint64_t value) {
  plain->numbers[key] = ++plain->added;
  plain->values[key] = value;
  for (uint32_t i = 0; i < KEYS; i++)
    if (plain->numbers[i] + MAXIMUM <= plain->added) plain->numbers[i] = 0;
}

/* KEYS: there is none. */
static uint32_t plain_oldest(const plain_list *plain) {
  uint32_t oldest = KEYS;
  for (uint32_t i = 0; i < KEYS; i++)
    if (plain->numbers[i] && (oldest == KEYS || plain->numbers[i] < plain->numbers[oldest])) oldest = i;
  return oldest;
}

static recent_key key_of(uint32_t key) {
  return (recent_key){key / 5, key % 5 + 1};
}

static void expect_same(struct recent *recent, const plain_list *plain) {
  uint32_t count = 0, oldest = plain_oldest(plain);
  uint64_t value;
  recent_key key;
  for (uint32_t i = 0; i < KEYS; i++) {
    cr_assert_eq(recent_find(recent, key_of(i), &value), plain->numbers[i] != 0, "key %u", i);
    if (plain->numbers[i]) cr_assert_eq(value, plain->values[i], "key %u", i);
    count += plain->numbers[i] != 0;
  }
  cr_assert_eq(recent->count, count);
  cr_assert_eq(recent_oldest(recent, &key, &value), oldest < KEYS);
  if (oldest == KEYS) return;
  cr_assert(key.first == key_of(oldest).first && key.second == key_of(oldest).second, "key %u is the oldest", oldest);
  cr_assert_eq(value, plain->values[oldest]);
}

/* The same entries in another map, as a snapshot restores them. */
static void restore(struct recent *recent, struct arena *arena) {
  struct recent restored;
  uint64_t value;
  recent_key key;
  recent_create(&restored, MAXIMUM, arena);
  for (uint64_t number = 0; number < recent->added; number++) {
    if (!recent_entry(recent, number, &key, &value)) continue;
    recent_restore(&restored, number);
    recent_add(&restored, key, value);
  }
  recent_restore(&restored, recent->added);
  *recent = restored;
}

Test(recent, knows_the_last_entries_and_which_of_them_is_the_oldest) {
  SCOPED(arena_destroy) struct arena arena = begin_arena();
  struct recent recent;
  plain_list plain = {0};
  uint64_t seed = 1;
  recent_create(&recent, MAXIMUM, &arena);
  for (uint32_t step = 0; step < STEPS; step++) {
    seed = muster_random_mix(seed + 1);
    uint32_t key = (uint32_t)(seed >> 8) % KEYS;
    if (seed % 4 < 2 + step / 500 % 2) { /* now more come than go, and now as many */
      recent_add(&recent, key_of(key), seed);
      plain_add(&plain, key, seed);
    } else {
      recent_take_out(&recent, key_of(key));
      plain.numbers[key] = 0;
    }
    if (step % 1000 == 999) restore(&recent, &arena);
    expect_same(&recent, &plain);
  }
}

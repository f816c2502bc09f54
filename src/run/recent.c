#include "run/recent.h"

#include "base/assert.h"

#include <muster/random.h>

void recent_create(struct recent *recent, uint32_t maximum, struct arena *arena) {
  ASSERT(maximum > 0);
  uint32_t chains = round_up_to_power_of_two(maximum);
  *recent = (struct recent){.maximum = maximum, .mask = chains - 1};
  ARENA_ARRAY(arena, recent->firsts, maximum);
  ARENA_ARRAY(arena, recent->seconds, maximum);
  ARENA_ARRAY(arena, recent->values, maximum);
  ARENA_ARRAY(arena, recent->nexts, maximum);
  ARENA_ARRAY(arena, recent->chains, chains);
}

static shared_u32 *recent_chain(const struct recent *recent, recent_key key) {
  return &recent->chains[muster_random_mix(key.first + muster_random_mix(key.second)) & recent->mask];
}

static recent_key recent_key_at(const struct recent *recent, uint32_t place) {
  return (recent_key){load_acquire_u64(&recent->firsts[place]), load_acquire_u64(&recent->seconds[place])};
}

static bool recent_equal(recent_key one, recent_key other) {
  return one.first == other.first && one.second == other.second;
}

/* A chain that is changed meanwhile may lead anywhere, but not for longer than there are entries. */
static bool recent_look(const struct recent *recent, recent_key key, uint64_t *value) {
  uint32_t next = load_acquire_u32(recent_chain(recent, key));
  for (uint32_t steps = 0; next && steps <= recent->maximum; steps++) {
    uint32_t place = next - 1;
    *value = load_acquire_u64(&recent->values[place]);
    if (recent_equal(recent_key_at(recent, place), key)) return true;
    next = load_acquire_u32(&recent->nexts[place]);
  }
  return false;
}

bool recent_find(const struct recent *recent, recent_key key, uint64_t *value) {
  for (;;) {
    uint64_t found_value = 0;
    uint32_t before = load_acquire_u32(&recent->version);
    bool found = !(before & 1) && recent_look(recent, key, &found_value);
    if (!(before & 1) && load_relaxed_u32(&recent->version) == before) {
      if (found && value) *value = found_value;
      return found;
    }
    pause_processor();
  }
}

static void recent_open(struct recent *recent) {
  store_relaxed_u32(&recent->version, load_relaxed_u32(&recent->version) + 1);
}

static void recent_close(struct recent *recent) {
  store_release_u32(&recent->version, load_relaxed_u32(&recent->version) + 1);
}

/* Takes the entry at a place out of its chain. */
static void recent_unlink(struct recent *recent, uint32_t place) {
  shared_u32 *link = recent_chain(recent, recent_key_at(recent, place));
  while (load_relaxed_u32(link) != place + 1) {
    ASSERT(load_relaxed_u32(link));
    link = &recent->nexts[load_relaxed_u32(link) - 1];
  }
  store_release_u32(link, load_relaxed_u32(&recent->nexts[place]));
  store_release_u64(&recent->firsts[place], 0);
  store_release_u64(&recent->seconds[place], 0);
  recent->count--;
}

static bool recent_is_there(const struct recent *recent, uint32_t place) {
  recent_key key = recent_key_at(recent, place);
  return key.first | key.second;
}

void recent_take_out(struct recent *recent, recent_key key) {
  uint32_t next = load_relaxed_u32(recent_chain(recent, key));
  while (next && !recent_equal(recent_key_at(recent, next - 1), key)) next = load_relaxed_u32(&recent->nexts[next - 1]);
  if (!next) return;
  recent_open(recent);
  recent_unlink(recent, next - 1);
  recent_close(recent);
}

void recent_add(struct recent *recent, recent_key key, uint64_t value) {
  ASSERT(key.first | key.second);
  recent_take_out(recent, key);
  uint32_t place = (uint32_t)(recent->added++ % recent->maximum);
  shared_u32 *chain = recent_chain(recent, key);
  recent_open(recent);
  if (recent_is_there(recent, place)) {
    recent_unlink(recent, place);
    recent->dropped++;
  }
  store_release_u64(&recent->firsts[place], key.first);
  store_release_u64(&recent->seconds[place], key.second);
  store_release_u64(&recent->values[place], value);
  store_release_u32(&recent->nexts[place], load_relaxed_u32(chain));
  store_release_u32(chain, place + 1);
  recent->count++;
  recent_close(recent);
}

bool recent_entry(const struct recent *recent, uint64_t number, recent_key *key, uint64_t *value) {
  if (number >= recent->added || recent->added - number > recent->maximum) return false;
  uint32_t place = (uint32_t)(number % recent->maximum);
  *key = recent_key_at(recent, place);
  *value = load_relaxed_u64(&recent->values[place]);
  return recent_is_there(recent, place);
}

bool recent_oldest(struct recent *recent, recent_key *key, uint64_t *value) {
  if (recent->added - recent->first > recent->maximum) recent->first = recent->added - recent->maximum;
  while (recent->first < recent->added && !recent_entry(recent, recent->first, key, value)) recent->first++;
  return recent->first < recent->added;
}

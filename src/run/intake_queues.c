#include "run/intake_queues.h"

#include "base/assert.h"

#include <muster/tune.h>

void spawn_queue_create(struct spawn_queue *spawns, uint32_t agents_max, struct arena *arena) {
  ASSERT(agents_max > 0);
  *spawns = (struct spawn_queue){.words = bits_words(agents_max)};
  ARENA_ARRAY(arena, spawns->bits, spawns->words);
}

uint32_t spawn_queue_take(struct spawn_queue *spawns, uint32_t *agents, uint32_t most) {
  uint32_t counted = spawn_queue_count(spawns), taken = 0, word = spawns->next / 64;
  uint64_t beginning = UINT64_MAX << spawns->next % 64; /* the first word's lower bits come last */
  if (counted < most) most = counted;
  for (uint32_t passed = 0; passed <= spawns->words && taken < most; passed++) {
    uint64_t bits = load_acquire_u64(&spawns->bits[word]) & beginning, mine = 0;
    for (; bits && taken < most; bits &= bits - 1) {
      agents[taken++] = word * 64 + (uint32_t)__builtin_ctzll(bits);
      mine |= bits & -bits;
    }
    if (mine) fetch_and_ordered_u64(&spawns->bits[word], ~mine);
    word = word + 1 < spawns->words ? word + 1 : 0;
    beginning = UINT64_MAX;
  }
  if (!taken) return 0;
  spawn_queue_go_on(spawns, agents[taken - 1]);
  fetch_sub_relaxed_u32(&spawns->count, taken);
  return taken;
}

void spawn_queue_clear(struct spawn_queue *spawns) {
  for (uint32_t i = 0; i < spawns->words; i++) store_relaxed_u64(&spawns->bits[i], 0);
  store_relaxed_u32(&spawns->count, 0);
}

void intake_queues_create(struct intake_queues *queues, uint32_t agents_max, uint32_t commands_max,
                          struct arena *arena) {
  spawn_queue_create(&queues->spawns, agents_max, arena);
  ring_create(&queues->commands, commands_max, sizeof(struct command), arena);
  ring_create(&queues->tunings, INTAKE_TUNINGS, sizeof(muster_world_tuning), arena);
}

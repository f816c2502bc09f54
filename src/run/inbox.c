#include "run/inbox.h"

#include "base/assert.h"

void pending_create(struct pending *pending, uint32_t agents_max, struct arena *arena) {
  ASSERT(agents_max > 0);
  *pending = (struct pending){.words = (agents_max + 63) / 64};
  pending->bits = arena_reserve(arena, pending->words, sizeof *pending->bits);
}

uint32_t pending_take(struct pending *pending, uint32_t *agents, uint32_t most) {
  uint32_t counted = pending_count(pending), taken = 0, word = pending->next / 64;
  uint64_t beginning = UINT64_MAX << pending->next % 64; /* the first word's lower bits come last */
  if (counted < most) most = counted;
  for (uint32_t passed = 0; passed <= pending->words && taken < most; passed++) {
    uint64_t bits = load_acquire_u64(&pending->bits[word]) & beginning, mine = 0;
    for (; bits && taken < most; bits &= bits - 1) {
      agents[taken++] = word * 64 + (uint32_t)__builtin_ctzll(bits);
      mine |= bits & -bits;
    }
    if (mine) fetch_and_ordered_u64(&pending->bits[word], ~mine);
    word = word + 1 < pending->words ? word + 1 : 0;
    beginning = UINT64_MAX;
  }
  if (!taken) return 0;
  pending->next = agents[taken - 1] + 1 < pending->words * 64 ? agents[taken - 1] + 1 : 0;
  fetch_sub_relaxed_u32(&pending->count, taken);
  return taken;
}

void inbox_create(struct inbox *inbox, uint32_t agents_max, uint32_t commands_max, struct arena *arena) {
  pending_create(&inbox->spawns, agents_max, arena);
  ring_create(&inbox->commands, commands_max, sizeof(struct command), arena);
  ring_create(&inbox->tunings, INBOX_TUNINGS, sizeof(muster_world_tuning), arena);
}

/* Types with sets: what remains of an update that is not admitted. */
#include "support/set_world.h"

enum { GUARD_BYTES = 4096, GUARD = 0x5a, AGENTS = 8 };

static uint32_t spoilt;

/* Memory with guard bytes behind it. */
static void *take(size_t bytes, size_t alignment, void *user) {
  size_t whole = (bytes + GUARD_BYTES + alignment - 1) / alignment * alignment;
  unsigned char *memory = aligned_alloc(alignment, whole);
  (void)user;
  if (!memory) return NULL;
  memset(memory, 0, bytes);
  memset(memory + bytes, GUARD, GUARD_BYTES);
  return memory;
}

static void give_back(void *memory, size_t bytes, void *user) {
  const unsigned char *guard = (const unsigned char *)memory + bytes;
  (void)user;
  for (uint32_t i = 0; i < GUARD_BYTES; i++) spoilt += guard[i] != GUARD;
  free(memory);
}

/* All sets but the last cost nothing; the last one does not fit. */
static uint64_t last_is_dear(const muster_cost_query *query, void *user) {
  (void)user;
  return query->atom + 1 < MUSTER_SETS_MAX ? 0 : 100000000u;
}

/* Each agent is considered several times in a frame: as woken, as waiting for long, and in its turn. */
Test(sets_room, who_is_not_admitted_leaves_no_steps_behind) {
  muster_set_def sets[MUSTER_SETS_MAX];
  muster_agent agents[AGENTS];
  for (uint32_t i = 0; i < MUSTER_SETS_MAX; i++) sets[i] = set_of(1, MUSTER_MODE_RUN, 50);
  little_world little =
      little_world_of(1, WITH(virtual_world_def, it.limits.agents_max = AGENTS, it.priority.guarantee_ns = 2 * FRAME_NS,
                              it.allocator = (muster_allocator){take, give_back, NULL}));
  add_type(&little,
           CHANGED(type_of_sets(sets, MUSTER_SETS_MAX), it.models.cost_ns = last_is_dear, it.overruns.quarantine = 0));
  for (uint32_t i = 0; i < AGENTS; i++) agents[i] = spawn_at(&little, i);
  for (uint32_t frame = 0; frame < 60; frame++) {
    for (uint32_t i = 1; frame % 3 == 0 && i < AGENTS; i++) muster_agent_wake(little.world, agents[i]);
    run_frame_with(&little, 500000u);
  }
  little_world_destroy(&little);
  cr_assert_eq(spoilt, 0, "%u bytes behind what was asked for were written", spoilt);
}

/* Each type has everything that a type can have of its own. */
Test(sets_room, as_many_types_as_there_may_be) {
  enum { TYPES = 1024 };
  muster_set_def sets[2] = {set_of(1, MUSTER_MODE_RUN, 50), set_of(1, MUSTER_MODE_RUN, 50)};
  sets[1].period_updates = 2;
  muster_type_def type = CHANGED(type_of_sets(sets, 2), it.state_bytes = it.published_bytes = 8,
                                 it.messages.waiting_max = it.messages.sends_max = 1, it.messages.bytes_max = 8,
                                 it.act = MUSTER_ACT_REGION);
  SCOPED_WORLD little = little_world_of(
      1, WITH(virtual_world_def, it.limits.agents_max = AGENTS, it.limits.types_max = TYPES, it.activation_delay = 1));
  for (uint32_t i = 0; i < TYPES; i++) register_type(&little, &type);
}

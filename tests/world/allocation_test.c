/* A frame allocates nothing: not by the host's allocator, not by malloc. */
#include "support/counted_memory.h"
#include "world/fixture.h"

#include <malloc.h>

static muster_atom_result live(muster_update *update) {
  muster_neighbour near[4];
  uint64_t *state = update->state;
  muster_agent_def def = WITH(muster_agent_def, it.type = update->type);
  step_by(update, 3);
  if (muster_update_nearby(update, 9, update->type, near, 4)) muster_update_wake(update, near[0].agent);
  if (++*state % 3 == 0) muster_update_spawn(update, &def);
  if (*state % 4 == 0) muster_update_remove(update, update->agent);
  return MUSTER_ATOM_NEXT;
}

Test(allocation, a_frame_allocates_nothing_while_agents_move_breed_die_and_wake) {
  const muster_atom atoms[] = {{live, MUSTER_ROLE_BEHAVIOUR, 0}, {live, MUSTER_ROLE_ACTION, 0}};
  counted_memory counted = {0};
  SCOPED_WORLD little =
      little_world_of(3, WITH(muster_world_def, it.limits.agents_max = 5000, it.limits.changes_frames = 2,
                              it.allocator = counted_allocator(&counted)));
  add_type(&little, CHANGED(type_with(atoms, 2), it.state_bytes = 8, it.spawns_max = 2, it.period_ns = 20000000,
                            it.levels.count = 3));
  for (int i = 0; i < 2000; i++) spawn_at(&little, i);
  run_frame(&little);
  uint64_t allocations_before = counted.allocations;
  struct mallinfo2 before = mallinfo2();
  uint64_t completed = 0, budget_ns = UNDER_SANITIZER ? 50000000u : 5000000u;
  for (int i = 0; i < 300 || (completed <= 2000 && i < 3000); i++) /* as many as a slow machine needs */
    completed += run_frame_with(&little, budget_ns).completed;
  struct mallinfo2 after = mallinfo2();
  cr_assert_gt(completed, 2000);
  cr_assert_eq(counted.allocations, allocations_before);
  cr_assert_eq(after.uordblks, before.uordblks);
  cr_assert_eq(after.arena, before.arena);
}

/* A frame allocates nothing: not by the host's allocator, not by malloc. */
#include "support/counted_memory.h"
#include "support/little_world.h"
#include "support/sanitized.h"

#include <malloc.h>

static muster_atom_result live(muster_update *update) {
  muster_agent_def def = muster_agent_def_default();
  muster_neighbour near[4];
  uint64_t *state = update->state;
  def.type = update->type;
  muster_position to = update->position;
  to.x += 3;
  muster_update_move(update, to);
  if (muster_update_nearby(update, 9, update->type, near, 4)) muster_update_wake(update, near[0].agent);
  if (++*state % 3 == 0) muster_update_spawn(update, &def);
  if (*state % 4 == 0) muster_update_remove(update, update->agent);
  return MUSTER_ATOM_NEXT;
}

Test(allocation, a_frame_allocates_nothing_while_agents_move_breed_die_and_wake) {
  const muster_atom atoms[] = {{live, MUSTER_ROLE_BEHAVIOUR, 0}, {live, MUSTER_ROLE_ACTION, 0}};
  counted_memory counted = {0};
  muster_world_def def = muster_world_def_default();
  def.limits.agents_max = 5000;
  def.limits.changes_frames = 2;
  def.allocator = counted_allocator(&counted);
  little_world little = little_world_create(3, &def);
  muster_type_def type = type_with(atoms, 2);
  type.state_bytes = 8;
  type.spawns_max = 2;
  type.period_ns = 20000000;
  type.levels.count = 3;
  register_type(&little, &type);
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
  little_world_destroy(&little);
}

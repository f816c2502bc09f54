/* What herds keep: the time of members with sets, survivors, totals although a leaf publishes NaN, and room for herds
 * of other partitions. */
#include "world/herd_fixture.h"

Test(herd_survivors, with_sets_are_told_the_time_that_they_were_folded) {
  static const muster_atom walk = {.role = MUSTER_ROLE_BEHAVIOUR, .run = walk_on, .model_ns = 1000};
  const muster_set_def set = set_with(&walk, 1);
  muster_type_def deer = CHANGED(deer_def(NULL), it.atom_count = 0, it.sets.list = &set, it.sets.count = 1);
  muster_herd_type_def def = WITH(muster_herd_type_def, it.run_block = walk_block_on);
  SCOPED_HERDS herds = herd_world_of(1, NULL, &def, &deer);
  muster_herd herd = add_herd(&herds, 0.0, 0.0, 32);
  run_frame(&herds.little);
  uint64_t begin_ns = herd_info_of(&herds, herd).last_update_ns;
  muster_observer observer = observe(&herds, 9000.0, 0.0);
  for (uint32_t i = 0; i < 8; i++) {
    run_frames(&herds.little, 41 + i * 7);
    muster_observer_move(herds.little.world, observer, (muster_position){i % 2 ? 9000.0 : 0.0, 0.0, 0.0});
  }
  run_frames(&herds.little, 300);
  muster_herd_info info = herd_info_of(&herds, herd);
  double seconds = (double)(info.last_update_ns - begin_ns) * 1e-9;
  cr_assert_float_eq((double)info.totals[0], 32.0 * (2.0 + seconds), 0.1, "%g instead of %g", (double)info.totals[0],
                     32.0 * (2.0 + seconds));
}

Test(herd_survivors, keep_their_own_state_when_they_are_retained) {
  SCOPED_HERDS herds = seen_herd(WITH(muster_herd_type_def, it.retains = true), 0.0, 3);
  muster_agent agents[32];
  uint64_t alive[32];
  uint32_t count = 0;
  read_leaves(&herds, only_herd, agents, 32);
  for (uint32_t i = 0; i < 32; i++) {
    *(uint64_t *)info_of(&herds.little, agents[i]).state = 1000 + i;
    if (i < 5 || i % 2 == 0)
      muster_agent_remove(herds.little.world, agents[i]);
    else
      alive[count++] = 1000 + i;
  }
  for (uint32_t round = 0; round < 3; round++) {
    look_from(&herds, only_observer, 9000.0, 60);
    cr_assert_eq(herd_info_of(&herds, only_herd).leaves, 0);
    look_from(&herds, only_observer, 0.0, 3);
    cr_assert_eq(muster_herd_leaves(herds.little.world, only_herd, agents, NULL, 32), count);
    for (uint32_t i = 0; i < count; i++)
      cr_assert_eq(*(uint64_t *)info_of(&herds.little, agents[i]).state, alive[i], "round %u, member %u", round, i);
  }
  cr_assert_float_eq((double)herd_info_of(&herds, only_herd).totals[0], 2.0 * count, 1e-3);
}

Test(herd_survivors, leave_room_for_herds_of_other_partitions) {
  SCOPED_HERDS herds = herd_world_with(WITH(muster_herd_type_def, it.herds_max = 1));
  for (uint32_t i = 0; i < 10; i++) {
    muster_herd herd = add_herd_to(&herds.little, herds.type, (muster_herd_def){.position.x = 1e3 * i, .partition = i});
    muster_herd_info info = herd_info_of(&herds, herd);
    cr_assert_eq(info.partition, i);
    cr_assert_float_eq(info.position.x, 1000.0 * i, 1e-3);
    run_frames(&herds.little, 3);
    muster_herd_remove(herds.little.world, herd);
    run_frame(&herds.little);
  }
}

/* One leaf publishes NaN. */
static muster_atom_result publish_nonsense(muster_update *update) {
  muster_flock flock;
  struct deer *deer = update->published;
  if (muster_update_flock(update, &flock) && flock.self == 3) deer->velocity_x = deer->total = NAN;
  return MUSTER_ATOM_NEXT;
}

Test(herd_survivors, are_not_spoilt_by_a_leaf_that_publishes_what_is_no_number) {
  muster_type_def deer = deer_def(atom_of(publish_nonsense, 1000));
  SCOPED_HERDS herds = herd_world_of(1, NULL, NULL, &deer);
  add_seen_herd(&herds, 0.0, 30);
  look_from(&herds, only_observer, 9000.0, 300);
  muster_herd_info info = herd_info_of(&herds, only_herd);
  cr_assert_eq(info.leaves, 0);
  cr_assert_float_eq((double)info.totals[0], 64.0, 1e-3, "%g", (double)info.totals[0]);
  cr_assert_float_eq((double)info.velocity_x, 1.0, 1e-3, "%g", (double)info.velocity_x);
}

Test(herd_survivors, are_noted_where_a_host_moved_them_with_many_others) {
  SCOPED_HERDS herds = herd_world_create(1, NULL, NULL);
  muster_herd herd = add_herd(&herds, 50.0, 50.0, 32);
  run_frame(&herds.little);
  muster_herd_wake(herds.little.world, herd, 5);
  run_frame(&herds.little);
  muster_agent agents[32];
  muster_position positions[32];
  uint32_t count = muster_herd_leaves(herds.little.world, herd, agents, NULL, 32);
  cr_assert_eq(count, 6);
  muster_herd_info before = herd_info_of(&herds, herd);
  for (uint32_t i = 0; i < count; i++) positions[i] = CHANGED(info_of(&herds.little, agents[i]).position, it.x += 0.5);
  cr_assert_eq(muster_agents_move(herds.little.world, agents, positions, count), count);
  muster_herd_info after = herd_info_of(&herds, herd);
  cr_assert_float_eq(after.position.x, before.position.x + 0.5, 1e-3, "%g", after.position.x - before.position.x);
}

Test(herd_survivors, are_brought_forward_once_when_frames_have_the_same_time) {
  SCOPED_HERDS herds = seen_herd(WITH(muster_herd_type_def, it.run_block = walk_block_on, it.look_ns = 1000000u), 0, 4);
  cr_assert_eq(herd_info_of(&herds, only_herd).leaves, 32);
  muster_agent block = muster_agent_next(herds.little.world, (muster_agent){0});
  muster_observer_move(herds.little.world, only_observer, (muster_position){9000.0, 0.0, 0.0});
  uint64_t folded_ns = 0;
  muster_herd_info info = {0};
  for (uint32_t i = 0; i < 20; i++) {
    if (i % 4 == 0) herds.little.now_ns += FRAME_NS;
    muster_agent_wake(herds.little.world, block);
    cr_assert_eq(muster_frame_run(herds.little.world, &(muster_frame){herds.little.now_ns, 5000000u}), MUSTER_OK);
    info = herd_info_of(&herds, only_herd);
    if (info.leaves) folded_ns = info.last_update_ns;
  }
  cr_assert_eq(info.leaves, 0);
  double seconds = (double)(info.last_update_ns - folded_ns) * 1e-9;
  cr_assert_float_eq((double)info.totals[0], 64.0 + 32.0 * seconds, 1e-3, "%g", (double)info.totals[0]);
}

/* Neighbours of agents that stand close together: what a query finds when it does not look at all of them. */
#include "support/square_world.h"
#include "world/fixture.h"

struct sight {
  bool before, cut, after_a_little_one;
  uint32_t count;
};

static muster_atom_result look(muster_update *update) {
  muster_neighbour near[4];
  struct sight *sight = update->user;
  sight->before = muster_update_nearby_cut(update);
  sight->count = muster_update_nearby(update, 10.0f, (muster_type){0}, near, 4);
  sight->cut = muster_update_nearby_cut(update);
  muster_update_nearby(update, -1.0f, (muster_type){0}, near, 4);
  sight->after_a_little_one = muster_update_nearby_cut(update);
  return MUSTER_ATOM_NEXT;
}

Test(nearby, a_query_in_a_crowd_tells_that_it_was_cut_and_one_outside_does_not) {
  enum { CROWD = 600, LONE = 3 };
  const muster_atom looks = {look, MUSTER_ROLE_PERCEPTION, 1000};
  SCOPED_WORLD little = world_of(CHANGED(due_every(FRAME_NS, type_with(&looks, 1)), it.elasticity = 0));
  struct sight crowd[CROWD], lone[LONE];
  for (uint32_t i = 0; i < CROWD; i++) spawn_as(&little, WITH(muster_agent_def, it.user = &crowd[i]));
  for (int i = 0; i < LONE; i++) spawn_as(&little, WITH(muster_agent_def, it.position.x = 200 + i, it.user = &lone[i]));
  muster_frame_report report = run_frame(&little);
  while (report.completed < CROWD + LONE) report = run_frame(&little);
  for (uint32_t i = 0; i < CROWD; i++) {
    cr_assert_not(crowd[i].before);
    cr_assert(crowd[i].cut);
    cr_assert_not(crowd[i].after_a_little_one);
    cr_assert_eq(crowd[i].count, 4);
  }
  for (uint32_t i = 0; i < LONE; i++) {
    cr_assert_not(lone[i].cut);
    cr_assert_eq(lone[i].count, LONE - 1);
  }
  cr_assert_eq(report.nearby_cut, CROWD);
  cr_assert_eq(square_cut(&little) % CROWD, 0);
  cr_assert_geq(square_cut(&little), CROWD);
}

Test(nearby, a_crowd_that_was_saved_and_loaded_goes_on_bit_for_bit) {
  SCOPED_WORLD whole = square_world(1, MUSTER_CLOCK_VIRTUAL), loaded = square_world(2, MUSTER_CLOCK_VIRTUAL);
  square_populate(&whole);
  run_frames(&whole, 250);
  copy_world(&whole, &loaded);
  uint64_t cut = square_cut(&whole);
  for (uint32_t i = 0; i < 150; i++) {
    run_frame(&whole);
    run_frame(&loaded);
    cr_assert_eq(muster_world_hash(whole.world), muster_world_hash(loaded.world), "frame %u", i);
  }
  cr_assert_gt(square_cut(&loaded), 0);
  cr_assert_eq(square_cut(&whole) - cut, square_cut(&loaded));
}

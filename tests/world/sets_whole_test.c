/* Sets that run whole are not begun on the wall clock when the frame is too short for all of their atoms. */
#include "support/set_world.h"

enum { THOUGHT_NS = 300000, AGENTS = 8 };

static uint32_t thoughts;

/* Takes at least THOUGHT_NS, however busy the machine is. */
static muster_atom_result think(muster_update *update) {
  uint64_t end_ns = clock_system() + THOUGHT_NS;
  (void)update;
  while (clock_system() < end_ns) continue;
  thoughts++;
  return MUSTER_ATOM_NEXT;
}

enum { FRAMES = 40, RARE = FRAMES / 4 /* a prediction may err on a busy machine */ };

/* Returns in how many frames more than `most` atoms ran. An update has 16 atoms in `sets_each` equal sets. */
static uint32_t frames_above(uint32_t most, uint32_t sets_each, uint64_t budget_ns) {
  muster_atom atoms[16];
  muster_set_def sets[2];
  uint32_t above = 0, ran = 0;
  for (uint32_t i = 0; i < 16; i++) atoms[i] = (muster_atom){think, MUSTER_ROLE_BEHAVIOUR, THOUGHT_NS};
  for (uint32_t i = 0; i < sets_each; i++) {
    sets[i] = set_of(16 / sets_each, MUSTER_MODE_RUN, 50);
    sets[i].atoms = atoms;
  }
  SCOPED_WORLD little = little_world_of(1, WITH(muster_world_def, it.limits.agents_max = AGENTS));
  add_type(&little, WITH(muster_type_def, it.sets.list = sets, it.sets.count = sets_each, it.period_ns = FRAME_NS,
                         it.limit_ns = 1000000000u));
  for (uint32_t i = 0; i < AGENTS; i++) spawn_at(&little, i);
  for (uint32_t frame = 0; frame < FRAMES; frame++) {
    thoughts = 0;
    run_frame_with(&little, budget_ns);
    above += thoughts > most;
    ran += thoughts;
  }
  cr_assert_gt(ran, 0);
  return above;
}

/* A frame has room for 30 atoms: not for a second update of 16. */
Test(sets_whole, an_update_that_cannot_be_cut_is_not_begun) {
  cr_assert_leq(frames_above(16, 1, 30 * THOUGHT_NS), RARE);
}

/* A frame has room for 13 atoms: not for the second set of 8. */
Test(sets_whole, nor_a_set) {
  cr_assert_leq(frames_above(8, 2, 13 * THOUGHT_NS), RARE);
}

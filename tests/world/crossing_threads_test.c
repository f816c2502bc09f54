/* Agents that all come to other cells in each frame, some to a crowd, on the wall clock: whatever workers settle them,
 * agents are where one worker would have put them, and the grid finds them. Runs under ThreadSanitizer, too. */
#include "support/whole_frames.h"
#include "world/fixture.h"

enum { AGENTS = 24000, CROSSING_FRAMES = 8 };

typedef struct wanderer {
  uint64_t updates, met;
} wanderer;

static muster_atom_result look_around(muster_update *update) {
  wanderer *self = update->state;
  muster_neighbour near[2];
  bool looks = muster_agent_index(update->agent) % 16 == 0;
  uint32_t count = looks ? muster_update_nearby(update, 60.0f, (muster_type){0}, near, 2) : 0;
  for (uint32_t i = 0; i < count; i++) self->met = self->met * 31 + muster_agent_index(near[i].agent);
  self->updates++;
  return MUSTER_ATOM_NEXT;
}

/* Anywhere; in each second frame one in eight to the same two cells, which become crowds and cease to be. */
static muster_atom_result leap(muster_update *update) {
  bool gathers = muster_agent_index(update->agent) % 8 == 0 && update->now_ns / FRAME_NS % 2;
  double span_m = gathers ? 60.0 : 8000.0;
  muster_position to = {(double)muster_update_random_share(update) * span_m,
                        (double)muster_update_random_share(update) * (gathers ? 20.0 : span_m), 0};
  muster_update_move(update, to);
  return MUSTER_ATOM_NEXT;
}

static uint64_t wander(uint32_t workers) {
  static const muster_atom atoms[] = {{look_around, MUSTER_ROLE_PERCEPTION, 0}, {leap, MUSTER_ROLE_BEHAVIOUR, 0}};
  little_world little = little_world_of(workers, CHANGED(papers_world_def(), it.limits.agents_max = AGENTS));
  add_type(&little, CHANGED(type_with(atoms, 2), it.state_bytes = sizeof(wanderer),
                            it.period_ns = it.period_max_ns = FRAME_NS, it.elasticity = 0));
  for (uint32_t i = 0; i < AGENTS; i++) spawn_in(&little, (muster_position){i % 160 * 50.0, i / 160 * 50.0, 0}, 0);
  cr_assert_geq(run_whole_frames(&little, CROSSING_FRAMES).completed, (uint64_t)AGENTS * (CROSSING_FRAMES - 1));
  return end_sound(&little);
}

Test(crossing_threads, agents_are_where_one_worker_would_have_put_them) {
  uint64_t alone = wander(1);
  cr_assert_eq(wander(4), alone);
  cr_assert_eq(wander(64), alone);
}

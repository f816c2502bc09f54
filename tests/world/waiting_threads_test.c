/* Agents that had to wait and then all run in one frame, on two workers: each worker settles the agents that it ran,
 * and all of them must have left the queue of waiting agents. */
#include "world/fixture.h"

enum { AGENTS = 2000, ROUNDS = 12, HUNGRY_FRAMES = 5, LITTLE_NS = 10000 };

static muster_atom_result toil(muster_update *update) {
  volatile uint32_t *work = update->state;
  for (uint32_t i = 0; i < 1000; i++) *work += i;
  return MUSTER_ATOM_NEXT;
}

Test(waiting_threads, who_waited_for_frames_and_is_settled_beside_others_leaves_the_line) {
  SCOPED_WORLD little = little_world_of(2, CHANGED(papers_world_def(), it.limits.agents_max = AGENTS));
  add_type(&little, WITH(muster_type_def, it.atoms = atom_of(toil, 0), it.atom_count = 1,
                         it.state_bytes = sizeof(uint32_t), it.period_ns = FRAME_NS, it.elasticity = 0));
  for (int i = 0; i < AGENTS; i++) spawn_at(&little, i % 50);
  for (int i = 0; i < 3; i++) run_frame_with(&little, 10000000000u);
  /* The queue has room for each agent twice: agents that do not leave it properly fill it within some rounds. */
  for (int round = 0; round < ROUNDS; round++) {
    muster_frame_report report;
    for (int i = 0; i < HUNGRY_FRAMES; i++) report = run_frame_with(&little, LITTLE_NS);
    cr_assert_gt(report.carried, AGENTS / 2);
    report = run_frame_with(&little, 10000000000u);
    cr_assert_eq(report.carried, 0);
    cr_assert_geq(report.completed, AGENTS / 2);
    cr_assert_geq(report.longest_wait_ns, HUNGRY_FRAMES * (uint64_t)FRAME_NS, "round %d: %lu", round,
                  report.longest_wait_ns);
    run_frame_with(&little, 10000000000u);
  }
}

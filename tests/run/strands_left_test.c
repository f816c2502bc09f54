/* Which claims a worker takes on a strand, when it came while the frame was planned. The claims are put together by
 * hand, in a world that has run a few frames. */
#include "agents/batch.h"
#include "run/taking.h"
#include "support/little_world.h"

enum { AGENTS = 3 };

static little_world on_one_strand(void) {
  muster_type_def type =
      CHANGED(type_running(nothing, 1000), it.period_ns = it.period_max_ns = FRAME_NS, it.strands.count = 1);
  little_world little = typed_world(2, WITH(muster_world_def, it.clock.kind = MUSTER_CLOCK_VIRTUAL), type);
  for (uint32_t i = 0; i < AGENTS; i++) spawn_at(&little, i);
  for (uint32_t i = 0; i < 40 && little.world->batch->count < AGENTS; i++) run_frame(&little);
  cr_assert_eq(little.world->batch->count, AGENTS);
  for (uint32_t i = 0; i < AGENTS; i++)
    little.world->batch->claims[i] = (batch_claim){.first = i, .end = i + 1, .strand = 1};
  little.world->batch->claim_count = AGENTS;
  runner_open(little.world->runner);
  return little;
}

/* The entry that a worker runs next, of those that are held; AGENTS = it finds none. */
static uint32_t next_early(const little_world *little, uint32_t worker) {
  struct runner *runner = little->world->runner;
  batch_claim claim;
  return taking_next(&runner->states[worker], runner, true, 0, &claim) ? claim.first : AGENTS;
}

/* A worker that draws a claim on a strand leaves it to the worker that has entered the strand. That one must not go
 * before it has run the claim, though the planning, for which it came, is over. */
Test(strands_left, a_worker_that_came_early_runs_what_others_left_to_it) {
  SCOPED(little_world_destroy) little_world little = on_one_strand();
  runner_publish(little.world->runner, 2);
  cr_assert_eq(next_early(&little, 0), 0);
  cr_assert_eq(next_early(&little, 1), AGENTS, "it is on the strand of another one");
  runner_publish_all(little.world->runner);
  cr_assert_eq(next_early(&little, 0), 1);
  cr_assert_eq(next_early(&little, 0), AGENTS, "what is drawn by nobody is for those who run the batch");
  cr_assert_eq(little.world->runner->states[0].strand, 0, "it has left the strand");
  runner_close(little.world->runner);
}

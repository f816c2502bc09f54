/* A claim that may not be over when the frame's time is gets its clock read after each atom, and is left between two
 * updates. The claims are put together by hand, in a world that has run a few frames. */
#include "agents/batch.h"
#include "run/overrun_check.h"
#include "support/burn.h"
#include "support/little_world.h"

enum { AGENTS = 9, BURNT_NS = 1000000, ROOM_NS = 4 * BURNT_NS, TRIES = 1000 };

struct crowd {
  bool burns;
  uint32_t ran;
};

static muster_atom_result live(muster_update *update) {
  struct crowd *crowd = update->type_user;
  crowd->ran++;
  if (crowd->burns) burn(BURNT_NS);
  return MUSTER_ATOM_NEXT;
}

static little_world world_of(struct crowd *crowd) {
  muster_type_def type = CHANGED(type_running(live, 1000), it.period_ns = it.period_max_ns = FRAME_NS,
                                 it.elasticity = 0, it.limit_ns = 1000000000u, it.user = crowd);
  little_world little = typed_world(1, WITH(muster_world_def, it.audit = true), type);
  for (uint32_t i = 0; i < AGENTS; i++) spawn_at(&little, i);
  for (uint32_t i = 0; i < 40 && little.world->batch->count < AGENTS; i++) run_frame(&little);
  cr_assert_eq(little.world->batch->count, AGENTS);
  return little;
}

/* Runs the last batch once more: its first agent alone, which always runs, and the others as one claim whose prediction
 * is true of half of them, and that has time for three. How many ran. */
static uint32_t run_batch(const little_world *little, struct crowd *crowd, float deviation_ns) {
  struct runner *runner = little->world->runner;
  struct batch *batch = little->world->batch;
  memset(batch->outcomes, OUTCOME_NOT_RUN, AGENTS);
  for (uint32_t i = 0; i < AGENTS; i++) batch->entries[i].predicted_ns = BURNT_NS / 4;
  batch->claims[0] = (batch_claim){.first = 0, .end = 1};
  batch->claims[1] = (batch_claim){.first = 1, .end = AGENTS, .predicted_ns = BURNT_NS};
  batch->claims[1].variance_ns2 = deviation_ns * deviation_ns;
  batch->claim_count = 2;
  crowd->ran = 0;
  crowd->burns = true;
  runner_open(runner);
  runner_publish_all(runner);
  runner->promised_ns = clock_now(&runner->clock) + ROOM_NS;
  runner_set_stop(runner, runner->promised_ns);
  runner_work(runner, runner->caller);
  runner_close(runner);
  crowd->burns = false;
  return crowd->ran;
}

Test(timed_claims, one_that_may_be_late_is_left_between_two_updates) {
  static struct crowd crowd;
  uint32_t begun = 0;
  uint64_t longest_ns = 0;
  SCOPED(little_world_destroy) little_world little = world_of(&crowd);
  for (uint32_t i = 0; i < TRIES && begun < 10; i++) {
    uint32_t ran = run_batch(&little, &crowd, 1.5f * BURNT_NS);
    if (ran < 2) continue; /* something else came between, and there was no time for it */
    begun++;
    cr_assert_leq(ran, 1 + 3, "%u updates of 1 ms ran in 4 ms", ran);
    uint64_t atom_ns = runner_caller(little.world->runner)->audit.longest_atom_ns;
    if (atom_ns > longest_ns) longest_ns = atom_ns;
    for (uint32_t entry = 0; entry < AGENTS; entry++)
      cr_assert_eq(little.world->batch->outcomes[entry], entry < ran ? OUTCOME_FINISHED : OUTCOME_NOT_RUN);
  }
  cr_assert_gt(begun, 0);
  cr_assert_geq(longest_ns, BURNT_NS - BURNT_NS / 8, "its atoms are known: %lu ns", longest_ns);
}

/* When two deviations of a claim lie in time, no clock is read: reading one costs as much as a small update. */
Test(timed_claims, one_that_should_be_in_time_is_not_looked_at) {
  static struct crowd crowd;
  uint32_t begun = 0;
  SCOPED(little_world_destroy) little_world little = world_of(&crowd);
  for (uint32_t i = 0; i < TRIES && begun < 3; i++) begun += run_batch(&little, &crowd, 0) == AGENTS;
  cr_assert_eq(begun, 3);
}

/* A look at the thread's own clock costs as much as a small update. */
Test(timed_claims, an_atom_is_looked_at_when_it_is_longer_than_all_before_by_a_sixty_fourth_and_half_a_microsecond) {
  const worker_audit none = {0}, some = {.longest_atom_ns = 6400000};
  cr_assert_not(overrun_check_is_longest(&none, 500));
  cr_assert(overrun_check_is_longest(&none, 501));
  cr_assert_not(overrun_check_is_longest(&some, 6500500));
  cr_assert(overrun_check_is_longest(&some, 6500501));
}

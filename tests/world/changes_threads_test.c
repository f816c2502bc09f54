/* The changes of frames against a loop over everybody, in worlds in which everything happens; the same for any number
 * of workers. Runs under ThreadSanitizer, too. */
#include "support/busy_worlds.h"
#include "support/replica.h"
#include "world/fixture.h"

enum { FRAMES = UNDER_THREAD_SANITIZER ? 24 : 60, ARRAY = 300 };

/* Some agents are moved by arrays between frames: across the world, a little, or not at all. */
static void move_some(const little_world *little, uint32_t frame) {
  muster_agent agents[ARRAY];
  muster_position places[ARRAY];
  uint32_t count = 0;
  for (muster_agent agent = {0};
       count < ARRAY && !muster_agent_is_null(agent = muster_agent_next(little->world, agent)); count++) {
    agents[count] = agent;
    places[count] = info_of(little, agent).position;
    if (count % 3 == 0) places[count] = busy_place(count, frame);
    if (count % 3 == 1) places[count].y += 0.25;
  }
  if (frame % 4 == 1) cr_assert_eq(muster_agents_move(little->world, agents, places, count), count);
}

static uint64_t run_busy(const busy_kind *kind, uint32_t workers) {
  SCOPED_WORLD little = busy_world(kind, workers);
  SCOPED(replica_destroy) struct replica replica = replica_create(little.world, 4000);
  busy_populate(&little);
  for (uint32_t frame = 0; frame < FRAMES; frame++) {
    busy_frame(&little, kind, frame);
    cr_assert_eq(replica_read(&replica), MUSTER_OK, "%s", muster_last_error());
    replica_check(&replica);
    move_some(&little, frame);
  }
  for (uint32_t k = 0; k < 5; k++)
    cr_assert(k == 4 ? kind->level_pressure == 0.0f || replica.changed[k] : replica.changed[k], "kind %u", k);
  cr_assert_lt(replica.in_vain, replica.changed[0] / 50 + 20);
  return replica.hash;
}

Test(changes_threads, are_what_a_loop_over_everybody_finds_for_any_number_of_workers) {
  static const uint32_t workers[] = {2, 8, 64};
  for (uint32_t kind = 0; kind < BUSY_KINDS; kind++) {
    uint64_t alone = run_busy(&busy_kinds[kind], 1);
    for (uint32_t i = 0; i < COUNT_OF(workers); i++)
      cr_assert_eq(run_busy(&busy_kinds[kind], workers[i]), alone, "%s, %u workers", busy_kinds[kind].name, workers[i]);
  }
}

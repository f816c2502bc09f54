/* A crowd on several workers: the same world on any number of them, and no race between agents that look and agents
 * that walk. */
#include "support/square_world.h"
#include "world/fixture.h"

struct outcome {
  uint64_t hash, cut, completed, removed;
};

static struct outcome run_square(uint32_t workers) {
  SCOPED_WORLD little = square_world(workers, MUSTER_CLOCK_VIRTUAL);
  square_populate(&little);
  run_frames(&little, UNDER_THREAD_SANITIZER ? 200 : 400);
  muster_statistics sums = statistics_of(&little);
  return (struct outcome){muster_world_hash(little.world), sums.nearby_cut, sums.completed, sums.removed};
}

Test(nearby_threads, a_crowd_is_the_same_on_1_2_and_4_workers) {
  struct outcome one = run_square(1);
  cr_assert_gt(one.cut, one.completed / 100);
  cr_assert_gt(one.removed, 50);
  for (uint32_t workers = 2; workers <= 4; workers *= 2) {
    struct outcome many = run_square(workers);
    cr_assert(!memcmp(&one, &many, sizeof one), "%u workers: hash %lx, one worker %lx", workers, many.hash, one.hash);
  }
}

/* Steps inside a bin of the crowd are taken by several workers at once, steps into another bin by the thread of the
 * frame. */
Test(nearby_threads, a_crowd_walks_about_while_it_is_looked_at) {
  SCOPED_WORLD little = square_world(4, MUSTER_CLOCK_WALL);
  square_populate(&little);
  for (uint32_t i = 0; i < 120; i++) /* under the sanitizer planning alone takes more than 5 ms on a laden machine */
    run_frame_with(&little, UNDER_THREAD_SANITIZER ? 100000000u : 5000000u);
  muster_statistics sums = statistics_of(&little);
  cr_assert_gt(sums.completed, 0);
  cr_assert_eq(sums.positions_refused, 0);
}

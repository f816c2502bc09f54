/* Herds on the wall clock, on several workers, while another thread wakes their members. */
#include "world/herd_fixture.h"

#include <stdatomic.h>

enum { HERDS = 4096 };

struct waker {
  muster_world *world;
  const muster_herd *herds;
  atomic_bool stop;
};

static void *wake_members(void *argument) {
  struct waker *waker = argument;
  for (uint32_t i = 0; !atomic_load(&waker->stop); i++) {
    muster_herd_wake(waker->world, waker->herds[i * 7 % HERDS], i % 32);
    if (i % 16 == 0) usleep(500);
  }
  return NULL;
}

Test(herd_threads, keep_all_members_while_workers_run_and_another_thread_wakes_some) {
  static muster_herd ids[HERDS];
  SCOPED_HERDS herds =
      walking_herds(4, muster_world_def_default(),
                    WITH(muster_herd_type_def, it.herds_max = HERDS, it.look_ns = 20000000u, it.hold_ns = 100000000u));
  for (uint32_t i = 0; i < HERDS; i++) ids[i] = add_herd(&herds, (double)(i % 64) * 30.0, (double)(i / 64) * 30.0, 32);
  muster_observer observer = observe(&herds, 0.0, 0.0);
  struct waker waker = {.world = herds.little.world, .herds = ids};
  pthread_t thread;
  cr_assert_eq(pthread_create(&thread, NULL, wake_members, &waker), 0);
  muster_agent named = {0};
  for (uint32_t i = 0; i < 150; i++) {
    muster_observer_move(herds.little.world, observer,
                         (muster_position){12.0 * i, i % 50 == 49 ? 1900.0 : 6.0 * i, 0.0});
    cr_assert_eq(run_frame_with(&herds.little, 20000000u).represented, HERDS * 32);
    if (i == 40) named = muster_herd_name(herds.little.world, ids[5], 3);
  }
  atomic_store(&waker.stop, true);
  pthread_join(thread, NULL);
  cr_assert(muster_agent_is_null(named) || muster_agent_exists(herds.little.world, named));
  cr_assert_gt(statistics_of(&herds.little).unfolds, 0);
  cr_assert_gt(statistics_of(&herds.little).folds, 0);
}

/* A world of 80 blocks, which several workers look at together. */
static uint64_t hash_of_many(uint32_t workers) {
  enum { MANY = 80 * MUSTER_HERD_BLOCK };
  static muster_herd_def defs[MANY];
  SCOPED_HERDS herds =
      walking_herds(workers, virtual_world_def_default(), WITH(muster_herd_type_def, it.herds_max = MANY));
  for (uint32_t i = 0; i < MANY; i++)
    defs[i] = (muster_herd_def){.position = {i % 286 * 60.0, i / 286 * 60.0, 0.0}, .velocity_y = 3.0f};
  cr_assert_eq(muster_herds_add(herds.little.world, herds.type, defs, MANY, NULL), MANY);
  muster_observer observer = observe(&herds, 0.0, 0.0);
  muster_frame_report report = {0};
  for (uint32_t i = 0; i < 40; i++) {
    if (i % 10 == 9) muster_observer_move(herds.little.world, observer, (muster_position){400.0 * i, 300.0 * i, 0.0});
    report = run_frame_with(&herds.little, 50000000u);
    cr_assert_eq(report.represented, 32u * MANY);
  }
  cr_assert_gt(report.herds_unfolded, 10);
  return muster_world_hash(herds.little.world);
}

Test(herd_threads, look_at_many_blocks_together_with_the_same_result) {
  uint64_t hash = hash_of_many(1);
  cr_assert_eq(hash_of_many(4), hash);
}

/* Worlds and pools that are destroyed at the wrong moment, or twice. */
#include "misuse/misuse.h"
#include "support/last_words.h"

typedef struct objects {
  muster_pool *pool;
  muster_world *world;
} objects;

static objects made; /* in the process that misuses them */

static void destroy_world(void) {
  muster_world_destroy(made.world);
}

static void destroy_pool(void) {
  muster_pool_destroy(made.pool);
}

static void (*misuse)(void) = destroy_world; /* of the callbacks */

static muster_atom_result misuse_in_atom(muster_update *update) {
  (void)update;
  misuse();
  return MUSTER_ATOM_NEXT;
}

static void misuse_in_touch(muster_update *update) {
  (void)update;
  misuse();
}

/* A world with one agent of the type. */
static little_world begin(muster_type_def type) {
  little_world little = world_of(2, type);
  made = (objects){little.pool, little.world};
  spawn_at(&little, 0);
  return little;
}

static void run_misusing_atom(void) {
  little_world little = begin(type_running(misuse_in_atom, 0));
  run_frames(&little, 20);
}

static void run_misusing_touch(bool spawned) {
  muster_type_def type = type_running(nothing, 0);
  *(spawned ? &type.on_spawned : &type.on_removed) = misuse_in_touch;
  little_world little = begin(type);
  run_frame(&little);
  muster_world_destroy(little.world);
}

static void run_misusing_on_spawned(void) {
  run_misusing_touch(true);
}

static void run_misusing_on_removed(void) {
  run_misusing_touch(false);
}

Test(destroy, a_world_that_is_destroyed_in_an_atom_aborts_and_names_the_atom) {
  misuse = destroy_world;
  assert_aborts(run_misusing_atom,
                "muster_world_destroy: inside a frame: atom 0 of agent 0 (generation 1) of type 'agent'");
}

Test(destroy, a_world_that_is_destroyed_in_on_spawned_aborts_and_names_the_agent) {
  misuse = destroy_world;
  assert_aborts(run_misusing_on_spawned, "muster_world_destroy: inside a frame: on_spawned of agent 0");
}

Test(destroy, a_world_that_is_destroyed_in_on_removed_of_its_own_destruction_aborts) {
  misuse = destroy_world;
  assert_aborts(run_misusing_on_removed, "is being destroyed");
}

Test(destroy, a_pool_that_is_destroyed_in_a_callback_aborts) {
  misuse = destroy_pool;
  assert_aborts(run_misusing_atom, "muster_pool_destroy: inside a job, a piece of a range or an update");
  assert_aborts(run_misusing_on_spawned, "muster_pool_destroy: inside a job");
  assert_aborts(run_misusing_on_removed, "muster_pool_destroy: inside a job");
}

static bool destroy_in_write(const void *bytes, size_t count, void *user) {
  (void)bytes, (void)count;
  muster_world_destroy(user);
  return true;
}

static void save_into_destruction(void) {
  muster_world *world = virtual_world();
  muster_save_def save = WITH(muster_save_def, it.write = destroy_in_write, it.user = world);
  muster_world_save(world, &save);
}

Test(destroy, a_world_that_is_destroyed_while_it_is_saved_aborts) {
  assert_aborts(save_into_destruction, "muster_world_destroy: inside a callback of a call that takes this world");
}

static void destroy_in_job(void *argument, uint32_t worker) {
  (void)worker;
  muster_pool_destroy(argument);
}

static void submit_destruction(void) {
  muster_pool *pool = pool_of(1);
  run_job(pool, destroy_in_job, pool);
}

Test(destroy, a_pool_that_is_destroyed_in_a_job_aborts) {
  assert_aborts(submit_destruction, "muster_pool_destroy: inside a job");
}

static void destroy_world_twice(void) {
  muster_world *world = virtual_world();
  muster_world_destroy(world);
  muster_world_destroy(world);
}

static void destroy_pool_twice(void) {
  muster_pool *pool = pool_of(muster_pool_def_default().workers);
  muster_pool_destroy(pool);
  muster_pool_destroy(pool);
}

Test(destroy, a_world_or_a_pool_that_is_destroyed_twice_aborts) {
  assert_aborts(destroy_world_twice, "it was destroyed already");
  assert_aborts(destroy_pool_twice, "it was destroyed already");
}

static void destroy_pool_first(void) {
  little_world little = little_world_create(2, NULL);
  muster_pool_destroy(little.pool);
}

Test(destroy, a_pool_that_is_destroyed_before_its_world_aborts_and_counts_the_worlds) {
  assert_aborts(destroy_pool_first, "muster_pool_destroy: 1 worlds use pool 'muster': destroy them first");
}

Test(destroy, a_pool_may_go_when_all_its_worlds_are_gone) {
  SCOPED_WORLD little = little_world_create(2, NULL);
  muster_world_def def = WITH(virtual_world_def, it.pool = little.pool);
  muster_world *second = muster_world_create(&def);
  cr_assert_not_null(second);
  muster_world_destroy(second);
}

Test(destroy, a_world_on_a_pool_that_was_destroyed_is_refused) {
  muster_world_def def = WITH(virtual_world_def, it.pool = pool_of(muster_pool_def_default().workers));
  muster_pool_destroy(def.pool);
  cr_assert_null(muster_world_create(&def));
  expect_error("destroyed already");
}

static void stop_in_job(void *argument, uint32_t worker) {
  (void)worker;
  muster_module_fail(MUSTER_OK, "-");
  cr_assert_eq(muster_pool_stop(argument), 0);
  expect_error("pool stop: inside a job");
}

Test(destroy, a_pool_is_not_stopped_inside_a_job_and_says_why) {
  muster_pool *pool = pool_of(1);
  cr_assert_eq(run_job(pool, stop_in_job, pool), MUSTER_OK);
  muster_pool_destroy(pool);
}

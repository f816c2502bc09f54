/* Commands from many threads while frames run, and several worlds on one pool, on the wall clock. */
#include "world/fixture.h"

enum { PRODUCERS = 4, EACH = 400 };

static muster_atom_result remember(muster_update *update) {
  uint64_t *state = update->state;
  state[0]++;
  state[1] += update->elapsed_ns;
  muster_neighbour near[4];
  uint32_t count = muster_update_nearby(update, 10.0f, (muster_type){0}, near, 4);
  for (uint32_t i = 0; i < count; i++) state[2] += *(const uint64_t *)near[i].published;
  *(uint64_t *)update->published = state[0];
  muster_position position = update->position;
  position.y += 0.01;
  muster_update_move(update, position);
  return MUSTER_ATOM_NEXT;
}

static muster_type_def remembering_type(void) {
  return CHANGED(type_running(remember, 0), it.state_bytes = 24, it.published_bytes = 8, it.period_ns = FRAME_NS);
}

struct producer {
  const little_world *little;
  pthread_t thread;
  uint32_t number, removed, failed;
};

static muster_result until_there_is_room(muster_result (*call)(muster_world *, muster_agent), muster_world *world,
                                         muster_agent agent) {
  muster_result result;
  do result = call(world, agent);
  while (result == MUSTER_E_FULL);
  return result;
}

static void *produce(void *argument) {
  struct producer *producer = argument;
  muster_world *world = producer->little->world;
  for (uint32_t i = 0; i < EACH; i++) {
    muster_agent agent = spawn_at(producer->little, producer->number * 1000.0 + i);
    producer->failed += !muster_agent_exists(world, agent);
    producer->failed += until_there_is_room(muster_agent_wake, world, agent) != MUSTER_OK;
    while (muster_agent_move(world, agent, (muster_position){i * 2.0, producer->number * 50.0, 1}) == MUSTER_E_FULL)
      continue;
    if (i % 4) continue;
    producer->failed += until_there_is_room(muster_agent_remove, world, agent) != MUSTER_OK;
    producer->removed++;
  }
  return NULL;
}

Test(threads, commands_from_many_threads_all_take_effect_while_frames_run) {
  SCOPED_WORLD little = typed_world(4, WITH(muster_world_def, it.limits.commands_max = 64), remembering_type());
  struct producer producers[PRODUCERS] = {0};
  for (uint32_t i = 0; i < PRODUCERS; i++) {
    producers[i] = (struct producer){.little = &little, .number = i};
    pthread_create(&producers[i].thread, NULL, produce, &producers[i]);
  }
  for (uint32_t frame = 0; frame < 100000; frame++) {
    run_frame(&little);
    muster_statistics sums = statistics_of(&little);
    /* An agent that was removed while still pending is never spawned. */
    if (muster_agent_generation(muster_agent_next(little.world, (muster_agent){0})) &&
        sums.spawned - sums.removed == PRODUCERS * EACH * 3 / 4)
      break;
  }
  uint32_t failed = 0, active = 0;
  for (uint32_t i = 0; i < PRODUCERS; i++) {
    pthread_join(producers[i].thread, NULL);
    failed += producers[i].failed;
  }
  run_frames(&little, 30);
  for (muster_agent a = {0}; !muster_agent_is_null(a = muster_agent_next(little.world, a));) active++;
  cr_assert_eq(failed, 0);
  cr_assert_eq(active, PRODUCERS * EACH * 3 / 4);
}

typedef struct world_thread {
  muster_pool *pool;
  pthread_t thread;
  uint64_t completed;
  bool sums_agree;
} world_thread;

static void *run_a_world(void *argument) {
  world_thread *self = argument;
  muster_world_def def = WITH(muster_world_def, it.pool = self->pool);
  little_world little = {.world = muster_world_create(&def)};
  add_type(&little, remembering_type());
  for (int i = 0; i < 300; i++) spawn_at(&little, i);
  run_frames(&little, 3);
  for (int i = 0; i < 60; i++) self->completed += run_frame(&little).completed;
  self->completed += run_frame_with(&little, 5000000000u).completed; /* time enough to commit all updates */
  self->sums_agree = true;
  for (muster_agent a = {0}; !muster_agent_is_null(a = muster_agent_next(little.world, a));) {
    muster_agent_info info = info_of(&little, a);
    const uint64_t *state = info.state;
    uint64_t born = info.last_update_ns - state[1];
    self->sums_agree &= born >= FRAME_NS && born <= 3 * FRAME_NS;
  }
  destroy_full(little.world);
  return NULL;
}

Test(threads, several_worlds_share_one_pool_from_several_threads) {
  muster_pool_def def = WITH(muster_pool_def, it.workers = 3);
  muster_pool *pool = muster_pool_create(&def);
  world_thread worlds[6] = {0};
  for (int i = 0; i < 6; i++) {
    worlds[i].pool = pool;
    pthread_create(&worlds[i].thread, NULL, run_a_world, &worlds[i]);
  }
  for (int i = 0; i < 6; i++) {
    pthread_join(worlds[i].thread, NULL);
    cr_assert(worlds[i].sums_agree, "world %d", i);
    cr_assert_gt(worlds[i].completed, 300);
  }
  muster_pool_destroy(pool);
}

Test(threads, a_world_without_a_pool_runs_on_the_caller_alone) {
  /* How many updates a frame has room for must not depend on the machine. */
  muster_world_def def = virtual_world_def_default();
  little_world little = {.world = muster_world_create(&def)};
  add_type(&little, remembering_type());
  muster_agent agent = spawn_and_run(&little, 0, 10);
  cr_assert_gt(((const uint64_t *)info_of(&little, agent).state)[0], 5);
  destroy_full(little.world);
}

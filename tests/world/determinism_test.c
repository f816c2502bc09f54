/* With the virtual clock the same seed gives the same world on any number of workers. The agents of this test do
 * everything that could make it depend on them: they move, read neighbours, publish, are sliced, spawn, kill and wake.
 */
#include "world/fixture.h"

typedef struct creature {
  uint64_t updates, seen;
  double energy;
} creature;

static muster_atom_result look(muster_update *update) {
  creature *self = update->state;
  muster_neighbour near[8];
  uint32_t count = muster_update_nearby(update, 12.0f, (muster_type){0}, near, 8);
  for (uint32_t i = 0; i < count; i++) {
    const double *energy = near[i].published;
    self->energy += *energy * 0.001 / (1.0 + (double)near[i].distance_m);
    self->seen = self->seen * 31 + muster_agent_index(near[i].agent);
  }
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result walk(muster_update *update) {
  creature *self = update->state;
  double seconds = (double)update->elapsed_ns * 1e-9;
  muster_position to = update->position;
  to.x += ((double)muster_update_random_share(update) - 0.5) * 8 * seconds;
  to.y += ((double)muster_update_random_share(update) - 0.5) * 8 * seconds;
  muster_update_move(update, to);
  self->updates++;
  self->energy += seconds;
  *(double *)update->published = self->energy;
  muster_neighbour near[2];
  if (muster_update_random_share(update) < 0.02f &&
      muster_update_nearby(update, 20.0f, (muster_type){0}, near, 2) == 2) {
    muster_update_wake(update, near[0].agent);
    muster_update_wake(update, near[1].agent);
  }
  return self->energy > 1.0 ? MUSTER_ATOM_NEXT : MUSTER_ATOM_FINISH;
}

static muster_atom_result act(muster_update *update) {
  creature *self = update->state;
  muster_neighbour near[1];
  muster_agent_def child =
      WITH(muster_agent_def, it.type = update->type, it.position = update->position, it.position.x += 1);
  if (muster_update_random_share(update) < 0.2f) muster_update_spawn(update, &child);
  if (muster_update_random_share(update) < 0.22f && muster_update_nearby(update, 30.0f, (muster_type){0}, near, 1) == 1)
    if (muster_update_remove(update, near[0].agent) == MUSTER_OK) {
      creature *other = muster_update_state_of(update, near[0].agent);
      if (other) self->energy += other->energy;
    }
  self->energy -= 1.0;
  return MUSTER_ATOM_NEXT;
}

struct outcome {
  uint64_t hash, spawned, removed, preempted, completed;
};

static struct outcome run_world(uint32_t workers, uint64_t seed, muster_order order) {
  const muster_atom atoms[] = {
      {look, MUSTER_ROLE_PERCEPTION, 3000}, {walk, MUSTER_ROLE_BEHAVIOUR, 1500}, {act, MUSTER_ROLE_ACTION, 2000}};
  muster_world_def world = WITH(virtual_world_def, it.seed = seed, it.order = order, it.limits.agents_max = 4000);
  if (order != MUSTER_ORDER_DEADLINE) world.elastic = MUSTER_ELASTIC_RATE;
  SCOPED_WORLD little = little_world_of(workers, world);
  add_type(&little, CHANGED(type_with(atoms, 3), it.state_bytes = sizeof(creature), it.published_bytes = sizeof(double),
                            it.spawns_max = 1, it.levels.count = 4, it.period_ns = 30000000,
                            it.period_max_ns = 60000000)); /* more than fits: some updates are cut */
  for (int i = 0; i < 1500; i++) spawn_at(&little, i * 0.7);
  muster_observer id = observe_at(&little, 0);
  for (int i = 0; i < 300; i++) {
    muster_observer_move(little.world, id, (muster_position){i * 7.0, 0, 0});
    run_frame_with(&little, 600000 + (uint64_t)(i % 7) * 1000);
  }
  muster_statistics sums = statistics_of(&little);
  return (struct outcome){muster_world_hash(little.world), sums.spawned, sums.removed, sums.preempted, sums.completed};
}

static void compare_workers(muster_order order) {
  struct outcome one = run_world(1, 7, order);
  cr_assert_gt(one.spawned, 1600, "animals were born: %lu", one.spawned);
  cr_assert_gt(one.removed, 100);
  if (order != MUSTER_ORDER_DELAYS) cr_assert_gt(one.preempted, 0);
  for (uint32_t workers = 2; workers <= (UNDER_THREAD_SANITIZER ? 4 : 16); workers *= 2) {
    struct outcome many = run_world(workers, 7, order);
    cr_assert(!memcmp(&one, &many, sizeof one), "%u workers: hash %lx, one worker %lx", workers, many.hash, one.hash);
  }
}

Test(determinism, the_same_seed_gives_the_same_world_on_1_to_16_workers) {
  compare_workers(MUSTER_ORDER_PRIORITY);
}
Test(determinism, also_in_the_papers_order) {
  compare_workers(MUSTER_ORDER_DELAYS);
}
Test(determinism, also_in_the_order_of_deadlines) {
  compare_workers(MUSTER_ORDER_DEADLINE);
}
Test(determinism, another_seed_gives_another_world) {
  cr_assert_neq(run_world(2, 7, MUSTER_ORDER_PRIORITY).hash, run_world(2, 8, MUSTER_ORDER_PRIORITY).hash);
}

static muster_atom_result note_frame(muster_update *update) {
  uint64_t *first_ns = update->state;
  if (!*first_ns) *first_ns = update->now_ns;
  return MUSTER_ATOM_NEXT;
}

/* Checks in which frame each of a few agents runs first. Their period is a hundred frames; the last one took the number
 * of an agent that was removed. Seed, number and generation decide, so figures and records of other machines and builds
 * hold. */
Test(determinism, where_in_its_period_an_agent_begins_is_the_same_everywhere) {
  enum { AGENTS = 5 };
  static const uint32_t frames[AGENTS] = {88, 22, 19, 95, 46};
  muster_agent agents[AGENTS];
  SCOPED_WORLD little = world_of(CHANGED(type_running(note_frame, 1000), it.state_bytes = sizeof(uint64_t),
                                         it.period_ns = it.period_max_ns = 100 * FRAME_NS));
  for (uint32_t i = 0; i < AGENTS; i++) agents[i] = spawn_at(&little, i);
  run_frame(&little);
  muster_agent_remove(little.world, agents[AGENTS - 1]);
  run_frame(&little);
  agents[AGENTS - 1] = spawn_at(&little, 0);
  cr_assert_gt(muster_agent_generation(agents[AGENTS - 1]), muster_agent_generation(agents[0]));
  run_frames(&little, 120);
  for (uint32_t i = 0; i < AGENTS; i++) {
    uint64_t first_ns = *(const uint64_t *)info_of(&little, agents[i]).state;
    cr_assert_eq(first_ns, frames[i] * (uint64_t)FRAME_NS, "agent %u, in frame %lu", i, (first_ns / FRAME_NS));
  }
}

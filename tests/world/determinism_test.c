/* With the virtual clock the same seed gives the same world on any number of workers. The agents of this test do
 * everything that could make it depend on them: they move, read neighbours, publish, are sliced, spawn, kill and wake.
 */
#include "support/little_world.h"
#include "support/sanitized.h"

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
  muster_agent_def child = muster_agent_def_default();
  child.type = update->type;
  child.position = update->position;
  child.position.x += 1;
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
  muster_world_def world = muster_world_def_default();
  world.clock.kind = MUSTER_CLOCK_VIRTUAL;
  world.seed = seed;
  world.order = order;
  if (order != MUSTER_ORDER_DEADLINE) world.elastic = MUSTER_ELASTIC_RATE;
  world.limits.agents_max = 4000;
  little_world little = little_world_create(workers, &world);
  muster_type_def def = type_with(atoms, 3);
  def.state_bytes = sizeof(creature);
  def.published_bytes = sizeof(double);
  def.spawns_max = 1;
  def.levels.count = 4;
  def.period_ns = 30000000;
  def.period_max_ns = 60000000; /* more than fits: some updates are cut */
  register_type(&little, &def);
  for (int i = 0; i < 1500; i++) spawn_at(&little, i * 0.7);
  muster_observer_def observer = muster_observer_def_default();
  muster_observer id = muster_observer_add(little.world, &observer);
  for (int i = 0; i < 300; i++) {
    muster_observer_move(little.world, id, (muster_position){i * 7.0, 0, 0});
    run_frame_with(&little, 600000 + (uint64_t)(i % 7) * 1000);
  }
  muster_statistics sums = muster_statistics_default();
  muster_statistics_read(little.world, &sums);
  struct outcome outcome = {muster_world_hash(little.world), sums.spawned, sums.removed, sums.preempted,
                            sums.completed};
  little_world_destroy(&little);
  return outcome;
}

static void compare_workers(muster_order order) {
  struct outcome one = run_world(1, 7, order);
  cr_assert_gt(one.spawned, 1600, "animals were born: %lu", (unsigned long)one.spawned);
  cr_assert_gt(one.removed, 100);
  if (order != MUSTER_ORDER_DELAYS) cr_assert_gt(one.preempted, 0);
  for (uint32_t workers = 2; workers <= (UNDER_THREAD_SANITIZER ? 4 : 16); workers *= 2) {
    struct outcome many = run_world(workers, 7, order);
    cr_assert(!memcmp(&one, &many, sizeof one), "%u workers: hash %lx, one worker %lx", workers,
              (unsigned long)many.hash, (unsigned long)one.hash);
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
  const muster_atom atom = {note_frame, MUSTER_ROLE_BEHAVIOUR, 1000};
  muster_agent agents[AGENTS];
  little_world little = little_world_create(1, NULL);
  muster_type_def def = type_with(&atom, 1);
  def.state_bytes = sizeof(uint64_t);
  def.period_ns = def.period_max_ns = 100 * FRAME_NS;
  register_type(&little, &def);
  for (uint32_t i = 0; i < AGENTS; i++) agents[i] = spawn_at(&little, i);
  run_frame(&little);
  muster_agent_remove(little.world, agents[AGENTS - 1]);
  run_frame(&little);
  agents[AGENTS - 1] = spawn_at(&little, 0);
  cr_assert_gt(muster_agent_generation(agents[AGENTS - 1]), muster_agent_generation(agents[0]));
  run_frames(&little, 120);
  for (uint32_t i = 0; i < AGENTS; i++) {
    uint64_t first_ns = *(const uint64_t *)info_of(&little, agents[i]).state;
    cr_assert_eq(first_ns, frames[i] * (uint64_t)FRAME_NS, "agent %u, in frame %lu", i,
                 (unsigned long)(first_ns / FRAME_NS));
  }
  little_world_destroy(&little);
}

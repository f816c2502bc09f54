/* Agents that any thread spawned: each is taken once, in order of agents, whatever number waits. */
#include "run/intake_queues.h"
#include "support/arenas.h"

#include <pthread.h>

enum { AGENTS = 1000, SPAWNERS = 3, EACH = 20000 };

struct fixture {
  struct arena arena;
  struct spawn_queue spawns;
};

static struct fixture *create(uint32_t agents) {
  struct fixture *fixture = new_fixture(sizeof *fixture);
  spawn_queue_create(&fixture->spawns, agents, &fixture->arena);
  return fixture;
}

Test(spawn_queue, gives_each_agent_once_and_no_more_than_asked_for) {
  SCOPED(free_fixture) struct fixture *fixture = create(AGENTS);
  uint8_t waiting[AGENTS] = {0};
  uint32_t agents[64], count = 0;
  for (uint32_t step = 0; step < 20000; step++) {
    uint64_t random = random_at(1, step, 0, 0);
    uint32_t agent = (uint32_t)(random >> 32) % AGENTS;
    if (!waiting[agent]) spawn_queue_add(&fixture->spawns, agent), waiting[agent] = 1, count++;
    cr_assert_eq(spawn_queue_count(&fixture->spawns), count);
    if (random % 8) continue;
    uint32_t most = (uint32_t)(random >> 8) % 64, taken = spawn_queue_take(&fixture->spawns, agents, most);
    cr_assert_eq(taken, most < count ? most : count);
    for (uint32_t i = 0; i < taken; i++) {
      cr_assert(waiting[agents[i]], "agent %u did not wait", agents[i]);
      waiting[agents[i]] = 0;
    }
    count -= taken;
  }
}

Test(spawn_queue, goes_on_after_the_last_one_so_that_nobody_is_passed_over_for_ever) {
  SCOPED(free_fixture) struct fixture *fixture = create(AGENTS);
  uint32_t agent, frames = 0;
  spawn_queue_add(&fixture->spawns, AGENTS - 1);
  for (uint32_t i = 0; i < 100; i++) spawn_queue_add(&fixture->spawns, i);
  do { /* the first hundred are spawned again as soon as they are taken */
    cr_assert_eq(spawn_queue_take(&fixture->spawns, &agent, 1), 1);
    if (agent < 100) spawn_queue_add(&fixture->spawns, agent);
    cr_assert_lt(++frames, 300);
  } while (agent != AGENTS - 1);
}

struct spawner {
  struct fixture *fixture;
  uint32_t first;
};

static void *spawn(void *argument) {
  const struct spawner *spawner = argument;
  for (uint32_t i = 0; i < EACH; i++) spawn_queue_add(&spawner->fixture->spawns, spawner->first + i * SPAWNERS);
  return NULL;
}

Test(spawn_queue, loses_nobody_while_threads_spawn_into_the_same_words) {
  SCOPED(free_fixture) struct fixture *fixture = create(SPAWNERS * EACH);
  pthread_t threads[SPAWNERS];
  struct spawner spawners[SPAWNERS];
  SCOPED(free_memory) uint8_t *seen = calloc(SPAWNERS * EACH, 1);
  uint32_t agents[16], total = 0;
  for (uint32_t i = 0; i < SPAWNERS; i++) {
    spawners[i] = (struct spawner){fixture, i};
    pthread_create(&threads[i], NULL, spawn, &spawners[i]);
  }
  while (total < SPAWNERS * EACH) {
    uint32_t taken = spawn_queue_take(&fixture->spawns, agents, 16);
    for (uint32_t i = 0; i < taken; i++) cr_assert_eq(seen[agents[i]]++, 0, "agent %u came twice", agents[i]);
    total += taken;
  }
  for (uint32_t i = 0; i < SPAWNERS; i++) pthread_join(threads[i], NULL);
  cr_assert_eq(spawn_queue_count(&fixture->spawns), 0);
}

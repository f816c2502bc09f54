/* Any thread may ask about ids, spawn and send, while agents and ghosts come and go. */
#include "support/zone_pair.h"
#include "world/fixture.h"

#include <stdatomic.h>

enum { ROUNDS = UNDER_THREAD_SANITIZER ? 40 : 600, HAMMERS = 3, SPAWNS = 30 };

static zone_pair hammered;
static muster_agent known[PAIR_AGENTS];
static _Atomic bool over;
static _Atomic uint64_t answers;

static void *hammer(void *argument) {
  uint32_t random = (uint32_t)(uintptr_t)argument, spawned = 0;
  muster_agent_def def = WITH(muster_agent_def, it.type = hammered.zones[0].type);
  while (!atomic_load(&over)) {
    random = random * 1664525u + 1013904223u;
    muster_world *world = hammered.zones[random >> 16 & 1].world;
    muster_agent agent = known[(random >> 8) % PAIR_AGENTS];
    uint64_t word = random;
    bool here = muster_agent_exists(world, agent), ghost = muster_agent_is_ghost(world, agent);
    muster_result result = muster_agent_send(world, agent, &word, sizeof word);
    if (result != MUSTER_OK && result != MUSTER_E_STALE && result != MUSTER_E_FULL) abort();
    muster_agent_wake(world, agent);
    if (random % 64 == 0 && spawned++ < SPAWNS) muster_agent_spawn(world, &def);
    atomic_fetch_add(&answers, 1u + here + ghost);
    if (random % 16 == 0) usleep(50); /* so that the threads of the frames go on, where processors are few */
  }
  return NULL;
}

Test(zone_threads, any_thread_asks_while_agents_cross) {
  pthread_t threads[HAMMERS];
  hammered = zone_pair_of(2);
  zone_pair_populate(&hammered);
  run_both(&hammered.zones[0], &hammered.zones[1], 1);
  for (uint32_t i = 0; i < PAIR_AGENTS; i++) known[i] = nth_agent(&hammered.zones[0], i);
  for (uintptr_t i = 0; i < HAMMERS; i++) pthread_create(&threads[i], NULL, hammer, (void *)(i + 1));
  for (uint32_t round = 0; round < ROUNDS; round++) {
    for (uint32_t zone = 0; zone < 2; zone++) {
      pair_cross(&hammered, zone, round % 20);
      if (round % 3 == zone) pair_show(&hammered, zone);
      pair_carry(&hammered, zone);
    }
    run_both(&hammered.zones[0], &hammered.zones[1], 1);
  }
  atomic_store(&over, true);
  for (uint32_t i = 0; i < HAMMERS; i++) pthread_join(threads[i], NULL);
  cr_assert_gt(answers, 0);
  cr_assert_gt(hammered.crossed, ROUNDS / 4);
  uint32_t places = 0;
  for (uint32_t i = 0; i < PAIR_AGENTS; i++) {
    uint32_t here = 0;
    for (uint32_t zone = 0; zone < 2; zone++) here += muster_agent_exists(hammered.zones[zone].world, known[i]);
    cr_assert_eq(here, 1, "agent %u is in %u zones", i, here);
    places += here;
  }
  cr_assert_eq(places, PAIR_AGENTS);
  zone_pair_destroy(&hammered);
}

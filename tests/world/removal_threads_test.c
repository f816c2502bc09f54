/* Four threads remove agents while frames run, and the host frees what an agent's callbacks read in on_removed. */
#include "support/await.h"
#include "world/fixture.h"

enum { REMOVERS = 4, CROWD = 400, ROUNDS = UNDER_SANITIZER ? 6 : 25 };

/* What an agent's user pointer points at. */
struct body {
  uint64_t updates;
  uint32_t number;
};

struct morgue {
  little_world little;
  muster_agent agents[CROWD];
  uint32_t told[CROWD]; /* how many removers were told of success; atomic */
  uint32_t freed[CROWD];
  uint32_t wrong;    /* atomic */
  uint32_t go, done; /* rounds; atomic */
  pthread_t removers[REMOVERS];
};

static muster_atom_result live(muster_update *update) {
  struct body *body = update->user;
  body->updates++;
  for (volatile uint32_t i = 0; i < 500; i++) continue;
  muster_neighbour near[3];
  uint32_t count = muster_update_nearby(update, 5.0f, (muster_type){0}, near, 3);
  if (count && body->updates % 3 == 0) muster_update_wake(update, near[0].agent);
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result act(muster_update *update) {
  struct body *body = update->user;
  struct morgue *morgue = update->type_user;
  if (body->number % 50 == 7 && body->updates > 3) muster_update_remove(update, morgue->agents[body->number]);
  return MUSTER_ATOM_NEXT;
}

static void bury(muster_update *update) {
  struct body *body = update->user;
  struct morgue *morgue = update->type_user;
  morgue->freed[body->number]++;
  free(body);
}

/* Each removes every agent, from another place on. */
static void *remove_all(void *argument) {
  struct morgue *morgue = argument;
  muster_world *world = morgue->little.world;
  for (uint32_t round = 1; round <= ROUNDS; round++) {
    AWAIT(__atomic_load_n(&morgue->go, __ATOMIC_ACQUIRE) >= round);
    uint32_t first = (uint32_t)((uintptr_t)pthread_self() >> 12) % CROWD;
    for (uint32_t i = 0; i < CROWD; i++) {
      uint32_t number = (first + i) % CROWD;
      muster_result result = muster_agent_remove(world, morgue->agents[number]);
      if (result == MUSTER_OK) __atomic_fetch_add(&morgue->told[number], 1, __ATOMIC_RELAXED);
      bool wrong = (result != MUSTER_OK && result != MUSTER_E_STALE) ||
                   muster_agent_exists(world, morgue->agents[number]) ||
                   muster_agent_wake(world, morgue->agents[number]) != MUSTER_E_STALE;
      __atomic_fetch_add(&morgue->wrong, wrong, __ATOMIC_RELAXED);
      if (i % 16 == 0) sched_yield();
    }
    __atomic_fetch_add(&morgue->done, 1, __ATOMIC_RELEASE);
  }
  return NULL;
}

/* Some agents remove themselves before that: no remover is told of these. */
static void run_round(struct morgue *morgue, uint32_t round) {
  for (uint32_t i = 0; i < CROWD; i++) {
    struct body *body = malloc(sizeof *body);
    *body = (struct body){.number = i};
    morgue->told[i] = morgue->freed[i] = 0;
    morgue->agents[i] = spawn_as(&morgue->little, WITH(muster_agent_def, it.position.x = i % 20 * 2.0,
                                                       it.position.y = i / 20.0 * 2.0, it.user = body));
  }
  for (uint32_t i = 0; i < 5; i++) run_frame_with(&morgue->little, 2000000);
  __atomic_store_n(&morgue->go, round, __ATOMIC_RELEASE);
  AWAIT_WITH(run_frame_with(&morgue->little, 400000),
             __atomic_load_n(&morgue->done, __ATOMIC_ACQUIRE) >= round * REMOVERS);
  muster_frame_report report = run_frame_with(&morgue->little, 400000);
  cr_assert_eq(report.agents, 0, "%u agents are left a frame after their removal", report.agents);
  for (uint32_t i = 0; i < CROWD; i++) {
    cr_assert_leq(morgue->told[i], 1, "%u removers were told of agent %u", morgue->told[i], i);
    cr_assert(morgue->told[i] == 1 || i % 50 == 7);
    cr_assert_eq(morgue->freed[i], 1);
  }
}

static void run_morgue(muster_clock clock) {
  static const muster_atom atoms[] = {{live, MUSTER_ROLE_BEHAVIOUR, 2000}, {act, MUSTER_ROLE_ACTION, 200}};
  SCOPED(free_memory) struct morgue *morgue = calloc(1, sizeof *morgue);
  morgue->little = little_world_of(
      3, WITH(muster_world_def, it.clock.kind = clock, it.limits.agents_max = 2 * CROWD, it.limits.commands_max = 64));
  add_type(&morgue->little, WITH(muster_type_def, it.atoms = atoms, it.atom_count = 2, it.period_ns = FRAME_NS,
                                 it.on_removed = bury, it.user = morgue));
  for (uint32_t i = 0; i < REMOVERS; i++) pthread_create(&morgue->removers[i], NULL, remove_all, morgue);
  for (uint32_t round = 1; round <= ROUNDS; round++) run_round(morgue, round);
  for (uint32_t i = 0; i < REMOVERS; i++) pthread_join(morgue->removers[i], NULL);
  cr_assert_eq(morgue->wrong, 0);
  little_world_destroy(&morgue->little);
}

Test(removal_threads, remove_while_frames_run_and_on_removed_frees) {
  run_morgue(MUSTER_CLOCK_WALL);
}

Test(removal_threads, do_so_under_the_virtual_clock_too) {
  run_morgue(MUSTER_CLOCK_VIRTUAL);
}

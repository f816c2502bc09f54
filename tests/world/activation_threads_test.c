/* Activation is planned while several workers settle: on the wall clock every agent runs as often as its period says,
 * whichever worker reserved it. Runs under ThreadSanitizer, too. */
#include "world/fixture.h"

enum { AGENTS = 3000, FRAMES = 120, PERIOD_FRAMES = 3, DELAY = 2 };

struct life {
  uint64_t born_ns, lived_ns;
  uint32_t runs;
};

static struct life lives[AGENTS]; /* by agent, of those who are gone */

static void be_born(muster_update *update) {
  ((struct life *)update->state)->born_ns = update->now_ns;
}

static muster_atom_result live(muster_update *update) {
  struct life *self = update->state;
  self->lived_ns += update->elapsed_ns;
  self->runs++;
  return MUSTER_ATOM_NEXT;
}

static void die(muster_update *update) {
  lives[muster_agent_index(update->agent) % AGENTS] = *(const struct life *)update->state;
}

Test(activation_threads, everyone_runs_as_often_as_its_period_says) {
  little_world little =
      little_world_of(3, WITH(muster_world_def, it.limits.agents_max = AGENTS, it.activation_delay = DELAY));
  add_type(&little, CHANGED(type_running(live, 500), it.period_ns = it.period_max_ns = PERIOD_FRAMES * FRAME_NS,
                            it.state_bytes = sizeof(struct life), it.on_spawned = be_born, it.on_removed = die));
  for (uint32_t i = 0; i < AGENTS; i++) spawn_at(&little, i);
  for (uint32_t i = 0; i < FRAMES; i++) run_frame_with(&little, 1000000000u); /* enough, whatever else is running */
  uint64_t now_ns = little.now_ns;
  little_world_destroy(&little);
  for (uint32_t i = 0; i < AGENTS; i++) {
    const struct life *life = &lives[i];
    uint64_t age_ns = now_ns - life->born_ns, owed_ns = age_ns - life->lived_ns;
    cr_assert(age_ns > 0 && life->lived_ns <= age_ns, "agent %u", i);
    cr_assert_lt(owed_ns, (PERIOD_FRAMES + DELAY + 1) * (uint64_t)FRAME_NS, "agent %u was forgotten", i);
    int64_t due = (int64_t)(age_ns / (PERIOD_FRAMES * (uint64_t)FRAME_NS));
    cr_assert(life->runs <= due + 1 && life->runs + 2 >= due, "agent %u ran %u times", i, life->runs);
  }
}

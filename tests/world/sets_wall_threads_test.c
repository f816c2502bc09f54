/* Types with sets on the wall clock, with workers that are called away between atoms. What is checked holds for every
 * schedule, and does not depend on how long anything takes. */
#include "support/burn.h"
#include "world/fixture.h"

enum { AGENTS = 400, SETS = 4, ATOMS = 8, FRAMES = 60 };

/* What an agent knows of its own sets; written only by the worker that runs it. */
struct mind {
  uint64_t told_ns[SETS]; /* of completed runs */
  uint64_t began_ns[SETS];
  uint32_t next[SETS]; /* the atom that must come next, when the set is sliceable */
  uint32_t broken;     /* number of rules that were broken */
  uint32_t runs[SETS];
  uint64_t spawned_ns;
};

static void be_born(muster_update *update) {
  struct mind *mind = update->state;
  mind->spawned_ns = update->now_ns;
}

static void be_urgent(void *argument, uint32_t worker) {
  (void)argument, (void)worker;
}

static muster_atom_result think(muster_update *update, uint32_t atom) {
  struct mind *mind = update->state;
  uint32_t set = update->set;
  uint64_t random = muster_update_random(update);
  spend((uint32_t)(random >> 40) % 3000);
  if (set == 1 && mind->next[set] != atom) mind->broken++; /* sliceable: no atom is left out or run twice */
  if (set != 1 && atom != 0 && mind->next[set] != atom) mind->broken++;
  if (atom == 0) mind->began_ns[set] = update->now_ns;
  if (mind->began_ns[set] != update->now_ns) mind->broken++;
  if (random % 16 == 3) muster_job_submit(update->type_user, MUSTER_URGENCY_URGENT, be_urgent, NULL, NULL);
  if (random % 4 == 0) muster_update_wake(update, muster_agent_make((uint32_t)(random >> 20) % AGENTS, 1));
  if (random % 8 == 1) {
    while (set != 0 && set != 3 && !muster_update_should_yield(update)) spend(100);
    if (set == 1 && random % 16 == 1) return MUSTER_ATOM_MORE;
  }
  mind->next[set] = (atom + 1) % ATOMS;
  if (atom + 1 == ATOMS) {
    mind->told_ns[set] += update->elapsed_ns;
    mind->runs[set]++;
  }
  return MUSTER_ATOM_NEXT;
}

#define THOUGHT(number)                                                                                                \
  static muster_atom_result think_##number(muster_update *update) {                                                    \
    return think(update, number);                                                                                      \
  }
THOUGHT(0)
THOUGHT(1)
THOUGHT(2)
THOUGHT(3)
THOUGHT(4)
THOUGHT(5)
THOUGHT(6)
THOUGHT(7)

static const muster_atom thoughts[ATOMS] = {{think_0, MUSTER_ROLE_BEHAVIOUR, 0}, {think_1, MUSTER_ROLE_BEHAVIOUR, 0},
                                            {think_2, MUSTER_ROLE_BEHAVIOUR, 0}, {think_3, MUSTER_ROLE_BEHAVIOUR, 0},
                                            {think_4, MUSTER_ROLE_BEHAVIOUR, 0}, {think_5, MUSTER_ROLE_BEHAVIOUR, 0},
                                            {think_6, MUSTER_ROLE_BEHAVIOUR, 0}, {think_7, MUSTER_ROLE_BEHAVIOUR, 0}};

static void register_thinkers(little_world *little, uint64_t slice_ns) {
  muster_set_def sets[SETS];
  for (uint32_t i = 0; i < SETS; i++) sets[i] = WITH(muster_set_def, it.atoms = thoughts, it.atom_count = ATOMS);
  sets[1].mode = MUSTER_MODE_SLICEABLE;
  sets[2].mode = MUSTER_MODE_SUSPENDABLE;
  sets[3].role = MUSTER_ROLE_ACTION;
  add_type(little, WITH(muster_type_def, it.sets.list = sets, it.sets.count = SETS,
                        it.state_bytes = sizeof(struct mind), it.period_ns = 3 * FRAME_NS, it.user = little->pool,
                        it.on_spawned = be_born, it.sets.slice_ns = slice_ns, it.limit_ns = 1000000000u,
                        it.overruns.demote = it.overruns.quarantine = 0));
}

/* Its atoms submit urgent jobs and wake agents. After each frame the state of every agent must be right. */
static void run_world(uint64_t slice_ns, uint64_t budget_ns) {
  SCOPED_WORLD little = little_world_of(4, muster_world_def_default());
  muster_agent agents[AGENTS];
  uint64_t runs = 0;
  register_thinkers(&little, slice_ns);
  for (uint32_t i = 0; i < AGENTS; i++) agents[i] = spawn_at(&little, i);
  for (uint32_t frame = 0; frame < FRAMES; frame++) {
    run_frame_with(&little, budget_ns);
    for (uint32_t i = 0; i < AGENTS; i++) {
      const struct mind *mind = info_of(&little, agents[i]).state;
      cr_assert_eq(mind->broken, 0, "agent %u in frame %u", i, frame);
      for (uint32_t set = 0; set < SETS; set++) {
        muster_set_info info = muster_set_info_default();
        cr_assert_eq(muster_agent_set_read(little.world, agents[i], set, &info), MUSTER_OK);
        if (!info_of(&little, agents[i]).active) continue;
        cr_assert_eq(mind->spawned_ns + mind->told_ns[set], info.last_ns, "agent %u, set %u, frame %u", i, set, frame);
      }
    }
  }
  for (uint32_t i = 0; i < AGENTS; i++) {
    const struct mind *mind = info_of(&little, agents[i]).state;
    for (uint32_t set = 0; set < SETS; set++) runs += mind->runs[set];
  }
  cr_assert_gt(runs, 0);
  uint64_t counted = 0;
  for (uint32_t set = 0; set < SETS; set++) {
    muster_set_info info = muster_set_info_default();
    muster_agent_set_read(little.world, agents[0], set, &info);
    counted += info.runs;
  }
  cr_assert_eq(counted, runs);
}

Test(sets_wall, workers_that_are_called_away_keep_every_rule) {
  run_world(0, 4000000u);
  run_world(20000u, 4000000u);
}

Test(sets_wall, frames_that_end_in_the_middle_keep_every_rule) {
  run_world(0, 300000u);
}

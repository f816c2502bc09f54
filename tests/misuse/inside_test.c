/* Calls of hosts inside atoms: each is refused with the call that is meant. Jobs and other worlds are not inside. */
#include "misuse/misuse.h"

/* Expressions that are true when the call was refused, and what the sentence must name. */
#define CALLS(X)                                                                                                       \
  X(muster_agent_is_null(muster_agent_spawn(a->world, &spawn)), "muster_agent_spawn", "muster_update_spawn()")         \
  X(muster_agent_remove(a->world, a->agent), "muster_agent_remove", "muster_update_remove()")                          \
  X(muster_agent_move(a->world, a->agent, place), "muster_agent_move", "muster_update_move()")                         \
  X(muster_agent_wake(a->world, a->agent), "muster_agent_wake", "muster_update_wake()")                                \
  X(muster_agent_wake_at(a->world, a->agent, 1), "muster_agent_wake_at", "muster_update_wake_at()")                    \
  X(muster_agent_send(a->world, a->agent, &spawn, 8), "muster_agent_send", "muster_update_send()")                     \
  X(muster_agent_link(a->world, a->agent, a->other), "muster_agent_link", "muster_update_link()")                      \
  X(muster_agent_unlink(a->world, a->agent, a->other), "muster_agent_unlink", "muster_update_unlink()")                \
  X(muster_agent_set_periods(a->world, a->agent, FRAME_NS, 0), "muster_agent_set_periods",                             \
    "muster_update_set_periods()")                                                                                     \
  X(muster_type_set_periods(a->world, a->type, FRAME_NS, 0), "muster_type_set_periods",                                \
    "muster_update_set_type_periods()")                                                                                \
  X(muster_herd_wake(a->world, muster_herd_make(1, 1), 0), "muster_herd_wake", "muster_update_herd_wake()")            \
  X(muster_herd_remove(a->world, muster_herd_make(1, 1)), "muster_herd_remove", "muster_update_herd_remove()")         \
  X(muster_agent_tune(a->world, a->agent, &agent_tuning), "muster_agent_tune", "no update can ask for it")             \
  X(muster_agent_quarantine(a->world, a->agent), "muster_agent_quarantine", "no update can ask for it")                \
  X(muster_agent_reinstate(a->world, a->agent), "muster_agent_reinstate", "no update can ask for it")                  \
  X(muster_type_quarantine(a->world, a->type), "muster_type_quarantine", "no update can ask for it")                   \
  X(muster_type_reinstate(a->world, a->type), "muster_type_reinstate", "no update can ask for it")                     \
  X(muster_set_tune(a->world, a->type, 0, &set_tuning), "muster_set_tune", "no update can ask for it")                 \
  X(muster_type_set_share(a->world, a->type, 50), "muster_type_set_share", "no update can ask for it")                 \
  X(muster_world_tune(a->world, &tuning), "muster_world_tune", "no update can ask for it")                             \
  X(muster_observer_is_null(muster_observer_add(a->world, &observer)), "muster_observer_add",                          \
    "no update can ask for it")                                                                                        \
  X(muster_observer_move(a->world, a->observer, place), "muster_observer_move", "no update can ask for it")            \
  X(muster_observer_remove(a->world, a->observer), "muster_observer_remove", "no update can ask for it")               \
  X(muster_agent_read(a->world, a->agent, &info), "agent", "muster_update_published_of()")                             \
  X(!muster_agents_move(a->world, &a->agent, &place, 1), "positions of agents", "muster_update_move()")                \
  X(!muster_agents_nearby(a->world, &query, near, 1, NULL), "nearby", "muster_update_nearby()")

struct asked {
  muster_world *world;
  muster_type type;
  muster_agent agent, other;
  muster_observer observer;
  const char *wrong; /* the first call that was let pass, or whose sentence does not help */
  char sentence[300];
  uint32_t asked;
};

static void ask_one(struct asked *a, bool refused, const char *call, const char *meant) {
  const char *sentence = muster_last_error();
  bool helps = refused && muster_last_result() == MUSTER_E_STATE && strstr(sentence, call) == sentence &&
               strstr(sentence, meant) && strstr(sentence, "of type 'agent'");
  if (helps || a->wrong) return;
  a->wrong = call;
  strncpy(a->sentence, sentence, sizeof a->sentence - 1);
}

static void ask_all(muster_update *update) {
  struct asked *a = update->type_user;
  muster_agent_def spawn = muster_agent_def_default();
  muster_position place = {1, 2, 3};
  muster_agent_tuning agent_tuning = muster_agent_tuning_default();
  muster_set_tuning set_tuning = muster_set_tuning_default();
  muster_world_tuning tuning = muster_world_tuning_default();
  muster_observer_def observer = muster_observer_def_default();
  muster_agent_info info = muster_agent_info_default();
  muster_nearby_query query = muster_nearby_query_default();
  muster_nearby_agent near[1];
  spawn.type = a->type;
#define ASK(REFUSED, CALL, MEANT)                                                                                      \
  muster_module_fail(MUSTER_OK, "-");                                                                                  \
  ask_one(a, REFUSED, CALL, MEANT);
  CALLS(ASK)
  a->asked++;
}

static muster_atom_result ask_in_atom(muster_update *update) {
  ask_all(update);
  return MUSTER_ATOM_NEXT;
}

/* What the calls in these callbacks came to. */
static void expect_refusals(const muster_atom *atoms, uint32_t count, muster_clock clock,
                            void (*on_spawned)(muster_update *), void (*on_removed)(muster_update *)) {
  struct asked a = {0};
  muster_world_def def = WITH(muster_world_def, it.clock.kind = clock, it.importance_model = MUSTER_IMPORTANCE_FACTORS);
  muster_type_def type =
      WITH(muster_type_def, it.atoms = atoms, it.atom_count = count, it.period_ns = it.period_max_ns = FRAME_NS,
           it.user = &a, it.on_spawned = on_spawned, it.on_removed = on_removed);
  muster_observer_def observer = muster_observer_def_default();
  SCOPED_WORLD little = typed_world(2, def, type);
  little.provokes_idle = true;
  a.world = little.world;
  a.type = little.type;
  a.observer = muster_observer_add(little.world, &observer);
  a.agent = spawn_at(&little, 0);
  a.other = spawn_at(&little, 1);
  muster_agent leaves = spawn_at(&little, 2);
  run_frames(&little, 4);
  cr_assert_eq(muster_agent_remove(little.world, leaves), MUSTER_OK);
  run_frames(&little, 4);
  cr_assert_gt(a.asked, 0);
  cr_assert_null(a.wrong, "%s: '%s'", a.wrong, a.sentence);
  cr_assert(muster_agent_exists(little.world, a.agent));
  cr_assert_eq(run_frame(&little).agents, 2);
}

Test(inside, calls_of_hosts_are_refused_in_atoms_with_the_call_that_is_meant) {
  static const muster_atom behaviour[] = {{.run = ask_in_atom, .model_ns = 1000}},
                           actions[] = {{.run = nothing, .model_ns = 1000},
                                        {.run = ask_in_atom, .role = MUSTER_ROLE_ACTION, .model_ns = 1000}};
  expect_refusals(behaviour, 1, MUSTER_CLOCK_VIRTUAL, NULL, NULL);
  expect_refusals(behaviour, 1, MUSTER_CLOCK_WALL, NULL, NULL);
  expect_refusals(actions, 2, MUSTER_CLOCK_VIRTUAL, NULL, NULL);
}

Test(inside, calls_of_hosts_are_refused_in_on_spawned_and_on_removed) {
  static const muster_atom idle[] = {{.run = nothing, .model_ns = 1000}};
  expect_refusals(idle, 1, MUSTER_CLOCK_VIRTUAL, ask_all, NULL);
  expect_refusals(idle, 1, MUSTER_CLOCK_VIRTUAL, NULL, ask_all);
}

/* ----------------------------------------------------------------------------------------------- what stays allowed */

struct beside {
  little_world *own, *other;
  muster_agent agent, far;
  uint32_t pieces, refused;
};

static void wake_in_piece(void *argument, uint64_t begin, uint64_t end, uint32_t worker) {
  struct beside *beside = argument;
  (void)worker;
  for (uint64_t i = begin; i < end; i++) {
    __atomic_add_fetch(&beside->pieces, 1, __ATOMIC_RELAXED);
    if (muster_agent_wake(beside->own->world, beside->agent)) __atomic_add_fetch(&beside->refused, 1, __ATOMIC_RELAXED);
  }
}

static void wake_in_job(void *argument, uint32_t worker) {
  wake_in_piece(argument, 0, 1, worker);
}

/* Pieces and jobs may run on this thread or on another: which of them must make no difference. */
static muster_atom_result call_beside(muster_update *update) {
  struct beside *beside = update->type_user;
  muster_group group;
  if (muster_parallel_for(beside->own->pool, MUSTER_URGENCY_NORMAL, 64, 1, wake_in_piece, beside)) beside->refused++;
  muster_group_init(&group, beside->own->pool);
  for (uint32_t i = 0; i < 8; i++)
    if (muster_job_submit(beside->own->pool, MUSTER_URGENCY_NORMAL, wake_in_job, beside, &group)) beside->refused++;
  muster_group_wait(&group);
  if (muster_agent_move(beside->other->world, beside->far, (muster_position){5, 0, 0})) beside->refused++;
  /* Afterwards the atom is inside again. */
  if (muster_agent_wake(beside->own->world, beside->agent) != MUSTER_E_STATE) beside->refused++;
  return MUSTER_ATOM_NEXT;
}

Test(inside, jobs_that_an_atom_waits_for_and_other_worlds_are_not_inside_of_it) {
  struct beside beside;
  muster_type_def type = type_running(call_beside, 1000);
  type.period_ns = type.period_max_ns = FRAME_NS;
  type.user = &beside;
  SCOPED_WORLD own = world_of(2, type), other = world_of(1, type_running(nothing, 1000));
  beside = (struct beside){&own, &other, .agent = spawn_at(&own, 0), .far = spawn_at(&other, 0)};
  run_frames(&own, 4);
  cr_assert_geq(beside.pieces, 72, "%u, %u were refused", beside.pieces, beside.refused);
  cr_assert_eq(beside.refused, 0);
  run_frames(&other, 2);
  cr_assert_float_eq(info_of(&other, beside.far).position.x, 5, 1e-3);
}

/* What the case from the field did: calls of hosts by which the same seed gave several worlds. */
static muster_atom_result meddle(muster_update *update) {
  muster_position place = {(double)(muster_update_random(update) % 1000), 0, 0};
  muster_agent_def def = WITH(muster_agent_def, it.type = update->type);
  muster_agent_move(update->world, *(const muster_agent *)update->type_user, place);
  if (muster_update_random(update) % 8 == 0) (void)muster_agent_spawn(update->world, &def);
  return MUSTER_ATOM_NEXT;
}

static uint64_t hash_of(uint32_t workers) {
  muster_agent first;
  SCOPED_WORLD little = world_of(workers, WITH(muster_type_def, it.atoms = atom_of(meddle, 1000), it.atom_count = 1,
                                               it.period_ns = FRAME_NS, it.spawns_max = 4, it.user = &first));
  first = spawn_at(&little, 0);
  for (uint32_t i = 1; i < 200; i++) spawn_at(&little, i);
  run_frames(&little, 30);
  return muster_world_hash(little.world);
}

Test(inside, the_same_seed_gives_the_same_world_whatever_atoms_try) {
  uint64_t hash = hash_of(1);
  for (uint32_t i = 0; i < 3; i++) cr_assert_eq(hash_of(4), hash);
}

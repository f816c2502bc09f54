/* Types with sets under the virtual clock: the same world on any number of workers, and in a replay. */
#include "run/intake_queues.h"
#include "world/fixture.h"
#include "world/guard.h"

enum { AGENTS = 3000, FRAMES = 120, ATOMS = 6 };

struct mind {
  uint64_t sum, told_ns;
  uint32_t calls;
};

/* Costs, results and the time told depend on the agent: its state shows all of them. */
static muster_atom_result think(muster_update *update) {
  struct mind *mind = update->state;
  uint64_t random = muster_update_random(update);
  mind->sum = mind->sum * 31 + random + update->set + update->elapsed_ns;
  mind->told_ns += update->elapsed_ns;
  mind->calls++;
  if (random % 16 == 0) muster_update_wake(update, muster_agent_make((uint32_t)(random >> 32) % AGENTS, 1));
  if (random % 16 == 1) muster_update_move(update, (muster_position){update->position.x + 1.0, update->position.y, 0});
  if (random % 1024 == 5) { /* often with sets that are owed time */
    muster_agent_def def = WITH(muster_agent_def, it.type = update->type, it.position = update->position);
    muster_update_remove(update, update->agent);
    muster_update_spawn(update, &def);
  }
  uint32_t asked = 0;
  while (random % 8 == 2 && asked < 20 && !muster_update_should_yield(update)) asked++;
  if (asked) muster_update_progress(update, (float)asked / 20.0f);
  if (asked && random % 32 == 2) return MUSTER_ATOM_MORE;
  return random % 64 == 3 ? MUSTER_ATOM_FINISH : MUSTER_ATOM_NEXT;
}

static muster_atom_result act(muster_update *update) {
  struct mind *mind = muster_update_state_of(update, update->agent);
  mind->sum = mind->sum * 7 + update->elapsed_ns;
  return MUSTER_ATOM_NEXT;
}

static uint64_t cost_of(const muster_cost_query *query, void *user) {
  (void)user;
  return 500 + query->random % 6000 + query->elapsed_ns / 100000;
}

static void register_thinkers(little_world *little) {
#define THOUGHT                                                                                                        \
  { think, MUSTER_ROLE_BEHAVIOUR, 0 }
  static const muster_atom thoughts[ATOMS] = {THOUGHT, THOUGHT, THOUGHT, THOUGHT, THOUGHT, THOUGHT};
  static const muster_atom acts[] = {{act, MUSTER_ROLE_ACTION, 500}};
  muster_set_def sets[5];
  for (uint32_t i = 0; i < 5; i++)
    sets[i] = CHANGED(set_with(thoughts, 1 + i), it.mode = i % 3, it.share = 10 + 20 * i);
  sets[0].role = MUSTER_ROLE_PERCEPTION;
  sets[2].period_updates = 3;
  sets[3] = CHANGED(sets[3], it.period_updates = 0, it.period_ns = 150000000u);
  sets[4] = CHANGED(set_with(acts, 1), it.share = 90, it.role = MUSTER_ROLE_ACTION, it.mode = MUSTER_MODE_RUN);
  muster_type_def type =
      WITH(muster_type_def, it.sets.list = sets, it.sets.count = 5, it.state_bytes = sizeof(struct mind),
           it.period_ns = 3 * FRAME_NS, it.models.cost_ns = cost_of, it.sets.slice_ns = 15000, it.spawns_max = 1);
  register_type(little, &type);
  type.sets.slice_ns = 0;
  add_type(little, CHANGED(type, it.sets.share = 40, it.elapsed.contract = MUSTER_ELAPSED_EVENTS));
  add_type(little, CHANGED(type, it.sets.share = 10, it.elapsed.contract = MUSTER_ELAPSED_DELTA));
}

static void populate(little_world *little) {
  for (uint32_t i = 0; i < AGENTS; i++) {
    little->type.index = 1 + i % 3;
    spawn_at(little, i);
  }
}

/* Runs a frame, after commands of the host in some frames. */
static muster_frame_report run_one(little_world *little, uint32_t frame) {
  muster_set_tuning tuning = muster_set_tuning_default();
  muster_set_tuning other = CHANGED(tuning, it.mode = MUSTER_MODE_SUSPENDABLE, it.share = 99);
  if (frame == 30) cr_assert_eq(muster_set_tune(little->world, (muster_type){1}, 2, &other), MUSTER_OK);
  if (frame == 60) cr_assert_eq(muster_type_set_share(little->world, (muster_type){3}, 90), MUSTER_OK);
  if (frame == 80) cr_assert_eq(muster_set_tune(little->world, (muster_type){3}, 3, &tuning), MUSTER_OK);
  return run_frame_with(little, frame % 10 == 9 ? 500000u : 8000000u);
}

static uint64_t run_world(uint32_t workers, muster_statistics *sums) {
  SCOPED_WORLD little = little_world_create(workers, NULL);
  register_thinkers(&little);
  populate(&little);
  for (uint32_t frame = 0; frame < FRAMES; frame++) run_one(&little, frame);
  *sums = statistics_of(&little);
  return muster_world_hash(little.world);
}

Test(sets_determinism, the_same_world_on_any_number_of_workers) {
  muster_statistics first, sums;
  uint64_t hash = run_world(1, &first);
  cr_assert_gt(first.sets_cut, 1000);
  cr_assert_gt(first.preempted, 10);
  cr_assert_gt(first.completed, 10000);
  cr_assert_gt(first.removed, 50);
  for (uint32_t workers = 2; workers <= 8; workers *= 2) {
    cr_assert_eq(run_world(workers, &sums), hash, "%u workers", workers);
    cr_assert_eq(sums.completed, first.completed);
    cr_assert_eq(sums.sets_cut, first.sets_cut);
    cr_assert_eq(sums.preempted, first.preempted);
  }
}

Test(sets_determinism, the_same_world_in_a_replay) {
  SCOPED(recorded_forget) struct recorded run = {0};
  SCOPED_WORLD little = little_world_create(2, NULL), again = little_world_create(4, NULL);
  register_thinkers(&little);
  recorded_begin(&run, little.world);
  populate(&little);
  for (uint32_t frame = 0; frame < FRAMES; frame++) recorded_note(&run, &little, run_one(&little, frame));
  recorded_end(&run, little.world);
  register_thinkers(&again);
  recorded_replay(&run, again.world);
  replay_alike(&run, &again);
}

/* Such commands can only come from a forged record. */
Test(sets_determinism, a_replay_takes_commands_for_types_and_none_for_herds_in_their_place) {
  SCOPED_WORLD little = little_world_create(1, NULL);
  register_thinkers(&little);
  struct command command = {.kind = COMMAND_SET_TUNE, .index = 1};
  muster_set_tuning tuning = muster_set_tuning_default();
  command.tuning.share = (uint8_t)tuning.share;
  command.tuning.period_updates = tuning.period_updates;
  command.tuning.period_ns = tuning.period_ns;
  command.tuning.mode = (uint8_t)tuning.mode;
  for (uint32_t kind = COMMAND_REINSTATE_TYPE; kind < COMMAND_KINDS; kind++) {
    command.kind = kind;
    if (kind == COMMAND_TYPE_PERIODS) command.periods = (command_periods){1000000, 1000000};
    cr_assert_eq(command_is_possible(little.world, &command), kind < COMMAND_HERD_WAKE, "command %u", kind);
  }
}

Test(sets_determinism, a_replay_knows_another_set) {
  SCOPED(recorded_forget) struct recorded run = {0};
  muster_set_def set = WITH(muster_set_def, it.atoms = atom_of(think, 0), it.atom_count = 1);
  muster_type_def type =
      WITH(muster_type_def, it.sets.list = &set, it.sets.count = 1, it.state_bytes = sizeof(struct mind));
  SCOPED_WORLD little = world_of(type);
  recorded_begin(&run, little.world);
  recorded_note(&run, &little, run_frame(&little));
  recorded_end(&run, little.world);
  set.period_updates = 2;
  SCOPED_WORLD again = world_of(type);
  recorded_replay(&run, again.world);
  cr_assert_neq(muster_replay_frame(again.world), MUSTER_OK);
  expect_error("period_updates");
}

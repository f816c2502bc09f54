/* Types with sets under the virtual clock: the same world on any number of workers, and in a replay. */
#include "run/intake_queues.h"
#include "support/recording.h"
#include "world/guard.h"

#include <muster/record.h>
#include <muster/sets.h>

enum { AGENTS = 3000, FRAMES = 120, ATOMS = 6 };

struct mind {
  uint64_t sum, told_ns;
  uint32_t calls;
};

/* Removes the agent, often with sets that are owed time, and spawns another one. */
static void replace(muster_update *update) {
  muster_agent_def def = muster_agent_def_default();
  def.type = update->type;
  def.position = update->position;
  muster_update_remove(update, update->agent);
  muster_update_spawn(update, &def);
}

/* Costs, results and the time told depend on the agent: its state shows all of them. */
static muster_atom_result think(muster_update *update) {
  struct mind *mind = update->state;
  uint64_t random = muster_update_random(update);
  mind->sum = mind->sum * 31 + random + update->set + update->elapsed_ns;
  mind->told_ns += update->elapsed_ns;
  mind->calls++;
  if (random % 16 == 0) muster_update_wake(update, muster_agent_make((uint32_t)(random >> 32) % AGENTS, 1));
  if (random % 16 == 1)
    muster_update_move(update, (muster_position){update->position.x + 1.0, update->position.y, 0.0});
  if (random % 1024 == 5) replace(update);
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
  static const muster_atom thoughts[ATOMS] = {{think, MUSTER_ROLE_BEHAVIOUR, 0}, {think, MUSTER_ROLE_BEHAVIOUR, 0},
                                              {think, MUSTER_ROLE_BEHAVIOUR, 0}, {think, MUSTER_ROLE_BEHAVIOUR, 0},
                                              {think, MUSTER_ROLE_BEHAVIOUR, 0}, {think, MUSTER_ROLE_BEHAVIOUR, 0}};
  static const muster_atom acts[] = {{act, MUSTER_ROLE_ACTION, 500}};
  muster_set_def sets[5];
  for (uint32_t i = 0; i < 5; i++) {
    sets[i] = muster_set_def_default();
    sets[i].atoms = thoughts;
    sets[i].atom_count = 1 + i;
    sets[i].mode = i % 3;
    sets[i].share = 10 + 20 * i;
  }
  sets[0].role = MUSTER_ROLE_PERCEPTION;
  sets[2].period_updates = 3;
  sets[3].period_updates = 0;
  sets[3].period_ns = 150000000u;
  sets[4].role = MUSTER_ROLE_ACTION;
  sets[4].mode = MUSTER_MODE_RUN;
  sets[4].atoms = acts;
  sets[4].atom_count = 1;
  muster_type_def type = muster_type_def_default();
  type.sets.list = sets;
  type.sets.count = 5;
  type.state_bytes = sizeof(struct mind);
  type.period_ns = 3 * FRAME_NS;
  type.models.cost_ns = cost_of;
  type.sets.slice_ns = 15000;
  type.spawns_max = 1;
  register_type(little, &type);
  type.sets.slice_ns = 0;
  type.sets.share = 40;
  type.elapsed.contract = MUSTER_ELAPSED_EVENTS;
  register_type(little, &type);
  type.elapsed.contract = MUSTER_ELAPSED_DELTA;
  type.sets.share = 10;
  register_type(little, &type);
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
  if (frame == 30) {
    tuning.mode = MUSTER_MODE_SUSPENDABLE;
    tuning.share = 99;
    cr_assert_eq(muster_set_tune(little->world, (muster_type){1}, 2, &tuning), MUSTER_OK);
  }
  if (frame == 60) cr_assert_eq(muster_type_set_share(little->world, (muster_type){3}, 90), MUSTER_OK);
  if (frame == 80) cr_assert_eq(muster_set_tune(little->world, (muster_type){3}, 3, &tuning), MUSTER_OK);
  return run_frame_with(little, frame % 10 == 9 ? 500000u : 8000000u);
}

static uint64_t run_world(uint32_t workers, muster_statistics *sums) {
  little_world little = little_world_create(workers, NULL);
  register_thinkers(&little);
  populate(&little);
  for (uint32_t frame = 0; frame < FRAMES; frame++) run_one(&little, frame);
  uint64_t hash = muster_world_hash(little.world);
  *sums = muster_statistics_default();
  muster_statistics_read(little.world, sums);
  little_world_destroy(&little);
  return hash;
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
  struct recorded run;
  little_world little = little_world_create(2, NULL);
  register_thinkers(&little);
  recorded_begin(&run, little.world);
  populate(&little);
  for (uint32_t frame = 0; frame < FRAMES; frame++) recorded_note(&run, &little, run_one(&little, frame));
  recorded_end(&run, little.world);
  little_world_destroy(&little);
  little = little_world_create(4, NULL);
  register_thinkers(&little);
  recorded_replay(&run, little.world);
  for (uint32_t frame = 0; frame < FRAMES; frame++) {
    cr_assert_eq(muster_replay_frame(little.world), MUSTER_OK, "%s", muster_last_error());
    cr_assert_eq(muster_world_hash(little.world), run.hashes[frame], "frame %u", frame);
  }
  little_world_destroy(&little);
  free(run.bytes);
}

/* Such commands can only come from a forged record. */
Test(sets_determinism, a_replay_takes_commands_for_types_and_none_for_herds_in_their_place) {
  little_world little = little_world_create(1, NULL);
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
  little_world_destroy(&little);
}

Test(sets_determinism, a_replay_knows_another_set) {
  struct recorded run;
  static const muster_atom atom = {think, MUSTER_ROLE_BEHAVIOUR, 0};
  muster_set_def set = muster_set_def_default();
  muster_type_def type = muster_type_def_default();
  set.atoms = &atom;
  set.atom_count = 1;
  type.sets.list = &set;
  type.sets.count = 1;
  type.state_bytes = sizeof(struct mind);
  little_world little = little_world_create(1, NULL);
  register_type(&little, &type);
  recorded_begin(&run, little.world);
  recorded_note(&run, &little, run_frame(&little));
  recorded_end(&run, little.world);
  little_world_destroy(&little);
  set.period_updates = 2;
  little = little_world_create(1, NULL);
  register_type(&little, &type);
  recorded_replay(&run, little.world);
  cr_assert_neq(muster_replay_frame(little.world), MUSTER_OK);
  cr_assert_not_null(strstr(muster_last_error(), "period_updates"), "%s", muster_last_error());
  little_world_destroy(&little);
  free(run.bytes);
}

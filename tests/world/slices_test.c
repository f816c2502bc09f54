/* Slices: an update of a type without sets that is cut inside an atom goes on there in a later frame. */
#include "support/little_world.h"

#include <muster/record.h>
#include <muster/sets.h>

#include <stdlib.h>

enum { QUESTIONS = 50, FRAMES = 30, RECORD_BYTES = 1 << 20 };

/* What an agent does: QUESTIONS pieces of work in each update. */
struct work {
  uint64_t pieces, updates, parts, elapsed_ns, began_ns;
  uint32_t done, wrong, waited;
};

static muster_atom_result slices_begin(muster_update *update) {
  struct work *work = update->state;
  work->wrong += work->done != 0;
  work->began_ns = update->now_ns;
  return MUSTER_ATOM_NEXT;
}

static void burn_a_little(void) {
  for (volatile uint32_t i = 0; i < 20000; i++) continue;
}

static muster_atom_result slices_work(muster_update *update) {
  struct work *work = update->state;
  work->parts++;
  work->wrong += update->now_ns != work->began_ns; /* all its parts are told the same */
  while (work->done < QUESTIONS) {
    burn_a_little();
    work->done++;
    work->pieces++;
    if (work->done < QUESTIONS && muster_update_should_yield(update)) return MUSTER_ATOM_MORE;
  }
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result slices_end(muster_update *update) {
  struct work *work = update->state;
  work->wrong += work->done != QUESTIONS;
  work->done = 0;
  work->updates++;
  work->elapsed_ns += update->elapsed_ns;
  work->wrong += muster_update_should_yield(update); /* an action is never cut */
  return MUSTER_ATOM_NEXT;
}

static const muster_atom slices_atoms[] = {
    {.run = slices_begin}, {.run = slices_work}, {.run = slices_end, .role = MUSTER_ROLE_ACTION}};

static muster_type_def sliced(void) {
  muster_type_def def = type_with(slices_atoms, 3);
  def.state_bytes = sizeof(struct work);
  def.period_ns = def.period_max_ns = FRAME_NS;
  def.elasticity = 0;
  def.slices.slice_ns = 100000;
  return def;
}

static struct work read_work(const little_world *little, muster_agent agent) {
  muster_agent_info info = muster_agent_info_default();
  cr_assert_eq(muster_agent_read(little->world, agent, &info), MUSTER_OK);
  struct work work;
  memcpy(&work, info.state, sizeof work);
  return work;
}

static void slices_run(little_world *little) {
  for (uint32_t i = 1; i <= FRAMES; i++)
    cr_assert_eq(muster_frame_run(little->world, &(muster_frame){i * (uint64_t)FRAME_NS, 5000000}), MUSTER_OK);
}

Test(slices, a_cut_update_goes_on_in_the_same_atom_and_completes_once) {
  for (uint32_t workers = 1; workers <= 4; workers *= 4) {
    little_world little = little_world_create(workers, NULL);
    muster_type_def def = sliced();
    register_type(&little, &def);
    muster_agent agent = spawn_in(&little, (muster_position){0}, 0);
    slices_run(&little);
    struct work work = read_work(&little, agent);
    cr_assert_eq(work.wrong, 0);
    cr_assert_eq(work.updates, (FRAMES - 1) / 4, "of 50 questions the 16th is answered yes: four frames for each");
    cr_assert_eq(work.pieces, work.updates * QUESTIONS + work.done);
    cr_assert_geq(work.parts, 4 * work.updates);
    little_world_destroy(&little);
  }
}

Test(slices, without_slices_more_goes_on_with_the_next_atom) {
  little_world little = little_world_create(1, NULL);
  muster_type_def def = sliced();
  def.slices.slice_ns = 0;
  register_type(&little, &def);
  muster_agent agent = spawn_in(&little, (muster_position){0}, 0);
  slices_run(&little);
  struct work work = read_work(&little, agent);
  cr_assert_eq(work.parts, work.updates);
  cr_assert_eq(work.wrong, 0);
  little_world_destroy(&little);
}

struct tape_of_test {
  unsigned char *bytes;
  size_t count;
};

static bool keep(const void *bytes, size_t count, void *user) {
  struct tape_of_test *kept = user;
  if (kept->count + count > RECORD_BYTES) return false;
  memcpy(kept->bytes + kept->count, bytes, count);
  kept->count += count;
  return true;
}

Test(slices, where_an_update_was_cut_on_the_wall_clock_is_recorded_and_replayed) {
  struct tape_of_test kept = {.bytes = malloc(RECORD_BYTES)};
  muster_world_def world_def = muster_world_def_default();
  little_world little = little_world_create(1, &world_def);
  muster_record_def record = muster_record_def_default();
  record.write = keep;
  record.user = &kept;
  cr_assert_eq(muster_record_begin(little.world, &record), MUSTER_OK, "%s", muster_last_error());
  muster_type_def def = sliced();
  register_type(&little, &def);
  muster_agent agents[3];
  for (uint32_t i = 0; i < 3; i++) agents[i] = spawn_in(&little, (muster_position){0}, 0);
  slices_run(&little);
  struct work recorded = read_work(&little, agents[0]);
  uint64_t hash = muster_world_hash(little.world);
  cr_assert_eq(muster_record_end(little.world), MUSTER_OK);
  little_world_destroy(&little);
  cr_assert_gt(recorded.parts, recorded.updates + 1, "no update was cut");

  little_world again = little_world_create(2, &world_def);
  muster_replay_def replay = muster_replay_def_default();
  replay.bytes = kept.bytes;
  replay.count = kept.count;
  cr_assert_eq(muster_replay_begin(again.world, &replay), MUSTER_OK, "%s", muster_last_error());
  register_type(&again, &def);
  for (uint32_t i = 0; i < FRAMES; i++)
    cr_assert_eq(muster_replay_frame(again.world), MUSTER_OK, "%s", muster_last_error());
  struct work replayed = read_work(&again, agents[0]);
  cr_assert_eq(memcmp(&recorded, &replayed, sizeof recorded), 0);
  cr_assert_eq(hash, muster_world_hash(again.world));
  little_world_destroy(&again);
  free(kept.bytes);
}

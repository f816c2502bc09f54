/* Slices: an update of a type without sets that is cut inside an atom goes on there in a later frame. */
#include "world/fixture.h"

enum { QUESTIONS = 50, FRAMES = 30 };

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

static muster_atom_result slices_work(muster_update *update) {
  struct work *work = update->state;
  work->parts++;
  work->wrong += update->now_ns != work->began_ns; /* all its parts are told the same */
  while (work->done < QUESTIONS) {
    for (volatile uint32_t i = 0; i < 20000; i++) continue;
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
  return WITH(muster_type_def, it.atoms = slices_atoms, it.atom_count = 3, it.state_bytes = sizeof(struct work),
              it.period_ns = it.period_max_ns = FRAME_NS, it.elasticity = 0, it.slices.slice_ns = 100000);
}

static struct work read_work(const little_world *little, muster_agent agent) {
  return *(const struct work *)info_of(little, agent).state;
}

Test(slices, a_cut_update_goes_on_in_the_same_atom_and_completes_once) {
  for (uint32_t workers = 1; workers <= 4; workers *= 4) {
    SCOPED_WORLD little = typed_world(workers, virtual_world_def_default(), sliced());
    muster_agent agent = spawn_and_run(&little, 0, FRAMES);
    struct work work = read_work(&little, agent);
    cr_assert_eq(work.wrong, 0);
    cr_assert_eq(work.updates, (FRAMES - 1) / 4, "of 50 questions the 16th is answered yes: four frames for each");
    cr_assert_eq(work.pieces, work.updates * QUESTIONS + work.done);
    cr_assert_geq(work.parts, 4 * work.updates);
  }
}

Test(slices, without_slices_more_goes_on_with_the_next_atom) {
  SCOPED_WORLD little = world_of(CHANGED(sliced(), it.slices.slice_ns = 0));
  muster_agent agent = spawn_and_run(&little, 0, FRAMES);
  struct work work = read_work(&little, agent);
  cr_assert_eq(work.parts, work.updates);
  cr_assert_eq(work.wrong, 0);
}

Test(slices, where_an_update_was_cut_on_the_wall_clock_is_recorded_and_replayed) {
  SCOPED(recorded_forget) struct recorded run = {0};
  SCOPED_WORLD little = little_world_of(1, muster_world_def_default());
  recorded_begin(&run, little.world);
  add_type(&little, sliced());
  muster_agent agents[3];
  for (uint32_t i = 0; i < 3; i++) agents[i] = spawn_at(&little, 0);
  for (uint32_t i = 0; i < FRAMES; i++) recorded_note(&run, &little, run_frame(&little));
  struct work recorded = read_work(&little, agents[0]);
  recorded_end(&run, little.world);
  cr_assert_gt(recorded.parts, recorded.updates + 1, "no update was cut");

  SCOPED_WORLD again = little_world_of(2, muster_world_def_default());
  recorded_replay(&run, again.world);
  add_type(&again, sliced());
  replay_alike(&run, &again);
  struct work replayed = read_work(&again, agents[0]);
  cr_assert_eq(memcmp(&recorded, &replayed, sizeof recorded), 0);
  cr_assert_eq(muster_world_hash(little.world), muster_world_hash(again.world));
}

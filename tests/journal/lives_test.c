/* A world that dies again and again, at any moment, goes on each time as if it had not died. */
#include "support/busy_worlds.h"
#include "support/journal_lives.h"
#include "support/sanitized.h"

enum {
  LIVES = UNDER_SANITIZER ? 4 : 10, /* each kind of death, and one again */
  KINDS_APART = UNDER_THREAD_SANITIZER ? 3 : 1,
  LIFE_FRAMES = 9,
  LATER_FRAMES = 12
};

static little_world lives_world(const void *of, uint32_t workers) {
  busy_interrupt = die_in_update;
  return busy_world(of, workers);
}

static void lives_populate(little_world *little, const void *of) {
  (void)of;
  busy_populate(little);
}

static void lives_frame(little_world *little, const void *of, uint32_t frame) {
  busy_frame(little, of, frame);
}

static journal_scene scene_of(const busy_kind *kind) {
  return (journal_scene){kind->name, kind, lives_world, lives_populate, lives_frame};
}

static void live_ten_times(const busy_kind *kind, bool turns) {
  static const uint32_t workers[] = {1, 2, 8};
  uint64_t hashes[LATER_FRAMES];
  journal_place place = place_make();
  journal_scene scene = scene_of(kind);
  journal_life life = {.scene = &scene, .path = place.path, .told = told_create(), .turns = turns};
  if (turns) life.recovery_max_ns = 10000000;
  for (uint32_t i = 0; i < LIVES; i++) {
    life.number = i;
    life.workers = workers[i % 3];
    life.death = (journal_death)(i % 3);
    life.frames = (uint32_t)life.told->frames + LIFE_FRAMES;
    life_run(&life);
  }
  bool known = !kind->wall && !turns;
  if (known) never_died(&scene, life.told, LATER_FRAMES, hashes);
  expect_same_on_any_workers(&life, LATER_FRAMES, known ? hashes : NULL);
  told_destroy(life.told);
  place_remove(&place);
}

static busy_kind that_repeats(uint32_t i, bool wall) {
  busy_kind kind = busy_kinds[i];
  kind.repeats = true;
  kind.wall = wall;
  return kind;
}

Test(journal_lives, a_world_in_virtual_time_goes_on_as_if_it_had_not_died) {
  for (uint32_t i = 0; i < BUSY_KINDS; i += KINDS_APART) {
    busy_kind kind = that_repeats(i, false);
    live_ten_times(&kind, false);
  }
}

Test(journal_lives, so_does_one_on_the_wall_clock) {
  for (uint32_t i = 0; i < BUSY_KINDS; i += 2 * KINDS_APART) {
    busy_kind kind = that_repeats(i, true);
    live_ten_times(&kind, false);
  }
}

Test(journal_lives, and_so_they_do_while_snapshots_are_taken_all_the_time) {
  for (uint32_t i = 0; i < 2; i++) {
    busy_kind kind = that_repeats(1, i == 1);
    live_ten_times(&kind, true);
  }
}

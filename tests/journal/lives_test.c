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

static void live_ten_times(const busy_kind *kind, bool turns) {
  static const uint32_t workers[] = {1, 2, 8};
  const journal_scene scene = {kind->name, kind, lives_world, lives_populate, lives_frame};
  SCOPED(life_end) journal_life life = life_of(&scene);
  life.turns = turns;
  if (turns) life.recovery_max_ns = 10000000;
  for (; life.number < LIVES; life.number++) {
    life.workers = workers[life.number % 3];
    life.death = (journal_death)(life.number % 3);
    life.frames = (uint32_t)life.told->frames + LIFE_FRAMES;
    life_run(&life);
  }
  expect_same_later(&life, LATER_FRAMES, !kind->wall && !turns);
}

static busy_kind that_repeats(uint32_t i, bool wall) {
  return CHANGED(busy_kinds[i], it.repeats = true, it.wall = wall);
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

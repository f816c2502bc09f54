/* Herds live again, too: folded and unfolded, with the changes that wait. */
#include "support/herd_busy.h"
#include "support/journal_lives.h"

enum { HERD_LIVES = 6, HERD_LIFE_FRAMES = 25, HERD_LATER_FRAMES = 30 };

static herd_busy herds_of(const little_world *little) {
  herd_busy busy = {.little = *little, .deer = {1}, .elk = {2}, .wolf = {3}, .herds = {1}, .flocks = {2}};
  for (uint32_t i = 0; i < BUSY_OBSERVERS; i++) busy.observers[i] = muster_observer_make(i, 1);
  return busy;
}

static little_world herd_lives_world(const void *of, uint32_t workers) {
  (void)of;
  return herd_busy_world(workers, 30).little;
}

static void herd_lives_populate(little_world *little, const void *of) {
  (void)of;
  herd_busy busy = herds_of(little);
  herd_busy_populate(&busy);
}

static void herd_lives_frame(little_world *little, const void *of, uint32_t frame) {
  (void)of;
  herd_busy busy = herds_of(little);
  herd_busy_frame(&busy, frame);
  *little = busy.little;
}

static const journal_scene herd_scene = {"herds", NULL, herd_lives_world, herd_lives_populate, herd_lives_frame};

Test(journal_herd_lives, herds_go_on_as_if_they_had_not_died) {
  SCOPED(life_end) journal_life life = life_of(&herd_scene);
  for (; life.number < HERD_LIVES; life.number++) {
    life.workers = (const uint32_t[]){1, 2, 8}[life.number % 3];
    life.death = life.number % 2 ? DEATH_AT_ANY_MOMENT : DEATH_BETWEEN_FRAMES;
    life.frames = (uint32_t)life.told->frames + HERD_LIFE_FRAMES;
    life_run(&life);
  }
  expect_same_later(&life, HERD_LATER_FRAMES, true);
}

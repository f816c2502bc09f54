/* A world that dies again and again, at any moment, goes on each time as if it had not died. */
#include "support/busy_worlds.h"
#include "support/journal_lives.h"
#include "support/sanitized.h"

enum { LIVES = 10, LIFE_FRAMES = 12, LATER_FRAMES = 20, ALL_FRAMES = LIVES * LIFE_FRAMES + LATER_FRAMES };

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

/* All on from the same files, with other numbers of workers. */
static void expect_same_on_any_workers(const journal_life *life, bool same) {
  uint64_t hashes[3][LATER_FRAMES];
  for (uint32_t i = 0; i < 3; i++) {
    muster_journal_info info;
    little_world little = life->scene->create(life->scene->of, (const uint32_t[]){1, 2, 8}[i]);
    cr_assert_eq(journal_recover(&little, life->path, &info), MUSTER_OK, "%s: %s", life->scene->name,
                 muster_last_error());
    if (info.frames == life->told->frames)
      cr_assert_eq(muster_world_hash(little.world), life->told->hashes[info.frames], "%s", life->scene->name);
    for (uint32_t k = 0; k < LATER_FRAMES; k++) {
      life->scene->frame(&little, life->scene->of, (uint32_t)info.frames + k);
      hashes[i][k] = muster_world_hash(little.world);
      if (life->reference) cr_assert_eq(hashes[i][k], life->reference[info.frames + k + 1], "%s", life->scene->name);
    }
    little_world_destroy(&little);
  }
  if (same)
    cr_assert(memcmp(hashes[0], hashes[1], sizeof *hashes) == 0 && memcmp(hashes[0], hashes[2], sizeof *hashes) == 0);
}

static void live_ten_times(const busy_kind *kind, bool turns) {
  static const uint32_t workers[] = {1, 2, 8};
  journal_place place = place_make();
  journal_scene scene = scene_of(kind);
  uint64_t *reference = kind->wall || turns ? NULL : scene_reference(&scene, ALL_FRAMES + LATER_FRAMES);
  journal_life life = {.scene = &scene, .path = place.path, .told = told_create(), .turns = turns};
  life.reference = reference;
  if (turns) life.recovery_max_ns = 10000000;
  for (uint32_t i = 0; i < LIVES; i++) {
    life.number = i;
    life.workers = workers[i % 3];
    life.death = (journal_death)(i % 3);
    life.frames = (uint32_t)life.told->frames + LIFE_FRAMES;
    if (life.frames + LATER_FRAMES > ALL_FRAMES && reference) break; /* deaths at any moment came late */
    life_run(&life);
  }
  expect_same_on_any_workers(&life, !kind->wall);
  told_destroy(life.told);
  free(reference);
  place_remove(&place);
}

static busy_kind that_repeats(uint32_t i, bool wall) {
  busy_kind kind = busy_kinds[i];
  kind.repeats = true;
  kind.wall = wall;
  return kind;
}

Test(journal_lives, a_world_in_virtual_time_goes_on_as_if_it_had_not_died) {
  for (uint32_t i = 0; i < BUSY_KINDS; i++) {
    busy_kind kind = that_repeats(i, false);
    live_ten_times(&kind, false);
  }
}

Test(journal_lives, so_does_one_on_the_wall_clock) {
  for (uint32_t i = 0; i < BUSY_KINDS; i += 2) {
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

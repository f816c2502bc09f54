/* A zone with a journal goes on after its death with the crossings that were complete: everybody is in one zone. */
#include "support/journal_town.h"
#include "support/zone_pair.h"

enum { LIFE_FRAMES = 60 };

static void zone_live(void *user) {
  const town_life *life = user;
  zone_pair pair = zone_pair_of(2);
  zone_pair_populate(&pair);
  for (uint32_t frame = 0; frame < 10; frame++) pair_frame(&pair, frame);
  muster_journal *journal = journal_begin(&pair.zones[0], life->place.path);
  for (uint32_t frame = 10; frame < LIFE_FRAMES; frame++) {
    pair_frame(&pair, frame);
    told_frame(life->told, &pair.zones[0], frame);
    if (frame == 35) must(muster_journal_snapshot(journal) == MUSTER_OK, "no snapshot");
    muster_journal_turn(journal, 1000000000u);
  }
  must(journal_status(journal).runs, "the journal ended: %s", journal_status(journal).ended_by);
  must(pair.crossed > 60 && zone_status(&pair.zones[0]).ghosts > 0, "too little crossed");
}

Test(journal_zone, crossings_are_repeated_after_a_death) {
  SCOPED(town_life_end) town_life life = town_life_of(0, NULL);
  live_until_death(zone_live, &life);
  muster_journal_info info = muster_journal_info_default();
  const muster_journal_look_def look = WITH(muster_journal_look_def, it.path = life.place.path);
  muster_world_def def = muster_world_def_default();
  cr_assert_eq(muster_journal_look(&look, &info, &def), MUSTER_OK, "%s", muster_last_error());
  cr_assert_eq(def.zone.number, 1);
  for (uint32_t workers = 1; workers <= 4; workers += 3) {
    muster_type_def type = walker_type();
    SCOPED(little_world_destroy) little_world again = zone_world_of(workers, &def, &type);
    cr_assert_eq(journal_back(&again, life.place.path).frames, LIFE_FRAMES);
    expect_told(life.told, &again, LIFE_FRAMES - 1);
    muster_zone_def zone;
    cr_assert_eq(muster_zone_read(again.world, &zone), MUSTER_OK);
    cr_assert_eq(zone.epoch, 2, "it was set in frame 40");
    cr_assert_eq(muster_zone_set_epoch(again.world, 3), MUSTER_OK);
    cr_assert_eq(muster_agent_epoch(spawn_at(&again, 1)), 3);
    zone_bytes bytes = {0};
    depart(&again, nth_agent(&again, 0), 2, &bytes);
    run_frames(&again, 3);
    free(bytes.bytes);
  }
}

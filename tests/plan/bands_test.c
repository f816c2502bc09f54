/* Bands of importance: where they end, what classes count in them, and which agents' ages a frame looks at. */
#include "plan/bands.h"
#include "plan/crowd.h"

enum { AGENTS = 1000, FRAMES = 2000 };

static struct bands told;

Test(bands, end_at_quarters_and_none_is_a_band_of_its_own) {
  const struct {
    float importance;
    uint32_t band;
  } cases[] = {{0.0f, 0},    {1.0f / 65535.0f, 1}, {0.25f, 1},   {0.2501f, 2}, {0.5f, 2},
               {0.5001f, 3}, {0.75f, 3},           {0.7501f, 4}, {1.0f, 4}};
  for (uint32_t i = 0; i < COUNT_OF(cases); i++)
    cr_assert_eq(band_of(share_of(cases[i].importance)), cases[i].band, "%g", (double)cases[i].importance);
  for (uint32_t band = 0; band < MUSTER_BANDS; band++) cr_assert_eq(band_of(share_of(muster_band_end(band))), band);
}

/* Spawned, walking in and out, removed: see crowd_check_bands(). */
Test(bands, are_counted_by_class_as_importance_changes) {
  SCOPED(free_fixture) struct crowd *crowd = crowd_create_plain(AGENTS, 4, 32.0f);
  for (uint32_t i = 0; i < 4; i++) crowd_observe(crowd, i, crowd_place(crowd, 400), 0, 25, 250);
  crowd_settle(crowd);
  for (uint32_t i = 0; i < AGENTS; i++) crowd_spawn(crowd, i, crowd_place(crowd, 600), 0, 0);
  for (uint32_t round = 0; round < 20; round++) {
    for (uint32_t i = 0; i < AGENTS; i += 1 + round % 3) crowd_move(crowd, i, crowd_place(crowd, 600));
    crowd_settle(crowd);
    crowd_check_sums(crowd);
  }
  muster_band bands[MUSTER_BANDS] = {0};
  uint32_t agents = 0;
  for (uint32_t band = 0; band < MUSTER_BANDS; band++) {
    bands_count(&crowd->classes, band, &bands[band]);
    agents += bands[band].agents;
    cr_assert_gt(bands[band].agents, 0);
  }
  cr_assert_eq(agents, AGENTS);
}

/* The first hundred agents are 1 ns old, the next hundred 2, the next 4: each value has a bucket of its own. */
Test(bands, all_agents_are_looked_at_alike) {
  enum { PARTS = 10 };
  SCOPED(free_fixture) struct crowd *crowd = crowd_create_plain(AGENTS, 1, 32.0f);
  const uint64_t now_ns = 1u << PARTS;
  told = (struct bands){0};
  for (uint32_t i = 0; i < AGENTS; i++) crowd_spawn(crowd, i, crowd_place(crowd, 600), 0, i % 2 ? 1.0f : 0.0f);
  for (uint32_t i = 0; i < AGENTS; i++) crowd->store.rows[i].last_update_ns = now_ns - (1u << i / (AGENTS / PARTS));
  crowd->store.high = AGENTS;
  for (uint32_t frame = 1; frame <= FRAMES; frame++)
    bands_end_frame(&told, &crowd->classes, &crowd->store, now_ns, frame);
  cr_assert_eq(told.ages[0].total + told.ages[4].total, FRAMES * BANDS_LOOKS);
  for (uint32_t part = 0; part < PARTS; part++) {
    struct histogram one = {0};
    histogram_add(&one, 1u << part);
    uint64_t looks = 0;
    for (uint32_t bucket = 0; bucket < HISTOGRAM_BUCKETS; bucket++)
      if (one.counts[bucket]) looks = told.ages[0].counts[bucket] + told.ages[4].counts[bucket];
    cr_assert_float_eq((double)looks, FRAMES * BANDS_LOOKS / PARTS, 0.02 * FRAMES * BANDS_LOOKS / PARTS, "part %u",
                       part);
  }
  cr_assert_float_eq((double)told.ages[0].total, (double)told.ages[4].total, 1.0);
}

/* A world of fewer agents than a frame looks at: every agent once in each frame. */
Test(bands, a_frame_looks_at_nobody_twice) {
  SCOPED(free_fixture) struct crowd *crowd = crowd_create_plain(AGENTS, 1, 32.0f);
  told = (struct bands){0};
  for (uint32_t i = 0; i < 10; i++) crowd_spawn(crowd, i, crowd_place(crowd, 600), 0, 1.0f);
  crowd->store.high = 10;
  for (uint32_t i = 0; i < 10; i++) crowd->store.rows[i].last_update_ns = 1000 - i;
  bands_end_frame(&told, &crowd->classes, &crowd->store, 1000, 7);
  for (uint32_t i = 0; i < 10; i++) cr_assert_eq(told.ages[4].counts[i], 1);
}

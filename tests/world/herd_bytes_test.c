/* What statistics say of the memory of herds: folded and unfolded herds are counted apart, and each herd takes as much
 * as the next. */
#include "agents/herds.h"
#include "world/herd_fixture.h"

enum { HERDS = 4, APART_M = 3000 };

/* Unfolds one herd after another; seen[n] is what there is after the n-th one, [0] while all are folded. */
static void unfold_all(bool retains, muster_statistics seen[HERDS + 1]) {
  muster_herd herd[HERDS];
  SCOPED_HERDS herds = herd_world_with(WITH(muster_herd_type_def, it.retains = retains));
  for (uint32_t i = 0; i < HERDS; i++) herd[i] = add_herd(&herds, (double)(i * APART_M), 0.0, 32);
  run_frames(&herds.little, 5);
  seen[0] = statistics_of(&herds.little);
  for (uint32_t i = 0; i < HERDS; i++) {
    observe(&herds, (double)(i * APART_M), 0.0);
    for (uint32_t frame = 0; frame < 200 && herd_info_of(&herds, herd[i]).leaves < 32; frame++)
      run_frame(&herds.little);
    cr_assert_eq(herd_info_of(&herds, herd[i]).leaves, 32);
    seen[i + 1] = statistics_of(&herds.little);
  }
}

Test(herd_bytes, are_of_the_unfolded_ones_as_many_for_each) {
  muster_statistics seen[HERDS + 1];
  unfold_all(false, seen);
  cr_assert_eq(seen[0].bytes_unfolded, 0);
  cr_assert_gt(seen[0].bytes_folded, 0);
  uint64_t each = seen[1].bytes_unfolded, folded_each = seen[0].bytes_folded - seen[1].bytes_folded;
  cr_assert_geq(each, 32 * (4 * sizeof(float) + sizeof(uint16_t)), "a place, a velocity and members for each leaf");
  cr_assert_geq(folded_each, 5 * sizeof(float) + sizeof(uint16_t), "a place, a velocity, a total and members");
  cr_assert_lt(folded_each, each);
  for (uint32_t i = 1; i <= HERDS; i++) {
    cr_assert_eq(seen[i].bytes_unfolded, i * each, "%u herds are unfolded", i);
    cr_assert_eq(seen[i].bytes_folded, seen[0].bytes_folded - i * folded_each, "%u herds are unfolded", i);
    cr_assert_geq(seen[i].bytes_scheduling, seen[i].bytes_folded + seen[i].bytes_unfolded);
  }
}

Test(herd_bytes, are_more_where_members_are_retained) {
  muster_statistics plain[HERDS + 1], retained[HERDS + 1];
  unfold_all(false, plain);
  unfold_all(true, retained);
  for (uint32_t i = 1; i <= HERDS; i++)
    cr_assert_geq(retained[i].bytes_unfolded, plain[i].bytes_unfolded + i * 32 * (2 * sizeof(float) + sizeof(uint64_t)),
                  "where each stood, and its state");
}

/* The bytes of so many folded herds of a type with one total, and of one with three. */
static uint64_t folded_bytes(uint32_t first, uint32_t second) {
  const muster_type_def deer =
      CHANGED(deer_def(atom_of(stand_still, 1000)), it.published_bytes = sizeof(float[2 + MUSTER_HERD_TOTALS]));
  const muster_herd_def def = {.members = 20};
  SCOPED_HERDS herds = herd_world_of(1, NULL, NULL, &deer);
  muster_herd_type other =
      add_herd_type(&herds.little, WITH(muster_herd_type_def, it.member = herds.little.type, it.totals = 3));
  for (uint32_t i = 0; i < first; i++) add_herd(&herds, i, 0, 20);
  for (uint32_t i = 0; i < second; i++) cr_assert_eq(muster_herds_add(herds.little.world, other, &def, 1, NULL), 1);
  run_frames(&herds.little, 2);
  muster_statistics seen = statistics_of(&herds.little);
  cr_expect_eq(seen.bytes_unfolded, 0);
  return seen.bytes_folded;
}

/* Each block is there once, and in it each herd: place, velocity, totals, members and generation. */
Test(herd_bytes, are_those_of_all_types_together) {
  enum { ONE = 5 * sizeof(float) + 2 * sizeof(uint16_t), OTHER = 7 * sizeof(float) + 2 * sizeof(uint16_t) };
  cr_expect_eq(folded_bytes(0, 0), 0);
  for (uint32_t first = 1; first < 4; first++)
    for (uint32_t second = 1; second < 4; second++) {
      uint64_t one = first * (uint64_t)ONE + sizeof(herd_block), other = second * (uint64_t)OTHER + sizeof(herd_block);
      cr_expect_eq(folded_bytes(first, 0), one, "%u herds", first);
      cr_expect_eq(folded_bytes(0, second), other, "%u herds", second);
      cr_expect_eq(folded_bytes(first, second), one + other, "%u and %u herds", first, second);
    }
}

/* What schedules is the herds', folded or not, and what agents take: that stays when they are folded again. */
Test(herd_bytes, count_as_what_schedules) {
  SCOPED_HERDS herds = herd_world_create(1, NULL, NULL);
  muster_observer observers[HERDS];
  for (uint32_t i = 0; i < HERDS; i++) {
    add_herd(&herds, (double)(i * APART_M), 0.0, 32);
    observers[i] = observe(&herds, (double)(i * APART_M), 0.0);
  }
  run_frames(&herds.little, 100);
  const muster_statistics seen = statistics_of(&herds.little);
  for (uint32_t i = 0; i < HERDS; i++) muster_observer_remove(herds.little.world, observers[i]);
  for (uint32_t frame = 0; frame < 2000 && statistics_of(&herds.little).bytes_unfolded; frame++)
    run_frame(&herds.little);
  const muster_statistics later = statistics_of(&herds.little);
  cr_assert_eq(later.bytes_unfolded, 0);
  cr_assert_gt(seen.bytes_unfolded, HERDS * 32 * 4 * sizeof(float));
  int64_t rest = (int64_t)(seen.bytes_scheduling - seen.bytes_folded - seen.bytes_unfolded),
          then = (int64_t)(later.bytes_scheduling - later.bytes_folded - later.bytes_unfolded);
  cr_expect(rest > 0 && then >= rest && then - rest < (int64_t)seen.bytes_unfolded / HERDS, "%ld and %ld", rest, then);
}

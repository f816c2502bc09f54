/* What statistics say of the memory of herds: folded and unfolded herds are counted apart, and each herd takes as much
 * as the next. */
#include "agents/herds.h"
#include "support/herd_world.h"

#include <muster/herd.h>

enum { HERDS = 4, APART_M = 3000 };

typedef struct herd_bytes {
  uint64_t folded, unfolded, scheduling;
} herd_bytes;

static herd_bytes bytes_of(const herd_world *herds) {
  muster_statistics statistics = muster_statistics_default();
  cr_assert_eq(muster_statistics_read(herds->little.world, &statistics), MUSTER_OK);
  return (herd_bytes){statistics.bytes_folded, statistics.bytes_unfolded, statistics.bytes_scheduling};
}

/* Unfolds one herd after another; bytes[n] is what herds take after the n-th one, [0] while all are folded. */
static void unfold_all(bool retains, herd_bytes bytes[HERDS + 1]) {
  muster_herd_type_def def = muster_herd_type_def_default();
  muster_herd herd[HERDS];
  def.retains = retains;
  herd_world herds = herd_world_create(1, NULL, &def);
  for (uint32_t i = 0; i < HERDS; i++) herd[i] = add_herd(&herds, (double)(i * APART_M), 0.0, 32);
  run_frames(&herds.little, 5);
  bytes[0] = bytes_of(&herds);
  for (uint32_t i = 0; i < HERDS; i++) {
    observe(&herds, (double)(i * APART_M), 0.0);
    for (uint32_t frame = 0; frame < 200 && herd_info_of(&herds, herd[i]).leaves < 32; frame++)
      run_frame(&herds.little);
    cr_assert_eq(herd_info_of(&herds, herd[i]).leaves, 32);
    bytes[i + 1] = bytes_of(&herds);
  }
  herd_world_destroy(&herds);
}

Test(herd_bytes, are_of_the_unfolded_ones_as_many_for_each) {
  herd_bytes bytes[HERDS + 1];
  unfold_all(false, bytes);
  cr_assert_eq(bytes[0].unfolded, 0);
  cr_assert_gt(bytes[0].folded, 0);
  uint64_t each = bytes[1].unfolded, folded_each = bytes[0].folded - bytes[1].folded;
  cr_assert_geq(each, 32 * (4 * sizeof(float) + sizeof(uint16_t)), "a place, a velocity and members for each leaf");
  cr_assert_geq(folded_each, 5 * sizeof(float) + sizeof(uint16_t), "a place, a velocity, a total and members");
  cr_assert_lt(folded_each, each);
  for (uint32_t i = 1; i <= HERDS; i++) {
    cr_assert_eq(bytes[i].unfolded, i * each, "%u herds are unfolded", i);
    cr_assert_eq(bytes[i].folded, bytes[0].folded - i * folded_each, "%u herds are unfolded", i);
    cr_assert_geq(bytes[i].scheduling, bytes[i].folded + bytes[i].unfolded);
  }
}

Test(herd_bytes, are_more_where_members_are_retained) {
  herd_bytes plain[HERDS + 1], retained[HERDS + 1];
  unfold_all(false, plain);
  unfold_all(true, retained);
  for (uint32_t i = 1; i <= HERDS; i++)
    cr_assert_geq(retained[i].unfolded, plain[i].unfolded + i * 32 * (2 * sizeof(float) + sizeof(uint64_t)),
                  "where each stood, and its state");
}

/* The bytes of so many folded herds of a type with one total, and of one with three. */
static uint64_t folded_bytes(uint32_t first, uint32_t second) {
  static const muster_atom still = {.role = MUSTER_ROLE_BEHAVIOUR, .run = stand_still, .model_ns = 1000};
  muster_type_def deer = deer_def(&still);
  deer.published_bytes = sizeof(float[2 + MUSTER_HERD_TOTALS]);
  herd_world herds = herd_world_of(1, NULL, NULL, &deer);
  muster_herd_type_def other = muster_herd_type_def_default();
  other.member = herds.little.type;
  other.totals = 3;
  muster_herd_type type = muster_herd_type_register(herds.little.world, &other);
  cr_assert_neq(type.index, 0, "%s", muster_last_error());
  muster_herd_def def = {.members = 20};
  for (uint32_t i = 0; i < first; i++) add_herd(&herds, i, 0, 20);
  for (uint32_t i = 0; i < second; i++) cr_assert_eq(muster_herds_add(herds.little.world, type, &def, 1, NULL), 1);
  run_frames(&herds.little, 2);
  herd_bytes bytes = bytes_of(&herds);
  cr_expect_eq(bytes.unfolded, 0);
  herd_world_destroy(&herds);
  return bytes.folded;
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
  herd_world herds = herd_world_create(1, NULL, NULL);
  muster_observer observers[HERDS];
  herd_bytes bytes[2];
  for (uint32_t i = 0; i < HERDS; i++) {
    add_herd(&herds, (double)(i * APART_M), 0.0, 32);
    observers[i] = observe(&herds, (double)(i * APART_M), 0.0);
  }
  run_frames(&herds.little, 100);
  bytes[0] = bytes_of(&herds);
  for (uint32_t i = 0; i < HERDS; i++) muster_observer_remove(herds.little.world, observers[i]);
  for (uint32_t frame = 0; frame < 2000 && bytes_of(&herds).unfolded; frame++) run_frame(&herds.little);
  bytes[1] = bytes_of(&herds);
  cr_assert_eq(bytes[1].unfolded, 0);
  cr_assert_gt(bytes[0].unfolded, HERDS * 32 * 4 * sizeof(float));
  int64_t rest = (int64_t)(bytes[0].scheduling - bytes[0].folded - bytes[0].unfolded),
          then = (int64_t)(bytes[1].scheduling - bytes[1].folded - bytes[1].unfolded);
  cr_expect(rest > 0 && then >= rest && then - rest < (int64_t)bytes[0].unfolded / HERDS, "%ld and %ld", rest, then);
  herd_world_destroy(&herds);
}

/* What statistics say of the memory of herds: folded and unfolded herds are counted apart, and each herd takes as much
 * as the next. */
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

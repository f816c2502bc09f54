/* A world with herds that was saved and loaded goes on bit for bit like the world that was not. */
#include "support/herd_busy.h"
#include "world/fixture.h"

/* What worlds held when they were saved. */
struct seen {
  uint32_t unfolded, folded, waiting, named, gone;
};

static void look_round(const herd_busy *busy, struct seen *seen) {
  const muster_world *world = busy->little.world;
  muster_herd_info info = muster_herd_info_default();
  muster_frame_report report = muster_frame_report_default();
  muster_herd herd = muster_herd_next(world, (muster_herd){0});
  for (uint32_t index = 0; muster_herd_generation(herd);
       index = muster_herd_index(herd) + 1, herd = muster_herd_next(world, herd)) {
    if (muster_herd_read(world, herd, &info)) continue;
    seen->unfolded += info.leaves > 0;
    seen->folded += info.leaves == 0;
    seen->named += info.named;
    seen->gone += muster_herd_index(herd) - index;
  }
  muster_frame_report_read(world, &report);
  seen->waiting += report.changes_waiting;
}

static void expect_same_herds(const muster_world *one, const muster_world *other) {
  muster_herd herd = muster_herd_next(one, (muster_herd){0});
  for (; muster_herd_generation(herd); herd = muster_herd_next(one, herd)) {
    muster_herd_info left = muster_herd_info_default(), right = left;
    muster_agent agents[16], others[16];
    uint32_t nodes[16], other_nodes[16];
    cr_assert_eq(muster_herd_read(one, herd, &left), muster_herd_read(other, herd, &right));
    cr_assert_eq(memcmp(&left, &right, sizeof left), 0, "herd %u", muster_herd_index(herd));
    uint32_t count = muster_herd_leaves(one, herd, agents, nodes, 16);
    cr_assert_eq(muster_herd_leaves(other, herd, others, other_nodes, 16), count);
    cr_assert_eq(memcmp(agents, others, count * sizeof *agents), 0, "herd %u", muster_herd_index(herd));
    cr_assert_eq(memcmp(nodes, other_nodes, count * sizeof *nodes), 0, "herd %u", muster_herd_index(herd));
    for (uint32_t i = 0; i < count; i++)
      cr_assert_eq(muster_herd_index(muster_herd_of(other, agents[i])), muster_herd_index(herd));
  }
}

static void compare(uint32_t before, uint32_t unfolded, uint32_t workers, uint32_t after, struct seen *seen) {
  SCOPED(herd_busy_end) herd_busy whole = herd_busy_driven(before, unfolded);
  look_round(&whole, seen);
  SCOPED(saved_world_forget) saved_world saved = save_world(whole.little.world);
  cr_assert_eq(look_at(&saved).hash, muster_world_hash(whole.little.world), "a world is not changed by saving it");
  SCOPED(herd_busy_end) herd_busy loaded = herd_busy_world(workers, unfolded);
  memcpy(loaded.observers, whole.observers, sizeof loaded.observers);
  loaded.little.now_ns = whole.little.now_ns;
  cr_assert_eq(load_world(loaded.little.world, saved.bytes, saved.count), MUSTER_OK, "after %u frames: %s", before,
               muster_last_error());
  cr_assert_eq(muster_world_hash(loaded.little.world), look_at(&saved).hash, "after %u frames", before);
  expect_same_herds(whole.little.world, loaded.little.world);
  for (uint32_t frame = before; frame < before + after; frame++) {
    muster_frame_report report = herd_busy_frame(&whole, frame), other = herd_busy_frame(&loaded, frame);
    cr_assert_eq(muster_world_hash(whole.little.world), muster_world_hash(loaded.little.world),
                 "saved after %u frames, %u workers: differs in frame %u", before, workers, frame);
    cr_assert_eq(report.represented, other.represented);
    cr_assert_eq(report.leaves, other.leaves);
    cr_assert_eq(report.changes_waiting, other.changes_waiting);
  }
  expect_same_herds(whole.little.world, loaded.little.world);
  SCOPED(saved_world_forget) saved_world again = save_world(whole.little.world);
  SCOPED(saved_world_forget) saved_world of_loaded = save_world(loaded.little.world);
  cr_assert_eq(again.count, of_loaded.count);
}

Test(snapshot_herds, go_on_bit_for_bit_on_one_worker) {
  struct seen seen = {0};
  for (uint32_t before = 20; before < 200; before += 30) compare(before, 40, 1, 80, &seen);
  cr_assert(seen.unfolded && seen.folded && seen.waiting && seen.named && seen.gone, "%u %u %u %u %u", seen.unfolded,
            seen.folded, seen.waiting, seen.named, seen.gone);
}

Test(snapshot_herds, go_on_bit_for_bit_on_four_workers) {
  struct seen seen = {0};
  for (uint32_t before = 35; before < 130; before += 45) compare(before, 40, 4, 80, &seen);
}

Test(snapshot_herds, at_any_moment) {
  struct seen seen = {0};
  for (uint32_t before = 0; before < 40; before++) compare(before, 40, 1 + before % 2, 12, &seen);
}

Test(snapshot_herds, without_room_for_more_unfolded_ones) {
  struct seen seen = {0};
  for (uint32_t before = 30; before < 90; before += 30) compare(before, 5, 2, 50, &seen);
}

Test(snapshot_herds, go_on_after_they_were_loaded_twice) {
  SCOPED(herd_busy_end) herd_busy whole = herd_busy_driven(60, 40);
  SCOPED(herd_busy_end) herd_busy loaded = herd_busy_world(1, 40), last = herd_busy_world(1, 40);
  copy_exactly(&whole.little, &loaded.little); /* nothing is lost on the way */
  copy_exactly(&loaded.little, &last.little);
  cr_assert_eq(muster_world_hash(last.little.world), muster_world_hash(whole.little.world));
}

/* Places of herds that were removed are taken again, and the ids are the same as without the snapshot. */
Test(snapshot_herds, homes_that_are_free) {
  static muster_herd_def defs[MUSTER_HERD_BLOCK];
  muster_herd_type_def def = WITH(muster_herd_type_def, it.herds_max = 2 * MUSTER_HERD_BLOCK);
  SCOPED(herd_world_destroy) herd_world whole = herd_world_create(1, NULL, &def);
  SCOPED(herd_world_destroy) herd_world loaded = herd_world_create(1, NULL, &def);
  for (uint32_t i = 0; i < MUSTER_HERD_BLOCK; i++) defs[i].position.x = 1e5 + 20.0 * i;
  cr_assert_eq(muster_herds_add(whole.little.world, whole.type, defs, MUSTER_HERD_BLOCK, NULL), MUSTER_HERD_BLOCK);
  for (uint32_t i = 0; i < 60; i += 7) muster_herd_remove(whole.little.world, muster_herd_make(500 + i, 1));
  run_frames(&whole.little, 3);
  add_herd(&whole, 1e5, 0.0, 5);
  copy_world(&whole.little, &loaded.little);
  for (uint32_t i = 0; i < 20; i++) {
    muster_herd one = add_herd(&whole, 1e5, i, 5), other = add_herd(&loaded, 1e5, i, 5);
    cr_assert(muster_herd_index(one) == muster_herd_index(other) &&
              muster_herd_generation(one) == muster_herd_generation(other));
    cr_assert_eq(muster_herd_generation(one), i < 8 ? 3 : 1);
    run_frames(&whole.little, 1);
    run_frames(&loaded.little, 1);
    cr_assert_eq(muster_world_hash(whole.little.world), muster_world_hash(loaded.little.world));
  }
}

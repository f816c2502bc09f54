/* Folded herds cross whole, with the time that they owe and their named members. */
#include "support/herd_world.h"
#include "support/zones.h"
#include "world/fixture.h"

/* It replays a record, or null: types of herds are registered once the replay knows its snapshot. */
static herd_world herd_zone_that_replays(const struct recorded *run, uint32_t number, uint32_t workers) {
  herd_world herds = {.little = typed_world(workers, zone_world_def(number), deer_def(atom_of(walk_on, 1000)))};
  if (run) recorded_replay(run, herds.little.world);
  muster_herd_type_def herd = WITH(muster_herd_type_def, it.run_block = walk_block_on, it.herds_max = 64,
                                   it.unfolded_max = 16, it.totals = 1, it.member = herds.little.type);
  herds.type = muster_herd_type_register(herds.little.world, &herd);
  cr_assert_neq(herds.type.index, 0, "%s", muster_last_error());
  return herds;
}

static herd_world herd_zone(uint32_t number) {
  return herd_zone_that_replays(NULL, number, 1);
}

static zone_bytes herd_departs(const herd_world *from, muster_herd herd, uint32_t to) {
  zone_bytes bytes = {0};
  assert_ok(muster_herd_depart(from->little.world, herd, to, zone_put, &bytes));
  return bytes;
}

static muster_herd herd_arrives(const herd_world *at, zone_bytes *bytes) {
  muster_herd herd = {0};
  assert_ok(muster_herd_arrive(at->little.world, bytes->bytes, bytes->count, &herd));
  free(bytes->bytes);
  return herd;
}

Test(zone_herds, cross_whole_with_all_their_time) {
  SCOPED(herd_world_destroy) herd_world a = herd_zone(1), b = herd_zone(2), whole = herd_zone(1);
  muster_herd herd = add_herd(&a, 100, 200, 32), same = add_herd(&whole, 100, 200, 32);
  herd_world *at = &a;
  for (uint32_t frame = 0; frame < 400; frame++) {
    run_both(&a.little, &b.little, 1);
    run_frame(&whole.little);
    if (frame % 37 != 5) continue;
    herd_world *to = at == &a ? &b : &a;
    zone_bytes bytes = herd_departs(at, herd, at == &a ? 2 : 1);
    cr_assert(muster_herd_is_null(muster_herd_next(at->little.world, (muster_herd){0})));
    herd = herd_arrives(to, &bytes);
    at = to;
  }
  run_both(&at->little, &whole.little, 300);
  muster_herd_info one = herd_info_of(at, herd), other = herd_info_of(&whole, same);
  cr_assert_eq(one.members, other.members);
  double apart_s = ((double)one.last_update_ns - (double)other.last_update_ns) * 1e-9;
  cr_assert_float_eq((double)one.totals[0] - 32 * apart_s, (double)other.totals[0], 0.05, "%g and %g",
                     (double)one.totals[0], (double)other.totals[0]);
  cr_assert_float_eq(one.position.x - apart_s, other.position.x, 0.05);
  cr_assert_float_eq(one.velocity_x, other.velocity_x, 1e-6f);
}

Test(zone_herds, named_members_cross_with_it_and_keep_their_ids) {
  SCOPED(herd_world_destroy) herd_world a = herd_zone(1), b = herd_zone(2);
  muster_herd herd = add_herd(&a, 100, 200, 32), other = add_herd(&a, 400, 200, 8);
  run_both(&a.little, &b.little, 5);
  muster_agent one = muster_herd_name(a.little.world, herd, 3), two = muster_herd_name(a.little.world, herd, 7);
  cr_assert_not(muster_agent_is_null(one), "%s", muster_last_error());
  cr_assert_not(muster_agent_is_null(two), "%s", muster_last_error());
  zone_bytes bytes = {0};
  cr_assert_eq(muster_herd_depart(a.little.world, herd, 2, zone_put, &bytes), MUSTER_E_STATE, "it is unfolded");
  cr_assert_eq(muster_agent_depart(a.little.world, one, 2, zone_put, &bytes), MUSTER_E_STATE, "it is a herd's");
  run_both(&a.little, &b.little, 200);
  cr_assert_eq(herd_info_of(&a, herd).leaves, 0, "it has folded");
  *(uint64_t *)info_of(&a.little, one).state = 4711;
  bytes = herd_departs(&a, herd, 2);
  cr_assert_not(muster_agent_exists(a.little.world, one));
  muster_herd_info info = muster_herd_info_default();
  cr_assert_eq(muster_herd_read(a.little.world, herd, &info), MUSTER_E_STALE);
  cr_assert_eq(herd_info_of(&a, other).members, 8);
  muster_herd come = herd_arrives(&b, &bytes);
  cr_assert_eq(herd_info_of(&b, come).members, 30);
  cr_assert_eq(herd_info_of(&b, come).named, 2);
  cr_assert(muster_agent_exists(b.little.world, one) && muster_agent_exists(b.little.world, two));
  cr_assert_eq(*(uint64_t *)info_of(&b.little, one).state, 4711);
  cr_assert(muster_herd_equal(muster_herd_of(b.little.world, two), come));
  run_frames(&b.little, 30);
  cr_assert_eq(hop_of(&b.little, one), 1);
}

Test(zone_herds, damaged_bytes_are_refused_and_change_nothing) {
  SCOPED(herd_world_destroy) herd_world a = herd_zone(1), b = herd_zone(2);
  muster_herd herd = add_herd(&a, 100, 200, 32);
  run_both(&a.little, &b.little, 5);
  muster_herd_name(a.little.world, herd, 3);
  run_both(&a.little, &b.little, 200);
  zone_bytes bytes = herd_departs(&a, herd, 2);
  uint64_t hash = muster_world_hash(b.little.world);
  for (size_t i = 0; i < bytes.count; i++) {
    cr_assert_eq(muster_herd_arrive(b.little.world, bytes.bytes, i, &herd), MUSTER_E_INPUT, "cut at %zu", i);
    bytes.bytes[i] ^= (unsigned char)(1u << i % 8);
    cr_assert_eq(muster_herd_arrive(b.little.world, bytes.bytes, bytes.count, &herd), MUSTER_E_INPUT, "byte %zu", i);
    bytes.bytes[i] ^= (unsigned char)(1u << i % 8);
  }
  cr_assert_eq(muster_agent_arrive(b.little.world, bytes.bytes, bytes.count, NULL), MUSTER_E_INPUT, "of another kind");
  cr_assert_eq(muster_world_hash(b.little.world), hash);
  herd_arrives(&b, &bytes);
}

static void drive_herds(herd_world *a, herd_world *b, uint32_t frame) {
  herd_world *from = frame % 2 ? a : b, *to = frame % 2 ? b : a;
  muster_herd herd = muster_herd_next(from->little.world, (muster_herd){0});
  for (uint32_t i = 0; i < frame % 3 && !muster_herd_is_null(herd); i++)
    herd = muster_herd_next(from->little.world, herd);
  zone_bytes bytes = {0};
  if (!muster_herd_is_null(herd) &&
      muster_herd_depart(from->little.world, herd, frame % 2 ? 2 : 1, zone_put, &bytes) == MUSTER_OK)
    herd_arrives(to, &bytes);
  run_both(&a->little, &b->little, 1);
}

Test(zone_herds, records_and_snapshots_repeat_it) {
  SCOPED(recorded_forget) struct recorded run = {0};
  SCOPED(herd_world_destroy) herd_world a = herd_zone(1), b = herd_zone(2);
  for (uint32_t i = 0; i < 12; i++) add_herd(i % 2 ? &a : &b, 100.0 * i, 50, 16);
  for (uint32_t frame = 0; frame < 20; frame++) drive_herds(&a, &b, frame);
  for (muster_herd herd = {0}; !muster_herd_is_null(herd = muster_herd_next(a.little.world, herd));)
    muster_herd_name(a.little.world, herd, 2);
  for (uint32_t frame = 20; frame < 260; frame++) drive_herds(&a, &b, frame);
  recorded_begin(&run, a.little.world);
  for (uint32_t frame = 260; frame < 330; frame++) {
    drive_herds(&a, &b, frame);
    recorded_note(&run, &a.little, report_of(&a.little));
  }
  cr_assert_gt(zone_status(&a.little).arrived, 5, "named members came and went");
  recorded_end(&run, a.little.world);
  SCOPED(herd_world_destroy) herd_world again = herd_zone_that_replays(&run, 1, 4), loaded = herd_zone(1);
  replay_alike(&run, &again.little);
  copy_world(&a.little, &loaded.little);
  cr_assert_eq(muster_world_hash(loaded.little.world), muster_world_hash(a.little.world));
}

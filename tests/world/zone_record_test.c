/* Records, snapshots and any number of workers come to the same zones; indices whose generations are used up rest. */
#include "support/zone_pair.h"
#include "world/fixture.h"

enum { FRAMES = 90 };

static void drive(zone_pair *pair, uint32_t from, uint32_t end) {
  for (uint32_t frame = from; frame < end; frame++) {
    for (uint32_t zone = 0; zone < 2 && frame % 6 == 1; zone++)
      pair_befriend(pair, zone, frame % 11, nth_agent(&pair->zones[!zone], frame % 13));
    pair_frame(pair, frame);
  }
}

static void expect_replay(const struct recorded *run, uint32_t workers) {
  SCOPED(zone_pair_destroy) zone_pair pair = zone_pair_of(workers);
  muster_world *world = pair.zones[0].world;
  recorded_replay(run, world);
  for (uint32_t frame = 0; frame < run->frames; frame++) {
    recorded_follow(run, world, frame);
    uint64_t hash = muster_world_hash(world);
    zone_bytes bytes = {0};
    cr_assert_eq(muster_agent_depart(world, nth_agent(&pair.zones[0], 0), 2, zone_put, &bytes), MUSTER_OK);
    cr_assert_eq(muster_zone_set_epoch(world, 7), MUSTER_OK);
    cr_assert_eq(muster_ghosts_set(world, 2, NULL, 0, true), MUSTER_OK);
    cr_assert_eq(bytes.count, 0);
    cr_assert_eq(muster_world_hash(world), hash, "the host's own calls change nothing");
  }
}

/* What is befriended is written between frames into states, which no record has: friends are made before it begins. */
Test(zone_record, a_record_repeats_crossings) {
  SCOPED(recorded_forget) struct recorded run = {0};
  SCOPED(zone_pair_destroy) zone_pair pair = zone_pair_of(1);
  zone_pair_populate(&pair);
  drive(&pair, 0, 30);
  recorded_begin(&run, pair.zones[0].world);
  for (uint32_t frame = 30; frame < FRAMES; frame++) {
    pair_frame(&pair, frame);
    recorded_note(&run, &pair.zones[0], report_of(&pair.zones[0]));
  }
  recorded_end(&run, pair.zones[0].world);
  cr_assert_gt(pair.crossed, FRAMES);
  cr_assert_gt(pair.delivered, 20);
  expect_replay(&run, 1);
  expect_replay(&run, 4);
}

/* What may be born inside updates has ids set aside for it, of a small world nearly all: who comes gets them, too. */
Test(zone_record, ids_set_aside_for_births_serve_those_who_come) {
  enum { ROOM = 64, THERE = 4, COME = ROOM - THERE };
  SCOPED(recorded_forget) struct recorded run = {0};
  muster_world_def one = WITH(zone_def, it.limits.agents_max = ROOM), two = zone_world_def(2);
  muster_type_def type = CHANGED(walker_type(), it.spawns_max = 1);
  SCOPED_WORLD small = zone_world_of(1, &one, &type), other = zone_world_of(1, &two, &type);
  for (uint32_t i = 0; i < THERE; i++) spawn_at(&small, i);
  for (uint32_t i = 0; i < COME; i++) spawn_at(&other, i);
  run_both(&small, &other, 1);
  recorded_begin(&run, small.world);
  for (uint32_t i = 0; i < COME; i++) cross(&other, &small, nth_agent(&other, 0));
  for (uint32_t frame = 0; frame < 3; frame++) {
    muster_frame_report report = run_frame(&small);
    cr_assert_eq(report.agents, ROOM);
    recorded_note(&run, &small, report);
  }
  recorded_end(&run, small.world);
  SCOPED_WORLD again = zone_world_of(4, &one, &type);
  recorded_replay(&run, again.world);
  replay_alike(&run, &again);
}

Test(zone_record, workers_make_no_difference) {
  uint64_t hashes[2][2];
  uint32_t crossed[2];
  for (uint32_t i = 0; i < 2; i++) {
    SCOPED(zone_pair_destroy) zone_pair pair = zone_pair_of(i ? 4 : 1);
    zone_pair_populate(&pair);
    drive(&pair, 0, FRAMES);
    for (uint32_t zone = 0; zone < 2; zone++) hashes[i][zone] = muster_world_hash(pair.zones[zone].world);
    crossed[i] = pair.crossed;
  }
  for (uint32_t zone = 0; zone < 2; zone++) cr_assert_eq(hashes[0][zone], hashes[1][zone]);
  cr_assert_eq(crossed[0], crossed[1]);
}

Test(zone_record, a_snapshot_keeps_all_of_it) {
  SCOPED(zone_pair_destroy) zone_pair pair = zone_pair_of(1), loaded = zone_pair_of(4);
  zone_pair_populate(&pair);
  drive(&pair, 0, 50);
  uint64_t word = 3;
  for (uint32_t i = 0; i < 5; i++) pair_cross(&pair, 0, i);
  muster_agent gone = nth_agent(&pair.zones[1], 0);
  for (; !muster_agent_is_null(gone); gone = muster_agent_next(pair.zones[1].world, gone))
    muster_agent_send(pair.zones[0].world, gone, &word, sizeof word);
  pair_show(&pair, 1);
  run_both(&pair.zones[0], &pair.zones[1], 1);
  muster_zone_status status = zone_status(&pair.zones[0]);
  cr_assert_gt(status.ghosts, 5);
  cr_assert_gt(status.marks, 5);
  cr_assert_gt(status.messages, 5);
  for (uint32_t zone = 0; zone < 2; zone++) copy_exactly(&pair.zones[zone], &loaded.zones[zone]);
  muster_zone_status after = zone_status(&loaded.zones[0]);
  cr_assert_eq(after.ghosts, status.ghosts);
  cr_assert_eq(after.marks, status.marks);
  cr_assert_eq(after.messages, status.messages);
  drive(&pair, 50, FRAMES);
  drive(&loaded, 50, FRAMES);
  for (uint32_t zone = 0; zone < 2; zone++)
    cr_assert_eq(muster_world_hash(loaded.zones[zone].world), muster_world_hash(pair.zones[zone].world));
}

/* A zone that has just room enough, so that indices soon are others', and that somebody looks at. */
Test(zone_record, a_snapshot_of_any_moment_between_frames_is_read) {
  enum { ROOM = 90 };
  SCOPED(zone_pair_destroy) zone_pair pair = zone_pair_with(1, ROOM);
  zone_pair_populate(&pair);
  for (uint32_t zone = 0; zone < 2; zone++) observe_at(&pair.zones[zone], 0);
  for (uint32_t frame = 0; frame < FRAMES; frame++) {
    pair_befriend(&pair, frame % 2, frame % 11, nth_agent(&pair.zones[frame / 2 % 2], frame % 13));
    pair_meet(&pair, frame);
    SCOPED(zone_pair_destroy) zone_pair loaded = zone_pair_with(1, ROOM);
    for (uint32_t zone = 0; zone < 2; zone++) {
      copy_world(&pair.zones[zone], &loaded.zones[zone]);
      run_both(&pair.zones[zone], &loaded.zones[zone], 1);
      cr_assert_eq(muster_world_hash(loaded.zones[zone].world), muster_world_hash(pair.zones[zone].world));
    }
  }
}

Test(zone_record, no_generation_comes_again_in_one_epoch) {
  enum { LIVES = 65536 };
  SCOPED_WORLD little = zone_of(WITH(zone_def, it.limits.agents_max = 1));
  SCOPED_WORLD loaded = zone_of(WITH(zone_def, it.limits.agents_max = 1));
  muster_agent_def one = WITH(muster_agent_def, it.type = little.type);
  muster_agent first = {0}, before = {0};
  for (uint32_t life = 1; life < LIVES; life++) {
    muster_agent agent = muster_agent_spawn(little.world, &one);
    cr_assert_not(muster_agent_is_null(agent), "life %u: %s", life, muster_last_error());
    cr_assert_neq(agent.value, before.value);
    if (life == 1) first = agent;
    before = agent;
    muster_agent_remove(little.world, agent);
    run_frame(&little);
  }
  muster_agent last = muster_agent_spawn(little.world, &one);
  cr_assert_not(muster_agent_is_null(last));
  muster_agent_remove(little.world, last);
  run_frame(&little);
  cr_assert(muster_agent_is_null(muster_agent_spawn(little.world, &one)), "its index rests");
  cr_assert_eq(zone_status(&little).ids_resting, 1);
  copy_world(&little, &loaded);
  cr_assert_eq(zone_status(&loaded).ids_resting, 1);
  for (uint32_t i = 0; i < 2; i++) {
    muster_world *world = i ? loaded.world : little.world;
    cr_assert_eq(muster_zone_set_epoch(world, 2), MUSTER_OK);
    muster_agent again = muster_agent_spawn(world, &one);
    cr_assert_not(muster_agent_is_null(again), "%s", muster_last_error());
    cr_assert_neq(again.value, first.value);
    cr_assert_eq(muster_agent_epoch(again), 2);
    cr_assert_not(muster_agent_exists(world, first));
  }
}

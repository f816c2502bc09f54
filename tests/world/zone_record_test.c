/* Records, snapshots and any number of workers come to the same zones; indices rest when their generations are used up.
 */
#include "support/recording.h"
#include "support/snapshots.h"
#include "support/zone_pair.h"

enum { FRAMES = 90 };

/* Runs a pair of zones; the first is recorded, if `run` is given. */
static void drive(zone_pair *pair, struct recorded *run, uint32_t from, uint32_t end) {
  for (uint32_t frame = from; frame < end; frame++) {
    if (frame % 6 == 1)
      for (uint32_t zone = 0; zone < 2; zone++)
        pair_befriend(pair, zone, frame % 11, nth_agent(&pair->zones[!zone], frame % 13));
    pair_frame(pair, frame);
    muster_frame_report report = muster_frame_report_default();
    muster_frame_report_read(pair->zones[0].world, &report);
    if (run) recorded_note(run, &pair->zones[0], report);
  }
}

static void expect_replay(const struct recorded *run, uint32_t workers) {
  zone_pair pair = zone_pair_of(workers);
  recorded_replay(run, pair.zones[0].world);
  for (uint32_t frame = 0; frame < run->frames; frame++) {
    cr_assert_eq(muster_replay_frame(pair.zones[0].world), MUSTER_OK, "frame %u: %s", frame, muster_last_error());
    cr_assert_eq(muster_world_hash(pair.zones[0].world), run->hashes[frame], "frame %u", frame);
    uint64_t hash = muster_world_hash(pair.zones[0].world);
    zone_bytes bytes = {0};
    cr_assert_eq(muster_agent_depart(pair.zones[0].world, nth_agent(&pair.zones[0], 0), 2, zone_put, &bytes),
                 MUSTER_OK);
    cr_assert_eq(muster_zone_set_epoch(pair.zones[0].world, 7), MUSTER_OK);
    cr_assert_eq(muster_ghosts_set(pair.zones[0].world, 2, NULL, 0, true), MUSTER_OK);
    cr_assert_eq(bytes.count, 0);
    cr_assert_eq(muster_world_hash(pair.zones[0].world), hash, "the host's own calls change nothing");
  }
  zone_pair_destroy(&pair);
}

/* What is befriended is written between frames into states, which no record has: friends are made before it begins. */
Test(zone_record, a_record_repeats_crossings) {
  static struct recorded run;
  zone_pair pair = zone_pair_of(1);
  zone_pair_populate(&pair);
  drive(&pair, NULL, 0, 30);
  recorded_begin(&run, pair.zones[0].world);
  for (uint32_t frame = 30; frame < FRAMES; frame++) {
    pair_frame(&pair, frame);
    muster_frame_report report = muster_frame_report_default();
    muster_frame_report_read(pair.zones[0].world, &report);
    recorded_note(&run, &pair.zones[0], report);
  }
  recorded_end(&run, pair.zones[0].world);
  cr_assert_gt(pair.crossed, FRAMES);
  cr_assert_gt(pair.delivered, 20);
  zone_pair_destroy(&pair);
  expect_replay(&run, 1);
  expect_replay(&run, 4);
  recorded_forget(&run);
}

/* What may be born inside updates has ids set aside for it, of a small world nearly all: who comes gets them, too. */
Test(zone_record, ids_set_aside_for_births_serve_those_who_come) {
  enum { ROOM = 64, THERE = 4, COME = ROOM - THERE };
  static struct recorded run;
  muster_world_def def = zone_world_def(1);
  muster_type_def type = walker_type();
  def.limits.agents_max = ROOM;
  type.spawns_max = 1;
  little_world small = zone_world_of(1, &def, &type);
  def = zone_world_def(2);
  little_world other = zone_world_of(1, &def, &type);
  for (uint32_t i = 0; i < THERE; i++) spawn_at(&small, i);
  for (uint32_t i = 0; i < COME; i++) spawn_at(&other, i);
  run_frame(&small);
  run_frame(&other);
  recorded_begin(&run, small.world);
  for (uint32_t i = 0; i < COME; i++) cross(&other, &small, nth_agent(&other, 0));
  for (uint32_t frame = 0; frame < 3; frame++) {
    muster_frame_report report = run_frame(&small);
    cr_assert_eq(report.agents, ROOM);
    recorded_note(&run, &small, report);
  }
  recorded_end(&run, small.world);
  little_world_destroy(&small);
  little_world_destroy(&other);
  def = zone_world_def(1);
  def.limits.agents_max = ROOM;
  small = zone_world_of(4, &def, &type);
  recorded_replay(&run, small.world);
  for (uint32_t frame = 0; frame < run.frames; frame++) {
    cr_assert_eq(muster_replay_frame(small.world), MUSTER_OK, "frame %u: %s", frame, muster_last_error());
    cr_assert_eq(muster_world_hash(small.world), run.hashes[frame], "frame %u", frame);
  }
  little_world_destroy(&small);
  recorded_forget(&run);
}

Test(zone_record, workers_make_no_difference) {
  uint64_t hashes[2][2];
  uint32_t crossed[2];
  for (uint32_t i = 0; i < 2; i++) {
    zone_pair pair = zone_pair_of(i ? 4 : 1);
    zone_pair_populate(&pair);
    drive(&pair, NULL, 0, FRAMES);
    for (uint32_t zone = 0; zone < 2; zone++) hashes[i][zone] = muster_world_hash(pair.zones[zone].world);
    crossed[i] = pair.crossed;
    zone_pair_destroy(&pair);
  }
  for (uint32_t zone = 0; zone < 2; zone++) cr_assert_eq(hashes[0][zone], hashes[1][zone]);
  cr_assert_eq(crossed[0], crossed[1]);
}

Test(zone_record, a_snapshot_keeps_all_of_it) {
  zone_pair pair = zone_pair_of(1), loaded = zone_pair_of(4);
  zone_pair_populate(&pair);
  drive(&pair, NULL, 0, 50);
  uint64_t word = 3;
  for (uint32_t i = 0; i < 5; i++) pair_cross(&pair, 0, i);
  muster_agent gone = nth_agent(&pair.zones[1], 0);
  for (; !muster_agent_is_null(gone); gone = muster_agent_next(pair.zones[1].world, gone))
    muster_agent_send(pair.zones[0].world, gone, &word, sizeof word);
  pair_show(&pair, 1);
  for (uint32_t zone = 0; zone < 2; zone++) run_frame(&pair.zones[zone]);
  muster_zone_status status = zone_status(&pair.zones[0]);
  cr_assert_gt(status.ghosts, 5);
  cr_assert_gt(status.marks, 5);
  cr_assert_gt(status.messages, 5);
  for (uint32_t zone = 0; zone < 2; zone++) {
    saved_world saved = save_world(pair.zones[zone].world);
    muster_result result = load_world(loaded.zones[zone].world, saved.bytes, saved.count);
    cr_assert_eq(result, MUSTER_OK, "%s", muster_last_error());
    cr_assert_eq(muster_world_hash(loaded.zones[zone].world), muster_world_hash(pair.zones[zone].world));
    loaded.zones[zone].now_ns = pair.zones[zone].now_ns;
    saved_world again = save_world(loaded.zones[zone].world);
    cr_assert_eq(again.count, saved.count);
    cr_assert_eq(memcmp(again.bytes, saved.bytes, saved.count), 0, "a snapshot of what was loaded is the same");
    free(saved.bytes);
    free(again.bytes);
  }
  muster_zone_status after = zone_status(&loaded.zones[0]);
  cr_assert_eq(after.ghosts, status.ghosts);
  cr_assert_eq(after.marks, status.marks);
  cr_assert_eq(after.messages, status.messages);
  drive(&pair, NULL, 50, FRAMES);
  drive(&loaded, NULL, 50, FRAMES);
  for (uint32_t zone = 0; zone < 2; zone++)
    cr_assert_eq(muster_world_hash(loaded.zones[zone].world), muster_world_hash(pair.zones[zone].world));
  zone_pair_destroy(&pair);
  zone_pair_destroy(&loaded);
}

/* A zone that has just room enough, so that indices soon are others', and that somebody looks at. */
Test(zone_record, a_snapshot_of_any_moment_between_frames_is_read) {
  enum { ROOM = 90 };
  zone_pair pair = zone_pair_with(1, ROOM);
  muster_observer_def observer = muster_observer_def_default();
  zone_pair_populate(&pair);
  for (uint32_t zone = 0; zone < 2; zone++) muster_observer_add(pair.zones[zone].world, &observer);
  for (uint32_t frame = 0; frame < FRAMES; frame++) {
    pair_befriend(&pair, frame % 2, frame % 11, nth_agent(&pair.zones[frame / 2 % 2], frame % 13));
    pair_meet(&pair, frame);
    zone_pair loaded = zone_pair_with(1, ROOM);
    for (uint32_t zone = 0; zone < 2; zone++) {
      saved_world saved = save_world(pair.zones[zone].world);
      muster_result result = load_world(loaded.zones[zone].world, saved.bytes, saved.count);
      cr_assert_eq(result, MUSTER_OK, "frame %u: %s", frame, muster_last_error());
      free(saved.bytes);
      run_frame(&pair.zones[zone]);
      loaded.zones[zone].now_ns = pair.zones[zone].now_ns - FRAME_NS;
      run_frame(&loaded.zones[zone]);
      cr_assert_eq(muster_world_hash(loaded.zones[zone].world), muster_world_hash(pair.zones[zone].world));
    }
    zone_pair_destroy(&loaded);
  }
  zone_pair_destroy(&pair);
}

Test(zone_record, no_generation_comes_again_in_one_epoch) {
  enum { LIVES = 65536 };
  muster_world_def def = zone_world_def(1);
  muster_type_def type = walker_type();
  def.limits.agents_max = 1;
  little_world little = zone_world_of(1, &def, &type), loaded = zone_world_of(1, &def, &type);
  muster_agent_def one = muster_agent_def_default();
  one.type = little.type;
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
  saved_world saved = save_world(little.world);
  cr_assert_eq(load_world(loaded.world, saved.bytes, saved.count), MUSTER_OK, "%s", muster_last_error());
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
  free(saved.bytes);
  little_world_destroy(&little);
  little_world_destroy(&loaded);
}

/* Observers cross under their ids: each is in one zone, what is near it there matters, and who asks for it where it was
 * is told where it is. Records and snapshots keep that. */
#include "support/recording.h"
#include "support/snapshots.h"
#include "support/zones.h"

#include <muster/bulk.h>
#include <muster/random.h>

static muster_observer observer_at(const little_world *little, double x) {
  muster_observer_def def = muster_observer_def_default();
  def.position.x = x;
  muster_observer observer = muster_observer_add(little->world, &def);
  cr_assert(!muster_observer_is_null(observer), "%s", muster_last_error());
  return observer;
}

static void observer_departs(const little_world *from, muster_observer observer, uint32_t to, zone_bytes *bytes) {
  bytes->count = 0;
  cr_assert_eq(muster_observer_depart(from->world, observer, to, zone_put, bytes), MUSTER_OK, "%s",
               muster_last_error());
}

static void observer_arrives(const little_world *at, const zone_bytes *bytes, muster_observer observer) {
  muster_observer come = {0};
  cr_assert_eq(muster_observer_arrive(at->world, bytes->bytes, bytes->count, &come), MUSTER_OK, "%s",
               muster_last_error());
  cr_assert(muster_observer_equal(come, observer));
}

static uint32_t zone_of_observer(const little_world *little, muster_observer observer) {
  uint32_t zone = 0;
  return muster_observer_zone(little->world, observer, &zone) == MUSTER_OK ? zone : 0;
}

static bool has_observer(const little_world *little, muster_observer observer) {
  muster_observer_def def = muster_observer_def_default();
  return muster_observer_read(little->world, observer, &def) == MUSTER_OK;
}

/* A world that is restored knows nothing of who had an index before: so nothing of it may be left in this one. */
Test(zone_observers, begin_anew_where_another_was) {
  little_world a = zone_world(1), b = zone_world(2);
  muster_observer comes = observer_at(&a, 10), born[16];
  zone_bytes bytes = {0};
  uint32_t hop;
  run_frame(&a);
  run_frame(&b);
  observer_departs(&a, comes, 2, &bytes);
  observer_arrives(&b, &bytes, comes);
  run_frame(&b);
  cr_assert_eq(muster_observer_remove(b.world, comes), MUSTER_OK);
  run_frame(&b);
  for (uint32_t i = 0; i < 16; i++) born[i] = observer_at(&b, 20); /* one of them has its index */
  run_frame(&b);
  for (uint32_t i = 0; i < 16; i++) {
    observer_departs(&b, born[i], 1, &bytes);
    cr_assert_eq(muster_observer_packed(bytes.bytes, bytes.count, NULL, &hop), MUSTER_OK);
    cr_expect_eq(hop, 1);
  }
  free(bytes.bytes);
  little_world_destroy(&a);
  little_world_destroy(&b);
}

Test(zone_observers, cross_under_their_ids) {
  little_world a = zone_world(1), b = zone_world(2);
  muster_observer one = observer_at(&a, 10), other = observer_at(&b, 900);
  muster_agent near_a = spawn_at(&a, 12), near_b = spawn_at(&b, 12);
  zone_bytes bytes = {0};
  cr_assert_eq(muster_observer_depart(a.world, one, 2, zone_put, &bytes), MUSTER_E_STATE, "it waits for its intake");
  run_frame(&a);
  run_frame(&b);
  cr_assert_eq(muster_agent_zone((muster_agent){one.value}), 1);
  cr_assert_neq(one.value, other.value);
  cr_assert_gt(info_of(&a, near_a).importance, 0.5f);
  cr_assert_eq(info_of(&b, near_b).importance, 0);
  cr_assert_eq(muster_observer_depart(a.world, one, 1, zone_put, &bytes), MUSTER_E_ARGUMENT);
  observer_departs(&a, one, 2, &bytes);
  uint32_t hop;
  muster_observer packed;
  cr_assert_eq(muster_observer_packed(bytes.bytes, bytes.count, &packed, &hop), MUSTER_OK);
  cr_assert(muster_observer_equal(packed, one) && hop == 1);
  cr_assert_eq(muster_observer_move(a.world, one, (muster_position){11, 0, 0}), MUSTER_E_STALE);
  cr_assert_not_null(strstr(muster_last_error(), "is in zone 2 now"), "%s", muster_last_error());
  cr_assert_eq(zone_of_observer(&a, one), 2);
  cr_assert_not(has_observer(&a, one));
  observer_arrives(&b, &bytes, one);
  cr_assert_eq(muster_observer_arrive(b.world, bytes.bytes, bytes.count, NULL), MUSTER_E_STALE);
  run_frames(&a, 2);
  run_frames(&b, 2);
  cr_assert_eq(info_of(&a, near_a).importance, 0, "no observer is here any more");
  cr_assert_gt(info_of(&b, near_b).importance, 0.5f);
  cr_assert_eq(zone_of_observer(&b, one), 2);
  cr_assert_eq(muster_observer_move(b.world, one, (muster_position){500, 0, 0}), MUSTER_OK, "%s", muster_last_error());
  run_frame(&b);
  muster_observer_def def = muster_observer_def_default();
  cr_assert_eq(muster_observer_read(b.world, one, &def), MUSTER_OK);
  cr_assert_eq(def.position.x, 500);
  cr_assert_eq(muster_observers_move(b.world, &one, &(muster_position){510, 0, 0}, 1), 1);
  cr_assert_eq(muster_observers_move(a.world, &one, &(muster_position){510, 0, 0}, 1), 0);
  uint32_t listed = 0;
  for (muster_observer at = muster_observer_next(b.world, (muster_observer){0}); !muster_observer_is_null(at);
       at = muster_observer_next(b.world, at))
    listed += muster_observer_equal(at, one) || muster_observer_equal(at, other);
  cr_assert_eq(listed, 2);
  cr_assert_eq(zone_status(&a).observers_departed, 1);
  cr_assert_eq(zone_status(&b).observers_arrived, 1);
  cr_assert_eq(muster_observer_remove(b.world, one), MUSTER_OK);
  run_frame(&b);
  cr_assert_eq(zone_of_observer(&b, one), 0);
  free(bytes.bytes);
  little_world_destroy(&a);
  little_world_destroy(&b);
}

/* Each of its fields alone, and once more behind a snapshot. */
Test(zone_observers, bring_all_that_they_were_given) {
  little_world a = zone_world(1), b = zone_world(2);
  muster_observer_def def = muster_observer_def_default(), read = def;
  zone_bytes bytes = {0};
  def.position = (muster_position){11, 12, 13};
  def.partition = 14;
  def.near_m = 15;
  def.far_m = 160;
  muster_observer one = muster_observer_add(a.world, &def);
  run_frame(&a);
  run_frame(&b);
  observer_departs(&a, one, 2, &bytes);
  observer_arrives(&b, &bytes, one);
  saved_world saved = save_world(b.world);
  little_world restored = zone_world(2);
  cr_assert_eq(load_world(restored.world, saved.bytes, saved.count), MUSTER_OK, "%s", muster_last_error());
  restored.now_ns = b.now_ns;
  for (uint32_t i = 0; i < 2; i++) {
    little_world *at = i ? &restored : &b;
    run_frame(at);
    cr_assert_eq(muster_observer_read(at->world, one, &read), MUSTER_OK, "%s", muster_last_error());
    cr_expect_eq(read.position.x, 11);
    cr_expect_eq(read.position.y, 12);
    cr_expect_eq(read.position.z, 13);
    cr_expect_eq(read.partition, 14);
    cr_expect_eq(read.near_m, 15);
    cr_expect_eq(read.far_m, 160);
    uint32_t hop = 0;
    observer_departs(at, one, 1, &bytes);
    cr_assert_eq(muster_observer_packed(bytes.bytes, bytes.count, NULL, &hop), MUSTER_OK);
    cr_expect_eq(hop, 2);
  }
  free(saved.bytes);
  free(bytes.bytes);
  little_world_destroy(&a);
  little_world_destroy(&b);
  little_world_destroy(&restored);
}

Test(zone_observers, come_back_and_are_refused_when_they_are_older) {
  little_world a = zone_world(1), b = zone_world(2);
  muster_observer one = observer_at(&a, 10);
  zone_bytes first = {0}, second = {0};
  run_frame(&a);
  run_frame(&b);
  observer_departs(&a, one, 2, &first);
  observer_arrives(&b, &first, one);
  run_frame(&b);
  observer_departs(&b, one, 1, &second);
  cr_assert_eq(muster_observer_arrive(b.world, first.bytes, first.count, NULL), MUSTER_E_STALE, "it left with hop 2");
  observer_arrives(&a, &second, one);
  run_frames(&a, 2);
  cr_assert_eq(zone_of_observer(&a, one), 1);
  cr_assert_eq(zone_of_observer(&b, one), 1);
  cr_assert_eq(muster_observer_left(a.world, one, 2, 2), MUSTER_OK, "what is older changes nothing");
  cr_assert(has_observer(&a, one));
  cr_assert_eq(muster_observer_left(a.world, one, 3, 2), MUSTER_OK);
  cr_assert_not(has_observer(&a, one));
  cr_assert_eq(zone_of_observer(&a, one), 2);
  second.bytes[60] ^= 1;
  cr_assert_eq(muster_observer_arrive(b.world, second.bytes, second.count, NULL), MUSTER_E_INPUT);
  free(first.bytes);
  free(second.bytes);
  little_world_destroy(&a);
  little_world_destroy(&b);
}

Test(zone_observers, wait_for_what_was_asked_of_them_and_for_room) {
  muster_world_def def = zone_world_def(2);
  muster_type_def type = walker_type();
  def.limits.observers_max = 1;
  little_world a = zone_world(1), b = zone_world_of(1, &def, &type);
  muster_observer one = observer_at(&a, 10), there = observer_at(&b, 10);
  zone_bytes bytes = {0};
  run_frame(&a);
  run_frame(&b);
  cr_assert_eq(muster_observer_move(a.world, one, (muster_position){20, 0, 0}), MUSTER_OK);
  cr_assert_eq(muster_observer_depart(a.world, one, 2, zone_put, &bytes), MUSTER_E_STATE);
  cr_assert(has_observer(&a, one));
  run_frame(&a);
  bytes.refuses = true;
  cr_assert_eq(muster_observer_depart(a.world, one, 2, zone_put, &bytes), MUSTER_E_SYSTEM);
  cr_assert(has_observer(&a, one));
  bytes.refuses = false;
  observer_departs(&a, one, 2, &bytes);
  cr_assert_eq(muster_observer_arrive(b.world, bytes.bytes, bytes.count, NULL), MUSTER_E_FULL);
  cr_assert_eq(muster_observer_remove(b.world, there), MUSTER_OK);
  run_frame(&b);
  observer_arrives(&b, &bytes, one);
  run_frame(&b);
  muster_observer_def read = muster_observer_def_default();
  cr_assert_eq(muster_observer_read(b.world, one, &read), MUSTER_OK);
  cr_assert_eq(read.position.x, 20);
  free(bytes.bytes);
  little_world_destroy(&a);
  little_world_destroy(&b);
}

/* ------------------------------------------------------------------------------------------ at random, and recorded */

enum { OBSERVERS = 40, FRAMES = 240 };

typedef struct crowd {
  little_world zones[2];
  muster_observer observers[OBSERVERS];
  uint64_t seed;
  uint32_t crossed;
} crowd;

static uint32_t crowd_random(crowd *all, uint32_t below) {
  all->seed = muster_random_mix(all->seed + 1);
  return (uint32_t)(all->seed >> 16) % below;
}

/* The zone that runs an observer, as the one that is asked says at once, or after one that it names. */
static uint32_t follow(const crowd *all, uint32_t asked, uint32_t number) {
  uint32_t zone = zone_of_observer(&all->zones[asked], all->observers[number]);
  return zone ? zone - 1 : !asked;
}

static void crowd_step(crowd *all, uint32_t number) {
  uint32_t at = follow(all, crowd_random(all, 2), number);
  little_world *here = &all->zones[at], *there = &all->zones[!at];
  muster_observer *one = &all->observers[number];
  zone_bytes bytes = {0};
  cr_assert_eq(has_observer(here, *one) + has_observer(there, *one), 1, "it is in one zone");
  if (crowd_random(all, 40) == 0) {
    cr_assert_eq(muster_observer_remove(here->world, *one), MUSTER_OK);
    *one = observer_at(there, (double)crowd_random(all, 900));
    return;
  }
  if (crowd_random(all, 3)) {
    muster_position to = {(double)crowd_random(all, 900), 0, 0};
    cr_assert_eq(muster_observer_move(here->world, *one, to), MUSTER_OK, "%s", muster_last_error());
    return;
  }
  observer_departs(here, *one, 2 - at, &bytes);
  observer_arrives(there, &bytes, *one);
  all->crossed++;
  free(bytes.bytes);
}

static void crowd_open(crowd *all, uint32_t workers) {
  *all = (crowd){.seed = 1};
  muster_type_def type = walker_type();
  for (uint32_t i = 0; i < 2; i++) {
    muster_world_def def = zone_world_def(i + 1);
    all->zones[i] = zone_world_of(workers, &def, &type);
  }
}

static void crowd_frames(crowd *all, uint32_t frames, struct recorded *run) {
  for (uint32_t i = 0; i < frames; i++) {
    for (uint32_t j = 0; j < OBSERVERS && i % 2; j++) crowd_step(all, j);
    for (uint32_t zone = 0; zone < 2; zone++) run_frame(&all->zones[zone]);
    muster_frame_report report = muster_frame_report_default();
    muster_frame_report_read(all->zones[0].world, &report);
    if (run) recorded_note(run, &all->zones[0], report);
  }
}

static void crowd_populate(crowd *all) {
  for (uint32_t i = 0; i < 30; i++) spawn_at(&all->zones[i % 2], (double)i * 30);
  for (uint32_t i = 0; i < OBSERVERS; i++) all->observers[i] = observer_at(&all->zones[i % 2], (double)i * 20);
  for (uint32_t zone = 0; zone < 2; zone++) run_frame(&all->zones[zone]);
}

Test(zone_observers, a_record_repeats_their_crossings) {
  static struct recorded run;
  crowd all, again;
  crowd_open(&all, 1);
  recorded_begin(&run, all.zones[0].world);
  for (uint32_t i = 0; i < 30; i++) spawn_at(&all.zones[i % 2], (double)i * 30);
  for (uint32_t i = 0; i < OBSERVERS; i++) all.observers[i] = observer_at(&all.zones[i % 2], (double)i * 20);
  crowd_frames(&all, FRAMES, &run);
  recorded_end(&run, all.zones[0].world);
  cr_assert_gt(all.crossed, 100, "%u", all.crossed);
  crowd_open(&again, 4);
  recorded_replay(&run, again.zones[0].world);
  for (uint32_t i = 0; i < run.frames; i++) {
    cr_assert_eq(muster_replay_frame(again.zones[0].world), MUSTER_OK, "frame %u: %s", i, muster_last_error());
    cr_assert_eq(muster_world_hash(again.zones[0].world), run.hashes[i], "frame %u", i);
  }
  for (uint32_t i = 0; i < OBSERVERS; i++)
    cr_assert_eq(has_observer(&again.zones[0], all.observers[i]), has_observer(&all.zones[0], all.observers[i]));
  recorded_forget(&run);
  for (uint32_t i = 0; i < 2; i++) {
    little_world_destroy(&all.zones[i]);
    little_world_destroy(&again.zones[i]);
  }
}

Test(zone_observers, a_snapshot_keeps_them_and_where_they_went) {
  crowd all, loaded;
  crowd_open(&all, 1);
  crowd_open(&loaded, 1);
  crowd_populate(&all);
  crowd_frames(&all, 60, NULL);
  memcpy(loaded.observers, all.observers, sizeof all.observers);
  loaded.seed = all.seed;
  for (uint32_t zone = 0; zone < 2; zone++) {
    saved_world saved = save_world(all.zones[zone].world);
    cr_assert_eq(load_world(loaded.zones[zone].world, saved.bytes, saved.count), MUSTER_OK, "%s", muster_last_error());
    cr_assert_eq(muster_world_hash(loaded.zones[zone].world), muster_world_hash(all.zones[zone].world));
    saved_world again = save_world(loaded.zones[zone].world);
    cr_assert_eq(again.count, saved.count);
    cr_assert_eq(memcmp(again.bytes, saved.bytes, saved.count), 0, "a snapshot of what was loaded is the same");
    loaded.zones[zone].now_ns = all.zones[zone].now_ns;
    free(saved.bytes);
    free(again.bytes);
  }
  for (uint32_t i = 0; i < 2 * OBSERVERS; i++)
    cr_assert_eq(zone_of_observer(&loaded.zones[i % 2], all.observers[i / 2]),
                 zone_of_observer(&all.zones[i % 2], all.observers[i / 2]));
  crowd_frames(&all, 60, NULL);
  crowd_frames(&loaded, 60, NULL);
  cr_assert_eq(memcmp(loaded.observers, all.observers, sizeof all.observers), 0, "ids are given as they were");
  for (uint32_t zone = 0; zone < 2; zone++) {
    cr_assert_eq(muster_world_hash(loaded.zones[zone].world), muster_world_hash(all.zones[zone].world));
    little_world_destroy(&all.zones[zone]);
    little_world_destroy(&loaded.zones[zone]);
  }
}

/* Observers cross under their ids: each is in one zone, what is near it there matters, and who asks for it where it was
 * is told where it is. Records and snapshots keep that. */
#include "support/zones.h"
#include "world/fixture.h"

#include <muster/random.h>

static muster_observer observer_at(const little_world *little, double x) {
  muster_observer observer = observe_at(little, x);
  cr_assert(!muster_observer_is_null(observer), "%s", muster_last_error());
  return observer;
}

static void observer_departs(const little_world *from, muster_observer observer, uint32_t to, zone_bytes *bytes) {
  bytes->count = 0;
  assert_ok(muster_observer_depart(from->world, observer, to, zone_put, bytes));
}

static void observer_arrives(const little_world *at, const zone_bytes *bytes, muster_observer observer) {
  muster_observer come = {0};
  assert_ok(muster_observer_arrive(at->world, bytes->bytes, bytes->count, &come));
  cr_assert(muster_observer_equal(come, observer));
}

static void observer_crosses(const little_world *from, const little_world *to, muster_observer observer) {
  SCOPED(zone_bytes_forget) zone_bytes bytes = {0};
  muster_zone_def zone;
  assert_ok(muster_zone_read(to->world, &zone));
  observer_departs(from, observer, zone.number, &bytes);
  observer_arrives(to, &bytes, observer);
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
  SCOPED_WORLD a = zone_world(1), b = zone_world(2);
  muster_observer comes = observer_at(&a, 10), born[16];
  SCOPED(zone_bytes_forget) zone_bytes bytes = {0};
  uint32_t hop;
  run_both(&a, &b, 1);
  observer_crosses(&a, &b, comes);
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
}

Test(zone_observers, cross_under_their_ids) {
  SCOPED_WORLD a = zone_world(1), b = zone_world(2);
  muster_observer one = observer_at(&a, 10), other = observer_at(&b, 900);
  muster_agent near_a = spawn_at(&a, 12), near_b = spawn_at(&b, 12);
  SCOPED(zone_bytes_forget) zone_bytes bytes = {0};
  cr_assert_eq(muster_observer_depart(a.world, one, 2, zone_put, &bytes), MUSTER_E_STATE, "it waits for its intake");
  run_both(&a, &b, 1);
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
  assert_refused(muster_observer_move(a.world, one, (muster_position){11, 0, 0}), MUSTER_E_STALE, "is in zone 2 now");
  cr_assert_eq(zone_of_observer(&a, one), 2);
  cr_assert_not(has_observer(&a, one));
  observer_arrives(&b, &bytes, one);
  cr_assert_eq(muster_observer_arrive(b.world, bytes.bytes, bytes.count, NULL), MUSTER_E_STALE);
  run_both(&a, &b, 2);
  cr_assert_eq(info_of(&a, near_a).importance, 0, "no observer is here any more");
  cr_assert_gt(info_of(&b, near_b).importance, 0.5f);
  cr_assert_eq(zone_of_observer(&b, one), 2);
  assert_ok(muster_observer_move(b.world, one, (muster_position){500, 0, 0}));
  run_frame(&b);
  cr_assert_eq(observer_of(&b, one).position.x, 500);
  cr_assert_eq(muster_observers_move(b.world, &one, &(muster_position){510, 0, 0}, 1), 1);
  cr_assert_eq(muster_observers_move(a.world, &one, &(muster_position){510, 0, 0}, 1), 0);
  uint32_t listed = 0;
  for (muster_observer at = {0}; !muster_observer_is_null(at = muster_observer_next(b.world, at));)
    listed += muster_observer_equal(at, one) || muster_observer_equal(at, other);
  cr_assert_eq(listed, 2);
  cr_assert_eq(zone_status(&a).observers_departed, 1);
  cr_assert_eq(zone_status(&b).observers_arrived, 1);
  cr_assert_eq(muster_observer_remove(b.world, one), MUSTER_OK);
  run_frame(&b);
  cr_assert_eq(zone_of_observer(&b, one), 0);
}

/* Each of its fields alone, and once more behind a snapshot. */
Test(zone_observers, bring_all_that_they_were_given) {
  SCOPED_WORLD a = zone_world(1), b = zone_world(2);
  SCOPED(zone_bytes_forget) zone_bytes bytes = {0};
  muster_observer one = observe_as(&a, WITH(muster_observer_def, it.position = (muster_position){11, 12, 13},
                                            it.partition = 14, it.near_m = 15, it.far_m = 160));
  run_both(&a, &b, 1);
  observer_crosses(&a, &b, one);
  SCOPED_WORLD restored = zone_world(2);
  copy_world(&b, &restored);
  for (uint32_t i = 0; i < 2; i++) {
    little_world *at = i ? &restored : &b;
    run_frame(at);
    muster_observer_def read = observer_of(at, one);
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
}

Test(zone_observers, come_back_and_are_refused_when_they_are_older) {
  SCOPED_WORLD a = zone_world(1), b = zone_world(2);
  muster_observer one = observer_at(&a, 10);
  SCOPED(zone_bytes_forget) zone_bytes first = {0}, second = {0};
  run_both(&a, &b, 1);
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
}

Test(zone_observers, wait_for_what_was_asked_of_them_and_for_room) {
  SCOPED_WORLD a = zone_world(1), b = zone_of(WITH(zone_def, it.zone.number = 2, it.limits.observers_max = 1));
  muster_observer one = observer_at(&a, 10), there = observer_at(&b, 10);
  SCOPED(zone_bytes_forget) zone_bytes bytes = {0};
  run_both(&a, &b, 1);
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
  cr_assert_eq(observer_of(&b, one).position.x, 20);
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

static void crowd_step(crowd *all, uint32_t number) {
  uint32_t asked = crowd_random(all, 2), named = zone_of_observer(&all->zones[asked], all->observers[number]);
  uint32_t at = named ? named - 1 : !asked; /* a zone that knows nothing of an observer does not run it */
  little_world *here = &all->zones[at], *there = &all->zones[!at];
  muster_observer *one = &all->observers[number];
  cr_assert_eq(has_observer(here, *one) + has_observer(there, *one), 1, "it is in one zone");
  if (crowd_random(all, 40) == 0) {
    cr_assert_eq(muster_observer_remove(here->world, *one), MUSTER_OK);
    *one = observer_at(there, (double)crowd_random(all, 900));
    return;
  }
  if (crowd_random(all, 3)) {
    assert_ok(muster_observer_move(here->world, *one, (muster_position){(double)crowd_random(all, 900), 0, 0}));
    return;
  }
  observer_crosses(here, there, *one);
  all->crossed++;
}

static void crowd_open(crowd *all, uint32_t workers) {
  *all = (crowd){.seed = 1};
  muster_type_def type = walker_type();
  for (uint32_t i = 0; i < 2; i++) {
    muster_world_def def = zone_world_def(i + 1);
    all->zones[i] = zone_world_of(workers, &def, &type);
  }
}

static void crowd_close(crowd *all) {
  zones_destroy(&all->zones);
}

static void crowd_frames(crowd *all, uint32_t frames, struct recorded *run) {
  for (uint32_t i = 0; i < frames; i++) {
    for (uint32_t j = 0; j < OBSERVERS && i % 2; j++) crowd_step(all, j);
    run_both(&all->zones[0], &all->zones[1], 1);
    if (run) recorded_note(run, &all->zones[0], report_of(&all->zones[0]));
  }
}

static void crowd_populate(crowd *all) {
  for (uint32_t i = 0; i < 30; i++) spawn_at(&all->zones[i % 2], (double)i * 30);
  for (uint32_t i = 0; i < OBSERVERS; i++) all->observers[i] = observer_at(&all->zones[i % 2], (double)i * 20);
}

Test(zone_observers, a_record_repeats_their_crossings) {
  SCOPED(recorded_forget) struct recorded run = {0};
  SCOPED(crowd_close) crowd all, again;
  crowd_open(&all, 1);
  recorded_begin(&run, all.zones[0].world);
  crowd_populate(&all);
  crowd_frames(&all, FRAMES, &run);
  recorded_end(&run, all.zones[0].world);
  cr_assert_gt(all.crossed, 100, "%u", all.crossed);
  crowd_open(&again, 4);
  recorded_replay(&run, again.zones[0].world);
  replay_alike(&run, &again.zones[0]);
  for (uint32_t i = 0; i < OBSERVERS; i++)
    cr_assert_eq(has_observer(&again.zones[0], all.observers[i]), has_observer(&all.zones[0], all.observers[i]));
}

Test(zone_observers, a_snapshot_keeps_them_and_where_they_went) {
  SCOPED(crowd_close) crowd all, loaded;
  crowd_open(&all, 1);
  crowd_open(&loaded, 1);
  crowd_populate(&all);
  run_both(&all.zones[0], &all.zones[1], 1);
  crowd_frames(&all, 60, NULL);
  memcpy(loaded.observers, all.observers, sizeof all.observers);
  loaded.seed = all.seed;
  for (uint32_t zone = 0; zone < 2; zone++) copy_exactly(&all.zones[zone], &loaded.zones[zone]);
  for (uint32_t i = 0; i < 2 * OBSERVERS; i++)
    cr_assert_eq(zone_of_observer(&loaded.zones[i % 2], all.observers[i / 2]),
                 zone_of_observer(&all.zones[i % 2], all.observers[i / 2]));
  crowd_frames(&all, 60, NULL);
  crowd_frames(&loaded, 60, NULL);
  cr_assert_eq(memcmp(loaded.observers, all.observers, sizeof all.observers), 0, "ids are given as they were");
  for (uint32_t zone = 0; zone < 2; zone++)
    cr_assert_eq(muster_world_hash(loaded.zones[zone].world), muster_world_hash(all.zones[zone].world));
}

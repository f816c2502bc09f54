/* Agents that cross from one zone into another: they live on as if they had never crossed, under the same id. */
#include "support/zones.h"
#include "world/fixture.h"
#include "world/world_score.h"

/* An agent that crosses back and forth, and one in a world of its own that stays. */
static void expect_alike(const little_world *one, const little_world *other, muster_agent agent, uint32_t frame) {
  muster_agent_info a = info_of(one, agent), b = info_of(other, agent);
  cr_assert_eq(memcmp(a.state, b.state, sizeof(walker_mind)), 0, "frame %u", frame);
  cr_assert_eq(memcmp(a.published, b.published, sizeof(uint64_t)), 0, "frame %u", frame);
  cr_assert_eq(a.last_update_ns, b.last_update_ns, "frame %u", frame);
  cr_assert_eq(a.period_ns, b.period_ns, "frame %u", frame);
  cr_assert_eq(memcmp(&a.position, &b.position, sizeof a.position), 0, "frame %u", frame);
  cr_assert_eq(a.messages, b.messages, "frame %u", frame);
}

Test(zone_crossing, an_agent_lives_on_as_if_it_had_stayed) {
  SCOPED(zones_destroy) little_world zones[2] = {zone_world(1), zone_world(2)};
  SCOPED_WORLD whole = zone_world(1);
  muster_agent agent = spawn_at(&zones[0], 10), same = spawn_at(&whole, 10);
  cr_assert(muster_agent_equal(agent, same));
  uint32_t at = 0, hops = 0;
  for (uint32_t frame = 0; frame < 300; frame++) {
    uint64_t word = frame;
    if (frame % 11 == 3) {
      muster_agent_send(zones[at].world, agent, &word, sizeof word);
      muster_agent_send(whole.world, same, &word, sizeof word);
    }
    run_both(&zones[0], &zones[1], 1);
    run_frame(&whole);
    expect_alike(&zones[at], &whole, agent, frame);
    if (frame % 7 != 2) continue;
    cross(&zones[at], &zones[!at], agent);
    cr_assert_not(muster_agent_exists(zones[at].world, agent));
    at = !at;
    cr_assert_eq(hop_of(&zones[at], agent), ++hops);
    expect_alike(&zones[at], &whole, agent, frame);
  }
  cr_assert_gt(mind_of(&whole, same)->updates, 90);
  cr_assert_gt(mind_of(&whole, same)->messages, 20);
}

/* Back and forth between two zones, of which the second is ahead and says so; one stays, in a third world. */
static void live_across_times(int64_t ahead_ns) {
  static const uint64_t base_ns = 10000000000000; /* no zone is younger than another is ahead */
  SCOPED(zones_destroy) little_world zones[2] = {zone_world(1), zone_world(2)};
  SCOPED_WORLD whole = zone_world(1);
  zones[0].now_ns = whole.now_ns = base_ns;
  zones[1].now_ns = (uint64_t)((int64_t)base_ns + ahead_ns);
  cr_assert_eq(muster_zone_set_offset(zones[1].world, ahead_ns), MUSTER_OK);
  muster_agent agent = spawn_at(&zones[0], 10), same = spawn_at(&whole, 10);
  uint32_t at = 0;
  for (uint32_t frame = 0; frame < 200; frame++) {
    run_both(&zones[0], &zones[1], 1);
    run_frame(&whole);
    uint64_t age_ns = zones[at].now_ns - info_of(&zones[at], agent).last_update_ns;
    cr_assert_eq(age_ns, whole.now_ns - info_of(&whole, same).last_update_ns, "frame %u", frame);
    if (frame % 7 != 2) continue;
    cross(&zones[at], &zones[!at], agent);
    at = !at;
  }
  cr_expect_eq(mind_of(&zones[at], agent)->told_ns, mind_of(&whole, same)->told_ns);
  cr_expect_gt(mind_of(&whole, same)->updates, 60);
}

Test(zone_crossing, what_crosses_carries_ages_between_zones_of_different_times) {
  static const int64_t hour_ns = 3600000000000;
  live_across_times(0);
  live_across_times(hour_ns);
  live_across_times(-hour_ns);
}

/* Asked-for times, too; and whose zone is early arrives at once, and has lived through nothing twice. */
Test(zone_crossing, who_comes_from_an_early_zone_is_as_old_as_it_was) {
  SCOPED_WORLD early = zone_world(1), late = zone_world(2);
  early.now_ns = 20000000000u;
  late.now_ns = 12000000000u;
  muster_agent agent = spawn_at(&early, 10);
  run_both(&early, &late, 10);
  cr_assert_eq(muster_agent_wake_at(early.world, agent, early.now_ns + 500000000), MUSTER_OK);
  run_both(&early, &late, 1);
  uint64_t age_ns = early.now_ns - info_of(&early, agent).last_update_ns, told_ns = mind_of(&early, agent)->told_ns;
  cross(&early, &late, agent);
  cr_expect_eq(late.now_ns - info_of(&late, agent).last_update_ns, age_ns);
  uint64_t until_ns = late.now_ns + 3000000000u, first_ns = late.now_ns;
  while (late.now_ns < until_ns) run_frame(&late);
  uint64_t lived_ns = mind_of(&late, agent)->told_ns - told_ns;
  cr_expect_leq(lived_ns, late.now_ns - first_ns + age_ns);
  cr_expect_geq(lived_ns + 200000000, late.now_ns - first_ns);
}

Test(zone_crossing, an_offset_is_bounded_kept_and_told) {
  SCOPED_WORLD zone = zone_world(1), none = little_world_create(1, NULL);
  cr_expect_eq(muster_zone_set_offset(none.world, 1), MUSTER_E_STATE);
  cr_expect_eq(muster_zone_set_offset(zone.world, INT64_MAX), MUSTER_E_ARGUMENT);
  cr_expect_eq(muster_zone_set_offset(zone.world, INT64_MIN), MUSTER_E_ARGUMENT);
  cr_expect_eq(muster_zone_set_offset(zone.world, -5), MUSTER_OK);
  cr_expect_eq(zone_status(&zone).offset_ns, -5);
}

Test(zone_crossing, ids_say_where_and_when_they_were_given_and_stay) {
  SCOPED_WORLD one = zone_world(5), other = zone_world(6);
  muster_agent born = spawn_at(&one, 1), there = spawn_at(&other, 1);
  cr_assert_eq(muster_agent_zone(born), 5);
  cr_assert_eq(muster_agent_epoch(born), 1);
  cr_assert_eq(muster_agent_zone(there), 6);
  run_both(&one, &other, 1);
  cross(&one, &other, born);
  cr_assert_eq(muster_zone_set_epoch(one.world, 2), MUSTER_OK);
  muster_agent later = spawn_at(&one, 2);
  cr_assert_eq(muster_agent_epoch(later), 2);
  cr_assert_neq(later.value, born.value);
  cr_assert(muster_agent_exists(other.world, born));
  cr_assert(muster_agent_exists(other.world, there));
  run_both(&one, &other, 1);
  cross(&other, &one, born);
  cr_assert(muster_agent_exists(one.world, born));
  cr_assert(muster_agent_exists(one.world, later));
  cr_assert_eq(muster_agent_move(one.world, born, (muster_position){70, 0, 0}), MUSTER_OK);
  cr_assert_eq(muster_agents_move(one.world, &later, &(muster_position){90, 0, 0}, 1), 1);
  run_frame(&one);
  cr_assert_float_eq(info_of(&one, born).position.x, 70, 3);
  cr_assert_float_eq(info_of(&one, later).position.x, 90, 3);
  uint32_t seen = 0;
  for (muster_agent next = {0}; !muster_agent_is_null(next = muster_agent_next(one.world, next));)
    seen += muster_agent_equal(next, born) || muster_agent_equal(next, later);
  cr_assert_eq(seen, 2);
}

/* A world that is restored knows nothing of who had an index before: so nothing of it may be left in this one. */
Test(zone_crossing, who_has_the_index_of_a_dead_one_begins_anew) {
  SCOPED_WORLD one = zone_world(1), other = zone_world(2);
  muster_agent comes = spawn_at(&one, 1), born;
  uint32_t count = 0;
  run_frame(&one);
  cross(&one, &other, comes);
  run_frame(&other);
  cr_assert_eq(hop_of(&other, comes), 1);
  cr_assert_eq(muster_agent_remove(other.world, comes), MUSTER_OK);
  run_frame(&other);
  for (; count < 400; count++) {
    born = spawn_at(&other, 2);
    cr_expect_eq(hop_of(&other, born), 0);
  }
}

Test(zone_crossing, what_comes_twice_or_late_is_refused) {
  SCOPED_WORLD a = zone_world(1), b = zone_world(2);
  SCOPED(zone_bytes_forget) zone_bytes first = {0}, second = {0};
  muster_agent agent = spawn_at(&a, 1), named, none = {0};
  uint32_t hop = 0;
  run_frame(&a);
  depart(&a, agent, 2, &first);
  cr_assert_eq(muster_agent_packed(first.bytes, first.count, &named, &hop), MUSTER_OK);
  cr_assert(muster_agent_equal(named, agent));
  cr_assert_eq(hop, 1);
  cr_assert_eq(muster_agent_arrive(a.world, first.bytes, first.count, &none), MUSTER_E_STALE, "it left with that hop");
  arrive(&b, &first, agent);
  cr_assert_eq(muster_agent_arrive(b.world, first.bytes, first.count, &none), MUSTER_E_STALE, "it is there");
  depart(&b, agent, 1, &second);
  cr_assert_eq(muster_agent_arrive(b.world, first.bytes, first.count, &none), MUSTER_E_STALE, "it left with a higher");
  arrive(&a, &second, agent);
  cr_assert_eq(hop_of(&a, agent), 2);
  cr_assert_eq(muster_agent_arrive(a.world, first.bytes, first.count, &none), MUSTER_E_STALE);
}

Test(zone_crossing, a_restored_world_learns_who_left) {
  SCOPED_WORLD a = zone_world(1);
  muster_agent agent = spawn_at(&a, 1), pending = spawn_at(&a, 2), foreign = {(uint64_t)3 << 50 | 7}, none = {0};
  SCOPED(zone_bytes_forget) zone_bytes bytes = {0};
  muster_agent_remove(a.world, pending);
  run_frame(&a);
  pending = spawn_at(&a, 3);
  cr_assert_eq(muster_agent_left(a.world, agent, 1, 2), MUSTER_OK);
  cr_assert_eq(muster_agent_left(a.world, pending, 3, 2), MUSTER_OK, "it waited for its intake");
  cr_assert_eq(muster_agent_left(a.world, foreign, 5, 2), MUSTER_OK, "it was never here");
  cr_assert_not(muster_agent_exists(a.world, agent));
  cr_assert_not(muster_agent_exists(a.world, pending));
  run_frames(&a, 3);
  cr_assert_eq(zone_status(&a).marks, 3);
  muster_agent other = spawn_and_run(&a, 4, 1);
  depart(&a, other, 2, &bytes);
  cr_assert_eq(muster_agent_left(a.world, other, 4, 3), MUSTER_OK);
  cr_assert_eq(muster_agent_arrive(a.world, bytes.bytes, bytes.count, &none), MUSTER_E_STALE, "hop 1 is below 4");
  cr_assert_eq(muster_agent_left(a.world, other, 2, 2), MUSTER_OK, "the higher hop stays");
  cr_assert_eq(muster_agent_arrive(a.world, bytes.bytes, bytes.count, &none), MUSTER_E_STALE);
}

Test(zone_crossing, elapsed_time_begins_no_later_than_now) {
  SCOPED_WORLD ahead = zone_world(1), behind = zone_world(2);
  muster_agent agent = spawn_and_run(&ahead, 1, 50);
  run_frames(&behind, 2);
  uint64_t told_ns = mind_of(&ahead, agent)->told_ns;
  cross(&ahead, &behind, agent);
  cr_assert_eq(info_of(&behind, agent).last_update_ns, behind.now_ns);
  run_frames(&behind, 12);
  cr_assert_eq(mind_of(&behind, agent)->told_ns - told_ns, info_of(&behind, agent).last_update_ns - 2 * FRAME_NS);
  cross(&behind, &ahead, agent);
  uint64_t last_ns = info_of(&ahead, agent).last_update_ns;
  told_ns = mind_of(&ahead, agent)->told_ns;
  run_frame(&ahead);
  cr_assert_eq(info_of(&ahead, agent).last_update_ns, ahead.now_ns, "it was due long since");
  cr_assert_eq(mind_of(&ahead, agent)->told_ns - told_ns, ahead.now_ns - last_ns, "it is told all that time");
}

Test(zone_crossing, a_time_that_was_asked_for_goes_along) {
  SCOPED_WORLD a = zone_world(1), b = zone_world(2);
  muster_type_def type = CHANGED(walker_type(), it.elapsed.contract = MUSTER_ELAPSED_EVENTS);
  add_type(&a, type);
  add_type(&b, type);
  muster_agent agent = spawn_at(&a, 1);
  run_both(&a, &b, 1);
  muster_agent_wake_at(a.world, agent, 10 * FRAME_NS);
  run_both(&a, &b, 3);
  cross(&a, &b, agent);
  cr_assert_eq(info_of(&b, agent).wake_at_ns, 10 * FRAME_NS);
  run_frames(&b, 5);
  cr_assert_eq(mind_of(&b, agent)->updates, 0);
  run_frame(&b);
  cr_assert_eq(mind_of(&b, agent)->updates, 1);
  run_frames(&a, 6);
  muster_agent_wake(b.world, agent);
  cross(&b, &a, agent);
  run_frame(&a);
  cr_assert_eq(mind_of(&a, agent)->updates, 2, "a wake goes along, too");
}

Test(zone_crossing, what_was_set_for_an_agent_goes_along) {
  SCOPED_WORLD a = zone_world(1), b = zone_world(2);
  muster_agent agent = spawn_at(&a, 1);
  assert_ok(tune_agent(&a, agent, WITH(muster_agent_tuning, it.importance_floor = 0.75f, it.elasticity = 0.0f)));
  run_both(&a, &b, 2);
  cr_assert_eq(muster_agent_quarantine(a.world, agent), MUSTER_OK);
  SCOPED(zone_bytes_forget) zone_bytes bytes = {0};
  cr_assert_eq(muster_agent_depart(a.world, agent, 2, zone_put, &bytes), MUSTER_E_STATE, "the intake comes first");
  run_both(&a, &b, 1);
  cross(&a, &b, agent);
  cr_assert(info_of(&b, agent).quarantined);
  uint64_t updates = mind_of(&b, agent)->updates;
  run_frames(&b, 20);
  cr_assert_eq(mind_of(&b, agent)->updates, updates);
  cr_assert_eq(muster_agent_reinstate(b.world, agent), MUSTER_OK);
  run_frames(&b, 10);
  cr_assert_gt(mind_of(&b, agent)->updates, updates);
  cr_assert_float_eq(info_of(&b, agent).importance, 0.75f, 0.001f);
  cr_assert_float_eq(info_of(&b, agent).elasticity, 0.0f, 0.001f);
}

/* Written by hand, as if it were learnt. */
Test(zone_crossing, what_is_known_of_its_costs_goes_along) {
  SCOPED_WORLD a = zone_world(1), b = zone_world(2);
  muster_agent agent = spawn_at(&a, 1);
  run_both(&a, &b, 2);
  agent_row *row = &a.world->agents.store.rows[muster_agent_index(agent)];
  score_set_factor(&a.world->score->board, muster_agent_index(agent), 20);
  row->factor_part = 5;
  row->factor_age = 9;
  row->doubted = 1;
  double believed_ns = (double)info_of(&a, agent).expected_cost_ns;
  cross(&a, &b, agent);
  row = &b.world->agents.store.rows[muster_agent_index(agent)];
  cr_assert_eq(row->cost_factor, 20);
  cr_assert_eq(row->factor_part, 5);
  cr_assert_eq(row->factor_age, 9);
  cr_assert_eq(row->doubted, 1);
  run_frame(&b);
  cr_assert_float_eq((double)info_of(&b, agent).expected_cost_ns, believed_ns, 0.1 * believed_ns);
}

Test(zone_crossing, who_cannot_leave_stays_as_it_was) {
  SCOPED_WORLD a = zone_world(1), plain = little_world_create(1, NULL);
  zone_bytes bytes = {0};
  int thing = 0;
  muster_agent agent = spawn_at(&a, 1), held = spawn_as(&a, WITH(muster_agent_def, it.user = &thing));
  cr_assert_eq(muster_agent_depart(a.world, agent, 2, zone_put, &bytes), MUSTER_E_STATE, "it waits for its intake");
  run_frame(&a);
  cr_assert_eq(muster_agent_depart(a.world, held, 2, zone_put, &bytes), MUSTER_E_STATE, "its pointer is of no use");
  cr_assert_eq(muster_agent_depart(a.world, agent, 1, zone_put, &bytes), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_agent_depart(a.world, agent, 0, zone_put, &bytes), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_agent_depart(a.world, agent, MUSTER_ZONES_MAX + 1, zone_put, &bytes), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_agent_depart(a.world, (muster_agent){0}, 2, zone_put, &bytes), MUSTER_E_STALE);
  cr_assert_eq(muster_agent_depart(plain.world, agent, 2, zone_put, &bytes), MUSTER_E_STATE, "no zone");
  muster_agent_remove(a.world, agent);
  cr_assert_eq(muster_agent_depart(a.world, agent, 2, zone_put, &bytes), MUSTER_E_STATE, "it is about to be removed");
  run_frame(&a);
  cr_assert_eq(muster_agent_depart(a.world, agent, 2, zone_put, &bytes), MUSTER_E_STALE);
  agent = spawn_at(&a, 1);
  run_frame(&a);
  uint64_t hash = muster_world_hash(a.world);
  bytes.refuses = true;
  cr_assert_eq(muster_agent_depart(a.world, agent, 2, zone_put, &bytes), MUSTER_E_SYSTEM);
  cr_assert_eq(muster_world_hash(a.world), hash);
  cr_assert(muster_agent_exists(a.world, agent));
  cr_assert_eq(bytes.count, 0);
}

Test(zone_crossing, a_full_world_refuses) {
  SCOPED_WORLD a = zone_world(1), small = zone_of(WITH(zone_def, it.zone.number = 2, it.limits.agents_max = 2));
  muster_agent agent = spawn_at(&a, 1);
  SCOPED(zone_bytes_forget) zone_bytes bytes = {0};
  for (int i = 0; i < 2; i++) spawn_at(&small, i);
  run_both(&a, &small, 1);
  depart(&a, agent, 2, &bytes);
  uint64_t hash = muster_world_hash(small.world);
  cr_assert_eq(muster_agent_arrive(small.world, bytes.bytes, bytes.count, NULL), MUSTER_E_FULL);
  cr_assert_eq(muster_world_hash(small.world), hash);
  muster_agent_remove(small.world, muster_agent_next(small.world, (muster_agent){0}));
  run_frame(&small);
  assert_ok(muster_agent_arrive(small.world, bytes.bytes, bytes.count, NULL));
}

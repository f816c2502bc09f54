/* Messages find an agent that another zone runs, or that moved on: once, and in order. */
#include "support/late_frame.h"
#include "support/zone_pair.h"
#include "world/fixture.h"
#include "world/taken_messages.h"
#include "world/zone_mail.h"

static uint64_t word_of(const taken_messages *taken, uint32_t number) {
  uint64_t word;
  memcpy(&word, taken->bytes[number], sizeof word);
  return word;
}

/* One of two agents crosses to the other zone; the other one, which is returned, writes to it in each update. */
static muster_agent write_to_one_that_crosses(little_world *from, little_world *to) {
  muster_agent receiver = spawn_at(from, 1), sender = spawn_at(from, 2);
  run_both(from, to, 1);
  mind_of(from, sender)->friend_of = receiver;
  cross(from, to, receiver);
  return sender;
}

Test(zone_messages, follow_an_agent_that_moved_on) {
  SCOPED_WORLD a = zone_world(1), b = zone_world(2), c = zone_world(3);
  muster_agent receiver = spawn_at(&a, 1), sender = spawn_at(&a, 2);
  for (int i = 0; i < 3; i++) run_frame(i == 0 ? &a : i == 1 ? &b : &c);
  mind_of(&a, sender)->friend_of = receiver;
  cross(&a, &b, receiver);
  uint64_t word = 4711;
  cr_assert_eq(muster_agent_send(a.world, receiver, &word, sizeof word), MUSTER_OK);
  run_frames(&a, 9);
  taken_messages taken = take_messages(&a);
  cr_assert_eq(taken.count, 4, "one of the host, and three of the sender");
  cr_assert_eq(take_messages(&a).count, 0);
  cr_assert(muster_agent_is_null(taken.heads[0].from));
  cr_assert_eq(word_of(&taken, 0), word);
  for (uint32_t i = 0; i < taken.count; i++) {
    cr_assert_eq(taken.heads[i].zone, 2);
    cr_assert(muster_agent_equal(taken.heads[i].to, receiver));
    if (i > 0) cr_assert(muster_agent_equal(taken.heads[i].from, sender));
    if (i > 1) cr_assert_eq(taken.heads[i].sequence, taken.heads[i - 1].sequence + 1);
  }
  cross(&b, &c, receiver);
  for (uint32_t i = 0; i < taken.count; i++) assert_ok(deliver(&b, &taken, i));
  taken_messages again = take_messages(&b);
  cr_assert_eq(again.count, taken.count);
  for (uint32_t i = 0; i < again.count; i++) {
    cr_assert_eq(again.heads[i].zone, 3);
    cr_assert_eq(again.heads[i].sequence, taken.heads[i].sequence);
    cr_assert_eq(again.heads[i].sent_ns, taken.heads[i].sent_ns);
    assert_ok(deliver(&c, &again, i));
  }
  cr_assert_eq(info_of(&c, receiver).messages, 4);
  run_frames(&c, 6);
  cr_assert_eq(mind_of(&c, receiver)->messages, 4);
  cr_assert_eq(mind_of(&c, receiver)->last_word, word_of(&taken, 3), "in order");
  cr_assert_eq(zone_status(&b).messages_forwarded, 4);
}

/* A zone that goes on from its snapshot: what waits for other zones is in it. */
static void restore(little_world *little, uint32_t zone) {
  SCOPED(saved_world_forget) saved_world saved = save_world(little->world);
  little_world_destroy(little);
  *little = zone_world(zone);
  assert_ok(load_world(little->world, saved.bytes, saved.count));
}

/* Two zones, each of which takes the other for where an agent is, send all that is for it to and fro: so often and no
 * more. Of a host's messages the zone stands in the bits that hops have in common with it. */
Test(zone_messages, go_on_behind_a_receiver_so_often_and_no_more) {
  enum { ONE = 1, OTHER = 16383 };
  SCOPED(zones_destroy) little_world zones[2] = {zone_world(ONE), zone_world(OTHER)};
  muster_agent receiver = spawn_at(&zones[0], 1), sender = spawn_at(&zones[1], 2);
  run_both(&zones[0], &zones[1], 1);
  cross(&zones[0], &zones[1], receiver);
  mind_of(&zones[1], sender)->friend_of = receiver;
  cross(&zones[1], &zones[0], receiver);
  assert_ok(muster_agent_left(zones[0].world, receiver, 3, OTHER));
  uint64_t word = 4711;
  for (int i = 0; i < 2; i++) cr_assert_eq(muster_agent_send(zones[1].world, receiver, &word, sizeof word), MUSTER_OK);
  run_frames(&zones[1], 6);
  mind_of(&zones[1], sender)->friend_of = (muster_agent){0};
  taken_messages taken = take_messages(&zones[1]);
  const taken_messages first = taken;
  cr_assert_eq(taken.count, 4, "two of the host, and two of the sender");
  for (uint32_t hop = 0; hop < MUSTER_ZONE_HOPS_MAX; hop++) {
    const uint32_t at = hop % 2;
    for (uint32_t i = 0; i < taken.count; i++)
      cr_assert_eq(deliver(&zones[at], &taken, i), MUSTER_OK, "hop %u: %s", hop, muster_last_error());
    if (hop == 7) restore(&zones[at], at ? OTHER : ONE);
    taken = take_messages(&zones[at]);
    cr_assert_eq(taken.count, first.count);
    for (uint32_t i = 0; i < taken.count; i++) {
      cr_assert_eq(taken.heads[i].sequence, first.heads[i].sequence);
      cr_assert_neq(taken.follows[i], first.follows[i]);
    }
  }
  for (uint32_t i = 0; i < taken.count; i++) {
    assert_refused(deliver(&zones[0], &taken, i), MUSTER_E_STALE, "64 times");
  }
  cr_assert_eq(take_messages(&zones[0]).count, 0);
}

/* It comes to whom it is for, and in order, as often as it may have gone on. */
Test(zone_messages, that_went_on_often_arrive_in_their_order) {
  SCOPED_WORLD a = zone_world(1), b = zone_world(2);
  muster_agent receiver = spawn_at(&a, 1);
  run_both(&a, &b, 1);
  cross(&a, &b, receiver);
  for (uint64_t word = 1; word <= 2; word++) assert_ok(muster_agent_send(a.world, receiver, &word, sizeof word));
  run_frame(&a);
  taken_messages taken = take_messages(&a);
  cr_assert_eq(taken.count, 2);
  for (uint32_t i = 0; i < 2; i++) { /* as they are behind their last way */
    zone_outgoing message = {.sequence = taken.heads[i].sequence};
    zone_take_follows(&message, taken.follows[i]);
    cr_assert_eq(message.hops, 0);
    cr_assert_eq(message.follows, i ? taken.heads[0].sequence : 0);
    message.hops = MUSTER_ZONE_HOPS_MAX;
    taken.follows[i] = zone_follows_of(&message);
  }
  cr_assert_eq(deliver(&b, &taken, 1), MUSTER_OK);
  cr_assert_eq(zone_status(&b).messages_held, 1);
  cr_assert_eq(deliver(&b, &taken, 0), MUSTER_OK);
  cr_assert_eq(zone_status(&b).messages_held, 0);
  run_frames(&b, 6);
  cr_assert_eq(mind_of(&b, receiver)->last_word, 2);
}

Test(zone_messages, that_come_twice_are_delivered_once) {
  SCOPED_WORLD a = zone_world(1), b = zone_world(2);
  muster_agent receiver = spawn_at(&b, 1), sender = spawn_at(&a, 2);
  run_both(&a, &b, 1);
  mirror(&b, &a, &receiver, 1);
  mind_of(&a, sender)->friend_of = receiver;
  run_frames(&a, 12);
  taken_messages taken = take_messages(&a);
  cr_assert_eq(taken.count, 4);
  cr_assert_eq(deliver(&b, &taken, 2), MUSTER_OK);
  cr_assert_eq(deliver(&b, &taken, 0), MUSTER_OK, "an older one that was not delivered");
  for (int i = 0; i < 3; i += 2) cr_assert_eq(deliver(&b, &taken, i), MUSTER_E_STALE);
  cr_assert_eq(info_of(&b, receiver).messages, 1);
  cr_assert_eq(zone_status(&b).messages_twice, 2);
  cr_assert_eq(zone_status(&b).messages_held, 1, "number 2 waits for number 1");
  cr_assert_eq(deliver(&b, &taken, 1), MUSTER_OK);
  cr_assert_eq(info_of(&b, receiver).messages, 3);
  cr_assert_eq(zone_status(&b).messages_in, 3);
  taken.heads[3].to = (muster_agent){(uint64_t)9 << 50 | 77};
  cr_assert_eq(deliver(&b, &taken, 3), MUSTER_E_STALE, "nobody");
  taken.heads[3].sequence = 0;
  cr_assert_eq(deliver(&b, &taken, 3), MUSTER_E_ARGUMENT);
}

Test(zone_messages, a_new_owner_repeats_no_sequence) {
  SCOPED_WORLD a = zone_world(1), b = zone_world(2);
  write_to_one_that_crosses(&a, &b);
  run_frames(&a, 6);
  taken_messages before = take_messages(&a);
  cr_assert_eq(muster_zone_set_epoch(a.world, 1), MUSTER_E_ARGUMENT, "it is in force");
  cr_assert_eq(muster_zone_set_epoch(a.world, 9), MUSTER_OK);
  run_frames(&a, 6);
  taken_messages after = take_messages(&a);
  cr_assert_gt(before.count, 0);
  cr_assert_gt(after.count, 0);
  cr_assert_gt(after.heads[0].sequence, before.heads[before.count - 1].sequence + UINT32_MAX / 2);
}

Test(zone_messages, a_full_queue_drops_and_tells_the_sender) {
  SCOPED_WORLD a = zone_of(WITH(zone_def, it.limits.sends_per_frame = 4)), b = zone_world(2);
  muster_agent sender = write_to_one_that_crosses(&a, &b);
  run_frames(&a, 30);
  muster_zone_status status = zone_status(&a);
  cr_assert_eq(status.messages, 4);
  cr_assert_eq(status.messages_out, 4);
  cr_assert_eq(status.messages_dropped, mind_of(&a, sender)->updates - 4 - (mind_of(&a, sender)->updates > 14));
}

Test(zone_messages, marks_are_bounded_and_the_oldest_goes_first) {
  enum { LEFT = 1200 };
  SCOPED_WORLD a = zone_of(WITH(zone_def, it.limits.agents_max = 64));
  uint64_t word = 1;
  for (uint32_t i = 1; i <= LEFT; i++)
    cr_assert_eq(muster_agent_left(a.world, (muster_agent){(uint64_t)7 << 50 | i}, 1, 2), MUSTER_OK);
  muster_zone_status status = zone_status(&a);
  cr_assert_eq(status.marks, 1024);
  cr_assert_eq(status.marks_dropped, LEFT - 1024);
  cr_assert_eq(muster_agent_send(a.world, (muster_agent){(uint64_t)7 << 50 | 1}, &word, 8), MUSTER_E_STALE);
  cr_assert_eq(muster_agent_send(a.world, (muster_agent){(uint64_t)7 << 50 | LEFT}, &word, 8), MUSTER_OK);
  run_frame(&a);
  cr_assert_eq(take_messages(&a).count, 1);
}

/* Nor are they known for ever: what a world keeps of them, and saves, follows from the last minutes alone. */
Test(zone_messages, are_known_for_so_many_frames) {
  SCOPED_WORLD a = zone_world(1), b = zone_world(2);
  write_to_one_that_crosses(&a, &b);
  run_frames(&a, 12);
  taken_messages taken = take_messages(&a);
  run_frames(&b, 4);
  SCOPED(saved_world_forget) saved_world before = save_world(b.world);
  for (uint32_t i = 0; i < taken.count; i++) cr_assert_eq(deliver(&b, &taken, i), MUSTER_OK);
  run_frames(&b, MUSTER_ZONE_KNOWN_FRAMES / 2);
  SCOPED(saved_world_forget) saved_world half = save_world(b.world);
  cr_assert_geq(half.count, before.count + taken.count * 16);
  SCOPED_WORLD restored = zone_world(2);
  assert_ok(load_world(restored.world, half.bytes, half.count));
  restored.now_ns = b.now_ns;
  run_frames(&restored, MUSTER_ZONE_KNOWN_FRAMES / 2);
  cr_assert_eq(deliver(&restored, &taken, 0), MUSTER_E_STALE);
  run_frames(&restored, 1);
  SCOPED(saved_world_forget) saved_world end = save_world(restored.world);
  cr_assert_eq(end.count, before.count, "%zu bytes, and %zu before", end.count, before.count);
  assert_ok(deliver(&restored, &taken, 0));
}

static muster_atom_result read_late(muster_update *update) {
  walker_mind *mind = update->state;
  muster_message messages[8];
  mind->messages += muster_update_messages(update, messages, 8);
  late_wait();
  return MUSTER_ATOM_NEXT;
}

Test(zone_messages, that_come_before_an_update_is_settled_stay_for_the_next_one) {
  enum { CROWD = 200 };
  SCOPED_WORLD b = typed_world(1, WITH(zone_def, it.zone.number = 2, it.clock.kind = MUSTER_CLOCK_WALL),
                               CHANGED(walker_type(), it.atoms = atom_of(read_late, 0), it.atom_count = 1,
                                       it.period_ns = it.period_max_ns = FRAME_NS, it.elasticity = 0));
  muster_agent agents[CROWD];
  const uint64_t word = 7;
  for (uint64_t i = 0; i < CROWD; i++) agents[i] = spawn_at(&b, (double)i);
  run_frames(&b, 3);
  run_late_frame(&b);
  for (uint64_t i = 0; i < CROWD; i++) {
    const muster_zone_message message = {
        .to = agents[i], .sequence = ((uint64_t)1 << 50) + i + 1, .size = sizeof word, .bytes = &word};
    assert_ok(muster_zone_deliver(b.world, &message));
  }
  for (int i = 0; i < 3; i++) run_frame_with(&b, 1000000000);
  for (uint64_t i = 0; i < CROWD; i++) cr_assert_eq(mind_of(&b, agents[i])->messages, 1, "agent %lu of %d", i, CROWD);
}

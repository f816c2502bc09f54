/* What is read of a world tells each number in its own place: all that it is read from has a number of its own. Rings
 * are read from their newest end, whatever they have held. */
#include "support/zone_pair.h"
#include "world/fixture.h"
#include "world/overruns_state.h"
#include "world/world_observers.h"
#include "world/world_zone.h"

#include <muster/overruns.h>

/* --------------------------------------------------------------------------------------------------------- overruns */

/* The longest of a type, of which each number is another one, from this on. */
static worst_overrun overrun_of(uint64_t n) {
  return (worst_overrun){
      .duration_ns = n, .agent = (uint32_t)n + 1, .generation = (uint16_t)(n + 2), .atom = (uint16_t)(n + 3)};
}

Test(reads, of_overruns_are_each_of_its_own_type_and_kind) {
  SCOPED_WORLD little = little_world_create(1, NULL);
  for (uint32_t i = 0; i < 3; i++) add_type(&little, type_running(nothing, 1000));
  for (uint32_t i = 0; i < 3; i++) {
    uint64_t n = 100 * (i + 1);
    little.world->overruns->table.types[i] = CHANGED(
        (type_overruns){0}, it.overruns = n + 1, it.stuck = n + 2, it.blocked = n + 3, it.worst = overrun_of(n + 4),
        it.worst_blocked = overrun_of(n + 8), it.agents_demoted = (uint32_t)n + 12,
        it.agents_quarantined = (uint32_t)n + 13, it.level_floor = (uint32_t)n + 14);
    ((agent_type *)world_type(little.world, i))->quarantined = i == 1;
  }
  for (uint32_t i = 0; i < 3; i++) {
    uint64_t n = 100 * (i + 1);
    muster_overrun_counts counts = muster_overrun_counts_default();
    cr_assert_eq(muster_overrun_counts_read(little.world, (muster_type){i + 1}, &counts), MUSTER_OK);
    cr_expect(counts.overruns == n + 1 && counts.stuck == n + 2 && counts.blocked == n + 3);
    cr_expect(counts.worst_ns == n + 4 && counts.worst_atom == n + 7);
    cr_expect(muster_agent_equal(counts.worst_agent, muster_agent_make((uint32_t)n + 5, (uint16_t)(n + 6))));
    cr_expect(counts.worst_blocked_ns == n + 8 && counts.worst_blocked_atom == n + 11);
    cr_expect(muster_agent_equal(counts.worst_blocked_agent, muster_agent_make((uint32_t)n + 9, (uint16_t)(n + 10))));
    cr_expect(counts.agents_demoted == n + 12 && counts.agents_quarantined == n + 13 && counts.level_floor == n + 14);
    cr_expect_eq(counts.quarantined, i == 1);
  }
}

Test(reads, of_the_last_overruns_begin_with_the_newest) {
  enum { KEPT = MUSTER_OVERRUNS_KEPT, GUARD = 5 };
  const uint32_t counts[] = {0, 1, KEPT - 1, KEPT, KEPT + 1, 3 * KEPT + 7}, rooms[] = {0, 1, 3, KEPT, KEPT + GUARD};
  SCOPED_WORLD little = little_world_create(1, NULL);
  overruns_state *state = little.world->overruns;
  for (uint32_t c = 0; c < COUNT_OF(counts); c++)
    for (uint32_t r = 0; r < COUNT_OF(rooms); r++) {
      muster_overrun read[KEPT + GUARD] = {0};
      for (state->kept_count = 0; state->kept_count < counts[c]; state->kept_count++)
        state->kept[state->kept_count % KEPT] = (muster_overrun){.duration_ns = state->kept_count + 1};
      uint32_t known = counts[c] < KEPT ? counts[c] : KEPT, expected = known < rooms[r] ? known : rooms[r];
      cr_assert_eq(muster_overruns_read(little.world, rooms[r] ? read : NULL, rooms[r]), expected);
      for (uint32_t i = 0; i < KEPT + GUARD; i++)
        cr_assert_eq(read[i].duration_ns, i < expected ? counts[c] - i : 0, "of %u, room for %u: %u", counts[c],
                     rooms[r], i);
    }
}

/* ------------------------------------------------------------------------------------------------------------ zones */

Test(reads, of_a_zone_tell_each_number_in_its_place) {
  SCOPED_WORLD little = zone_world(3);
  struct muster_world *world = little.world;
  struct world_zone *zone = world->zone;
  run_frame(&little);
  zone->counts =
      WITH(muster_zone_status, it.departed = 101, it.arrived = 102, it.messages_out = 103, it.messages_forwarded = 104,
           it.messages_dropped = 105, it.messages_in = 106, it.messages_twice = 107, it.messages_unordered = 108,
           it.observers_departed = 109, it.observers_arrived = 110);
  const uint32_t ghosts = world->agents.store.ghost_count, marks = zone->ids.marks.count;
  world->agents.store.ghost_count = 11;
  zone->ids.marks.count = 12;
  zone->ids.marks.dropped = 13;
  zone->queued = 14;
  zone->early_count = 15;
  zone->offset_ns = -16;
  store_relaxed_u32(&zone->ids.resting_count, 17);
  store_relaxed_u32(&zone->observer_ids.resting_count, 18);
  const muster_zone_status status = zone_status(&little);
  cr_expect(status.departed == 101 && status.arrived == 102 && status.messages_out == 103);
  cr_expect(status.messages_forwarded == 104 && status.messages_dropped == 105 && status.messages_in == 106);
  cr_expect(status.messages_twice == 107 && status.messages_unordered == 108);
  cr_expect(status.observers_departed == 109 && status.observers_arrived == 110);
  cr_expect(status.ghosts == 11 && status.marks == 12 && status.marks_dropped == 13);
  cr_expect(status.messages == 14 && status.messages_held == 15 && status.offset_ns == -16);
  cr_expect(status.ids_resting == 17 && status.observer_ids_resting == 18);
  cr_expect_eq(status.ids_free, identity_available(&world->agents.ids));
  cr_expect_eq(status.observer_ids_free, identity_available(&world->observers->ids));
  cr_expect_neq(status.ids_free, status.observer_ids_free);
  world->agents.store.ghost_count = ghosts;
  zone->ids.marks.count = marks;
  zone->queued = zone->early_count = 0;
  store_relaxed_u32(&zone->ids.resting_count, 0);
  store_relaxed_u32(&zone->observer_ids.resting_count, 0);
}

struct refused {
  char said[512];
};

static muster_atom_result bear_too_many(muster_update *update) {
  struct refused *refused = update->type_user;
  muster_agent_def def = muster_agent_def_default();
  def.type = update->type;
  cr_expect(muster_agent_is_null(muster_update_spawn(update, &def)));
  snprintf(refused->said, sizeof refused->said, "%s", muster_last_error());
  return MUSTER_ATOM_NEXT;
}

/* Who finds no id is told how many of them rest, be it a host or an update. */
Test(reads, of_refused_births_say_how_many_ids_rest) {
  static const muster_atom atom = {bear_too_many, MUSTER_ROLE_BEHAVIOUR, 1000};
  struct refused refused;
  for (uint32_t zone = 0; zone < 2; zone++) {
    muster_world_def world = zone ? zone_world_def(3) : muster_world_def_default();
    muster_type_def type = type_with(&atom, 1);
    type.user = &refused;
    type.period_ns = type.period_max_ns = FRAME_NS;
    world.clock.kind = MUSTER_CLOCK_VIRTUAL;
    world.limits.agents_max = 8;
    world.limits.observers_max = 2;
    little_world little = zone_world_of(1, &world, &type);
    muster_agent_def agent = muster_agent_def_default();
    muster_observer_def observer = muster_observer_def_default();
    agent.type = little.type;
    if (zone) store_relaxed_u32(&little.world->zone->ids.resting_count, 5);
    if (zone) store_relaxed_u32(&little.world->zone->observer_ids.resting_count, 1);
    memset(&refused, 0, sizeof refused);
    while (!muster_agent_is_null(muster_agent_spawn(little.world, &agent))) continue;
    const char *rest = zone ? "agents_max = 8, 5 rest: " : "each id of agents_max = 8 is an agent's";
    cr_expect(strstr(muster_last_error(), rest), "%s", muster_last_error());
    if (zone) cr_expect(strstr(muster_last_error(), "in epoch 1, "), "%s", muster_last_error());
    if (zone) cr_expect(strstr(muster_last_error(), "; 3 are agents'"), "%s", muster_last_error());
    while (muster_observer_generation(muster_observer_add(little.world, &observer))) continue;
    rest = zone ? "observers_max = 2, 1 rest: " : "observers_max = 2 observers exist";
    cr_expect(strstr(muster_last_error(), rest), "%s", muster_last_error());
    run_frames(&little, 3);
    rest = zone ? "; 5 rest until another epoch" : "; 0 rest until another epoch";
    cr_expect(strstr(refused.said, rest), "%s", refused.said);
    if (zone) store_relaxed_u32(&little.world->zone->ids.resting_count, 0);
    if (zone) store_relaxed_u32(&little.world->zone->observer_ids.resting_count, 0);
    little.provokes_idle = true;
    little_world_destroy(&little);
  }
}

Test(reads, of_a_zones_epoch_and_offset_are_what_was_set_last) {
  SCOPED_WORLD little = zone_world(3);
  muster_zone_def zone;
  const uint32_t epochs[] = {2, MUSTER_EPOCHS_MAX, 0, 1};
  const int64_t most = (int64_t)1 << 61, offsets[] = {most, -most, 0, 5, -7};
  for (uint32_t i = 0; i < 4; i++) {
    assert_ok(muster_zone_set_epoch(little.world, epochs[i]));
    cr_assert_eq(muster_zone_read(little.world, &zone), MUSTER_OK);
    cr_assert(zone.epoch == epochs[i] && zone.number == 3);
    cr_assert_eq(muster_zone_set_epoch(little.world, epochs[i]), MUSTER_E_ARGUMENT, "it is in force");
    cr_assert_eq(muster_zone_set_epoch(little.world, MUSTER_EPOCHS_MAX + 1), MUSTER_E_ARGUMENT);
    cr_assert_eq(muster_zone_read(little.world, &zone), MUSTER_OK);
    cr_assert_eq(zone.epoch, epochs[i]);
  }
  for (uint32_t i = 0; i < 5; i++) {
    assert_ok(muster_zone_set_offset(little.world, offsets[i]));
    cr_assert_eq(muster_zone_set_offset(little.world, most + 1), MUSTER_E_ARGUMENT);
    cr_assert_eq(muster_zone_set_offset(little.world, -most - 1), MUSTER_E_ARGUMENT);
    cr_assert_eq(muster_zone_set_offset(little.world, INT64_MIN), MUSTER_E_ARGUMENT);
    cr_assert_eq(zone_status(&little).offset_ns, offsets[i]);
  }
}

/* What is handed out: an empty message has no bytes, times are those of all zones, and what was handed out is gone. */
static uint32_t empty, wrong;
static uint64_t sent_ns;

static void look_at_message(const muster_zone_message *message, void *user) {
  const uint64_t *word = message->bytes;
  empty += message->size == 0;
  wrong += message->size ? !word || *word != *(uint64_t *)user : message->bytes != NULL;
  sent_ns = message->sent_ns;
}

Test(reads, of_messages_to_other_zones_hand_each_out_once) {
  SCOPED_WORLD a = zone_world(1), b = zone_world(2);
  SCOPED(zone_bytes_forget) zone_bytes bytes = {0};
  uint64_t word = 4711;
  muster_agent agent = spawn_at(&a, 1);
  run_both(&a, &b, 1);
  depart(&a, agent, 2, &bytes);
  for (uint32_t round = 0; round < 2; round++) {
    cr_assert_eq(muster_zone_set_offset(a.world, -1000000000 * (int64_t)(round + 1)), MUSTER_OK);
    assert_ok(muster_agent_send(a.world, agent, &word, sizeof word));
    cr_assert_eq(muster_agent_send(a.world, agent, NULL, 0), MUSTER_OK);
    run_frame(&a);
    empty = wrong = 0;
    cr_assert_eq(muster_zone_messages(a.world, look_at_message, &word), 2);
    cr_assert(empty == 1 && wrong == 0, "%u and %u", empty, wrong);
    uint64_t own_ns = sent_ns - 1000000000u * (round + 1); /* of this frame, or of the one before */
    cr_assert(own_ns == a.now_ns || own_ns + FRAME_NS == a.now_ns, "%lu at %lu", sent_ns, a.now_ns);
    cr_assert_eq(muster_zone_messages(a.world, look_at_message, &word), 0);
  }
}

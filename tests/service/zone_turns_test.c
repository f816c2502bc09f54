/* What a zone does between its frames: what it is told and tells, who comes, goes and waits, each the second time, too,
 * and with two neighbours. */
#include "support/border_town.h"
#include "support/log_lines.h"

#include <muster/view.h>

TestSuite(zone_turns, .timeout = 60);

static void begin(void) {
  town_begin(512);
}

static void begin_small(void) {
  town_begin(16);
}

static zone_waiting *put_waiting(uint32_t to, uint64_t epoch, uint64_t number) {
  SCOPED(parcel_free) struct parcel parcel = parcel_of(epoch, number, 0);
  parcel_add(&parcel, PARCEL_MESSAGE, "", 0);
  zone_waiting *waiting = calloc(1, sizeof *waiting + parcel.count);
  *waiting = (zone_waiting){.to = to, .number = number, .noted = true, .bytes = parcel.count};
  memcpy(waiting->parcel, parcel.bytes, parcel.count);
  TAILQ_INSERT_TAIL(&zone->waiting, waiting, link);
  return waiting;
}

static parcel_head head_of(const zone_waiting *waiting) {
  parcel_head head;
  memcpy(&head, waiting->parcel, sizeof head);
  return head;
}

/* As zone_ghosts.c writes them. */
typedef struct part_head {
  uint64_t epoch, round;
  uint32_t part, parts, whole, zero;
  uint64_t ghosts, observers; /* bytes */
} part_head;

/* A neighbour tells of agents of the west, and of observers, which stand beside each other. */
static void hear(uint32_t from, uint64_t epoch, uint64_t round, const muster_agent *agents, uint32_t count,
                 uint32_t observers) {
  SCOPED(zone_bytes_forget) zone_bytes bytes = {0}, ghosts = ghosts_of(there, agents, count);
  seen_observer seen = {.near_m = 5, .far_m = 9};
  const size_t observer_bytes = observers * sizeof seen;
  const part_head head = {epoch, round, 0, 1, 1, 0, ghosts.count, observer_bytes};
  zone_put(&head, sizeof head, &bytes);
  zone_put(ghosts.bytes, ghosts.count, &bytes);
  for (; observers > 0; observers--) {
    seen.id = 90 + observers, seen.x = observers;
    zone_put(&seen, sizeof seen, &bytes);
  }
  town_say((wire_head){.kind = WIRE_TOLD, .zone = from, .bytes = bytes.count}, bytes.bytes);
}

/* Agents of the west, from x on. */
static void spawn_there(muster_agent *agents, uint32_t count, double x) {
  for (uint32_t i = 0; i < count; i++) agents[i] = spawn_at(there, x + i);
  run_frame(there);
}

/* ------------------------------------------------------------------------------------------------------------- told */

Test(zone_turns, all_that_is_published_is_of_its_own_field, .init = begin, .fini = town_end) {
  const zone_published counted = {
      .departed = 11, .arrived = 12, .refused = 13, .sent = 14, .delivered = 15, .lost = 16, .frozen = true};
  zone_published told;
  zone->published = counted;
  zone->space = 21;
  zone->lease.spaces_used = 22;
  for (uint32_t i = 0; i < 3; i++) put_waiting(i ? TOWN_WEST : TOWN_EAST, 1, i + 1)->sent = i == 1;
  muster_agent ghost;
  spawn_there(&ghost, 1, 1);
  SCOPED(zone_bytes_forget) zone_bytes bytes = ghosts_of(there, &ghost, 1);
  show_ghosts(here, TOWN_WEST, &bytes, true);
  zone_publish(&town.world, &told);
  cr_expect(told.number == TOWN && told.epoch == TOWN_EPOCH && told.space == 21 && told.spaces_used == 22);
  cr_expect(told.ghosts == 1 && told.ids_resting == 0 && told.waiting == 3 && told.frozen);
  cr_expect(told.departed == 11 && told.arrived == 12 && told.refused == 13);
  cr_expect(told.sent == 14 && told.delivered == 15 && told.lost == 16);
  const hosted_world plain = {.zone = NULL};
  zone_publish(&plain, &told);
  cr_expect(told.number == 0 && told.departed == 0 && told.waiting == 0);
}

Test(zone_turns, what_it_is_told_counts_and_what_is_older_does_not, .init = begin, .fini = town_end) {
  const uint64_t leased_ns = zone->lease.leased_ns;
  const land_reading clock = {.boot_ns = 7, .land_ns = 8, .slew = 9};
  town_say((wire_head){.kind = WIRE_LEASE, .number = leased_ns + 5, .sequence = 40}, NULL);
  cr_expect(zone->lease.leased_ns == leased_ns + 5 && zone->revision == 40);
  town_say((wire_head){.kind = WIRE_LEASE, .number = leased_ns + 3, .sequence = 41}, NULL);
  cr_expect_eq(zone->lease.leased_ns, leased_ns + 5, "a lease that was asked for before");
  cr_expect_eq(zone->revision, 41);
  town_say((wire_head){.kind = WIRE_CLOCK, .bytes = sizeof clock}, &clock);
  cr_expect_eq(memcmp(&zone->lease.clock, &clock, sizeof clock), 0);
  town_say((wire_head){.kind = WIRE_SAFE, .number = 50, .sequence = 60}, NULL);
  cr_expect(zone->safe_frames == UINT64_MAX && zone->stored_snapshots == UINT64_MAX, "there is no stream");
  zone->safe_frames = zone->stored_snapshots = 0;
  town_say((wire_head){.kind = WIRE_SAFE, .number = 50, .sequence = 60}, NULL);
  cr_expect(zone->safe_frames == 50 && zone->stored_snapshots == 60);
  cr_expect(zone_is_safe(&town.world, 50) && !zone_is_safe(&town.world, 51));
  cr_expect(zone_is_stored(&town.world, 60) && !zone_is_stored(&town.world, 61));
  zone->space = 3;
  town_say((wire_head){.kind = WIRE_SPACE, .number = 9, .sequence = 70}, NULL);
  cr_expect(zone->space == 3 && zone->lease.spaces_used == 70, "it had not asked; the number counts all the same");
  static const uint64_t wrong[] = {0, MUSTER_EPOCHS_MAX + 1ull, 3};
  zone->asks_space = true;
  for (size_t i = 0; i < COUNT_OF(wrong); i++) {
    town_say((wire_head){.kind = WIRE_SPACE, .number = wrong[i], .sequence = 71 + i}, NULL);
    cr_expect(zone->space == 3 && zone->asks_space && zone->lease.spaces_used == 71 + i, "space %lu", wrong[i]);
  }
  town_say((wire_head){.kind = WIRE_SPACE, .number = 9, .sequence = 80}, NULL);
  cr_expect(zone->space == 9 && !zone->asks_space);
}

/* Until it has caught up, a next life needs what the restored state said. */
Test(zone_turns, what_is_stored_is_said_further_once_all_was_caught_up_with, .init = begin, .fini = town_end) {
  for (uint32_t i = 0; i < TOWN_LINKS; i++) {
    const zone_link *link = &zone->links[i];
    town_say((wire_head){.kind = WIRE_STORED, .zone = link->zone, .epoch = TOWN_EPOCH, .number = 6 + i}, NULL);
    cr_expect(place_equal(link->out.seen, town_place(6 + i)) && link->out.number == 6 + i);
    cr_expect_eq(link->out.epoch, TOWN_EPOCH);
    cr_expect(place_is_none(link->kept.seen), "link %u", i);
  }
  zone_note_all_came(zone);
  zone_take_in(&town.world);
  for (uint32_t i = 0; i < TOWN_LINKS; i++)
    cr_expect_eq(memcmp(&zone->links[i].kept, &zone->links[i].out, sizeof zone->links[i].out), 0, "link %u", i);
  town_say((wire_head){.kind = WIRE_STORED, .zone = TOWN_EAST, .epoch = TOWN_EPOCH, .number = 9}, NULL);
  cr_expect(place_equal(east->kept.seen, town_place(9)) && place_equal(west->kept.seen, town_place(6)));
}

Test(zone_turns, a_look_comes_early_while_no_frame_runs, .init = begin, .fini = town_end) {
  const uint64_t late_ns = clock_system() + 3600000000000u;
  hosted_world *world = &town.world;
  cr_expect_eq(zone_next_look_ns(world, late_ns), late_ns, "it runs");
  world->paused = true;
  cr_expect_lt(zone_next_look_ns(world, late_ns), late_ns, "it is paused");
  cr_expect_eq(zone_next_look_ns(world, 5), 5);
  world->steps_left = 1;
  cr_expect_eq(zone_next_look_ns(world, late_ns), late_ns, "it runs a step");
  world->paused = false, world->steps_left = 0;
  zone->stands = true;
  cr_expect_lt(zone_next_look_ns(world, late_ns), late_ns, "it is being moved");
  zone->stands = false;
  zone->lease.leased_ns = 0, zone->lease.ttl_ns = 0;
  cr_expect_lt(zone_next_look_ns(world, late_ns), late_ns, "it has no lease");
  cr_expect(!zone_is_safe(world, 0) && !zone_is_stored(world, 0), "nothing of it goes out");
}

Test(zone_turns, it_stands_still_without_a_lease_and_goes_on_with_one, .init = begin, .fini = town_end) {
  for (uint32_t round = 0; round < 2; round++) {
    zone->lease.leased_ns = 0, zone->lease.ttl_ns = 0;
    zone_take_in(&town.world);
    cr_expect(zone->published.frozen && !zone_may_run(&town.world));
    zone->lease.ttl_ns = UINT64_MAX / 4;
    town_say((wire_head){.kind = WIRE_LEASE, .number = clock_boot()}, NULL);
    cr_expect(!zone->published.frozen && zone_may_run(&town.world));
  }
}

/* What neighbours had told is told anew; how far it is ahead, its world knows. */
Test(zone_turns, a_zone_that_is_taken_over_goes_on_as_its_world_was, .init = begin, .fini = town_end) {
  town.world.sim_now_ns = FRAME_NS;
  cr_assert_eq(muster_zone_set_offset(here->world, 5000), MUSTER_OK);
  hear(TOWN_WEST, TOWN_EPOCH, 1, NULL, 0, 2);
  hear(TOWN_EAST, TOWN_EPOCH, 1, NULL, 0, 3);
  cr_assert(west->watcher_count == 2 && east->watcher_count == 3);
  zone->space = 1;
  cr_assert(wire_put(&town.end, (wire_head){.kind = WIRE_CAUGHT_UP}, NULL) && wire_flush(&town.end));
  cr_assert_eq(zone_take_over(&town.world), MUSTER_OK, "%s", muster_last_error());
  cr_expect_eq(zone->offset_ns, 5000);
  cr_expect(west->watcher_count == 0 && east->watcher_count == 0 && zone->runs);
  cr_expect_eq(town_told(WIRE_POSITIONS).head.bytes, 2 * TOWN_LINKS * sizeof(wire_position));
}

/* ---------------------------------------------------------------------------------------------------------- moves */

static void order(wire_move move, uint32_t turn) {
  town_say((wire_head){.kind = WIRE_MOVE, .zone = turn, .number = move}, NULL);
  zone_move_on(&town.world);
}

static void expect_told(wire_kind kind, uint32_t turn, uint64_t number, uint64_t sequence) {
  const wire_head told = town_told(kind).head;
  cr_assert_eq(told.kind, kind, "turn %u", turn);
  cr_expect_eq(told.zone, turn);
  cr_expect(told.number == number && told.sequence == sequence, "turn %u: %lu %lu", turn, told.number, told.sequence);
  cr_expect_eq(town_told(kind).head.kind, 0, "turn %u: it is told once", turn);
}

static void expect_stands(bool stands, wire_move move) {
  cr_expect(zone->stands == stands && zone->stopped == stands && zone->move == move && zone->awaits == 0);
  cr_expect_eq(zone_standstill(&town.world) != NULL, stands);
}

Test(zone_turns, each_order_of_a_move_is_answered_by_its_turn, .init = begin, .fini = town_end) {
  const uint64_t frame = held_last_frame(&town.world);
  for (uint32_t round = 0; round < 3; round++) {
    order(WIRE_MOVE_HELD, 10 * round + 1);
    expect_told(WIRE_HELD, 10 * round + 1, 0, 0);
    expect_stands(false, WIRE_MOVE_HELD);
    order(WIRE_MOVE_HELD, 10 * round + 2);
    expect_told(WIRE_HELD, 10 * round + 2, 0, 0);
    order(round == 1 ? WIRE_MOVE_STOPS_STORED : WIRE_MOVE_STOPS, 10 * round + 3);
    expect_told(WIRE_STOPPED, 10 * round + 3, frame, round == 1);
    expect_stands(true, round == 1 ? WIRE_MOVE_STOPS_STORED : WIRE_MOVE_STOPS);
    zone_move_on(&town.world);
    cr_expect_eq(town_told(WIRE_STOPPED).head.kind, 0);
    order(round == 2 ? WIRE_MOVE_HELD : WIRE_MOVE_NONE, 10 * round + 4);
    expect_stands(false, round == 2 ? WIRE_MOVE_HELD : WIRE_MOVE_NONE);
  }
  expect_told(WIRE_HELD, 24, 0, 0);
  town.world.paused = true;
  order(WIRE_MOVE_STOPS, 30);
  expect_told(WIRE_STOPPED, 30, frame, 1); /* a paused one has no next frame */
}

/* ---------------------------------------------------------------------------------------------------------- waits */

Test(zone_turns, parcels_that_are_not_stored_are_numbered_anew_for_each_neighbour, .init = begin, .fini = town_end) {
  static const uint32_t to[] = {TOWN_WEST, TOWN_EAST, TOWN_WEST, TOWN_WEST, TOWN_EAST};
  static const uint64_t before[] = {4, 7, 5, 6, 8}, after[] = {1, 1, 2, 3, 2};
  zone_waiting *all[5];
  for (uint32_t i = 0; i < 5; i++) all[i] = put_waiting(to[i], 1, before[i]), all[i]->sent = i < 3;
  west->numbered = 6, east->numbered = 8;
  for (uint32_t life = 0; life < 2; life++) {
    zone->lease.epoch = TOWN_EPOCH + life;
    zone_number_again(zone);
    cr_expect(west->numbered == 3 && east->numbered == 2);
    for (uint32_t i = 0; i < 5; i++) {
      const parcel_head head = head_of(all[i]);
      cr_expect(all[i]->number == after[i] && !all[i]->sent && head.number == after[i]);
      cr_expect_eq(head.epoch, TOWN_EPOCH + life);
      cr_expect(place_equal(head.birth, (zone_place){1, before[i]}));
      all[i]->sent = true;
    }
  }
  /* An earlier life had put the second one, under the number that the first one has now. */
  SCOPED(parcel_free) struct parcel put = parcel_of(1, before[2], 0);
  parcel_renumber(put.bytes, TOWN_EPOCH, 1);
  cr_assert(zone_take_sent(&town.world, west, town_place(1), put.bytes, put.count));
  cr_expect(TAILQ_FIRST(&zone->waiting) == all[0] && TAILQ_NEXT(all[1], link) == all[3], "that one waits no more");
  /* What is stored of this epoch says nothing of another's parcels. */
  parcel_renumber(all[0]->parcel, TOWN_EPOCH - 1, 1);
  town_say((wire_head){.kind = WIRE_STORED, .zone = TOWN_WEST, .epoch = TOWN_EPOCH + 1, .number = 9}, NULL);
  cr_expect(TAILQ_FIRST(&zone->waiting) == all[0] && TAILQ_NEXT(all[0], link) == all[1]);
  cr_expect(TAILQ_NEXT(all[1], link) == all[4] && !TAILQ_NEXT(all[4], link));
}

static void expect_sent(uint32_t to, uint64_t number) {
  const wire_head put = town_told(WIRE_PUBLISH).head;
  cr_expect(put.kind == WIRE_PUBLISH && put.zone == to && put.number == number, "%lu to %u", put.number, put.zone);
}

Test(zone_turns, nothing_is_sent_before_what_was_made_before_it, .init = begin, .fini = town_end) {
  static const uint64_t frames[] = {5, 30, 7};
  for (uint32_t i = 0; i < 3; i++)
    put_waiting(i == 2 ? TOWN_EAST : TOWN_WEST, TOWN_EPOCH, i + 1)->until.frame = frames[i];
  zone->safe_frames = 10;
  zone_send_out(&town.world);
  expect_sent(TOWN_WEST, 1);
  cr_expect_eq(town_told(WIRE_PUBLISH).head.kind, 0, "the second one is not safe yet");
  zone->safe_frames = 30;
  zone_send_out(&town.world);
  expect_sent(TOWN_WEST, 2);
  expect_sent(TOWN_EAST, 3);
  zone_send_out(&town.world);
  cr_expect_eq(town_told(WIRE_PUBLISH).head.kind, 0, "each is sent once");
}

/* --------------------------------------------------------------------------------------------------------- ghosts */

/* A frame in which a round ends; what a neighbour is told in it. */
static part_head round_of(uint32_t neighbour) {
  part_head head;
  wire_message told;
  do told = town_told(WIRE_TELL);
  while (told.head.kind && told.head.zone != neighbour);
  cr_assert_eq(told.head.kind, WIRE_TELL, "zone %u is told nothing", neighbour);
  memcpy(&head, told.bytes, sizeof head);
  return head;
}

/* The east is told of three agents and the west of one, of all of them each fifth round. */
Test(zone_turns, each_neighbour_is_told_of_what_it_sees_and_of_all_of_it_in_its_turn, .init = begin, .fini = town_end) {
  uint64_t whole_bytes[TOWN_LINKS] = {0};
  spawn_in(here, (muster_position){5, 50, 0}, 0);
  spawn_in(here, (muster_position){50, 50, 0}, 0);
  for (uint32_t i = 0; i < 3; i++) spawn_in(here, (muster_position){95, 50 + i, 0}, 0);
  run_frame(here);
  zone->round_ns = 1; /* a round is a frame */
  for (uint64_t round = 0; round < 12; round++) {
    cr_assert_eq(zone->round, round);
    zone_send_out(&town.world);
    for (uint32_t link = 0; link < TOWN_LINKS; link++) {
      const part_head head = round_of(zone->links[link].zone);
      const bool whole = round == 0 || (round + link) % 5 == 0;
      cr_expect(head.epoch == TOWN_EPOCH && head.round == round && head.part == 0 && head.parts == 1);
      cr_expect_eq(head.whole, whole, "round %lu, link %u", round, link);
      cr_expect_eq(head.observers, 0);
      if (round == 0) whole_bytes[link] = head.ghosts;
      if (whole) cr_expect_eq(head.ghosts, whole_bytes[link], "round %lu, link %u", round, link);
      if (!whole) cr_expect_lt(head.ghosts, whole_bytes[link], "nobody has changed");
    }
  }
  cr_expect_gt(whole_bytes[1], whole_bytes[0], "three are seen there");
}

static void expect_seen(uint32_t ghosts, uint32_t of_west, uint32_t of_east, const char *words) {
  const uint32_t seen = zone_status(here).ghosts;
  cr_expect_eq(seen, ghosts, "%s: %u ghosts", words, seen);
  cr_expect_eq(west->watcher_count, of_west, "%s: %u observers of the west", words, west->watcher_count);
  cr_expect_eq(east->watcher_count, of_east, "%s: %u observers of the east", words, east->watcher_count);
}

Test(zone_turns, what_a_neighbour_tells_no_more_is_gone_after_ten_rounds, .init = begin, .fini = town_end) {
  muster_agent agents[3];
  const uint64_t begun_ns = 1000 * FRAME_NS, rounds_ns = 10 * zone->round_ns;
  spawn_there(agents, 3, 0);
  for (uint32_t life = 0; life < 2; life++) {
    town.world.sim_now_ns = begun_ns * (life + 1);
    hear(TOWN_WEST, TOWN_EPOCH, life + 1, agents, 2, 3);
    expect_seen(2, 3, 0, "the west was heard");
    town.world.sim_now_ns += 5;
    hear(TOWN_EAST, TOWN_EPOCH, life + 1, &agents[2], 1, 2);
    expect_seen(3, 3, 2, "both were heard");
    town.world.sim_now_ns = begun_ns * (life + 1) + rounds_ns - 1;
    zone_take_in(&town.world);
    expect_seen(3, 3, 2, "nothing is over");
    town.world.sim_now_ns++;
    zone_take_in(&town.world);
    expect_seen(1, 0, 2, "the west is silent");
    town.world.sim_now_ns += 5;
    zone_take_in(&town.world);
    expect_seen(0, 0, 0, "both are silent");
  }
  hear(TOWN_WEST, TOWN_EPOCH - 1, 99, agents, 2, 3);
  expect_seen(0, 0, 0, "an owner that has lost its zone");
  west->in.epoch = TOWN_EPOCH + 2; /* a later owner has sent already, and told nothing yet */
  hear(TOWN_WEST, TOWN_EPOCH + 1, 1, agents, 2, 3);
  expect_seen(0, 0, 0, "another one of these");
  hear(TOWN_WEST, TOWN_EPOCH + 2, 1, agents, 2, 3);
  expect_seen(2, 3, 0, "the owner");
  hear(TOWN_WEST, TOWN_EPOCH + 2, 1, agents, 1, 1);
  expect_seen(1, 1, 0, "the same round once more");
  hear(TOWN_WEST, TOWN_EPOCH + 2, 0, agents, 2, 3);
  expect_seen(1, 1, 0, "a round before it");
}

Test(zone_turns, ghosts_without_room_take_no_observer_its_place, .init = begin_small, .fini = town_end) {
  enum { SEEN = 30 };
  muster_agent agents[SEEN];
  spawn_there(agents, SEEN, 0);
  town.world.sim_now_ns = FRAME_NS;
  hear(TOWN_WEST, TOWN_EPOCH, 1, agents, SEEN, 3);
  const uint32_t ghosts = zone_status(here).ghosts;
  cr_expect(ghosts > 0 && ghosts <= 16, "%u ghosts", ghosts);
  cr_expect_eq(west->watcher_count, 3);
  cr_expect_gt(west->telling.taken_ns, 0);
}

/* ---------------------------------------------------------------------------------------------------------- herds */

static uint32_t count_herds(void) {
  uint32_t count = 0;
  muster_herd herd = {0};
  while (!muster_herd_is_null(herd = muster_herd_next(here->world, herd))) count++;
  return count;
}

/* Three came with one parcel, and the one in the middle went on: the next life, which is given the parcel again, takes
 * the other two. */
Test(zone_turns, of_herds_of_one_parcel_those_come_again_that_did_not_go_on, .init = begin, .fini = town_end) {
  SCOPED(parcel_free) struct parcel parcel = parcel_of(TOWN_EPOCH, 1, 0);
  for (uint32_t i = 0; i < 3; i++) parcel_add_herd(&parcel, 50 + i, 20);
  take_parcel(west, 1, &parcel);
  cr_assert(count_herds() == 3 && zone->herd_count == 3 && zone->published.arrived == 3);
  herd_head left;
  memset(&left, 0, sizeof left);
  left.own = zone->herds[1].own;
  left.origin = zone->herds[1].origin;
  for (uint32_t i = 0; i < 3; i++) {
    cr_expect(zone->herds[i].origin.zone == TOWN_WEST && place_equal(zone->herds[i].origin.place, town_place(1)));
    for (uint32_t k = 0; k < i; k++) cr_expect_neq(zone->herds[i].origin.item, zone->herds[k].origin.item);
  }
  observe(&town.own, 51, 50); /* so that it is unfolded, and can not depart */
  run_frames(here, 5);
  cr_assert_gt(herd_info_of(&town.own, (muster_herd){left.own}).leaves, 0);
  zone_herd_left(&town.world, east, &left, sizeof left);
  run_frame(here);
  cr_expect_eq(count_herds(), 2, "it is gone, unfolded as it was");
  cr_expect(zone->herd_count == 2 && zone->gone_count == 1);
  for (uint32_t i = 0; i < zone->herd_count; i++) cr_expect_neq(zone->herds[i].own, left.own);
  free(zone->herds);
  zone->herds = NULL, zone->herd_count = zone->herd_room = 0;
  west->in = (zone_pair){0};
  take_parcel(west, 1, &parcel);
  cr_expect(zone->herd_count == 2 && count_herds() == 4, "%u herds", zone->herd_count);
}

/* ------------------------------------------------------------------------------------------------------ observers */

Test(zone_turns, an_observer_that_leaves_is_held_no_more_and_one_that_stays_is, .init = begin, .fini = town_end) {
  muster_observer goes = observe(&town.own, 150, 50), stays = observe(&town.own, 50, 50);
  uint32_t at = 0;
  run_frame(here);
  cr_assert_eq(holds_put(&town.world.holds, goes, (muster_position){150, 50, 0}), MUSTER_OK);
  cr_assert_eq(holds_put(&town.world.holds, stays, (muster_position){50, 50, 0}), MUSTER_OK);
  zone_send_out(&town.world);
  cr_expect(!holds_has(&town.world.holds, goes) && holds_has(&town.world.holds, stays));
  cr_assert_eq(muster_observer_zone(here->world, goes, &at), MUSTER_OK);
  cr_expect_eq(at, TOWN_EAST);
  expect_sent(TOWN_EAST, 1);
}

/* What a neighbour has told of is its own: it is not told back, and does not leave. */
Test(zone_turns, observers_of_neighbours_are_no_observers_of_this_zone, .init = begin, .fini = town_end) {
  zone->round_ns = 1;
  town.world.sim_now_ns = FRAME_NS;
  hear(TOWN_WEST, TOWN_EPOCH, 1, NULL, 0, 3); /* at 1, 2 and 3 m: seen in the west */
  run_frame(here);
  zone_send_out(&town.world);
  cr_expect_eq(round_of(TOWN_WEST).observers, 0);
  observe(&town.own, 2, 50);
  observe(&town.own, 50, 50);
  run_frame(here);
  zone_send_out(&town.world);
  cr_expect_eq(round_of(TOWN_WEST).observers, 2 * sizeof(seen_observer), "they see far enough");
  hear(TOWN_WEST, TOWN_EPOCH, 2, NULL, 0, 2);
  expect_seen(0, 2, 0, "one less");
}

Test(zone_turns, an_observer_of_a_neighbour_moves_whichever_way_it_moves, .init = begin, .fini = town_end) {
  seen_observer seen = {.id = 5, .x = 1, .near_m = 5, .far_m = 9};
  double *const ways[] = {&seen.x, &seen.y, &seen.z};
  muster_observer_def def = muster_observer_def_default();
  for (uint32_t i = 0; i < 6; i++) {
    *ways[i % 3] += 2;
    zone_take_observers(&town.world, west, &seen, sizeof seen);
    run_frame(here);
    cr_assert_eq(west->watcher_count, 1);
    cr_assert_eq(muster_observer_read(here->world, west->watchers[0].own, &def), MUSTER_OK);
    cr_expect(def.position.x == seen.x && def.position.y == seen.y && def.position.z == seen.z, "step %u", i);
  }
}

/* Some of them are looked at in each frame. */
Test(zone_turns, of_many_herds_the_last_one_leaves_too, .init = begin, .fini = town_end) {
  enum { HERDS = 150 };
  for (uint32_t i = 0; i < HERDS; i++) add_herd(&town.own, i == HERDS - 1 ? 150 : 50, 50, 20);
  run_frame(here);
  cr_assert_eq(count_herds(), HERDS);
  for (uint32_t frame = 0; frame < 4; frame++) zone_send_out(&town.world);
  cr_expect(count_herds() == HERDS - 1 && zone->published.departed == 1);
}

/* What no other process could read stays, and nothing is sent of it. */
Test(zone_turns, who_cannot_leave_is_not_counted_as_gone, .init = begin, .fini = town_end) {
  muster_agent_def def =
      WITH(muster_agent_def, it.type = here->type, it.position = (muster_position){150, 50, 0}, it.user = &town);
  muster_agent stays = muster_agent_spawn(here->world, &def);
  run_frame(here);
  zone_send_out(&town.world);
  cr_expect(muster_agent_exists(here->world, stays) && zone->published.departed == 0);
  cr_expect(TAILQ_EMPTY(&zone->waiting));
}

/* Ids of agents and observers may be alike: whoever left as the one can come as the other. */
Test(zone_turns, who_left_does_not_come_again_as_what_it_was, .init = begin, .fini = town_end) {
  SCOPED(zone_bytes_forget) zone_bytes observer_bytes = {0}, agent_bytes = {0};
  muster_observer observer = observe(&town.other, 1, 1);
  muster_agent agent = spawn_at(there, 1);
  run_frame(there);
  cr_assert_eq(muster_observer_depart(there->world, observer, TOWN, zone_put, &observer_bytes), MUSTER_OK);
  depart(there, agent, TOWN, &agent_bytes);
  for (uint32_t other = 0; other < 2; other++) {
    /* Behind a same id of the other kind, nothing keeps it away; of its own kind, it does, also with a lower hop. */
    zone_gone_free(zone);
    zone_gone_add(zone, (zone_gone){observer.value, 9, other ? PARCEL_AGENT : PARCEL_OBSERVER});
    zone_gone_add(zone, (zone_gone){agent.value, 9, other ? PARCEL_OBSERVER : PARCEL_AGENT});
    for (uint64_t i = 1; i < 9; i++) zone_gone_add(zone, (zone_gone){i << 50 | 3, 1, PARCEL_AGENT});
    zone_gone_sort(zone);
    SCOPED(parcel_free) struct parcel parcel = parcel_of(TOWN_EPOCH, other + 1, 0);
    parcel_add(&parcel, PARCEL_OBSERVER, observer_bytes.bytes, observer_bytes.count);
    parcel_add(&parcel, PARCEL_AGENT, agent_bytes.bytes, agent_bytes.count);
    take_parcel(west, other + 1, &parcel);
    uint32_t at = 0;
    bool is_here = muster_observer_zone(here->world, observer, &at) == MUSTER_OK && at == TOWN;
    cr_expect_eq(is_here, other, "the observer");
    cr_expect_eq(muster_agent_exists(here->world, agent), other, "the agent");
    cr_expect_eq(zone->published.arrived, other);
    cr_expect_eq(zone->published.refused, 1);
  }
}

/* ------------------------------------------------------------------------------------------------------------ room */

/* An agent of the west, which departs. */
static muster_agent departing(zone_bytes *bytes) {
  muster_agent comes;
  spawn_there(&comes, 1, 1);
  depart(there, comes, TOWN, bytes);
  return comes;
}

/* No id is left where ghosts have them, also none of those that are set aside for births. */
Test(zone_turns, what_found_no_room_is_taken_when_there_is_some_each_time, .init = begin_small, .fini = town_end) {
  enum { ROOM = 16, MANY = 40 };
  muster_agent own[ROOM], ghosts[MANY];
  uint32_t count = 0;
  muster_agent_def one = WITH(muster_agent_def, it.type = here->type);
  SCOPED(zone_bytes_forget) zone_bytes bytes = {0};
  while (count < ROOM && !muster_agent_is_null(own[count] = muster_agent_spawn(here->world, &one))) count++;
  run_frame(here);
  spawn_there(ghosts, MANY, 0);
  town.world.sim_now_ns = FRAME_NS;
  hear(TOWN_WEST, TOWN_EPOCH, 1, ghosts, MANY, 0);
  for (uint32_t life = 0; life < 3; life++) {
    muster_agent comes = departing(&bytes);
    SCOPED(parcel_free) struct parcel parcel = parcel_of(TOWN_EPOCH, life + 1, 0);
    parcel_add(&parcel, PARCEL_AGENT, bytes.bytes, bytes.count);
    take_parcel(west, life + 1, &parcel);
    cr_expect(west->full && !STAILQ_EMPTY(&west->held) && place_equal(west->given, town_place(life + 1)));
    muster_agent_remove(here->world, own[life]);
    run_frame(here);
    zone_take_held(&town.world);
    cr_expect(!west->full && STAILQ_EMPTY(&west->held), "time %u", life);
    cr_expect(muster_agent_exists(here->world, comes));
  }
}

static void give(zone_link *link, uint64_t number, uint64_t sim_now_ns, muster_agent to, const zone_bytes *agent) {
  const parcel_letter letter = {.from = (uint64_t)TOWN_EAST << 50 | 1ull << 36 | 7, .to = to.value, .sequence = 1};
  SCOPED(parcel_free) struct parcel parcel = parcel_of(TOWN_EPOCH, number, sim_now_ns);
  parcel_add(&parcel, PARCEL_MESSAGE, &letter, sizeof letter);
  if (agent) parcel_add(&parcel, PARCEL_AGENT, agent->bytes, agent->count);
  take_parcel(link, number, &parcel);
}

/* Who comes behind a message by the same neighbour was not there when it was sent: nobody waits for that. */
Test(zone_turns, it_has_caught_up_when_all_was_taken_that_had_been_given, .init = begin, .fini = town_end) {
  const muster_agent nobody = {(uint64_t)TOWN_WEST << 50 | 1ull << 36 | 9};
  SCOPED(zone_bytes_forget) zone_bytes bytes = {0};
  muster_agent comes = departing(&bytes);
  zone->lease.clock = (land_reading){.boot_ns = clock_boot(), .land_ns = 100000000000000};
  town.world.sim_now_ns = 100000000000;
  give(west, 1, 0, comes, &bytes);
  give(east, 1, 101000000000, nobody, NULL); /* which is early */
  give(east, 2, 0, nobody, NULL);
  zone_take_in(&town.world);
  cr_expect(!STAILQ_EMPTY(&west->held) && !zone->caught_up && zone->published.lost == 0, "others may come");
  zone_note_all_came(zone);
  zone_take_in(&town.world);
  cr_expect(STAILQ_EMPTY(&west->held) && zone->published.lost == 1);
  cr_expect(muster_agent_exists(here->world, comes));
  cr_expect(!STAILQ_EMPTY(&east->held) && !zone->caught_up);
  town.world.sim_now_ns = 102000000000;
  zone_take_in(&town.world);
  cr_expect(STAILQ_EMPTY(&east->held) && zone->caught_up && zone->published.lost == 3);
}

/* A parcel of a sender that is ahead of land time, in seconds; whether it waits. */
static bool waits_at(double own_s, double land_s, double sent_s, uint64_t number) {
  town.world.sim_now_ns = (uint64_t)(own_s * 1e9);
  zone->lease.clock = (land_reading){.boot_ns = clock_boot(), .land_ns = (uint64_t)(land_s * 1e9)};
  SCOPED(parcel_free) struct parcel parcel = parcel_of(TOWN_EPOCH, number, (uint64_t)(sent_s * 1e9));
  take_parcel(west, number, &parcel);
  bool waits = !STAILQ_EMPTY(&west->held);
  while (!STAILQ_EMPTY(&west->held)) {
    zone_held *held = STAILQ_FIRST(&west->held);
    STAILQ_REMOVE_HEAD(&west->held, link);
    free(held);
  }
  west->in.number = number;
  return waits;
}

Test(zone_turns, a_sender_that_is_ahead_is_waited_for_unless_it_is_ahead_of_the_land, .init = begin, .fini = town_end) {
  cr_expect(!waits_at(100, 100000, 99, 1), "it is behind");
  cr_expect(waits_at(100, 100000, 101, 2), "this zone is behind");
  cr_expect(waits_at(100, 100000, 100900, 3), "so is it when that is ahead of the land as well");
  cr_expect(!waits_at(100000, 100000, 200000, 4), "for that one nobody waits");
  cr_expect(waits_at(100000, 100000, 100000.5, 5), "it is there soon");
}

/* ------------------------------------------------------------------------------------------------------------ map */

Test(zone_turns, each_map_is_drawn_anew_and_a_cell_counts_as_far_as_it_can, .init = begin, .fini = town_end) {
  zone_sheet sheet;
  zone->published.arrived = 5; /* of this process, and not of its world */
  for (uint32_t i = 0; i < 7; i++) spawn_in(here, (muster_position){1, 99, 0}, 0);
  for (uint32_t i = 0; i < 3; i++) spawn_in(here, (muster_position){99, 1, 0}, 0);
  run_frame(here);
  for (uint32_t drawing = 0; drawing < 3; drawing++) {
    town_say((wire_head){.kind = WIRE_DRAW}, NULL);
    if (drawing == 1) zone->map.cells[40].count = 70000;
    town_say((wire_head){.kind = WIRE_DRAW}, NULL); /* one is being drawn */
    zone_send_out(&town.world);
    wire_message told = town_told(WIRE_MAP);
    cr_assert_eq(told.head.bytes, sizeof sheet, "drawing %u", drawing);
    memcpy(&sheet, told.bytes, sizeof sheet);
    cr_expect(sheet.agents == 10 && sheet.arrived == 0);
    for (uint32_t i = 0; i < SHEET_CELLS; i++) {
      uint32_t wanted = i == 31 * SHEET_SIDE ? 7 : i == SHEET_SIDE - 1 ? 3 : i == 40 && drawing == 1 ? UINT16_MAX : 0;
      cr_expect_eq(sheet.counts[i], wanted, "drawing %u, cell %u: %u", drawing, i, sheet.counts[i]);
    }
    cr_expect(!zone->map.draws);
  }
}

/* ---------------------------------------------------------------------------------------------------------- names */

/* Whether the look that is told now says that each space may be named. */
static bool tells_many(void) {
  zone_tell_named(&town.world);
  const wire_head told = town_told(WIRE_NAMED).head;
  cr_assert_eq(told.kind, WIRE_NAMED);
  cr_expect_eq(told.number, 77, "the revision that it was told last");
  return told.sequence;
}

/* Of one neighbour, epoch and up to one number. */
Test(zone_turns, what_a_neighbour_has_stored_waits_no_more_and_all_else_does, .init = begin, .fini = town_end) {
  static const struct {
    uint32_t to;
    uint64_t epoch, number;
    bool waits;
  } parcels[] = {{TOWN_WEST, TOWN_EPOCH, 4, false},    {TOWN_WEST, TOWN_EPOCH, 5, false},
                 {TOWN_WEST, TOWN_EPOCH, 6, true},     {TOWN_EAST, TOWN_EPOCH, 4, true},
                 {TOWN_WEST, TOWN_EPOCH - 1, 4, true}, {TOWN_WEST, TOWN_EPOCH + 1, 5, true}};
  for (size_t i = 0; i < COUNT_OF(parcels); i++) put_waiting(parcels[i].to, parcels[i].epoch, parcels[i].number);
  town_say((wire_head){.kind = WIRE_STORED, .zone = TOWN_WEST, .epoch = TOWN_EPOCH, .number = 5}, NULL);
  const zone_waiting *left = TAILQ_FIRST(&zone->waiting);
  for (size_t i = 0; i < COUNT_OF(parcels); i++) {
    if (!parcels[i].waits) continue;
    cr_assert_not_null(left, "parcel %zu", i);
    const parcel_head head = head_of(left);
    cr_expect(left->to == parcels[i].to && head.epoch == parcels[i].epoch && head.number == parcels[i].number);
    left = TAILQ_NEXT(left, link);
  }
  cr_expect_null(left);
}

/* Of all that is well, also of what is of no neighbour, nothing is complained of. */
Test(zone_turns, what_cannot_be_read_is_told_and_what_can_is_not, .init = begin, .fini = town_end) {
  static const wire_kind kinds[] = {WIRE_STORED, WIRE_ALL_CAME, WIRE_DRAW, WIRE_SAFE, WIRE_OUTGOING, WIRE_INCOMING};
  static const uint32_t zones[] = {TOWN_WEST, TOWN_EAST, 4711};
  errors_begin();
  for (size_t i = 0; i < COUNT_OF(kinds); i++)
    for (size_t k = 0; k < COUNT_OF(zones); k++)
      town_say((wire_head){.kind = (uint32_t)kinds[i], .zone = zones[k], .epoch = TOWN_EPOCH, .number = 3}, NULL);
  const char *told = errors_end();
  /* A parcel without bytes is none, whichever way it goes, and is told for both neighbours. */
  cr_expect_eq(count_in(told, " cannot be read, and is passed over"), 4, "%s", told);
}

/* Of two that wait each is looked at each time. */
Test(zone_turns, each_parcel_that_waits_for_long_counts, .init = begin, .fini = town_end) {
  zone->caught_up = true;
  zone->revision = 77, zone->lease.revision = 3;
  zone_waiting *first = put_waiting(TOWN_WEST, TOWN_EPOCH, 1);
  first->looks = ZONE_LOOKS;
  zone_waiting *second = put_waiting(TOWN_EAST, TOWN_EPOCH, 1);
  for (uint32_t look = 0; look < ZONE_LOOKS - 1; look++) cr_expect(tells_many());
  TAILQ_REMOVE(&zone->waiting, first, link);
  free(first);
  for (uint32_t look = 0; look < 2 * ZONE_LOOKS; look++) {
    cr_expect(tells_many(), "the second one waits for long, too");
    cr_expect(zone->looks_named[(zone->look_count - 1) % ZONE_LOOKS].many, "look %u", look);
  }
  TAILQ_REMOVE(&zone->waiting, second, link);
  free(second);
  for (uint32_t look = 0; look < ZONE_LOOKS; look++) cr_expect_eq(tells_many(), look < ZONE_LOOKS - 1, "look %u", look);
}

/* Ids of observers are used up as those of agents are. */
Test(zone_turns, another_space_is_asked_for_when_ids_of_observers_rest, .init = begin_small, .fini = town_end) {
  muster_world_def def = zone_world_def(TOWN);
  def.limits.observers_max = 1;
  SCOPED(herd_world_destroy) herd_world small = herd_world_create(1, &def, NULL);
  town.world.world = small.little.world;
  zone->space = 1;
  for (uint32_t round = 0; round < 200000 && !zone->asks_space; round++) {
    muster_observer observer = observe(&small, 1, 1);
    run_frame(&small.little);
    muster_observer_remove(small.little.world, observer);
    run_frame(&small.little);
    zone_look_at_ids(&town.world);
  }
  const wire_head told = town_told(WIRE_SPACE).head;
  cr_expect(told.kind == WIRE_SPACE && told.number == 1 && told.sequence == 1);
}

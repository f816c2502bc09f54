/* What a zone does between its frames: what it is told and tells, who comes, goes and waits, each the second time, too,
 * and with two neighbours. */
#include "support/border_town.h"
#include "support/log_lines.h"

#include <muster/view.h>

TestSuite(zone_turns, .timeout = 60);

static border_town town;

static void begin(void) {
  town_begin(&town, 512);
}

static void end(void) {
  town_end(&town);
}

static muster_zone_status status_now(void) {
  return zone_status(&town.own.little);
}

static zone_waiting *put_waiting(uint32_t to, uint64_t epoch, uint64_t number) {
  struct zone *zone = town.world.zone;
  struct parcel parcel = {0};
  parcel_begin(&parcel, epoch, number, 1, 0);
  parcel_open(&parcel, PARCEL_MESSAGE);
  parcel_close(&parcel);
  zone_waiting *waiting = calloc(1, sizeof *waiting + parcel.count);
  *waiting = (zone_waiting){.to = to, .number = number, .noted = true, .bytes = parcel.count};
  memcpy(waiting->parcel, parcel.bytes, parcel.count);
  TAILQ_INSERT_TAIL(&zone->waiting, waiting, link);
  parcel_free(&parcel);
  return waiting;
}

static parcel_head head_of(const zone_waiting *waiting) {
  parcel_head head;
  memcpy(&head, waiting->parcel, sizeof head);
  return head;
}

/* ------------------------------------------------------------------------------------------------------------- told */

Test(zone_turns, all_that_is_published_is_of_its_own_field, .init = begin, .fini = end) {
  struct zone *zone = town.world.zone;
  const zone_published counted = {
      .departed = 11, .arrived = 12, .refused = 13, .sent = 14, .delivered = 15, .lost = 16, .frozen = true};
  zone_published told;
  zone->published = counted;
  zone->space = 21;
  zone->lease.spaces_used = 22;
  for (uint32_t i = 0; i < 3; i++) put_waiting(i ? TOWN_WEST : TOWN_EAST, 1, i + 1)->sent = i == 1;
  muster_agent ghost = spawn_at(&town.other.little, 1);
  zone_bytes bytes = {0};
  run_frame(&town.other.little);
  cr_assert_eq(muster_ghosts_pack(town.other.little.world, &ghost, 1, zone_put, &bytes), MUSTER_OK);
  cr_assert_eq(muster_ghosts_set(town.own.little.world, TOWN_WEST, bytes.bytes, bytes.count, true), MUSTER_OK);
  zone_publish(&town.world, &told);
  cr_expect(told.number == TOWN && told.epoch == TOWN_EPOCH && told.space == 21 && told.spaces_used == 22);
  cr_expect(told.ghosts == 1 && told.ids_resting == 0 && told.waiting == 3 && told.frozen);
  cr_expect(told.departed == 11 && told.arrived == 12 && told.refused == 13);
  cr_expect(told.sent == 14 && told.delivered == 15 && told.lost == 16);
  const hosted_world plain = {.zone = NULL};
  zone_publish(&plain, &told);
  cr_expect(told.number == 0 && told.departed == 0 && told.waiting == 0);
  free(bytes.bytes);
}

Test(zone_turns, what_it_is_told_counts_and_what_is_older_does_not, .init = begin, .fini = end) {
  struct zone *zone = town.world.zone;
  const uint64_t leased_ns = zone->lease.leased_ns;
  const land_reading clock = {.boot_ns = 7, .land_ns = 8, .slew = 9};
  town_say(&town, (wire_head){.kind = WIRE_LEASE, .number = leased_ns + 5, .sequence = 40}, NULL);
  cr_expect(zone->lease.leased_ns == leased_ns + 5 && zone->revision == 40);
  town_say(&town, (wire_head){.kind = WIRE_LEASE, .number = leased_ns + 3, .sequence = 41}, NULL);
  cr_expect_eq(zone->lease.leased_ns, leased_ns + 5, "a lease that was asked for before");
  cr_expect_eq(zone->revision, 41);
  town_say(&town, (wire_head){.kind = WIRE_CLOCK, .bytes = sizeof clock}, &clock);
  cr_expect_eq(memcmp(&zone->lease.clock, &clock, sizeof clock), 0);
  town_say(&town, (wire_head){.kind = WIRE_SAFE, .number = 50, .sequence = 60}, NULL);
  cr_expect(zone->safe_frames == UINT64_MAX && zone->stored_snapshots == UINT64_MAX, "there is no stream");
  zone->safe_frames = zone->stored_snapshots = 0;
  town_say(&town, (wire_head){.kind = WIRE_SAFE, .number = 50, .sequence = 60}, NULL);
  cr_expect(zone->safe_frames == 50 && zone->stored_snapshots == 60);
  cr_expect(zone_is_safe(&town.world, 50) && !zone_is_safe(&town.world, 51));
  cr_expect(zone_is_stored(&town.world, 60) && !zone_is_stored(&town.world, 61));
  zone->space = 3;
  town_say(&town, (wire_head){.kind = WIRE_SPACE, .number = 9, .sequence = 70}, NULL);
  cr_expect(zone->space == 3 && zone->lease.spaces_used == 70,
            "it had not asked; how many are used counts all the same");
  static const uint64_t wrong[] = {0, MUSTER_EPOCHS_MAX + 1ull, 3};
  zone->asks_space = true;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    town_say(&town, (wire_head){.kind = WIRE_SPACE, .number = wrong[i], .sequence = 71 + i}, NULL);
    cr_expect(zone->space == 3 && zone->asks_space && zone->lease.spaces_used == 71 + i, "space %lu", wrong[i]);
  }
  town_say(&town, (wire_head){.kind = WIRE_SPACE, .number = 9, .sequence = 80}, NULL);
  cr_expect(zone->space == 9 && !zone->asks_space);
}

/* Until it has caught up, a next life needs what the restored state said. */
Test(zone_turns, what_is_stored_is_said_further_once_all_was_caught_up_with, .init = begin, .fini = end) {
  struct zone *zone = town.world.zone;
  for (uint32_t i = 0; i < TOWN_LINKS; i++) {
    const wire_head stored = {.kind = WIRE_STORED, .zone = zone->links[i].zone, .epoch = TOWN_EPOCH, .number = 6 + i};
    town_say(&town, stored, NULL);
    cr_expect(place_equal(zone->links[i].out.seen, town_place(6 + i)) && zone->links[i].out.number == 6 + i);
    cr_expect_eq(zone->links[i].out.epoch, TOWN_EPOCH);
    cr_expect(place_is_none(zone->links[i].kept.seen), "link %u", i);
  }
  zone_note_all_came(zone);
  zone_take_in(&town.world);
  for (uint32_t i = 0; i < TOWN_LINKS; i++)
    cr_expect_eq(memcmp(&zone->links[i].kept, &zone->links[i].out, sizeof zone->links[i].out), 0, "link %u", i);
  town_say(&town, (wire_head){.kind = WIRE_STORED, .zone = TOWN_EAST, .epoch = TOWN_EPOCH, .number = 9}, NULL);
  cr_expect(place_equal(zone->links[1].kept.seen, town_place(9)) &&
            place_equal(zone->links[0].kept.seen, town_place(6)));
}

Test(zone_turns, a_look_comes_early_while_no_frame_runs, .init = begin, .fini = end) {
  const uint64_t late_ns = clock_system() + 3600000000000u;
  hosted_world *world = &town.world;
  cr_expect_eq(zone_next_look_ns(world, late_ns), late_ns, "it runs");
  world->paused = true;
  cr_expect_lt(zone_next_look_ns(world, late_ns), late_ns, "it is paused");
  cr_expect_eq(zone_next_look_ns(world, 5), 5);
  world->steps_left = 1;
  cr_expect_eq(zone_next_look_ns(world, late_ns), late_ns, "it runs a step");
  world->paused = false, world->steps_left = 0;
  world->zone->stands = true;
  cr_expect_lt(zone_next_look_ns(world, late_ns), late_ns, "it is being moved");
  world->zone->stands = false;
  world->zone->lease.leased_ns = 0, world->zone->lease.ttl_ns = 0;
  cr_expect_lt(zone_next_look_ns(world, late_ns), late_ns, "it has no lease");
  cr_expect(!zone_is_safe(world, 0) && !zone_is_stored(world, 0), "nothing of it goes out");
}

Test(zone_turns, it_stands_still_without_a_lease_and_goes_on_with_one, .init = begin, .fini = end) {
  struct zone *zone = town.world.zone;
  for (uint32_t round = 0; round < 2; round++) {
    zone->lease.leased_ns = 0, zone->lease.ttl_ns = 0;
    zone_take_in(&town.world);
    cr_expect(zone->published.frozen && !zone_may_run(&town.world));
    zone->lease.ttl_ns = UINT64_MAX / 4;
    town_say(&town, (wire_head){.kind = WIRE_LEASE, .number = clock_boot()}, NULL);
    cr_expect(!zone->published.frozen && zone_may_run(&town.world));
  }
}

static void hear(uint32_t zone, uint64_t epoch, uint64_t round, const muster_agent *agents, uint32_t count,
                 uint32_t observers);

/* What neighbours had told is told anew; how far it is ahead, its world knows. */
Test(zone_turns, a_zone_that_is_taken_over_goes_on_as_its_world_was, .init = begin, .fini = end) {
  struct zone *zone = town.world.zone;
  town.world.sim_now_ns = FRAME_NS;
  cr_assert_eq(muster_zone_set_offset(town.own.little.world, 5000), MUSTER_OK);
  hear(TOWN_WEST, TOWN_EPOCH, 1, NULL, 0, 2);
  hear(TOWN_EAST, TOWN_EPOCH, 1, NULL, 0, 3);
  cr_assert(zone->links[0].watcher_count == 2 && zone->links[1].watcher_count == 3);
  zone->space = 1;
  cr_assert(wire_put(&town.end, (wire_head){.kind = WIRE_CAUGHT_UP}, NULL) && wire_flush(&town.end));
  cr_assert_eq(zone_take_over(&town.world), MUSTER_OK, "%s", muster_last_error());
  cr_expect_eq(zone->offset_ns, 5000);
  cr_expect(zone->links[0].watcher_count == 0 && zone->links[1].watcher_count == 0 && zone->runs);
  cr_expect_eq(town_told(&town, WIRE_POSITIONS).head.bytes, 2 * TOWN_LINKS * sizeof(wire_position));
}

/* ------------------------------------------------------------------------------------------------------------- moves
 */

static void order(wire_move move, uint32_t turn) {
  town_say(&town, (wire_head){.kind = WIRE_MOVE, .zone = turn, .number = move}, NULL);
  zone_move_on(&town.world);
}

static void expect_told(wire_kind kind, uint32_t turn, uint64_t number, uint64_t sequence) {
  wire_message told = town_told(&town, kind);
  cr_assert_eq(told.head.kind, kind, "turn %u", turn);
  cr_expect_eq(told.head.zone, turn);
  cr_expect(told.head.number == number && told.head.sequence == sequence, "turn %u: %lu %lu", turn, told.head.number,
            told.head.sequence);
  cr_expect_eq(town_told(&town, kind).head.kind, 0, "turn %u: it is told once", turn);
}

static void expect_stands(bool stands, wire_move move) {
  const struct zone *zone = town.world.zone;
  cr_expect(zone->stands == stands && zone->stopped == stands && zone->move == move && zone->awaits == 0);
  cr_expect_eq(zone_standstill(&town.world) != NULL, stands);
}

Test(zone_turns, each_order_of_a_move_is_answered_by_its_turn, .init = begin, .fini = end) {
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
    cr_expect_eq(town_told(&town, WIRE_STOPPED).head.kind, 0);
    order(round == 2 ? WIRE_MOVE_HELD : WIRE_MOVE_NONE, 10 * round + 4);
    expect_stands(false, round == 2 ? WIRE_MOVE_HELD : WIRE_MOVE_NONE);
  }
  expect_told(WIRE_HELD, 24, 0, 0);
  town.world.paused = true;
  order(WIRE_MOVE_STOPS, 30);
  expect_told(WIRE_STOPPED, 30, frame, 1); /* a paused one has no next frame */
}

/* ------------------------------------------------------------------------------------------------------------- waits
 */

Test(zone_turns, parcels_that_are_not_stored_are_numbered_anew_for_each_neighbour, .init = begin, .fini = end) {
  struct zone *zone = town.world.zone;
  static const uint32_t to[] = {TOWN_WEST, TOWN_EAST, TOWN_WEST, TOWN_WEST, TOWN_EAST};
  static const uint64_t before[] = {4, 7, 5, 6, 8}, after[] = {1, 1, 2, 3, 2};
  zone_waiting *all[5];
  for (uint32_t i = 0; i < 5; i++) all[i] = put_waiting(to[i], 1, before[i]), all[i]->sent = i < 3;
  zone->links[0].numbered = 6, zone->links[1].numbered = 8;
  for (uint32_t life = 0; life < 2; life++) {
    zone->lease.epoch = TOWN_EPOCH + life;
    zone_number_again(zone);
    cr_expect(zone->links[0].numbered == 3 && zone->links[1].numbered == 2);
    for (uint32_t i = 0; i < 5; i++) {
      const parcel_head head = head_of(all[i]);
      cr_expect(all[i]->number == after[i] && !all[i]->sent && head.number == after[i]);
      cr_expect_eq(head.epoch, TOWN_EPOCH + life);
      cr_expect(place_equal(head.birth, (zone_place){1, before[i]}));
      all[i]->sent = true;
    }
  }
  /* An earlier life had put the second one, under the number that the first one has now. */
  struct parcel put = {0};
  parcel_begin(&put, 1, before[2], 1, 0);
  parcel_renumber(put.bytes, TOWN_EPOCH, 1);
  cr_assert(zone_take_sent(&town.world, &zone->links[0], town_place(1), put.bytes, put.count));
  cr_expect(TAILQ_FIRST(&zone->waiting) == all[0] && TAILQ_NEXT(all[1], link) == all[3], "that one waits no more");
  parcel_free(&put);
  /* What is stored of this epoch says nothing of another's parcels. */
  parcel_renumber(all[0]->parcel, TOWN_EPOCH - 1, 1);
  town_say(&town, (wire_head){.kind = WIRE_STORED, .zone = TOWN_WEST, .epoch = TOWN_EPOCH + 1, .number = 9}, NULL);
  cr_expect(TAILQ_FIRST(&zone->waiting) == all[0] && TAILQ_NEXT(all[0], link) == all[1]);
  cr_expect(TAILQ_NEXT(all[1], link) == all[4] && !TAILQ_NEXT(all[4], link));
}

Test(zone_turns, nothing_is_sent_before_what_was_made_before_it, .init = begin, .fini = end) {
  struct zone *zone = town.world.zone;
  static const uint64_t frames[] = {5, 30, 7};
  for (uint32_t i = 0; i < 3; i++)
    put_waiting(i == 2 ? TOWN_EAST : TOWN_WEST, TOWN_EPOCH, i + 1)->until.frame = frames[i];
  zone->safe_frames = 10;
  zone_send_out(&town.world);
  wire_message told = town_told(&town, WIRE_PUBLISH);
  cr_expect(told.head.kind == WIRE_PUBLISH && told.head.number == 1);
  cr_expect_eq(town_told(&town, WIRE_PUBLISH).head.kind, 0, "the second one is not safe yet");
  zone->safe_frames = 30;
  zone_send_out(&town.world);
  told = town_told(&town, WIRE_PUBLISH);
  cr_expect(told.head.number == 2 && told.head.zone == TOWN_WEST);
  told = town_told(&town, WIRE_PUBLISH);
  cr_expect(told.head.number == 3 && told.head.zone == TOWN_EAST);
  zone_send_out(&town.world);
  cr_expect_eq(town_told(&town, WIRE_PUBLISH).head.kind, 0, "each is sent once");
}

/* ------------------------------------------------------------------------------------------------------------ ghosts
 */

/* As zone_ghosts.c writes them. */
typedef struct part_head {
  uint64_t epoch, round;
  uint32_t part, parts, whole, zero;
  uint64_t ghosts, observers; /* bytes */
} part_head;

/* A frame in which a round ends; what a neighbour is told in it. */
static part_head round_of(uint32_t zone, wire_message *told) {
  part_head head;
  do *told = town_told(&town, WIRE_TELL);
  while (told->head.kind && told->head.zone != zone);
  cr_assert_eq(told->head.kind, WIRE_TELL, "zone %u is told nothing", zone);
  memcpy(&head, told->bytes, sizeof head);
  return head;
}

/* The east is told of three agents and the west of one, of all of them each fifth round. */
Test(zone_turns, each_neighbour_is_told_of_what_it_sees_and_of_all_of_it_in_its_turn, .init = begin, .fini = end) {
  struct zone *zone = town.world.zone;
  uint64_t whole_bytes[TOWN_LINKS] = {0};
  wire_message told;
  spawn_in(&town.own.little, (muster_position){5, 50, 0}, 0);
  spawn_in(&town.own.little, (muster_position){50, 50, 0}, 0);
  for (uint32_t i = 0; i < 3; i++) spawn_in(&town.own.little, (muster_position){95, 50 + i, 0}, 0);
  run_frame(&town.own.little);
  zone->round_ns = 1; /* a round is a frame */
  for (uint64_t round = 0; round < 12; round++) {
    cr_assert_eq(zone->round, round);
    zone_send_out(&town.world);
    for (uint32_t link = 0; link < TOWN_LINKS; link++) {
      const part_head head = round_of(zone->links[link].zone, &told);
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

/* A neighbour's telling: of one agent of the west, and of observers, which stand beside each other. */
static zone_bytes telling_of(uint64_t epoch, uint64_t round, const muster_agent *agents, uint32_t count,
                             uint32_t observers) {
  zone_bytes bytes = {0}, ghosts = {0};
  seen_observer seen = {.near_m = 5, .far_m = 9};
  cr_assert_eq(muster_ghosts_pack(town.other.little.world, agents, count, zone_put, &ghosts), MUSTER_OK);
  const part_head head = {.epoch = epoch,
                          .round = round,
                          .parts = 1,
                          .whole = 1,
                          .ghosts = ghosts.count,
                          .observers = observers * sizeof seen};
  zone_put(&head, sizeof head, &bytes);
  zone_put(ghosts.bytes, ghosts.count, &bytes);
  for (; observers > 0; observers--) {
    seen.id = 90 + observers, seen.x = observers;
    zone_put(&seen, sizeof seen, &bytes);
  }
  free(ghosts.bytes);
  return bytes;
}

static void hear(uint32_t zone, uint64_t epoch, uint64_t round, const muster_agent *agents, uint32_t count,
                 uint32_t observers) {
  zone_bytes bytes = telling_of(epoch, round, agents, count, observers);
  town_say(&town, (wire_head){.kind = WIRE_TOLD, .zone = zone, .bytes = bytes.count}, bytes.bytes);
  free(bytes.bytes);
}

static void expect_seen(uint32_t ghosts, uint32_t west, uint32_t east, const char *words) {
  const struct zone *zone = town.world.zone;
  cr_expect_eq(status_now().ghosts, ghosts, "%s: %u ghosts", words, status_now().ghosts);
  cr_expect_eq(zone->links[0].watcher_count, west, "%s: %u observers of the west", words, zone->links[0].watcher_count);
  cr_expect_eq(zone->links[1].watcher_count, east, "%s: %u observers of the east", words, zone->links[1].watcher_count);
}

Test(zone_turns, what_a_neighbour_tells_no_more_is_gone_after_ten_rounds, .init = begin, .fini = end) {
  struct zone *zone = town.world.zone;
  muster_agent agents[3];
  const uint64_t begun_ns = 1000 * FRAME_NS, rounds_ns = 10 * zone->round_ns;
  for (uint32_t i = 0; i < 3; i++) agents[i] = spawn_at(&town.other.little, i);
  run_frame(&town.other.little);
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
  zone->links[0].in.epoch = TOWN_EPOCH + 2; /* a later owner has sent already, and told nothing yet */
  hear(TOWN_WEST, TOWN_EPOCH + 1, 1, agents, 2, 3);
  expect_seen(0, 0, 0, "another one of these");
  hear(TOWN_WEST, TOWN_EPOCH + 2, 1, agents, 2, 3);
  expect_seen(2, 3, 0, "the owner");
  hear(TOWN_WEST, TOWN_EPOCH + 2, 1, agents, 1, 1);
  expect_seen(1, 1, 0, "the same round once more");
  hear(TOWN_WEST, TOWN_EPOCH + 2, 0, agents, 2, 3);
  expect_seen(1, 1, 0, "a round before it");
}

Test(zone_turns, ghosts_without_room_take_no_observer_its_place) {
  enum { ROOM = 16, SEEN = 30 };
  muster_agent agents[SEEN];
  town_begin(&town, ROOM);
  for (uint32_t i = 0; i < SEEN; i++) agents[i] = spawn_at(&town.other.little, i);
  run_frame(&town.other.little);
  town.world.sim_now_ns = FRAME_NS;
  hear(TOWN_WEST, TOWN_EPOCH, 1, agents, SEEN, 3);
  cr_expect(status_now().ghosts > 0 && status_now().ghosts <= ROOM, "%u ghosts", status_now().ghosts);
  cr_expect_eq(town.world.zone->links[0].watcher_count, 3);
  cr_expect_gt(town.world.zone->links[0].telling.taken_ns, 0);
  town_end(&town);
}

/* ------------------------------------------------------------------------------------------------------------- herds
 */

static void add_herd_item(struct parcel *parcel, double x) {
  muster_herd herd = add_herd(&town.other, x, 50, 20);
  herd_head head;
  memset(&head, 0, sizeof head);
  head.own = herd.value;
  run_frame(&town.other.little);
  parcel_open(parcel, PARCEL_HERD);
  parcel_put(&head, sizeof head, parcel);
  cr_assert_eq(muster_herd_depart(town.other.little.world, herd, TOWN, parcel_put, parcel), MUSTER_OK);
  parcel_close(parcel);
}

static uint32_t count_herds(void) {
  uint32_t count = 0;
  muster_herd herd = {0};
  while (!muster_herd_is_null(herd = muster_herd_next(town.own.little.world, herd))) count++;
  return count;
}

static void forget_life(void) {
  struct zone *zone = town.world.zone;
  free(zone->herds);
  zone->herds = NULL;
  zone->herd_count = zone->herd_room = 0;
  zone->links[0].in = (zone_pair){0};
}

/* Three came with one parcel, and the one in the middle went on: the next life, which is given the parcel again, takes
 * the other two. */
Test(zone_turns, of_herds_of_one_parcel_those_come_again_that_did_not_go_on, .init = begin, .fini = end) {
  struct zone *zone = town.world.zone;
  zone_link *west = &zone->links[0];
  struct parcel parcel = {0};
  parcel_begin(&parcel, TOWN_EPOCH, 1, 1, 0);
  for (uint32_t i = 0; i < 3; i++) add_herd_item(&parcel, 50 + i);
  cr_assert(zone_take_parcel(&town.world, west, town_place(1), parcel.bytes, parcel.count));
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
  run_frames(&town.own.little, 5);
  muster_herd_info info = muster_herd_info_default();
  cr_assert_eq(muster_herd_read(town.own.little.world, (muster_herd){left.own}, &info), MUSTER_OK);
  cr_assert_gt(info.leaves, 0);
  zone_herd_left(&town.world, &zone->links[1], &left, sizeof left);
  run_frame(&town.own.little);
  cr_expect_eq(count_herds(), 2, "it is gone, unfolded as it was");
  cr_expect(zone->herd_count == 2 && zone->gone_count == 1);
  for (uint32_t i = 0; i < zone->herd_count; i++) cr_expect_neq(zone->herds[i].own, left.own);
  forget_life();
  cr_assert(zone_take_parcel(&town.world, west, town_place(1), parcel.bytes, parcel.count));
  cr_expect(zone->herd_count == 2 && count_herds() == 4, "%u herds", zone->herd_count);
  parcel_free(&parcel);
}

/* --------------------------------------------------------------------------------------------------------- observers
 */

static muster_observer add_observer(double x) {
  return observe(&town.own, x, 50);
}

Test(zone_turns, an_observer_that_leaves_is_held_no_more_and_one_that_stays_is, .init = begin, .fini = end) {
  muster_observer goes = add_observer(150), stays = add_observer(50);
  uint32_t zone = 0;
  run_frame(&town.own.little);
  cr_assert_eq(holds_put(&town.world.holds, goes, (muster_position){150, 50, 0}), MUSTER_OK);
  cr_assert_eq(holds_put(&town.world.holds, stays, (muster_position){50, 50, 0}), MUSTER_OK);
  zone_send_out(&town.world);
  cr_expect(!holds_has(&town.world.holds, goes) && holds_has(&town.world.holds, stays));
  cr_assert_eq(muster_observer_zone(town.own.little.world, goes, &zone), MUSTER_OK);
  cr_expect_eq(zone, TOWN_EAST);
  const wire_head put = town_told(&town, WIRE_PUBLISH).head;
  cr_expect(put.kind == WIRE_PUBLISH && put.zone == TOWN_EAST && put.number == 1);
}

/* What a neighbour has told of is its own: it is not told back, and does not leave. */
Test(zone_turns, observers_of_neighbours_are_no_observers_of_this_zone, .init = begin, .fini = end) {
  struct zone *zone = town.world.zone;
  wire_message told;
  zone->round_ns = 1;
  town.world.sim_now_ns = FRAME_NS;
  hear(TOWN_WEST, TOWN_EPOCH, 1, NULL, 0, 3); /* at 1, 2 and 3 m: seen in the west */
  run_frame(&town.own.little);
  zone_send_out(&town.world);
  cr_expect_eq(round_of(TOWN_WEST, &told).observers, 0);
  add_observer(2);
  add_observer(50);
  run_frame(&town.own.little);
  zone_send_out(&town.world);
  cr_expect_eq(round_of(TOWN_WEST, &told).observers, 2 * sizeof(seen_observer), "they see far enough");
  hear(TOWN_WEST, TOWN_EPOCH, 2, NULL, 0, 2);
  expect_seen(0, 2, 0, "one less");
}

Test(zone_turns, an_observer_of_a_neighbour_moves_whichever_way_it_moves, .init = begin, .fini = end) {
  struct zone *zone = town.world.zone;
  seen_observer seen = {.id = 5, .x = 1, .near_m = 5, .far_m = 9};
  double *const ways[] = {&seen.x, &seen.y, &seen.z};
  muster_observer_def def = muster_observer_def_default();
  for (uint32_t i = 0; i < 6; i++) {
    *ways[i % 3] += 2;
    zone_take_observers(&town.world, &zone->links[0], &seen, sizeof seen);
    run_frame(&town.own.little);
    cr_assert_eq(zone->links[0].watcher_count, 1);
    cr_assert_eq(muster_observer_read(town.own.little.world, zone->links[0].watchers[0].own, &def), MUSTER_OK);
    cr_expect(def.position.x == seen.x && def.position.y == seen.y && def.position.z == seen.z, "step %u", i);
  }
}

/* Some of them are looked at in each frame. */
Test(zone_turns, of_many_herds_the_last_one_leaves_too, .init = begin, .fini = end) {
  enum { HERDS = 150 };
  for (uint32_t i = 0; i < HERDS; i++) add_herd(&town.own, i == HERDS - 1 ? 150 : 50, 50, 20);
  run_frame(&town.own.little);
  cr_assert_eq(count_herds(), HERDS);
  for (uint32_t frame = 0; frame < 4; frame++) zone_send_out(&town.world);
  cr_expect(count_herds() == HERDS - 1 && town.world.zone->published.departed == 1);
}

/* What no other process could read stays, and nothing is sent of it. */
Test(zone_turns, who_cannot_leave_is_not_counted_as_gone, .init = begin, .fini = end) {
  muster_agent_def def = muster_agent_def_default();
  def.type = town.own.little.type;
  def.position = (muster_position){150, 50, 0};
  def.user = &town;
  muster_agent stays = muster_agent_spawn(town.own.little.world, &def);
  run_frame(&town.own.little);
  zone_send_out(&town.world);
  cr_expect(muster_agent_exists(town.own.little.world, stays) && town.world.zone->published.departed == 0);
  cr_expect(TAILQ_EMPTY(&town.world.zone->waiting));
}

/* Ids of agents and observers may be alike: whoever left as the one can come as the other. */
Test(zone_turns, who_left_does_not_come_again_as_what_it_was, .init = begin, .fini = end) {
  struct zone *zone = town.world.zone;
  zone_bytes observer_bytes = {0}, agent_bytes = {0};
  muster_observer observer = observe(&town.other, 1, 1);
  muster_agent agent = spawn_at(&town.other.little, 1);
  run_frame(&town.other.little);
  cr_assert_eq(muster_observer_depart(town.other.little.world, observer, TOWN, zone_put, &observer_bytes), MUSTER_OK);
  depart(&town.other.little, agent, TOWN, &agent_bytes);
  for (uint32_t other = 0; other < 2; other++) {
    /* Behind a same id of the other kind, nothing keeps it away; of its own kind, it does, also with a lower hop. */
    zone_gone_free(zone);
    zone_gone_add(zone, (zone_gone){observer.value, 9, other ? PARCEL_AGENT : PARCEL_OBSERVER});
    zone_gone_add(zone, (zone_gone){agent.value, 9, other ? PARCEL_OBSERVER : PARCEL_AGENT});
    for (uint64_t i = 1; i < 9; i++) zone_gone_add(zone, (zone_gone){i << 50 | 3, 1, PARCEL_AGENT});
    zone_gone_sort(zone);
    struct parcel parcel = {0};
    parcel_begin(&parcel, TOWN_EPOCH, other + 1, 1, 0);
    parcel_open(&parcel, PARCEL_OBSERVER);
    parcel_put(observer_bytes.bytes, observer_bytes.count, &parcel);
    parcel_close(&parcel);
    parcel_open(&parcel, PARCEL_AGENT);
    parcel_put(agent_bytes.bytes, agent_bytes.count, &parcel);
    parcel_close(&parcel);
    cr_assert(zone_take_parcel(&town.world, &zone->links[0], town_place(other + 1), parcel.bytes, parcel.count));
    parcel_free(&parcel);
    uint32_t at = 0;
    bool is_here = muster_observer_zone(town.own.little.world, observer, &at) == MUSTER_OK && at == TOWN;
    cr_expect_eq(is_here, other, "the observer");
    cr_expect_eq(muster_agent_exists(town.own.little.world, agent), other, "the agent");
    cr_expect_eq(zone->published.arrived, other);
    cr_expect_eq(zone->published.refused, 1);
  }
  free(observer_bytes.bytes), free(agent_bytes.bytes);
}

/* --------------------------------------------------------------------------------------------------------------- room
 */

/* No id is left then, also none of those that are set aside for births. */
static void fill_with_ghosts(void) {
  enum { MANY = 40 };
  muster_agent agents[MANY];
  for (uint32_t i = 0; i < MANY; i++) agents[i] = spawn_at(&town.other.little, i);
  run_frame(&town.other.little);
  town.world.sim_now_ns = FRAME_NS;
  hear(TOWN_WEST, TOWN_EPOCH, 1, agents, MANY, 0);
}

Test(zone_turns, what_found_no_room_is_taken_when_there_is_some_each_time) {
  enum { ROOM = 16 };
  muster_agent here[ROOM];
  uint32_t count = 0;
  muster_agent_def one = muster_agent_def_default();
  zone_bytes bytes = {0};
  town_begin(&town, ROOM);
  zone_link *west = &town.world.zone->links[0];
  one.type = town.own.little.type;
  while (count < ROOM && !muster_agent_is_null(here[count] = muster_agent_spawn(town.own.little.world, &one))) count++;
  run_frame(&town.own.little);
  fill_with_ghosts();
  for (uint32_t life = 0; life < 3; life++) {
    struct parcel parcel = {0};
    muster_agent comes = spawn_at(&town.other.little, 1);
    run_frame(&town.other.little);
    depart(&town.other.little, comes, TOWN, &bytes);
    parcel_begin(&parcel, TOWN_EPOCH, life + 1, 1, 0);
    parcel_open(&parcel, PARCEL_AGENT);
    parcel_put(bytes.bytes, bytes.count, &parcel);
    parcel_close(&parcel);
    cr_assert(zone_take_parcel(&town.world, west, town_place(life + 1), parcel.bytes, parcel.count));
    cr_expect(west->full && !STAILQ_EMPTY(&west->held) && place_equal(west->given, town_place(life + 1)));
    muster_agent_remove(town.own.little.world, here[life]);
    run_frame(&town.own.little);
    zone_take_held(&town.world);
    cr_expect(!west->full && STAILQ_EMPTY(&west->held), "time %u", life);
    cr_expect(muster_agent_exists(town.own.little.world, comes));
    parcel_free(&parcel);
  }
  free(bytes.bytes);
  town_end(&town);
}

static void give(uint32_t link, uint64_t number, uint64_t sim_now_ns, muster_agent to, const zone_bytes *agent) {
  const parcel_letter letter = {.from = (uint64_t)TOWN_EAST << 50 | 1ull << 36 | 7, .to = to.value, .sequence = 1};
  struct parcel parcel = {0};
  parcel_begin(&parcel, TOWN_EPOCH, number, 1, sim_now_ns);
  parcel_open(&parcel, PARCEL_MESSAGE);
  parcel_put(&letter, sizeof letter, &parcel);
  parcel_close(&parcel);
  if (agent) {
    parcel_open(&parcel, PARCEL_AGENT);
    parcel_put(agent->bytes, agent->count, &parcel);
    parcel_close(&parcel);
  }
  cr_assert(
      zone_take_parcel(&town.world, &town.world.zone->links[link], town_place(number), parcel.bytes, parcel.count));
  parcel_free(&parcel);
}

/* Who comes behind a message by the same neighbour was not there when it was sent: nobody waits for that. */
Test(zone_turns, it_has_caught_up_when_all_was_taken_that_had_been_given, .init = begin, .fini = end) {
  struct zone *zone = town.world.zone;
  const muster_agent nobody = {(uint64_t)TOWN_WEST << 50 | 1ull << 36 | 9};
  zone_bytes bytes = {0};
  muster_agent comes = spawn_at(&town.other.little, 1);
  run_frame(&town.other.little);
  depart(&town.other.little, comes, TOWN, &bytes);
  zone->lease.clock = (land_reading){.boot_ns = clock_boot(), .land_ns = 100000000000000};
  town.world.sim_now_ns = 100000000000;
  give(0, 1, 0, comes, &bytes);
  give(1, 1, 101000000000, nobody, NULL); /* which is early */
  give(1, 2, 0, nobody, NULL);
  zone_take_in(&town.world);
  cr_expect(!STAILQ_EMPTY(&zone->links[0].held) && !zone->caught_up && zone->published.lost == 0, "others may come");
  zone_note_all_came(zone);
  zone_take_in(&town.world);
  cr_expect(STAILQ_EMPTY(&zone->links[0].held) && zone->published.lost == 1);
  cr_expect(muster_agent_exists(town.own.little.world, comes));
  cr_expect(!STAILQ_EMPTY(&zone->links[1].held) && !zone->caught_up);
  town.world.sim_now_ns = 102000000000;
  zone_take_in(&town.world);
  cr_expect(STAILQ_EMPTY(&zone->links[1].held) && zone->caught_up && zone->published.lost == 3);
  free(bytes.bytes);
}

/* A parcel of a sender that is ahead of land time, in seconds; whether it waits. */
static bool waits_at(double own_s, double land_s, double sent_s, uint64_t number) {
  struct parcel parcel = {0};
  zone_link *west = &town.world.zone->links[0];
  town.world.sim_now_ns = (uint64_t)(own_s * 1e9);
  town.world.zone->lease.clock = (land_reading){.boot_ns = clock_boot(), .land_ns = (uint64_t)(land_s * 1e9)};
  parcel_begin(&parcel, TOWN_EPOCH, number, 1, (uint64_t)(sent_s * 1e9));
  cr_assert(zone_take_parcel(&town.world, west, town_place(number), parcel.bytes, parcel.count));
  parcel_free(&parcel);
  bool waits = !STAILQ_EMPTY(&west->held);
  while (!STAILQ_EMPTY(&west->held)) {
    zone_held *held = STAILQ_FIRST(&west->held);
    STAILQ_REMOVE_HEAD(&west->held, link);
    free(held);
  }
  west->in.number = number;
  return waits;
}

Test(zone_turns, a_sender_that_is_ahead_is_waited_for_unless_it_is_ahead_of_the_land, .init = begin, .fini = end) {
  cr_expect(!waits_at(100, 100000, 99, 1), "it is behind");
  cr_expect(waits_at(100, 100000, 101, 2), "this zone is behind");
  cr_expect(waits_at(100, 100000, 100900, 3), "so is it when that is ahead of the land as well");
  cr_expect(!waits_at(100000, 100000, 200000, 4), "for that one nobody waits");
  cr_expect(waits_at(100000, 100000, 100000.5, 5), "it is there soon");
}

/* --------------------------------------------------------------------------------------------------------------- map
 */

Test(zone_turns, each_map_is_drawn_anew_and_a_cell_counts_as_far_as_it_can, .init = begin, .fini = end) {
  struct zone *zone = town.world.zone;
  zone_sheet sheet;
  zone->published.arrived = 5; /* of this process, and not of its world */
  for (uint32_t i = 0; i < 7; i++) spawn_in(&town.own.little, (muster_position){1, 99, 0}, 0);
  for (uint32_t i = 0; i < 3; i++) spawn_in(&town.own.little, (muster_position){99, 1, 0}, 0);
  run_frame(&town.own.little);
  for (uint32_t drawing = 0; drawing < 3; drawing++) {
    town_say(&town, (wire_head){.kind = WIRE_DRAW}, NULL);
    if (drawing == 1) zone->map.cells[40].count = 70000;
    town_say(&town, (wire_head){.kind = WIRE_DRAW}, NULL); /* one is being drawn */
    zone_send_out(&town.world);
    wire_message told = town_told(&town, WIRE_MAP);
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

/* ------------------------------------------------------------------------------------------------------------- names
 */

/* Whether the look that is told now says that each space may be named. */
static bool tells_many(void) {
  zone_tell_named(&town.world);
  wire_message told = town_told(&town, WIRE_NAMED);
  cr_assert_eq(told.head.kind, WIRE_NAMED);
  cr_expect_eq(told.head.number, 77, "the revision that it was told last");
  return told.head.sequence;
}

/* Of two that wait each is looked at each time. */
/* Of one neighbour, epoch and up to one number. */
Test(zone_turns, what_a_neighbour_has_stored_waits_no_more_and_all_else_does, .init = begin, .fini = end) {
  static const struct {
    uint32_t to;
    uint64_t epoch, number;
    bool waits;
  } parcels[] = {{TOWN_WEST, TOWN_EPOCH, 4, false},    {TOWN_WEST, TOWN_EPOCH, 5, false},
                 {TOWN_WEST, TOWN_EPOCH, 6, true},     {TOWN_EAST, TOWN_EPOCH, 4, true},
                 {TOWN_WEST, TOWN_EPOCH - 1, 4, true}, {TOWN_WEST, TOWN_EPOCH + 1, 5, true}};
  enum { PARCELS = sizeof parcels / sizeof *parcels };
  struct zone *zone = town.world.zone;
  for (size_t i = 0; i < PARCELS; i++) put_waiting(parcels[i].to, parcels[i].epoch, parcels[i].number);
  town_say(&town, (wire_head){.kind = WIRE_STORED, .zone = TOWN_WEST, .epoch = TOWN_EPOCH, .number = 5}, NULL);
  zone_waiting *left = TAILQ_FIRST(&zone->waiting), *next;
  for (size_t i = 0; i < PARCELS; i++) {
    if (!parcels[i].waits) continue;
    cr_assert_not_null(left, "parcel %zu", i);
    parcel_head head = head_of(left);
    cr_expect(left->to == parcels[i].to && head.epoch == parcels[i].epoch && head.number == parcels[i].number);
    next = TAILQ_NEXT(left, link);
    TAILQ_REMOVE(&zone->waiting, left, link);
    free(left);
    left = next;
  }
  cr_expect_null(left);
}

/* Of all that is well, also of what is of no neighbour, nothing is complained of. */
Test(zone_turns, what_cannot_be_read_is_told_and_what_can_is_not, .init = begin, .fini = end) {
  static const wire_kind kinds[] = {WIRE_STORED, WIRE_ALL_CAME, WIRE_DRAW, WIRE_SAFE, WIRE_OUTGOING, WIRE_INCOMING};
  enum { KINDS = sizeof kinds / sizeof *kinds };
  static const uint32_t zones[] = {TOWN_WEST, TOWN_EAST, 4711};
  int before = log_lines_begin();
  for (size_t i = 0; i < KINDS; i++)
    for (size_t k = 0; k < sizeof zones / sizeof *zones; k++)
      town_say(&town, (wire_head){.kind = (uint32_t)kinds[i], .zone = zones[k], .epoch = TOWN_EPOCH, .number = 3},
               NULL);
  const char *told = log_lines_end(before);
  uint32_t complaints = 0; /* a parcel without bytes is none, whichever way it goes, and is told for both neighbours */
  for (const char *at = told; (at = strstr(at, " cannot be read, and is passed over")) != NULL; at++) complaints++;
  cr_expect_eq(complaints, 4, "%s", told);
}

Test(zone_turns, each_parcel_that_waits_for_long_counts, .init = begin, .fini = end) {
  struct zone *zone = town.world.zone;
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
Test(zone_turns, another_space_is_asked_for_when_ids_of_observers_rest) {
  muster_world_def def = zone_world_def(TOWN);
  def.limits.observers_max = 1;
  town_begin(&town, 16);
  herd_world small = herd_world_create(1, &def, NULL);
  town.world.world = small.little.world;
  town.world.zone->space = 1;
  for (uint32_t round = 0; round < 200000 && !town.world.zone->asks_space; round++) {
    muster_observer observer = observe(&small, 1, 1);
    run_frame(&small.little);
    muster_observer_remove(small.little.world, observer);
    run_frame(&small.little);
    zone_look_at_ids(&town.world);
  }
  wire_message told = town_told(&town, WIRE_SPACE);
  cr_expect(told.head.kind == WIRE_SPACE && told.head.number == 1 && told.head.sequence == 1);
  herd_world_destroy(&small);
  town_end(&town);
}

/* Each message reaches its receiver once, and behind those that its sender sent it before: while senders and receivers
 * cross at random, by ways of different lengths, and worlds are restored. */
#include "support/zones.h"
#include "world/fixture.h"
#include "world/taken_messages.h"

#include <muster/random.h>
#include <sys/queue.h>

enum { ZONES = 3, WRITERS = 6, HOSTS = ZONES, SENDERS = WRITERS + HOSTS, FRAMES = 900, QUIET = 400, BOX = 256 };

/* A message: the next number of its sender to that receiver. */
typedef struct letter {
  uint32_t sender, number;
} letter;

/* The state of an agent that writes to all others in turn. */
typedef struct writer {
  muster_agent ids[WRITERS];
  uint32_t own, next, stops;
  uint32_t sent[WRITERS], got[SENDERS];
  uint32_t early, twice; /* letters that came before, or behind, their turn */
} writer;

/* What is on its way from one zone to another, in order. */
typedef struct cargo {
  STAILQ_ENTRY(cargo) link;
  uint64_t due;
  bool is_agent;
  muster_zone_message message;
  uint64_t follows;
  unsigned char letter[MUSTER_MESSAGE_BYTES_MAX];
  zone_bytes agent;
} cargo;

typedef struct land {
  little_world zones[ZONES];
  STAILQ_HEAD(, cargo) ways[ZONES][ZONES];
  uint64_t frame, seed, last_due[ZONES][ZONES];
  muster_agent writers[WRITERS];
  uint32_t sent[HOSTS][WRITERS]; /* by hosts */
  uint32_t crossed, restored, held;
  uint32_t longest; /* frames that a way takes at most */
} land;

static uint32_t land_random(land *all, uint32_t below) {
  all->seed = muster_random_mix(all->seed + 1);
  return (uint32_t)(all->seed >> 16) % below;
}

/* ---------------------------------------------------------------------------------------------------------- writers */

static void read_letters(writer *own, const muster_update *update) {
  muster_message messages[BOX];
  uint32_t count = muster_update_messages(update, messages, BOX);
  for (uint32_t i = 0; i < count; i++) {
    letter it;
    memcpy(&it, messages[i].bytes, sizeof it);
    own->early += it.number > own->got[it.sender] + 1;
    own->twice += it.number <= own->got[it.sender];
    if (it.number > own->got[it.sender]) own->got[it.sender] = it.number;
  }
}

static muster_atom_result write_letters(muster_update *update) {
  writer *own = update->state;
  read_letters(own, update);
  for (uint32_t i = 0; i < 2 && !own->stops; i++) {
    uint32_t to = own->next++ % WRITERS;
    const letter it = {own->own, own->sent[to] + 1};
    if (to == own->own || muster_agent_is_null(own->ids[to])) continue;
    own->sent[to] += muster_update_send(update, own->ids[to], &it, sizeof it) == MUSTER_OK;
  }
  return MUSTER_ATOM_NEXT;
}

static little_world land_zone_with(uint32_t number, uint32_t box, uint32_t period_frames) {
  muster_world_def def = zone_world_def(number);
  uint64_t period_ns = (uint64_t)period_frames * FRAME_NS;
  muster_type_def type =
      CHANGED(type_running(write_letters, 2000), it.name = "writer", it.state_bytes = sizeof(writer),
              it.period_ns = period_ns, it.period_max_ns = it.period_max_ns < period_ns ? period_ns : it.period_max_ns,
              it.messages.waiting_max = box, it.messages.bytes_max = sizeof(letter), it.messages.sends_max = 2);
  return zone_world_of(1, &def, &type);
}

static little_world land_zone(uint32_t number) {
  return land_zone_with(number, BOX, 3);
}

/* The zone in which a writer is; ZONES while it crosses. */
static uint32_t zone_of_writer(const land *all, uint32_t number) {
  uint32_t zone = 0, hop;
  while (zone < ZONES && muster_agent_hop(all->zones[zone].world, all->writers[number], &hop)) zone++;
  return zone;
}

static writer *land_writer(const land *all, uint32_t number) {
  uint32_t zone = zone_of_writer(all, number);
  return zone == ZONES ? NULL : info_of(&all->zones[zone], all->writers[number]).state;
}

static void land_open(land *all, uint64_t seed, uint32_t longest) {
  *all = (land){.seed = seed, .longest = longest};
  for (uint32_t i = 0; i < ZONES; i++) {
    all->zones[i] = land_zone(i + 1);
    for (uint32_t j = 0; j < ZONES; j++) STAILQ_INIT(&all->ways[i][j]);
  }
  for (uint32_t i = 0; i < WRITERS; i++) all->writers[i] = spawn_at(&all->zones[i % ZONES], (double)i);
  for (uint32_t i = 0; i < ZONES; i++) run_frame(&all->zones[i]);
  for (uint32_t i = 0; i < WRITERS; i++) {
    writer *own = land_writer(all, i);
    own->own = i;
    memcpy(own->ids, all->writers, sizeof own->ids);
  }
}

/* --------------------------------------------------------------------------------------------------------- carrying */

static cargo *put_on_way(land *all, uint32_t from, uint32_t to) {
  cargo *it = calloc(1, sizeof *it);
  uint64_t due = all->frame + land_random(all, all->longest) + 1, *last = &all->last_due[from][to];
  if (due > *last) *last = due;
  it->due = *last;
  STAILQ_INSERT_TAIL(&all->ways[from][to], it, link);
  return it;
}

typedef struct sending {
  land *all;
  uint32_t from;
} sending;

static void send_letter(const muster_zone_message *message, void *user) {
  const sending *now = user;
  cargo *it = put_on_way(now->all, now->from, message->zone - 1);
  it->message = *message;
  it->follows = muster_zone_message_follows(message);
  memcpy(it->letter, message->bytes, message->size);
  it->message.bytes = it->letter;
}

/* Each letter comes to its receiver twice. */
static void take_cargo(land *all, uint32_t to, cargo *it) {
  muster_world *world = all->zones[to].world;
  muster_result result = it->is_agent ? muster_agent_arrive(world, it->agent.bytes, it->agent.count, NULL)
                                      : muster_zone_deliver_after(world, &it->message, it->follows);
  cr_assert_eq(result, MUSTER_OK, "frame %lu: %s", all->frame, muster_last_error());
  bool here = !it->is_agent && muster_agent_exists(world, it->message.to);
  if (here) cr_assert_eq(muster_zone_deliver_after(world, &it->message, it->follows), MUSTER_E_STALE);
  free(it->agent.bytes);
  free(it);
}

static void take_due(land *all, uint32_t from, uint32_t to) {
  for (cargo *it; (it = STAILQ_FIRST(&all->ways[from][to])) && it->due <= all->frame;) {
    STAILQ_REMOVE_HEAD(&all->ways[from][to], link);
    take_cargo(all, to, it);
  }
}

static void cross_at_random(land *all, uint32_t number) {
  uint32_t from = zone_of_writer(all, number);
  if (from == ZONES) return;
  uint32_t to = (from + 1 + land_random(all, ZONES - 1)) % ZONES;
  zone_bytes bytes = {0};
  if (muster_agent_depart(all->zones[from].world, all->writers[number], to + 1, zone_put, &bytes)) {
    free(bytes.bytes);
    return;
  }
  cargo *it = put_on_way(all, from, to);
  it->is_agent = true;
  it->agent = bytes;
  all->crossed++;
}

/* One zone is shown all that stand in another one: so who sends next finds a shorter way. */
static void show_at_random(land *all) {
  uint32_t from = land_random(all, ZONES), to = land_random(all, ZONES);
  if (from != to) mirror(&all->zones[from], &all->zones[to], all->writers, WRITERS);
}

static void write_as_host(land *all) {
  uint32_t zone = land_random(all, ZONES), to = land_random(all, WRITERS);
  const letter it = {WRITERS + zone, all->sent[zone][to] + 1};
  all->sent[zone][to] += muster_agent_send(all->zones[zone].world, all->writers[to], &it, sizeof it) == MUSTER_OK;
}

static void restore_one(land *all) {
  little_world *old = &all->zones[land_random(all, ZONES)], new = land_zone((uint32_t)(old - all->zones) + 1);
  copy_exactly(old, &new);
  little_world_destroy(old);
  *old = new;
  all->restored++;
}

static void land_frame(land *all, bool quiet) {
  all->frame++;
  for (uint32_t i = 0; i < ZONES * ZONES; i++) take_due(all, i / ZONES, i % ZONES);
  for (uint32_t i = 0; i < WRITERS && !quiet; i++)
    if (land_random(all, 12) == 0) cross_at_random(all, i);
  if (land_random(all, 3) == 0) show_at_random(all);
  if (!quiet) write_as_host(all);
  if (land_random(all, 60) == 0) restore_one(all);
  for (uint32_t i = 0; i < ZONES; i++) {
    all->held += zone_status(&all->zones[i]).messages_held;
    run_frame(&all->zones[i]);
    muster_zone_messages(all->zones[i].world, send_letter, &(sending){all, i});
  }
}

static void expect_order(const land *all, uint64_t seed) {
  for (uint32_t i = 0; i < WRITERS; i++) {
    const writer *own = land_writer(all, i);
    cr_assert_not_null(own);
    cr_assert_eq(own->early, 0, "seed %lu, writer %u: %u letters came before their turn", seed, i, own->early);
    cr_assert_eq(own->twice, 0, "seed %lu, writer %u: %u letters came twice or late", seed, i, own->twice);
    for (uint32_t j = 0; j < SENDERS; j++) {
      uint32_t sent = j < WRITERS ? land_writer(all, j)->sent[i] : all->sent[j - WRITERS][i];
      cr_assert_eq(own->got[j], sent, "seed %lu: writer %u got %u of %u letters of %u", seed, i, own->got[j], sent, j);
    }
  }
}

static void run_land(uint64_t seed, uint32_t longest) {
  land all;
  land_open(&all, seed, longest);
  for (uint32_t i = 0; i < FRAMES; i++) land_frame(&all, false);
  for (uint32_t i = 0; i < QUIET; i++) {
    for (uint32_t j = 0; j < WRITERS; j++)
      if (land_writer(&all, j)) land_writer(&all, j)->stops = 1;
    land_frame(&all, true);
  }
  expect_order(&all, seed);
  cr_assert_gt(all.crossed, FRAMES / 12, "%u", all.crossed);
  cr_assert_gt(all.held, 0, "seed %lu: no message came early", seed);
  cr_assert_gt(all.restored, 3);
  for (uint32_t i = 0; i < ZONES; i++) {
    muster_zone_status status = zone_status(&all.zones[i]);
    cr_assert_eq(status.messages_held + status.messages_unordered + status.messages_dropped, 0);
    little_world_destroy(&all.zones[i]);
  }
}

Test(zone_order, holds_while_both_cross_at_random) {
  for (uint64_t seed = 1; seed <= 12; seed++) run_land(seed, seed % 2 ? 8 : 24);
}

/* ----------------------------------------------------------------------------------------------------------- losses */

enum { LETTERS = 12 };

/* The host of one zone writes `count` letters to an agent in the other one. */
static taken_messages letters_of_host(little_world *from, muster_agent to, uint32_t count) {
  for (uint32_t i = 1; i <= count; i++) {
    const letter it = {WRITERS, i};
    assert_ok(muster_agent_send(from->world, to, &it, sizeof it));
  }
  run_frame(from);
  taken_messages taken = take_messages(from);
  cr_assert_eq(taken.count, count);
  for (uint32_t i = 1; i < count; i++) cr_assert_eq(taken.follows[i], taken.heads[i - 1].sequence);
  cr_assert_eq(taken.follows[0], 0);
  return taken;
}

/* An agent that crossed, and four letters to it of the first zone's host: all but the first have come. */
static muster_agent hold_three_back(little_world *from, little_world *to, taken_messages *taken) {
  muster_agent one = spawn_at(from, 1);
  run_both(from, to, 1);
  cross(from, to, one);
  *taken = letters_of_host(from, one, 4);
  for (uint32_t i = 3; i > 0; i--) cr_assert_eq(deliver(to, taken, i), MUSTER_OK);
  return one;
}

Test(zone_order, waits_no_longer_than_so_many_frames_for_what_was_lost) {
  SCOPED_WORLD a = land_zone(1), b = land_zone(2);
  taken_messages taken;
  muster_agent one = hold_three_back(&a, &b, &taken);
  run_frames(&b, MUSTER_ZONE_ORDER_FRAMES);
  cr_assert_eq(zone_status(&b).messages_held, 3, "for so many");
  run_frames(&b, 1);
  cr_assert_eq(zone_status(&b).messages_held, 0, "and no more");
  run_frames(&b, 7);
  const writer *own = info_of(&b, one).state;
  cr_assert_eq(zone_status(&b).messages_held, 0);
  cr_assert_gt(zone_status(&b).messages_unordered, 0);
  cr_assert_eq(own->got[WRITERS], 4);
  cr_assert_eq(own->early, 1, "from 0 to 2, and in order from there");
  cr_assert_eq(deliver(&b, &taken, 0), MUSTER_OK, "it was late, and not lost");
  run_frames(&b, 4);
  cr_assert_eq(own->twice, 1);
}

/* They were sent to the first zone, and are held back there; what they wait for finds the agent in the last one. */
Test(zone_order, what_is_held_back_crosses_with_its_receiver) {
  SCOPED_WORLD a = land_zone(1), b = land_zone(2), c = land_zone(3);
  taken_messages taken;
  muster_agent one = hold_three_back(&a, &b, &taken);
  run_frame(&c);
  cross(&b, &c, one);
  cr_assert_eq(zone_status(&b).messages_held, 0);
  cr_assert_eq(zone_status(&c).messages_held, 3);
  run_frames(&c, 4);
  cr_assert_eq(deliver(&c, &taken, 0), MUSTER_OK);
  run_frames(&c, 4);
  const writer *own = info_of(&c, one).state;
  cr_assert_eq(own->got[WRITERS], 4);
  cr_assert_eq(own->early + own->twice, 0);
}

Test(zone_order, what_finds_no_room_is_held_back_no_longer) {
  SCOPED_WORLD a = zone_world(1), b = zone_of(WITH(zone_def, it.zone.number = 2, it.limits.sends_per_frame = 4));
  muster_agent one = spawn_at(&a, 1);
  run_both(&a, &b, 1);
  cross(&a, &b, one);
  taken_messages taken = letters_of_host(&a, one, 7);
  for (uint32_t i = 1; i < 6; i++) cr_assert_eq(deliver(&b, &taken, i), MUSTER_OK);
  cr_assert_eq(zone_status(&b).messages_held, 0, "the first of five went, and the others follow it");
  cr_assert_eq(info_of(&b, one).messages, 5);
  cr_assert_eq(zone_status(&b).messages_unordered, 1);
  cr_assert_eq(deliver(&b, &taken, 6), MUSTER_OK);
  cr_assert_eq(info_of(&b, one).messages, 6);
}

Test(zone_order, who_is_gone_is_waited_for_no_more) {
  SCOPED_WORLD a = land_zone(1), b = land_zone(2);
  taken_messages taken;
  muster_agent one = hold_three_back(&a, &b, &taken);
  cr_assert_eq(muster_agent_remove(b.world, one), MUSTER_OK);
  run_frame(&b);
  cr_assert_eq(zone_status(&b).messages_held, 0);
  cr_assert_eq(deliver(&b, &taken, 0), MUSTER_E_STALE);
  run_frames(&b, 3);
}

/* Four fit into the box; the rest waits behind them, crosses, and is restored. */
Test(zone_order, what_was_held_back_comes_as_the_box_has_room) {
  enum { SMALL = 4 };
  SCOPED_WORLD a = land_zone(1), b = land_zone_with(2, SMALL, 3);
  SCOPED_WORLD c = land_zone_with(3, SMALL, 3), restored = land_zone_with(3, SMALL, 3);
  muster_agent one = spawn_at(&b, 1);
  run_both(&a, &b, 1);
  run_frame(&c);
  cr_assert_eq(muster_agent_left(a.world, one, 1, 2), MUSTER_OK);
  taken_messages taken = letters_of_host(&a, one, LETTERS);
  for (uint32_t i = 1; i <= LETTERS; i++) /* the first one last */
    cr_assert_eq(deliver(&b, &taken, i % LETTERS), MUSTER_OK);
  cr_assert_eq(info_of(&b, one).messages, SMALL);
  cr_assert_eq(zone_status(&b).messages_held, LETTERS - SMALL);
  cross(&b, &c, one);
  cr_assert_eq(zone_status(&c).messages_held, LETTERS - SMALL);
  copy_world(&c, &restored);
  little_world *both[] = {&c, &restored};
  for (int i = 0; i < 2; i++) {
    run_frames(both[i], 16);
    const writer *own = info_of(both[i], one).state;
    cr_assert_eq(own->got[WRITERS], LETTERS);
    cr_assert_eq(own->early + own->twice, 0);
    cr_assert_eq(zone_status(both[i]).messages_held, 0);
    cr_assert_eq(zone_status(both[i]).messages_unordered, 0);
  }
}

/* A letter of a zone's host, by its number; it follows the one before it, if it tells that. */
static void deliver_letter(const little_world *to, uint64_t host, muster_agent one, uint32_t number, bool follows) {
  const letter it = {WRITERS, number};
  uint64_t sequence = (host << 50) + number;
  const muster_zone_message message = {.to = one, .sequence = sequence, .size = sizeof it, .bytes = &it};
  assert_ok(muster_zone_deliver_after(to->world, &message, follows && number > 1 ? sequence - 1 : 0));
}

/* A burst, as a zone takes it that stood still: all of it comes, if it is no more than may wait; also of a host whose
 * messages do not tell what they follow. */
Test(zone_order, what_finds_the_box_full_waits_for_room) {
  enum { SMALL = 4, MOST = SMALL + MUSTER_ZONE_WAITING_MAX, LOST = 3 };
  for (uint32_t way = 0; way < 4; way++) {
    uint32_t more = way % 2 * LOST;
    SCOPED_WORLD b = land_zone_with(2, SMALL, 3);
    muster_agent one = spawn_and_run(&b, 1, 1);
    for (uint32_t i = 1; i <= MOST + more; i++) deliver_letter(&b, 1, one, i, way < 2);
    cr_assert_eq(zone_status(&b).messages_held, MUSTER_ZONE_WAITING_MAX);
    run_frames(&b, MOST);
    const writer *own = info_of(&b, one).state;
    cr_assert_eq(zone_status(&b).messages_held + zone_status(&b).messages_unordered, 0);
    cr_assert_eq(own->got[WRITERS], MOST + more);
    cr_assert_eq(own->early, more > 0, "those that waited longest were lost, all at one place");
    cr_assert_eq(own->twice, 0);
  }
}

/* What waits for one that was lost waits for so many frames; what waits for room, until there is some. And what its
 * sender sends then, from the same zone, goes behind it. */
Test(zone_order, what_waits_for_room_waits_on) {
  enum { SMALL = 4, ALL = 3 * SMALL, LOST = 3, PERIOD = 2 * MUSTER_ZONE_ORDER_FRAMES };
  for (uint32_t lost = 0; lost <= LOST; lost += LOST) {
    SCOPED_WORLD b = land_zone_with(2, SMALL, PERIOD);
    const letter last = {WRITERS, ALL + 1};
    muster_agent one = spawn_and_run(&b, 1, 1);
    for (uint32_t i = 1; i <= ALL; i++)
      if (i != lost) deliver_letter(&b, 2, one, i, true);
    run_frames(&b, MUSTER_ZONE_ORDER_FRAMES + 8);
    cr_assert_eq(zone_status(&b).messages_held, ALL - SMALL - (lost > 0));
    cr_assert_eq(muster_zone_set_epoch(b.world, 2), MUSTER_OK); /* its host has sent them, long ago */
    cr_assert_eq(muster_agent_send(b.world, one, &last, sizeof last), MUSTER_OK);
    run_frames(&b, 4 * PERIOD);
    const writer *own = info_of(&b, one).state;
    cr_assert_eq(zone_status(&b).messages_held, 0);
    cr_assert_eq(zone_status(&b).messages_unordered, lost > 0);
    cr_assert_eq(own->got[WRITERS], ALL + 1);
    cr_assert_eq(own->early, lost > 0, "none was lost but the one that never came");
    cr_assert_eq(own->twice, 0);
  }
}

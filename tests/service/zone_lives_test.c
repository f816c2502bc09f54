/* Lives of a zone, one after another, without brokers: who left in an earlier one does not come again, and what goes
 * out stands in its journal. */
#include "service/service.h"
#include "service/zones/zone_parts.h"
#include "support/journals.h"
#include "support/zones.h"
#include "wires.h"

TestSuite(zone_lives, .timeout = 60);

enum { OTHER = 1, OWN = 2, THIRD = 3, EPOCH = 1, MARKS = 1024 /* that a small world keeps */, ALL = MARKS + 500 };

static void add_agent(struct parcel *parcel, const zone_bytes *agent) {
  parcel_open(parcel, PARCEL_AGENT);
  parcel_put(agent->bytes, agent->count, parcel);
  parcel_close(parcel);
}

static struct parcel pack(const zone_bytes *agent, uint32_t number, uint64_t sim_now_ns) {
  struct parcel parcel = {0};
  parcel_begin(&parcel, EPOCH, number, 1, sim_now_ns);
  add_agent(&parcel, agent);
  return parcel;
}

static little_world small_zone(uint32_t number) {
  muster_world_def def = zone_world_def(number);
  muster_type_def type = walker_type();
  def.limits.agents_max = 16;
  return zone_world_of(1, &def, &type);
}

/* Each comes to the zone and goes back, one after the other. */
static void live_once(struct parcel in[ALL], struct parcel out[ALL]) {
  SCOPED(little_world_destroy) little_world other = small_zone(OTHER), own = small_zone(OWN);
  muster_agent agent = spawn_at(&other, 1);
  SCOPED(free_memory) zone_bytes bytes = {0};
  run_frame(&other);
  for (uint32_t i = 0; i < ALL; i++) {
    depart(&other, agent, OWN, &bytes);
    in[i] = pack(&bytes, i + 1, 0);
    arrive(&own, &bytes, agent);
    depart(&own, agent, OTHER, &bytes);
    out[i] = pack(&bytes, i + 1, 0);
    agent = spawn_at(&other, 1);
    run_frame(&other);
  }
}

static zone_place place_of(uint32_t number) {
  return (zone_place){EPOCH, number};
}

static zone_place kept_of(const struct zone *zone) {
  wire_position positions[2 * NEIGHBOURS_MAX];
  uint32_t count = zone_positions(zone, positions);
  for (uint32_t i = 0; i < count; i++)
    if (positions[i].outgoing) return positions[i].place;
  return (zone_place){UINT64_MAX, 0};
}

static struct zone *zone_beside(hosted_world *world, const little_world *own) {
  static const uint32_t others[] = {OTHER, THIRD};
  struct zone *zone = calloc(1, sizeof *zone);
  for (; zone->link_count < 2; zone->link_count++) {
    zone->links[zone->link_count].zone = others[zone->link_count];
    STAILQ_INIT(&zone->links[zone->link_count].held);
  }
  TAILQ_INIT(&zone->waiting);
  *world = (hosted_world){.world = own->world, .zone = zone, .period_ns = 1000000};
  return zone;
}

Test(zone_lives, who_left_does_not_come_again_however_many_left) {
  static struct parcel in[ALL], out[ALL];
  static hosted_world world;
  live_once(in, out);
  SCOPED(little_world_destroy) little_world own = small_zone(OWN); /* restored from before all of it */
  SCOPED(free_memory) struct zone *zone = zone_beside(&world, &own);
  zone_link *link = &zone->links[0];
  for (uint32_t i = 0; i < ALL; i++)
    cr_assert(zone_take_sent(&world, link, place_of(i + 1), out[i].bytes, out[i].count));
  zone_gone_sort(zone);
  cr_expect(place_is_none(kept_of(zone)), "a life that follows needs to know who left, too");
  for (uint32_t i = 0; i < ALL; i++) {
    if (i == ALL / 2) zone_note_all_came(zone);
    cr_assert(zone_take_parcel(&world, link, place_of(i + 1), in[i].bytes, in[i].count));
    zone_catch_up(&world);
    if (i == ALL / 2 - 2) cr_expect(place_is_none(kept_of(zone)));
    if (i == ALL / 2) cr_expect(place_equal(kept_of(zone), place_of(ALL)), "all has come that was there when it began");
    if (i == ALL / 2) break;
  }
  cr_expect_eq(zone->published.arrived, 0, "%lu of %u came again", zone->published.arrived, (unsigned)ALL);
  cr_expect_eq(zone->published.refused, ALL / 2 + 1);
  cr_expect_null(zone->left.gone);
  for (uint32_t i = 0; i < ALL; i++) parcel_free(&in[i]), parcel_free(&out[i]);
}

/* ------------------------------------------------------------------------------------------------------- land time */

enum { PERIOD_NS = 1000000 };

static const uint64_t second_ns = 1000000000;

/* A zone that goes on at `sim_s` when land time is `land_s`; its first step. */
static uint64_t first_step(hosted_world *world, double land_s, double sim_s) {
  world->zone->goes_on = false;
  world->zone->lease.clock = (land_reading){.boot_ns = clock_boot(), .land_ns = (uint64_t)(land_s * 1e9)};
  world->sim_now_ns = (uint64_t)(sim_s * 1e9);
  return zone_step_ns(world);
}

static int64_t offset_of(const hosted_world *world) {
  muster_zone_status status = muster_zone_status_default();
  cr_assert_eq(muster_zone_status_read(world->world, &status), MUSTER_OK);
  return status.offset_ns;
}

Test(zone_lives, one_that_is_ahead_runs_slower_until_level_or_keeps_that) {
  static hosted_world world;
  SCOPED(little_world_destroy) little_world own = small_zone(OWN);
  SCOPED(free_memory) struct zone *zone = zone_beside(&world, &own);
  cr_expect_eq(first_step(&world, 100, 109), PERIOD_NS / 2);
  cr_expect_eq(offset_of(&world), 0);
  cr_expect_geq(first_step(&world, 100, 60), 10 * second_ns, "one that is behind catches up");
  uint64_t step_ns = first_step(&world, 100, 112);
  cr_expect_leq(step_ns, 2 * PERIOD_NS, "it is level with its offset");
  int64_t offset_ns = offset_of(&world);
  cr_expect(offset_ns > 11900000000 && offset_ns <= 12000000000, "%ld", offset_ns);
  cr_expect_eq(zone->offset_ns, offset_ns);
  cr_expect_eq(first_step(&world, 200, 217), PERIOD_NS / 2, "5 s more");
  cr_expect_eq(offset_of(&world), offset_ns);
  cr_expect_geq(first_step(&world, 200, 207), second_ns, "5 s less");
}

/* As many frames as bring a world to a time. */
static void run_to(little_world *little, uint64_t now_ns) {
  little->now_ns = now_ns - FRAME_NS;
  run_frame(little);
}

/* Somebody comes from a zone to one that is behind: whether that was taken at once. In the end it always is. */
static bool taken_at_once(uint64_t land_s, uint64_t sender_s, uint64_t own_s) {
  static hosted_world world;
  SCOPED(little_world_destroy) little_world other = small_zone(OTHER), own = small_zone(OWN);
  SCOPED(zone_bytes_forget) zone_bytes bytes = {0};
  muster_agent agent = spawn_at(&other, 1);
  run_to(&other, sender_s * second_ns);
  run_to(&own, own_s * second_ns);
  depart(&other, agent, OWN, &bytes);
  SCOPED(free_memory) struct zone *zone = zone_beside(&world, &own);
  zone->lease.clock = (land_reading){.boot_ns = clock_boot(), .land_ns = land_s * second_ns};
  world.sim_now_ns = own.now_ns;
  SCOPED(parcel_free) struct parcel parcel = pack(&bytes, 1, other.now_ns);
  cr_assert(zone_take_parcel(&world, &zone->links[0], place_of(1), parcel.bytes, parcel.count));
  bool at_once = zone->published.arrived == 1;
  run_to(&own, land_s * second_ns);
  world.sim_now_ns = own.now_ns;
  zone_take_held(&world);
  cr_expect_eq(zone->published.arrived, 1, "it is level, and waits for nothing");
  return at_once;
}

Test(zone_lives, nothing_waits_for_a_zone_that_is_ahead_but_for_this_one_to_be_level) {
  cr_expect(!taken_at_once(3600, 3600, 3590), "it stood still, and is there in some frames");
  cr_expect(taken_at_once(3600, 6600, 3600), "the other one is ahead, perhaps for ever");
  cr_expect(!taken_at_once(3600, 6600, 3590), "both");
}

/* ------------------------------------------------------------------------------------- messages to those who come */

/* A restored zone, to which two neighbours sent what an earlier life has taken: an agent each, and messages. */
static struct {
  little_world others[2], own;
  hosted_world world;
  struct zone *zone;
  muster_agent agents[2]; /* of each neighbour, and packed */
  zone_bytes bytes[2];
  struct parcel parcels[2];
  uint32_t numbers[2]; /* of the last parcel, */
  uint64_t letters[2]; /* and of the last letter */
} late;

static const muster_agent nobody = {(uint64_t)OTHER << 50 | (uint64_t)EPOCH << 36 | 9};

static void begin_late(void) {
  memset(&late, 0, sizeof late);
  late.others[0] = small_zone(OTHER), late.others[1] = small_zone(THIRD), late.own = small_zone(OWN);
  late.zone = zone_beside(&late.world, &late.own);
  run_frame(&late.own);
  for (uint32_t i = 0; i < 2; i++) {
    late.agents[i] = spawn_at(&late.others[i], 1);
    run_frame(&late.others[i]);
    depart(&late.others[i], late.agents[i], OWN, &late.bytes[i]);
  }
}

static void end_late(void) {
  for (uint32_t i = 0; i < 2; i++) {
    cr_expect(STAILQ_EMPTY(&late.zone->links[i].held));
    free(late.bytes[i].bytes);
    little_world_destroy(&late.others[i]);
  }
  zone_gone_free(late.zone);
  free(late.zone->herds);
  free(late.zone);
  little_world_destroy(&late.own);
}

static void take_held_and_lose(uint64_t messages) {
  zone_take_held(&late.world);
  cr_assert_eq(late.zone->published.lost, messages);
}

/* A neighbour's next parcel, of that time; what is in it; and it is given. */
static struct parcel *begin_parcel(uint32_t link, uint64_t sim_now_ns) {
  parcel_begin(&late.parcels[link], EPOCH, ++late.numbers[link], 1, sim_now_ns);
  return &late.parcels[link];
}

static void add_message(uint32_t link, muster_agent to) {
  const uint64_t number = ++late.letters[link];
  const muster_agent sender = {(uint64_t)late.zone->links[link].zone << 50 | (uint64_t)EPOCH << 36 | 7};
  const parcel_letter letter = {.from = sender.value, .to = to.value, .sequence = number};
  parcel_open(&late.parcels[link], PARCEL_MESSAGE);
  parcel_put(&letter, sizeof letter, &late.parcels[link]);
  parcel_put(&number, sizeof number, &late.parcels[link]);
  parcel_close(&late.parcels[link]);
}

static void give(uint32_t link) {
  struct parcel *parcel = &late.parcels[link];
  cr_assert(zone_take_parcel(&late.world, &late.zone->links[link], place_of(late.numbers[link]), parcel->bytes,
                             parcel->count));
  parcel_free(parcel);
}

static void give_agent(uint32_t link, uint64_t sim_now_ns) {
  add_agent(begin_parcel(link, sim_now_ns), &late.bytes[link]);
  give(link);
}

static void give_message(uint32_t link, muster_agent to) {
  begin_parcel(link, 0);
  add_message(link, to);
  give(link);
}

Test(zone_lives, a_message_awaits_whom_an_earlier_life_had_taken, .init = begin_late, .fini = end_late) {
  give_message(0, late.agents[1]);
  give_message(0, late.agents[1]);
  zone_take_held(&late.world);
  cr_assert(!STAILQ_EMPTY(&late.zone->links[0].held), "more may come");
  cr_assert_eq(late.zone->published.lost, 0);
  give_agent(1, 0);
  zone_take_held(&late.world);
  cr_expect_eq(late.zone->published.delivered, 2);
  cr_expect_eq(late.zone->published.lost, 0);
  cr_expect_eq(info_of(&late.own, late.agents[1]).messages, 2);
  zone_note_all_came(late.zone);
}

/* Its parcel was given, and waits for its time. A message to nobody is in nobody's way, at either border. */
Test(zone_lives, a_message_awaits_who_waits_at_another_border) {
  for (uint32_t link = 0; link < 2; link++) {
    const uint32_t of_agent = !link;
    begin_late();
    give_message(of_agent, nobody);
    give_agent(of_agent, 500);
    give_message(link, late.agents[of_agent]);
    give_agent(link, 500);
    zone_note_all_came(late.zone);
    for (int i = 0; i < 2; i++) {
      zone_take_held(&late.world);
      zone_catch_up(&late.world);
    }
    cr_assert_eq(late.zone->published.lost, 1, "the one to nobody");
    cr_assert(!STAILQ_EMPTY(&late.zone->links[link].held));
    late.world.sim_now_ns = 500;
    zone_take_held(&late.world);
    cr_expect_eq(info_of(&late.own, late.agents[of_agent]).messages, 1);
    cr_expect_eq(late.zone->published.lost, 1);
    zone_catch_up(&late.world);
    cr_expect(late.zone->caught_up);
    end_late();
  }
}

Test(zone_lives, a_message_to_nobody_is_lost_once_all_have_come, .init = begin_late, .fini = end_late) {
  give_message(0, nobody);
  give_message(1, nobody);
  give_agent(1, 0);
  take_held_and_lose(0);
  zone_note_all_came(late.zone);
  take_held_and_lose(2);
  cr_expect(muster_agent_exists(late.own.world, late.agents[1]));
  zone_catch_up(&late.world);
  cr_assert(late.zone->caught_up);
  give_message(0, nobody);
  cr_expect_eq(late.zone->published.lost, 3, "nothing is awaited any more");
}

/* Of what waits, nothing has been read. */
Test(zone_lives, a_cut_parcel_that_waits_is_passed_over, .init = begin_late, .fini = end_late) {
  unsigned char *cut = malloc(8);
  memset(cut, 0x55, 8);
  give_message(0, nobody);
  cr_assert(zone_take_parcel(&late.world, &late.zone->links[0], place_of(++late.numbers[0]), cut, 8));
  zone_note_all_came(late.zone);
  take_held_and_lose(1);
  free(cut);
}

/* One message is given up, and what comes behind it waits again. A third neighbour has sent nothing. */
Test(zone_lives, two_that_await_each_other_go_on, .init = begin_late, .fini = end_late) {
  late.zone->links[2].zone = 9;
  STAILQ_INIT(&late.zone->links[2].held);
  late.zone->link_count = 3;
  for (uint32_t link = 0; link < 2; link++) {
    begin_parcel(link, 0);
    add_message(link, late.agents[!link]);
    add_agent(&late.parcels[link], &late.bytes[link]);
    add_message(link, late.agents[!link]);
    give(link);
  }
  zone_note_all_came(late.zone);
  take_held_and_lose(1);
  cr_expect_eq(late.zone->published.delivered, 3);
  for (uint32_t i = 0; i < 2; i++) cr_expect(muster_agent_exists(late.own.world, late.agents[i]));
  zone_catch_up(&late.world);
  cr_expect(late.zone->caught_up);
}

/* Also one that comes twice is passed over, and is not lost. */
Test(zone_lives, a_message_that_comes_twice_is_not_counted_as_lost, .init = begin_late, .fini = end_late) {
  give_agent(1, 0);
  zone_note_all_came(late.zone);
  give_message(0, late.agents[1]);
  late.letters[0] = 0;
  give_message(0, late.agents[1]);
  cr_expect_eq(zone_status(&late.own).messages_twice, 1);
  cr_expect_eq(zone_status(&late.own).messages_in, 1);
  cr_expect_eq(late.zone->published.delivered, 1);
  cr_expect_eq(late.zone->published.lost, 0);
}

/* ------------------------------------------------------------------------------------------------ from its journal */

/* A life ends in the middle of a parcel, and with it who came in its first half: the next goes on with the second. */
Test(zone_lives, who_came_with_half_a_parcel_does_not_come_again, .init = begin_late, .fini = end_late) {
  SCOPED(free_memory) zone_bytes piece = {0};
  for (uint32_t life = 0; life < 2; life++) {
    late.numbers[1] = 0;
    add_agent(begin_parcel(1, 0), &late.bytes[1]);
    add_message(1, nobody);
    give(1);
    cr_assert(!STAILQ_EMPTY(&late.zone->links[1].held));
    cr_assert_eq(late.zone->published.arrived, !life);
    if (life) break;
    cr_assert(zone_save(&late.world, zone_put, &piece));
    run_frame(&late.own);
    cr_assert_eq(muster_agent_remove(late.own.world, late.agents[1]), MUSTER_OK);
    run_frame(&late.own);
    free(STAILQ_FIRST(&late.zone->links[1].held));
    free(late.zone);
    late.zone = zone_beside(&late.world, &late.own);
    zone_take(&late.world, piece.bytes, piece.count);
  }
  zone_note_all_came(late.zone);
  zone_take_held(&late.world);
  cr_expect_eq(late.zone->published.arrived, 0);
  cr_expect_not(muster_agent_exists(late.own.world, late.agents[1]));
}

static void put_waiting(struct zone *zone, uint32_t to, uint32_t number, const zone_bytes *agent) {
  SCOPED(parcel_free) struct parcel parcel = pack(agent, number, 0);
  zone_waiting *waiting = malloc(sizeof *waiting + parcel.count);
  *waiting = (zone_waiting){.to = to, .number = number, .bytes = parcel.count};
  memcpy(waiting->parcel, parcel.bytes, parcel.count);
  TAILQ_INSERT_TAIL(&zone->waiting, waiting, link);
}

/* A note that waits while a journal begins anew says what its first state has. */
Test(zone_lives, what_a_journal_says_twice_is_there_once, .init = begin_late, .fini = end_late) {
  SCOPED(free_memory) zone_bytes piece = {0};
  uint32_t count = 0;
  put_waiting(late.zone, OTHER, 1, &late.bytes[0]);
  put_waiting(late.zone, OTHER, 2, &late.bytes[0]);
  put_waiting(late.zone, THIRD, 1, &late.bytes[0]);
  cr_assert(zone_keep_herd(late.zone, (zone_herd){.own = 5, .origin = {OTHER, 1, {1, 2}}}));
  cr_assert(zone_save(&late.world, zone_put, &piece));
  zone_take(&late.world, piece.bytes, piece.count);
  for (zone_waiting *waiting; (waiting = TAILQ_FIRST(&late.zone->waiting)) != NULL; count++) {
    TAILQ_REMOVE(&late.zone->waiting, waiting, link);
    free(waiting);
  }
  cr_expect_eq(count, 3);
  cr_expect_eq(late.zone->herd_count, 1);
}

/* ------------------------------------------------------------------------------------------------ to its supervisor */

/* The next message of a kind that was sent; its kind is 0 when there is none. */
static wire_message next_told(struct zone *zone, struct wire *end, wire_kind kind) {
  wire_message message;
  for (bool all = false; !all;) {
    all = wire_flush(&zone->wire);
    while (wire_next(end, &message))
      if (message.head.kind == (uint32_t)kind) return message;
  }
  return (wire_message){.head.kind = 0};
}

/* One that is complete began some frames ago, but behind the one before it: so it has what had come when that was
 * complete, and neighbours may forget no more than that. */
Test(zone_lives, the_places_that_are_told_are_those_of_the_snapshot_before, .init = begin_late, .fini = end_late) {
  enum { SNAPSHOTS = 5 };
  static struct wire end;
  journal_place place = place_make();
  wires_open(&late.zone->wire, &end, false);
  late.world.journal = journal_begin(&late.own, place.path);
  late.zone->lease.ground.number = OWN;
  zone_note_all_came(late.zone); /* so that a message to nobody is taken, and lost */
  zone_tell_frame(&late.world);
  cr_expect_eq(next_told(late.zone, &end, WIRE_POSITIONS).head.kind, 0, "the first one has nothing before it");
  for (uint32_t snapshot = 2; snapshot <= SNAPSHOTS; snapshot++) {
    give_message(0, nobody);
    cr_assert_eq(muster_journal_snapshot(late.world.journal), MUSTER_OK, "%s", muster_last_error());
    AWAIT((muster_journal_turn(late.world.journal, 0), journal_status(late.world.journal).snapshots == snapshot));
    zone_tell_frame(&late.world);
    wire_message told = next_told(late.zone, &end, WIRE_POSITIONS);
    cr_assert_eq(told.head.bytes, 4 * sizeof(wire_position));
    for (uint32_t i = 0; i < 4; i++) {
      wire_position position;
      memcpy(&position, told.bytes + i * sizeof position, sizeof position);
      zone_place before =
          snapshot > 2 && !position.outgoing && position.zone == OTHER ? place_of(snapshot - 2) : (zone_place){0};
      cr_expect(place_equal(position.place, before), "snapshot %u: %lu", snapshot, position.place.number);
    }
    zone_tell_frame(&late.world);
    cr_expect_eq(next_told(late.zone, &end, WIRE_POSITIONS).head.kind, 0, "they are told once");
  }
  muster_journal_end(late.world.journal, false);
  wires_close(&late.zone->wire, &end);
  place_remove(&place);
}

/* What a neighbour sees of another, in several messages that may be lost, come twice or come late. */
Test(zone_lives, a_telling_counts_once_all_its_parts_have_come_in_order) {
  enum { PARTS = 3, SEEN = 80 };
  static const struct {
    const char *parts;
    bool counts;
  } cases[] = {{"012", true}, {"0112", true}, {"0012", true}, {"01012", true}, {"0122", true},
               {"02", false}, {"021", false}, {"12", false},  {"011", false},  {"0102", false}};
  static hosted_world teller, world;
  static struct wire end;
  muster_world_def def = zone_world_def(OTHER);
  muster_type_def type = walker_type();
  type.published_bytes = 4096;
  SCOPED(little_world_destroy) little_world other = zone_world_of(1, &def, &type);
  SCOPED(free_memory) struct zone *zone = zone_beside(&teller, &other);
  muster_agent seen[SEEN];
  zone_bytes parts[PARTS] = {{0}};
  for (uint32_t i = 0; i < SEEN; i++) seen[i] = spawn_at(&other, i);
  while (run_frame(&other).spawns_waiting) continue;
  zone->link_count = 1;
  zone->links[0].seen = seen, zone->links[0].seen_count = SEEN;
  wires_open(&zone->wire, &end, false);
  zone_tell_round(&teller);
  for (uint32_t i = 0; i < PARTS; i++) {
    wire_message told = next_told(zone, &end, WIRE_TELL);
    cr_assert_eq(told.head.kind, WIRE_TELL, "part %u", i);
    zone_put(told.bytes, told.head.bytes, &parts[i]);
  }
  cr_assert_eq(next_told(zone, &end, WIRE_TELL).head.kind, 0);
  def.zone.number = OWN;
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    SCOPED(little_world_destroy) little_world own = zone_world_of(1, &def, &type);
    SCOPED(free_memory) struct zone *seeing = zone_beside(&world, &own);
    for (const char *part = cases[i].parts; *part; part++)
      zone_take_telling(&world, &seeing->links[0], parts[*part - '0'].bytes, parts[*part - '0'].count);
    cr_expect_eq(zone_status(&own).ghosts, cases[i].counts ? SEEN : 0, "parts %s", cases[i].parts);
    free(seeing->links[0].telling.bytes);
  }
  for (uint32_t i = 0; i < PARTS; i++) free(parts[i].bytes);
  wires_close(&zone->wire, &end);
  parcel_free(&zone->pack);
}

/* ---------------------------------------------------------------------------------------------------- many messages */

/* As many as fit into no parcel: they are closed while the world gives its messages, and noted behind that. */
Test(zone_lives, many_messages_go_out_in_several_parcels) {
  enum { MESSAGES = 12000 };
  static hosted_world world;
  static struct wire end;
  journal_place place = place_make();
  SCOPED(little_world_destroy) little_world other = zone_world(OTHER), own = zone_world(OWN);
  muster_agent ghost = spawn_at(&other, 1);
  SCOPED(free_memory) zone_bytes bytes = {0};
  run_frame(&other);
  run_frame(&own);
  cr_assert_eq(muster_ghosts_pack(other.world, &ghost, 1, zone_put, &bytes), MUSTER_OK);
  cr_assert_eq(muster_ghosts_set(own.world, OTHER, bytes.bytes, bytes.count, true), MUSTER_OK);
  struct zone *zone = zone_beside(&world, &own);
  wires_open(&zone->wire, &end, false);
  zone->round_ns = world.period_ns;
  zone->lease.ground.rectangle = (zone_rectangle){-1e9, -1e9, 1e9, 1e9};
  world.journal = journal_begin(&own, place.path);
  for (uint64_t i = 0; i < MESSAGES; i++)
    cr_assert_eq(muster_agent_send(own.world, ghost, &i, sizeof i), MUSTER_OK, "%s", muster_last_error());
  run_frame(&own);
  zone_send_out(&world);
  uint32_t parcels = 0;
  const zone_waiting *waiting;
  TAILQ_FOREACH(waiting, &zone->waiting, link) parcels += waiting->noted;
  cr_expect_gt(parcels, 1);
  cr_expect_eq(zone->published.sent, MESSAGES);
  muster_journal_end(world.journal, false);
  place_remove(&place);
}

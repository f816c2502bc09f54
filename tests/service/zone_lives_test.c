/* Lives of a zone, one after another, without brokers: who left in an earlier one does not come again, and what goes
 * out stands in its journal. */
#include "service/service.h"
#include "service/zones/zone_parts.h"
#include "support/journals.h"
#include "support/zones.h"

#include <criterion/criterion.h>
#include <sys/socket.h>

TestSuite(zone_lives, .timeout = 60);

enum { OTHER = 1, OWN = 2, THIRD = 3, EPOCH = 1, MARKS = 1024 /* that a small world keeps */, ALL = MARKS + 500 };

/* A parcel with one agent, of a zone at that simulation time. */
static struct parcel pack(const zone_bytes *agent, uint32_t number, uint64_t sim_now_ns) {
  struct parcel parcel = {0};
  parcel_begin(&parcel, EPOCH, number, 1, sim_now_ns);
  parcel_open(&parcel, PARCEL_AGENT);
  parcel_put(agent->bytes, agent->count, &parcel);
  parcel_close(&parcel);
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
  little_world other = small_zone(OTHER), own = small_zone(OWN);
  muster_agent agent = spawn_at(&other, 1);
  zone_bytes bytes = {0};
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
  free(bytes.bytes);
  little_world_destroy(&other);
  little_world_destroy(&own);
}

static uint64_t place_of(uint32_t number) {
  return (uint64_t)EPOCH << 32 | number;
}

static uint64_t kept_of(const struct zone *zone) {
  wire_position positions[2 * NEIGHBOURS_MAX];
  uint32_t count = zone_positions(zone, positions);
  for (uint32_t i = 0; i < count; i++)
    if (positions[i].outgoing) return positions[i].sequence;
  return UINT64_MAX;
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
  little_world own = small_zone(OWN); /* restored from before all of it */
  struct zone *zone = zone_beside(&world, &own);
  zone_link *link = &zone->links[0];
  for (uint32_t i = 0; i < ALL; i++)
    cr_assert(zone_take_sent(&world, link, place_of(i + 1), out[i].bytes, out[i].count));
  zone_gone_sort(zone);
  cr_expect_eq(kept_of(zone), 0, "a life that follows needs to know who left, too");
  for (uint32_t i = 0; i < ALL; i++) {
    if (i == ALL / 2) zone_note_all_came(zone);
    cr_assert(zone_take_parcel(&world, link, place_of(i + 1), in[i].bytes, in[i].count));
    zone_catch_up(&world);
    if (i == ALL / 2 - 2) cr_expect_eq(kept_of(zone), 0);
    if (i == ALL / 2) cr_expect_eq(kept_of(zone), place_of(ALL), "all has come that was there when it began");
    if (i == ALL / 2) break;
  }
  cr_expect_eq(zone->published.arrived, 0, "%lu of %u came again", zone->published.arrived, (unsigned)ALL);
  cr_expect_eq(zone->published.refused, ALL / 2 + 1);
  cr_expect_null(zone->left.gone);
  for (uint32_t i = 0; i < ALL; i++) {
    parcel_free(&in[i]);
    parcel_free(&out[i]);
  }
  free(zone);
  little_world_destroy(&own);
}

/* ------------------------------------------------------------------------------------- messages to those who come */

/* A restored zone, to which two neighbours sent what an earlier life has taken: one an agent, the other messages. */
typedef struct latecomer {
  little_world third, own;
  hosted_world world;
  struct zone *zone;
  zone_link *of_messages, *of_agents;
  muster_agent agent;
  zone_bytes bytes;
} latecomer;

static void begin_late(latecomer *late) {
  *late = (latecomer){.third = small_zone(THIRD), .own = small_zone(OWN)};
  late->zone = zone_beside(&late->world, &late->own);
  late->of_messages = &late->zone->links[0];
  late->of_agents = &late->zone->links[1];
  late->agent = spawn_at(&late->third, 1);
  run_frame(&late->third);
  run_frame(&late->own);
  depart(&late->third, late->agent, OWN, &late->bytes);
}

static void end_late(latecomer *late) {
  for (uint32_t i = 0; i < late->zone->link_count; i++) cr_expect(STAILQ_EMPTY(&late->zone->links[i].held));
  cr_expect_eq(zone_status(&late->own).messages_in, late->zone->published.delivered);
  free(late->bytes.bytes);
  free(late->zone);
  little_world_destroy(&late->third);
  little_world_destroy(&late->own);
}

/* A neighbour's parcel with a message that its agent sends to another. */
static void take_message(latecomer *late, zone_link *link, uint32_t number, muster_agent to) {
  const muster_agent sender = {(uint64_t)link->zone << 50 | (uint64_t)EPOCH << 36 | 7};
  const parcel_letter letter = {.from = sender.value, .to = to.value, .sequence = number, .follows = number - 1};
  struct parcel parcel = {0};
  parcel_begin(&parcel, EPOCH, number, 1, 0);
  parcel_open(&parcel, PARCEL_MESSAGE);
  parcel_put(&letter, sizeof letter, &parcel);
  parcel_put(&(uint64_t){number}, sizeof(uint64_t), &parcel);
  parcel_close(&parcel);
  cr_assert(zone_take_parcel(&late->world, link, place_of(number), parcel.bytes, parcel.count));
  parcel_free(&parcel);
}

static void take_agent(latecomer *late, uint32_t number, uint64_t sim_now_ns) {
  struct parcel parcel = pack(&late->bytes, number, sim_now_ns);
  cr_assert(zone_take_parcel(&late->world, late->of_agents, place_of(number), parcel.bytes, parcel.count));
  parcel_free(&parcel);
}

Test(zone_lives, a_message_awaits_whom_an_earlier_life_had_taken) {
  static latecomer late;
  begin_late(&late);
  take_message(&late, late.of_messages, 1, late.agent);
  take_message(&late, late.of_messages, 2, late.agent);
  zone_take_held(&late.world);
  cr_assert(!STAILQ_EMPTY(&late.of_messages->held), "more may come");
  cr_assert_eq(late.zone->published.lost, 0);
  take_agent(&late, 1, 0);
  zone_take_held(&late.world);
  cr_expect_eq(late.zone->published.delivered, 2);
  cr_expect_eq(late.zone->published.lost, 0);
  cr_expect_eq(info_of(&late.own, late.agent).messages, 2);
  zone_note_all_came(late.zone);
  end_late(&late);
}

/* Its parcel was given, and waits for its time. */
Test(zone_lives, a_message_awaits_who_waits_at_another_border) {
  static latecomer late;
  begin_late(&late);
  take_message(&late, late.of_messages, 1, late.agent);
  take_agent(&late, 1, 500);
  zone_note_all_came(late.zone);
  for (int i = 0; i < 2; i++) {
    zone_take_held(&late.world);
    zone_catch_up(&late.world);
  }
  cr_assert(!STAILQ_EMPTY(&late.of_messages->held));
  late.world.sim_now_ns = 500;
  zone_take_held(&late.world);
  cr_expect_eq(info_of(&late.own, late.agent).messages, 1);
  cr_expect_eq(late.zone->published.lost, 0);
  zone_catch_up(&late.world);
  cr_expect(late.zone->caught_up);
  end_late(&late);
}

/* Who is gone is awaited no longer than others come; and two that await each other go on. */
Test(zone_lives, a_message_to_nobody_is_lost_once_all_have_come) {
  static latecomer late;
  const muster_agent nobody = {(uint64_t)OTHER << 50 | (uint64_t)EPOCH << 36 | 9};
  begin_late(&late);
  take_message(&late, late.of_messages, 1, nobody);
  take_message(&late, late.of_agents, 1, nobody);
  take_agent(&late, 2, 0);
  zone_take_held(&late.world);
  cr_assert_eq(late.zone->published.lost, 0);
  zone_note_all_came(late.zone);
  zone_take_held(&late.world);
  cr_expect_eq(late.zone->published.lost, 2);
  cr_expect(muster_agent_exists(late.own.world, late.agent));
  zone_catch_up(&late.world);
  cr_assert(late.zone->caught_up);
  take_message(&late, late.of_messages, 2, nobody);
  cr_expect_eq(late.zone->published.lost, 3, "nothing is awaited any more");
  end_late(&late);
}

/* Also one that comes twice is passed over, and is not lost. */
Test(zone_lives, a_message_that_comes_twice_is_not_counted_as_lost) {
  static latecomer late;
  begin_late(&late);
  take_agent(&late, 1, 0);
  zone_note_all_came(late.zone);
  take_message(&late, late.of_messages, 1, late.agent);
  late.of_messages->in = (zone_pair){0};
  take_message(&late, late.of_messages, 1, late.agent);
  cr_expect_eq(zone_status(&late.own).messages_twice, 1);
  cr_expect_eq(late.zone->published.delivered, 1);
  cr_expect_eq(late.zone->published.lost, 0);
  end_late(&late);
}

/* ---------------------------------------------------------------------------------------------------- many messages */

/* As many as fit into no parcel: they are closed while the world gives its messages, and noted behind that. */
Test(zone_lives, many_messages_go_out_in_several_parcels) {
  enum { MESSAGES = 12000 };
  static hosted_world world;
  journal_place place = place_make();
  little_world other = zone_world(OTHER), own = zone_world(OWN);
  muster_agent ghost = spawn_at(&other, 1);
  zone_bytes bytes = {0};
  run_frame(&other);
  run_frame(&own);
  cr_assert_eq(muster_ghosts_pack(other.world, &ghost, 1, zone_put, &bytes), MUSTER_OK);
  cr_assert_eq(muster_ghosts_set(own.world, OTHER, bytes.bytes, bytes.count, true), MUSTER_OK);
  struct zone *zone = zone_beside(&world, &own);
  int ends[2];
  cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
  wire_open(&zone->wire, ends[0]);
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
  free(bytes.bytes);
  muster_journal_end(world.journal, false);
  little_world_destroy(&other);
  little_world_destroy(&own);
  place_remove(&place);
}

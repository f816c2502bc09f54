/* Lives of a zone, one after another, without brokers: who left in an earlier one does not come again, and what goes
 * out stands in its journal. */
#include "service/service.h"
#include "service/zones/zone_parts.h"
#include "support/journals.h"
#include "support/zones.h"

#include <criterion/criterion.h>
#include <sys/socket.h>

TestSuite(zone_lives, .timeout = 60);

enum { OTHER = 1, OWN = 2, EPOCH = 1, MARKS = 1024 /* that a small world keeps */, ALL = MARKS + 500 };

/* A parcel with one agent. */
static struct parcel pack(const zone_bytes *agent, uint32_t number) {
  struct parcel parcel = {0};
  parcel_begin(&parcel, EPOCH, number, 1, 0);
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
    in[i] = pack(&bytes, i + 1);
    arrive(&own, &bytes, agent);
    depart(&own, agent, OTHER, &bytes);
    out[i] = pack(&bytes, i + 1);
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
  struct zone *zone = calloc(1, sizeof *zone);
  zone->link_count = 1;
  zone->links[0].zone = OTHER;
  STAILQ_INIT(&zone->links[0].held);
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

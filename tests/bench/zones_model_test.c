/* What `muster bench zones` computes: what follows from how zones work, in lands that are made up. That its sizes are
 * those of real lands is what tests/zones/scale_test.c says. */
#include "support/with.h"
#include "zones_model.h"

#include <criterion/criterion.h>
#include <math.h>

static zones_land land_of(uint32_t zones, uint32_t columns) {
  return (zones_land){.zones = zones,
                      .columns = columns,
                      .nodes = 10,
                      .nodes_of_zone = 2,
                      .agents = 10000,
                      .side_m = 1000,
                      .border_m = 50,
                      .speed_m = 2,
                      .hz = 30,
                      .round_frames = 6,
                      .updates = 300000,
                      .state_bytes = 64,
                      .published_bytes = 32,
                      .store_s = 60,
                      .lease_ttl_s = 15};
}

static zones_load load_of(zones_land land) {
  zones_load load;
  zones_model(&land, &load);
  return load;
}

#define EXPECT_NEAR(found, expected, part)                                                                             \
  cr_expect_float_eq(found, expected, fabs((double)(expected)) * (part), "%g instead of %g", (double)(found),          \
                     (double)(expected))

Test(zones_model, a_zone_alone_tells_nobody_and_nobody_crosses) {
  zones_load load = load_of(land_of(1, 1));
  cr_expect_eq(load.flows[ZONES_GHOSTS].messages, 0);
  cr_expect_eq(load.flows[ZONES_CROSSINGS].messages, 0);
  cr_expect_eq(load.flows[ZONES_JOURNAL].messages, 0, "there is no stream");
  EXPECT_NEAR(load.flows[ZONES_LOOKS].messages, 10, 1e-9);
  EXPECT_NEAR(load.flows[ZONES_ASKS].messages, 2 + 9 * 0.5, 1e-9); /* for the zone; for the balancer's */
  EXPECT_NEAR(load.flows[ZONES_RENEWALS].messages, 0.2 + 1.0 / 6, 1e-9);
}

/* Each of ten nodes tells twice a second what it runs, and every ten seconds the sum of its settings: 21 messages a
 * second, over three servers, from where each goes to all ten. */
Test(zones_model, what_nodes_tell_all_others_grows_with_the_square_of_their_number) {
  zones_land ten = land_of(40, 8), thirty = CHANGED(land_of(120, 12), it.nodes = 30);
  zones_load of_ten = load_of(ten), of_thirty = load_of(thirty);
  const zones_flow *few = &of_ten.flows[ZONES_NODES], *many = &of_thirty.flows[ZONES_NODES];
  EXPECT_NEAR(few->messages, 7, 1e-9);
  EXPECT_NEAR(few->out_messages, 70, 1e-9);
  EXPECT_NEAR(many->messages, 21, 1e-9);
  EXPECT_NEAR(many->out_messages, 630, 1e-9);
  EXPECT_NEAR(many->bytes, 3 * few->bytes, 1e-9);
  EXPECT_NEAR(many->out_bytes, 9 * few->out_bytes, 1e-9);
}

/* 20 tellings a second of 135 bytes and 71 for each of four zones, and a sum of 18. */
Test(zones_model, a_node_tells_of_each_of_its_zones) {
  zones_load load = load_of(land_of(40, 8)), of_crowded = load_of(land_of(80, 8));
  EXPECT_NEAR(load.flows[ZONES_NODES].bytes, (20 * (135 + 4 * 71) + 18) / 3.0, 1e-9);
  EXPECT_NEAR(of_crowded.flows[ZONES_NODES].bytes, (20 * (135 + 8 * 71) + 18) / 3.0, 1e-9);
  cr_expect_eq(of_crowded.flows[ZONES_NODES].messages, load.flows[ZONES_NODES].messages);
}

/* Ten nodes twice a second, and the balancer once; whatever the number of zones. */
Test(zones_model, each_node_asks_which_moves_are_wanted) {
  zones_load load = load_of(land_of(40, 8)), of_crowded = load_of(land_of(80, 8));
  const zones_flow *orders = &load.flows[ZONES_ORDERS];
  EXPECT_NEAR(orders->messages, 21, 1e-9);
  EXPECT_NEAR(orders->bytes, 21 * 201, 1e-9);
  EXPECT_NEAR(orders->out_bytes, 21 * 431, 1e-9);
  EXPECT_NEAR(of_crowded.flows[ZONES_ORDERS].messages, 21, 1e-9);
}

/* Nothing crosses from a zone alone, so it can be counted: 10 looks, 2 questions for the zone and 4.5 for the
 * balancer's lease, 21 for orders; renewals, 0.2 of the zone and one in six seconds of the balancer, and a note in 60.
 */
Test(zones_model, all_questions_are_reads_of_etcd_and_renewals_are_writes) {
  zones_load load = load_of(land_of(1, 1));
  EXPECT_NEAR(load.reads, 10 + 6.5 + 21, 1e-9);
  EXPECT_NEAR(load.writes, 0.2 + 1.0 / 6 + 1.0 / 60, 1e-9);
  EXPECT_NEAR(zones_taken(&load, ZONES_ETCD_REQUESTS), load.reads + load.writes, 1e-9);
}

/* It is renewed at the first of its looks, every two seconds, behind a third of its time. */
Test(zones_model, a_short_lease_of_the_balancer_is_renewed_at_each_look) {
  zones_land shorter = CHANGED(land_of(1, 1), it.lease_ttl_s = 6), longer = CHANGED(shorter, it.lease_ttl_s = 30);
  EXPECT_NEAR(load_of(shorter).flows[ZONES_RENEWALS].messages, 0.5 + 0.5, 1e-9);
  EXPECT_NEAR(load_of(longer).flows[ZONES_RENEWALS].messages, 0.1 + 0.1, 1e-9);
}

/* Four zones on each node: 64 nodes have 256, and the next zone needs a node more. */
Test(zones_model, the_table_of_nodes_ends_with_the_nodes) {
  zones_land land = land_of(40, 8);
  cr_expect_eq(zones_end(&land, ZONES_OF_NODES), 256);
  cr_expect_eq(zones_end(&land, ZONES_OF_TABLE), 64);
  land.nodes = 40;
  cr_expect_eq(zones_end(&land, ZONES_OF_NODES), 64, "a node for each zone");
}

/* Ten looks a second are five when each waits a tenth of a second for its answer; only the bytes of each request itself
 * are fewer. */
Test(zones_model, a_busy_machine_has_its_own_pace) {
  zones_land quiet = CHANGED(land_of(4, 2), it.stream = true);
  zones_land busy = CHANGED(quiet, it.pace = (zones_pace){.answer_s = 0.1, .crossings = 20, .chunks = 50});
  zones_load of_quiet = load_of(quiet), of_busy = load_of(busy);
  const zones_flow *few = of_busy.flows, *many = of_quiet.flows;
  EXPECT_NEAR(many[ZONES_LOOKS].messages, 40, 1e-9);
  EXPECT_NEAR(few[ZONES_LOOKS].messages, 20, 1e-9);
  EXPECT_NEAR(few[ZONES_ASKS].messages, 4 / 0.6 + 4.5, 1e-9);
  EXPECT_NEAR(few[ZONES_ORDERS].messages, 10 / 0.6 + 1, 1e-9);
  EXPECT_NEAR(of_quiet.reads - of_busy.reads, 20 + (8 - 4 / 0.6) + (20 - 10 / 0.6), 1e-9);
  EXPECT_NEAR(many[ZONES_LOOKS].bytes - few[ZONES_LOOKS].bytes, 20 * (141 + 3 * 245), 1e-9);
  EXPECT_NEAR(many[ZONES_LOOKS].out_bytes - few[ZONES_LOOKS].out_bytes, 20 * (461 + 3 * 50), 1e-9);
  EXPECT_NEAR(few[ZONES_CROSSINGS].messages, 20, 1e-9);
  EXPECT_NEAR(many[ZONES_CROSSINGS].bytes - few[ZONES_CROSSINGS].bytes, (many[ZONES_CROSSINGS].messages - 20) * 296,
              1e-9);
  EXPECT_NEAR(few[ZONES_JOURNAL].messages, 50, 1e-9);
  EXPECT_NEAR(many[ZONES_JOURNAL].bytes - few[ZONES_JOURNAL].bytes, (120 - 50) * 16, 1e-9);
  cr_expect_eq(of_busy.puts, of_quiet.puts);
}

/* 6.4 agents leave each of the two zones in a second: a second more on the way, and the other sees so many fewer. */
Test(zones_model, who_is_longer_on_the_way_is_seen_less) {
  zones_land quiet = CHANGED(land_of(2, 2), it.pace.away_s = 0.5), busy = CHANGED(quiet, it.pace.away_s = 1.5);
  EXPECT_NEAR(zones_seen(&quiet) - zones_seen(&busy), zones_leaving(&quiet), 1e-3);
}

Test(zones_model, as_many_cross_a_border_as_walk_through_a_line) {
  zones_land land = land_of(2, 2);
  EXPECT_NEAR(zones_leaving(&land), 0.01 * 2 / M_PI * 1000, 1e-9);
  EXPECT_NEAR(zones_seen(&land), 0.01 * 1000 * 50, 0.01);
}

/* Sides and corners: a row of three, three rows of three, and a last row that is shorter. */
Test(zones_model, neighbours_are_those_beside_and_at_corners) {
  zones_land row = land_of(3, 3), square = land_of(9, 3), ragged = land_of(5, 3);
  zones_load of_row = load_of(row), of_square = load_of(square), of_ragged = load_of(ragged);
  double rounds = zones_rounds(&row) / ZONES_SERVERS;
  EXPECT_NEAR(of_row.flows[ZONES_GHOSTS].messages, 4 * rounds, 1e-9);
  EXPECT_NEAR(of_square.flows[ZONES_GHOSTS].messages, (24 + 16) * zones_rounds(&square) / ZONES_SERVERS, 1e-9);
  EXPECT_NEAR(of_ragged.flows[ZONES_GHOSTS].messages, (10 + 6) * zones_rounds(&ragged) / ZONES_SERVERS, 1e-9);
}

Test(zones_model, rounds_come_as_often_as_the_settings_say_where_there_are_many_agents) {
  zones_land many = CHANGED(land_of(2, 2), it.agents = 100000), few = CHANGED(many, it.agents = 50);
  EXPECT_NEAR(zones_rounds(&many), 5, 0.02);
  EXPECT_NEAR(zones_rounds(&few), 30, 1e-9);
}

Test(zones_model, with_the_stream_each_server_has_a_chunk_of_each_frame) {
  zones_load load = load_of(CHANGED(land_of(4, 2), it.stream = true));
  EXPECT_NEAR(load.flows[ZONES_JOURNAL].messages, 4 * 30, 1e-9);
  cr_expect_gt(load.flows[ZONES_JOURNAL].bytes, load.flows[ZONES_GHOSTS].bytes, "the record has what was told");
}

Test(zones_model, a_larger_state_makes_everything_larger_and_nothing_more_frequent) {
  zones_land small = land_of(4, 2), large = CHANGED(small, it.state_bytes = it.published_bytes = 150);
  zones_load of_small = load_of(small), of_large = load_of(large);
  for (zones_kind kind = 0; kind < ZONES_KINDS; kind++) {
    if (kind != ZONES_SNAPSHOTS) cr_expect_eq(of_large.flows[kind].messages, of_small.flows[kind].messages, "%d", kind);
    cr_expect_geq(of_large.flows[kind].bytes, of_small.flows[kind].bytes, "%d", kind);
  }
  cr_expect_gt(of_large.flows[ZONES_CROSSINGS].bytes, of_small.flows[ZONES_CROSSINGS].bytes);
  cr_expect_gt(of_large.flows[ZONES_SNAPSHOTS].bytes, of_small.flows[ZONES_SNAPSHOTS].bytes);
}

Test(zones_model, ends_where_the_next_zone_more_takes_too_much) {
  zones_land land = land_of(100, 10);
  for (zones_resource i = 0; i < ZONES_RESOURCES; i++) {
    uint32_t end = zones_end(&land, i);
    zones_load of_last = load_of(zones_land_of(&land, end)),
               of_beyond = load_of(zones_land_of(&land, end + end / 4 + 4));
    cr_expect_leq(zones_taken(&of_last, i), zones_limits[i].most, "%s", zones_limits[i].name);
    cr_expect_gt(zones_taken(&of_beyond, i), zones_limits[i].most, "%s", zones_limits[i].name);
  }
  cr_expect_eq(zones_end(&land, ZONES_OF_SETTINGS), 16);
}

/* What `muster bench zones` computes: what follows from how zones work, in lands that are made up. That its sizes are
 * those of real lands is what tests/zones/scale_test.c says. */
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

static zones_load load_of(const zones_land *land) {
  zones_load load;
  zones_model(land, &load);
  return load;
}

#define EXPECT_NEAR(found, expected, part)                                                                             \
  cr_expect_float_eq(found, expected, fabs((double)(expected)) * (part), "%g instead of %g", (double)(found),          \
                     (double)(expected))

Test(zones_model, a_zone_alone_tells_nobody_and_nobody_crosses) {
  zones_land land = land_of(1, 1);
  zones_load load = load_of(&land);
  cr_expect_eq(load.flows[ZONES_GHOSTS].messages, 0);
  cr_expect_eq(load.flows[ZONES_CROSSINGS].messages, 0);
  cr_expect_eq(load.flows[ZONES_JOURNAL].messages, 0, "there is no stream");
  EXPECT_NEAR(load.flows[ZONES_LOOKS].messages, 10, 1e-9);
  EXPECT_NEAR(load.flows[ZONES_ASKS].messages, 2, 1e-9);
  EXPECT_NEAR(load.flows[ZONES_RENEWALS].messages, 0.2, 1e-9);
}

Test(zones_model, as_many_cross_a_border_as_walk_through_a_line) {
  zones_land land = land_of(2, 2);
  EXPECT_NEAR(zones_leaving(&land), 0.01 * 2 / M_PI * 1000, 1e-9);
  EXPECT_NEAR(zones_seen(&land), 0.01 * 1000 * 50, 0.01);
}

/* Sides and corners: a row of three, three rows of three, and a last row that is shorter. */
Test(zones_model, neighbours_are_those_beside_and_at_corners) {
  zones_land row = land_of(3, 3), square = land_of(9, 3), ragged = land_of(5, 3);
  zones_load of_row = load_of(&row), of_square = load_of(&square), of_ragged = load_of(&ragged);
  double rounds = zones_rounds(&row) / ZONES_SERVERS;
  EXPECT_NEAR(of_row.flows[ZONES_GHOSTS].messages, 4 * rounds, 1e-9);
  EXPECT_NEAR(of_square.flows[ZONES_GHOSTS].messages, (24 + 16) * zones_rounds(&square) / ZONES_SERVERS, 1e-9);
  EXPECT_NEAR(of_ragged.flows[ZONES_GHOSTS].messages, (10 + 6) * zones_rounds(&ragged) / ZONES_SERVERS, 1e-9);
}

Test(zones_model, rounds_come_as_often_as_the_settings_say_where_there_are_many_agents) {
  zones_land many = land_of(2, 2), few = land_of(2, 2);
  many.agents = 100000;
  few.agents = 50;
  EXPECT_NEAR(zones_rounds(&many), 5, 0.02);
  EXPECT_NEAR(zones_rounds(&few), 30, 1e-9);
}

Test(zones_model, with_the_stream_each_server_has_a_chunk_of_each_frame) {
  zones_land land = land_of(4, 2);
  land.stream = true;
  zones_load load = load_of(&land);
  EXPECT_NEAR(load.flows[ZONES_JOURNAL].messages, 4 * 30, 1e-9);
  cr_expect_gt(load.flows[ZONES_JOURNAL].bytes, load.flows[ZONES_GHOSTS].bytes, "the record has what was told");
}

Test(zones_model, a_larger_state_makes_everything_larger_and_nothing_more_frequent) {
  zones_land small = land_of(4, 2), large = small;
  large.state_bytes = large.published_bytes = 150;
  zones_load of_small = load_of(&small), of_large = load_of(&large);
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
    zones_land last = zones_land_of(&land, end), beyond = zones_land_of(&land, end + end / 4 + 4);
    zones_load of_last = load_of(&last), of_beyond = load_of(&beyond);
    cr_expect_leq(zones_taken(&of_last, i), zones_limits[i].most, "%s", zones_limits[i].name);
    cr_expect_gt(zones_taken(&of_beyond, i), zones_limits[i].most, "%s", zones_limits[i].name);
  }
  cr_expect_eq(zones_end(&land, ZONES_OF_SETTINGS), 16);
}

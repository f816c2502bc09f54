/* The moves that etcd says are wanted: what is read of them, and how old they are. */
#include "service/zones/orders.h"

#include <criterion/criterion.h>
#include <stdio.h>

TestSuite(zones_orders, .timeout = 60);

static const uint64_t second_ns = 1000000000, overdue_s = 120;

/* One reading of etcd that has these two zones; an empty node is no order. */
static move_orders read_at(const move_orders *known, const char *third, const char *ninth, uint64_t at_s) {
  move_orders read = {0};
  if (*third) orders_add(&read, known, 3, third, at_s * second_ns);
  if (*ninth) orders_add(&read, known, 9, ninth, at_s * second_ns);
  return read;
}

static void expect_order(const move_orders *known, uint32_t zone, const char *node, uint64_t since_s) {
  const move_order *found = orders_find(known, zone);
  cr_assert(found, "zone %u is wanted nowhere", zone);
  cr_expect_eq(found->zone, zone);
  cr_expect_str_eq(found->node, node);
  cr_expect_eq(found->since_ns, since_s * second_ns, "zone %u: since %lu ns instead of %lu s", zone, found->since_ns,
               since_s);
}

Test(zones_orders, are_as_old_as_the_reading_that_had_them_first) {
  move_orders known = {0};
  known = read_at(&known, "north", "", 1000);
  expect_order(&known, 3, "north", 1000);
  cr_expect_null(orders_find(&known, 9));
  known = read_at(&known, "north", "south", 1001);
  expect_order(&known, 3, "north", 1000);
  expect_order(&known, 9, "south", 1001);
  known = read_at(&known, "north", "south", 1002);
  expect_order(&known, 3, "north", 1000);
  expect_order(&known, 9, "south", 1001);
}

Test(zones_orders, of_another_node_are_others) {
  move_orders known = {0};
  known = read_at(&known, "north", "south", 1000);
  known = read_at(&known, "norths", "south", 1030);
  expect_order(&known, 3, "norths", 1030);
  expect_order(&known, 9, "south", 1000);
  known = read_at(&known, "north", "", 1040);
  expect_order(&known, 3, "north", 1040);
  known = read_at(&known, "north", "south", 1050);
  expect_order(&known, 9, "south", 1050); /* between, nobody wanted it */
}

/* However often etcd is read meanwhile. */
Test(zones_orders, are_overdue_once_they_are_old) {
  move_orders known = {0};
  for (uint64_t at_s = 1000; at_s < 1000 + overdue_s; at_s++) {
    known = read_at(&known, "north", at_s < 1010 ? "" : "south", at_s);
    cr_assert_null(orders_take_overdue(&known, at_s * second_ns), "at %lu s", at_s);
  }
  known = read_at(&known, "north", "south", 1000 + overdue_s);
  cr_expect_null(orders_take_overdue(&known, (1000 + overdue_s) * second_ns - 1));
  const move_order *late = orders_take_overdue(&known, (1000 + overdue_s) * second_ns);
  cr_assert(late && late->zone == 3);
  cr_expect_str_eq(late->node, "north");
  cr_expect_null(orders_take_overdue(&known, (1000 + overdue_s) * second_ns));
  expect_order(&known, 3, "north", 1000 + overdue_s); /* told again only in as long */
  expect_order(&known, 9, "south", 1010);
}

Test(zones_orders, are_all_told_that_are_overdue_at_once) {
  move_orders known = {0};
  known = read_at(&known, "north", "south", 1000);
  uint32_t zones = 0;
  for (const move_order *late; (late = orders_take_overdue(&known, (1000 + 2 * overdue_s) * second_ns));)
    zones |= 1u << late->zone;
  cr_expect_eq(zones, 1u << 3 | 1u << 9);
}

Test(zones_orders, have_an_end) {
  move_orders none = {0}, known = {0};
  char node[NAME_BYTES];
  for (uint32_t zone = 1; zone <= BALANCE_ZONES_MAX + 2; zone++) {
    snprintf(node, sizeof node, "node-%u", zone);
    orders_add(&known, &none, zone, node, zone * second_ns);
  }
  cr_expect_eq(known.count, BALANCE_ZONES_MAX);
  snprintf(node, sizeof node, "node-%d", BALANCE_ZONES_MAX);
  expect_order(&known, BALANCE_ZONES_MAX, node, BALANCE_ZONES_MAX);
  cr_expect_null(orders_find(&known, BALANCE_ZONES_MAX + 1));
}

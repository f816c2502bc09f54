/* Orders that zones be moved, with a real etcd. */
#include "broker_here.h"

TestSuite(broker_moves, .fini = end_here, .timeout = 120);

/* All orders that stand. */
typedef struct orders_seen {
  uint32_t count, zones[8];
  char nodes[8][NAME_BYTES];
  lab_answer answer;
} orders_seen;

static void see_order(uint32_t zone, const char *node, void *user) {
  orders_seen *seen = user;
  cr_assert_lt(seen->count, 8);
  seen->zones[seen->count] = zone;
  snprintf(seen->nodes[seen->count++], NAME_BYTES, "%s", node);
}

static void end_of_seen(muster_result result, void *user) {
  lab_done(result, &((orders_seen *)user)->answer);
}

static orders_seen look(struct broker *broker) {
  orders_seen seen = {0};
  call_here(broker_moves_read(broker, see_order, end_of_seen, &seen), &seen.answer);
  EXPECT_RESULT(seen.answer, MUSTER_OK);
  return seen;
}

static const char *node_of(const orders_seen *seen, uint32_t zone) {
  for (uint32_t i = 0; i < seen->count; i++)
    if (seen->zones[i] == zone) return seen->nodes[i];
  return NULL;
}

static muster_result order(struct broker *broker, uint32_t zone, const char *node) {
  return CALL_HERE(broker_move_want, broker, zone, node).result;
}

static muster_result end_order(struct broker *broker, const broker_lease *lease, const char *node) {
  return CALL_HERE(broker_move_end, broker, lease, node).result;
}

Test(broker_moves, the_last_order_counts_and_can_be_taken_back) {
  struct broker *a = open_as(0, "a"), *b = open_as(1, "b");
  cr_assert_eq(look(a).count, 0);
  cr_assert_eq(order(a, 7, "b"), MUSTER_OK);
  cr_assert_eq(order(b, 70, "a"), MUSTER_OK);
  cr_assert_eq(order(b, 7, "c-3"), MUSTER_OK);
  orders_seen seen = look(b);
  cr_assert_eq(seen.count, 2);
  cr_expect_str_eq(node_of(&seen, 7), "c-3");
  cr_expect_str_eq(node_of(&seen, 70), "a");
  cr_assert_eq(order(a, 7, ""), MUSTER_OK);
  cr_assert_eq(order(a, 7, ""), MUSTER_OK, "it is gone already");
  seen = look(a);
  cr_assert_eq(seen.count, 1);
  cr_expect_str_eq(node_of(&seen, 70), "a");
}

Test(broker_moves, what_names_no_zone_or_no_node_is_refused) {
  struct broker *a = open_as(0, "a");
  const char *const bad[] = {"a b", "a/b", "a.b", "\xc3\xa4", "a-name-of-thirty-two-letters-0001"};
  cr_expect_eq(broker_move_want(a, 0, "b", NULL, NULL), MUSTER_E_ARGUMENT);
  cr_expect_eq(broker_move_want(a, BROKER_ZONE_MAX + 1, "b", NULL, NULL), MUSTER_E_ARGUMENT);
  for (uint32_t i = 0; i < COUNT_OF(bad); i++)
    cr_expect_eq(broker_move_want(a, 1, bad[i], NULL, NULL), MUSTER_E_ARGUMENT, "%s", bad[i]);
  cr_expect_eq(look(a).count, 0);
}

Test(broker_moves, only_the_owner_ends_an_order_and_only_the_one_that_it_knows) {
  struct broker *a = open_as(0, "a"), *b = open_as(1, "b");
  broker_lease first = take_free(a, 7);
  cr_assert_eq(order(b, 7, "b"), MUSTER_OK);
  cr_expect_eq(end_order(a, &first, "c"), MUSTER_E_STATE, "another order stands there");
  cr_expect_eq(look(a).count, 1);
  broker_lease second = take(a, 7);
  cr_expect_eq(end_order(a, &first, "b"), MUSTER_E_STATE, "it is of an epoch that is over");
  cr_expect_eq(look(a).count, 1);
  cr_expect_eq(end_order(a, &second, "b"), MUSTER_OK);
  cr_expect_eq(look(a).count, 0);
}

/* Other keys of the cluster, and those of another one, are no orders. */
Test(broker_moves, leases_and_other_clusters_are_no_orders) {
  struct broker *a = open_as(0, "a");
  broker_settings other = lab_settings(&here, "a");
  snprintf(other.world, sizeof other.world, "large2");
  struct broker *b = lab_open(&here, 1, &other, true);
  cr_assert_eq(lab_take(&here, a, 7, false).result, MUSTER_OK);
  cr_assert_eq(order(b, 9, "b"), MUSTER_OK);
  cr_expect_eq(look(a).count, 0);
  cr_expect_eq(look(b).count, 1);
}

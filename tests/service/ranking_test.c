/* The agents that stand out, in order. */
#include "room.h"
#include "service/ranking.h"

static void offer_all(struct ranking *ranking, uint32_t limit, const double *values, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) ranking_offer(ranking, limit, values[i], muster_agent_make(i, 1));
}

static void expect_order(const struct ranking *ranking, const uint32_t *indices, uint32_t count) {
  cr_assert_eq(ranking->count, count);
  for (uint32_t i = 0; i < count; i++) cr_expect_eq(muster_agent_index(ranking->agents[i]), indices[i], "place %u", i);
}

Test(ranking, keeps_the_greatest_in_order_and_the_earlier_of_equals_first) {
  static struct ranking three;
  offer_all(&three, 3, (const double[]){2, 9, 4, 9, 1, 5}, 6);
  expect_order(&three, (const uint32_t[]){1, 3, 5}, 3);
}

Test(ranking, takes_only_what_is_above_0) {
  static struct ranking some;
  offer_all(&some, 5, (const double[]){0, -1, 0.5, 0}, 4);
  expect_order(&some, (const uint32_t[]){2}, 1);
}

Test(ranking, is_full_at_its_limit) {
  static struct ranking all;
  for (uint32_t i = 0; i < 1000; i++) ranking_offer(&all, RANKING_MOST, 1 + i, muster_agent_make(i, 1));
  cr_assert_eq(all.count, RANKING_MOST);
  cr_expect_eq(muster_agent_index(all.agents[0]), 999);
  cr_expect_eq(muster_agent_index(all.agents[RANKING_MOST - 1]), 900);
}

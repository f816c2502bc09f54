/* What pathstorm keeps of its searches, and for how long. */
#include "examples/worlds/pathstorm.h"

#include <criterion/criterion.h>

enum { WALKERS = 3, SECOND = 1000000000 };

static pathstorm_grant grants[WALKERS];

static pathstorm self;

static void begin(void) {
  self = (pathstorm){.base.agents = WALKERS, .grants = grants};
  for (uint32_t i = 0; i < WALKERS; i++) grants[i] = (pathstorm_grant){PATHSTORM_NONE, 0};
}

TestSuite(pathstorm_fields, .init = begin);

Test(pathstorm_fields, are_free_again_when_nobody_follows_them) {
  uint32_t field = pathstorm_field_take(&self, 7, SECOND);
  cr_assert_neq(pathstorm_field_take(&self, 8, SECOND), field, "it is searched");
  pathstorm_field_grant(&self, 0, 1, field);
  pathstorm_field_grant(&self, 1, 1, field);
  pathstorm_field_keep(&self, field, false, SECOND);
  cr_assert_neq(pathstorm_field_take(&self, 9, SECOND), field);
  pathstorm_field_return(&self, 0, 1);
  cr_assert_neq(pathstorm_field_take(&self, 10, SECOND), field, "one follows it");
  pathstorm_field_return(&self, 1, 1);
  pathstorm_field_return(&self, 1, 1);
  cr_assert_eq(self.fields[field].followers, 0, "what is given back twice counts once");
  cr_assert_eq(pathstorm_field_take(&self, 11, SECOND), field);
}

Test(pathstorm_fields, are_followed_one_at_a_time) {
  uint32_t first = pathstorm_field_take(&self, 7, SECOND), second = pathstorm_field_take(&self, 8, SECOND);
  pathstorm_field_grant(&self, 0, 1, first);
  pathstorm_field_grant(&self, 0, 2, second);
  cr_assert_eq(self.fields[first].followers, 0);
  cr_assert_eq(self.fields[second].followers, 1);
  pathstorm_field_return(&self, 0, 1);
  cr_assert_eq(self.fields[second].followers, 1, "what is given back was granted for an order before");
  pathstorm_field_return(&self, 0, 2);
  cr_assert_eq(self.fields[second].followers, 0);
}

Test(pathstorm_fields, remember_for_a_while_that_a_goal_cannot_be_reached) {
  uint64_t now_ns = 100ull * SECOND, soon_ns = now_ns + 14ull * SECOND, later_ns = now_ns + 15ull * SECOND;
  uint32_t field = pathstorm_field_take(&self, 7, now_ns);
  cr_assert_eq(pathstorm_field_about(&self, 7, now_ns), PATHSTORM_NONE, "nothing is known yet");
  pathstorm_field_keep(&self, field, true, now_ns);
  cr_assert_eq(pathstorm_field_about(&self, 7, soon_ns), field);
  cr_assert_eq(pathstorm_field_about(&self, 8, soon_ns), PATHSTORM_NONE);
  cr_assert_neq(pathstorm_field_take(&self, 9, soon_ns), field);
  cr_assert_eq(pathstorm_field_about(&self, 7, later_ns), PATHSTORM_NONE, "it is to be searched again");
  cr_assert_eq(pathstorm_field_take(&self, 10, later_ns), field);
}

Test(pathstorm_fields, know_a_part_as_long_as_somebody_follows) {
  uint32_t field = pathstorm_field_take(&self, 7, SECOND);
  pathstorm_field_grant(&self, 2, 1, field);
  cr_assert_eq(pathstorm_field_about(&self, 7, SECOND), PATHSTORM_NONE, "a search that goes on answers for itself");
  pathstorm_field_keep(&self, field, false, SECOND);
  cr_assert_eq(pathstorm_field_about(&self, 7, 1000ull * SECOND), field);
  pathstorm_field_return(&self, 2, 1);
  cr_assert_eq(pathstorm_field_about(&self, 7, SECOND), PATHSTORM_NONE);
}

/* Memory is given up before a search has to wait, the oldest first; what is followed or searched never is. */
Test(pathstorm_fields, give_up_the_oldest_memory_when_none_is_free) {
  for (uint32_t i = 0; i < PATHSTORM_FIELDS; i++) cr_assert_neq(pathstorm_field_take(&self, i, SECOND), PATHSTORM_NONE);
  cr_assert_eq(pathstorm_field_take(&self, 99, SECOND), PATHSTORM_NONE);
  pathstorm_field_grant(&self, 0, 1, 5);
  for (uint32_t i = 5; i < 9; i++) pathstorm_field_keep(&self, i, true, (20 - i) * (uint64_t)SECOND);
  cr_assert_eq(pathstorm_field_take(&self, 99, 12ull * SECOND), 8);
  cr_assert_eq(pathstorm_field_take(&self, 99, 12ull * SECOND), 7);
  cr_assert_eq(pathstorm_field_take(&self, 99, 12ull * SECOND), 6);
  cr_assert_eq(pathstorm_field_take(&self, 99, 12ull * SECOND), PATHSTORM_NONE, "5 is followed");
}

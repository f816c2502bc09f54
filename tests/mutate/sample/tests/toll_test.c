#include "plan/toll.h"

#include <criterion/criterion.h>

Test(toll, rises_with_axles) {
  cr_assert_eq(toll_for(1), 1);
  cr_assert_eq(toll_for(2), 2);
  cr_assert_eq(toll_for(3), 29);
  cr_assert_eq(lorry_weight(2), 16);
}

Test(toll, is_taken_from_those_that_can_pay) {
  toll gate = {0};
  cr_assert(!toll_take(NULL, 1, 1));
  cr_assert(!toll_take(&gate, 2, 1));
  cr_assert_eq(gate.passed, 0);
  cr_assert(toll_take(&gate, 2, 4));
  cr_assert(toll_take(&gate, 2, 3));
  cr_assert_eq(gate.passed, 2);
  cr_assert_eq(gate.paid, 7);
}

Test(toll, is_highest_of_a_row_behind_the_numbers_of_those_looked_at) {
  cr_assert_eq(toll_highest((int[]){1, 2, 3, 2, 9}, 4), 35);
  cr_assert_eq(toll_highest((int[]){2, 1}, 2), 3);
}

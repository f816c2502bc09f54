/* What a world is busy with, and on which thread. */
#include "run/occupancy.h"

#include <criterion/criterion.h>
#include <stdlib.h>

Test(occupancy, is_of_the_thread_that_set_it_until_it_ends) {
  struct occupancy occupancy = {0};
  cr_assert_not(occupancy_is_mine(&occupancy));
  occupancy_set(&occupancy, OCCUPIED_BY_FRAME);
  cr_assert(occupancy_is_mine(&occupancy));
  cr_assert(occupancy_get(&occupancy) == OCCUPIED_BY_FRAME);
  occupancy_set(&occupancy, OCCUPIED_NOT);
  cr_assert_not(occupancy_is_mine(&occupancy));
}

/* A call that began deeper in this stack was left; one that began on another stack, such as a coroutine's, may go on
 * there, wherever in memory that is. */
Test(occupancy, was_left_only_when_both_places_are_in_the_threads_own_stack) {
  char here[64], *heap = malloc(sizeof here);
  struct occupancy occupancy = {.stack = here};
  cr_assert(heap != NULL);
  occupancy_set(&occupancy, OCCUPIED_BY_FRAME);
  cr_assert(occupancy_was_left(&occupancy, here + 1));
  occupancy.stack = here + 1;
  cr_assert_not(occupancy_was_left(&occupancy, here));
  occupancy.stack = heap;
  cr_assert(heap < here, "a stack lies above what is allocated");
  cr_assert_not(occupancy_was_left(&occupancy, here));
  occupancy.stack = here;
  cr_assert_not(occupancy_was_left(&occupancy, heap));
  free(heap);
}

/* Which agents are to be lowered at a depth, without a world. */
#include "plan/shedding.h"

#include <criterion/criterion.h>

enum { POPULATION = 1000, IMPORTANT = POPULATION / 10, LOW = 100 << 8, HIGH = 200 << 8 };

/* An agent that is down stays down at a depth at which one that is not does not yet go down. Not so in the most
 * important tenth: as long as others are not three levels down, no agent in it is down, whatever its level was. */
Test(shedding, nobody_of_the_most_important_tenth_stays_down_by_the_band) {
  static score_board board;
  board.importance[LOW >> 8] = POPULATION - IMPORTANT;
  board.importance[HIGH >> 8] = IMPORTANT;
  uint32_t stay = 0, go = 0;
  struct shedding shedding;
  shedding_create(&shedding, 0.5);
  shedding.depth = 0.89;
  for (uint32_t index = 0; index < POPULATION; index++) {
    cr_assert_eq(shedding_wanted(&shedding, &board, POPULATION, HIGH, index, 1), 0, "agent %u", index);
    go += shedding_wanted(&shedding, &board, POPULATION, LOW, index, 0) > 0;
    stay += shedding_wanted(&shedding, &board, POPULATION, LOW, index, 1) > 0;
  }
  cr_assert_gt(stay, go);
}

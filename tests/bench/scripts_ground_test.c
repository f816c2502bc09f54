/* The grid of the one-state loop finds whom a look at everybody finds. */
#include "loop_ground.h"

#include <criterion/criterion.h>
#include <math.h>
#include <muster/random.h>

enum { AGENTS = 400, TYPES = 3 };

static double ground_share(uint64_t number) {
  return (double)(muster_random_mix(number) >> 11) * 0x1p-53;
}

static double ground_distance(const loop_ground *ground, uint32_t one, uint32_t other) {
  return hypot(ground->agents[one].x - ground->agents[other].x, ground->agents[one].y - ground->agents[other].y);
}

static uint32_t count_within(const loop_ground *ground, uint32_t agent, double radius_m, uint32_t type) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < ground->count; i++)
    count += i != agent && ground->agents[i].type != LOOP_NONE &&
             (type == LOOP_NONE || ground->agents[i].type == type) && ground_distance(ground, agent, i) <= radius_m;
  return count;
}

/* Some walk, also out of the square, some are gone and others there in their place. */
static void ground_fill(loop_ground *ground) {
  cr_assert(loop_ground_open(ground, AGENTS, 200, 15));
  for (uint32_t i = 0; i < AGENTS; i++)
    cr_assert_eq(loop_ground_add(ground, i % TYPES, 200 * ground_share(i) - 100, 200 * ground_share(i + 7777) - 100),
                 i);
  cr_assert_eq(loop_ground_add(ground, 0, 0, 0), LOOP_NONE);
  for (uint32_t i = 0; i < AGENTS; i += 3)
    loop_ground_move(ground, i, 300 * ground_share(i + 55) - 150, 300 * ground_share(i + 66) - 150);
  for (uint32_t i = 5; i < AGENTS; i += 10) loop_ground_remove(ground, i);
  for (uint32_t i = 0; i < AGENTS / 20; i++)
    cr_assert_neq(loop_ground_add(ground, 1, i + 0.01 * i * i, -50), LOOP_NONE);
}

Test(scripts_ground, the_nearest_are_found_in_their_order) {
  loop_ground ground;
  ground_fill(&ground);
  for (uint32_t i = 0; i < AGENTS; i++) {
    loop_near near[LOOP_NEAREST_MOST];
    uint32_t type = i % 2 ? LOOP_NONE : 1, most = 1 + i % LOOP_NEAREST_MOST;
    if (ground.agents[i].type == LOOP_NONE) continue;
    uint32_t within = count_within(&ground, i, 33, type), count = loop_ground_nearby(&ground, i, 33, type, most, near);
    cr_assert_eq(count, within < most ? within : most);
    for (uint32_t k = 0; k < count; k++) {
      cr_assert_float_eq(near[k].distance_m, ground_distance(&ground, i, near[k].agent), 1e-9);
      cr_assert(k == 0 || near[k - 1].distance_m <= near[k].distance_m);
    }
    if (count) cr_assert_eq(count_within(&ground, i, near[count - 1].distance_m - 1e-9, type), count - 1);
  }
  loop_ground_close(&ground);
}

Test(scripts_ground, an_id_is_of_one_agent_for_good) {
  loop_ground ground;
  cr_assert(loop_ground_open(&ground, 4, 100, 10));
  uint32_t first = loop_ground_add(&ground, 0, 1, 1);
  int64_t id = loop_ground_id(&ground, first);
  cr_assert_eq(loop_ground_find(&ground, id), first);
  loop_ground_remove(&ground, first);
  cr_assert_eq(loop_ground_find(&ground, id), LOOP_NONE);
  cr_assert_eq(loop_ground_add(&ground, 0, 2, 2), first);
  cr_assert_eq(loop_ground_find(&ground, id), LOOP_NONE);
  cr_assert_eq(loop_ground_find(&ground, loop_ground_id(&ground, first)), first);
  loop_ground_close(&ground);
}

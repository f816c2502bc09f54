/* The example ranch: late updates lose no step and no second, and a cow that is bought leaves the herd for good. */
#include "examples/ranch.h"

#include <muster/herd.h>

#include <criterion/criterion.h>
#include <math.h>

static void run_for(struct ranch *ranch, uint32_t ticks, uint64_t budget_ns) {
  for (uint32_t i = 0; i < ticks; i++) cr_assert(ranch_tick(ranch, budget_ns), "%s", muster_last_error());
}

static muster_agent_info info_of(const struct ranch *ranch, muster_agent agent) {
  muster_agent_info info = muster_agent_info_default();
  cr_assert_eq(muster_agent_read(ranch->world, agent, &info), MUSTER_OK, "%s", muster_last_error());
  return info;
}

/* Half of the time they have a thirtieth of what they want. */
static void open_and_run(struct ranch *ranch) {
  cr_assert(ranch_open(ranch), "%s", muster_last_error());
  run_for(ranch, 200, 20000);
  run_for(ranch, 200, 2000000);
}

Test(ranch, carts_drive_by_fixed_steps_however_rarely_they_run) {
  struct ranch ranch;
  open_and_run(&ranch);
  uint64_t most = 0;
  for (uint32_t i = 0; i < RANCH_CARTS; i++) {
    muster_agent_info info = info_of(&ranch, ranch.carts[i]);
    const struct cart *own = info.state;
    struct cart alone = {0};
    while (alone.steps < own->steps) cart_drive(&alone, CART_STEP_NS * 1e-9);
    cr_assert(!(alone.x < own->x) && !(alone.x > own->x), "cart %u is at %g, and %lu steps lead to %g", i, own->x,
              (unsigned long)own->steps, alone.x);
    if (own->steps > most) most = own->steps;
    cr_assert_leq(own->steps * CART_STEP_NS, ranch.now_ns);
  }
  cr_assert_geq(most * CART_STEP_NS, ranch.now_ns - 1200000000u, "when there is time, no step is owed for long");
  ranch_close(&ranch);
}

Test(ranch, grass_that_nobody_looked_at_is_as_high_as_if_somebody_had) {
  struct ranch ranch;
  uint64_t leaps = 0;
  open_and_run(&ranch);
  for (uint32_t i = 0; i < RANCH_PATCHES; i++) {
    muster_agent_info info = info_of(&ranch, ranch.patches[i]);
    const struct grass *own = info.state;
    cr_assert_lt(fabs(own->height - grass_height(own->grown_s)), 1e-12);
    cr_assert_leq(own->grown_s, (double)ranch.now_ns * 1e-9);
    leaps += own->leaps;
  }
  cr_assert_gt(leaps, 0, "none waited for longer than its atom is told");
  ranch_close(&ranch);
}

Test(ranch, a_cow_that_is_bought_is_an_agent_of_its_own_for_good) {
  struct ranch ranch;
  muster_herd_info herd = muster_herd_info_default();
  open_and_run(&ranch);
  muster_agent cow = ranch_buy(&ranch, 7);
  cr_assert_not(muster_agent_is_null(cow), "%s", muster_last_error());
  double x = info_of(&ranch, cow).position.x;
  run_for(&ranch, 100, 2000000);
  cr_assert_eq(muster_herd_read(ranch.world, ranch.cows, &herd), MUSTER_OK);
  cr_assert_eq(herd.members, RANCH_COWS - 1);
  cr_assert_eq(herd.named, 1);
  cr_assert_gt(info_of(&ranch, cow).position.x, x + 1, "it strolls on");
  ranch_close(&ranch);
}

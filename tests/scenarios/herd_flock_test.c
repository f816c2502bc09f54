/* Flocking: both forms do the same, and what the paper's formulas say; the ground holds what it is to hold. */
#include "scenarios/herd_flock.h"
#include "support/with.h"

#include <criterion/criterion.h>

enum { ROOM = 64 };

struct arrays {
  _Alignas(32) float x[ROOM], y[ROOM], velocity_x[ROOM], velocity_y[ROOM];
  _Alignas(32) uint16_t members[ROOM];
};

static herd_flock_bodies bodies_of(const struct arrays *arrays, uint32_t count) {
  return (herd_flock_bodies){count, arrays->x, arrays->y, arrays->velocity_x, arrays->velocity_y, NULL};
}
static herd_flock_next next_of(struct arrays *arrays) {
  return (herd_flock_next){arrays->x, arrays->y, arrays->velocity_x, arrays->velocity_y};
}

static float between(uint32_t *random, float low, float high) {
  *random = herd_mix(*random + 0x9e3779b9u);
  return low + (high - low) * herd_upper_share(*random);
}

static void scatter(struct arrays *arrays, uint32_t count, float spread_m, uint32_t random) {
  for (uint32_t i = 0; i < ROOM; i++) {
    bool there = i < count;
    arrays->x[i] = there ? between(&random, -spread_m, spread_m) : herd_flock_nowhere_m;
    arrays->y[i] = there ? between(&random, -spread_m, spread_m) : herd_flock_nowhere_m;
    arrays->velocity_x[i] = there ? between(&random, -10.0f, 10.0f) : 0.0f;
    arrays->velocity_y[i] = there ? between(&random, -10.0f, 10.0f) : 0.0f;
    arrays->members[i] = there ? (uint16_t)between(&random, 1.0f, 17.0f) : 0;
  }
}

static void check_close(const float *a, const float *b, uint32_t count, float tolerance, const char *what) {
  for (uint32_t i = 0; i < count; i++)
    cr_assert_leq(fabsf(a[i] - b[i]), tolerance, "%s %u: %g and %g", what, i, (double)a[i], (double)b[i]);
}

Test(herd_flock, both_forms_of_a_step_agree) {
  herd_ground ground = herd_ground_of(4000.0f, 3);
  for (uint32_t round = 0; round < 500; round++) {
    struct arrays from, one, other;
    uint32_t count = 1 + round % 33;
    scatter(&from, count, round % 3 ? 12.0f : 40.0f, round);
    herd_flock_step step = {.rules = &herd_flock_paper,
                            .ground = round % 2 ? &ground : NULL,
                            .origin_x = (float)(round % 40) * 100.0f - 2000.0f,
                            .origin_y = (float)(round % 37) * 100.0f - 1800.0f,
                            .random = herd_mix(round),
                            .step_s = 0.1f + 0.4f * (float)(round % 5) / 4.0f};
    herd_flock_bodies bodies = bodies_of(&from, count);
    herd_flock_next next_one = next_of(&one), next_other = next_of(&other);
    herd_flock_step_scalar(&step, &bodies, &next_one);
    herd_flock_step_vector(&step, &bodies, &next_other);
    check_close(one.x, other.x, count, 2e-3f, "x");
    check_close(one.y, other.y, count, 2e-3f, "y");
    check_close(one.velocity_x, other.velocity_x, count, 5e-3f, "velocity x");
    check_close(one.velocity_y, other.velocity_y, count, 5e-3f, "velocity y");
    for (uint32_t i = count; i % HERD_LANES; i++)
      cr_assert(other.x[i] == herd_flock_nowhere_m && one.y[i] == herd_flock_nowhere_m);
  }
}

Test(herd_flock, both_forms_of_looking_around_agree) {
  for (uint32_t round = 0; round < 500; round++) {
    struct arrays from;
    herd_flock_sense one, other;
    uint32_t count = 1 + round % 40;
    scatter(&from, count, 25.0f, round);
    herd_flock_bodies bodies = bodies_of(&from, count);
    if (round % 2) bodies.members = from.members;
    herd_flock_sense_scalar(&herd_flock_paper, &bodies, from.x[round % count], from.y[round % count], &one);
    herd_flock_sense_vector(&herd_flock_paper, &bodies, from.x[round % count], from.y[round % count], &other);
    cr_assert_eq(one.weight, other.weight);
    check_close(&one.middle_x, &other.middle_x, 4, 1e-4f, "mean");
    check_close(&one.apart_x, &other.apart_x, 2, 1e-3f * (1.0f + fabsf(one.apart_x) + fabsf(one.apart_y)), "apart");
  }
}

/* A body that stands for three members counts as three bodies there. */
Test(herd_flock, members_count) {
  struct arrays from;
  herd_flock_sense sense;
  scatter(&from, 3, 1.0f, 1);
  from.x[0] = from.y[0] = 0.0f;
  from.x[1] = 4.0f, from.y[1] = 0.0f, from.members[1] = 3;
  from.x[2] = -8.0f, from.y[2] = 0.0f, from.members[2] = 1;
  herd_flock_bodies bodies = CHANGED(bodies_of(&from, 3), it.members = from.members);
  herd_flock_sense_vector(&herd_flock_paper, &bodies, 0.0f, 0.0f, &sense);
  cr_assert_eq(sense.weight, 4.0f);
  cr_assert_float_eq((double)sense.middle_x, 1.0, 1e-6);
}

/* s = v t + (F/m) t^2 / 2 and v = v + (F/m) t, with the one force there is. */
Test(herd_flock, a_step_is_the_papers) {
  herd_flock_rules rules = CHANGED(herd_flock_paper, it.alignment.share = it.separation.share = it.wander.share = 0.0f,
                                   it.cohesion.share = 1.0f);
  herd_flock_sense sense = {.weight = 1.0f, .middle_x = 3.0f, .middle_y = 4.0f};
  herd_flock_body body = {10.0f, 20.0f, 2.0f, 1.0f};
  herd_flock_step step = {.rules = &rules, .random = 7, .step_s = 0.5f};
  herd_flock_steer(&step, &sense, 0, &body);
  float pull_x = 50.0f * 0.6f / 50.0f, pull_y = 50.0f * 0.8f / 50.0f; /* m/s2 */
  cr_assert_float_eq((double)body.x, (double)(10.0f + 2.0f * 0.5f + 0.5f * pull_x * 0.25f), 1e-5);
  cr_assert_float_eq((double)body.y, (double)(20.0f + 1.0f * 0.5f + 0.5f * pull_y * 0.25f), 1e-5);
  cr_assert_float_eq((double)body.velocity_x, (double)(2.0f + pull_x * 0.5f), 1e-5);
  cr_assert_float_eq((double)body.velocity_y, (double)(1.0f + pull_y * 0.5f), 1e-5);
}

Test(herd_flock, forces_count_as_often_as_their_probabilities_say) {
  enum { DRAWS = 20000 };
  const herd_flock_sense beside = {.weight = 1.0f, .middle_x = 1.0f, .mean_velocity_x = 1.0f, .apart_x = 1.0f};
  for (uint32_t force = 0; force < 4; force++) {
    herd_flock_rules rules = herd_flock_paper;
    herd_force *forces[] = {&rules.alignment, &rules.cohesion, &rules.separation, &rules.wander};
    float share = forces[force]->share;
    for (uint32_t i = 0; i < 4; i++)
      if (i != force) forces[i]->weight_n = 0.0f;
    uint32_t counted = 0;
    for (uint32_t i = 0; i < DRAWS; i++) {
      herd_flock_body body = {0};
      herd_flock_step step = {.rules = &rules, .random = i, .step_s = 0.5f};
      herd_flock_steer(&step, &beside, i % 32, &body);
      counted += body.velocity_x != 0.0f || body.velocity_y != 0.0f;
    }
    cr_assert_float_eq((double)counted / DRAWS, (double)share, 0.015, "force %u", force);
  }
}

/* How a herd is after it lived for a while in updates of one length. */
struct shape {
  double speed_mps, spread_m, fastest_mps;
};

static struct shape live_for(float seconds, float update_s, const herd_flock_rules *rules, uint32_t seed) {
  enum { MEMBERS = 32 };
  struct arrays now, next;
  struct shape shape = {0};
  scatter(&now, MEMBERS, 10.0f, seed);
  for (uint32_t i = 0; i < MEMBERS; i++) now.velocity_x[i] = now.velocity_y[i] = 0.5f;
  next = now;
  uint32_t updates = (uint32_t)(seconds / update_s), random = seed;
  float centre_x = 0.0f, centre_y = 0.0f;
  for (uint32_t update = 0; update < updates; update++) {
    double x = 0, y = 0, square = 0;
    random = herd_mix(random + 1);
    for (uint32_t i = 0; i < MEMBERS; i++) {
      herd_flock_bodies bodies = bodies_of(&now, MEMBERS);
      herd_flock_body body = {now.x[i], now.y[i], now.velocity_x[i], now.velocity_y[i]};
      herd_flock_step step = {.rules = rules, .centre_x = centre_x, .centre_y = centre_y, .random = random};
      herd_flock_live(&step, &bodies, i, update_s, &body);
      next.x[i] = body.x, next.y[i] = body.y;
      next.velocity_x[i] = body.velocity_x, next.velocity_y[i] = body.velocity_y;
      double speed = (double)hypotf(body.velocity_x, body.velocity_y);
      shape.speed_mps += speed / MEMBERS / updates;
      shape.fastest_mps = fmax(shape.fastest_mps, speed);
      x += (double)body.x / MEMBERS, y += (double)body.y / MEMBERS;
      square += (double)(body.x * body.x + body.y * body.y) / MEMBERS;
    }
    shape.spread_m += sqrt(fmax(square - x * x - y * y, 0.0)) / updates;
    centre_x = (float)x, centre_y = (float)y;
    memcpy(&now, &next, sizeof now);
  }
  return shape;
}

Test(herd_flock, throttled_herds_walk_as_fast_and_stay_together_as_well) {
  herd_flock_rules rules = CHANGED(herd_flock_paper, it.drag_per_s = 0.3f);
  for (uint32_t seed = 1; seed <= 3; seed++) {
    struct shape often = live_for(300.0f, 0.5f, &rules, seed);
    struct shape seldom = live_for(300.0f, 2.0f, &rules, seed), rarely = live_for(300.0f, 4.0f, &rules, seed);
    cr_assert_float_eq(seldom.speed_mps / often.speed_mps, 1.0, 0.2);
    cr_assert_lt(often.spread_m, 12.0);
    cr_assert_float_eq(rarely.speed_mps / often.speed_mps, 1.0, 0.2);
    cr_assert_lt(seldom.spread_m, 12.0);
    cr_assert_lt(rarely.spread_m, 12.0);
    cr_assert_lt(rarely.fastest_mps, 6.0);
  }
  struct shape paper = live_for(300.0f, 0.5f, &herd_flock_paper, 1);
  cr_assert_leq(paper.fastest_mps, 20.001);
  cr_assert_gt(paper.speed_mps, 10.0);
}

/* ------------------------------------------------------------------------------------------------------- the ground */

static float depth_inside(const herd_ground *ground, float x, float y) {
  herd_obstacle obstacle = herd_ground_obstacle(ground, x, y);
  return obstacle.radius_m - hypotf(x - obstacle.x, y - obstacle.y);
}

Test(herd_flock, nobody_walks_into_an_obstacle_or_over_the_fence) {
  herd_ground ground = herd_ground_of(1000.0f, 5);
  uint32_t held = 0, random = 11;
  for (uint32_t walker = 0; walker < 200; walker++) {
    float x = between(&random, -500.0f, 500.0f), y = between(&random, -500.0f, 500.0f);
    if (depth_inside(&ground, x, y) > 0.0f) continue;
    float way_x = between(&random, -12.0f, 12.0f), way_y = between(&random, -12.0f, 12.0f);
    float speed = hypotf(way_x, way_y);
    for (uint32_t step = 0; step < 400; step++) {
      held += herd_ground_hold(&ground, x, y, 0.5f, &way_x, &way_y);
      x += way_x * 0.5f;
      y += way_y * 0.5f;
      cr_assert_leq(depth_inside(&ground, x, y), 0.01f, "walker %u at %g, %g", walker, (double)x, (double)y);
      cr_assert(fabsf(x) <= 500.001f && fabsf(y) <= 500.001f);
      cr_assert_float_eq((double)hypotf(way_x, way_y), (double)speed, 1e-2 * (double)speed);
    }
  }
  cr_assert_gt(held, 400);
}

Test(herd_flock, who_stands_in_an_obstacle_comes_out) {
  herd_ground ground = herd_ground_of(1000.0f, 5);
  herd_obstacle obstacle = herd_ground_obstacle(&ground, 100.0f, 100.0f);
  float x = obstacle.x + 1.0f, y = obstacle.y;
  uint32_t steps = 0;
  for (; depth_inside(&ground, x, y) > 0.01f; steps++) {
    float way_x = -1.0f, way_y = 0.0f;
    cr_assert_lt(steps, 60);
    herd_ground_hold(&ground, x, y, 0.5f, &way_x, &way_y);
    cr_assert_leq(hypotf(way_x, way_y), herd_ground_leave_mps + 0.001f);
    x += way_x * 0.5f;
    y += way_y * 0.5f;
  }
  cr_assert_geq(steps, 8);
}

Test(herd_flock, both_forms_of_the_ground_agree) {
  herd_ground ground = herd_ground_of(4000.0f, 9);
  uint32_t random = 4, held = 0;
  for (uint32_t round = 0; round < 20000; round++) {
    herd_ground_lanes lanes;
    float way_x[HERD_LANES], way_y[HERD_LANES];
    for (uint32_t i = 0; i < HERD_LANES; i++) {
      lanes.x[i] = between(&random, -2010.0f, 2010.0f);
      lanes.y[i] = between(&random, -2010.0f, 2010.0f);
      lanes.step_s[i] = between(&random, 0.05f, 2.0f);
      lanes.velocity_x[i] = way_x[i] = between(&random, -20.0f, 20.0f);
      lanes.velocity_y[i] = way_y[i] = between(&random, -20.0f, 20.0f);
      held += herd_ground_hold(&ground, lanes.x[i], lanes.y[i], lanes.step_s[i], &way_x[i], &way_y[i]);
    }
    herd_ground_hold_lanes(&ground, &lanes);
    for (uint32_t i = 0; i < HERD_LANES; i++) {
      cr_assert_float_eq((double)lanes.velocity_x[i], (double)way_x[i], 1e-3);
      cr_assert_float_eq((double)lanes.velocity_y[i], (double)way_y[i], 1e-3);
    }
  }
  cr_assert_gt(held, 1000);
}

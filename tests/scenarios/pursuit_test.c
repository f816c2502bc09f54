/* The testbed of Wright & Marshall: agents that follow one another on a torus. */
#include "scenarios/pursuit.h"
#include "scenarios/scene.h"

enum { AGENTS = 60, CYCLE = 24 };

#define AMPLE_NS 100000000u

static struct scene open_version(uint32_t agents, const pursuit_version *version, uint32_t workers,
                                 uint64_t capacity_ns, uint32_t delay) {
  struct scene scene = scene_begin(muster_module_pursuit(), scene_options(agents, 1), capacity_ns);
  pursuit_choose(scene.instance, version);
  scene_enter(&scene, workers, WITH(muster_world_def, it.activation_delay = delay));
  return scene;
}

static void run_frames(struct scene *scene, uint32_t frames) {
  for (uint32_t i = 0; i < frames; i++) scene_frame(scene, PURSUIT_UPDATE_NS);
}

static const pursuit_version plain_version, coarse_version = {.coarse = true}, elastic_version = {.elastic = true};

/* ------------------------------------------------------------------------------------------------------------ world */

Test(pursuit, a_torus_has_no_edge) {
  const double side_m = 50.0;
  for (double x = -120.0; x < 120.0; x += 0.37) {
    double wrapped = pursuit_wrap(side_m, x);
    cr_assert(wrapped >= 0.0 && wrapped < side_m, "%g becomes %g", x, wrapped);
    for (double y = 0.0; y < side_m; y += 7.3) {
      double way = pursuit_way(side_m, wrapped, y);
      cr_assert(fabs(way) <= side_m / 2 + 1e-9, "from %g to %g it is %g", wrapped, y, way);
      cr_assert(fabs(pursuit_way(side_m, pursuit_wrap(side_m, wrapped + way), y)) < 1e-9);
    }
  }
  cr_assert_lt(pursuit_wrap(side_m, -1e-18), side_m);
}

Test(pursuit, is_the_same_on_any_number_of_workers) {
  scene_check_determinism(muster_module_pursuit(), CHANGED(scene_options(150, 3), it.observers = 2), 2000000, 60);
}

static uint64_t hash_of(const pursuit_version *version, uint32_t workers) {
  SCOPED(scene_close) struct scene scene = open_version(3 * AGENTS, version, workers, 2000000, 2);
  run_frames(&scene, 2 * CYCLE);
  scene_expect(&scene, "violations", 0);
  return muster_world_hash(scene.world);
}

/* Too little capacity, activation delays, periods that give way. */
Test(pursuit, is_the_same_on_four_workers_under_load) {
  cr_assert_eq(hash_of(&elastic_version, 1), hash_of(&elastic_version, 4));
  cr_assert_neq(hash_of(&elastic_version, 1), hash_of(&plain_version, 1), "or the version makes no difference");
}

typedef struct moment {
  pursuit_face face;
  uint64_t updated_ns;
} moment;

/* What each agent did since its last update, by what others see of it. */
static void check_limits(const struct scene *scene, moment *moments, uint32_t agents) {
  double side_m = pursuit_side_m(agents);
  for (scene_agent one = {0}; scene_next_agent(scene, &one);) {
    const muster_agent_info info = one.info;
    moment *before = &moments[((const pursuit_body *)info.state)->number];
    const pursuit_face *face = info.published;
    float passed_s = (float)(info.last_update_ns - before->updated_ns) * 1e-9f;
    float turn = fabsf(face->heading - before->face.heading);
    turn = fminf(turn, 6.2831853f - turn);
    cr_assert(info.position.x >= 0 && info.position.x < side_m && info.position.y >= 0 && info.position.y < side_m);
    cr_assert(face->speed_mps >= 0 && face->speed_mps <= pursuit_speed_max_mps, "%g m/s", (double)face->speed_mps);
    if (before->updated_ns) {
      cr_assert_leq(turn, pursuit_turn_rps * passed_s + 1e-3f);
      cr_assert_leq(fabsf(face->speed_mps - before->face.speed_mps), pursuit_acceleration_mps2 * passed_s + 1e-3f);
    }
    *before = (moment){*face, info.last_update_ns};
  }
}

/* Also when updates come late and are told more time. */
static void expect_limits_to_hold(uint64_t capacity_ns) {
  static moment moments[AGENTS];
  memset(moments, 0, sizeof moments);
  SCOPED(scene_close) struct scene scene = open_version(AGENTS, &plain_version, 1, capacity_ns, 0);
  for (uint32_t i = 0; i < 10 * CYCLE; i++) {
    run_frames(&scene, 1);
    check_limits(&scene, moments, AGENTS);
  }
  scene_expect(&scene, "violations", 0);
  cr_assert_gt(scene_reported(&scene, "walked_m"), AGENTS);
}

Test(pursuit, nobody_exceeds_his_limits) {
  expect_limits_to_hold(AMPLE_NS);
  expect_limits_to_hold(1000000);
}

Test(pursuit, pursuers_come_nearer_to_their_targets) {
  SCOPED(scene_close) struct scene scene = open_version(2 * AGENTS, &plain_version, 1, AMPLE_NS, 0);
  run_frames(&scene, 2);
  double at_first_m = scene_reported(&scene, "target_distance_m");
  run_frames(&scene, 600);
  double at_last_m = scene_reported(&scene, "target_distance_m");
  cr_assert_lt(at_last_m, 0.7 * at_first_m, "%g m, then %g m", at_first_m, at_last_m);
  cr_assert_gt(scene_reported(&scene, "neighbours_seen"), 10000);
  double touched = scene_reported(&scene, "collisions_seen") / scene_reported(&scene, "neighbours_seen");
  cr_assert_lt(touched, 0.005, "%g of the neighbours are touched", touched);
}

/* ------------------------------------------------------------------------------------------------------------- sets */

static double of_set(const struct scene *scene, uint32_t set, const char *what) {
  char name[64];
  snprintf(name, sizeof name, "%s_%s", pursuit_set_name((pursuit_set)set), what);
  for (char *letter = name; *letter; letter++)
    if (*letter == ' ') *letter = '_';
  return scene_reported(scene, name);
}

Test(pursuit, with_time_for_all_every_set_keeps_its_period) {
  SCOPED(scene_close) struct scene scene = open_version(AGENTS, &coarse_version, 1, AMPLE_NS, 0);
  run_frames(&scene, 1 + 10 * CYCLE); /* the intake is a frame */
  for (uint32_t set = 0; set < PURSUIT_SETS; set++) {
    cr_assert_eq(of_set(&scene, set, "runs"), AGENTS * 10.0 * CYCLE / pursuit_period((pursuit_set)set));
    cr_assert_eq(of_set(&scene, set, "late"), 0);
    cr_assert_eq(of_set(&scene, set, "due"), of_set(&scene, set, "runs"));
  }
}

/* The tallies must tell a world without time from one with it. */
Test(pursuit, with_too_little_time_sets_are_late) {
  SCOPED(scene_close) struct scene scene = open_version(3 * AGENTS, &coarse_version, 1, 3000000, 0);
  run_frames(&scene, 1 + 10 * CYCLE);
  double late = 0;
  for (uint32_t set = 0; set < PURSUIT_SETS; set++) late += of_set(&scene, set, "late");
  cr_assert_gt(late, 100);
  cr_assert_lt(of_set(&scene, PURSUIT_STEER, "runs"), 3 * AGENTS * 10.0 * CYCLE);
}

/* ---------------------------------------------------------------------------------------------------------- peaking */

static uint64_t fullest_frame_ns(uint32_t delay, uint64_t *sum_ns) {
  SCOPED(scene_close) struct scene scene = open_version(2 * AGENTS, &coarse_version, 1, AMPLE_NS, delay);
  uint64_t most_ns = 0;
  *sum_ns = 0;
  for (uint32_t i = 0; i < 1 + 2 * CYCLE; i++) {
    muster_frame_report report = scene_frame(&scene, PURSUIT_UPDATE_NS);
    if (i > CYCLE) *sum_ns += report.update_cpu_ns;
    if (report.update_cpu_ns > most_ns) most_ns = report.update_cpu_ns;
  }
  return most_ns;
}

/* With three phases to choose from, peaks can fall by a factor of three at most. */
Test(pursuit, activation_delays_take_off_the_peaks) {
  uint64_t sums_ns[3];
  uint64_t without_ns = fullest_frame_ns(0, &sums_ns[0]), one_ns = fullest_frame_ns(1, &sums_ns[1]);
  uint64_t two_ns = fullest_frame_ns(2, &sums_ns[2]);
  cr_assert_leq((double)one_ns, 0.58 * (double)without_ns);
  cr_assert_leq((double)two_ns, 0.40 * (double)without_ns);
  cr_assert_eq(sums_ns[1], sums_ns[0], "the same work in the end");
  cr_assert_eq(sums_ns[2], sums_ns[0]);
}

/* ------------------------------------------------------------------------------------------------------- plain loop */

static uint64_t hash_by_muster(uint32_t workers, uint32_t frames) {
  pursuit_loop *loop = pursuit_loop_open(AGENTS, 5, false);
  muster_pool_def pool = WITH(muster_pool_def, it.workers = workers);
  muster_world_def def = WITH(muster_world_def, it.pool = muster_pool_create(&pool), it.limits.agents_max = AGENTS,
                              it.clock.kind = MUSTER_CLOCK_VIRTUAL);
  muster_world *world = muster_world_create(&def);
  cr_assert_eq(pursuit_loop_populate(loop, &plain_version, world), MUSTER_OK, "%s", muster_last_error());
  cr_assert_eq(muster_frame_run(world, &(muster_frame){0, AMPLE_NS}), MUSTER_OK);
  for (uint32_t i = 1; i <= frames; i++) {
    pursuit_loop_begin(loop);
    cr_assert_eq(muster_frame_run(world, &(muster_frame){(uint64_t)i * PURSUIT_UPDATE_NS, AMPLE_NS}), MUSTER_OK);
  }
  uint64_t hash = pursuit_loop_hash(loop);
  destroy_full(world);
  muster_pool_destroy(def.pool);
  pursuit_loop_close(loop);
  return hash;
}

/* What is compared when the cost of scheduling is. */
Test(pursuit, muster_and_a_plain_loop_come_to_the_same) {
  pursuit_loop *loop = pursuit_loop_open(AGENTS, 5, false);
  for (uint32_t i = 0; i < 4 * CYCLE; i++) pursuit_loop_run(loop);
  uint64_t hash = pursuit_loop_hash(loop);
  cr_assert_eq(hash_by_muster(1, 4 * CYCLE), hash);
  cr_assert_eq(hash_by_muster(4, 4 * CYCLE), hash);
  pursuit_loop_run(loop);
  cr_assert_neq(pursuit_loop_hash(loop), hash);
  pursuit_loop_close(loop);
}

Test(pursuit, refuses_options_that_it_cannot_meet) {
  scene_check_refusals(muster_module_pursuit());
}

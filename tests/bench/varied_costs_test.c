/* Costs that vary by chance: they keep their mean, differ from update to update and from seed to seed, and leave what
 * updates are given. */
#include "varied_costs.h"

#include "support/little_world.h"

#include <math.h>
#include <muster/random.h>

enum { AGENTS = 500, FRAMES = 400, ATOM_NS = 3000, MODEL_NS = 20000 };

/* What a type of the scene has as its user: of which its model and its updates are told. */
typedef struct scene_type {
  uint64_t cost_ns;
  uint64_t updates;
} scene_type;

static muster_atom_result begin(muster_update *update) {
  ((scene_type *)update->type_user)->updates++;
  return MUSTER_ATOM_NEXT;
}

static uint64_t model(const muster_cost_query *query, void *user) {
  (void)query;
  return ((const scene_type *)user)->cost_ns;
}

/* Half of the agents have a type whose atoms say what they cost, the others one with a model. */
static void populate(muster_world *world, scene_type types[2]) {
  const muster_atom two_atoms[] = {{begin, MUSTER_ROLE_BEHAVIOUR, ATOM_NS}, {nothing, MUSTER_ROLE_BEHAVIOUR, ATOM_NS}};
  for (uint32_t i = 0; i < 2; i++) {
    muster_type_def def = CHANGED(type_with(two_atoms, 2 - i), it.user = &types[i]);
    if (i) def.models.cost_ns = model;
    muster_agent_def agent = WITH(muster_agent_def, it.type = muster_type_register(world, &def));
    cr_assert_neq(agent.type.index, 0, "%s", muster_last_error());
    for (uint32_t k = 0; k < AGENTS / 2; k++) cr_assert(!muster_agent_is_null(muster_agent_spawn(world, &agent)));
  }
}

/* Sums over all frames. */
typedef struct scene_sums {
  uint64_t updates, cost_ns, longest_ns;
  uint64_t over_limit;
  scene_type types[2];
} scene_sums;

static scene_sums run(double sigma, uint64_t seed) {
  scene_sums sums = {.types = {{0}, {.cost_ns = MODEL_NS}}};
  muster_world_def def = WITH(muster_world_def, it.clock.kind = MUSTER_CLOCK_VIRTUAL, it.seed = seed);
  little_world little = little_world_create(1, &def);
  populate(little.world, sums.types);
  struct varied_costs *varied = sigma >= 0 ? varied_costs_begin(little.world, sigma) : NULL;
  muster_frame_report report = muster_frame_report_default();
  for (uint32_t i = 0; i < FRAMES; i++) {
    cr_assert_eq(muster_frame_run(little.world, &(muster_frame){(i + 1ull) * FRAME_NS, 1000000000u}), MUSTER_OK);
    muster_frame_report_read(little.world, &report);
    sums.updates += report.completed;
    sums.cost_ns += report.update_cpu_ns;
    if (report.longest_claim_ns > sums.longest_ns) sums.longest_ns = report.longest_claim_ns;
  }
  muster_statistics statistics = muster_statistics_default();
  muster_statistics_read(little.world, &statistics);
  sums.over_limit = statistics.atoms_over_limit;
  little_world_destroy(&little);
  varied_costs_free(varied);
  return sums;
}

/* Of the two types together: each runs as often, since periods are the same and all fit. */
static double mean_us(const scene_sums *sums) {
  return (double)sums->cost_ns * 1e-3 / (double)sums->updates;
}

Test(varied_costs, keep_their_mean_whether_a_model_or_the_atoms_say_it) {
  scene_sums constant = run(-1, 1), varied = run(1, 1);
  cr_assert_geq(varied.updates, 15000);
  cr_expect_float_eq(mean_us(&constant), (2 * ATOM_NS + MODEL_NS) * 0.5e-3, 0.01);
  cr_expect_float_eq(mean_us(&varied), mean_us(&constant), 0.05 * mean_us(&constant), "three standard errors are 4 %%");
  cr_expect_neq(varied.cost_ns, constant.cost_ns);
  cr_expect_eq(constant.longest_ns, MODEL_NS);
  cr_expect_gt(varied.longest_ns, 20 * MODEL_NS, "a factor of three sigma and more");
  cr_expect_eq(varied.over_limit, 0, "what costs by chance is no overrun");
}

Test(varied_costs, leave_the_users_of_types_to_updates) {
  scene_sums sums = run(1, 1);
  cr_expect_eq(sums.types[0].updates + sums.types[1].updates, sums.updates);
  cr_expect_gt(sums.types[1].updates, sums.updates / 3);
}

Test(varied_costs, are_those_of_the_seed) {
  scene_sums first = run(1, 1), second = run(1, 1), other = run(1, 2);
  cr_expect_eq(first.cost_ns, second.cost_ns);
  cr_expect_neq(first.cost_ns, other.cost_ns);
}

Test(varied_costs, without_sigma_are_what_they_were) {
  scene_sums constant = run(-1, 1), varied = run(0, 1);
  cr_expect_eq(constant.cost_ns, varied.cost_ns);
  cr_expect_eq(constant.updates, varied.updates);
}

/* Logarithms of the factor are normal: its mean is 1, and the mean of its square e^(sigma^2). */
Test(varied_costs, have_factors_whose_logarithms_are_normal) {
  static const double sigma = 0.7;
  double sum = 0, squares = 0, logs = 0;
  const uint32_t count = 200000;
  for (uint32_t i = 0; i < count; i++) {
    double factor = varied_factor(muster_random_mix((i + 1) * 0x9e3779b97f4a7c15u), sigma);
    sum += factor;
    squares += factor * factor;
    logs += log(factor);
  }
  cr_expect_float_eq(sum / count, 1, 0.01);
  cr_expect_float_eq(squares / count, exp(sigma * sigma), 0.05);
  cr_expect_float_eq(logs / count, -sigma * sigma / 2, 0.01);
  cr_expect_eq(varied_factor(42, 0), 1);
}

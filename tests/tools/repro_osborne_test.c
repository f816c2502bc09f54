/* The reproduction of Osborne & Dickinson, as the program tells it, on small worlds. How fast it is, is the machine's;
 * what is counted is not. */
#include "repro.h"

#include <sys/stat.h>

enum { MEMBERS = 32, SIZES = 3 };

static void expect_comparison(json_t *json) {
  json_t *compare = program_member(json, "compare");
  double agents = program_number(compare, "agents"), leaves = program_number(compare, "leaves");
  cr_assert_eq(agents, 128 * MEMBERS);
  cr_assert_eq(program_number(compare, "herds"), 128);
  cr_assert(leaves > 0 && leaves < agents / 4, "%g leaves", leaves);
  PROGRAM_EXPECT_RISING(compare, "leaves_least", "leaves", "leaves_most");
  cr_assert_gt(leaves, program_number(compare, "herds_unfolded"), "an unfolded herd has two leaves at least");
  cr_assert_eq(program_number(compare, "changes_in_sight"), 0);
  PROGRAM_EXPECT_POSITIVE(compare, "with_ms", "without_simd_ms", "without_scalar_ms", "with_mean_ms", "share_of_scalar",
                          "share_of_simd", "cycles", "folds", "unfolds", "without_simd_mean_ms");
}

/* Twice the herds: on the same square ever more of them are near the player; on one that grows with them, about as many
 * as ever. */
static void expect_doubling(json_t *before, json_t *here) {
  cr_assert_eq(program_number(here, "agents"), 2 * program_number(before, "agents"));
  cr_assert_eq(program_number(here, "herds"), 2 * program_number(before, "herds"));
  if (program_number(here, "side_m") > program_number(before, "side_m")) return;
  cr_assert_gt(program_number(here, "leaves"), program_number(before, "leaves"));
  cr_assert_gt(program_number(here, "herds_unfolded"), program_number(before, "herds_unfolded"));
}

static void expect_size(json_t *size) {
  cr_assert_eq(program_number(size, "agents"), MEMBERS * program_number(size, "herds"));
  cr_assert_eq(program_number(size, "unfolds_refused"), 0);
  PROGRAM_EXPECT_POSITIVE(size, "ms", "one_worker_ms", "all_workers_ms", "bytes", "bytes_folded", "bytes_unfolded",
                          "workers", "cycles");
}

static void expect_sizes(json_t *json) {
  json_t *scale = program_list(json, "scale", 2 * SIZES);
  PROGRAM_EACH(i, size, scale) {
    expect_size(size);
    if (i % SIZES) expect_doubling(json_array_get(scale, i - 1), size);
  }
  double same = program_number(json_array_get(scale, SIZES - 1), "leaves");
  double growing = program_number(json_array_get(scale, 2 * SIZES - 1), "leaves");
  cr_assert(growing < same, "%g leaves on the growing square, %g on the same", growing, same);
  cr_assert_str_eq(program_text(json, "same_square_ended"), "plan");
  cr_assert_str_eq(program_text(json, "same_density_ended"), "plan");
  PROGRAM_EXPECT_POSITIVE(json, "bytes_per_folded_herd", "bytes_per_unfolded_herd");
}

/* Herds that fold and unfold while they drift, and are what they were. */
static void expect_kept(json_t *json) {
  json_t *kept = program_member(json, "kept"), *found = program_member(json, "found");
  cr_expect_gt(program_number(kept, "folds"), 100);
  cr_expect_eq(program_number(kept, "members"), 64 * MEMBERS);
  cr_expect_lt(program_number(kept, "centroid_off_m"), 0.05);
  cr_expect_lt(program_number(kept, "velocity_off_mps"), 0.001);
  cr_expect_lt(program_number(kept, "total_lost"), 0.01);
  cr_expect(program_true(kept, "same_seed_same_world"));
  cr_expect_gt(program_number(found, "folded_herds"), 0);
  cr_expect_eq(program_number(found, "folded_herds_moved"), program_number(found, "folded_herds"));
  cr_expect_gt(program_number(found, "individuals"), 0);
}

/* Statements about a cycle: in each there are some, and no more than the 128 herds. */
static void expect_of_each_cycle(json_t *json) {
  size_t i;
  json_t *check;
  int seen = 0;
  json_array_foreach(program_member(json, "checks"), i, check) {
    const char *what = json_string_value(program_member(check, "what")), *number = strchr(what, '(');
    double moved, folded;
    if (strncmp(what, "every folded herd", 17) != 0) continue;
    cr_assert(number && sscanf(number, "(%lf of %lf)", &moved, &folded) == 2, "%s", what);
    cr_expect(moved >= 1 && moved == folded && folded <= 128, "%s", what);
    seen++;
  }
  cr_expect_eq(seen, 1);
}

Test(repro_osborne, counts_what_it_represents_and_what_it_simulates) {
  static const char *const checks[] = {
      /* one world */
      "4,096 agents are represented", "simulated are few of them", "herds fold and unfold meanwhile",
      "never where the player could see it", "every folded herd is moved in each cycle",
      "zones: every member that the player could see", "zones: hardly any leaf of a scattered herd",
      /* herds that drift */
      "kept: 64 herds that drift fold and unfold often", "kept: members", "kept: a total", "kept: each centroid",
      "kept: each momentum", "kept: no room", "kept: the same seed",
      /* more and more of them */
      "in each of 6 sizes, all agents are represented", "there is room for all that should unfold",
      "a folded herd takes 24 bytes at most", "an unfolded one, beside its agents", NULL};
  json_auto_t *json = repro_json("osborne --quick", checks, repro_none);
  expect_comparison(json);
  expect_sizes(json);
  expect_kept(json);
  expect_of_each_cycle(json);
  cr_expect_leq(program_number(json, "bytes_per_folded_herd"), 24);
  cr_assert(program_true(json, "quick"));
}

static bool script_has(const char *folder, const char *name, const char *text) {
  SCOPED(free_memory) char *script = program_read(formed("%s/%s", folder, name));
  return strstr(script, text) != NULL;
}

static void remove_figures(const char *folder, const char *const *names, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const char *script = formed("%s/%s.gp", folder, names[i]);
    cr_expect(unlink(script) == 0, "%s is not there", script);
    unlink(formed("%s/%s.png", folder, names[i])); /* only where gnuplot is installed */
  }
  cr_expect(rmdir(folder) == 0, "there is more in %s than was expected", folder);
}

Test(repro_osborne, draws_its_figures) {
  static const char *const names[] = {"osborne-compare", "osborne-scale", "osborne-herds"};
  char folder[] = "/tmp/muster-osborne-XXXXXX";
  cr_assert_not_null(mkdtemp(folder));
  SCOPED_RUN *run = program_good("repro osborne --quick --plots %s", folder);
  cr_expect(strstr(run->output, "4,096") != NULL, "the table names the agents represented: %s", run->output);
  cr_expect(strstr(run->output, "simulated") != NULL, "and the leaves simulated: %s", run->output);
  const char *part = strstr(run->output, "as the paper's, it is");
  cr_assert_not_null(part, "%s", run->output);
  double percent = strtod(part + strlen("as the paper's, it is"), NULL);
  cr_expect(percent > 0 && percent < 100, "level of detail takes %g %% of what it takes without", percent);
  cr_expect(script_has(folder, "osborne-compare.gp", "4096 agents"));
  cr_expect(script_has(folder, "osborne-scale.gp", "leaves simulated"));
  cr_expect(script_has(folder, "osborne-herds.gp", "$depth5"));
  remove_figures(folder, names, COUNT_OF(names));
}

Test(repro_osborne, has_no_costs_to_measure) {
  PROGRAM_EXPECT_REFUSALS({"repro osborne --measure", 2, "osborne has no costs to measure"},
                          {"repro osbourne", 2, "did you mean 'osborne'"});
}

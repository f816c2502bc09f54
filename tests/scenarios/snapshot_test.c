/* Scenarios that were saved go on in a new instance as if nothing had happened. */
#include "scenarios/scaffold.h"
#include "scenarios/scenarios.h"
#include "support/full_frames.h"
#include "support/snapshots.h"

enum { BEFORE = 60, AFTER = 60 };

/* A module with its world. */
struct staged {
  const muster_module *module;
  void *instance;
  muster_world *world;
  uint64_t now_ns;
};

static struct staged stage(const muster_module *module, const muster_module_options *options) {
  struct staged staged = {.module = module};
  muster_module_needs needs = {.size = sizeof needs};
  cr_assert_eq(module->open(options, &staged.instance, &needs), MUSTER_OK, "%s", muster_last_error());
  muster_world_def def = muster_world_def_default();
  def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  def.clock.capacity_ns = 1500000;
  def.limits.agents_max = needs.agents_max > needs.agents ? needs.agents_max : needs.agents;
  def.seed = options->seed;
  if (needs.cell_m > 0) def.cell_m = needs.cell_m;
  staged.world = muster_world_create(&def);
  cr_assert_not_null(staged.world, "%s", muster_last_error());
  return staged;
}

static void strike(struct staged *staged) {
  destroy_full(staged->world);
  staged->module->close(staged->instance);
}

static muster_frame_report run(struct staged *staged) {
  muster_frame_report report = muster_frame_report_default();
  staged->now_ns += 33333333;
  if (staged->module->before_frame) staged->module->before_frame(staged->instance, staged->world, staged->now_ns);
  cr_assert_eq(muster_frame_run(staged->world, &(muster_frame){staged->now_ns, 10000000}), MUSTER_OK);
  muster_frame_report_read(staged->world, &report);
  return report;
}

static bool refuse(const void *bytes, size_t count, void *user) {
  (void)bytes, (void)count, (void)user;
  return false;
}

static muster_result resume(const muster_module *module, const muster_module_options *options, const void *bytes,
                            size_t count) {
  struct staged other = stage(module, options);
  muster_result result = module->resume(other.instance, other.world, bytes, count);
  strike(&other);
  return result;
}

/* What is not as it was written, or of other options, is refused with a reason. */
static void expect_refusals(const muster_module *module, const muster_module_options *options, saved_world *kept) {
  muster_module_options other = *options;
  other.observers = options->observers + 1;
  cr_assert_eq(resume(module, &other, kept->bytes, kept->count), MUSTER_E_INPUT, "%s: observers", module->name);
  cr_assert_not_null(strstr(muster_last_error(), "other options"), "%s", muster_last_error());
  other = *options;
  other.agents = options->agents / 2;
  cr_assert_eq(resume(module, &other, kept->bytes, kept->count), MUSTER_E_INPUT, "%s: agents", module->name);
  cr_assert_eq(resume(module, options, kept->bytes, kept->count - 1), MUSTER_E_INPUT, "%s: cut", module->name);
  cr_assert_eq(resume(module, options, kept->bytes, 0), MUSTER_E_INPUT, "%s: nothing", module->name);
  cr_assert(saved_world_write("", 1, kept));
  cr_assert_eq(resume(module, options, kept->bytes, kept->count), MUSTER_E_INPUT, "%s: more", module->name);
}

/* Numbers of a report, but for those that Muster counts: its statistics begin anew. */
struct numbers {
  double values[64];
  uint32_t count;
};

static void note_number(const char *name, double value, void *user) {
  static const char *const anew[] = {"folds",         "unfolds",       "unfolds_refused",
                                     "folds_refused", "herds_refused", "changes_in_sight"};
  struct numbers *numbers = user;
  for (size_t i = 0; i < sizeof anew / sizeof *anew; i++)
    if (strcmp(name, anew[i]) == 0) return;
  numbers->values[numbers->count++] = value;
}

static void expect_same_report(const struct staged *one, const struct staged *other) {
  struct numbers own = {0}, others = {0};
  one->module->report(one->instance, one->world, note_number, &own);
  other->module->report(other->instance, other->world, note_number, &others);
  cr_assert(own.count > 0 && own.count == others.count);
  cr_assert_eq(memcmp(own.values, others.values, own.count * sizeof *own.values), 0, "%s", one->module->name);
}

/* An instance that knows when its first frame was knows when its latest was: times and frames are counted from there.
 */
static void expect_same_time(const struct staged *one, const struct staged *other) {
  const scaffold *own = one->instance, *others = other->instance;
  if (!others->begun) return;
  cr_assert_eq(others->now_ns, own->now_ns, "%s: at %llu ns", one->module->name, (unsigned long long)others->now_ns);
  cr_assert_eq(scaffold_seconds(others), scaffold_seconds(own), "%s", one->module->name);
}

static void compare_after(int before, const muster_module *module, const muster_module_options *options) {
  struct staged whole = stage(module, options), resumed = stage(module, options);
  saved_world kept = {0};
  cr_assert_eq(module->populate(whole.instance, whole.world), MUSTER_OK, "%s", muster_last_error());
  for (int i = 0; i < before; i++) run(&whole);
  cr_assert_eq(module->save(whole.instance, whole.world, refuse, NULL), MUSTER_E_SYSTEM);
  cr_assert_eq(module->save(whole.instance, whole.world, saved_world_write, &kept), MUSTER_OK);
  saved_world saved = save_world(whole.world);
  cr_assert_eq(module->resume(resumed.instance, resumed.world, kept.bytes, kept.count), MUSTER_OK, "%s",
               muster_last_error());
  expect_same_time(&whole, &resumed);
  cr_assert_eq(load_world(resumed.world, saved.bytes, saved.count), MUSTER_OK, "%s: %s", module->name,
               muster_last_error());
  resumed.now_ns = whole.now_ns;
  for (int i = 0; i < AFTER; i++) {
    muster_frame_report report = run(&whole);
    cr_assert_eq(run(&resumed).important_load, report.important_load, "%s: frame %d", module->name, i);
    cr_assert_eq(muster_world_hash(whole.world), muster_world_hash(resumed.world), "%s: frame %d", module->name, i);
  }
  if (module->report) expect_same_report(&whole, &resumed);
  expect_refusals(module, options, &kept);
  strike(&whole);
  strike(&resumed);
  free(kept.bytes);
  free(saved.bytes);
}

static void compare(const muster_module *module, const muster_module_options *options) {
  compare_after(BEFORE, module, options);
}

static muster_module_options options_of(uint32_t agents, uint32_t observers) {
  muster_module_options options = muster_module_options_default();
  options.agents = agents;
  options.observers = observers;
  options.seed = 7;
  return options;
}

Test(scenario_snapshot, wildlife_goes_on) {
  muster_module_options options = options_of(1500, 3);
  compare(muster_module_wildlife(), &options);
}

Test(scenario_snapshot, townsfolk_go_on) {
  muster_module_options options = options_of(600, 3);
  compare(muster_module_townsfolk(), &options);
}

Test(scenario_snapshot, the_population_of_a_file_goes_on) {
  muster_module_options options = options_of(300, 5);
  options.path = MUSTER_SOURCE_DIR "/src/scenarios/village.csv";
  compare(muster_module_population(), &options);
}

Test(scenario_snapshot, the_square_goes_on) {
  muster_module_options options = options_of(1000, 5);
  options.cost_ns = 1000;
  compare(muster_module_fixed(), &options);
}

/* Some near an observer are unfolded, and wolves hunt. */
Test(scenario_snapshot, herds_go_on) {
  muster_module_options options = options_of(60000, 4);
  compare(muster_module_herd(), &options);
}

Test(scenario_snapshot, animats_go_on) {
  muster_module_options options = options_of(200, 2);
  compare(muster_module_tan_wong(), &options);
}

Test(scenario_snapshot, characters_go_on) {
  muster_module_options options = options_of(800, 5);
  compare(muster_module_rankin(), &options);
}

Test(scenario_snapshot, pursuers_go_on) {
  muster_module_options options = options_of(300, 2);
  compare(muster_module_pursuit(), &options);
}

/* The crowd has just come to another town, and its neighbourhood is watched. */
Test(scenario_snapshot, the_crowd_goes_on) {
  muster_module_options options = options_of(2000, 40);
  compare_after(302, muster_module_flashcrowd(), &options);
}

/* In the middle of the fight. */
Test(scenario_snapshot, the_siege_goes_on) {
  muster_module_options options = options_of(3000, 60);
  compare_after(200, muster_module_siege(), &options);
}

Test(scenario_snapshot, hostile_agents_go_on) {
  muster_module_options options = options_of(2000, 8);
  compare(muster_module_hostile(), &options);
}

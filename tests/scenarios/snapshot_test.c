/* Scenarios that were saved go on in a new instance as if nothing had happened. */
#include "scenarios/scaffold.h"
#include "scenarios/scene.h"
#include "support/snapshots.h"

enum { BEFORE = 60, AFTER = 60 };

/* A module with its world, in which nothing is yet. */
static struct scene stage(const muster_module *module, muster_module_options options) {
  struct scene staged = scene_begin(module, options, 1500000);
  muster_world_def def = WITH(muster_world_def, it.clock.kind = MUSTER_CLOCK_VIRTUAL, it.clock.capacity_ns = 1500000,
                              it.seed = options.seed);
  def.limits.agents_max = staged.needs.agents_max > staged.needs.agents ? staged.needs.agents_max : staged.needs.agents;
  if (staged.needs.cell_m > 0) def.cell_m = staged.needs.cell_m;
  staged.world = muster_world_create(&def);
  cr_assert_not_null(staged.world, "%s", muster_last_error());
  return staged;
}

static muster_frame_report run(struct scene *staged) {
  return scene_frame_at(staged, staged->now_ns += SCENE_FRAME_NS);
}

static bool refuse(const void *bytes, size_t count, void *user) {
  (void)bytes, (void)count, (void)user;
  return false;
}

static muster_result resume(const muster_module *module, muster_module_options options, const void *bytes,
                            size_t count) {
  SCOPED(scene_close) struct scene other = stage(module, options);
  return module->resume(other.instance, other.world, bytes, count);
}

/* What is not as it was written, or of other options, is refused with a reason. */
static void expect_refusals(const muster_module *module, muster_module_options options, saved_world *kept) {
  muster_module_options other = CHANGED(options, it.observers = options.observers + 1);
  cr_assert_eq(resume(module, other, kept->bytes, kept->count), MUSTER_E_INPUT, "%s: observers", module->name);
  cr_assert_not_null(strstr(muster_last_error(), "other options"), "%s", muster_last_error());
  other = CHANGED(options, it.agents = options.agents / 2);
  cr_assert_eq(resume(module, other, kept->bytes, kept->count), MUSTER_E_INPUT, "%s: agents", module->name);
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
  for (size_t i = 0; i < COUNT_OF(anew); i++)
    if (strcmp(name, anew[i]) == 0) return;
  numbers->values[numbers->count++] = value;
}

static void expect_same_report(const struct scene *one, const struct scene *other) {
  struct numbers own = {0}, others = {0};
  one->module->report(one->instance, one->world, note_number, &own);
  other->module->report(other->instance, other->world, note_number, &others);
  cr_assert(own.count > 0 && own.count == others.count);
  cr_assert_eq(memcmp(own.values, others.values, own.count * sizeof *own.values), 0, "%s", one->module->name);
}

/* An instance that knows when its first frame was knows when its latest was: times and frames are counted from there.
 */
static void expect_same_time(const struct scene *one, const struct scene *other) {
  const scaffold *own = one->instance, *others = other->instance;
  if (!others->begun) return;
  cr_assert_eq(others->now_ns, own->now_ns, "%s: at %lu ns", one->module->name, others->now_ns);
  cr_assert_eq(scaffold_seconds(others), scaffold_seconds(own), "%s", one->module->name);
}

static void compare_after(int before, const muster_module *module, muster_module_options options) {
  SCOPED(scene_close) struct scene whole = stage(module, options), resumed = stage(module, options);
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
  free(kept.bytes);
  free(saved.bytes);
}

static void compare(const muster_module *module, muster_module_options options) {
  compare_after(BEFORE, module, options);
}

static muster_module_options options_of(uint32_t agents, uint32_t observers) {
  return WITH(muster_module_options, it.agents = agents, it.observers = observers, it.seed = 7);
}

Test(scenario_snapshot, wildlife_goes_on) {
  compare(muster_module_wildlife(), options_of(1500, 3));
}

Test(scenario_snapshot, townsfolk_go_on) {
  compare(muster_module_townsfolk(), options_of(600, 3));
}

Test(scenario_snapshot, the_population_of_a_file_goes_on) {
  compare(muster_module_population(),
          CHANGED(options_of(300, 5), it.path = MUSTER_SOURCE_DIR "/src/scenarios/village.csv"));
}

Test(scenario_snapshot, the_square_goes_on) {
  compare(muster_module_fixed(), CHANGED(options_of(1000, 5), it.cost_ns = 1000));
}

/* Some near an observer are unfolded, and wolves hunt. */
Test(scenario_snapshot, herds_go_on) {
  compare(muster_module_herd(), options_of(60000, 4));
}

Test(scenario_snapshot, animats_go_on) {
  compare(muster_module_tan_wong(), options_of(200, 2));
}

Test(scenario_snapshot, characters_go_on) {
  compare(muster_module_rankin(), options_of(800, 5));
}

Test(scenario_snapshot, pursuers_go_on) {
  compare(muster_module_pursuit(), options_of(300, 2));
}

/* The crowd has just come to another town, and its neighbourhood is watched. */
Test(scenario_snapshot, the_crowd_goes_on) {
  compare_after(302, muster_module_flashcrowd(), options_of(2000, 40));
}

/* In the middle of the fight. */
Test(scenario_snapshot, the_siege_goes_on) {
  compare_after(200, muster_module_siege(), options_of(3000, 60));
}

Test(scenario_snapshot, hostile_agents_go_on) {
  compare(muster_module_hostile(), options_of(2000, 8));
}

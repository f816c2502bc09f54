/* Definitions that make no sense are refused with a message that names the field; nothing is left behind. */
#include "run/runner.h"
#include "support/counted_memory.h"
#include "support/little_world.h"
#include "world/world.h"

#include <muster/tune.h>

#include <math.h>

static void refused(muster_world_def def, const char *field) {
  cr_assert_null(muster_world_create(&def));
  cr_assert_not_null(strstr(muster_last_error(), field), "'%s' should name %s", muster_last_error(), field);
}

Test(definitions, a_world_is_refused_with_the_name_of_the_field) {
  const muster_world_def good = muster_world_def_default();
  muster_world_def def = good;
  def.size = 0;
  refused(def, "muster_world_def_default");
  cr_assert_null(muster_world_create(NULL));
  def = good, def.limits.agents_max = 0, refused(def, "limits.agents_max");
  def = good, def.limits.agents_max = UINT32_MAX, refused(def, "limits.agents_max");
  def = good, def.limits.types_max = 0, refused(def, "limits.types_max");
  def = good, def.limits.observers_max = 0, refused(def, "limits.observers_max");
  def = good, def.limits.commands_max = 1, refused(def, "limits.commands_max");
  def = good, def.clock.kind = (muster_clock)9, refused(def, "clock");
  def = good, def.clock.capacity_ns = UINT64_MAX, refused(def, "clock.capacity_ns");
  def = good, def.priority.wait = NAN, refused(def, "priority.wait nan must be 0..1");
  def = good, def.priority.runs = 1.5f, refused(def, "priority.runs 1.5 must be 0..1");
  def = good, def.priority.guarantee_ns = 0, refused(def, "priority.guarantee_ns");
  def = good, def.cell_m = 0, refused(def, "cell_m");
  def = good, def.cell_m = NAN, refused(def, "cell_m");
}

Test(definitions, a_pool_is_refused_with_the_name_of_the_field) {
  muster_pool_def def = {0};
  cr_assert_null(muster_pool_create(&def));
  cr_assert_not_null(strstr(muster_last_error(), "muster_pool_def_default"));
  def = muster_pool_def_default();
  def.workers = MUSTER_WORKERS_MAX + 1;
  cr_assert_null(muster_pool_create(&def));
  cr_assert_not_null(strstr(muster_last_error(), "workers"));
  muster_pool_destroy(NULL);
  muster_world_destroy(NULL);
}

Test(definitions, an_observer_is_refused_with_the_name_of_the_field) {
  little_world little = little_world_create(1, NULL);
  muster_observer_def def = {0};
  cr_assert_eq(muster_observer_generation(muster_observer_add(little.world, &def)), 0);
  def = muster_observer_def_default();
  def.far_m = def.near_m;
  cr_assert_eq(muster_observer_generation(muster_observer_add(little.world, &def)), 0);
  cr_assert_not_null(strstr(muster_last_error(), "near_m"));
  def = muster_observer_def_default();
  def.position.y = INFINITY;
  cr_assert_eq(muster_observer_generation(muster_observer_add(little.world, &def)), 0);
  cr_assert_not_null(strstr(muster_last_error(), "position"));
  def = muster_observer_def_default();
  def.partition = 65536;
  cr_assert_eq(muster_observer_generation(muster_observer_add(little.world, &def)), 0);
  cr_assert_not_null(strstr(muster_last_error(), "partition"));
  little_world_destroy(&little);
}

static void keep_line(muster_log_level level, const char *message, void *user) {
  (void)level;
  strncpy(user, message, 127);
}

Test(definitions, the_hosts_log_sink_hears_of_the_world) {
  char line[128] = "";
  muster_world_def def = muster_world_def_default();
  def.limits.agents_max = 123;
  def.log = (muster_log_sink){keep_line, line};
  muster_world *world = muster_world_create(&def);
  cr_assert_not_null(strstr(line, "123 agents"), "%s", line);
  muster_world_destroy(world);
}

static muster_world_def counted_world(counted_memory *counted) {
  muster_world_def def = muster_world_def_default();
  def.limits.agents_max = 100;
  def.limits.commands_max = 16;
  def.limits.observers_max = 4;
  def.allocator = counted_allocator(counted);
  return def;
}

Test(definitions, the_hosts_allocator_gets_everything_back) {
  counted_memory counted = {0};
  muster_world_def def = counted_world(&counted);
  muster_world *world = muster_world_create(&def);
  cr_assert_not_null(world);
  cr_assert_gt(counted.allocations, 10);
  muster_world_destroy(world);
  cr_assert_eq(counted.allocations, counted.releases);
}

Test(definitions, a_refused_allocation_at_any_point_leaves_nothing_behind) {
  muster_world *world = NULL;
  uint32_t attempts = 0;
  counted_memory counted = {.limited = true};
  for (; !world && attempts < 200; attempts++) {
    counted.left = attempts;
    muster_world_def def = counted_world(&counted);
    world = muster_world_create(&def);
    if (!world) cr_assert_eq(counted.allocations, counted.releases, "attempt %u", attempts);
  }
  cr_assert(attempts > 20 && attempts < 200, "%u attempts", attempts);
  muster_world_destroy(world);
  cr_assert_eq(counted.allocations, counted.releases);
}

static muster_atom_result pass(muster_update *update) {
  (void)update;
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result stand_still(muster_update *update) {
  (void)update;
  return MUSTER_ATOM_NEXT;
}

Test(definitions, a_type_is_found_by_its_name_the_first_of_several) {
  little_world little = little_world_create(1, NULL);
  muster_atom atom = {.run = stand_still};
  muster_type_def def = type_with(&atom, 1);
  def.name = "baker";
  muster_type first = muster_type_register(little.world, &def), second = muster_type_register(little.world, &def);
  cr_assert(first.index != 0 && second.index != first.index);
  cr_assert_eq(muster_type_find(little.world, "baker").index, first.index);
  cr_assert_eq(muster_type_find(little.world, "bakers").index, 0);
  cr_assert_eq(muster_type_find(little.world, "").index, 0);
  cr_assert_eq(muster_type_find(little.world, NULL).index, 0);
  little_world_destroy(&little);
}

Test(definitions, nothing_is_written_beyond_the_size_that_an_older_program_knows) {
  little_world little = little_world_create(1, NULL);
  const muster_atom atom = {pass, MUSTER_ROLE_BEHAVIOUR, 0};
  muster_type_def type = type_with(&atom, 1);
  register_type(&little, &type);
  muster_agent agent = spawn_at(&little, 0);
  run_frame(&little);
  muster_agent_info info = muster_agent_info_default();
  info.size = offsetof(muster_agent_info, penalty);
  info.penalty = 77;
  cr_assert_eq(muster_agent_read(little.world, agent, &info), MUSTER_OK);
  cr_assert_eq(info.penalty, 77);
  cr_assert(info.active);
  info.size = 0;
  cr_assert_eq(muster_agent_read(little.world, agent, &info), MUSTER_E_NOT_INITIALISED);
  little_world_destroy(&little);
}

/* Room for fields of later versions: a host that sets them expects what this library does not do. */
Test(definitions, a_reserved_part_that_is_set_is_refused) {
  muster_world_def def = muster_world_def_default();
  def.levels.reserved[2] = 1;
  refused(def, "reserved");
  def = muster_world_def_default();
  def.watch.reserved[1] = 1;
  refused(def, "reserved");
  little_world little = little_world_create(1, NULL);
  const muster_atom atom = {pass, MUSTER_ROLE_BEHAVIOUR, 0};
  muster_type_def type = type_with(&atom, 1);
  type.sets.reserved[0] = 1;
  cr_assert_eq(muster_type_register(little.world, &type).index, 0);
  cr_assert_not_null(strstr(muster_last_error(), "reserved"), "%s", muster_last_error());
  muster_world_tuning tuning = muster_world_tuning_default();
  tuning.priority.reserved[4] = 1;
  cr_assert_eq(muster_world_tune(little.world, &tuning), MUSTER_E_ARGUMENT);
  cr_assert_not_null(strstr(muster_last_error(), "reserved"), "%s", muster_last_error());
  little_world_destroy(&little);
}

/* What takes longer than the least limit of all types is looked at: whose it was is known then. */
Test(definitions, the_least_limit_of_all_types_counts) {
  static const uint64_t limits_ns[] = {500000, 700000, 300000, 300000, 900000, 200000}, least_ns[] = {5, 5, 3, 3, 3, 2};
  static const muster_atom atom = {nothing, MUSTER_ROLE_BEHAVIOUR, 1000};
  little_world little = little_world_create(1, NULL);
  for (uint32_t i = 0; i < sizeof limits_ns / sizeof *limits_ns; i++) {
    muster_type_def type = type_with(&atom, 1);
    type.limit_ns = limits_ns[i];
    register_type(&little, &type);
    cr_expect_eq(little.world->runner->limit_ns, least_ns[i] * 100000, "with %u types", i + 1);
    type.limit_ns = 1; /* one that is refused does not count */
    cr_expect_eq(muster_type_register(little.world, &type).index, 0);
    cr_expect_eq(little.world->runner->limit_ns, least_ns[i] * 100000, "with %u types", i + 1);
  }
  little_world_destroy(&little);
}

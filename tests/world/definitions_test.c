/* Definitions that make no sense are refused with a message that names the field; nothing is left behind. */
#include "run/runner.h"
#include "support/counted_memory.h"
#include "world/fixture.h"

#define REFUSES(FIELD, VALUE, WORDS) expect_world_refused(WITH(muster_world_def, it.FIELD = VALUE), WORDS)

Test(definitions, a_world_is_refused_with_the_name_of_the_field) {
  cr_assert_null(muster_world_create(NULL));
  REFUSES(size, 0, "muster_world_def_default");
  REFUSES(limits.agents_max, 0, "limits.agents_max");
  REFUSES(limits.agents_max, UINT32_MAX, "limits.agents_max");
  REFUSES(limits.types_max, 0, "limits.types_max");
  REFUSES(limits.observers_max, 0, "limits.observers_max");
  REFUSES(limits.commands_max, 1, "limits.commands_max");
  REFUSES(clock.kind, (muster_clock)9, "clock");
  REFUSES(clock.capacity_ns, UINT64_MAX, "clock.capacity_ns");
  REFUSES(priority.wait, NAN, "priority.wait nan must be 0..1");
  REFUSES(priority.runs, 1.5f, "priority.runs 1.5 must be 0..1");
  REFUSES(priority.guarantee_ns, 0, "priority.guarantee_ns");
  REFUSES(cell_m, 0, "cell_m");
  REFUSES(cell_m, NAN, "cell_m");
}

Test(definitions, a_pool_is_refused_with_the_name_of_the_field) {
  muster_pool_def none = {0}, many = WITH(muster_pool_def, it.workers = MUSTER_WORKERS_MAX + 1);
  cr_assert_null(muster_pool_create(&none));
  expect_error("muster_pool_def_default");
  cr_assert_null(muster_pool_create(&many));
  expect_error("workers");
  muster_pool_destroy(NULL);
  muster_world_destroy(NULL);
}

static void expect_observer_refused(const little_world *little, muster_observer_def def, const char *words) {
  cr_assert_eq(muster_observer_generation(muster_observer_add(little->world, &def)), 0, "%s", words);
  expect_error(words);
}

Test(definitions, an_observer_is_refused_with_the_name_of_the_field) {
  SCOPED_WORLD little = little_world_create(1, NULL);
  expect_observer_refused(&little, (muster_observer_def){0}, "muster_observer_def_default");
  expect_observer_refused(&little, WITH(muster_observer_def, it.far_m = it.near_m), "near_m");
  expect_observer_refused(&little, WITH(muster_observer_def, it.position.y = INFINITY), "position");
  expect_observer_refused(&little, WITH(muster_observer_def, it.partition = 65536), "partition");
}

static void keep_line(muster_log_level level, const char *message, void *user) {
  (void)level;
  strncpy(user, message, 127);
}

Test(definitions, the_hosts_log_sink_hears_of_the_world) {
  char line[128] = "";
  muster_world_def def =
      WITH(muster_world_def, it.limits.agents_max = 123, it.log = (muster_log_sink){keep_line, line});
  muster_world *world = muster_world_create(&def);
  cr_assert_not_null(strstr(line, "123 agents"), "%s", line);
  muster_world_destroy(world);
}

static muster_world_def counted_world(counted_memory *counted) {
  return WITH(muster_world_def, it.limits.agents_max = 100, it.limits.commands_max = 16, it.limits.observers_max = 4,
              it.allocator = counted_allocator(counted));
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

Test(definitions, a_type_is_found_by_its_name_the_first_of_several) {
  SCOPED_WORLD little = little_world_create(1, NULL);
  const muster_type_def def = CHANGED(type_running(nothing, 0), it.name = "baker");
  muster_type first = muster_type_register(little.world, &def), second = muster_type_register(little.world, &def);
  cr_assert(first.index != 0 && second.index != first.index);
  cr_assert_eq(muster_type_find(little.world, "baker").index, first.index);
  cr_assert_eq(muster_type_find(little.world, "bakers").index, 0);
  cr_assert_eq(muster_type_find(little.world, "").index, 0);
  cr_assert_eq(muster_type_find(little.world, NULL).index, 0);
}

Test(definitions, nothing_is_written_beyond_the_size_that_an_older_program_knows) {
  SCOPED_WORLD little = world_of(type_running(nothing, 0));
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
}

/* Room for fields of later versions: a host that sets them expects what this library does not do. */
Test(definitions, a_reserved_part_that_is_set_is_refused) {
  REFUSES(levels.reserved[2], 1, "reserved");
  REFUSES(watch.reserved[1], 1, "reserved");
  SCOPED_WORLD little = little_world_create(1, NULL);
  expect_type_refused(&little, CHANGED(type_running(nothing, 0), it.sets.reserved[0] = 1), "reserved");
  cr_assert_eq(tune_world(&little, WITH(muster_world_tuning, it.priority.reserved[4] = 1)), MUSTER_E_ARGUMENT);
  expect_error("reserved");
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

/* Many agents read at once: what muster_agent_read() says of each. */
#include "support/busy_worlds.h"
#include "world/fixture.h"
#include "support/walled.h"

#include <muster/replicate.h>

enum { MOST = 4000, STRIDE = 24 };

/* Room for every column. */
struct columns {
  muster_position positions[MOST];
  float importance[MOST];
  uint32_t level[MOST], partition[MOST];
  uint64_t period_ns[MOST], last_update_ns[MOST];
  muster_type types[MOST];
  unsigned char state[MOST * STRIDE], published[MOST * STRIDE];
  bool found[MOST];
};

static muster_agent_columns all_of(struct columns *columns) {
  return WITH(muster_agent_columns, it.positions = columns->positions, it.importance = columns->importance,
              it.level = columns->level, it.partition = columns->partition, it.period_ns = columns->period_ns,
              it.last_update_ns = columns->last_update_ns, it.types = columns->types, it.state = columns->state,
              it.published = columns->published, it.state_stride = it.published_stride = STRIDE,
              it.found = columns->found);
}

static void check_agent(const struct columns *columns, uint32_t i, const muster_agent_info *info) {
  cr_assert_eq(memcmp(&columns->positions[i], &info->position, sizeof info->position), 0);
  cr_assert(columns->importance[i] >= info->importance && columns->importance[i] <= info->importance);
  cr_assert_eq(columns->level[i], info->level);
  cr_assert_eq(columns->partition[i], info->partition);
  cr_assert_eq(columns->period_ns[i], info->period_ns);
  cr_assert_eq(columns->last_update_ns[i], info->last_update_ns);
  cr_assert_eq(columns->types[i].index, info->type.index);
  cr_assert_eq(memcmp(columns->state + i * STRIDE, info->state, STRIDE), 0, "as much as there is room for");
  cr_assert_eq(memcmp(columns->published + i * STRIDE, info->published, sizeof(double)), 0);
  for (uint32_t k = sizeof(double); k < STRIDE; k++) cr_assert_eq(columns->published[i * STRIDE + k], 0x5a);
}

Test(agents_read, says_what_reading_one_by_one_says) {
  static muster_agent agents[MOST];
  static struct columns columns;
  SCOPED_WORLD little = busy_driven(&busy_kinds[1], 2, 30);
  uint32_t listed = 0;
  for (muster_agent agent = {0}; !muster_agent_is_null(agent = muster_agent_next(little.world, agent));)
    agents[listed++] = agent;
  cr_assert_gt(listed, 500);
  memset(&columns, 0x5a, sizeof columns);
  muster_agent_columns all = all_of(&columns);
  cr_assert_eq(muster_agents_read(little.world, agents, listed, &all), listed, "%s", muster_last_error());
  for (uint32_t i = 0; i < listed; i++) {
    muster_agent_info info = info_of(&little, agents[i]);
    cr_assert(columns.found[i]);
    check_agent(&columns, i, &info);
  }
}

Test(agents_read, passes_over_ids_that_are_gone_or_not_active_yet) {
  SCOPED_WORLD little = world_of(CHANGED(type_running(nothing, 0), it.state_bytes = 8));
  muster_agent agents[6] = {spawn_at(&little, 1), spawn_at(&little, 2), spawn_at(&little, 3)};
  run_frame(&little);
  muster_agent_remove(little.world, agents[1]);
  run_frame(&little);
  agents[3] = spawn_at(&little, 4); /* waits for its intake */
  agents[4] = muster_agent_make(UINT32_MAX, 1);
  agents[5] = agents[0];
  bool found[6];
  muster_position places[6] = {{0, 0, 9}, {0, 0, 9}, {0, 0, 9}, {0, 0, 9}, {0, 0, 9}, {0, 0, 9}};
  static const bool wanted[6] = {true, false, true, false, false, true};
  muster_agent_columns columns = WITH(muster_agent_columns, it.found = found, it.positions = places);
  cr_assert_eq(muster_agents_read(little.world, agents, 6, &columns), 3);
  for (uint32_t i = 0; i < 6; i++) {
    cr_assert_eq(found[i], wanted[i], "id %u", i);
    cr_assert_eq(places[i].z > 8, !wanted[i], "id %u", i);
  }
  cr_assert_eq(muster_agents_read(little.world, NULL, 0, &columns), 0);
  columns = muster_agent_columns_default();
  cr_assert_eq(muster_agents_read(little.world, agents, 6, &columns), 3); /* counts alone */
}

Test(agents_read, refuses_columns_without_a_stride) {
  SCOPED_WORLD little = little_world_create(1, NULL);
  char bytes[8];
  muster_agent_columns columns = WITH(muster_agent_columns, it.state = bytes);
  cr_assert_eq(muster_agents_read(little.world, NULL, 0, &columns), 0);
  expect_error("state_stride");
  columns = WITH(muster_agent_columns, it.published = bytes);
  cr_assert_eq(muster_agents_read(little.world, NULL, 0, &columns), 0);
  expect_error("published_stride");
}

/* What is fetched ahead is fetched of agents that were named, however many these are. */
Test(agents_read, looks_at_nothing_behind_the_arrays) {
  enum { AGENTS = 60 };
  little_world little = little_world_create(1, NULL);
  const muster_atom atom = {nothing, MUSTER_ROLE_BEHAVIOUR, 0};
  muster_type_def type = type_with(&atom, 1);
  type.state_bytes = type.published_bytes = sizeof(uint64_t);
  register_type(&little, &type);
  muster_agent all[AGENTS];
  for (uint32_t i = 0; i < AGENTS; i++) all[i] = spawn_at(&little, i);
  run_frame(&little);
  walled ids = walled_create(sizeof all), states = walled_create(sizeof(uint64_t[AGENTS])),
         places = walled_create(sizeof(muster_position[AGENTS])), marks = walled_create(AGENTS);
  for (uint32_t count = 1; count <= AGENTS; count++) {
    muster_agent *agents = WALLED_ARRAY(ids, muster_agent, count);
    memcpy(agents, all, count * sizeof *agents);
    muster_agent_columns columns = muster_agent_columns_default();
    columns.found = WALLED_ARRAY(marks, bool, count);
    columns.positions = WALLED_ARRAY(places, muster_position, count);
    columns.state = WALLED_ARRAY(states, uint64_t, count);
    columns.published = columns.state;
    columns.state_stride = columns.published_stride = sizeof(uint64_t);
    cr_assert_eq(muster_agents_read(little.world, agents, count, &columns), count);
    cr_assert(columns.found[count - 1] && columns.positions[count - 1].x == count - 1);
  }
  walled_destroy(&ids);
  walled_destroy(&states);
  walled_destroy(&places);
  walled_destroy(&marks);
  little_world_destroy(&little);
}

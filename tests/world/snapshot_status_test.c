/* What a snapshot says of one agent fits its lists, times and counts; what waits for one not active yet is saved. */
#include "support/busy_worlds.h"
#include "support/snapshot_parts.h"
#include "world/fixture.h"

enum { SECTION_AGENTS = 6, FRAMES = 40 };

/* Where the first agent's row stands in its section: behind the number of agents, its index and two more values. */
enum { FIRST_ROW = 4 + 4 + 2 + 2 };

static const busy_kind *const kind = &busy_kinds[1];

static struct snapshot_parts driven_parts(void) {
  SCOPED_WORLD little = busy_driven(kind, 1, FRAMES);
  SCOPED(saved_world_forget) saved_world saved = save_world(little.world);
  return take_apart(&saved);
}

/* Loads with the first agent's row changed. */
static void expect_row(const struct snapshot_parts *parts, agent_row row, const char *why) {
  agent_row kept;
  unsigned char *place = parts->bytes + parts->begin[SECTION_AGENTS] + FIRST_ROW;
  memcpy(&kept, place, sizeof kept);
  memcpy(place, &row, sizeof row);
  SCOPED_WORLD little = busy_world(kind, 1);
  SCOPED(saved_world_forget) saved_world saved = put_together(parts);
  muster_result result = load_world(little.world, saved.bytes, saved.count);
  cr_assert_eq(result, why ? MUSTER_E_INPUT : MUSTER_OK, "%s", muster_last_error());
  if (why) expect_error(why);
  memcpy(place, &kept, sizeof kept);
}

Test(snapshot_status, a_row_that_no_agent_of_its_status_has_is_refused) {
  static const char in_lists[] = "agent 0 stands in lists before any is read";
  SCOPED(snapshot_parts_forget) struct snapshot_parts parts = driven_parts();
  agent_row row;
  memcpy(&row, parts.bytes + parts.begin[SECTION_AGENTS] + FIRST_ROW, sizeof row);
  cr_assert(row.status >= AGENT_WAITING && !row.reacts && !row.delayed, "the first agent is not plain");
  expect_row(&parts, row, NULL);
  expect_row(&parts, CHANGED(row, it.scheduled = 17), in_lists);
  expect_row(&parts, CHANGED(row, it.queued = 1), in_lists);
  expect_row(&parts, CHANGED(row, it.acts = 1), "agent 0 is what none can be");
  expect_row(&parts, CHANGED(row, it.reacts = 1), "agent 0 is not among the agents that must react");
  expect_row(&parts, CHANGED(row, it.delayed = 1), "agent 0 waits for a time without a timer");
  expect_row(&parts, CHANGED(row, it.importance ^= 0x8000), "importance as no population has it");
}

/* More agents than an intake takes: the last of them is asked to run at a time while it is not active yet. */
Test(snapshot_status, a_time_that_an_agent_waits_for_before_it_is_active_is_kept) {
  muster_type_def type = CHANGED(type_running(nothing, 100), it.elapsed.contract = MUSTER_ELAPSED_EVENTS);
  SCOPED_WORLD little = world_of(type), other = world_of(type);
  muster_agent last = {0};
  for (uint32_t i = 0; i < 700; i++) last = spawn_at(&little, i);
  cr_assert_eq(muster_agent_wake_at(little.world, last, 10 * FRAME_NS), MUSTER_OK);
  run_frame_with(&little, 20000);
  cr_assert(!info_of(&little, last).active, "all are active after a frame");
  copy_world(&little, &other);
  for (uint32_t i = 0; i < 2 * 20; i++) run_frame_with(i % 2 ? &other : &little, 20000);
  cr_assert_eq(statistics_of(&little).wakes_timed, 1);
  cr_assert_eq(statistics_of(&other).wakes_timed, 1, "in the other world");
  cr_assert_eq(muster_world_hash(little.world), muster_world_hash(other.world));
}
